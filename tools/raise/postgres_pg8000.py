# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "pg8000==1.31.6"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What pg8000 raises against a real PostgreSQL: one class for nearly all, with a dictionary in it."""

from __future__ import annotations

import ssl
from typing import Any

import pg8000
import pg8000.dbapi
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_says
from servers.port import refused_port
from servers.postgres import Postgres, postgres, postgres_cluster, postgres_replica
from servers.postgres_scenes import SCENES, write_to_a_replica
from servers.postgres_statements import STATEMENTS

family = Family(__file__, "pg8000", servers={"pg": postgres})


class JobFailed(Exception):
    """A user's own exception."""


def connect(pg: Postgres, **options: Any) -> Any:
    words = {"user": "etl", "database": "warehouse", "password": CANARY, "ssl_context": False, "timeout": 3, **options}
    return pg8000.dbapi.connect(host="127.0.0.1", port=pg.port, **words)


for title in (
    "a duplicate key",
    "a missing parent row",
    "a text that is no number",
    "a division by zero",
    "a missing table",
    "a missing column",
    "a typo",
    "a table without permission",
    "a missing schema",
    "an exception of a function",
):
    family.case(title, raises="Error")(lambda pg, title=title: connect(pg).cursor().execute(STATEMENTS[title]))

for title, tags in {
    "a deadlock": [],
    "a lock timeout": [],
    "a statement timeout": [],
    "a serialization failure": [],
    "a session terminated in a statement": [],
    "a transaction that failed before": [],
    "a connection used after it was closed": [],
    "too many clients": [WRONG_READING],
    "locks that fill shared memory": [],
}.items():
    family.case(title, raises="Error", tags=tags)(lambda pg, title=title: SCENES[title](pg, connect))

for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "a role that no rule lets in": {"user": "analyst"},
    "a database that does not exist": {"database": "lake"},
    "a server that wants TLS": {"user": "only_tls"},
    "a certificate of an unknown authority": {"ssl_context": ssl.create_default_context()},
}.items():
    family.case(title, raises=("Error", "OSError"))(lambda pg, options=options: connect(pg, **options))


def fails_to_connect(port: int, host: str = "127.0.0.1", **options: Any) -> None:
    words = {"timeout": 1, "ssl_context": False, **options}
    pg8000.dbapi.connect(user="etl", host=host, port=port, password=CANARY, **words)


@family.case("the connection is refused", raises="InterfaceError")
def _() -> None:
    with refused_port() as port:
        fails_to_connect(port)


@family.case("a host name that does not exist", raises=("Error", "OSError"))
def _() -> None:
    fails_to_connect(5432, host="pg.warehouse.invalid")


@family.case("a server that never answers", raises=("Error", "OSError"))
def _() -> None:
    with port_that_hangs() as port:
        fails_to_connect(port)


@family.case("a server that closes at once", raises=("Error", "OSError"))
def _() -> None:
    with port_that_closes() as port:
        fails_to_connect(port)


@family.case("a server without TLS asked for TLS", raises="InterfaceError")
def _() -> None:
    with port_that_says(b"N") as port:
        fails_to_connect(port, ssl_context=True)


@family.case("a write to a replica", raises="DatabaseError", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary) as pg:
        write_to_a_replica(pg, connect)


@family.case("a parameter too few", raises=("Error", "IndexError"))
def _(pg: Postgres) -> None:
    connect(pg).cursor().execute("select %s, %s", [1])


@family.case("a lock timeout in a job's own exception", raises="JobFailed")
def _(pg: Postgres) -> None:
    try:
        SCENES["a lock timeout"](pg, connect)
    except pg8000.dbapi.DatabaseError as error:
        raise JobFailed(f"query failed: {error.args[0]['M']}") from None


if __name__ == "__main__":
    family.run()
