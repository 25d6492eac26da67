"""Runs a Dag in this process with Airflow's own task runner, Execution API and database, without waiting.

The fixture ``run_dag`` is a :class:`DagRunner`::

    def test_a_missing_file_fails_at_once(run_dag):
        with DAG("missing_file") as dag:

            @task(retries=3, retry_policy=EvidenceRetryPolicy())
            def read():
                open("/nowhere")

            read()

        outcome = run_dag(dag).task("read")

        assert [one.state for one in outcome.tries] == ["failed"]
        assert outcome.attempts[0]["category"] == "resource"

It does what ``dag.test()`` does, with three differences. A task that is up for retry or for reschedule is
due at once: the delay that was asked for is in ``outcome.tries[n].retry_delay``. A trigger that raises
fails its task as a triggerer would, so that the policy is asked; ``dag.test()`` lets it end the task. And it gives
up after ``max_rounds`` instead of looping for ever.

What only real processes show (delays that are waited for, killed tasks, the scheduler's own retries) is tested in
``end_to_end/``.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from demo.outcomes import RunOutcome, read_run

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.sdk import DAG
    from airflow.serialization.definitions.dag import SerializedDAG
    from airflow.triggers.base import TriggerEvent
    from sqlalchemy.orm import Session

BUNDLE = "tests"


def airflow_environment(home: Path) -> dict[str, str]:
    """Return the environment of an Airflow that keeps to ``home`` and talks to nobody."""
    dags = home / "dags"
    dags.mkdir(parents=True, exist_ok=True)
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


class DagRunner:
    """Runs Dags, one after the other, on one migrated database."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def __call__(self, dag: DAG, *, conf: Mapping[str, object] | None = None, max_rounds: int = 40) -> RunOutcome:
        """
        Run ``dag`` once, to its end, and return what Airflow stored about it.

        :param dag: may be made anywhere, also inside a test; its id must not be used by another test.
        :param max_rounds: how often all tasks that are due are run before the run counts as stuck.
        """
        from airflow.utils.session import create_session

        with create_session() as session:
            run = _create_run(dag, conf, session)
            return self._finish(dag, run, session, max_rounds)

    def clear_and_run(
        self, dag: DAG, outcome: RunOutcome, task_id: str, map_index: int = -1, *, max_rounds: int = 40
    ) -> RunOutcome:
        """Clear a task instance of a finished run, as a person would, and run the run to its end again."""
        from airflow.models.dagrun import DagRun
        from airflow.models.taskinstance import clear_task_instances
        from airflow.utils.session import create_session

        with create_session() as session:
            run = session.query(DagRun).filter_by(dag_id=dag.dag_id, run_id=outcome.run_id).one()
            task_instance = run.get_task_instance(task_id, map_index=map_index, session=session)
            assert task_instance is not None
            clear_task_instances([task_instance], session)
            session.commit()
            run.state = "running"
            return self._finish(dag, run, session, max_rounds)

    def _finish(self, dag: DAG, run: DagRun, session: Session, max_rounds: int) -> RunOutcome:
        run.dag = _as_scheduled(dag)
        for _ in range(max_rounds):
            if run.state != "running":
                break
            _run_due_tasks(dag, run, session)
        else:
            raise RuntimeError(f"{dag.dag_id} still runs after {max_rounds} rounds: {run.task_instances}")
        return read_run(self._database, dag.dag_id, run.run_id)


def _as_scheduled(dag: DAG) -> SerializedDAG:
    """Return the Dag as the scheduler knows it."""
    from airflow.serialization.serialized_objects import DagSerialization

    return DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag))


def _create_run(dag: DAG, conf: Mapping[str, object] | None, session: Session) -> DagRun:
    from airflow.dag_processing.collection import update_dag_parsing_results_in_db
    from airflow.models.dagbundle import DagBundleModel
    from airflow.serialization.serialized_objects import LazyDeserializedDAG
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    dag.validate()
    session.merge(DagBundleModel(name=BUNDLE))
    session.flush()
    errors: dict[tuple[str, str], str] = {}
    update_dag_parsing_results_in_db(BUNDLE, None, [LazyDeserializedDAG.from_dag(dag)], errors, None, set(), session)
    if errors:
        raise RuntimeError(f"Airflow cannot serialize {dag.dag_id}: {errors}")
    session.commit()
    now = datetime.now(UTC)
    return _as_scheduled(dag).create_dagrun(
        run_id=f"test__{uuid.uuid4()}",
        logical_date=now,
        data_interval=(now, now),
        run_after=now,
        conf=dict(conf or {}),
        run_type=DagRunType.MANUAL,
        triggered_by=DagRunTriggeredByType.TEST,
        state=DagRunState.RUNNING,
        start_date=now,
        session=session,
    )


def _run_due_tasks(dag: DAG, run: DagRun, session: Session) -> None:
    session.expire_all()
    due, _ = run.update_state(session=session)
    for task_instance in due:
        if task_instance.state != "up_for_reschedule":
            task_instance.try_number += 1
        task_instance.state = "scheduled"
    session.commit()
    for task_instance in run.get_task_instances(session=session):
        if task_instance.state == "scheduled":
            _run_task(dag, task_instance, session)
    session.expire_all()
    for task_instance in run.get_task_instances(session=session):
        if task_instance.state == "deferred":
            _run_trigger(task_instance, session)
        _make_due(task_instance, session)
    session.commit()


def _run_task(dag: DAG, task_instance: TaskInstance, session: Session) -> None:
    from airflow.sdk.api.datamodels._generated import TaskInstance as TaskInstanceOfSDK
    from airflow.sdk.execution_time.supervisor import run_task_in_process

    task_instance.state = "queued"
    asked = TaskInstanceOfSDK(
        id=task_instance.id,
        task_id=task_instance.task_id,
        dag_id=task_instance.dag_id,
        run_id=task_instance.run_id,
        try_number=task_instance.try_number,
        map_index=task_instance.map_index,
        dag_version_id=task_instance.dag_version_id,
    )
    session.commit()
    run_task_in_process(ti=asked, task=dag.task_dict[asked.task_id])


def _run_trigger(task_instance: TaskInstance, session: Session) -> None:
    from airflow.models.trigger import Trigger
    from airflow.sdk._shared.module_loading import import_string

    row = session.get_one(Trigger, task_instance.trigger_id)
    trigger = import_string(row.classpath)(**row.kwargs)

    async def first_event() -> TriggerEvent:
        return await anext(trigger.run())

    try:
        event = asyncio.run(first_event())
    except BaseException as error:
        Trigger.submit_failure(row.id, error, session=session)
    else:
        Trigger.submit_event(row.id, event, session=session)


def _make_due(task_instance: TaskInstance, session: Session) -> None:
    """Move the end of a try, or the date of a reschedule, so far back that the wait for it is over."""
    from airflow.models.taskreschedule import TaskReschedule

    long_ago = datetime(1970, 1, 1, tzinfo=UTC)
    if task_instance.state == "up_for_retry":
        task_instance.end_date = long_ago
    elif task_instance.state == "up_for_reschedule":
        for reschedule in session.scalars(TaskReschedule.stmt_for_task_instance(task_instance)):
            reschedule.reschedule_date = long_ago
