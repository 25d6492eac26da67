"""LLMRetryPolicy in Airflow's own task runner: its Execution API, its task state store, its connections."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Context, task
from airflow_runner import DagRunner
from botocore.exceptions import ClientError
from scripted_model import API_KEY, CONN_ID, saying

from airflow_common_ai.policies import LLMRetryPolicy, history


def test_a_model_behind_an_airflow_connection_is_asked_once_for_a_failure_that_comes_again(run_dag: DagRunner) -> None:
    told: list[str | None] = []

    def remember(context: Context) -> None:
        last = history.read(context).last
        told.append(last and last.consultation and last.consultation.model)

    with DAG("llm_policy_open_failure") as dag:

        @task(
            retries=3,
            retry_delay=timedelta(minutes=1),
            retry_policy=LLMRetryPolicy(CONN_ID, classifier=False),
            on_retry_callback=remember,
        )
        def load() -> None:
            raise RuntimeError("step 3 did not finish, password=hunter2canary")

        load()

    with saying(category="transient", suggested_delay_seconds=45, reasoning="a step was slow") as server:
        outcome = run_dag(dag).task("load")

    assert len(server.requests) == 1
    prompt = json.dumps(server.requests[0])
    assert "airflow.providers.standard.decorators.python._PythonDecoratedOperator" in prompt
    assert "Try 1 of 4." in prompt
    assert "hunter2canary" not in prompt

    assert len(outcome.tries) == 4
    first = outcome.tries[0]
    assert first.retry_reason == "llm.transient: a model says: a step was slow"
    assert first.retry_delay is not None
    assert timedelta(seconds=45) <= first.retry_delay <= timedelta(seconds=50)
    assert told == ["a-model-as-served"] * 3

    said: list[dict[str, Any]] = [attempt["consultation"] for attempt in outcome.store["ai_retry"]["attempts"]]
    assert [one["conn_id"] for one in said[:3]] == [CONN_ID] * 3
    assert ["reused_age_s" in one for one in said[:3]] == [False, True, True]
    assert said[3]["unused"] == "no model was asked, since no retry is left"
    assert API_KEY not in json.dumps(outcome.store)


NOBODY_KNOWS_THE_CODE: Any = {"Error": {"Code": "OddWidget"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
"""So that its status is a hint and no more, with which the model agrees."""


def test_default_args_hand_each_task_a_copy_that_works(run_dag: DagRunner) -> None:
    with DAG(
        "llm_policy_default_args",
        default_args={"retries": 2, "retry_policy": LLMRetryPolicy(CONN_ID, classifier=False)},
    ) as dag:

        @task
        def read() -> None:
            raise ClientError(NOBODY_KNOWS_THE_CODE, "TurnWidget")

        @task
        def connect() -> None:
            raise ConnectionRefusedError(111, "Connection refused")

        read()
        connect()

    with saying(category="data") as server:
        outcome = run_dag(dag)

    assert [one.state for one in outcome.task("read").tries] == ["failed"]
    assert outcome.task("read").store["ai_retry"]["attempts"][0]["code"] == "llm.data"
    assert len(outcome.task("connect").tries) == 3
    assert len(server.requests) == 1
