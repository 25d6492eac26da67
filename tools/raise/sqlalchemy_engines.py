# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cryptography==46.0.3", "duckdb==2.0.0", "ibis-framework[duckdb,postgres]==12.0.0", "pandas==3.1.1",
#     "psycopg[binary]==3.3.9", "psycopg2-binary==2.9.13", "pymysql==1.2.4", "sqlalchemy==2.1.9", "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What SQLAlchemy, and pandas and Ibis above drivers, raise against a real PostgreSQL, a real MariaDB, and SQLite."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import ibis
import pandas
import psycopg2
import sqlalchemy
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs
from servers.mariadb import MariaDB, mariadb, mariadb_server
from servers.port import refused_port
from servers.postgres import Postgres, postgres, postgres_cluster, postgres_replica
from servers.postgres_scenes import SCENES, write_to_a_replica
from servers.postgres_statements import STATEMENTS
from sqlalchemy import orm, text
from sqlalchemy.pool import NullPool

family = Family(__file__, "sqlalchemy", servers={"pg": postgres, "db": mariadb})


class Base(orm.DeclarativeBase):
    """The tables as classes."""


class Customer(Base):
    __tablename__ = "customers"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]


class PublishError(Exception):
    """A user's own exception."""


class _Cursor:
    """What the scenes take for a cursor of the driver."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str) -> None:
        self._connection.execute(text(statement))


class _Connection:
    """What the scenes take for a connection of the driver."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection
        self.commit, self.rollback, self.close = connection.commit, connection.rollback, connection.close

    def cursor(self) -> _Cursor:
        return _Cursor(self._connection)


def engine(server: Postgres, driver: str = "psycopg2", **options: str) -> sqlalchemy.Engine:
    more = {"connect_timeout": 3, "sslmode": "disable", "gssencmode": "disable"}
    return sqlalchemy.create_engine(server.url(driver, **options), poolclass=NullPool, connect_args=more)


def maria(server: MariaDB, **words: str) -> sqlalchemy.Engine:
    parts = {"user": "etl", "password": CANARY, "database": "shop", **words}
    url = f"mysql+pymysql://{parts['user']}:{parts['password']}@127.0.0.1:{server.port}/{parts['database']}"
    return sqlalchemy.create_engine(url, poolclass=NullPool)


def connect(pg: Postgres, driver: str = "psycopg2", **options: str) -> Any:
    return _Connection(engine(pg, driver, **options).connect())


def runs(statement: str, driver: str = "psycopg2") -> Callable[[Postgres], None]:
    def case(pg: Postgres) -> None:
        with engine(pg, driver).begin() as connection:
            connection.execute(text(statement.replace(":", r"\:")))

    return case


for title in (
    "a duplicate key",
    "a missing parent row",
    "a text that is no number",
    "a numeric overflow",
    "a missing table",
    "a missing column",
    "a typo",
    "a table without permission",
    "an exception of a function",
):
    family.case(title, raises="SQLAlchemyError")(runs(STATEMENTS[title]))

for title, tags in {
    "a deadlock": [],
    "a lock timeout": [],
    "a statement timeout": [],
    "a serialization failure": [],
    "an idle transaction that was ended": [],
    "a session terminated in a statement": [],
    "too many clients": [WRONG_READING],
    "a transaction that failed before": [WRONG_READING],
    "a connection used after it was closed": [],
}.items():
    family.case(title, raises="SQLAlchemyError", tags=tags)(lambda pg, title=title: SCENES[title](pg, connect))

for title in ("a deadlock", "a session terminated between statements", "a concurrent update"):
    family.case(f"{title} under psycopg 3", raises="SQLAlchemyError")(
        lambda pg, title=title: SCENES[title](pg, partial(connect, driver="psycopg"))
    )

for title, options in {
    "a role that does not exist": {"user": "visitor"},
    "a database that does not exist": {"database": "lake"},
    "a server that wants TLS": {"user": "only_tls"},
}.items():
    family.case(title, raises="OperationalError")(lambda pg, options=options: engine(pg, **options).connect())


@family.case("a wrong password", raises="OperationalError")
def _(pg: Postgres) -> None:
    sqlalchemy.create_engine(pg.url("psycopg2").replace(CANARY, "not-the-one")).connect()


@family.case("a write to a replica", raises="SQLAlchemyError", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary) as pg:
        write_to_a_replica(pg, connect)


@family.case("a server that is starting up", raises="OperationalError")
def _() -> None:
    settings = {"restore_command": "sleep 20; false"}
    with postgres_cluster(settings=settings, ready_line="listening on") as pg:
        time.sleep(0.5)
        engine(pg).connect()


@family.case("a commit that the server's end cut off", raises="SQLAlchemyError", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as pg, engine(pg).connect() as connection:
        connection.execute(text("update customers set name = 'x'"))
        pg.kill_backend(signal.SIGKILL)
        time.sleep(0.3)
        connection.commit()


for title, statement in {
    "MariaDB says that a key is there already": "insert into customers values (1, 'Ada', null)",
    "MariaDB does not find a table": "select * from invoices",
    "MariaDB does not find a column": "select colour from customers",
    "MariaDB ends a statement over its time": "set statement max_statement_time = 0.1 for select sleep(5)",
    "MariaDB finds a text too long": f"insert into customers values (9, '{'x' * 300}', null)",
    "MariaDB does not understand": "selct * from customers",
}.items():

    @family.case(title, raises="SQLAlchemyError")
    def _(db: MariaDB, statement: str = statement) -> None:
        with maria(db).begin() as connection:
            connection.execute(text(statement))


@family.case("MariaDB denies access", raises="OperationalError")
def _(db: MariaDB) -> None:
    maria(db, password="not-the-one").connect()


@family.case("MariaDB has too many connections", raises="OperationalError")
def _(db: MariaDB) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(maria(db).connect())


@family.case("MariaDB waits too long for a lock", raises="OperationalError")
def _(db: MariaDB) -> None:
    with maria(db).connect() as one, maria(db).connect() as other:
        one.execute(text("update customers set name = 'A'"))
        other.execute(text("set innodb_lock_wait_timeout = 1"))
        other.execute(text("update customers set name = 'B'"))


@family.case("MariaDB kills the connection", raises="OperationalError")
def _(db: MariaDB) -> None:
    with maria(db).connect() as connection:
        db.kill_sessions()
        time.sleep(0.2)
        connection.execute(text("select 1"))


@family.case("MariaDB is read-only", raises="SQLAlchemyError", tags=[WRONG_READING])
def _() -> None:
    with mariadb_server(read_only="ON") as db, maria(db).begin() as connection:
        connection.execute(text("delete from orders"))


# No way to the server.
@family.case("the connection is refused", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        sqlalchemy.create_engine(f"postgresql+psycopg2://etl:{CANARY}@127.0.0.1:{port}/warehouse").connect()


@family.case("MySQL's connection is refused", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        sqlalchemy.create_engine(f"mysql+pymysql://etl:{CANARY}@127.0.0.1:{port}/shop").connect()


@family.case("a host name that does not exist", raises="OperationalError")
def _() -> None:
    sqlalchemy.create_engine(f"postgresql+psycopg://etl:{CANARY}@pg.warehouse.invalid/warehouse").connect()


@family.case("a server that never answers", raises="OperationalError")
def _() -> None:
    with port_that_hangs() as port:
        url = f"postgresql+psycopg2://etl:{CANARY}@127.0.0.1:{port}/warehouse?connect_timeout=2&sslmode=disable"
        sqlalchemy.create_engine(url).connect()


@family.case("a server that closes at once", raises="OperationalError")
def _() -> None:
    with port_that_closes() as port:
        sqlalchemy.create_engine(f"mysql+pymysql://etl:{CANARY}@127.0.0.1:{port}/shop").connect()


# SQLAlchemy's own.
@family.case("a role with a password that may not be created", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    runs(f"create role analyst login password '{CANARY}'")(pg)


@family.case("a pool whose connections are all taken", raises="TimeoutError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    small = sqlalchemy.create_engine(pg.url("psycopg2"), pool_size=1, max_overflow=0, pool_timeout=0.2)
    with small.connect():
        small.connect()


@family.case("a dialect that is not installed", raises="NoSuchModuleError")
def _() -> None:
    sqlalchemy.create_engine(f"redshift+redshift_connector://etl:{CANARY}@cluster.example/warehouse")


@family.case("a driver that is not installed", raises="ModuleNotFoundError")
def _() -> None:
    sqlalchemy.create_engine(f"mysql+mysqldb://etl:{CANARY}@127.0.0.1/shop")


@family.case("a URL that cannot be read", raises="ArgumentError")
def _() -> None:
    sqlalchemy.create_engine("Driver=PostgreSQL;Server=127.0.0.1")


@family.case("a table that cannot be reflected", raises="NoSuchTableError")
def _(pg: Postgres) -> None:
    sqlalchemy.Table("invoices", sqlalchemy.MetaData(), autoload_with=engine(pg))


@family.case("a row where one was asked for and none is", raises="NoResultFound")
def _(pg: Postgres) -> None:
    with engine(pg).connect() as connection:
        connection.execute(text("select * from customers where id = 99")).one()


@family.case("two rows where one was asked for", raises="MultipleResultsFound")
def _(pg: Postgres) -> None:
    with engine(pg).connect() as connection:
        connection.execute(text("select * from customers")).scalar_one()


@family.case("a bound parameter without a value", raises="StatementError")
def _(pg: Postgres) -> None:
    with engine(pg).connect() as connection:
        connection.execute(text("select * from customers where id = :id"), {"number": 1})


@family.case("a value of the wrong type in a bound parameter", raises="StatementError", tags=[WRONG_READING])
def _() -> None:
    table = sqlalchemy.Table("t", sqlalchemy.MetaData(), sqlalchemy.Column("at", sqlalchemy.DateTime))
    lite = sqlalchemy.create_engine("sqlite://")
    table.metadata.create_all(lite)
    with lite.begin() as connection:
        connection.execute(table.insert(), {"at": "2026-01-31"})


@family.case("a statement that is no statement", raises="ObjectNotExecutableError")
def _(pg: Postgres) -> None:
    with engine(pg).connect() as connection:
        connection.execute("select 1")  # type: ignore[call-overload]


@family.case("a session used after its flush failed", raises="PendingRollbackError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    session = orm.Session(engine(pg))
    session.add(Customer(id=1, name="Ada"))
    with contextlib.suppress(sqlalchemy.exc.IntegrityError):
        session.flush()
    session.scalars(sqlalchemy.select(Customer)).all()


@family.case("a row that was gone when the session changed it", raises="StaleDataError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    pg.admin("insert into customers values (50, 'Cy', null)")
    with orm.Session(engine(pg)) as session:
        customer = session.get(Customer, 50)
        assert customer is not None
        pg.admin("delete from customers where id = 50")
        customer.name = "Di"
        session.flush()


@family.case("an object of a session that is closed", raises="DetachedInstanceError")
def _(pg: Postgres) -> None:
    with orm.Session(engine(pg)) as session:
        customer = session.get(Customer, 1)
        session.commit()
    assert customer is not None
    print(customer.name)


@family.case("an SQLite file in a folder that is not there", raises="OperationalError")
def _() -> None:
    sqlalchemy.create_engine("sqlite:////data/missing/orders.db").connect()


@family.case("an SQLite database that somebody locks", raises="OperationalError")
def _() -> None:
    lite = sqlalchemy.create_engine("sqlite:///orders.db?timeout=0.1")
    with lite.begin() as one:
        one.execute(text("create table t (id int)"))
    with lite.connect() as one, lite.connect() as other:
        one.execute(text("insert into t values (1)"))
        other.execute(text("insert into t values (2)"))


# pandas and Ibis above it.
@family.case("pandas reads a table that is not there", raises="Exception", library="pandas")
def _(pg: Postgres) -> None:
    pandas.read_sql("select * from invoices", engine(pg))


@family.case("pandas reads through a driver's own connection", raises="DatabaseError", library="pandas")
def _(pg: Postgres) -> None:
    pandas.read_sql("select colour from customers", psycopg2.connect(pg.dsn()))


@family.case("pandas reads for too long", raises="Exception", library="pandas")
def _(pg: Postgres) -> None:
    with engine(pg).connect() as connection:
        connection.execute(text("set statement_timeout = '100ms'"))
        pandas.read_sql(text("select pg_sleep(5)"), connection)


@family.case("pandas writes into a table that exists", raises="ValueError", library="pandas")
def _(pg: Postgres) -> None:
    pandas.DataFrame({"id": [1]}).to_sql("customers", engine(pg))


@family.case("pandas writes rows that are there already", raises="Exception", library="pandas")
def _(pg: Postgres) -> None:
    pandas.DataFrame({"id": [1], "name": ["Ada"]}).to_sql("customers", engine(pg), if_exists="append", index=False)


@family.case("pandas writes a column that the table lacks", raises="Exception", library="pandas")
def _(pg: Postgres) -> None:
    pandas.DataFrame({"id": [9], "colour": ["red"]}).to_sql("customers", engine(pg), if_exists="append", index=False)


@family.case("Ibis connects with a wrong password", raises="Exception", library="ibis-framework")
def _(pg: Postgres) -> None:
    ibis.postgres.connect(host="127.0.0.1", port=pg.port, user="etl", password="not-the-one", database="warehouse")


@family.case("Ibis does not find a table in DuckDB", raises="Exception", library="ibis-framework")
def _() -> None:
    ibis.duckdb.connect().table("invoices")


@family.case("Ibis does not find a column", raises="AttributeError", library="ibis-framework")
def _() -> None:
    print(ibis.memtable({"id": [1]}).colour)


@family.case("Ibis meets a DuckDB that it does not know yet", raises="AttributeError", library="ibis-framework")
def _() -> None:
    ibis.duckdb.connect().sql("select 'n/a' as a").mutate(b=lambda row: row.a.cast("int")).execute()


# As tasks meet them.
@family.case("a lost connection in a publication's own exception", raises="PublishError")
def _(pg: Postgres) -> None:
    try:
        SCENES["a session terminated between statements"](pg, connect)
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise PublishError("figures of 2026-01-31 were not published") from error


@family.case("a missing table until tenacity gives up", raises="RetryError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(partial(runs(STATEMENTS["a missing table"]), pg))()


@family.case("a deadlock as a log's traceback", raises="RuntimeError", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    try:
        SCENES["a deadlock"](pg, connect)
    except sqlalchemy.exc.SQLAlchemyError:
        log = traceback.format_exc()
    raise RuntimeError(f"container exited with code 1, its log ends with:\n{log}")


@family.case("a session's clean-up fails after a duplicate key", raises="SQLAlchemyError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    session = orm.Session(engine(pg))
    session.add(Customer(id=1, name="Ada"))
    try:
        session.flush()
    finally:
        session.scalars(text("delete from customers where id = -1"))  # type: ignore[call-overload]


if __name__ == "__main__":
    family.run()
