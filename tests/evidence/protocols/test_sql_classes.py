"""Database errors that carry no code: SQLAlchemy's own, and the classes that every driver has."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from failure_reading import alive, codes, conclusion, logged, printed
from sqlalchemy import orm

from airflow_common_ai.evidence.model import RedactedEvidence, Retry


class Base(orm.DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "item"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    version: orm.Mapped[int] = orm.mapped_column()
    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's way


@pytest.fixture
def engine() -> sa.Engine:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    Base.metadata.create_all(engine)
    return engine


def stale(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        session.add(Item(id=1))
        session.commit()
        item = session.get_one(Item, 1)
        session.execute(sa.text("UPDATE item SET version = 99"))
        session.delete(item)
        session.commit()


def pending_rollback(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        session.add_all([Item(id=1), Item(id=1)])
        with pytest.raises(sa.exc.IntegrityError):
            session.flush()
        session.execute(sa.text("SELECT 1"))


def detached(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        session.add(Item(id=1))
        session.commit()
        item = session.get_one(Item, 1)
        session.commit()
    str(item.version)


def error_of(run: Callable[[], Any]) -> Exception:
    with pytest.raises((sa.exc.SQLAlchemyError, sqlite3.Error)) as caught:
        run()
    return caught.value


@pytest.mark.parametrize("seen", [alive, logged])
@pytest.mark.parametrize(
    ("fail", "category", "retry"),
    [
        (lambda engine: sa.Table("nope", sa.MetaData(), autoload_with=engine), "resource", Retry.NO),
        (lambda engine: engine.connect().execute(sa.text("SELECT 1 WHERE 0")).one(), "data", Retry.NO),
        (lambda engine: engine.connect().execute(sa.text("SELECT 1 UNION SELECT 2")).one(), "data", Retry.NO),
        (lambda engine: sa.create_engine("nope://x"), "permanent", Retry.NO),
        (lambda engine: sa.create_engine("not a url"), "permanent", Retry.NO),
        (lambda engine: engine.connect().execute("SELECT 1"), "permanent", Retry.NO),
        (stale, "transient", Retry.DEPENDS),
        (detached, "permanent", Retry.NO),
    ],
)
def test_sqlalchemy_s_own_errors_are_told_by_their_class(
    engine: sa.Engine,
    fail: Callable[[sa.Engine], Any],
    category: str,
    retry: Retry,
    seen: Callable[..., RedactedEvidence],
) -> None:
    evidence = seen(error_of(lambda: fail(engine)))
    signal = conclusion(evidence)
    assert signal is not None
    assert (signal.category, signal.retry) == (category, retry)
    assert codes(evidence, "sql.sqlalchemy.")


@pytest.mark.parametrize("seen", [alive, logged])
def test_a_session_that_must_be_rolled_back_says_what_the_original_error_said(
    engine: sa.Engine, seen: Callable[..., RedactedEvidence]
) -> None:
    error = error_of(lambda: pending_rollback(engine))
    assert isinstance(error, sa.exc.PendingRollbackError)
    assert codes(seen(error), "sql") == ["sqlite.SQLITE_CONSTRAINT_UNIQUE"]


def test_the_echo_of_an_error_that_is_not_known_settles_nothing() -> None:
    error = sa.exc.PendingRollbackError("Can't reconnect until invalid transaction is rolled back.")
    assert codes(alive(error), "sql") == ["(sql.sqlalchemy.PendingRollbackError)"]


def test_the_task_s_own_exhausted_pool_is_no_lost_network(tmp_path: Any) -> None:
    engine = sa.create_engine(
        f"sqlite:///{tmp_path / 'x.db'}", poolclass=sa.QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    with engine.connect():
        error = error_of(engine.connect)
    engine.dispose()
    assert isinstance(error, sa.exc.TimeoutError)
    assert error.code == "3o7r"  # the number of a page of SQLAlchemy's documentation, no code
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == ("transient", Retry.DEPENDS)


@pytest.mark.parametrize(
    ("kind", "strength", "retry"),
    [
        ("IntegrityError", "conclusive", Retry.NO),
        ("DataError", "conclusive", Retry.NO),
        ("ProgrammingError", "hint", Retry.NO),
        ("NotSupportedError", "hint", Retry.NO),
        ("OperationalError", "hint", Retry.DEPENDS),
        ("InterfaceError", "hint", Retry.DEPENDS),
        ("InternalError", "hint", Retry.DEPENDS),
    ],
)
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_a_standard_class_without_a_code_settles_only_what_it_is_sure_of(
    driver: Any, kind: str, strength: str, retry: Retry
) -> None:
    evidence = alive(getattr(driver, kind)("zork"))
    expected = f"sql.{driver.__name__}.{kind}"
    assert codes(evidence, "sql.") == [expected if strength == "conclusive" else f"({expected})"]
    signal = conclusion(evidence)
    assert (signal.retry if signal else None) == (retry if strength == "conclusive" else None)


class DataError(Exception):
    """Called as one of PEP 249's, but there is no DatabaseError above it: as those of Redis and pandas."""


def test_a_class_that_only_has_the_name_of_a_standard_one_says_nothing() -> None:
    assert codes(alive(DataError("zork")), "sql.") == []


@pytest.mark.parametrize(
    ("type_path", "message", "category", "retry"),
    [
        ("trino.exceptions.TrinoAuthError", "Error: no", "auth", Retry.NO),
        ("trino.exceptions.TrinoConnectionError", "failed to execute", "network", Retry.YES),
        ("trino.exceptions.Http503Error", "error 503", "network", Retry.YES),
        ("prestodb.exceptions.PrestoConnectionError", "failed to execute", "network", Retry.YES),
        ("snowflake.connector.errors.ReauthenticationRequest", "zork", "auth", Retry.DEPENDS),
        ("snowflake.connector.errors.RevocationCheckError", "zork", "network", Retry.DEPENDS),
        ("clickhouse_driver.errors.NetworkError", "zork", "network", Retry.YES),
        ("vertica_python.errors.ConnectionError", "zork", "network", Retry.YES),
        ("vertica_python.errors.TimedOutError", "zork", "network", Retry.DEPENDS),
        ("sqlalchemy.exc.DisconnectionError", "zork", "network", Retry.YES),
        ("mysql.connector.errors.OperationalError", "MySQL Connection not available", "network", Retry.YES),
        ("pymssql.exceptions.InterfaceError", "Connection is closed.", "network", Retry.YES),
        ("pymssql.exceptions.OperationalError", "Not connected to any MS SQL server", "network", Retry.YES),
        ("asyncpg.exceptions.InterfaceError", "connection is closed", "network", Retry.YES),
        ("psycopg2.InterfaceError", "connection already closed", "network", Retry.YES),
    ],
)
def test_a_line_of_a_log_tells_the_class(type_path: str, message: str, category: str, retry: Retry) -> None:
    signal = conclusion(printed(type_path, message))
    assert signal is not None
    assert (signal.category, signal.retry) == (category, retry)


def test_an_attribute_that_raises_costs_only_the_facts() -> None:
    class Hostile(Exception):
        @property
        def sqlstate(self) -> str:
            raise RuntimeError("no")

    assert alive(Hostile("x")).nodes[0].facts == {}


def test_attributes_that_are_mocks_are_no_codes() -> None:
    error = psycopg2.OperationalError("x")
    stand_in: Any = type("OperationalError", (Exception,), {"__module__": "pymysql.err"})(SimpleNamespace())
    stand_in.errno = SimpleNamespace()
    stand_in.sqlstate = SimpleNamespace()
    assert alive(stand_in).nodes[0].facts == {}
    assert alive(error).nodes[0].facts == {}
