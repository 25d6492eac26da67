from __future__ import annotations

import json
from typing import Any

import pytest
from http_reading import answer_node, signal_of
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Rank, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.http.body import body_facts, printed_body_facts

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


def read_body(status: int, body: object, **options: Any) -> Signal:
    facts = {name.removeprefix("http."): fact for name, fact in body_facts(body, **options).items()}
    return signal_of(answer_node({"status": status, **facts}))


def openai(code: str, kind: str = "requests", message: str = "No.") -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, **error: object) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": "No.", **error}, "request_id": "req_1"}


def google(code: int, reason: str | None = None, status: str = "", **error: object) -> dict[str, object]:
    errors = [{"message": "No.", "domain": "global", "reason": reason}] if reason else []
    return {"error": {"code": code, "message": "No.", "errors": errors, "status": status, **error}}


def salesforce(code: str) -> list[dict[str, object]]:
    return [{"message": "No.", "errorCode": code}]


def elastic(status: int, kind: str) -> dict[str, object]:
    return {"error": {"root_cause": [], "type": kind, "reason": "No such luck."}, "status": status}


def kubernetes(reason: str, message: str = "No.", **details: object) -> dict[str, object]:
    return {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "details": details}


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
PLAN_AND_BILLING = "You exceeded your current quota, please check your plan and billing details."
OUT_OF_QUOTA = 'pods "a" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=9, limited: pods=9'
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."

RATE_LIMITED = ("rate_limit", YES, Wait.MEDIUM)
SPENT = ("permanent", NO, Wait.NONE)
REFUSED = ("auth", NO, Wait.NONE)
WRONG = ("data", NO, Wait.NONE)
FAILED = ("transient", YES, Wait.SHORT)
OVERLOADED = ("transient", YES, Wait.MEDIUM)
LOST_A_RACE = ("transient", YES, Wait.NOW)
EXPIRED = ("auth", DEPENDS, Wait.SHORT)

VENDOR_BODIES: list[tuple[int, object, str, tuple[str, Retry, Wait]]] = [
    (429, openai("insufficient_quota", "insufficient_quota", PLAN_AND_BILLING), "insufficient_quota", SPENT),
    (429, openai("organization_spend_limit_exceeded"), "organization_spend_limit_exceeded", SPENT),
    (429, openai("rate_limit_exceeded"), "rate_limit_exceeded", RATE_LIMITED),
    (400, openai("context_length_exceeded", "invalid_request_error"), "context_length_exceeded", WRONG),
    (429, anthropic("rate_limit_error"), "rate_limit_error", RATE_LIMITED),
    (
        429,
        anthropic("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
        "enforced_spend_limit_reached",
        SPENT,
    ),
    (529, anthropic("overloaded_error"), "overloaded_error", OVERLOADED),
    (500, anthropic("api_error"), "api_error", FAILED),
    (403, google(403, "rateLimitExceeded"), "rate_limit_exceeded", RATE_LIMITED),
    (403, google(403, "userRateLimitExceeded"), "userRateLimitExceeded", RATE_LIMITED),
    (403, google(403, "quotaExceeded", "PERMISSION_DENIED"), "quotaExceeded", ("rate_limit", DEPENDS, Wait.LONG)),
    (403, google(403, "dailyLimitExceeded"), "dailyLimitExceeded", ("rate_limit", DEPENDS, Wait.RESET)),
    (403, google(403, "billingNotEnabled"), "billingNotEnabled", SPENT),
    (500, google(500, "backendError"), "backendError", FAILED),
    (400, google(400, "resourcesExceeded"), "resourcesExceeded", ("permanent", NO, Wait.NONE)),
    (429, google(429, status="RESOURCE_EXHAUSTED"), "RESOURCE_EXHAUSTED", RATE_LIMITED),
    (500, google(500, status="DATA_LOSS"), "DATA_LOSS", WRONG),
    (409, google(409, status="ABORTED"), "ABORTED", LOST_A_RACE),
    (409, google(409, status="ALREADY_EXISTS"), "ALREADY_EXISTS", WRONG),
    (400, {"error": "invalid_grant", "error_description": "Token has been revoked."}, "invalid_grant", REFUSED),
    (503, {"error": "temporarily_unavailable"}, "temporarily_unavailable", FAILED),
    (200, {"ok": False, "error": "ratelimited"}, "ratelimited", RATE_LIMITED),
    (200, {"ok": False, "error": "missing_scope"}, "missing_scope", REFUSED),
    (403, salesforce("REQUEST_LIMIT_EXCEEDED"), "REQUEST_LIMIT_EXCEEDED", ("rate_limit", YES, Wait.RESET)),
    (400, salesforce("UNABLE_TO_LOCK_ROW"), "UNABLE_TO_LOCK_ROW", LOST_A_RACE),
    (401, salesforce("INVALID_SESSION_ID"), "INVALID_SESSION_ID", EXPIRED),
    (429, elastic(429, "es_rejected_execution_exception"), "es_rejected_execution_exception", RATE_LIMITED),
    (409, elastic(409, "version_conflict_engine_exception"), "version_conflict_engine_exception", LOST_A_RACE),
    (403, kubernetes("Forbidden", OUT_OF_QUOTA), "kubernetes.exceeded_quota", OVERLOADED),
    (410, kubernetes("Expired", "too old resource version"), "Expired", LOST_A_RACE),
    (422, {"code": "000604", "message": "Canceled.", "sqlState": "40001"}, "sql.40001", LOST_A_RACE),
    (403, {"message": SECONDARY}, "github.secondary_rate_limit", RATE_LIMITED),
]


@pytest.mark.parametrize(("status", "body", "code", "meaning"), VENDOR_BODIES)
@pytest.mark.parametrize("form", ["parsed", "text", "bytes"])
def test_a_vendor_code_says_more_than_the_status(
    status: int, body: object, code: str, meaning: tuple[str, Retry, Wait], form: str
) -> None:
    text = json.dumps(body)
    signal = read_body(status, {"parsed": body, "text": text, "bytes": text.encode()}[form])
    assert signal.code == f"http.{code}"
    assert (signal.category, signal.retry, signal.wait) == meaning
    assert signal.rank is Rank.VENDOR_CODE
    assert signal.is_conclusive


@pytest.mark.parametrize(
    ("code", "category", "retry"),
    [
        (1015, "rate_limit", YES),
        (1200, "transient", YES),
        (1033, "network", YES),
        (1205, "permanent", NO),
        (1020, "permanent", NO),
    ],
)
@pytest.mark.parametrize(
    "page",
    ["error code: {}", '<span class="cf-error-code">{}</span>', '{{"cloudflare_error": true, "error_code": {}}}'],
)
def test_a_page_of_cloudflare_is_read_by_its_number(code: int, category: str, retry: Retry, page: str) -> None:
    signal = read_body(403, page.format(code), is_cloudflare=True)
    assert (signal.code, signal.category, signal.retry) == (f"http.cloudflare.{code}", category, retry)


def test_such_a_number_counts_only_in_a_page_that_came_through_cloudflare() -> None:
    assert read_body(404, "error code: 1015").code == "http.404"


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"message": "You are being rate limited.", "retry_after": 0.65, "global": False}, 0.65),
        ({"retryAfterMs": 1500}, 1.5),
        (google(429, "rateLimitExceeded", details=[{"@type": "x"}, RETRY_INFO]), 34),
        (google(403, "quotaExceeded", details=[RETRY_INFO]), 34),
        (kubernetes("TooManyRequests", kind="pods", retryAfterSeconds=3), 3),
        ({"error": {"message": "Rate limit reached. Please try again in 6m0s."}}, 360),
        ({"retry_after": -3}, 0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": float("nan")}, None),
        ({"retry_after": 1e300}, None),
        ({"retry_after": True}, None),
    ],
)
def test_a_wait_in_the_body_is_kept(body: object, asked: float | None) -> None:
    signal = read_body(429, body)
    assert (signal.retry, signal.asked_delay_s) == (YES, asked)


def test_a_retry_after_header_goes_before_the_body() -> None:
    node = answer_node({"status": 429, "header.retry-after": 9.0, "body.retry_after_s": 20.0})
    assert signal_of(node).asked_delay_s == 9


# Codes that no table knows: their words are enough.
UNKNOWN_CODES = [
    (429, "monthly_quota_exceeded", "permanent", NO),
    (400, "STORAGE_LIMIT_EXCEEDED", "permanent", NO),
    (400, "budget_exceeded", "permanent", NO),
    (401, "api_key_expired", "auth", NO),
    (400, "ThrottlingException", "rate_limit", YES),
    (400, "ProvisionedThroughputExceededException", "rate_limit", YES),
    (400, "KMSThrottling", "rate_limit", YES),
    (403, "RequestThrottled", "rate_limit", YES),
    (400, "too-many-requests", "rate_limit", YES),
    (403, "policies.ratelimit.QuotaViolation", "rate_limit", YES),
    (503, "SlowDownPlease", "rate_limit", YES),
    (400, "ExpiredTokenException", "auth", DEPENDS),
    (403, "RequestExpired", "auth", DEPENDS),
    (400, "COULD_NOT_ACQUIRE_LOCK", "transient", YES),
    (409, "ContainerBeingDeleted", "transient", YES),
    (400, "ResourceInUseException", "transient", YES),
    (409, "OperationInProgress", "transient", YES),
    (409, "OperationNotAllowed", "transient", DEPENDS),
    (400, "RequestTimeout", "transient", YES),
    (400, "InternalServerError", "transient", YES),
    (400, "InvalidDBInstanceState", "transient", DEPENDS),
    (500, "InsufficientInstanceCapacity", "transient", YES),
    (409, "BucketAlreadyExists", "data", NO),
    (400, "ResourceNotFoundException", "resource", NO),
    (400, "AccessDeniedException", "auth", NO),
    (403, "AuthorizationPermissionMismatch", "auth", NO),
    (400, "ValidationException", "data", NO),
    (400, "ServiceQuotaExceededException", "permanent", DEPENDS),
    (402, "payment_method_declined", "permanent", NO),
    (400, "PolicySizeLimitExceeded", "data", NO),
    # A server error whose code blames the request: some tries, then no more.
    (502, "InvalidZipFileException", "data", DEPENDS),
    (502, "KMSAccessDeniedException", "auth", DEPENDS),
]


@pytest.mark.parametrize(("status", "code", "category", "retry"), UNKNOWN_CODES)
def test_an_unknown_code_is_read_by_its_words(status: int, code: str, category: str, retry: Retry) -> None:
    signal = read_body(status, {"error": {"code": code, "message": "No."}})
    assert (signal.category, signal.retry) == (category, retry)
    assert signal.rank is Rank.STATUS, "a reader that knows the vendor must win"


def test_a_bad_request_with_a_code_that_says_nothing_is_only_a_hint() -> None:
    assert read_body(400, {"error": {"code": "E_FROB", "message": "Frobbed."}}).strength is Strength.HINT
    assert read_body(400, {"error": {"message": "Frobbed."}}).is_conclusive


@pytest.mark.parametrize("code", ["Bad Request", "BadRequest", "BAD_REQUEST", "400", "BadRequestException"])
def test_a_code_that_repeats_the_status_is_none(code: str) -> None:
    signal = read_body(400, {"error": code})
    assert (signal.code, signal.is_conclusive) == ("http.400", True)


# What stands only in the message of a body.
MESSAGES = [
    (429, "Your monthly quota is used up", "permanent", NO),
    (403, "You have reached the limit of 1000 calls per month", "permanent", NO),
    (429, "Your daily quota is used up", "rate_limit", DEPENDS),
    (403, "The storage quota of the drive is full", "permanent", NO),
    (413, "Your organisation is out of storage space", "permanent", NO),
    (429, "org shop has exceeded limited_cardinality plan limit: cardinality limit", "permanent", NO),
    (400, "Budget has been exceeded! Current cost: 100.02", "permanent", NO),
    (401, "Expired API Key provided: ***", "auth", NO),
    (401, "The API key for this project has expired", "auth", NO),
    (401, "The access token has expired", "auth", DEPENDS),
    (403, "API rate limit exceeded for user ID 1.", "rate_limit", YES),
    (400, "Request was throttled. Expected available in 10 seconds.", "rate_limit", YES),
    (403, "The token has expired.", "auth", DEPENDS),
    (403, "Request has expired", "auth", DEPENDS),
    (401, "The access token is expired", "auth", DEPENDS),
    (409, "The object has been modified; please apply your changes to the latest version", "transient", YES),
    (409, "Table is locked by another process", "transient", YES),
    (409, "Another operation is in progress on this instance.", "transient", YES),
    (409, "Could not serve, please try again.", "transient", YES),
    (409, "A dataset with this name already exists", "data", NO),
    (409, "Job for 'x' is already queued. Not queuing a duplicate.", "transient", YES),
    (409, "A sync is already running for this connection", "transient", YES),
    (400, "The cluster is not in a state to accept jobs: UPDATING", "transient", DEPENDS),
    (400, "(#4) Application request limit reached", "rate_limit", YES),
    (401, "jwt expired", "auth", DEPENDS),
    (409, "Something about it is odd", "transient", DEPENDS),
    (400, "Your credit balance is too low to access the API.", "permanent", NO),
    (429, "This operation failed since another operation is being performed on the resource.", "transient", YES),
    (429, "You have reached your monthly spend limit.", "permanent", NO),
    (429, "The quota of 500 requests per day is used up.", "rate_limit", DEPENDS),
    (429, "Too many requests per minute; see the billing page for a higher limit.", "rate_limit", YES),
    (429, "Request too large for the model: limit 10000, requested 15000.", "data", NO),
    (403, "You are not allowed to do this.", "auth", NO),
    (400, "The field rate limit must be a number.", "data", NO),
    (404, "No lock of that name.", "resource", NO),
]


@pytest.mark.parametrize(("status", "message", "category", "retry"), MESSAGES)
def test_the_message_explains_an_ambiguous_status(status: int, message: str, category: str, retry: Retry) -> None:
    signal = read_body(status, {"message": message})
    assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize(
    ("status", "code", "message", "category", "retry"),
    [
        (503, "SlowDown", "Please reduce your request rate.", "rate_limit", YES),
        (403, "AccessDenied", "Request has expired", "auth", DEPENDS),
        (403, "AccessDenied", "Access Denied", "auth", NO),
        (403, "AuthenticationFailed", "Signature did not match.", "auth", NO),
        (404, "NoSuchKey", "The specified key does not exist.", "resource", NO),
    ],
)
def test_object_stores_answer_in_xml(status: int, code: str, message: str, category: str, retry: Retry) -> None:
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    signal = read_body(status, body.encode())
    assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize(
    ("message", "retry"), [("The cluster is not in a state to accept jobs: UPDATING", DEPENDS), ("No.", NO)]
)
def test_a_message_that_says_not_yet_is_believed_over_a_general_code(message: str, retry: Retry) -> None:
    assert read_body(400, google(400, status="FAILED_PRECONDITION", message=message)).retry is retry


def test_an_address_is_no_message() -> None:
    message = "403 Client Error: Forbidden for url: https://a.example/too-many-requests?rate-limit=locked"
    assert signal_of(answer_node({"status": 403}, message)).category == "auth"
    assert signal_of(answer_node({"status": 403}, message.replace("Forbidden", "rate limit exceeded"))).retry is YES


def test_an_exhausted_limit_that_names_its_end_is_no_empty_account() -> None:
    """Gemini's free tier speaks of billing in the answer to too many requests a minute."""
    body = google(429, None, "RESOURCE_EXHAUSTED", message=PLAN_AND_BILLING, details=[RETRY_INFO])
    signal = read_body(429, body)
    assert (signal.category, signal.retry, signal.asked_delay_s) == ("rate_limit", YES, 34)


@pytest.mark.parametrize(
    ("message", "category", "retry"),
    [
        ("Rate limit reached on requests per day (RPD): Limit 200, Used 200.", "rate_limit", DEPENDS),
        ("Request too large on tokens per min (TPM): Limit 30000, Requested 50000.", "data", NO),
    ],
)
def test_the_message_narrows_what_the_code_of_a_rate_limit_says(message: str, category: str, retry: Retry) -> None:
    signal = read_body(429, openai("rate_limit_exceeded", message=message))
    assert (signal.code, signal.category, signal.retry) == ("http.rate_limit_exceeded", category, retry)


def test_a_kept_body_is_bounded() -> None:
    facts = body_facts("x" * 10**6)
    assert facts == {"http.body": cut("x" * 10**6, 2048)}
    facts = body_facts(json.dumps({"message": "a " * 5000, "code": "c" * 5000}))
    assert all(len(str(fact)) <= 2048 for fact in facts.values())


KEYS = st.sampled_from(["error", "errors", "code", "details", "message", "retry_after", "reason", "status"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)
)


@given(body=st.text() | st.binary() | JSON | JSON.map(json.dumps))
def test_no_body_raises(body: object) -> None:
    for facts in (body_facts(body, is_cloudflare=True), printed_body_facts(str(body))):
        bare = {name.removeprefix("http."): fact for name, fact in facts.items()}
        assert signal_of(answer_node({"status": 429, **bare})).code.startswith("http.")


def test_a_deeply_nested_body_is_no_trap() -> None:
    assert body_facts("[" * 60_000)["http.body"] == cut("[" * 60_000, 2048)
    nested: object = {"code": "deep"}
    for _ in range(500):
        nested = {"error": nested}
    assert "http.body.code" not in body_facts(nested)


def test_a_limit_of_a_month_that_names_its_end_is_waited_for() -> None:
    signal = read_body(429, {"error": {"message": "Your monthly quota is used up.", "retryAfterMs": 60_000}})
    assert (signal.retry, signal.asked_delay_s) == (YES, 60)


def test_the_message_of_odata_stands_one_level_deeper() -> None:
    body = {"odata.error": {"code": "", "message": {"lang": "en-US", "value": "unused"}}}
    assert read_body(403, body).category == "auth"
    body = {"error": {"code": "-1", "message": {"lang": "en-US", "value": "API rate limit exceeded for this app."}}}
    signal = read_body(403, body)
    assert (signal.category, signal.retry) == ("rate_limit", YES)
