"""A real Airflow for a few seconds: SQLite, LocalExecutor, loopback only, and nothing left of it afterwards."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import sqlite3
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from demo.component import Component, adopt_orphans
from demo.interruptions import Interruptions
from demo.outcomes import RunOutcome, read_run

_POLL_S = 0.25
_STOP_GRACE_S = 1.0
"""Nothing of it is kept: what takes longer, as the API server does to take itself apart, is killed."""


class AirflowStartError(RuntimeError):
    """A component ended, or did not become ready in time; the message ends with its log."""


class ThrowawayAirflow:
    """
    A context manager: migrates a database, starts Airflow's components, and stops and removes all of it.

    :param dags: Dag files to deploy.
    :param environment: what the tasks find in ``os.environ`` beside what this process has.
    :param plugins: plugin files to deploy.
    :param with_rest_api: also serve the public API, for :meth:`call`; that takes seven more seconds of import.
    :param with_triggerer: also start a triggerer, for deferrable operators.
    :param parallelism: how many tasks run at once.
    :param say: called with one line about each step.
    """

    def __init__(
        self,
        dags: Sequence[Path],
        *,
        environment: Mapping[str, str] | None = None,
        plugins: Sequence[Path] = (),
        with_rest_api: bool = False,
        with_triggerer: bool = False,
        parallelism: int = 3,
        say: Callable[[str], None] = print,
    ) -> None:
        self._dags = dags
        self._plugins = plugins
        self._with_rest_api = with_rest_api
        self._with_triggerer = with_triggerer
        self._parallelism = parallelism
        self._say = say
        self._extra_environment = dict(environment or {})
        self._components: list[Component] = []
        self._interruptions = Interruptions()
        self.keep_home = False
        """Set it to leave the logs and the database for a look; so does an error in the ``with`` block."""

    def __enter__(self) -> Self:
        self._interruptions.__enter__()
        adopt_orphans()
        self.home = Path(tempfile.mkdtemp(prefix="throwaway-airflow-"))
        try:
            self._start()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.keep_home |= isinstance(error, Exception)
        try:
            with self._interruptions.held():
                self._stop()
        finally:
            self._interruptions.__exit__(kind, error, traceback)

    @property
    def database(self) -> Path:
        return self.home / "airflow.db"

    def wait_for_run(
        self,
        dag_id: str,
        run_id: str | None = None,
        *,
        timeout_s: float,
        on_change: Callable[[RunOutcome], None] = lambda outcome: None,
    ) -> RunOutcome:
        """
        Follow a Dag run to its end.

        :param run_id: ``None`` means the first run of the Dag, which its schedule may yet have to make.
        :param on_change: called with the run whenever a task instance has moved on.
        """
        last: RunOutcome | None = None

        def is_finished() -> bool:
            nonlocal last, run_id
            run_id = run_id or self._first_run(dag_id)
            if run_id is None:
                return False
            outcome = read_run(self.database, dag_id, run_id)
            if outcome != last:
                on_change(outcome)
            last = outcome
            return outcome.is_finished

        self.wait_until(is_finished, f"the run of {dag_id} to end", timeout_s)
        assert last is not None
        return last

    def wait_until(self, condition: Callable[[], object], what: str, timeout_s: float) -> None:
        """
        Wait while every component runs.

        :raises AirflowStartError: if a component ends meanwhile, or the time is over.
        """
        deadline = time.monotonic() + timeout_s
        while not condition():
            for component in self._components:
                if component.exit_code is not None:
                    raise AirflowStartError(
                        f"airflow {component.name} ended with exit code {component.exit_code}:\n{component.tail()}"
                    )
            if time.monotonic() > deadline:
                tails = "\n".join(f"--- {one.name}\n{one.tail()}" for one in self._components)
                raise AirflowStartError(f"waited {timeout_s:.0f} s in vain for {what}\n{tails}")
            time.sleep(_POLL_S)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the public API and return its answer; needs ``with_rest_api``."""
        return self._request(method, f"/api/v2{path}", body, {"Authorization": f"Bearer {self.token()}"})

    def token(self) -> str:
        """Return a token for the public API, which is at :attr:`url`; needs ``with_rest_api``."""
        return str(self._request("GET", "/auth/token")["access_token"])

    def _start(self) -> None:
        for folder, files in (("dags", self._dags), ("plugins", self._plugins), ("components", ())):
            (self.home / folder).mkdir()
            for file in files:
                shutil.copy(file, self.home / folder)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._environment = {**_clean_environment(), **self._configuration(port), **self._extra_environment}

        self._say("creating Airflow's database")
        migration = self._launch("migration", "db", "migrate")
        if migration.wait(timeout_s=180) != 0:
            raise AirflowStartError(f"airflow db migrate failed:\n{migration.tail()}")
        self._components.remove(migration)

        self._say("starting Airflow")
        apps = "core,execution" if self._with_rest_api else "execution"
        self._launch("api-server", "api-server", "--apps", apps)
        self._launch("dag-processor", "dag-processor")
        self._launch("scheduler", "scheduler", "--skip-serve-logs")
        if self._with_triggerer:
            self._launch("triggerer", "triggerer", "--skip-serve-logs")
        self.wait_until(self._is_ready, "Airflow to start", timeout_s=180)
        self._say("Airflow is running")

    def _launch(self, name: str, *arguments: str) -> Component:
        log = self.home / "components" / f"{name}.log"
        with self._interruptions.held():
            component = Component(name, arguments, self._environment, log)
            self._components.append(component)
        return component

    def _is_ready(self) -> bool:
        errors = self._rows("SELECT filename, stacktrace FROM import_error")
        if errors:
            raise AirflowStartError("\n".join(f"{file} cannot be imported:\n{trace}" for file, trace in errors))
        parsed = {Path(file).name for (file,) in self._rows("SELECT fileloc FROM dag")}
        jobs = {kind for (kind,) in self._rows("SELECT job_type FROM job WHERE state = 'running'")}
        wanted = {"SchedulerJob", "TriggererJob"} if self._with_triggerer else {"SchedulerJob"}
        # Asked first of all: the server builds its API, which takes seconds, only when the first request comes.
        return self._serves() and parsed >= {file.name for file in self._dags} and jobs >= wanted

    def _serves(self) -> bool:
        try:
            self._request("GET", "/execution/health")
        except OSError:
            return False
        return True

    def _first_run(self, dag_id: str) -> str | None:
        rows = self._rows("SELECT run_id FROM dag_run WHERE dag_id = ? ORDER BY id LIMIT 1", dag_id)
        return rows[0][0] if rows else None

    def _rows(self, query: str, *parameters: str) -> list[Any]:
        with closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            return connection.execute(query, parameters).fetchall()

    def _request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **(headers or {})},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            return json.loads(response.read() or b"null")

    def _configuration(self, port: int) -> dict[str, str]:
        options = {
            "CORE__DAGS_FOLDER": str(self.home / "dags"),
            "CORE__PLUGINS_FOLDER": str(self.home / "plugins"),
            "CORE__LOAD_EXAMPLES": "False",
            # Else a file that does not look like a Dag is passed over in silence.
            "CORE__DAG_DISCOVERY_SAFE_MODE": "False",
            "CORE__EXECUTOR": "LocalExecutor",
            "CORE__PARALLELISM": str(self._parallelism),
            "CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            # The default asks DNS for a full name, which takes seconds on a machine without a network.
            "CORE__HOSTNAME_CALLABLE": "socket.gethostname",
            "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.database}",
            "API__HOST": "127.0.0.1",
            "API__PORT": str(port),
            "API__BASE_URL": f"http://127.0.0.1:{port}",
            "API__WORKERS": "1",
            "API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
            # The end of a task process is often noticed only at the next heartbeat: every fifth second by default.
            "WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
            "SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
            # How soon a task whose delay is over is seen; a second by default.
            "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.25",
            "SCHEDULER__ENABLE_HEALTH_CHECK": "False",
            "USAGE_DATA_COLLECTION__ENABLED": "False",
        }
        return {
            "AIRFLOW_HOME": str(self.home),
            **{f"AIRFLOW__{name}": value for name, value in options.items()},
        }

    def _stop(self) -> None:
        for component in self._components:
            component.ask_to_stop()
        for component in self._components:
            component.stop(_STOP_GRACE_S)
        if self.keep_home:
            self._say(f"Airflow's logs and database are kept in {self.home}")
        else:
            shutil.rmtree(self.home, ignore_errors=True)


def _clean_environment() -> dict[str, str]:
    """Return this process's environment without its Airflow and its proxies: all traffic is on loopback."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "_AIRFLOW"))},
        "NO_PROXY": "*",
        "no_proxy": "*",
    }


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
