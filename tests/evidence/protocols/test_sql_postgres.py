"""SQLSTATEs, as PostgreSQL's drivers raise them: real drivers against a server of ours that answers with any code."""

# ruff: noqa: E501 - messages stand as PostgreSQL writes them

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import psycopg
import psycopg2
import psycopg2.errors
import pytest
import sqlalchemy
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from loopback import sockets
from loopback.database_servers import postgres_answers, postgres_dies, postgres_refuses

from airflow_common_ai.evidence.model import Rank, RedactedEvidence, Retry
from airflow_common_ai.evidence.protocols.sql.postgres_classes import CLASSES, sqlstate_of_class
from airflow_common_ai.evidence.protocols.sql.states import TABLE, find_sqlstate

DRIVERS = (psycopg, psycopg2)
HOW_SEEN = (alive, logged)

# SQLSTATEs of one kind, category, whether to retry.
MEANINGS = (
    ("40001 40P01 40000 55P03 55V03 57P03 72000 53000 53200 57033", "transient", Retry.YES),
    ("40003 08007 55006 55000 25006 58030 58000 XX000 53100 53400 57011 F0001 HV001 HY001 HY013 HY014", "transient", Retry.DEPENDS),
    ("57P01 57P02 57P05 25P03 08000 08003 08006 08P01 08S01 08S02 HYT01 HV00N", "network", Retry.YES),
    ("08001 08004 HYT00", "network", Retry.DEPENDS),
    ("53300 57030", "rate_limit", Retry.YES),
    ("57014 25P04 26000 42P05 HV000 HY008", "permanent", Retry.DEPENDS),
    ("54000 54001 54011 54023 42601 42702 42803 42P18 0A000 0B000 0F001 0L000 0P000 2BP01 2D000 2F005", "permanent", Retry.NO),
    ("24000 34000 3B001 25001 25P01 25000 55P02 55P04 03000 IM001 IM002 IM003 IM012 HYC00 07001 07002 07006", "permanent", Retry.NO),
    ("HY004 HY009 HY010 HY024 HY090 HY092 HY096 HY104", "permanent", Retry.NO),
    ("28000 28P01 42501", "auth", Retry.NO),
    ("42P01 42703 42883 42704 3D000 3F000 57P04 42S02 42S12 42S22 42V01", "resource", Retry.NO),
    ("58P01", "resource", Retry.NO),
    ("42P07 42P06 42710 42P04 42701 42723 42P03 42S01 42S11 42S21 58P02", "data", Retry.NO),
    ("22001 22003 22007 22008 22012 22023 22P02 22P04 21000 44000 20000 27000", "data", Retry.NO),
    ("23000 23502 23503 23505 23514 23P01 40002 P0001 P0002 P0003 P0004 XX001 XX002", "data", Retry.NO),
)  # fmt: skip
EACH_MEANING = [(state, category, retry) for states, category, retry in MEANINGS for state in states.split()]


def raised_by(run: Callable[[], object]) -> Exception:
    with pytest.raises((psycopg.Error, psycopg2.Error, sqlalchemy.exc.DBAPIError)) as caught:
        run()
    return caught.value


def answered(driver: ModuleType, state: str, message: str = "some words") -> Exception:
    """What the driver raises when the server answers its query with this error."""
    with sockets.serve(postgres_answers(message, state)) as port:
        return raised_by(lambda: connect(driver, port).cursor().execute("SELECT 1"))


def refused(driver: ModuleType, state: str, message: str) -> Exception:
    """What it raises when the server does not let it in."""
    with sockets.serve(postgres_refuses(message, state)) as port:
        return raised_by(lambda: connect(driver, port))


def connect(driver: Any, port: int) -> Any:
    return driver.connect(host="127.0.0.1", port=port, user="etl", password="x", dbname="shop", connect_timeout=10)


def through_sqlalchemy(driver: ModuleType, port: int) -> Exception:
    engine = sqlalchemy.create_engine(f"postgresql+{driver.__name__}://etl:x@127.0.0.1:{port}/shop")
    return raised_by(lambda: engine.connect().execute(sqlalchemy.text("SELECT 1")))


@pytest.mark.parametrize(("state", "category", "retry"), EACH_MEANING)
@pytest.mark.parametrize("driver", DRIVERS)
def test_a_sqlstate_means_the_same_whichever_driver_raises_it(
    driver: ModuleType, state: str, category: str, retry: Retry
) -> None:
    signal = conclusion(alive(answered(driver, state)))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry, signal.rank) == (
        f"sql.{state}",
        category,
        retry,
        Rank.VENDOR_CODE,
    )


def test_every_row_of_the_table_is_expected_above() -> None:
    expected = {state for state, _, _ in EACH_MEANING}
    assert set(TABLE.codes) - expected == {"25P02"}  # see the test of a failed transaction


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("state", sorted(set(CLASSES.values())))
def test_every_class_of_a_driver_tells_a_log_the_same_code(driver: ModuleType, state: str) -> None:
    error = answered(driver, state)
    assert conclusion_code(logged(error)) == conclusion_code(alive(error))


def test_every_class_of_both_drivers_is_known_by_name() -> None:
    classes = [
        kind
        for kind in vars(psycopg.errors).values()
        if isinstance(kind, type) and isinstance(getattr(kind, "sqlstate", None), str)
    ]
    assert len(classes) > 250
    for kind in classes:
        twin = psycopg2.errors.lookup(kind.sqlstate)
        assert (
            sqlstate_of_class("psycopg", kind.__name__) == sqlstate_of_class("psycopg2", twin.__name__) == kind.sqlstate
        )


@pytest.mark.parametrize("kind", ["DataError", "InternalError", "OperationalError", "Error"])
def test_a_class_that_stands_for_many_codes_stands_for_none(kind: str) -> None:
    assert sqlstate_of_class("psycopg", kind) is None


@pytest.mark.parametrize(
    ("state", "message", "category", "retry", "max_attempts"),
    [
        ("57014", "canceling statement due to statement timeout", "permanent", Retry.DEPENDS, 2),
        ("57014", "canceling statement due to user request", "permanent", Retry.DEPENDS, 2),
        ("57014", "canceling statement due to conflict with recovery", "transient", Retry.YES, None),
        ("57014", "canceling statement due to lock timeout", "transient", Retry.YES, None),
        ("25P04", "terminating connection due to transaction timeout", "permanent", Retry.DEPENDS, 2),
        ("0A000", "cached plan must not change result type", "transient", Retry.YES, None),
        ("08P01", "no more connections allowed (max_client_conn)", "rate_limit", Retry.YES, None),
        ("08P01", "password authentication failed", "auth", Retry.NO, None),
        (
            "08P01",
            'bind message supplies 1 parameters, but prepared statement "" requires 2',
            "permanent",
            Retry.NO,
            None,
        ),
        ("28000", 'PAM authentication failed for user "etl"', "auth", Retry.DEPENDS, 2),
        (
            "53200",
            "out of shared memory HINT: You might need to increase max_locks_per_transaction.",
            "permanent",
            Retry.DEPENDS,
            2,
        ),
        ("53400", "temporary file size exceeds temp_file_limit (100kB)", "permanent", Retry.NO, None),
        ("55000", "lastval is not yet defined in this session", "permanent", Retry.NO, None),
        ("55000", 'materialized view "m" has not been populated', "transient", Retry.DEPENDS, 2),
        ("XX000", "tuple concurrently updated", "transient", Retry.YES, None),
        ("XX000", "cache lookup failed for relation 16420", "transient", Retry.YES, None),
        ("XX000", "1023 DETAIL: Serializable isolation violation on table - 142443", "transient", Retry.YES, None),
        ("XX000", "S3ServiceException:Slow Down,Status 503,Error SlowDown", "transient", Retry.YES, None),
        ("XX000", "S3ServiceException:Access Denied,Status 403,Error AccessDenied", "auth", Retry.DEPENDS, 2),
        (
            "XX000",
            "Load into table 'orders' failed.  Check 'stl_load_errors' system table for details.",
            "data",
            Retry.NO,
            None,
        ),
    ],
)
def test_the_words_tell_where_a_code_means_several_things(
    state: str, message: str, category: str, retry: Retry, max_attempts: int | None
) -> None:
    for seen in HOW_SEEN:
        signal = conclusion(seen(answered(psycopg, state, message)))
        assert signal is not None
        assert (signal.code, signal.category, signal.retry, signal.max_attempts) == (
            f"sql.{state}",
            category,
            retry,
            max_attempts,
        )


LOGINS = (
    ("28P01", 'password authentication failed for user "etl"', "auth", Retry.NO),
    ("28000", 'no pg_hba.conf entry for host "10.0.0.1", user "etl", database "shop", no encryption', "auth", Retry.NO),
    ("28000", 'role "etl" does not exist', "auth", Retry.NO),
    ("3D000", 'database "shop" does not exist', "resource", Retry.NO),
    ("53300", "sorry, too many clients already", "rate_limit", Retry.YES),
    (
        "53300",
        "remaining connection slots are reserved for non-replication superuser connections",
        "rate_limit",
        Retry.YES,
    ),
    ("57P03", "the database system is starting up", "transient", Retry.YES),
    ("57P03", "the database system is shutting down", "transient", Retry.YES),
)


@pytest.mark.parametrize("seen", HOW_SEEN)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("state", "message", "category", "retry"), LOGINS)
def test_a_refused_login_is_told_by_its_words_since_libpq_drops_the_code(
    driver: ModuleType, state: str, message: str, category: str, retry: Retry, seen: Callable[..., RedactedEvidence]
) -> None:
    error: Any = refused(driver, state, message)
    assert getattr(error, "sqlstate", getattr(error, "pgcode", None)) is None
    signal = conclusion(seen(error))
    assert signal is not None
    assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize("seen", HOW_SEEN)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("state", "message", "category", "retry"), LOGINS)
def test_a_login_that_was_refused_behind_sqlalchemy_is_told_by_its_words(
    driver: ModuleType, state: str, message: str, category: str, retry: Retry, seen: Callable[..., RedactedEvidence]
) -> None:
    with sockets.serve(postgres_refuses(message, state)) as port:
        signal = conclusion(seen(through_sqlalchemy(driver, port)))
    assert signal is not None
    assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize("seen", HOW_SEEN)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("state", ["40P01", "23505", "42P01", "57014", "53300", "28P01"])
def test_sqlalchemy_around_a_driver_changes_nothing(
    driver: ModuleType, state: str, seen: Callable[..., RedactedEvidence]
) -> None:
    with sockets.serve(postgres_answers("some words", state)) as port:
        assert conclusion_code(seen(through_sqlalchemy(driver, port))) == f"sql.{state}"


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_killed_backend_is_a_lost_connection_with_and_without_a_code(driver: ModuleType) -> None:
    with sockets.serve(postgres_dies) as port:
        error = raised_by(lambda: connect(driver, port).cursor().execute("SELECT 1"))
        wrapped = alive(through_sqlalchemy(driver, port))
    for evidence in (alive(error), logged(error), wrapped):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == ("network", Retry.YES)
    # SQLAlchemy's own verdict is one more sign of it.
    assert wrapped.nodes[0].facts["sql.connection_invalidated"] is True
    assert "sql.connection_invalidated" in codes(wrapped, "sql.")


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_statement_in_a_failed_transaction_settles_nothing(driver: ModuleType) -> None:
    error = answered(driver, "25P02", "current transaction is aborted, commands ignored until end of transaction block")
    assert codes(alive(error), "sql.") == ["(sql.25P02)"]
    assert conclusion(alive(error)) is None
    error.__context__ = answered(driver, "40P01", "deadlock detected")
    assert conclusion_code(alive(error)) == "sql.40P01"


@pytest.mark.parametrize("message", ["the queue is locked, retry later", "upstream temporarily unavailable"])
def test_what_the_database_s_own_code_raises_is_not_failed_if_it_says_that_it_will_pass(message: str) -> None:
    assert conclusion(alive(answered(psycopg, "P0001", "order total must be positive"))) is not None
    evidence = alive(answered(psycopg, "P0001", message))
    assert "(sql.P0001)" in codes(evidence, "sql.")
    signal = conclusion(evidence)
    assert signal is None or signal.retry is not Retry.NO


@pytest.mark.parametrize("state", ["42000", "HY000", "00000", "02000", "0AKDE", "42K01", "XXKDS", "KD000", "ZZZZZ"])
def test_a_code_that_says_nothing_by_itself_is_left_to_others(state: str) -> None:
    assert find_sqlstate(state) is None


@pytest.mark.parametrize(
    ("type_path", "message", "code"),
    [
        ("asyncpg.exceptions.DeadlockDetectedError", "deadlock detected", "sql.40P01"),
        ("asyncpg.exceptions.SerializationError", "could not serialize access", "sql.40001"),
        ("asyncpg.exceptions.InvalidPasswordError", "password authentication failed", "sql.28P01"),
        ("asyncpg.exceptions.InvalidCachedStatementError", "cached statement plan is invalid", "sql.0A000"),
        ("asyncpg.exceptions.DataError", "invalid input", "sql.22000"),
        ("asyncpg.exceptions.PostgresSyntaxError", "syntax error", "sql.42601"),
        (
            "pg8000.exceptions.DatabaseError",
            "{'S': 'ERROR', 'V': 'ERROR', 'C': '40P01', 'M': 'deadlock detected'}",
            "sql.40P01",
        ),
        ("redshift_connector.error.ProgrammingError", "{'S': 'ERROR', 'C': '42P01', 'M': 'no'}", "sql.42P01"),
        ("psycopg2.errors.QueryCanceled", "canceling statement due to statement timeout", "sql.57014"),
    ],
)
def test_a_line_of_a_log_tells_the_code_by_the_class(type_path: str, message: str, code: str) -> None:
    assert conclusion_code(printed(type_path, message)) == code


class StandInForAsyncpg(Exception):
    """Keeps its code as asyncpg does, and vertica-python, and ADBC's drivers."""

    def __init__(self, state: object) -> None:
        super().__init__("some words")
        self.sqlstate = state


@pytest.mark.parametrize(
    ("state", "code"), [("40P01", "sql.40P01"), ("n/a", None), (40001, None), ("", None), (None, None)]
)
def test_a_sqlstate_is_taken_from_any_class_if_it_has_the_form_of_one(state: object, code: str | None) -> None:
    assert conclusion_code(alive(StandInForAsyncpg(state))) == code
