# /// script
# requires-python = "==3.11.*"
# dependencies = ["apache-airflow-providers-http==6.3.0", "apache-airflow-task-sdk==1.3.2", "requests==2.34.2"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""HTTP failures as Airflow's HttpHook and HttpOperator pass them on."""

from __future__ import annotations

import os
from typing import Any

import tenacity
from airflow.providers.http.hooks.http import HttpHook
from airflow.providers.http.operators.http import HttpOperator
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, html, http_server
from servers.port import refused_port

family = Family(__file__, "apache-airflow-providers-http", wrapped_by="HttpHook", servers={"http": http_server})


def connect(url: str) -> None:
    os.environ["AIRFLOW_CONN_ORDERS"] = url.replace("://", f"://etl:{CANARY}@")


def ask(url: str, **options: Any) -> Any:
    """Run the hook as an operator would."""
    connect(url)
    return HttpHook(method="GET", http_conn_id="orders").run("/v1/orders", **options)


for title, answer, tags in (
    ("429 with Retry-After through HttpHook", Answer(429, headers={"Retry-After": "30"}), [WRONG_READING]),
    ("401 through HttpHook", Answer(401), []),
    ("404 through HttpHook", Answer(404, '{"error": "no such dataset"}'), []),
    ("409 through HttpHook", Answer(409, '{"error": "an export is already running"}'), []),
    ("422 through HttpHook", Answer(422, '{"detail": "amount is not a valid decimal"}'), []),
    ("500 through HttpHook", Answer(500), []),
    ("503 through HttpHook", Answer(503, "<html>Service Unavailable</html>"), []),
    ("504 through HttpHook", Answer(504), []),
):
    family.case(title, raises="AirflowException", tags=tags)(lambda http, answer=answer: ask(http.answers(answer)))


@family.case("a refused connection through HttpHook", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        ask(f"http://127.0.0.1:{port}")


@family.case("a reset connection through HttpHook", raises="ConnectionError")
def _(http: HttpServer) -> None:
    ask(http.answers(Answer(is_reset=True)))


@family.case("silence through HttpHook", raises="ReadTimeout")
def _(http: HttpServer) -> None:
    ask(http.answers(Answer(silent_s=5)), extra_options={"timeout": 0.3})


@family.case("tries of HttpHook that are used up on 503", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    connect(http.answers(Answer(503)))
    tries = {"stop": tenacity.stop_after_attempt(2), "retry": tenacity.retry_if_exception_type(Exception)}
    HttpHook(method="GET", http_conn_id="orders").run_with_advanced_retry(tries, endpoint="/v1/orders")


@family.case("a connection id that is not there", raises="AirflowNotFoundException")
def _() -> None:
    HttpHook(method="GET", http_conn_id="ordres").run("/v1/orders")


@family.case("a response check that fails", raises="AirflowException", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    connect(http.answers(Answer(200, '{"state": "FAILED"}')))
    HttpOperator(
        task_id="ask",
        http_conn_id="orders",
        method="GET",
        endpoint="/v1/exports/7",
        response_check=lambda response: response.json()["state"] == "DONE",
    ).execute({})


@family.case("a login page where the operator filters JSON", raises="JSONDecodeError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    connect(http.answers(html(200)))
    HttpOperator(
        task_id="ask", http_conn_id="orders", method="GET", response_filter=lambda response: response.json()["rows"]
    ).execute({})


if __name__ == "__main__":
    family.run()
