"""Errors of Google's APIs and logins, made by google-api-core and google-auth from what a loopback server answers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import google.api_core.exceptions
import google.api_core.operation
import google.api_core.retry
import google.auth
import google.auth.exceptions
import google.auth.transport.requests
import google.oauth2.credentials
import pytest
import requests
from airflow.exceptions import AirflowException
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from google.longrunning.operations_pb2 import Operation
from google.rpc.status_pb2 import Status
from http_reading import raised_by
from loopback.http_server import Answer, LoopbackServer, json_answer, serving

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Rank, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols import read_signals

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
Expected = tuple[str, Retry, Wait]

THROTTLED: Expected = ("rate_limit", YES, Wait.MEDIUM)
QUOTA: Expected = ("rate_limit", DEPENDS, Wait.LONG)
FAILED: Expected = ("transient", YES, Wait.SHORT)
NOT_ALLOWED: Expected = ("auth", NO, Wait.NONE)
EXPIRED: Expected = ("auth", DEPENDS, Wait.SHORT)
WRONG: Expected = ("data", NO, Wait.NONE)
MISSING: Expected = ("resource", NO, Wait.NONE)
FOR_A_PERSON: Expected = ("permanent", NO, Wait.NONE)
BLOCKED: Expected = ("permanent", DEPENDS, Wait.LONG)

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}


def error_info(reason: str) -> dict[str, object]:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {"@type": kind, "reason": reason, "domain": "googleapis.com", "metadata": {}}


def google_answer(status: int, reason: str = "", message: str = "No.", *details: object) -> Answer:
    errors = [{"message": message, "domain": "global", "reason": reason}] if reason else []
    error = {"code": status, "message": message, "errors": errors, "details": list(details)}
    return json_answer(status, {"error": error})


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


def call(url: str) -> None:
    """As the REST clients of Google's APIs call."""
    raise google.api_core.exceptions.from_http_response(requests.get(url, timeout=5))


def failed_job(reason: str, status: int, message: str = "No.") -> Exception:
    """As BigQuery's client makes an error of a job that failed; an unknown reason gets the status 500."""
    result = {"reason": reason, "location": "query", "message": message}
    words = f"{message}; " + ", ".join(f"{key}: {value}" for key, value in result.items())
    return google.api_core.exceptions.from_http_status(status, words, errors=[result])


def meaning(signal: Signal | None) -> Expected:
    assert signal is not None
    return signal.category, signal.retry, signal.wait


REASONS: list[tuple[int, str, Expected]] = [
    (403, "rateLimitExceeded", THROTTLED),
    (429, "rateLimitExceeded", THROTTLED),
    (403, "userRateLimitExceeded", THROTTLED),
    (400, "jobRateLimitExceeded", THROTTLED),
    (503, "servingLimitReached", THROTTLED),
    (403, "quotaExceeded", QUOTA),
    (403, "dailyLimitExceeded", ("rate_limit", DEPENDS, Wait.RESET)),
    (500, "backendError", FAILED),
    (500, "internalError", FAILED),
    (502, "badGateway", FAILED),
    (400, "jobBackendError", FAILED),
    (400, "jobInternalError", FAILED),
    (400, "tableUnavailable", FAILED),
    (400, "resourceInUse", FAILED),
    (400, "resourcesExceeded", FOR_A_PERSON),
    (403, "responseTooLarge", FOR_A_PERSON),
    (400, "billingTierLimitExceeded", FOR_A_PERSON),
    (403, "billingNotEnabled", FOR_A_PERSON),
    (403, "blocked", BLOCKED),
    (403, "accessDenied", NOT_ALLOWED),
    (403, "forbidden", NOT_ALLOWED),
    (403, "insufficientPermissions", NOT_ALLOWED),
    (403, "policyViolation", NOT_ALLOWED),
    (400, "userProjectMissing", NOT_ALLOWED),
    (401, "authError", NOT_ALLOWED),
    (400, "invalid", WRONG),
    (400, "invalidQuery", WRONG),
    (400, "required", WRONG),
    (400, "parseError", WRONG),
    (409, "duplicate", WRONG),
    (404, "notFound", MISSING),
    (412, "conditionNotMet", ("data", DEPENDS, Wait.NOW)),
    (503, "ZONE_RESOURCE_POOL_EXHAUSTED", ("transient", YES, Wait.LONG)),
    (503, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", ("transient", YES, Wait.LONG)),
]


@pytest.mark.parametrize(("status", "reason", "expected"), REASONS)
def test_a_reason_says_more_than_the_status(
    server: LoopbackServer, status: int, reason: str, expected: Expected
) -> None:
    server.answer(google_answer(status, reason))
    signal = conclusion(alive(raised_by(lambda: call(server.url))))
    assert meaning(signal) == expected
    assert signal is not None
    assert (signal.code, signal.rank) == (f"google.{reason}", Rank.VENDOR_CODE)


@pytest.mark.parametrize(("status", "reason", "expected"), [*REASONS, (200, "stopped", FOR_A_PERSON)])
def test_a_job_that_failed_is_judged_by_its_reason_also_in_the_log(
    status: int, reason: str, expected: Expected
) -> None:
    error = failed_job(reason, status)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"google.{reason}"


def test_a_job_that_was_made_just_now_may_not_be_visible_yet(server: LoopbackServer) -> None:
    server.answer(google_answer(404, "notFound", "Not found: Job project:EU.job_1"))
    signal = conclusion(alive(raised_by(lambda: call(server.url))))
    assert signal is not None
    assert (signal.code, signal.retry) == ("google.notFound.job", DEPENDS)


def test_a_job_that_failed_for_an_unknown_reason_is_no_server_error() -> None:
    error = failed_job("zork", 500)
    assert isinstance(error, google.api_core.exceptions.InternalServerError)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.max_attempts) == ("google.unknown_reason", 2)


def test_a_job_that_hit_its_own_limit_of_time_is_retried_once() -> None:
    signal = conclusion(alive(failed_job("timeout", 500)))
    assert signal is not None
    assert (signal.code, signal.category, signal.max_attempts) == ("google.timeout", "permanent", 2)


@pytest.mark.parametrize(
    ("reason", "status", "message", "expected"),
    [
        ("quotaExceeded", 403, "Your project exceeded quota for concurrent queries", THROTTLED),
        ("quotaExceeded", 403, "Quota exceeded for 100 requests per minute per user", THROTTLED),
        ("quotaExceeded", 403, "Quota exceeded: limit 'Queries per day'", ("rate_limit", DEPENDS, Wait.RESET)),
        ("rateLimitExceeded", 429, "Quota 'Queries per day' exceeded", ("rate_limit", DEPENDS, Wait.RESET)),
        ("notFound", 404, "Not found: Job my-project:US.etl_1", ("resource", DEPENDS, Wait.SHORT)),
        ("notFound", 404, "Not found: Table my-project:sales.orders", MISSING),
    ],
)
def test_the_message_tells_where_the_reason_is_vague(
    server: LoopbackServer, reason: str, status: int, message: str, expected: Expected
) -> None:
    server.answer(google_answer(status, reason, message))
    assert meaning(conclusion(alive(raised_by(lambda: call(server.url))))) == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("RATE_LIMIT_EXCEEDED", THROTTLED),
        ("RESOURCE_QUOTA_EXCEEDED", BLOCKED),
        ("SERVICE_DISABLED", FOR_A_PERSON),
        ("BILLING_DISABLED", FOR_A_PERSON),
        ("CONSUMER_SUSPENDED", FOR_A_PERSON),
        ("LOCATION_ORG_POLICY_VIOLATED", FOR_A_PERSON),
        ("API_KEY_INVALID", NOT_ALLOWED),
        ("OVERLOADED_CREDENTIALS", NOT_ALLOWED),
        ("IAM_PERMISSION_DENIED", NOT_ALLOWED),
        ("ACCESS_TOKEN_SCOPE_INSUFFICIENT", NOT_ALLOWED),
        ("ACCESS_TOKEN_EXPIRED", EXPIRED),
    ],
)
def test_the_reason_in_the_details_is_the_more_exact_one(
    server: LoopbackServer, reason: str, expected: Expected
) -> None:
    server.answer(google_answer(403, "forbidden", "No.", error_info(reason)))
    error = raised_by(lambda: call(server.url))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"google.{reason}"


def test_a_quota_that_says_when_it_is_free_is_a_rate(server: LoopbackServer) -> None:
    server.answer(google_answer(429, "quotaExceeded", "No.", RETRY_INFO))
    evidence = alive(raised_by(lambda: call(server.url)))
    found = conclude(evidence, read_signals(evidence))
    assert meaning(found.signal) == THROTTLED
    assert found.asked_delay_s == 34


def test_an_answer_without_a_reason_is_judged_by_its_status(server: LoopbackServer) -> None:
    server.answer(google_answer(503), Answer(502, "<html>Bad Gateway</html>"))
    for _ in range(2):
        signal = conclusion(alive(raised_by(lambda: call(server.url))))
        assert signal is not None
        assert (signal.protocol, signal.retry) == ("http", YES)


@pytest.mark.parametrize(
    ("code", "expected", "name"),
    [
        (8, ("rate_limit", DEPENDS, Wait.MEDIUM), "grpc.RESOURCE_EXHAUSTED"),
        (9, WRONG, "grpc.FAILED_PRECONDITION"),
        (10, ("transient", YES, Wait.NOW), "grpc.ABORTED"),
    ],
)
def test_an_operation_that_ended_badly_is_judged_by_its_status(code: int, expected: Expected, name: str) -> None:
    ended = Operation(name="operations/1", done=True, error=Status(code=code, message="No."))
    future = google.api_core.operation.Operation(ended, lambda: ended, lambda: None, Status)
    error = raised_by(lambda: future.result(timeout=5))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == name


# Retries that were spent.


def retry_until_spent(url: str) -> None:
    keep_trying = google.api_core.retry.Retry(lambda error: True, initial=0.01, maximum=0.01, timeout=0.03)
    keep_trying(call)(url)


def test_what_is_behind_spent_retries_decides(server: LoopbackServer) -> None:
    server.answer(google_answer(500, "backendError"))
    error = raised_by(lambda: retry_until_spent(server.url))
    assert isinstance(error, google.api_core.exceptions.RetryError)
    assert conclusion_code(alive(error)) == "google.backendError"


@pytest.mark.parametrize(
    ("message", "code", "wait"),
    [
        ("Timeout of 600.0s exceeded, last exception: 500 GET https://x: No.", "http.500", Wait.MEDIUM),
        ("Timeout of 600.0s exceeded, last exception: ", "google.retries_spent", Wait.MEDIUM),
    ],
)
def test_a_line_about_spent_retries_waits_longer_than_they_did(message: str, code: str, wait: Wait) -> None:
    signal = conclusion(printed("google.api_core.exceptions.RetryError", message))
    assert signal is not None
    assert (signal.code, signal.wait) == (code, wait)
    assert signal.retry is not NO


# Logins.


def refresh(url: str) -> None:
    credentials = google.oauth2.credentials.Credentials(
        None, refresh_token="r", token_uri=url, client_id="c", client_secret="s"
    )
    credentials.refresh(google.auth.transport.requests.Request())


STALE_JWT = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."


@pytest.mark.parametrize(
    ("error", "description", "code", "expected"),
    [
        ("invalid_grant", "Token has been expired or revoked.", "google.invalid_grant", NOT_ALLOWED),
        ("invalid_client", "Unauthorized", "google.invalid_client", NOT_ALLOWED),
        ("invalid_grant", STALE_JWT, "google.wrong_clock", EXPIRED),
        ("zork", "No.", "google.RefreshError", EXPIRED),
    ],
)
def test_a_token_that_could_not_be_refreshed_says_why(
    server: LoopbackServer, error: str, description: str, code: str, expected: Expected
) -> None:
    server.answer(json_answer(400, {"error": error, "error_description": description}))
    raised = raised_by(lambda: refresh(server.url))
    assert isinstance(raised, google.auth.exceptions.RefreshError)
    for evidence in (alive(raised), logged(raised)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == code


@pytest.mark.parametrize("reason", ["internal_failure", "server_error", "temporarily_unavailable"])
def test_a_login_that_may_be_repeated_says_so(reason: str) -> None:
    words = (f"{reason}: None", {"error": reason})
    verdict = conclusion(alive(google.auth.exceptions.RefreshError(*words, retryable=True)))
    assert verdict is not None
    assert (verdict.rank, *meaning(verdict)) == (Rank.VERDICT, *FAILED)
    assert meaning(conclusion(alive(google.auth.exceptions.RefreshError(*words)))) == FAILED


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (json.dumps({"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}}), NOT_ALLOWED),
        (json.dumps({"error": {"code": 503, "message": "No."}}), FAILED),
        ("", FAILED),
    ],
)
def test_an_impersonation_that_failed_is_judged_by_what_was_answered(body: str, expected: Expected) -> None:
    error = google.auth.exceptions.RefreshError("Unable to acquire impersonated credentials", body)
    for evidence in (alive(error), logged(error)):
        found = meaning(conclusion(evidence))
        assert found[1:] == expected[1:]
    assert conclusion_code(alive(error)) == "google.impersonation"


def test_missing_credentials_and_an_unreachable_login_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", f"{tmp_path}/none.json")
    error = raised_by(google.auth.default)
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == "google.DefaultCredentialsError"
    assert meaning(conclusion(alive(error))) == NOT_ALLOWED
    transport = conclusion(alive(google.auth.exceptions.TransportError("no answer")))
    assert transport is not None
    assert (transport.category, transport.retry) == ("network", YES)


# What operators print.


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("BigQuery job failed: {'reason': 'resourcesExceeded', 'location': 'query', 'message': 'm'}",
         "google.resourcesExceeded"),
        ("BigQuery error: m; reason: quotaExceeded, message: m", "google.quotaExceeded"),
        ("operation failed: [{'code': 'ZONE_RESOURCE_POOL_EXHAUSTED', 'message': 'm'}]",
         "google.ZONE_RESOURCE_POOL_EXHAUSTED"),
    ],
)  # fmt: skip
def test_a_reason_that_an_operator_printed_is_read(message: str, code: str) -> None:
    assert conclusion_code(alive(AirflowException(message))) == code


@pytest.mark.parametrize(
    "message",
    [
        "{'reason': 'quotaExceeded'} of somebody else's",
        "BigQuery: the reason: invalid input of the user",
        "google was asked for the reason: notFound",
    ],
)
def test_a_word_that_may_mean_anything_is_no_reason_of_googles(message: str) -> None:
    assert codes(alive(AirflowException(message)), "google.") == []


def discovery_error(content: bytes, details: object) -> Exception:
    """What googleapiclient raises, as it keeps the answer."""

    class HttpError(Exception):
        __module__ = "googleapiclient.errors"

    class Answered(dict[str, str]):
        status = 403
        reason = "Forbidden"

    error = HttpError('<HttpError 403 when requesting https://x returned "No.">')
    error.__dict__.update(resp=Answered(), content=content, error_details=details, reason="No.")
    return error


@pytest.mark.parametrize("has_details", [True, False])
def test_a_reason_is_found_where_the_discovery_client_keeps_it(has_details: bool) -> None:
    errors = [{"message": "No.", "domain": "usageLimits", "reason": "userRateLimitExceeded"}]
    content = json.dumps({"error": {"code": 403, "message": "No.", "errors": errors}}).encode()
    error = discovery_error(content, errors if has_details else "")
    assert conclusion_code(alive(error)) == "google.userRateLimitExceeded"
    assert meaning(conclusion(alive(error))) == THROTTLED


@pytest.mark.parametrize(
    "hostile", ["reason: " * 120_000, "bigquery reason: a" * 50_000, "ZONE_RESOURCE_POOL_" * 50_000]
)
@pytest.mark.parametrize("type_path", ["AirflowException", "google.api_core.exceptions.Forbidden"])
def test_hostile_megabytes_are_read_without_an_error(hostile: str, type_path: str) -> None:
    assert codes(printed(type_path, hostile), "google.") == []
