"""Messages whose obvious reading is wrong, raised by the real libraries and read through the whole chain."""

# ruff: noqa: E501 - messages stand as they were written

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import psycopg
import psycopg2
import pymysql
import pytest
import sqlalchemy
import tenacity
from loopback.database_servers import (
    mysql_denies,
    mysql_refuses,
    postgres_answers,
    postgres_dies,
    postgres_refuses,
)
from loopback.sockets import Conversation, refused_port, serve
from word_reading import conclusive_codes, read_message

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Retry, Signal
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor

POSTGRES_DRIVERS = pytest.mark.parametrize("driver", [psycopg2, psycopg], ids=lambda module: module.__name__)


def raised_by(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever it is, it is what the test is about
        call()
    return caught.value


def signals_of(exception: BaseException) -> tuple[Signal, ...]:
    return read_signals(Redactor().redact(collect(exception)))


def concluded(exception: BaseException) -> Signal:
    evidence = Redactor().redact(collect(exception))
    signal = conclude(evidence, read_signals(evidence)).signal
    assert signal is not None
    return signal


def connect(driver: ModuleType, port: int) -> object:
    return driver.connect(host="127.0.0.1", port=port, user="etl", password="pw", dbname="dwh", connect_timeout=5)


class TestPostgresAtConnect:
    """While it connects, libpq has no SQLSTATE: the words are all there is."""

    @POSTGRES_DRIVERS
    @pytest.mark.parametrize(
        ("message", "sqlstate", "code", "retry"),
        [
            ('password authentication failed for user "etl"', "28P01", "login_refused", Retry.NO),
            ('no pg_hba.conf entry for host "1.2.3.4", user "etl", database "dwh", no encryption', "28000", "login_refused", Retry.NO),
            ('role "etl" does not exist', "28000", "login_refused", Retry.NO),
            ('database "dwh" does not exist', "3D000", "no_such_object", Retry.NO),
            ("sorry, too many clients already", "53300", "too_many_connections", Retry.YES),
            ("remaining connection slots are reserved for roles with the SUPERUSER attribute", "53300", "too_many_connections", Retry.YES),
            ("the database system is starting up", "57P03", "unavailable", Retry.YES),
            ("the database system is shutting down", "57P03", "unavailable", Retry.YES),
            ("the database system is in recovery mode", "57P03", "unavailable", Retry.YES),
        ],
    )  # fmt: skip
    def test_the_servers_words_decide(
        self, driver: ModuleType, message: str, sqlstate: str, code: str, retry: Retry
    ) -> None:
        with serve(postgres_refuses(message, sqlstate)) as port:
            exception = raised_by(lambda: connect(driver, port))
        signal = concluded(exception)
        assert getattr(exception, "sqlstate", None) is None
        assert (signal.code, signal.retry) == (f"text.{code}", retry)

    @POSTGRES_DRIVERS
    def test_a_refused_connection_is_the_network(self, driver: ModuleType) -> None:
        with refused_port() as port:
            signal = concluded(raised_by(lambda: connect(driver, port)))
        assert (signal.category, signal.retry) == ("network", Retry.YES)

    @POSTGRES_DRIVERS
    def test_an_unknown_host_is_the_network_and_worth_few_tries(self, driver: ModuleType) -> None:
        # A name with a space is turned down without asking any server.
        exception = raised_by(lambda: driver.connect(host="no host", connect_timeout=5))
        assert concluded(exception).category == "network"

    @POSTGRES_DRIVERS
    def test_a_server_that_hangs_up_is_the_network(self, driver: ModuleType) -> None:
        with serve(lambda connection: None) as port:
            signal = concluded(raised_by(lambda: connect(driver, port)))
        assert (signal.category, signal.retry) == ("network", Retry.YES)


class TestPostgresLater:
    @POSTGRES_DRIVERS
    def test_a_killed_backend_is_the_network_even_without_a_sqlstate(self, driver: ModuleType) -> None:
        with serve(postgres_dies) as port:
            connection = connect(driver, port)
            exception = raised_by(lambda: connection.cursor().execute("select 1"))  # type: ignore[attr-defined]
        signal = concluded(exception)
        assert (signal.category, signal.retry) == ("network", Retry.YES)

    def test_so_is_the_interface_error_that_comes_after_it(self) -> None:
        with serve(postgres_dies) as port:
            connection = connect(psycopg2, port)
            raised_by(lambda: connection.cursor().execute("select 1"))  # type: ignore[attr-defined]
            exception = raised_by(lambda: connection.cursor())  # type: ignore[attr-defined]
        assert type(exception) is psycopg2.InterfaceError
        assert concluded(exception).retry is Retry.YES

    @POSTGRES_DRIVERS
    @pytest.mark.parametrize(
        ("message", "sqlstate", "category", "retry"),
        [
            ("canceling statement due to statement timeout", "57014", "permanent", Retry.DEPENDS),
            ("canceling statement due to lock timeout", "55P03", "transient", Retry.YES),
            ("canceling statement due to conflict with recovery", "40001", "transient", Retry.YES),
            ("deadlock detected", "40P01", "transient", Retry.YES),
            ('permission denied for table "orders"', "42501", "auth", Retry.NO),
            ('relation "rate limit exceeded" does not exist', "42P01", "resource", Retry.NO),
        ],
    )
    def test_the_words_of_a_failed_statement_are_understood(
        self, driver: ModuleType, message: str, sqlstate: str, category: str, retry: Retry
    ) -> None:
        with serve(postgres_answers(message, sqlstate)) as port:
            connection = connect(driver, port)
            exception = raised_by(lambda: connection.cursor().execute("select 'too many requests'"))  # type: ignore[attr-defined]
        assert {(s.category, s.retry) for s in read_message(str(exception)) if s.is_conclusive} == {(category, retry)}

    def test_the_row_that_broke_a_constraint_is_no_speech(self) -> None:
        message = (
            'duplicate key value violates unique constraint "t_pkey"\n'
            "DETAIL:  Key (note)=(connection refused) already exists."
        )
        assert conclusive_codes(message) == ["bad_data"]


class TestMySQL:
    @pytest.mark.parametrize(
        ("conversation", "code"),
        [
            (mysql_refuses(1040, "Too many connections"), "too_many_connections"),
            (mysql_denies(1045, "28000", "Access denied for user 'etl'@'10.0.0.9' (using password: YES)"), "login_refused"),
            (mysql_denies(1049, "42000", "Unknown database 'dwh'"), "no_such_object"),
        ],
    )  # fmt: skip
    def test_the_words_inside_of_its_tuple_are_read(self, conversation: Conversation, code: str) -> None:
        with serve(conversation) as port:
            exception = raised_by(
                lambda: pymysql.connect(host="127.0.0.1", port=port, user="etl", password="pw", connect_timeout=5)
            )
        assert f"text.{code}" in {signal.code for signal in signals_of(exception) if signal.is_conclusive}

    def test_a_refused_connection_is_the_network(self) -> None:
        with refused_port() as port:
            exception = raised_by(lambda: pymysql.connect(host="127.0.0.1", port=port, connect_timeout=5))
        assert concluded(exception).category == "network"


class TestSQLite:
    def test_a_locked_database_is_worth_another_try(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "a.db", isolation_level=None) as holder:
            holder.execute("create table t (x)")
            holder.execute("begin exclusive")
            other = sqlite3.connect(tmp_path / "a.db", timeout=0)
            exception = raised_by(lambda: other.execute("insert into t values (1)"))
        assert conclusive_codes(str(exception)) == ["locked"]
        assert concluded(exception).code == "sqlite.SQLITE_BUSY"

    @pytest.mark.parametrize(
        ("statement", "code"),
        [
            ("select 'connection refused' from missing", "no_such_object"),
            ("insert into t values (1), (1)", "bad_data"),
            ("insert into t values (null)", "bad_data"),
            ("selekt 1", "bad_statement"),
        ],
    )
    def test_a_wrong_statement_is_not(self, statement: str, code: str) -> None:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("create table t (x integer not null unique)")
            exception = raised_by(lambda: connection.execute(statement))
        assert conclusive_codes(str(exception)) == [code]


class TestSQLAlchemy:
    def test_the_statement_and_its_parameters_are_data(self) -> None:
        engine = sqlalchemy.create_engine("sqlite://")
        statement = sqlalchemy.text("select 'deadlock detected' from missing where x = :x")
        with engine.connect() as connection:
            exception = raised_by(lambda: connection.execute(statement, {"x": "too many requests, try again in 5 s"}))
        assert "deadlock detected" in str(exception)
        assert {signal.code for signal in read_message(str(exception))} == {"text.no_such_object"}

    def test_its_own_full_pool_is_no_lost_connection(self) -> None:
        pool = sqlalchemy.pool.QueuePool(lambda: sqlite3.connect(":memory:"), pool_size=1, max_overflow=0, timeout=0)
        held = pool.connect()
        exception = raised_by(pool.connect)
        held.close()
        assert conclusive_codes(str(exception)) == ["too_many_connections"]


class TestWrappers:
    def test_a_retry_error_that_prints_a_future_says_nothing_itself(self) -> None:
        @tenacity.retry(stop=tenacity.stop_after_attempt(1))
        def fail() -> None:
            raise ValueError("FATAL:  sorry, too many clients already")

        exception = raised_by(fail)
        assert read_message(str(exception), type_path="tenacity.RetryError") == []
        assert "text.too_many_connections" in {signal.code for signal in signals_of(exception)}

    @pytest.mark.parametrize(
        ("raise_it", "expected"),
        [
            ("from cause", "sqlite.SQLITE_BUSY"),
            ("in the text", "text.locked"),
            ("in args", "sqlite.SQLITE_BUSY"),
        ],
    )
    def test_an_airflow_exception_tells_what_it_wraps(self, raise_it: str, expected: str) -> None:
        from airflow.sdk.exceptions import AirflowException

        def fail() -> None:
            error = sqlite3.OperationalError("database is locked")
            if raise_it == "from cause":
                raise AirflowException("The job failed") from error
            raise AirflowException(str(error)) if raise_it == "in the text" else AirflowException(error)

        assert concluded(raised_by(fail)).code == expected


class TestConfiguredTimeLimits:
    """Not every timeout is the network's."""

    @pytest.mark.parametrize(
        "message",
        [
            "canceling statement due to statement timeout",
            "(3024, 'Query execution was interrupted, maximum statement execution time exceeded')",
            "000630 (57014): Statement reached its statement or warehouse timeout of 60 second(s) and was canceled.",
            "Query exceeded the maximum execution time limit of 10.00m",
            "SSH command timed out",
            "Sensor has timed out; run duration of 61 seconds exceeds the specified timeout of 60.0.",
            "Waiter ClusterRunning failed: Max attempts exceeded",
            "slurmstepd: error: *** JOB 7 ON node1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
        ],
    )
    def test_a_limit_that_somebody_set_is_tried_once_more_and_is_no_network_trouble(self, message: str) -> None:
        signal = read_message(message)[0]
        assert (signal.category, signal.retry, signal.max_attempts) == ("permanent", Retry.DEPENDS, 2)
        assert signal.is_conclusive


class TestOutOfMemory:
    def test_the_jobs_own_limit_is_permanent_and_tried_once_more(self) -> None:
        for message in ("java.lang.OutOfMemoryError: Java heap space", "Container killed due to memory usage"):
            signal = read_message(message)[0]
            assert (signal.category, signal.max_attempts) == ("permanent", 2)

    def test_a_machine_that_ran_short_is_transient(self) -> None:
        for message in ("ERROR:  out of memory", "fork: Cannot allocate memory"):
            assert read_message(message)[0].category == "transient"


class TestMoney:
    def test_an_account_that_must_be_paid_for_is_no_rate_limit(self) -> None:
        message = (
            "Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan and "
            "billing details.', 'type': 'insufficient_quota', 'param': None, 'code': 'insufficient_quota'}}"
        )
        assert conclusive_codes(message) == ["billing"]

    def test_a_rate_limit_that_advertises_a_larger_plan_stays_one(self) -> None:
        message = (
            "Rate limit reached for gpt-4 on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again "
            "in 20s. Visit the billing page to add a payment method and raise your limit."
        )
        signal = read_message(message)[0]
        assert (signal.code, signal.retry, signal.asked_delay_s) == ("text.rate_limited", Retry.YES, 20)
        assert signal.is_conclusive
