"""Failures of PostgreSQL that take two sessions or a moment, for any driver of the DB-API."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from servers.postgres import Postgres, wait_until

__all__ = ["SCENES", "Connect", "file_of_a_table_that_is_gone", "page_that_is_damaged", "write_to_a_replica"]

Connect = Callable[..., Any]
"""Takes the server and, as they are for :meth:`Postgres.dsn`, user and database."""

_WAITS = "select exists (select from pg_stat_activity where wait_event_type = 'Lock')"
_FIRST = "update customers set name = name where id = 1"
_SECOND = "update customers set name = name where id = 2"


def deadlock(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as (one, other):
        one.cursor().execute(_FIRST)
        other.cursor().execute(_SECOND)
        with _meanwhile(lambda: one.cursor().execute(_SECOND)):
            wait_until(_WAITS, pg)
            time.sleep(0.3)  # so that the other one has looked for deadlocks, and found none
            other.cursor().execute(_FIRST)


def lock_taken_nowait(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as (one, other):
        one.cursor().execute("select * from customers for update")
        other.cursor().execute("select * from customers for update nowait")


def lock_timeout(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as (one, other):
        one.cursor().execute(_FIRST)
        other.cursor().execute("set lock_timeout = '100ms'")
        other.cursor().execute(_FIRST)


def statement_timeout(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        one.cursor().execute("set statement_timeout = '100ms'")
        one.cursor().execute("select pg_sleep(5)")


def statement_timeout_behind_a_lock(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as (one, other):
        one.cursor().execute(_FIRST)
        other.cursor().execute("set statement_timeout = '100ms'")
        other.cursor().execute(_FIRST)


def concurrent_update(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as (one, other):
        one.cursor().execute("set transaction isolation level repeatable read")
        one.cursor().execute("select * from customers")
        other.cursor().execute(_FIRST)
        other.commit()
        one.cursor().execute(_FIRST)


def serialization_failure(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg), connect(pg)) as both:
        for one in both:
            one.cursor().execute("set transaction isolation level serializable")
            one.cursor().execute("select sum(amount) from orders")
        for number, one in enumerate(both):
            one.cursor().execute(f"insert into orders values ({100 + number}, 1, 1)")
        both[0].commit()
        try:
            both[1].commit()
        finally:
            pg.admin("delete from orders where id >= 100")


def idle_in_transaction(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        one.cursor().execute("set idle_in_transaction_session_timeout = '100ms'")
        one.cursor().execute("select 1")
        time.sleep(0.5)
        one.cursor().execute("select 1")


def idle_session(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        one.cursor().execute("set idle_session_timeout = '100ms'")
        one.commit()
        time.sleep(0.5)
        one.cursor().execute("select 1")


def terminated_between_statements(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        one.cursor().execute("select 1")
        _terminate(pg)
        time.sleep(0.3)
        one.cursor().execute("select 1")


def terminated_in_a_statement(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,), _meanwhile(lambda: _later(lambda: _terminate(pg))):
        one.cursor().execute("select pg_sleep(5)")


def cancelled_by_somebody(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        cancel = "select pg_cancel_backend(pid) from pg_stat_activity where usename = 'etl'"
        with _meanwhile(lambda: _later(lambda: pg.admin(cancel))):
            one.cursor().execute("select pg_sleep(5)")


def transaction_that_failed_before(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        with contextlib.suppress(Exception):
            one.cursor().execute("select 1 / 0")
        one.cursor().execute("select 1")


def used_after_it_was_closed(pg: Postgres, connect: Connect) -> None:
    one = connect(pg)
    one.close()
    one.cursor().execute("select 1")


def too_many_clients(pg: Postgres, connect: Connect) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(30):
            open_ones.callback(_close, connect(pg))


def too_many_for_the_role(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, user="narrow")):
        connect(pg, user="narrow")


def too_many_for_the_database(pg: Postgres, connect: Connect) -> None:
    pg.admin("alter database latin connection limit 1")
    with _closed(connect(pg, database="latin")):
        connect(pg, database="latin")


def temporary_files_over_the_limit(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, user="postgres")) as (one,):
        one.cursor().execute("set temp_file_limit = '64kB'")
        one.cursor().execute("set work_mem = '64kB'")
        one.cursor().execute("select * from generate_series(1, 100000) n order by n desc")


def locks_that_fill_shared_memory(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, user="postgres")) as (one,):
        one.cursor().execute("do $$ begin for n in 1..30000 loop perform pg_advisory_xact_lock(n); end loop; end $$")


def result_of_another_shape(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, user="postgres")) as (one,):
        for statement in (
            "create temp table t (a int)",
            "prepare p as select * from t",
            "execute p",
            "alter table t add b int",
            "execute p",
        ):
            one.cursor().execute(statement)


def database_in_use(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, database="ascii"), connect(pg, user="postgres")) as (_, one):
        one.rollback()
        one.autocommit = True
        one.cursor().execute("drop database ascii")


def objects_that_depend_on_it(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg, user="postgres")) as (one,):
        one.cursor().execute("drop table customers")


def write_to_a_replica(pg: Postgres, connect: Connect) -> None:
    with _closed(connect(pg)) as (one,):
        one.cursor().execute("insert into customers values (7, 'Cy', null)")


def file_of_a_table_that_is_gone(pg: Postgres, connect: Connect) -> None:
    path = pg.admin("create table lost (id int)", "insert into lost values (1)", "checkpoint",
                    "select pg_relation_filepath('lost')")  # fmt: skip
    (pg.folder / "data" / path).unlink()
    with _closed(connect(pg, user="postgres")) as (one,):
        try:
            one.cursor().execute("insert into lost select generate_series(1, 10000)")
        finally:
            one.rollback()


def page_that_is_damaged(pg: Postgres, connect: Connect) -> None:
    path = pg.admin("create table damaged as select generate_series(1, 1000)", "checkpoint",
                    "select pg_relation_filepath('damaged')")  # fmt: skip
    with _closed(connect(pg)):
        with (pg.folder / "data" / path).open("r+b") as file:
            file.write(b"\xa5" * 8192)
        pg.kill_backend(signal.SIGKILL)  # the server starts over, and has to read it again
        time.sleep(1)
    with _closed(connect(pg, user="postgres")) as (one,):
        one.cursor().execute("select count(*) from damaged")


SCENES: dict[str, Callable[[Postgres, Connect], None]] = {
    "a deadlock": deadlock,
    "a row lock that is taken and nowait": lock_taken_nowait,
    "a lock timeout": lock_timeout,
    "a statement timeout": statement_timeout,
    "a statement timeout while waiting for a lock": statement_timeout_behind_a_lock,
    "a concurrent update": concurrent_update,
    "a serialization failure": serialization_failure,
    "an idle transaction that was ended": idle_in_transaction,
    "an idle session that was ended": idle_session,
    "a session terminated between statements": terminated_between_statements,
    "a session terminated in a statement": terminated_in_a_statement,
    "a statement cancelled by somebody": cancelled_by_somebody,
    "a transaction that failed before": transaction_that_failed_before,
    "a connection used after it was closed": used_after_it_was_closed,
    "too many clients": too_many_clients,
    "too many connections of a role": too_many_for_the_role,
    "too many connections to a database": too_many_for_the_database,
    "temporary files over the limit": temporary_files_over_the_limit,
    "locks that fill shared memory": locks_that_fill_shared_memory,
    "a prepared statement whose result changed": result_of_another_shape,
    "a database that is in use": database_in_use,
    "a table that others depend on": objects_that_depend_on_it,
}
"""Those that every driver can play, by what happens."""


@contextlib.contextmanager
def _closed(*connections: Any) -> Iterator[tuple[Any, ...]]:
    try:
        yield connections
    finally:
        for connection in connections:
            _close(connection)


def _close(connection: Any) -> None:
    with contextlib.suppress(Exception):
        connection.close()


@contextlib.contextmanager
def _meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Do something in another thread; its own failure does not count."""

    def quiet() -> None:
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=quiet, daemon=True)
    thread.start()
    yield


def _later(work: Callable[[], object]) -> None:
    time.sleep(0.3)
    work()


def _terminate(pg: Postgres) -> None:
    pg.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'etl'")
