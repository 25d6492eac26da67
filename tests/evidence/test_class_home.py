"""Where a class lives is told by what raised it."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from airflow_common_ai.evidence.logs.class_home import STANDARD_LIBRARY, class_home

DAG = "/opt/airflow/dags/prices.py"
AIRFLOW = "/home/airflow/.local/lib/python3.12/site-packages/airflow/sdk/execution_time/task_runner.py"
REQUESTS = "/usr/lib/python3/dist-packages/requests/adapters.py"
JINJA = "/venv/lib/python3.11/site-packages/jinja2/environment.py"
HTTP = "/usr/lib/python3.11/http/client.py"
URLLIB3 = "/venv/lib/python3.11/site-packages/urllib3/connectionpool.py"


@pytest.mark.parametrize(
    ("name", "files", "home"),
    [
        ("HTTPError", [AIRFLOW, DAG, REQUESTS], "requests.HTTPError"),
        ("HTTPError", ["C:\\venv\\Lib\\site-packages\\requests\\models.py"], "requests.HTTPError"),
        ("PriceError", [AIRFLOW, DAG], "PriceError"),
        ("PriceError", [], "PriceError"),
        ("HTTPError", [AIRFLOW, DAG], "HTTPError"),
        ("RemoteDisconnected", [AIRFLOW, DAG, URLLIB3, HTTP], "http.RemoteDisconnected"),
        # urllib3 raises its own error with the stack of the one that it translates.
        ("ProtocolError", [AIRFLOW, DAG, URLLIB3, HTTP], "urllib3.ProtocolError"),
        # An error in a template, or in a compiled file, of the package that called it.
        ("UndefinedError", [AIRFLOW, JINJA, "<template>"], "jinja2.UndefinedError"),
        ("UndefinedError", [AIRFLOW, JINJA, "/opt/airflow/dags/query.sql"], "jinja2.UndefinedError"),
        (
            "ParserError",
            [DAG, "/x/site-packages/pandas/io/c_parser.py", "/x/pandas/_libs/parsers.pyx"],
            "pandas.ParserError",
        ),
        # Compiled code of the standard library that the user's own file called.
        ("UnpicklingError", [AIRFLOW, DAG], "pickle.UnpicklingError"),
        ("OperationalError", [AIRFLOW, DAG], "OperationalError"),
        ("OperationalError", [DAG, "/usr/lib/python3.11/sqlite3/dbapi2.py"], "sqlite3.OperationalError"),
    ],
)
def test_the_file_that_raised_tells_the_package(name: str, files: list[str], home: str) -> None:
    assert class_home(name, files) == home


@pytest.mark.parametrize(
    ("name", "files", "home"),
    [
        ("TimeoutError", [AIRFLOW, DAG], "builtins.TimeoutError"),
        ("TimeoutError", [DAG, URLLIB3, "/usr/lib/python3.11/socket.py"], "builtins.TimeoutError"),
        ("TimeoutError", [DAG, URLLIB3], "urllib3.TimeoutError"),
        ("ConnectionError", [DAG, REQUESTS], "requests.ConnectionError"),
        ("ConnectionError", [REQUESTS, DAG], "builtins.ConnectionError"),
        ("ValueError", [DAG, REQUESTS], "builtins.ValueError"),
        ("print", [DAG], "print"),
    ],
)
def test_a_built_in_class_is_one_unless_the_package_has_its_own(name: str, files: list[str], home: str) -> None:
    assert class_home(name, files) == home


@pytest.mark.parametrize(
    ("above", "home"),
    [
        ("(psycopg2.errors.UniqueViolation) duplicate key", "psycopg2.errors.UniqueViolation"),
        ("(psycopg2.errors.NotNullViolation) null value", "sqlalchemy.UniqueViolation"),
        ("(UniqueViolation) duplicate key", "sqlalchemy.UniqueViolation"),
        ("", "sqlalchemy.UniqueViolation"),
    ],
)
def test_sqlalchemy_names_the_class_that_it_wraps(above: str, home: str) -> None:
    files = [DAG, "/venv/lib/python3.11/site-packages/sqlalchemy/engine/default.py"]
    assert class_home("UniqueViolation", files, message_above=above) == home


def modules_of(package: str) -> Iterator[object]:
    module = importlib.import_module(package)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{package}."):
        with contextlib.suppress(ImportError):  # for another operating system
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


@pytest.mark.parametrize("package", STANDARD_LIBRARY)
def test_the_standard_library_has_these_classes(package: str) -> None:
    known = {
        value.__name__
        for module in modules_of(package)
        for scope in (module, *(one for one in vars(module).values() if isinstance(one, type)))
        for value in vars(scope).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    assert known >= STANDARD_LIBRARY[package]
