"""A log leads to the decision that a policy in the worker makes, wherever the log holds what the decision rests on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    AirflowSensorTimeout,
    AirflowTaskTimeout,
    TaskDeferralTimeout,
)
from airflow_log import TaskLog, printed, shown, stored
from real_failures import (
    Failure,
    Failures,
    of_databases,
    of_http_clients,
    of_libraries,
    of_python,
    of_services,
    two_tries,
)

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.logs.task_log import read_failure
from airflow_common_ai.evidence.model import Evidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.delay import RetrySchedule
from airflow_common_ai.policies.judgement import judge
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import read_settings

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Decision(NamedTuple):
    action: str
    category: str | None
    delay_s: float | None


def raising(exception: BaseException) -> Callable[[object], None]:
    def fail(_: object) -> None:
        raise exception

    return fail


OF_AIRFLOW = Failures()
for _exception in (
    AirflowException("Bash command failed. The command returned a non-zero exit code 137."),
    AirflowException("Job failed:\nrequests.exceptions.ConnectionError: Max retries exceeded"),
    AirflowFailException("give up"),
    AirflowNotFoundException("The conn_id `warehouse` isn't defined"),
    AirflowSensorTimeout("Sensor has timed out"),
    AirflowTaskTimeout("Timeout, PID: 12"),
    TaskDeferralTimeout("Trigger/execution timeout"),
):
    OF_AIRFLOW.row("airflow", f"{type(_exception).__name__} {_exception}".partition("\n")[0], raising(_exception))


@OF_AIRFLOW("airflow")
def provider_wraps_a_refused_connection(_: object) -> None:
    try:
        raise ConnectionRefusedError(111, "Connection refused")
    except ConnectionRefusedError as error:
        raise AirflowException("The hook gave up") from error


FAILURES: list[Failure] = [
    *OF_AIRFLOW,
    *of_python.FAILURES,
    *of_http_clients.FAILURES,
    *of_services.FAILURES,
    *of_databases.FAILURES,
    *of_libraries.FAILURES,
]
Raised = Callable[[Failure], BaseException]


@pytest.fixture(scope="module")
def raised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raised]:
    """Raise a failure, once for all tests."""
    errors: dict[Failure, BaseException] = {}
    with two_tries(tmp_path_factory.mktemp("tries")) as (first, _):

        def raised(failure: Failure) -> BaseException:
            if failure not in errors:
                with pytest.raises(BaseException) as caught:  # noqa: PT011 - Airflow's time limit is no Exception
                    failure.fail(first)
                errors[failure] = caught.value
            return errors[failure]

        yield raised


def decision(evidence: Evidence | None) -> Decision:
    assert evidence is not None
    judged = judge(
        EvidenceRetryPolicy(classifier=False),
        Exception(),
        evidence,
        RetryRound(try_number=1, max_tries=3, schedule=RetrySchedule(300)),
        redactor=Redactor(),
        settings=read_settings(),
        uniform=lambda: 0.5,
    )
    return Decision(judged.attempt.action, judged.attempt.category, judged.attempt.delay_s)


def rests_on_attributes(live: Evidence) -> bool:
    """Whether the decision would be another one without headers, answers and other attributes of the exceptions."""
    bare = replace(live, nodes=tuple(replace(node, facts={}) for node in live.nodes))
    return decision(bare) != decision(live)


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_log_file_leads_to_the_same_decision_as_the_live_exception(failure: Failure, raised: Raised) -> None:
    live = collect(raised(failure), observed_at=NOW)

    assert decision(read_failure(stored(raised(failure)), NOW)) == decision(live) or rests_on_attributes(live)


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_log_file_leads_to_the_same_decision_as_a_printed_traceback(failure: Failure, raised: Raised) -> None:
    """A traceback has the modules of the classes; a log file has not, and yet they are told."""
    error = raised(failure)
    from_file = decision(read_failure(stored(error), NOW))

    assert from_file == decision(read_failure("".join(traceback.format_exception(error)), NOW))
    assert from_file == decision(read_failure(printed(error, colors=True), NOW))


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_what_the_ui_shows_leads_to_the_same_decision_or_to_none(failure: Failure, raised: Raised) -> None:
    log = TaskLog().failed(raised(failure))

    shown_by_ui = decision(read_failure(shown(log.records), NOW))

    assert shown_by_ui.action in ("default", decision(read_failure(log.stored, NOW)).action)


def test_for_most_failures_a_log_holds_all_that_the_decision_rests_on(raised: Raised) -> None:
    enough = [failure for failure in FAILURES if not rests_on_attributes(collect(raised(failure), observed_at=NOW))]

    assert len(enough) > 0.8 * len(FAILURES)


@pytest.mark.parametrize(
    ("name", "live", "from_log"),
    [
        # The header Retry-After: the server will answer again, if asked later.
        ("requests: status 404", Decision("retry", "resource", 17.85), Decision("fail", "resource", None)),
        # The code in the body of the answer.
        ("requests: status 429, no money", Decision("fail", "permanent", None), Decision("retry", "rate_limit", 67.5)),
        # What the program printed.
        ("subprocess: it printed no space", Decision("retry", "transient", 67.5), Decision("default", None, None)),
    ],
)
def test_what_no_log_holds_changes_the_decision(name: str, live: Decision, from_log: Decision, raised: Raised) -> None:
    error = next(raised(failure) for failure in FAILURES if str(failure) == name)

    assert decision(collect(error, observed_at=NOW)) == live
    assert decision(read_failure(stored(error), NOW)) == from_log
