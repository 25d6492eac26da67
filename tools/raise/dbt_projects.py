# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cryptography==46.0.3", "dbt-core==1.11.16", "dbt-duckdb==1.11.1", "dbt-postgres==1.11.0", "duckdb==2.0.1",
#     "psycopg2-binary==2.9.13",
# ]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What dbt raises, as its runner's exception and as operators make one of its results and of its output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import psycopg2
import yaml
from dbt.adapters.duckdb.connections import DuckDBConnectionManager
from dbt.cli.main import dbtRunner
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.port import refused_port
from servers.postgres import Postgres, postgres

family = Family(__file__, "dbt-core", servers={"pg": postgres})

# dbt's programs start slowly, and need more than the usual half minute on a machine that is busy.
_PROGRAM_LIMIT_S = 90

_PROJECT = {"name": "shop", "version": "1.0", "profile": "shop", "flags": {"send_anonymous_usage_stats": False}}
_DUCKDB = {"type": "duckdb", "path": "shop.duckdb", "threads": 1}


class DbtCommandFailed(Exception):
    """What a task raises from a run that ended with errors."""


def project(
    models: Mapping[str, str],
    target: Mapping[str, object] = _DUCKDB,
    files: Mapping[str, str] | None = None,
    **more: object,
) -> None:
    """Write a project into the case's folder."""
    os.environ |= {"DBT_PROFILES_DIR": str(Path.cwd()), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "NO_COLOR": "1"}
    contents = {
        "dbt_project.yml": yaml.safe_dump({**_PROJECT, **more}),
        "profiles.yml": yaml.safe_dump({"shop": {"target": "prod", "outputs": {"prod": dict(target)}}}),
        **{f"models/{name}.sql": text for name, text in models.items()},
        **(files or {}),
    }
    for name, content in contents.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)


def warehouse(pg: Postgres, **more: object) -> dict[str, object]:
    """Return a target in PostgreSQL."""
    return {
        "type": "postgres", "host": "127.0.0.1", "port": pg.port, "user": "etl", "password": CANARY, "threads": 1,
        "dbname": "warehouse", "schema": "public", "connect_timeout": 2, "retries": 0, "sslmode": "disable", **more,
    }  # fmt: skip


def dbt(*arguments: str) -> None:
    """Run dbt in this process, and raise what a task raises when it fails."""
    try:
        result = dbtRunner().invoke(["--quiet", *arguments])
    finally:
        DuckDBConnectionManager.close_all_connections()  # which it keeps for the next run in this process
    if result.exception:
        raise result.exception
    if not result.success:
        ends = [f"{one.node.name}: {one.message}" for one in result.result if one.status not in ("success", "pass")]
        raise DbtCommandFailed(f"dbt {arguments[0]} failed: " + "; ".join(ends))


def dbt_program(*arguments: str) -> None:
    """Run dbt as a BashOperator does, and tell what it wrote."""
    program = "from dbt.cli.main import cli; cli()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-use-colors", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"Command failed with exit code {done.returncode}. Output:\n{done.stdout[-1500:]}")


# Projects that do not come so far as to run.
_ONE = {"orders": "select 1 as id"}

for title, raises, prepare in (
    ("a model that refers to one that is not there", "Exception", lambda: project({"a": "select * from {{ ref('raw') }}"})),
    ("a source that is not declared", "Exception", lambda: project({"a": "select * from {{ source('crm', 'raw') }}"})),
    ("a macro that is not there", "Exception", lambda: project({"a": "select {{ cents('amount') }}"})),
    ("a variable that nobody set", "Exception", lambda: project({"a": "select {{ var('run_date') }}"})),
    ("an environment variable that is not set", "Exception", lambda: project({"a": "select '{{ env_var(\"REGION\") }}'"})),
    ("two models that refer to each other", "Exception", lambda: project(
        {"a": "select * from {{ ref('b') }}", "b": "select * from {{ ref('a') }}"})),
    ("two models of the same name", "Exception", lambda: project({"a/orders": "select 1", "b/orders": "select 2"})),
    ("a properties file that is no YAML", "Exception", lambda: project(
        _ONE, files={"models/schema.yml": "models:\n  - name: [orders\n"})),
    ("packages that were not installed", "Exception", lambda: project(
        _ONE, files={"packages.yml": "packages:\n  - local: ../utils\n"})),
    ("a version of dbt that the project does not want", "Exception", lambda: project(
        _ONE, **{"require-dbt-version": ">=2.5.0"})),
    ("an adapter that is not installed", "Exception", lambda: project(_ONE, {"type": "snowflake", "account": "x"})),
    ("a target without what its adapter needs", "Exception", lambda: project(_ONE, {"type": "postgres", "host": "x"})),
    ("a folder without a project", "Exception", lambda: os.environ.update(DBT_PROFILES_DIR=str(Path.cwd()))),
):  # fmt: skip

    @family.case(title, raises=raises)
    def _(prepare: Callable[[], object] = prepare) -> None:
        prepare()
        dbt("run")


@family.case("a profile that is not there", raises="Exception")
def _() -> None:
    project(_ONE, profile="shop_prod")
    dbt("run")


@family.case("a target that the profile lacks", raises="Exception")
def _() -> None:
    project(_ONE)
    dbt("run", "--target", "staging")


@family.case("an option that dbt does not know", raises="Exception")
def _() -> None:
    project(_ONE)
    dbt("run", "--full-refreshed")


@family.case("a state folder that is not there", raises="Exception")
def _() -> None:
    project(_ONE)
    dbt("run", "--select", "state:modified", "--state", "artifacts")


@family.case("a macro that is to be run and is not there", raises="Exception")
def _() -> None:
    project(_ONE)
    dbt("run-operation", "grant_all")


# Models that fail.
_CONTRACT = """
models:
  - name: orders
    config: {contract: {enforced: true}, materialized: table}
    columns: [{name: id, data_type: varchar}]
"""
_TESTS = """
models:
  - name: orders
    columns:
      - name: id
        data_tests: [unique, not_null, {accepted_values: {arguments: {values: [1, 2]}}}]
"""

for title, models, files, command in (
    ("a model whose table is not there", {"orders": "select * from raw.orders"}, {}, "run"),
    ("a model with a typo", {"orders": "selct 1"}, {}, "run"),
    (
        "a model that converts what cannot be",
        {"orders": "{{ config(materialized='table') }} select 'n/a'::int"},
        {},
        "run",
    ),
    ("a model that reads a file that is not there", {"orders": "select * from 'orders.csv'"}, {}, "run"),
    (
        "a model that raises by itself",
        {"orders": "{{ exceptions.raise_compiler_error('no orders of 2026-01-31') }}"},
        {},
        "run",
    ),
    ("a model that breaks its contract", {"orders": "select 1 as id"}, {"models/schema.yml": _CONTRACT}, "run"),
    (
        "tests that find bad rows",
        {"orders": "select unnest([1, 1, 3, null]) as id"},
        {"models/schema.yml": _TESTS},
        "build",
    ),
    ("a seed with a broken row", {}, {"seeds/codes.csv": "id,name\n1,a,b,c\n2\n"}, "seed"),
):
    family.case(title, raises=("DbtCommandFailed", "Exception"), tags=[FROM_TEXT])(
        lambda models=models, files=files, command=command: (project(models, files=files), dbt(command))
    )


@family.case("a DuckDB file that another process has open", raises="Exception", tags=[WRONG_READING])
def _() -> None:
    project(_ONE)
    code = "import duckdb; c = duckdb.connect('shop.duckdb'); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            dbt("run")
        finally:
            process.kill()


# Against PostgreSQL.
for title, model, more in (
    ("PostgreSQL does not find a table", "select * from invoices", {}),
    ("PostgreSQL denies a table", "{{ config(materialized='table') }} select * from secrets", {}),
    ("PostgreSQL divides by zero", "{{ config(materialized='table') }} select 1 / 0 as x", {}),
    ("PostgreSQL has a wrong password for it", "select 1 as id", {"password": "not-the-one"}),
    ("PostgreSQL has no such database", "select 1 as id", {"dbname": "lake"}),
    ("PostgreSQL may not create the schema", "select 1 as id", {"schema": "analytics", "user": "reader"}),
):

    @family.case(title, raises=("DbtCommandFailed", "Exception"), tags=[FROM_TEXT])
    def _(pg: Postgres, model: str = model, more: Mapping[str, object] = more) -> None:
        project({"facts": model}, warehouse(pg, **more))
        dbt("run")


@family.case("PostgreSQL takes too long", raises="DbtCommandFailed", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    hook = "set statement_timeout = '200ms'"
    project({"facts": "{{ config(materialized='table', pre_hook=\"" + hook + '") }} select pg_sleep(5)'}, warehouse(pg))
    dbt("run")


@family.case("PostgreSQL has a lock in the way", raises="DbtCommandFailed", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    hook = "set lock_timeout = '200ms'"
    model = "{{ config(materialized='table', pre_hook=\"" + hook + '") }} select * from customers'
    project({"facts": model}, warehouse(pg))
    with psycopg2.connect(pg.dsn(user="postgres")) as connection:
        connection.cursor().execute("lock table customers in access exclusive mode")
        dbt("run")


@family.case("PostgreSQL ends the session", raises="DbtCommandFailed", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    model = "{{ config(materialized='table') }} select pg_terminate_backend(pg_backend_pid())"
    project({"facts": model}, warehouse(pg))
    dbt("run")


@family.case("PostgreSQL has no connection left for the role", raises="Exception", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    project(_ONE, warehouse(pg, user="narrow"))
    with psycopg2.connect(pg.dsn(user="narrow")):
        dbt("run")


@family.case("PostgreSQL refuses connections", raises="Exception", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    with refused_port() as port:
        project(_ONE, warehouse(pg, port=port))
        dbt("run")


@family.case("PostgreSQL has a name that does not exist", raises="Exception", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    project(_ONE, warehouse(pg, host="pg.warehouse.invalid"))
    dbt("run")


# The program.
@family.case(
    "the program's output about a table that is not there",
    raises="RuntimeError",
    tags=[FROM_TEXT],
    library="python",
    limit_s=_PROGRAM_LIMIT_S,
)
def _() -> None:
    project({"orders": "select * from raw.orders", "later": "select * from {{ ref('orders') }}"})
    dbt_program("run")


@family.case(
    "the program's output about tests that found rows",
    raises="RuntimeError",
    tags=[FROM_TEXT],
    library="python",
    limit_s=_PROGRAM_LIMIT_S,
)
def _() -> None:
    project({"orders": "select unnest([1, 1, null]) as id"}, files={"models/schema.yml": _TESTS})
    dbt_program("build")


@family.case(
    "the program's output about refused connections",
    raises="RuntimeError",
    tags=[FROM_TEXT],
    library="python",
    limit_s=_PROGRAM_LIMIT_S,
)
def _(pg: Postgres) -> None:
    with refused_port() as port:
        project(_ONE, warehouse(pg, port=port))
        dbt_program("run")


@family.case(
    "the program's output about a broken reference",
    raises="RuntimeError",
    tags=[FROM_TEXT],
    library="python",
    limit_s=_PROGRAM_LIMIT_S,
)
def _() -> None:
    project({"a": "select * from {{ ref('raw') }}"})
    dbt_program("run")


if __name__ == "__main__":
    family.run()
