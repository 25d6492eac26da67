"""Airflow's own exceptions: what the runner, the SDK and the operators of its providers raise themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["probe", "read"]

_SDK = "apache-airflow-task-sdk 1.3.2"
_CORE = "apache-airflow-core 3.3.2"
_STANDARD = "apache-airflow-providers-standard 1.21.0"
_KUBERNETES = "apache-airflow-providers-cncf-kubernetes 10.25.0"
_AMAZON = "apache-airflow-providers-amazon 9.39.0"

_NOT_FOUND = "Airflow does not have what the task asks for"
_DAG_FAULT = "the Dag itself is wrong"
_EXPIRED_MEANWHILE = "a configured time limit was hit; the same work takes the same time"

_CONTROL_FLOW = frozenset(
    {
        "AirflowSkipException",
        "AirflowRescheduleException",
        "TaskDeferred",
        "TaskAwaitingInput",
        "DownstreamTasksSkipped",
        "DagRunTriggerException",
    }
)
"""Raised to tell the runner something; no failure."""

_CLASS_ROWS: tuple[tuple[str, Meaning], ...] = (
    # The execution_timeout that the Dag's author chose.
    ("AirflowTaskTimeout", depends("permanent", Wait.SHORT, f"execution_timeout: {_EXPIRED_MEANWHILE}", _SDK)),
    ("TaskDeferralTimeout", depends("permanent", Wait.SHORT, f"deferral timeout: {_EXPIRED_MEANWHILE}", _SDK)),
    # Airflow never asks a policy about these; a recording or a log may hold them.
    ("AirflowSensorTimeout", no("permanent", "the sensor waited as long as it may", _SDK)),
    ("AirflowFailException", no("permanent", "the task asked to be failed without a retry", _SDK)),
    ("AirflowTaskTerminated", no("permanent", "Airflow ended the task", _SDK)),
    (
        "AirflowNotFoundException TaskNotFound DagNotFound DagRunNotFound TaskInstanceNotFound PoolNotFound"
        " XComNotFound",
        no("resource", _NOT_FOUND, f"{_SDK}, {_CORE}"),
    ),
    ("AirflowSecretsBackendAccessDenied", no("auth", "the secrets backend denied access", _SDK)),
    ("ParamValidationError", no("permanent", "a Dag parameter is not valid", _SDK)),
    ("AirflowConfigException", no("permanent", "Airflow's configuration is wrong", _CORE)),
    (
        "AirflowOptionalProviderFeatureException",
        no("permanent", "a package for an optional feature of a provider is not installed", _SDK),
    ),
    (
        "AirflowDagCycleException AirflowTimetableInvalid DuplicateTaskIdFound TaskAlreadyInTaskGroup"
        " FailFastDagInvalidTriggerRule AirflowDagDuplicatedIdException AirflowClusterPolicyViolation"
        " DuplicateStateError",
        no("permanent", _DAG_FAULT, f"{_SDK}, {_CORE}, {_STANDARD}"),
    ),
    (
        "XComForMappingNotPushed UnmappableXComTypePushed",
        no("data", "the task returned nothing that a mapped task can be made of", _SDK),
    ),
    ("DagRunAlreadyExists", no("data", "the Dag run already exists", _CORE)),
    ("HITLRejectException", no("permanent", "a person rejected it", _STANDARD)),
    ("HITLTimeoutError", depends("permanent", Wait.SHORT, "no person answered in time", _STANDARD)),
    (
        "ExternalDagNotFoundError ExternalDagDeletedError ExternalTaskNotFoundError ExternalTaskGroupNotFoundError",
        depends("resource", Wait.MEDIUM, "the other Dag or task is not there, perhaps not yet", _STANDARD),
    ),
    (
        "ExternalTaskFailedError ExternalTaskGroupFailedError ExternalDagFailedError",
        replace(
            depends("permanent", Wait.LONG, "another Dag or task failed; it must succeed first", _STANDARD),
            strength=Strength.HINT,
        ),
    ),
    ("PodLaunchTimeoutException", yes("transient", Wait.LONG, "the pod got no place in time", _KUBERNETES)),
    ("PodNotFoundException", yes("transient", Wait.MEDIUM, "the pod is gone; a new try starts a new one", _KUBERNETES)),
    ("PodCredentialsExpiredFailure", depends("auth", Wait.SHORT, "the cluster's credentials expired", _KUBERNETES)),
    ("KubernetesApiPermissionError", no("auth", "the cluster denied access", _KUBERNETES)),
    ("WaiterNoCredentialsError", depends("auth", Wait.SHORT, "no AWS credentials were found", _AMAZON)),
    ("WaiterMaxAttemptsError", depends("permanent", Wait.SHORT, f"waiter: {_EXPIRED_MEANWHILE}", _AMAZON)),
)
_BY_CLASS: Mapping[str, Meaning] = {name: meaning for names, meaning in _CLASS_ROWS for name in names.split()}

_NO_SERVER = "the Execution API could not answer"
_ERROR_TYPES: Mapping[str, Meaning] = {
    **dict.fromkeys(
        (
            "CONNECTION_NOT_FOUND",
            "VARIABLE_NOT_FOUND",
            "XCOM_NOT_FOUND",
            "ASSET_NOT_FOUND",
            "TASK_STORE_NOT_FOUND",
            "ASSET_STORE_NOT_FOUND",
        ),
        no("resource", _NOT_FOUND, f"{_SDK} ErrorType"),
    ),
    "PERMISSION_DENIED": no("auth", "the Execution API denied access", f"{_SDK} ErrorType"),
    "DAGRUN_ALREADY_EXISTS": no("data", "the Dag run already exists", f"{_SDK} ErrorType"),
    "API_SERVER_ERROR": yes("transient", Wait.SHORT, _NO_SERVER, f"{_SDK} ErrorType"),
    "GENERIC_ERROR": yes("transient", Wait.SHORT, _NO_SERVER, f"{_SDK} ErrorType"),
}
_REFUSED_CALL = depends("transient", Wait.SHORT, "the Execution API refused the call", f"{_SDK} ErrorType")
_TYPE_IN_MESSAGE = re.compile(r"([A-Z][A-Z_]{4,40}): ")
_STATUS_IN_MESSAGE = re.compile(r"'status_code': ([45]\d\d)\b")
_TRANSIENT_4XX = (408, 425, 429)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the error type of an ``AirflowRuntimeError`` and the status that the Execution API answered."""
    if not any(base.__name__ == "AirflowRuntimeError" for base in type(exception).__mro__):
        return {}
    error = getattr(exception, "error", None)
    error_type = getattr(getattr(error, "error", None), "value", None)
    if not isinstance(error_type, str) or error_type not in _ERROR_TYPES:
        return {}
    facts: dict[str, Fact] = {"airflow.error_type": error_type}
    detail = getattr(error, "detail", None)
    status = detail.get("status_code") if isinstance(detail, dict) else None
    if isinstance(status, int):
        facts["airflow.api_status"] = status
    return facts


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    # `AirflowException.status_code` is a constant of the class, always 500: never an HTTP status.
    names = [path.rpartition(".")[2] for path in (node.type_path, *node.base_paths) if _is_airflows(path)]
    if not _CONTROL_FLOW.isdisjoint(names):
        return
    if error := _api_error(node, names):
        yield error
    name = next(filter(_BY_CLASS.__contains__, names), None)
    if name:
        yield _BY_CLASS[name].signal(f"airflow.{name}", Rank.CLASS)


def _is_airflows(type_path: str) -> bool:
    """Whether it is a class of Airflow; a JSON log of Airflow prints its name without the module."""
    return type_path.startswith("airflow.") or "." not in type_path


def _api_error(node: RedactedNode, names: list[str]) -> Signal | None:
    error_type, status = node.facts.get("airflow.error_type"), node.facts.get("airflow.api_status")
    if error_type is None and "AirflowRuntimeError" in names:
        printed = _TYPE_IN_MESSAGE.match(node.message)
        error_type = printed[1] if printed else None
        printed_status = _STATUS_IN_MESSAGE.search(node.message, 0, 500)
        status = int(printed_status[1]) if printed_status else None
    meaning = _ERROR_TYPES.get(str(error_type))
    if meaning is None:
        return None
    if not meaning.is_final and isinstance(status, int) and 400 <= status < 500 and status not in _TRANSIENT_4XX:
        meaning = _REFUSED_CALL
    return meaning.signal(f"airflow.{error_type}", Rank.VENDOR_CODE)
