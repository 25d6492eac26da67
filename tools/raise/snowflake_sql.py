# /// script
# requires-python = "==3.11.*"
# dependencies = ["snowflake-connector-python==5.2.0"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What Snowflake's connector for Python, version 5, raises when a loopback server answers like Snowflake."""

from __future__ import annotations

from typing import Any

import snowflake.connector
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_hangs
from servers.http import Answer, HttpServer, html, http_server
from servers.snowflake import LOGIN_FAILURES, QUERY_FAILURES, serve

family = Family(__file__, "snowflake-connector-python", servers={"http": http_server}, is_wire_form=True)

MISLEADING = {
    "a user who is locked out for a while",
    "an OAuth token that has expired",
    "no warehouse that is active",
    "a lock that too many wait for",
    "a session that is gone",
    "an account that has not been paid",
}
_ANYTHING = ("Error", "Exception")


class SnapshotError(Exception):
    """A user's own exception."""


def connect(port: int, **options: Any) -> Any:
    words = {"account": "acme", "user": "etl", "password": CANARY, "login_timeout": 3, "network_timeout": 3, **options}
    return snowflake.connector.connect(host="127.0.0.1", port=port, protocol="http", disable_ocsp_checks=True, **words)


def query(http: HttpServer, answer: Answer) -> None:
    serve(http, query=answer)
    with connect(http.port) as connection:
        connection.cursor().execute("select 1")


for title, failure in LOGIN_FAILURES.items():

    @family.case(f"login: {title}", raises=_ANYTHING, tags=[WRONG_READING] if title in MISLEADING else [])
    def _(http: HttpServer, failure: Any = failure) -> None:
        serve(http, login=failure.answer())
        connect(http.port)


for title, failure in QUERY_FAILURES.items():
    family.case(f"query: {title}", raises=_ANYTHING, tags=[WRONG_READING] if title in MISLEADING else [])(
        lambda http, failure=failure: query(http, failure.answer())
    )

for title, answer in {
    "status 403": Answer(403, "Forbidden"),
    "status 404 for an account that does not exist": Answer(404, "Not Found"),
    "a page instead of JSON": html(200),
}.items():

    @family.case(f"login: {title}", raises=_ANYTHING)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        serve(http, login=answer)
        connect(http.port)


for title, answer in {
    "status 403 that a proxy made": html(403, "<html>blocked by policy</html>"),
    "status 502": Answer(502, "Bad Gateway"),
    "the answer is cut off": Answer(200, '{"data": {"rows"', {"Content-Length": "900"}, cut_after_bytes=10),
}.items():
    family.case(f"query: {title}", raises=_ANYTHING)(lambda http, answer=answer: query(http, answer))


@family.case("login: a server that never answers", raises=_ANYTHING)
def _() -> None:
    with port_that_hangs() as port:
        connect(port)


@family.case("login: no user was given", raises=_ANYTHING)
def _(http: HttpServer) -> None:
    serve(http)
    snowflake.connector.connect(account="acme", host="127.0.0.1", port=http.port, protocol="http")


@family.case("login: a private key that is none", raises=_ANYTHING)
def _(http: HttpServer) -> None:
    serve(http)
    connect(http.port, authenticator="SNOWFLAKE_JWT", private_key=b"not a key")


@family.case("query: the connection was closed before", raises=_ANYTHING)
def _(http: HttpServer) -> None:
    serve(http)
    connection = connect(http.port)
    connection.close()
    connection.cursor().execute("select 1")


@family.case(
    "query: a missing table in an exception that speaks of a timeout", raises="SnapshotError", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    try:
        query(http, QUERY_FAILURES["a table that does not exist or is not granted"].answer())
    except snowflake.connector.Error as error:
        raise SnapshotError("timeout or error while taking the snapshot") from error


if __name__ == "__main__":
    family.run()
