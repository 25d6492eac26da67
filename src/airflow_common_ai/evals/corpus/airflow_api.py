"""The failed tries of a running Airflow with their logs, through its public REST API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlencode

from airflow_common_ai.evals.corpus.api_client import AirflowApiError, ApiClient
from airflow_common_ai.evals.corpus.log import Log, LogReader, Skipped, TaskTry, task_try_of
from airflow_common_ai.evidence.logs.log_record import moment_of

__all__ = ["logs_of_failed_tries"]

_PAGE = 100
"""Source: ``[api] maximum_page_limit`` of apache-airflow-core 3.3.2, which is 100."""
_MAX_INSTANCES = 100_000
_FAILED_NOW = ("failed", "up_for_retry")
_MAX_TRY = 30
"""Up to which try a task instance is found that is not failed now: a retry saved it, or is running."""
_FAILED = "failed"
"""The state of a try in the history of a task instance."""
_OF_ONE_TRY = frozenset({404, 410, 500, 502, 503, 504})
"""Its log is gone, or the place where it is kept does not answer; others may be there."""


def logs_of_failed_tries(
    client: ApiClient,
    read: LogReader,
    *,
    since: datetime,
    dags: Sequence[str],
    limit: int,
    is_seen: Callable[[TaskTry], bool],
) -> Iterator[Log | Skipped]:
    """
    Yield the logs of tries that failed, of the latest task instances first.

    :param read: Returns the text of an answer, of bounded size.
    :param since: How far back.
    :param dags: Of these Dags only, of all if none is named.
    :param limit: How many logs are fetched at most.
    :param is_seen: Whether a try was added before, so that its log need not be fetched.
    :raises AirflowApiError: Airflow was not reached, or refused.
    """
    fetched = 0
    for instance in _instances_with_a_failed_try(client, since, dags):
        for task_try, ended_at in _failed_tries(client, instance, since):
            if is_seen(task_try):
                yield Log(str(task_try), "", ended_at, task_try)
            elif fetched < limit:
                fetched += 1
                yield _log(client, read, task_try, ended_at)
            else:
                yield Skipped("further failures", f"at most {limit} logs are fetched at once: call it again")
                return


def _instances_with_a_failed_try(client: ApiClient, since: datetime, dags: Sequence[str]) -> Iterator[TaskTry]:
    """Yield task instances, as their latest try: what has failed, and what was tried more than once."""
    queries: list[list[tuple[str, object]]] = [
        [("state", state) for state in _FAILED_NOW],
        [("try_number", number) for number in range(2, _MAX_TRY + 1)],
    ]
    known: set[TaskTry] = set()
    for dag_id in dags or ["~"]:
        for query in queries:
            for instance in _instances(client, dag_id, [*query, ("updated_at_gte", since.isoformat())]):
                if instance not in known:
                    known.add(instance)
                    yield instance


def _instances(client: ApiClient, dag_id: str, query: Iterable[tuple[str, object]]) -> Iterator[TaskTry]:
    path = f"/dags/{_quoted(dag_id)}/dagRuns/~/taskInstances"
    for offset in range(0, _MAX_INSTANCES, _PAGE):
        page = [("limit", _PAGE), ("offset", offset), ("order_by", "-end_date")]
        found = client.objects(f"{path}?{urlencode([*query, *page])}", "task_instances")
        yield from map(_task_try, found)
        if len(found) < _PAGE:
            return


def _failed_tries(client: ApiClient, instance: TaskTry, since: datetime) -> Iterator[tuple[TaskTry, datetime]]:
    index = f"/{instance.map_index}" if instance.map_index >= 0 else ""
    for one in client.objects(f"{_path(instance)}{index}/tries", "task_instances"):
        ended_at = moment_of(one.get("end_date"))
        if one.get("state") == _FAILED and ended_at is not None and ended_at >= since:
            yield _task_try(one), ended_at


def _log(client: ApiClient, read: LogReader, task_try: TaskTry, ended_at: datetime) -> Log | Skipped:
    query = urlencode({"map_index": task_try.map_index, "full_content": "true"})
    name = str(task_try)
    try:
        with client.open(f"{_path(task_try)}/logs/{task_try.number}?{query}", "application/x-ndjson") as answer:
            return Log(name, read(answer, "its log"), ended_at, task_try)
    except ValueError as fault:
        return Skipped(name, str(fault))
    except AirflowApiError as error:
        if error.status in _OF_ONE_TRY:
            return Skipped(name, str(error))
        raise


def _path(task_try: TaskTry) -> str:
    dag, run, task = map(_quoted, (task_try.dag_id, task_try.run_id, task_try.task_id))
    return f"/dags/{dag}/dagRuns/{run}/taskInstances/{task}"


def _quoted(name: str) -> str:
    return quote(name, safe="~")


def _task_try(fields: Mapping[str, object]) -> TaskTry:
    """
    Return what an entry of the API names.

    :raises AirflowApiError: It names none.
    """
    task_try = task_try_of(fields, run_id="dag_run_id")
    if task_try is None:
        raise AirflowApiError("the answer names no task instances as Airflow 3 does. Check the URL.")
    return task_try
