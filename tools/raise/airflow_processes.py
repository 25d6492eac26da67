# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-standard==1.21.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "tenacity==9.1.4",
#     "virtualenv==20.35.4",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Programs that fail below Airflow's Bash and Python operators: exit codes, and what the real programs print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tenacity
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import (
    ExternalPythonOperator,
    PythonOperator,
    PythonVirtualenvOperator,
)
from airflow.sdk import DAG
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, http_server
from servers.port import refused_port

family = Family(
    __file__, "apache-airflow-providers-standard", wrapped_by="PythonOperator", servers={"http": http_server}
)


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def bash(command: str, **options: Any) -> Any:
    return BashOperator(task_id="load", bash_command=command, **options).execute({})


def python(function: Callable[[], Any]) -> Any:
    return PythonOperator(task_id="load", python_callable=function).execute({})


def tells(command: str, **environment: str) -> Any:
    """Run a command in a PythonOperator whose function raises with the end of what it printed."""

    def load() -> str:
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=25, env={**os.environ, **environment}
        )
        if done.returncode:
            printed = (done.stdout + done.stderr)[-2000:].strip()
            raise LoadError(f"command exited with status {done.returncode}:\n{printed}")
        return done.stdout

    return python(load)


def checked(*command: str, **environment: str) -> Any:
    """Run a program in a PythonOperator with ``check=True``."""
    settings = {**os.environ, **environment}
    return python(lambda: subprocess.run(command, check=True, capture_output=True, text=True, timeout=25, env=settings))


# Exit codes alone: BashOperator's exception has no more.
for title, command, tags in (
    ("bash says 1", "exit 1", []),
    ("bash is misused", "test -f && [ 1 -eq x ]", []),
    ("bash command is not executable", "printf 'x' > load.sh; chmod 644 load.sh; ./load.sh", []),
    ("bash command is not found", "spark-submitt --master yarn load.py", []),
    ("bash child is killed with SIGKILL", "bash -c 'kill -KILL $$'", []),
    ("bash child dies of a segmentation fault", "bash -c 'kill -SEGV $$'", []),
    ("bash child is told to end", "bash -c 'kill -TERM $$'", []),
    ("bash child aborts", "bash -c 'kill -ABRT $$'", []),
    ("bash child is interrupted", "bash -c 'kill -INT $$'; exit 130", []),
    ("bash child meets a bus error", "bash -c 'kill -BUS $$'", []),
    ("bash child loses its terminal", "bash -c 'kill -HUP $$'", []),
    ("bash child writes into a closed pipe", "set -o pipefail; yes | head -1 > /dev/null", [WRONG_READING]),
    ("bash command runs into timeout", "timeout 0.2 sleep 5", []),
    ("bash command runs into timeout and is killed", "timeout -s KILL 0.2 sleep 5", [WRONG_READING]),
    ("bash says that the service is not there", "exit 69", []),
    ("bash says try again later", "exit 75", []),
    ("bash says that it may not", "exit 77", []),
    ("bash says that the configuration is bad", "exit 78", []),
    ("bash says that the input is bad", "exit 65", []),
    ("bash says minus one", "exit -1", []),
):
    family.case(title, raises="AirflowException", tags=tags, wrapped_by="BashOperator")(
        lambda command=command: bash(command, cwd=os.getcwd())
    )


@family.case("bash itself is killed", raises="AirflowException", wrapped_by="BashOperator")
def _() -> None:
    bash("kill -KILL $$")


@family.case("bash is given a folder that is none", raises="AirflowException", wrapped_by="BashOperator")
def _() -> None:
    bash("./load.sh", cwd="/opt/airflow/jobs/orders")


@family.case("bash is given a file for a folder", raises="AirflowException", wrapped_by="BashOperator")
def _() -> None:
    Path("jobs").write_text("")
    bash("./load.sh", cwd=str(Path("jobs").resolve()))


@family.case("bash output has an encoding that is none", raises="LookupError", wrapped_by="BashOperator")
def _() -> None:
    bash("echo done", output_encoding="utf8mb4")


@family.case("bash command is too long", raises="OSError", wrapped_by="BashOperator")
def _() -> None:
    bash("load " + "2026-01-31 " * 300_000)


@family.case("bash prints a warning before its JSON", raises="JSONDecodeError", wrapped_by="BashOperator")
def _() -> None:
    bash("echo 'WARN slf4j not bound {\"rows\": 1}'", output_processor=json.loads)


@family.case("bash output lacks the key that is read", raises="KeyError", wrapped_by="BashOperator")
def _() -> None:
    bash("echo '{\"rows\": 1}'", output_processor=lambda text: json.loads(text)["row_count"])


@family.case("bash command is left undefined by its template", raises="TypeError", wrapped_by="BashOperator")
def _() -> None:
    bash("./load.sh", env={"DAY": None})


# Python below Python: what other interpreters leave behind.
def external(function: Callable[..., Any], **options: Any) -> Any:
    plain = Path(sys.base_prefix) / "bin" / "python3"  # without Airflow, as such interpreters are
    settings = {"python": str(plain), "expect_airflow": False, **options}
    with DAG("shop"):
        operator = ExternalPythonOperator(task_id="load", python_callable=function, **settings)
    return operator.execute({"ti": None})


def divides() -> float:
    return 1 / 0


def imports_nothing() -> None:
    import orders_client  # type: ignore[import-not-found]  # noqa: F401


def asks_a_closed_port() -> None:
    import urllib.request

    urllib.request.urlopen("http://127.0.0.1:1/v1/orders", timeout=1)


def wraps_twice() -> None:
    try:
        try:
            {}["amount"]
        except KeyError as error:
            raise ValueError("row 7 is not an order") from error
    except ValueError as error:
        raise RuntimeError("load of 2026-01-31 failed") from error


def is_killed() -> None:
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def exits_with_three() -> None:
    import sys

    sys.exit(3)


def opens_a_missing_file() -> None:
    open("/data/orders/2026-01-31.csv").close()


def runs_out_of_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))
    bytearray(2_000_000_000)


def returns_a_lock() -> object:
    import threading

    return threading.Lock()


def locks_a_database() -> None:
    import sqlite3

    first = sqlite3.connect("shop.db", isolation_level=None)
    first.execute("create table if not exists orders (id int)")
    first.execute("begin exclusive")
    sqlite3.connect("shop.db", timeout=0.1).execute("insert into orders values (1)")


for title, function, raises, tags in (
    ("external python divides by zero", divides, "AirflowException", []),
    ("external python lacks a module", imports_nothing, "AirflowException", []),
    ("external python is refused", asks_a_closed_port, "AirflowException", []),
    ("external python wraps twice", wraps_twice, "AirflowException", [WRONG_READING]),
    ("external python is killed", is_killed, "CalledProcessError", []),
    ("external python exits with a code", exits_with_three, "CalledProcessError", []),
    ("external python does not find a file", opens_a_missing_file, "AirflowException", []),
    ("external python runs out of memory", runs_out_of_memory, "CalledProcessError", []),
    ("external python returns what cannot be pickled", returns_a_lock, "CalledProcessError", []),
    ("external python meets a locked database", locks_a_database, "AirflowException", []),
):
    family.case(title, raises=raises, tags=[FROM_TEXT, *tags], wrapped_by="ExternalPythonOperator")(
        lambda function=function: external(function)
    )


@family.case("external python path is none", raises="ValueError", wrapped_by="ExternalPythonOperator")
def _() -> None:
    ExternalPythonOperator(
        task_id="load", python="/opt/venvs/orders/bin/python", python_callable=divides, expect_airflow=False
    ).execute({"ti": None})


@family.case("external python is given what cannot be pickled", raises="TypeError", wrapped_by="ExternalPythonOperator")
def _() -> None:
    import threading

    external(wraps_twice, op_args=[threading.Lock()])


@family.case("virtualenv operator is given a lambda", raises="ValueError", wrapped_by="PythonVirtualenvOperator")
def _() -> None:
    PythonVirtualenvOperator(task_id="load", python_callable=lambda: 1).execute({})


@family.case(
    "virtualenv index is refused",
    raises=("CalledProcessError", "AirflowException"),
    wrapped_by="PythonVirtualenvOperator",
)
def _() -> None:
    os.environ["UV_HTTP_RETRIES"] = "0"
    with refused_port() as port:
        PythonVirtualenvOperator(
            task_id="load",
            python_callable=divides,
            requirements=["orders-client==9.9"],
            index_urls=[f"http://etl:{CANARY}@127.0.0.1:{port}/simple"],
            expect_airflow=False,
        ).execute({"ti": None})


# A PythonOperator that holds failures as teams write them.
@family.case("python program is not there", raises="FileNotFoundError", tags=[WRONG_READING])
def _() -> None:
    checked("dbt", "run")


@family.case("python program runs too long", raises="TimeoutExpired")
def _() -> None:
    python(lambda: subprocess.run(["sleep", "5"], timeout=0.2, check=True))


@family.case("python program dies of a signal", raises="CalledProcessError")
def _() -> None:
    checked("bash", "-c", "kill -KILL $$")


@family.case(
    "python program prints a traceback that ends in a timeout",
    raises="CalledProcessError",
    tags=[FROM_TEXT],
    wrapped_by="PythonOperator",
)
def _(http: HttpServer) -> None:
    code = f"import urllib.request as u\nu.urlopen({http.answers(Answer(silent_s=5))!r}, timeout=0.3)"
    checked(sys.executable, "-c", code)


@family.case(
    "python function gives up after tries of a program",
    raises="RetryError",
    tags=[WRONG_READING],
    wrapped_by="PythonOperator",
)
def _() -> None:
    retrying = tenacity.retry(stop=tenacity.stop_after_attempt(2))
    python(retrying(lambda: subprocess.run(["bash", "-c", "exit 2"], check=True)))


@family.case(
    "python function cleans up after a program and fails",
    raises="FileNotFoundError",
    tags=[WRONG_READING],
    wrapped_by="PythonOperator",
)
def _() -> None:
    def load() -> None:
        try:
            subprocess.run(["bash", "-c", "echo 'FATAL: too many connections' >&2; exit 1"], check=True)
        finally:
            Path("staging.csv").unlink()

    python(load)


@family.case("python function collects three programs that failed", raises="ExceptionGroup")
def _() -> None:
    def load() -> None:
        failed = []
        for code in (1, 75, 137):
            try:
                subprocess.run(["bash", "-c", f"exit {code}"], check=True)
            except subprocess.CalledProcessError as error:
                failed.append(error)
        raise ExceptionGroup("3 of 3 loads failed", failed)

    python(load)


@family.case("python function misses an argument", raises="TypeError")
def _() -> None:
    PythonOperator(task_id="load", python_callable=lambda day: day).execute({})


@family.case("python script has a syntax error", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    Path("load.py").write_text(
        textwrap.dedent("""
        def load(day)
            return day
        """)
    )
    tells(f"{sys.executable} load.py")


@family.case("python script is called with a wrong option", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    code = "import argparse\\np = argparse.ArgumentParser('load')\\np.add_argument('--day', required=True)\\np.parse_args()"
    tells(f'{sys.executable} -c "$(printf "{code}")" --date 2026-01-31')


if __name__ == "__main__":
    family.run()
