"""What Airflow's own exceptions say, raised by Airflow itself where it can be made to."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from airflow import exceptions as core
from airflow.providers.http.hooks.http import HttpHook
from airflow.providers.standard import exceptions as standard
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.sdk import exceptions as sdk
from airflow.sdk.definitions.connection import Connection
from airflow.sdk.execution_time.comms import ErrorResponse
from airflow.sdk.execution_time.secrets.execution_api import ExecutionAPISecretsBackend
from airflow.sdk.execution_time.timeout import timeout
from loopback.http_server import Answer, serving

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Rank, RedactedNode, Retry, Signal
from airflow_common_ai.evidence.protocols import airflow, read_signals
from airflow_common_ai.evidence.redaction import Redactor

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def raised_by(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever it is, it is what the test is about
        call()
    return caught.value


def concluded(exception: BaseException) -> Signal | None:
    evidence = Redactor().redact(collect(exception))
    return conclude(evidence, read_signals(evidence)).signal


def own_signals(exception: BaseException) -> list[Signal]:
    """What the reader of this module alone says about the outermost exception."""
    return list(airflow.read(Redactor().redact(collect(exception)).nodes[0], NOW))


def runtime_error(error_type: sdk.ErrorType, **detail: object) -> sdk.AirflowRuntimeError:
    return sdk.AirflowRuntimeError(ErrorResponse(error=error_type, detail=detail or None))


@pytest.mark.parametrize(
    ("exception", "category", "retry", "max_attempts"),
    [
        (sdk.AirflowNotFoundException("x"), "resource", Retry.NO, None),
        (core.DagNotFound("x"), "resource", Retry.NO, None),
        (core.PoolNotFound("x"), "resource", Retry.NO, None),
        (sdk.TaskNotFound("x"), "resource", Retry.NO, None),
        (sdk.NodeNotFound("x"), "resource", Retry.NO, None),
        (sdk.XComNotFound("dag", "task", "key"), "resource", Retry.NO, None),
        (sdk.ParamValidationError("x"), "permanent", Retry.NO, None),
        (sdk.AirflowOptionalProviderFeatureException("x"), "permanent", Retry.NO, None),
        (sdk.AirflowDagCycleException("x"), "permanent", Retry.NO, None),
        (sdk.AirflowTimetableInvalid("x"), "permanent", Retry.NO, None),
        (core.AirflowConfigException("x"), "permanent", Retry.NO, None),
        (core.AirflowClusterPolicyViolation("x"), "permanent", Retry.NO, None),
        (sdk.AirflowFailException("x"), "permanent", Retry.NO, None),
        (sdk.AirflowInactiveAssetInInletOrOutletException([]), "permanent", Retry.NO, None),
        (sdk.AirflowSensorTimeout("x"), "permanent", Retry.NO, None),
        (sdk.AirflowTaskTerminated("x"), "permanent", Retry.NO, None),
        (sdk.AirflowTaskTimeout("x"), "permanent", Retry.DEPENDS, 2),
        (sdk.TaskDeferralTimeout("Trigger timeout"), "permanent", Retry.DEPENDS, 2),
        (sdk.AirflowSecretsBackendAccessDenied("x"), "auth", Retry.NO, None),
        (sdk.XComForMappingNotPushed(), "data", Retry.NO, None),
        (sdk.UnmappableXComTypePushed(object()), "data", Retry.NO, None),
        (core.DagRunAlreadyExists.__new__(core.DagRunAlreadyExists), "data", Retry.NO, None),
        (standard.HITLRejectException("x"), "permanent", Retry.NO, None),
        (standard.HITLTimeoutError("x"), "permanent", Retry.DEPENDS, 2),
        (standard.ExternalDagNotFoundError("x"), "resource", Retry.DEPENDS, 2),
        (standard.DuplicateStateError("x"), "permanent", Retry.NO, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_a_class_of_airflow_says_what_it_is(
    exception: BaseException, category: str, retry: Retry, max_attempts: int | None
) -> None:
    (signal,) = own_signals(exception)
    assert (signal.category, signal.retry, signal.max_attempts) == (category, retry, max_attempts)
    assert (signal.rank, signal.is_conclusive) == (Rank.CLASS, True)


@pytest.mark.parametrize(
    "exception",
    [
        sdk.AirflowSkipException("connection_refused"),
        sdk.AirflowRescheduleException(NOW),
        sdk.TaskDeferred(trigger=object(), method_name="m"),
        sdk.TaskAwaitingInput(method_name="m"),
        sdk.DownstreamTasksSkipped(tasks=[]),
        sdk.AirflowException("The job failed"),
        sdk.TaskDeferralError("Trigger failure"),
        core.AirflowBadRequest("x"),
        ValueError("CONNECTION_NOT_FOUND: it is not"),
    ],
    ids=lambda exception: type(exception).__name__,
)
def test_control_flow_and_plain_exceptions_say_nothing(exception: BaseException) -> None:
    assert own_signals(exception) == []


def test_the_constant_status_of_airflows_classes_is_no_http_status() -> None:
    for exception in (sdk.AirflowException("x"), sdk.AirflowNotFoundException("x"), core.AirflowBadRequest("x")):
        assert isinstance(exception.status_code, int)
        assert not [s for s in read_signals(Redactor().redact(collect(exception))) if s.protocol == "http"]


def test_another_dag_that_failed_is_only_a_hint() -> None:
    (signal,) = own_signals(standard.ExternalTaskFailedError("x"))
    assert not signal.is_conclusive


class TestErrorsOfTheExecutionApi:
    @pytest.mark.parametrize(
        ("error_type", "category", "retry"),
        [
            (sdk.ErrorType.CONNECTION_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.VARIABLE_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.XCOM_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.ASSET_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.TASK_STORE_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.ASSET_STORE_NOT_FOUND, "resource", Retry.NO),
            (sdk.ErrorType.PERMISSION_DENIED, "auth", Retry.NO),
            (sdk.ErrorType.DAGRUN_ALREADY_EXISTS, "data", Retry.NO),
            (sdk.ErrorType.API_SERVER_ERROR, "transient", Retry.YES),
            (sdk.ErrorType.GENERIC_ERROR, "transient", Retry.YES),
        ],
        ids=lambda value: getattr(value, "name", None),
    )
    def test_the_error_type_decides(self, error_type: sdk.ErrorType, category: str, retry: Retry) -> None:
        signal = concluded(runtime_error(error_type))
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"airflow.{error_type.value}", category, retry)
        assert signal.rank is Rank.VENDOR_CODE

    def test_every_error_type_of_airflow_is_known(self) -> None:
        assert all(own_signals(runtime_error(error_type)) for error_type in sdk.ErrorType)

    def test_the_line_of_a_log_says_the_same(self) -> None:
        for error_type in sdk.ErrorType:
            live = runtime_error(error_type, status_code=404)
            printed = RedactedNode("airflow.sdk.exceptions.AirflowRuntimeError", message=str(live), from_text=True)
            assert list(airflow.read(printed, NOW)) == own_signals(live)

    @pytest.mark.parametrize(
        ("status", "retry"),
        [(401, Retry.DEPENDS), (404, Retry.DEPENDS), (429, Retry.YES), (500, Retry.YES), (None, Retry.YES)],
    )
    def test_a_call_that_the_server_refused_is_tried_once_more(self, status: int | None, retry: Retry) -> None:
        (signal,) = own_signals(runtime_error(sdk.ErrorType.API_SERVER_ERROR, status_code=status))
        assert signal.retry is retry


@pytest.mark.parametrize(
    ("type_path", "is_known"),
    [
        ("airflow.exceptions.AirflowNotFoundException", True),
        ("airflow.sdk.exceptions.AirflowNotFoundException", True),
        ("AirflowNotFoundException", True),
        ("airflow.providers.cncf.kubernetes.utils.pod_manager.PodLaunchTimeoutException", True),
        ("airflow.providers.amazon.aws.exceptions.WaiterMaxAttemptsError", True),
        ("corp.exceptions.AirflowNotFoundException", False),
        ("airflow_common.AirflowNotFoundException", False),
    ],
)
def test_a_class_is_known_by_its_name_and_its_package(type_path: str, is_known: bool) -> None:
    assert bool(list(airflow.read(RedactedNode(type_path, from_text=True), NOW))) is is_known


class TestRaisedByAirflow:
    def test_a_missing_connection(self) -> None:
        signal = concluded(raised_by(lambda: Connection.get("not-there-at-all")))
        assert signal is not None
        assert (signal.category, signal.retry) == ("resource", Retry.NO)

    def test_the_execution_timeout_is_a_limit_of_the_dag_and_not_the_network(self) -> None:
        def work() -> None:
            with timeout(1):
                time.sleep(30)

        signal = concluded(raised_by(work))
        assert signal is not None
        assert (signal.code, signal.max_attempts) == ("airflow.AirflowTaskTimeout", 2)

    def test_a_sensor_that_timed_out(self) -> None:
        sensor = BashSensor(task_id="wait", bash_command="exit 99", retry_exit_code=99, timeout=0, poke_interval=0.01)
        signal = concluded(raised_by(lambda: sensor.execute({})))
        assert signal is not None
        assert (signal.code, signal.retry) == ("airflow.AirflowSensorTimeout", Retry.NO)

    def test_a_secrets_backend_that_denies(self) -> None:
        denied = ErrorResponse(error=sdk.ErrorType.PERMISSION_DENIED)
        exception = raised_by(
            lambda: ExecutionAPISecretsBackend()._raise_if_authz_denied(denied, resource="connection", key="dwh")
        )
        signal = concluded(exception)
        assert signal is not None
        assert (signal.category, signal.retry) == ("auth", Retry.NO)

    def test_a_hook_that_keeps_only_the_words_of_the_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(Answer(404), Answer(429, headers={"Retry-After": "7"})) as server:
            monkeypatch.setenv("AIRFLOW_CONN_WEB", f"http://127.0.0.1:{server.port}")
            missing, limited = (raised_by(lambda: HttpHook(method="GET", http_conn_id="web").run("/x")) for _ in "ab")
        assert type(missing) is sdk.AirflowException
        assert [signal and signal.code for signal in map(concluded, (missing, limited))] == ["http.404", "http.429"]

    def test_a_command_that_failed_without_a_word_is_left_open(self) -> None:
        exception = raised_by(lambda: BashOperator(task_id="run", bash_command="exit 3").execute({}))
        assert type(exception) is sdk.AirflowException
        assert concluded(exception) is None
