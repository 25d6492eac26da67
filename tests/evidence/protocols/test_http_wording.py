"""Lines as clients print them. What is installed here also raises for real, in ``test_http``."""

from __future__ import annotations

import pytest
from http_reading import log_line, signal_of, signals_of
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.model import Retry, Wait

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS

KUBERNETES = """(403)
Reason: Forbidden
HTTP response headers: HTTPHeaderDict({'Audit-Id': '5b1f', 'Content-Type': 'application/json', 'Retry-After': '9', \
'Date': 'Thu, 01 Jan 2026 00:00:00 GMT'})
HTTP response body: {"kind":"Status","status":"Failure","message":"pods \\"a\\" is forbidden: exceeded quota: small, \
requested: pods=1, used: pods=9, limited: pods=9","reason":"Forbidden","details":{"kind":"pods"},"code":403}
"""

LINES = [
    ("requests.exceptions.HTTPError", "429 Client Error: Too Many Requests for url: https://a.example/b", "http.429"),
    ("requests.exceptions.HTTPError", "522 Server Error: <none> for url: https://a.example/b?c=404", "http.522"),
    ("HTTPError", "401 Client Error: Unauthorized for url: https://a.example/b", "http.401"),
    ("docker.errors.APIError", '500 Server Error for http+docker://localhost/v1/x: Internal ("x")', "http.500"),
    ("huggingface_hub.errors.HfHubHTTPError", "503 Server Error: Unavailable for url: https://h.example", "http.503"),
    (
        "httpx.HTTPStatusError",
        "Client error '404 Not Found' for url 'https://a.example'\nFor more information",
        "http.404",
    ),
    ("httpx.HTTPStatusError", "Server error '503 Service Unavailable' for url 'https://a.example'", "http.503"),
    (
        "aiohttp.client_exceptions.ClientResponseError",
        "502, message='Bad Gateway', url='https://a.example'",
        "http.502",
    ),
    ("aiohttp.ClientResponseError", "401, message='Unauthorized', url=URL('https://a.example/')", "http.401"),
    ("urllib.error.HTTPError", "HTTP Error 503: Service Unavailable", "http.503"),
    (
        "urllib3.exceptions.MaxRetryError",
        "HTTPSConnectionPool(host='a.example', port=443): Max retries exceeded with url: /b "
        "(Caused by ResponseError('too many 500 error responses'))",
        "http.500",
    ),
    ("OSError", "Tunnel connection failed: 407 Proxy Authentication Required", "http.407"),
    ("httpx.ProxyError", "403 Forbidden", "http.403"),
    ("kubernetes.client.exceptions.ApiException", "(404)\nReason: Not Found\nHTTP response headers: ", "http.404"),
    ("kubernetes.client.exceptions.ConflictException", "(409)\nReason: Conflict\n", "http.409"),
    ("ApiException", "(500)", "http.500"),
    ("googleapiclient.errors.HttpError", '<HttpError 404 when requesting https://a.example returned "No">', "http.404"),
    ("google.api_core.exceptions.BadGateway", "502 GET https://a.example: Bad gateway", "http.502"),
    ("openai.APIStatusError", "Error code: 402 - Payment required", "http.402"),
    ("anthropic.InternalServerError", "Error code: 500", "http.500"),
    ("pydantic_ai.exceptions.ModelHTTPError", "status_code: 503, model_name: m, body: None", "http.503"),
    (
        "botocore.exceptions.ClientError",
        "An error occurred (404) when calling the HeadObject operation: Not Found",
        "http.404",
    ),
    ("airflow.sdk.exceptions.AirflowException", "404:Not Found", "http.404"),
    ("airflow.providers.http.exceptions.HttpErrorException", "503:Service Unavailable", "http.503"),
    ("airflow.exceptions.AirflowException", "503:", "http.503"),
    ("elasticsearch.ApiError", "ApiError(503, 'None')", "http.503"),
    ("elasticsearch.NotFoundError", "NotFoundError(404, 'index_not_found_exception', 'no such index [a]')", "http.404"),
    ("azure.core.exceptions.HttpResponseError", "Operation returned an invalid status 'Bad Gateway'", "http.502"),
    ("azure.core.exceptions.HttpResponseError", "Status: 503\nSomething", "http.503"),
    ("simple_salesforce.exceptions.SalesforceGeneralError", "Error Code 503. Response content: x", "http.503"),
    ("github.GithubException.UnknownObjectException", '404 {"message": "Not Found"}', "http.404"),
    ("github.GithubException", 'Not here: 404 {"message": "Not Found"}', "http.404"),
    ("gitlab.exceptions.GitlabGetError", "404: 404 Project Not Found", "http.404"),
    ("jira.exceptions.JIRAError", "JiraError HTTP 503 url: https://j.example\n\ttext: x", "http.503"),
    ("twilio.base.exceptions.TwilioRestException", "HTTP 500 error: Unable to create record", "http.500"),
    (
        "tableauserverclient.server.endpoint.exceptions.FailedSignInError",
        "Failed Sign In Error: \n\n\t401001: Signin Error\n\t\tInvalid",
        "http.401",
    ),
    ("websockets.exceptions.InvalidStatus", "server rejected WebSocket connection: HTTP 503", "http.503"),
]


@pytest.mark.parametrize(("type_path", "message", "code"), LINES)
def test_a_printed_status_is_read(type_path: str, message: str, code: str) -> None:
    assert [signal.code for signal in signals_of(log_line(type_path, message))] == [code]


CODES = [
    (
        "openai.RateLimitError",
        "Error code: 429 - {'error': {'message': 'No.', 'type': 'insufficient_quota', 'code': 'insufficient_quota'}}",
        ("http.insufficient_quota", "permanent", NO),
    ),
    (
        "openai.RateLimitError",
        "Error code: 429 - You exceeded your current quota, please check your plan and billing details.",
        ("http.429.unpaid", "permanent", NO),
    ),
    (
        "openai.RateLimitError",
        "Error code: 429 - Rate limit reached for requests. Please try again in 6m0s.",
        ("http.429", "rate_limit", YES),
    ),
    (
        "anthropic.OverloadedError",
        "Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}",
        ("http.overloaded_error", "transient", YES),
    ),
    (
        "googleapiclient.errors.HttpError",
        '<HttpError 403 when requesting https://a.example returned "Rate Limit Exceeded". Details: '
        "\"[{'domain': 'usageLimits', 'reason': 'rateLimitExceeded', 'message': 'Rate Limit Exceeded'}]\">",
        ("http.rate_limit_exceeded", "rate_limit", YES),
    ),
    ("google.api_core.exceptions.Aborted", "409 Transaction lock timeout", ("http.ABORTED", "transient", YES)),
    ("google.api_core.exceptions.DataLoss", "None The stream is damaged", ("http.DATA_LOSS", "data", NO)),
    ("google.api_core.exceptions.AlreadyExists", "409 It is there", ("http.ALREADY_EXISTS", "data", NO)),
    (
        "botocore.exceptions.ClientError",
        "An error occurred (ThrottlingException) when calling the ListTables operation (reached max retries: 4): Rate",
        ("http.throttled", "rate_limit", YES),
    ),
    (
        "botocore.errorfactory.ResourceInUseException",
        "An error occurred (ResourceInUseException) when calling the UpdateTable operation: Attempt to change",
        ("http.contended", "transient", YES),
    ),
    (
        "slack_sdk.errors.SlackApiError",
        "The request to the Slack API failed. (url: https://slack.com/api/x)\nThe server responded with: "
        "{'ok': False, 'error': 'ratelimited'}",
        ("http.ratelimited", "rate_limit", YES),
    ),
    (
        "simple_salesforce.exceptions.SalesforceRefusedRequest",
        "Request refused for https://a.example. Response content: "
        "[{'message': 'No.', 'errorCode': 'REQUEST_LIMIT_EXCEEDED'}]",
        ("http.REQUEST_LIMIT_EXCEEDED", "rate_limit", YES),
    ),
    (
        "azure.core.exceptions.HttpResponseError",
        "No.\nRequestId:1\nTime:2026\nErrorCode:ServerBusy",
        ("http.contended", "transient", YES),
    ),
    (
        "azure.core.exceptions.ClientAuthenticationError",
        "(AuthorizationFailed) The client may not do this.",
        ("http.refused", "auth", NO),
    ),
    (
        "elasticsearch.ApiError",
        "ApiError(429, 'es_rejected_execution_exception', 'rejected')",
        ("http.es_rejected_execution_exception", "rate_limit", YES),
    ),
    ("kubernetes.client.exceptions.ApiException", KUBERNETES, ("http.kubernetes.exceeded_quota", "transient", YES)),
    (
        "aiohttp.client_exceptions.ContentTypeError",
        "200, message='Attempt to decode JSON with unexpected mimetype: text/html; charset=utf-8', url='https://a'",
        ("http.html_instead_of_data", "network", DEPENDS),
    ),
    (
        "requests.exceptions.HTTPError",
        "403 Client Error: rate limit exceeded for url: https://api.github.com/users/a",
        ("http.403.throttled", "rate_limit", YES),
    ),
]


@pytest.mark.parametrize(("type_path", "message", "expected"), CODES)
def test_a_printed_code_says_more_than_the_status(
    type_path: str, message: str, expected: tuple[str, str, Retry]
) -> None:
    signal = signal_of(log_line(type_path, message))
    assert (signal.code, signal.category, signal.retry) == expected


def test_printed_waits_are_kept() -> None:
    assert signal_of(log_line("kubernetes.client.exceptions.ApiException", KUBERNETES)).asked_delay_s == 9
    openai = "Error code: 429 - Rate limit reached for requests. Please try again in 6m0s."
    assert signal_of(log_line("openai.RateLimitError", openai)).asked_delay_s == 360
    google = "429 Quota exceeded [retry_delay {\n  seconds: 34\n}\n]"
    assert signal_of(log_line("google.api_core.exceptions.ResourceExhausted", google)).asked_delay_s == 34


def test_spent_retries_are_noticed_in_print() -> None:
    message = "An error occurred (InternalError) when calling the GetObject operation (reached max retries: 4): No."
    assert signal_of(log_line("botocore.exceptions.ClientError", message)).wait is Wait.MEDIUM
    first_try = message.replace("max retries: 4", "max retries: 0")
    assert signal_of(log_line("botocore.exceptions.ClientError", first_try)).wait is Wait.SHORT


@pytest.mark.parametrize(
    ("type_path", "message"),
    [
        # The words of a client in a class that is none, or in other words.
        ("requests.exceptions.HTTPError", "Expected 429 Client Error: but got none"),
        ("requests.exceptions.HTTPError", "4290 Client Error: Too Many Requests for url: https://a.example"),
        ("airflow.exceptions.AirflowException", "404 rows are missing"),
        ("airflow.exceptions.AirflowException", "500:rows are missing"),
        ("airflow.exceptions.AirflowException", "Order 503: Service Unavailable"),
        ("kubernetes.client.exceptions.ApiException", "Reason: None"),
        ("OSError", "[Errno 403] Tunnel of love"),
        ("builtins.Exception", "404"),
        ("sqlalchemy.exc.OperationalError", "(psycopg2.OperationalError) 503 rows (Background on this error at: e3q8)"),
    ],
)
def test_what_only_looks_like_a_printed_status_is_left_to_others(type_path: str, message: str) -> None:
    assert signals_of(log_line(type_path, message)) == []


CLASSES = st.sampled_from([type_path for type_path, _, _ in LINES] + [type_path for type_path, _, _ in CODES])
STARTS = st.sampled_from(["", *(message[:12] for _, message, _ in LINES), *(message for _, message, _ in CODES)])


@given(type_path=CLASSES, start=STARTS, rest=st.text())
def test_no_message_raises(type_path: str, start: str, rest: str) -> None:
    assert all(signal.source for signal in signals_of(log_line(type_path, start + rest)))


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("load failed: 429 Client Error: Too Many Requests for url: https://a.example/b", "http.429"),
        ("step 3: Client error '404 Not Found' for url 'https://a.example'", "http.404"),
        ("curl: (22) The requested URL returned error: 503", "http.503"),
        ("AxiosError: Request failed with status code 401", "http.401"),
        ("sync stopped, status code: 502", "http.502"),
        ("There was a conflict when trying to complete your request. 404 Client Error: Not Found", "http.404"),
        ("403 Client Error. (Request ID: Root=1-6)\n\nCannot access gated repo", "http.403"),
        ("[HTTP 503][ERR 1477] cluster internal", "http.503"),
        ("proxy said HTTP/1.1 407 Proxy Authentication Required", "http.407"),
        ("received 503 HTTP response", "http.503"),
        ("Unexpected Response: 404 (Not Found)", "http.404"),
        ("API request to endpoint /api/2.0/x failed with error code 429 != 200. Response body: ''", "http.429"),
        ("APIError Code: 503 Message: None error: MainError(code='serviceNotAvailable')", "http.503"),
        ("<ProtocolError for odoo.example/xmlrpc/2/object: 502 Bad Gateway>", "http.502"),
        ("Failed to copy: googleapi: Error 503: Backend Error, backendError", "http.503"),
        ("npm ERR! code E404", "http.404"),
        ("<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1></body></html>", "http.403"),
        ("API error occurred: Status 404. Body: {}", "http.404"),
        ("Job Status: 400 rows were loaded", None),
        ("Status: Failed", None),
        ("received 503 rows", None),
        ("<title>404 songs</title>", None),
        ("googleapis: Error 5031", None),
        ("the program ended with exit status code 500", None),
        ("first status code: 503, then status code: 404", None),
    ],
)
def test_a_clients_own_sentence_counts_in_anybodys_words(message: str, code: str | None) -> None:
    codes = [signal.code for signal in signals_of(log_line("builtins.RuntimeError", message)) if signal.is_conclusive]
    assert codes[:1] == ([code] if code else [])
