"""What the tests of a corpus share: logs of tasks that failed, and a corpus made of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from evidence.airflow_log import TaskLog

from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder
from airflow_common_ai.evals.corpus.intake import Intake
from airflow_common_ai.evals.corpus.log import Log, Skipped, TaskTry
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.label import Label, ShouldRetry

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TRACEBACK = "Traceback (most recent call last):\n  File 'dag.py', line 3, in f\n{}\n"


def task_log(*failures: BaseException, begins: bool = True) -> str:
    """Return the log of a task as Airflow writes it; of several failures each is a try of its own."""
    log = TaskLog()
    for failure in failures:
        if begins:
            log.begins()
        log.failed(failure)
    return log.stored


def a_try(number: int = 1, task_id: str = "load_orders", dag_id: str = "shop") -> TaskTry:
    return TaskTry(dag_id, "manual__2026-01-31", task_id, -1, number)


def log_of(failure: BaseException, number: int = 1, task_id: str = "load_orders", dag_id: str = "shop") -> Log:
    return Log(f"{dag_id}-{number}.log", task_log(failure), NOON, a_try(number, task_id, dag_id))


def collect_into(path: Path, *logs: Log | Skipped) -> Intake:
    """Add logs to a corpus, and save it."""
    redactor = Redactor()
    intake = Intake(Corpus(CorpusFolder(path), redactor), redactor)
    for _ in intake.add(logs):
        pass
    intake.save()
    return intake


def corpus_in(path: Path) -> Corpus:
    return Corpus(CorpusFolder(path), Redactor())


def label_for(recording_id: str, should_retry: str = "no", category: str = "data", **more: object) -> Label:
    delay = None if should_retry == "no" else (5.0, 600.0)
    fields = {"delay_s": delay, "why": "it says so", "source": "reading", **more}
    return Label(recording_id, category, ShouldRetry(should_retry), **fields)  # type: ignore[arg-type]


def texts_in(folder: Path) -> Iterable[str]:
    return [path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()]
