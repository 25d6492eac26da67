"""The tasks of a Dag that asks a model through a batch: export the questions, ask them, keep the answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow.sdk import task
from airflow.sdk.exceptions import AirflowSkipException

__all__ = ["answers_of_a_batch"]

log = logging.getLogger(__name__)


def answers_of_a_batch(
    folder: Callable[[], Path],
    *,
    corpus: str,
    policy: str,
    llm_conn_id: str,
    answers: str | None = None,
    labels: str | None = None,
    repeats: int = 1,
) -> Any:
    """
    Add the tasks to the Dag that is being made.

    Whatever is tried again costs nothing twice: the operator finds the batch that it has submitted.

    :param folder: Returns the folder of a Dag run, in a task.
    :param answers: The folder of the answers: what it holds is not asked again. In that of the Dag run if ``None``.
    :return: What a task is given for the folder of the answers.
    """

    def answered() -> Path:
        return folder() / "answers" if answers is None else Path(answers)

    @task
    def export() -> dict[str, str]:
        from airflow_common_ai.evals.batch.export import export_questions

        exported = export_questions(
            Path(corpus),
            policy,
            folder(),
            llm_conn_id=llm_conn_id,
            labels=None if labels is None else Path(labels),
            repeats=repeats,
            answers=answered(),
        )
        results = exported.questions.parent if exported.questions else folder()
        return {"questions": str(exported.questions or ""), "model": exported.model, "results": str(results)}

    # The decorator and not the operator: that would render each prompt as a template, and a prompt quotes strangers.
    @task.llm_batch(
        llm_conn_id=llm_conn_id,
        model_id="{{ ti.xcom_pull(task_ids='export')['model'] }}",
        result_path="{{ ti.xcom_pull(task_ids='export')['results'] }}",
        deferrable=True,
        retries=2,
    )
    def ask_in_batch(exported: dict[str, str]) -> list[dict[str, Any]]:
        from airflow_common_ai.evals.batch.question_file import read_questions

        if not exported["questions"]:
            raise AirflowSkipException("all questions are answered already")
        return [one.batch_request for one in read_questions(Path(exported["questions"])).questions]

    @task(retries=2, trigger_rule="none_failed")
    def keep(manifest: dict[str, Any] | None) -> str:
        from airflow_common_ai.evals.batch.answers import keep_answers
        from airflow_common_ai.evals.batch.question_file import NAME

        if manifest is not None:
            questions = Path(urlsplit(manifest["result_uri"]).path).with_name(NAME)
            log.info("%s", keep_answers(questions, manifest, answered()))
        return str(answered())

    exported: Any = export()
    manifest: Any = ask_in_batch(exported)
    return keep(manifest)
