"""SQLite's result codes, raised by SQLite itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from failure_reading import alive, conclusion, logged, printed

from airflow_common_ai.evidence.model import RedactedEvidence, Retry
from airflow_common_ai.evidence.protocols.sql.sqlite_codes import TABLE, code_of_message, find_meaning

Database = Callable[..., sqlite3.Connection]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Opens ``shop.db``, which has a table ``t`` with one row."""
    with ExitStack() as stack:

        def open_(options: str = "") -> sqlite3.Connection:
            uri = f"file:{tmp_path / 'shop.db'}{options}"
            return stack.enter_context(closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)))

        first = open_()
        first.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c INTEGER CHECK (c < 5), UNIQUE (b))")
        first.execute("INSERT INTO t VALUES (1, 'x', 1)")
        yield open_


def error_of(run: Callable[[], Any]) -> sqlite3.Error:
    with pytest.raises(sqlite3.Error) as caught:
        run()
    return caught.value


def concluded(evidence: RedactedEvidence) -> tuple[str, str, Retry]:
    signal = conclusion(evidence)
    assert signal is not None
    return (signal.code, signal.category, signal.retry)


@pytest.mark.parametrize(
    ("statement", "code", "category"),
    [
        ("SELECT * FROM nope", "SQLITE_ERROR", "resource"),
        ("SELECT nope FROM t", "SQLITE_ERROR", "resource"),
        ("SELECT nope(1)", "SQLITE_ERROR", "permanent"),
        ("SELEC", "SQLITE_ERROR", "permanent"),
        ("SELECT * FROM t WHERE", "SQLITE_ERROR", "permanent"),
        ("INSERT INTO t VALUES (1)", "SQLITE_ERROR", "permanent"),
        ("SELECT a FROM t, t AS u", "SQLITE_ERROR", "permanent"),
        ("CREATE TABLE t (a)", "SQLITE_ERROR", "data"),
        ("ALTER TABLE t ADD COLUMN b", "SQLITE_ERROR", "data"),
        ("INSERT INTO t VALUES (1, 'y', 1)", "SQLITE_CONSTRAINT_PRIMARYKEY", "data"),
        ("INSERT INTO t VALUES (2, 'x', 1)", "SQLITE_CONSTRAINT_UNIQUE", "data"),
        ("INSERT INTO t VALUES (2, NULL, 1)", "SQLITE_CONSTRAINT_NOTNULL", "data"),
        ("INSERT INTO t VALUES (2, 'y', 9)", "SQLITE_CONSTRAINT_CHECK", "data"),
        ("INSERT INTO t VALUES ('not a number', 'y', 1)", "SQLITE_MISMATCH", "data"),
        ("SELECT zeroblob(2000000000)", "SQLITE_TOOBIG", "data"),
    ],
)
def test_a_statement_or_data_that_is_wrong_is_failed(
    database: Database, statement: str, code: str, category: str
) -> None:
    error = error_of(lambda: database().execute(statement))
    assert concluded(alive(error)) == (f"sqlite.{code}", category, Retry.NO)
    assert concluded(logged(error))[1:] == (category, Retry.NO)


@pytest.mark.parametrize("seen", [alive, logged])
class TestWhatPasses:
    def test_a_lock_of_another_connection(self, database: Database, seen: Callable[..., RedactedEvidence]) -> None:
        database().execute("BEGIN IMMEDIATE")
        error = error_of(lambda: database().execute("BEGIN IMMEDIATE"))
        assert concluded(seen(error)) == ("sqlite.SQLITE_BUSY", "transient", Retry.YES)

    def test_a_lock_of_a_cursor_on_the_same_connection(
        self, database: Database, seen: Callable[..., RedactedEvidence]
    ) -> None:
        connection = database()
        connection.execute("INSERT INTO t VALUES (2, 'y', 1)")
        reading = connection.execute("SELECT * FROM t")
        reading.fetchone()
        error = error_of(lambda: connection.execute("DROP TABLE t"))
        assert concluded(seen(error)) == ("sqlite.SQLITE_LOCKED", "transient", Retry.YES)

    def test_a_write_on_a_snapshot_that_is_old_by_now(
        self, database: Database, seen: Callable[..., RedactedEvidence]
    ) -> None:
        reader, writer = database(), database()
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM t").fetchall()
        writer.execute("INSERT INTO t VALUES (2, 'y', 1)")
        error = error_of(lambda: reader.execute("INSERT INTO t VALUES (3, 'z', 1)"))
        assert error.sqlite_errorname == "SQLITE_BUSY_SNAPSHOT"
        assert concluded(seen(error))[1:] == ("transient", Retry.YES)

    def test_a_file_that_may_not_grow(self, database: Database, seen: Callable[..., RedactedEvidence]) -> None:
        connection = database()
        connection.execute("PRAGMA max_page_count = 5")
        error = error_of(lambda: connection.execute("INSERT INTO t VALUES (2, ?, 1)", ("y" * 100_000,)))
        assert concluded(seen(error)) == ("sqlite.SQLITE_FULL", "transient", Retry.DEPENDS)

    def test_a_statement_that_was_interrupted(self, database: Database, seen: Callable[..., RedactedEvidence]) -> None:
        connection = database()
        connection.create_function("stop", 0, connection.interrupt)
        error = error_of(lambda: connection.execute("SELECT stop(), count(*) FROM t, t AS u").fetchall())
        assert concluded(seen(error)) == ("sqlite.SQLITE_INTERRUPT", "permanent", Retry.DEPENDS)


@pytest.mark.parametrize("seen", [alive, logged])
class TestFiles:
    def test_a_directory_that_is_not_there(self, tmp_path: Path, seen: Callable[..., RedactedEvidence]) -> None:
        error = error_of(lambda: sqlite3.connect(tmp_path / "nope" / "shop.db"))
        assert concluded(seen(error)) == ("sqlite.SQLITE_CANTOPEN", "resource", Retry.NO)

    def test_a_database_that_may_not_be_written(
        self, database: Database, seen: Callable[..., RedactedEvidence]
    ) -> None:
        error = error_of(lambda: database("?mode=ro").execute("INSERT INTO t VALUES (2, 'y', 1)"))
        assert concluded(seen(error)) == ("sqlite.SQLITE_READONLY", "permanent", Retry.NO)

    def test_a_file_that_is_no_database(self, tmp_path: Path, seen: Callable[..., RedactedEvidence]) -> None:
        (tmp_path / "shop.db").write_bytes(b"<html>not found</html>" * 100)
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
            error = error_of(lambda: connection.execute("SELECT * FROM t"))
        assert concluded(seen(error)) == ("sqlite.SQLITE_NOTADB", "data", Retry.NO)

    def test_a_file_that_is_damaged(self, tmp_path: Path, seen: Callable[..., RedactedEvidence]) -> None:
        path = tmp_path / "shop.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (a)")
            connection.executemany("INSERT INTO t VALUES (?)", [("y" * 500,)] * 200)
            connection.commit()
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xff" * 4096 + content[8192:])
        with closing(sqlite3.connect(path)) as connection:
            error = error_of(lambda: connection.execute("SELECT * FROM t").fetchall())
        assert concluded(seen(error)) == ("sqlite.SQLITE_CORRUPT", "data", Retry.NO)


@pytest.mark.parametrize("seen", [alive, logged])
@pytest.mark.parametrize(
    "misuse",
    [
        lambda connection: connection.execute("SELECT ?"),
        lambda connection: connection.execute("SELECT 1; SELECT 2"),
        lambda connection: (connection.close(), connection.execute("SELECT 1")),
    ],
)
def test_what_the_module_itself_refuses_is_failed(
    database: Database, misuse: Callable[[Any], Any], seen: Callable[..., RedactedEvidence]
) -> None:
    code, category, retry = concluded(seen(error_of(lambda: misuse(database()))))
    assert (category, retry) == ("permanent", Retry.NO)
    assert code in ("sql.sqlite3.ProgrammingError", "sqlite.SQLITE_ERROR")


@pytest.mark.parametrize("seen", [alive, logged])
def test_sqlalchemy_around_it_changes_nothing(tmp_path: Path, seen: Callable[..., RedactedEvidence]) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'shop.db'}", connect_args={"timeout": 0})
    holder, other = engine.connect(), engine.connect()
    holder.exec_driver_sql("BEGIN IMMEDIATE")
    with pytest.raises(sqlalchemy.exc.OperationalError) as caught:
        other.exec_driver_sql("BEGIN IMMEDIATE")
    with pytest.raises(sqlalchemy.exc.OperationalError) as missing:
        other.exec_driver_sql("SELECT * FROM nope")
    holder.close(), other.close(), engine.dispose()
    assert concluded(seen(caught.value)) == ("sqlite.SQLITE_BUSY", "transient", Retry.YES)
    assert concluded(seen(missing.value)) == ("sqlite.SQLITE_ERROR", "resource", Retry.NO)


# Codes that take more than a test to provoke.
@pytest.mark.parametrize(
    ("codes", "category", "retry"),
    [
        ("SQLITE_PROTOCOL SQLITE_SCHEMA SQLITE_NOMEM SQLITE_LOCKED_SHAREDCACHE", "transient", Retry.YES),
        (
            "SQLITE_IOERR SQLITE_IOERR_READ SQLITE_READONLY_CANTLOCK SQLITE_READONLY_RECOVERY",
            "transient",
            Retry.DEPENDS,
        ),
        ("SQLITE_ABORT SQLITE_ABORT_ROLLBACK SQLITE_INTERNAL", "permanent", Retry.DEPENDS),
        ("SQLITE_MISUSE SQLITE_NOLFS SQLITE_FORMAT SQLITE_NOTFOUND", "permanent", Retry.NO),
        ("SQLITE_AUTH SQLITE_PERM SQLITE_AUTH_USER", "auth", Retry.NO),
        ("SQLITE_RANGE SQLITE_EMPTY SQLITE_CORRUPT_INDEX SQLITE_CONSTRAINT SQLITE_CONSTRAINT_ROWID", "data", Retry.NO),
        ("SQLITE_CANTOPEN_ISDIR", "resource", Retry.NO),
        ("SQLITE_READONLY_DIRECTORY", "permanent", Retry.NO),
    ],
)
def test_an_extended_code_means_what_it_extends_unless_it_has_a_row(codes: str, category: str, retry: Retry) -> None:
    for code in codes.split():
        meaning = find_meaning(code, "")
        assert meaning is not None, code
        assert (meaning.category, meaning.retry) == (category, retry), code


def test_every_result_code_that_is_an_error_has_a_row() -> None:
    errors = (
        "ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL"
        " EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB"
    )
    codes = {f"SQLITE_{name}": number for number, name in enumerate(errors.split(), start=1)}
    assert {name: getattr(sqlite3, name) for name in codes if hasattr(sqlite3, name)}.items() <= codes.items()
    assert set(codes) <= set(TABLE.codes)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("database is locked", "SQLITE_BUSY"),
        ("database table is locked: t", "SQLITE_LOCKED"),
        ("locking protocol", "SQLITE_PROTOCOL"),
        ("database schema has changed", "SQLITE_SCHEMA"),
        ("disk I/O error", "SQLITE_IOERR"),
        ("out of memory", "SQLITE_NOMEM"),
        ("unable to open database: /x", "SQLITE_CANTOPEN"),
        ("authorization denied", "SQLITE_AUTH"),
        ("not authorized", "SQLITE_AUTH"),
        ("access permission denied", "SQLITE_PERM"),
        ("bad parameter or other API misuse", "SQLITE_MISUSE"),
        ("FOREIGN KEY constraint failed", "SQLITE_CONSTRAINT"),
        ("constraint failed", "SQLITE_CONSTRAINT"),
        ('near "selec": syntax error', "SQLITE_ERROR"),
        ("something", None),
        ("", None),
    ],
)
def test_a_message_of_sqlite_stands_for_its_code(message: str, code: str | None) -> None:
    assert code_of_message(message) == code


def test_the_words_of_another_database_are_no_code_of_sqlite() -> None:
    signal = conclusion(printed("corp.errors.OperationalError", "no such table: t"))
    assert signal is not None
    assert signal.code.startswith("text.")
