"""What is not what it looks like. Real libraries raise; the whole chain is read."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import google.api_core.exceptions
import google.api_core.retry
import httpx
import pytest
import requests
import sqlalchemy
import tenacity
from airflow.exceptions import AirflowException, AirflowNotFoundException
from azure.core.exceptions import HttpResponseError
from botocore.exceptions import ClientError
from http_reading import NOW, live_node, raised_by, signal_of, signals_of
from loopback.http_server import Answer, LoopbackServer, html_answer, json_answer, serving

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Retry, Signal
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.protocols.http import reader as http
from airflow_common_ai.evidence.redaction import Redactor


def conclusion_of(exception: BaseException) -> Signal:
    """What all readers together come to."""
    evidence = Redactor().redact(collect(exception, observed_at=NOW))
    signal = conclude(evidence, read_signals(evidence)).signal
    assert signal is not None
    return signal


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


async def _read_json(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        await response.json()


def aiohttp_json(url: str) -> None:
    asyncio.run(_read_json(url))


# A 403 or a 429 that is not what its number says.


def test_a_403_of_github_is_a_rate_limit(server: LoopbackServer) -> None:
    reset = int(NOW.timestamp()) + 600
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset), "Date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    server.answer(json_answer(403, {"message": "API rate limit exceeded for 127.0.0.1."}, headers))
    signal = conclusion_of(raised_by(lambda: httpx.get(server.url).raise_for_status()))
    assert (signal.category, signal.retry, signal.asked_delay_s) == ("rate_limit", Retry.YES, 600)


def test_a_429_for_an_empty_account_is_not_waited_for(server: LoopbackServer) -> None:
    error = {"message": "Check your plan.", "type": "insufficient_quota", "code": "insufficient_quota"}
    server.answer(json_answer(429, {"error": error}))
    signal = conclusion_of(raised_by(lambda: requests.get(server.url, timeout=5).raise_for_status()))
    assert (signal.category, signal.retry) == ("permanent", Retry.NO)


def test_a_400_of_aws_that_throttles_is_no_bad_request() -> None:
    answer = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    assert conclusion_of(ClientError(answer, "PutItem")).retry is Retry.YES
    answer["Error"]["Code"] = "FrobnicationException"
    evidence = Redactor().redact(collect(ClientError(answer, "PutItem"), observed_at=NOW))
    assert conclude(evidence, read_signals(evidence)).signal is None


# A status that nobody sent.


@pytest.mark.parametrize("is_chunked", [True, False])
def test_a_cut_transfer_is_no_status_400(server: LoopbackServer, is_chunked: bool) -> None:
    server.answer(Answer(200, "x" * 1000, chunked=is_chunked, cut_after_bytes=10))
    error = raised_by(lambda: aiohttp_json(server.url))
    assert error.__cause__.code == 400, "the trap is gone"
    for signals in (signals_of(error), signals_of(error.__cause__)):
        assert [(signal.code, signal.retry) for signal in signals] == [("http.broken_answer", Retry.YES)]
    assert (conclusion_of(error).category, conclusion_of(error).retry) == ("network", Retry.YES)


def test_an_answer_that_is_no_http_is_no_status_400(server: LoopbackServer) -> None:
    server.answer(Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n\r\n"))
    error = raised_by(lambda: aiohttp_json(server.url))
    assert isinstance(error, aiohttp.ClientResponseError)
    assert error.status == 400, "the trap is gone"
    assert (conclusion_of(error).code, conclusion_of(error).retry) == ("http.other_protocol", Retry.NO)


def test_a_garbled_answer_is_no_status_400(server: LoopbackServer) -> None:
    server.answer(Answer(raw=b"HTTP/1.1 2\r\n\r\n"))
    error = raised_by(lambda: aiohttp_json(server.url))
    assert isinstance(error, aiohttp.ClientResponseError)
    assert error.status == 400, "the trap is gone"
    assert (conclusion_of(error).category, conclusion_of(error).retry) == ("network", Retry.YES)


class JobFailed(AirflowException):
    """An operator's own."""


@pytest.mark.parametrize("kind", [AirflowException, AirflowNotFoundException, JobFailed])
def test_the_status_code_of_airflows_exceptions_is_a_constant(kind: type[AirflowException]) -> None:
    assert isinstance(kind("x").status_code, int), "the trap is gone"
    assert http.probe(kind("The job failed")) == {}


def test_a_status_that_an_operator_sets_on_its_own_error_counts() -> None:
    error = JobFailed("The job failed")
    error.status_code = 503
    assert signal_of(error).code == "http.503"


class HasCode(Exception):
    def __init__(self, code: object) -> None:
        super().__init__("x")
        self.code = self.status = code


@pytest.mark.parametrize("code", [404, "404", 503, True, 4040, -1, None, lambda: 404, subprocess])
def test_a_code_of_something_that_is_no_http_client_is_no_status(code: object) -> None:
    assert http.probe(HasCode(code)) == {}


class ApiError(HasCode):
    """Its name makes it a client of an API."""


@pytest.mark.parametrize("code", [True, 4040, 99, 600, -1, "abc", None, 404.0, lambda: 404])
def test_a_client_error_without_a_plausible_status_has_none(code: object) -> None:
    assert "http.status" not in http.probe(ApiError(code))
    assert http.probe(ApiError(404))["http.status"] == 404


@pytest.mark.parametrize(
    "raise_it",
    [
        lambda: sys.exit(404),
        lambda: subprocess.run([sys.executable, "-c", "exit(3)"], check=True),
        lambda: sqlalchemy.create_engine("sqlite://").connect().execute(sqlalchemy.text("select * from nothing")),
        lambda: json.loads("<html>"),
        lambda: Path("/no/such/file").read_text(),
        lambda: socket.create_connection(("127.0.0.1", 1), timeout=1),
    ],
)
def test_failures_of_other_kinds_have_no_http_facts(raise_it: Callable[[], object]) -> None:
    error = raised_by(raise_it)
    assert http.probe(error) == {}
    assert signals_of(error) == []


def test_an_attribute_that_raises_or_a_mock_is_no_obstacle() -> None:
    from unittest.mock import MagicMock

    class Hostile(Exception):
        response = MagicMock()
        headers = property(lambda self: 1 / 0)
        status_code = property(lambda self: 1 / 0)

    assert http.probe(Hostile()) == {}


def test_a_falsy_response_is_a_response(server: LoopbackServer) -> None:
    server.answer(Answer(404))
    error = raised_by(lambda: requests.get(server.url, timeout=5).raise_for_status())
    assert not error.response, "the trap is gone"
    assert signal_of(error).code == "http.404"


# Errors inside a success.


def test_an_error_inside_a_200_counts() -> None:
    class SlackApiError(Exception):
        """As slack-sdk 3.48.0 raises it."""

    class SlackResponse:
        status_code = 200

        def __init__(self, data: dict[str, object]) -> None:
            self.data, self.headers, self.status_code = data, {}, 200

    error = SlackApiError("The request to the Slack API failed.")
    error.response = SlackResponse({"ok": False, "error": "ratelimited"})
    assert (signal_of(error).category, signal_of(error).retry) == ("rate_limit", Retry.YES)
    error.response = SlackResponse({"ok": False, "error": "invalid_auth"})
    assert (signal_of(error).category, signal_of(error).retry) == ("auth", Retry.NO)


def test_a_stopped_job_of_bigquery_is_over_although_its_code_is_200() -> None:
    class Stopped(google.api_core.exceptions.GoogleAPICallError):
        code = 200

    error = Stopped("Job was cancelled", errors=[{"reason": "stopped", "message": "Job execution was cancelled"}])
    assert (signal_of(error).category, signal_of(error).retry) == ("permanent", Retry.NO)


def test_a_page_instead_of_data_is_the_networks_fault(server: LoopbackServer) -> None:
    server.answer(html_answer(200, "<html><body>Maintenance</body></html>"))
    signal = signal_of(raised_by(lambda: aiohttp_json(server.url)))
    assert (signal.code, signal.category, signal.retry) == ("http.html_instead_of_data", "network", Retry.DEPENDS)


def test_a_login_page_instead_of_data_is_a_matter_of_credentials(server: LoopbackServer) -> None:
    server.answer_at("/data", Answer(302, headers={"Location": "/sso/login?next=/data"}))
    server.answer_at("/sso/login?next=/data", html_answer(200))
    signal = signal_of(raised_by(lambda: aiohttp_json(f"{server.url}/data")))
    assert (signal.code, signal.category, signal.retry) == ("http.login_page", "auth", Retry.DEPENDS)
    assert signal.max_attempts == 2


def test_a_wrong_content_type_alone_says_nothing(server: LoopbackServer) -> None:
    server.answer(Answer(200, "{}", {"Content-Type": "text/plain"}))
    assert signals_of(raised_by(lambda: aiohttp_json(server.url))) == []


# Wrappers that spent the retries.


def test_the_cause_of_a_retry_loop_is_read_not_its_budget(server: LoopbackServer) -> None:
    server.answer(json_answer(404, {}))

    @tenacity.retry(stop=tenacity.stop_after_attempt(2))
    def get() -> None:
        requests.get(server.url, timeout=5).raise_for_status()

    assert conclusion_of(raised_by(get)).code == "http.404"

    def budget() -> None:
        cause = google.api_core.exceptions.from_http_response(requests.get(server.url, timeout=5))
        raise google.api_core.exceptions.RetryError("Timeout of 600.0s exceeded", cause) from cause

    assert conclusion_of(raised_by(budget)).category == "resource"


def test_max_retries_of_a_refused_connection_name_no_status() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    error = raised_by(lambda: requests.get(f"http://127.0.0.1:{port}", timeout=5))
    assert [signal.code for signal in signals_of(error)] == ["http.connection"]
    assert conclusion_of(error).category == "network"


# A server error that is not the server's fault; a flag that is for the client's own loop.


def test_a_5xx_whose_code_blames_the_request_is_not_tried_for_ever() -> None:
    answer = {
        "Error": {"Code": "InvalidZipFileException", "Message": "Lambda was not able to unzip the file"},
        "ResponseMetadata": {"HTTPStatusCode": 502, "HTTPHeaders": {}},
    }
    signal = signal_of(ClientError(answer, "Invoke"))
    assert (signal.category, signal.retry, signal.max_attempts) == ("data", Retry.DEPENDS, 3)


def test_a_retry_after_on_a_wrong_request_does_not_make_it_right(server: LoopbackServer) -> None:
    """azure-core's own loop retries any 4xx that carries one."""
    server.answer(json_answer(400, {"error": {"code": "InvalidInput", "message": "No."}}, {"Retry-After": "1"}))
    error = raised_by(lambda: requests.get(server.url, timeout=5).raise_for_status())
    assert (signal_of(error).retry, signal_of(error).max_attempts) == (Retry.DEPENDS, 2)


# Waits that are none, or huge.


@pytest.mark.parametrize(
    ("retry_after", "asked"),
    [
        ("172800", 172800),
        ("-1", 0),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0),
        ("soon", None),
        ("9" * 400, None),
        ("", None),
    ],
)
def test_a_wait_is_neither_clamped_nor_invented(server: LoopbackServer, retry_after: str, asked: float | None) -> None:
    server.answer(Answer(429, headers={"Retry-After": retry_after}))
    error = raised_by(lambda: httpx.get(server.url).raise_for_status())
    assert (signal_of(error).retry, signal_of(error).asked_delay_s) == (Retry.YES, asked)


def test_budget_headers_survive_redaction_although_they_are_named_after_tokens(server: LoopbackServer) -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}
    server.answer(Answer(429, headers=headers))
    assert signal_of(raised_by(lambda: httpx.get(server.url).raise_for_status())).asked_delay_s == 360


@pytest.mark.parametrize("epoch_ms", [1767225660000 + step for step in range(20)])
def test_an_epoch_in_milliseconds_is_not_taken_for_a_card_number(server: LoopbackServer, epoch_ms: int) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(epoch_ms)}
    server.answer(Answer(429, headers=headers))
    asked = signal_of(raised_by(lambda: httpx.get(server.url).raise_for_status())).asked_delay_s
    assert asked == pytest.approx(60 + (epoch_ms - 1767225660000) / 1000)


def test_structured_signals_survive_passwords_that_are_common_words(server: LoopbackServer) -> None:
    def mask(text: str) -> str:
        for password in ("postgres", "default", "timeout", "requests"):
            text = text.replace(password, "***")
        return text

    server.answer(json_answer(429, {"error": {"code": "timeout"}}, {"Retry-After": "7"}))
    error = raised_by(lambda: requests.get(server.url, timeout=5).raise_for_status())
    evidence = Redactor(mask).redact(collect(error, observed_at=NOW))
    signal = conclude(evidence, read_signals(evidence)).signal
    assert signal is not None
    assert (signal.code, signal.asked_delay_s) == ("http.429", 7)


# No answer at all, or half of one.


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(raw=b""), {"http.connection", "http.broken_answer"}),
        (Answer(200, "x" * 1000, cut_after_bytes=10), {"http.broken_answer"}),
        (Answer(200, "x" * 1000, chunked=True, cut_after_bytes=10), {"http.broken_answer"}),
        (Answer(hang=True), {"http.timeout"}),
    ],
)
@pytest.mark.parametrize(
    "client",
    [
        lambda url: requests.get(url, timeout=0.2),
        lambda url: httpx.get(url, timeout=0.2),
        lambda url: urllib.request.urlopen(url, timeout=0.2).read(),
    ],
)
def test_no_answer_is_a_fault_of_the_network(
    server: LoopbackServer, client: Callable[[str], object], answer: Answer, code: set[str]
) -> None:
    server.answer(answer)
    error = raised_by(lambda: client(server.url))
    assert {signal.code for signal in signals_of(error)} <= code
    assert (conclusion_of(error).category, conclusion_of(error).retry) == ("network", Retry.YES)


@pytest.mark.parametrize(
    ("url", "category"),
    [("htp://a.example", "data"), ("a.example/b", "data"), ("http://", "data")],
)
def test_a_request_that_was_never_sent_is_not_sent_again(url: str, category: str) -> None:
    for call in (lambda: requests.get(url, timeout=1), lambda: httpx.get(url, timeout=1)):
        assert (conclusion_of(raised_by(call)).category, conclusion_of(raised_by(call)).retry) == (category, Retry.NO)


def test_a_redirect_in_a_circle_is_tried_once_more(server: LoopbackServer) -> None:
    server.answer(Answer(302, headers={"Location": "/"}))
    signal = conclusion_of(raised_by(lambda: requests.get(server.url, timeout=5)))
    assert (signal.code, signal.retry, signal.max_attempts) == ("http.too_many_redirects", Retry.NO, None)


def test_a_proxy_that_refuses_is_read_through_every_wrapper(server: LoopbackServer) -> None:
    server.answer(Answer(407))
    error = raised_by(lambda: requests.get("https://a.invalid", proxies={"https": server.url}, timeout=5))
    assert (conclusion_of(error).code, conclusion_of(error).category) == ("http.407", "auth")


def test_an_azure_error_of_a_response_that_was_not_read_costs_no_io() -> None:
    class Unread:
        status_code, reason, headers, request = 503, "Service Unavailable", {"Retry-After": "3"}, None
        _content = None

        def text(self) -> str:
            raise AssertionError("read")

        @property
        def content(self) -> bytes:
            raise AssertionError("read")

    error = HttpResponseError(message="x")
    error.response = Unread()
    assert live_node(error).facts["http.header.retry-after"] == 3


def test_the_documentation_id_of_sqlalchemy_is_no_code_of_an_answer() -> None:
    from sqlalchemy.exc import InvalidRequestError

    from airflow_common_ai.evidence.protocols.http import reader as http

    assert http.probe(InvalidRequestError("this session is closed", code="cd3x")) == {}
