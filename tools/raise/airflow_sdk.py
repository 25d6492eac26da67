# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-standard==1.21.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "requests==2.34.2",
#     "tenacity==9.1.4",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Airflow itself raises in a task: templates, arguments, variables, sensors, deferrals, timeouts and XComs."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import requests
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.branch import BaseBranchOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.providers.standard.sensors.external_task import ExternalTaskSensor
from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import DAG, BaseHook, BaseOperator, Param, Variable
from airflow.sdk.bases.operator import TriggerFailureReason
from airflow.sdk.bases.xcom import BaseXCom
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time.timeout import timeout
from airflow.sdk.serde import deserialize, serialize
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, http_server
from servers.port import refused_port

family = Family(__file__, "apache-airflow-task-sdk", wrapped_by="BaseOperator", servers={"http": http_server})


def bash(command: str, **options: Any) -> BashOperator:
    return BashOperator(task_id="load", bash_command=command, **options)


# Templates.
CONTEXT: Any = {"ds": "2026-01-31", "params": {}, "dag_run": None, "ti": None}
for title, command, raises, tags in (
    ("template reads an attribute of nothing", "load {{ dag_run.conf.day }}", "UndefinedError", []),
    ("template reads an item of an undefined name", "load {{ orders['day'] }}", "UndefinedError", []),
    ("template has a syntax error", "load {{ ds }", "TemplateSyntaxError", []),
    ("template has a block without an end", "load {% if ds %} now", "TemplateSyntaxError", []),
    ("template has a filter that is none", "load {{ ds | ds_nodahs }}", "TemplateAssertionError", []),
    ("template calls a macro that is none", "load {{ macros.ds_ad(ds, 1) }}", "UndefinedError", []),
    ("template divides by zero", "load {{ 1 // 0 }}", "ZeroDivisionError", []),
    ("template adds text and number", "load {{ ds + 1 }}", "TypeError", []),
    ("template file is none", "jobs/load_orders.sh", "TemplateNotFound", []),
    ("template waits for a host with timeout in its name", "load {{ connection_timeout.host }}", "UndefinedError", [WRONG_READING]),
    ("template is not allowed to reach inside", "load {{ ''.__class__.__mro__ }}", "SecurityError", []),
):  # fmt: skip

    @family.case(title, raises=raises, tags=tags)
    def _(command: str = command) -> None:
        with DAG("shop", template_searchpath=[os.getcwd()]):
            task = bash(command)
        task.render_template_fields({**CONTEXT, "macros": SimpleNamespace()})


@family.case("template includes a file that is none", raises="TemplateNotFound")
def _() -> None:
    Path("load.sh").write_text("{% include 'settings.sh' %}\nload")
    with DAG("shop", template_searchpath=[os.getcwd()]):
        task = bash("load.sh")
    task.render_template_fields(CONTEXT)


@family.case("template reads a variable that is none", raises="AirflowRuntimeError")
def _() -> None:
    Variable.get("orders_day")


@family.case("template reads a variable that is no JSON", raises="AirflowRuntimeError", tags=[WRONG_READING])
def _() -> None:
    os.environ["AIRFLOW_VAR_ORDERS"] = "{'day': 1}"
    Variable.get("orders", deserialize_json=True)


@family.case("connection is no JSON", raises="AirflowNotFoundException", tags=[WRONG_READING])
def _() -> None:
    os.environ["AIRFLOW_CONN_ORDERS"] = f'{{"conn_type": "http", "password": "{CANARY}",}}'
    BaseHook.get_connection("orders")


@family.case("connection has a port that is no number", raises="AirflowNotFoundException", tags=[WRONG_READING])
def _() -> None:
    os.environ["AIRFLOW_CONN_ORDERS"] = f"http://etl:{CANARY}@orders.example:http/v1"
    BaseHook.get_connection("orders").get_uri()


@family.case("connection extra is no JSON", raises="KeyError", tags=[WRONG_READING])
def _() -> None:
    os.environ["AIRFLOW_CONN_ORDERS"] = '{"conn_type": "http", "extra": "timeout=30"}'
    _ = BaseHook.get_connection("orders").extra_dejson["timeout"]


@family.case("configuration has no such option", raises="AirflowConfigException")
def _() -> None:
    conf.get("orders", "day")


@family.case("configuration has text for a number", raises="AirflowConfigException")
def _() -> None:
    os.environ["AIRFLOW__ORDERS__TRIES"] = "three"
    conf.getint("orders", "tries")


# Arguments and Dags.
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "operator does not know an argument": (lambda: bash("load", retry=3), "TypeError"),
    "operator misses an argument": (lambda: BashOperator(task_id="load"), "TypeError"),
    "operator has no task id": (lambda: BashOperator(bash_command="load"), "TypeError"),
    "operator id has spaces": (lambda: BashOperator(task_id="load orders", bash_command="load"), "ValueError"),
    "operator tries are text": (lambda: bash("load", retries="three"), "RuntimeError"),
    "operator trigger rule is none": (lambda: bash("load", trigger_rule="all_good"), "ValueError"),
    "operator pool has no slots": (lambda: bash("load", pool_slots=0), "ValueError"),
    "operator execution timeout is a number": (lambda: bash("load", execution_timeout=30), "ValueError"),
    "operator function cannot be called": (lambda: PythonOperator(task_id="load", python_callable="load"), "AirflowException"),
    "operator does nothing of its own": (lambda: BaseOperator(task_id="load").execute(CONTEXT), "NotImplementedError"),
    "sensor poke interval is below zero": (lambda: PythonSensor(task_id="wait", python_callable=bool, poke_interval=-1), "ValueError"),
    "sensor mode is none": (lambda: PythonSensor(task_id="wait", python_callable=bool, mode="resched"), "ValueError"),
    "external task sensor has two ways to find its time": (lambda: ExternalTaskSensor(task_id="wait", external_dag_id="shop", execution_delta=timedelta(1), execution_date_fn=lambda date: date), "ValueError"),
    "external task sensor has a state that is none": (lambda: ExternalTaskSensor(task_id="wait", external_dag_id="shop", allowed_states=["done"]), "ValueError"),
    "triggered Dag run has a configuration that is no JSON": (lambda: TriggerDagRunOperator(task_id="go", trigger_dag_id="shop", conf={"days": {1, 2}}).execute(CONTEXT), "ValueError"),
}  # fmt: skip
for title, (make, raises) in MISTAKES.items():
    family.case(title, raises=(raises, "AirflowException", "ValueError", "TypeError"))(make)


@family.case("Dag has two tasks of one id", raises="DuplicateTaskIdFound")
def _() -> None:
    with DAG("shop"):
        bash("one")
        bash("two")


@family.case("Dag has a circle", raises="AirflowDagCycleException")
def _() -> None:
    with DAG("shop") as dag:
        one, two = (BashOperator(task_id=name, bash_command="load") for name in ("one", "two"))
        one >> two >> one
    dag.check_cycle()


@family.case("Dag parameter has another type", raises="ParamValidationError")
def _() -> None:
    DAG("shop", params={"day": Param(31, type="string")}).params.validate()


@family.case("Dag parameter has no value", raises="ParamValidationError")
def _() -> None:
    DAG("shop", params={"day": Param(type="string")}).params.validate()


@family.case("branch leads nowhere", raises=("AirflowException", "ValueError"), wrapped_by="BranchPythonOperator")
def _() -> None:
    with DAG("shop") as dag:
        branch = BranchPythonOperator(task_id="branch", python_callable=lambda: "load_orders")
    BaseBranchOperator.do_branch(branch, {**CONTEXT, "dag": dag, "ti": SimpleNamespace(task=branch)}, "load_orders")


@family.case("branch returns a number", raises=("AirflowException", "TypeError"), wrapped_by="BranchPythonOperator")
def _() -> None:
    with DAG("shop") as dag:
        branch = BranchPythonOperator(task_id="branch", python_callable=lambda: 7)
    branch.execute({**CONTEXT, "dag": dag, "ti": SimpleNamespace(task=branch)})


# Sensors.
def sense(sensor: Any) -> Any:
    return sensor.execute(
        {"ti": SimpleNamespace(task_id="wait", try_number=1, max_tries=0, is_running=True), "params": {}}
    )


def raises_key_error() -> bool:
    return bool({}["ready"])


@family.case(
    "python sensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="PythonSensor"
)
def _() -> None:
    sense(PythonSensor(task_id="wait", python_callable=lambda: False, poke_interval=0.05, timeout=0.2))


@family.case("python sensor function raises", raises="KeyError", wrapped_by="PythonSensor")
def _() -> None:
    sense(PythonSensor(task_id="wait", python_callable=raises_key_error, poke_interval=0.05, timeout=0.2))


@family.case(
    "python sensor is silent about what its function raises",
    raises="AirflowSensorTimeout",
    tags=[WRONG_READING],
    wrapped_by="PythonSensor",
)
def _() -> None:
    sense(
        PythonSensor(
            task_id="wait", python_callable=raises_key_error, poke_interval=0.05, timeout=0.2, silent_fail=True
        )
    )


@family.case("bash sensor command fails for good", raises="AirflowFailException", wrapped_by="BashSensor")
def _() -> None:
    sense(BashSensor(task_id="wait", bash_command="exit 7", retry_exit_code=1, poke_interval=0.05, timeout=0.5))


@family.case("file sensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="FileSensor")
def _() -> None:
    os.environ["AIRFLOW_CONN_FS_DEFAULT"] = '{"conn_type": "fs", "extra": {"path": "/data"}}'
    sense(FileSensor(task_id="wait", filepath="orders/2026-01-31.csv", poke_interval=0.05, timeout=0.2))


@family.case("file sensor has no connection", raises="AirflowNotFoundException", wrapped_by="FileSensor")
def _() -> None:
    sense(FileSensor(task_id="wait", filepath="orders.csv", fs_conn_id="lake", poke_interval=0.05, timeout=0.2))


for title, event in {
    "external Dag fails": {"status": "failed"},
    "external Dag is none": {"status": "dag_not_found"},
    "external Dag was deleted": {"status": "dag_deleted"},
    "external task sensor gets no event": None,
    "external task sensor gets an error": {"status": "error", "message": "connection to the API server was lost"},
}.items():

    @family.case(title, wrapped_by="ExternalTaskSensor")
    def _(event: Any = event) -> None:
        sensor = ExternalTaskSensor(task_id="wait", external_dag_id="shop", external_task_id="load", deferrable=True)
        sensor.execute_complete({"logical_date": datetime(2026, 1, 31, tzinfo=UTC)}, event)


@family.case("triggered Dag run fails", raises="AirflowException", wrapped_by="TriggerDagRunOperator")
def _() -> None:
    operator = TriggerDagRunOperator(task_id="go", trigger_dag_id="shop", wait_for_completion=True, deferrable=True)
    day = datetime(2026, 1, 31, tzinfo=UTC)
    event = (
        "airflow.providers.standard.triggers.external_task.DagStateTrigger",
        {
            "dag_id": "shop",
            "run_ids": ["manual__1"],
            "states": ["success", "failed"],
            "execution_dates": [day],
            "poll_interval": 1,
            "manual__1": "failed",
        },
    )
    operator.execute_complete({}, event)


# Deferrals: the triggerer hands the trigger's end to the task as text.
def fails_deferred(run: Callable[[], Any], message: str = "Trigger failure") -> None:
    try:
        asyncio.run(run())
    except (OSError, KeyError) as error:
        trace = traceback.format_exception(type(error), error, error.__traceback__)
    bash("load").resume_execution("__fail__", {"error": message, "traceback": trace}, CONTEXT)


async def is_refused() -> None:
    with refused_port() as port:
        await asyncio.open_connection("127.0.0.1", port)


async def has_no_key() -> None:
    _ = {}["state"]  # type: ignore[var-annotated]


for title, run in {"trigger is refused": is_refused, "trigger misses a key": has_no_key}.items():
    family.case(title, raises="TaskDeferralError", tags=[WRONG_READING])(lambda run=run: fails_deferred(run))


@family.case("trigger takes too long", raises="TaskDeferralTimeout", tags=[WRONG_READING])
def _() -> None:
    bash("load").resume_execution("__fail__", {"error": TriggerFailureReason.TRIGGER_TIMEOUT}, CONTEXT)


@family.case("task resumes in a method that is none", raises="AttributeError")
def _() -> None:
    bash("load").resume_execution("execute_completed", {"event": {"status": "success"}}, CONTEXT)


# Timeouts: as the task runner puts them around a task.
def times_out(function: Callable[[], Any], error_message: str = "Timeout") -> None:
    with timeout(0.3, error_message):
        function()


@family.case("task is over its execution timeout", raises="AirflowTaskTimeout", tags=[WRONG_READING])
def _() -> None:
    times_out(lambda: time.sleep(3))


@family.case(
    "task is over its execution timeout while it waits for a server", raises="AirflowTaskTimeout", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    url = http.answers(Answer(silent_s=5))
    times_out(lambda: requests.get(url, timeout=4))


@family.case(
    "task is over its execution timeout while it handles an error", raises="AirflowTaskTimeout", tags=[WRONG_READING]
)
def _() -> None:
    def load() -> None:
        try:
            raise_full_disk()
        except OSError:
            time.sleep(3)

    times_out(load)


def raise_full_disk() -> None:
    with open("/dev/full", "w") as full:
        full.write("x")


@family.case("task catches its timeout and wraps it", raises="RuntimeError", tags=[WRONG_READING])
def _() -> None:
    def load() -> None:
        try:
            time.sleep(3)
        except BaseException as error:
            raise RuntimeError("load of 2026-01-31 failed") from error

    times_out(load)


# XComs.
class Order:
    """Something that no serializer knows."""


@family.case("XCom cannot be serialized", raises=("TypeError", "AttributeError"), wrapped_by="XCom")
def _() -> None:
    BaseXCom.serialize_value(Order())


@family.case("XCom holds a lock", raises=("TypeError", "AttributeError"), wrapped_by="XCom")
def _() -> None:
    BaseXCom.serialize_value({"rows": 1, "lock": threading.Lock()})


@family.case("XCom has a reserved key", raises="AttributeError", wrapped_by="XCom")
def _() -> None:
    BaseXCom.serialize_value({"__classname__": "orders", "__version__": 1})


@family.case("XCom holds itself", raises=("RecursionError", "ValueError"), wrapped_by="XCom")
def _() -> None:
    rows: list[Any] = []
    rows.append(rows)
    serialize(rows)


@family.case("XCom class is not allowed", raises="ImportError", tags=[WRONG_READING], wrapped_by="XCom")
def _() -> None:
    deserialize({"__classname__": "shop.orders.Order", "__version__": 1, "__data__": {}})


@family.case(
    "XCom of an upstream task is nothing", raises="TypeError", tags=[WRONG_READING], wrapped_by="PythonOperator"
)
def _() -> None:
    PythonOperator(task_id="load", python_callable=lambda rows: len(rows), op_args=[None]).execute({})


@family.case("task sums up two failures", raises="ExceptionGroup", tags=[FROM_TEXT], wrapped_by="PythonOperator")
def _() -> None:
    def load() -> None:
        failed: list[Exception] = []
        for name in ("orders", "customers"):
            try:
                Variable.get(f"{name}_day")
            except AirflowRuntimeError as error:
                failed.append(error)
        raise ExceptionGroup("2 loads failed", failed)

    PythonOperator(task_id="load", python_callable=load).execute({})


if __name__ == "__main__":
    family.run()
