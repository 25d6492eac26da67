"""Codes of vendors that are met as words of a message, with what they mean; adding one is one line."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.oracle_codes import TABLE as ORACLE_CODES
from airflow_common_ai.evidence.protocols.sql.trino_codes import UNMISTAKABLE as TRINO_NAMES

__all__ = ["NAMED_CODES", "NUMBERED_CODES"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_K8S = "Kubernetes container, pod and node reasons; apache-airflow-providers-cncf-kubernetes 10.25.0"
_ECS = "AWS ECS stopCode and stoppedReason; apache-airflow-providers-amazon 9.39.0"
_DATABRICKS = "Databricks run states and error codes; databricks-sdk 0.162.0"
_DELTA = "Delta Lake error classes; delta-io/delta"
_CHROMIUM = "Chromium net_error_list.h"
_NTSTATUS = "[MS-ERREF] §2.3.1"
_SPARK = "Spark and YARN"
_GLUE = "AWS Glue, SageMaker and EMR job states; botocore 1.44.8"
_ENTRA = "Microsoft Entra AADSTS codes"

_MOVED = "the machine it ran on was taken away"
_OWN_MEMORY = "the job's own memory limit was hit"
_CONCURRENT_WRITE = "another writer was faster"
_MANY_RUNS = "too many jobs at the same time"
_MISSING = "a database object does not exist"
_STATEMENT = "the statement itself is wrong"
_TIME_LIMIT = "a configured time limit was hit, or somebody cancelled it"

_NAMED_ROWS: tuple[tuple[str, str, Meaning], ...] = (
    ("kubernetes", "OOMKilled", depends("permanent", _MEDIUM, _OWN_MEMORY, _K8S)),
    (
        "kubernetes",
        "Evicted NodeLost NodeShutdown Preempting PreemptionByScheduler DeletionByTaintManager EvictionByEvictionAPI"
        " DeletionByPodGC TerminationByKubelet UnexpectedAdmissionError OutOfcpu OutOfmemory OutOfpods NodeAffinity",
        yes("transient", _MEDIUM, _MOVED, _K8S),
    ),
    (
        "kubernetes",
        "ErrImagePull ImagePullBackOff RegistryUnavailable",
        depends("transient", _MEDIUM, "the image could not be pulled", _K8S),
    ),
    (
        "kubernetes",
        "InvalidImageName ErrImageNeverPull ImageInspectError RunContainerError ContainerCannotRun",
        no("permanent", "the container cannot be started as it is configured", _K8S),
    ),
    (
        "kubernetes",
        "CreateContainerConfigError CreateContainerError StartError",
        depends("transient", _MEDIUM, "the container cannot be started; a secret may be missing", _K8S),
    ),
    ("kubernetes", "FailedScheduling Unschedulable", yes("transient", _LONG, "no node has room for the pod", _K8S)),
    (
        "kubernetes",
        "FailedMount FailedAttachVolume",
        depends("transient", _MEDIUM, "a volume could not be mounted", _K8S, 3),
    ),
    ("kubernetes", "DeadlineExceeded", depends("permanent", _MEDIUM, "the job's own deadline has passed", _K8S)),
    ("ecs", "SpotInterruption TerminationNotice InfrastructureHealth", yes("transient", _MEDIUM, _MOVED, _ECS)),
    ("ecs", "ServiceSchedulerInitiated", yes("transient", _SHORT, _MOVED, _ECS)),
    ("ecs", "UserInitiated", no("permanent", "somebody stopped the task", _ECS)),
    (
        "ecs",
        "CannotPullContainerError CannotPullImageManifestError ResourceInitializationError CannotStartContainerError",
        depends("transient", _MEDIUM, "the container could not be started", _ECS),
    ),
    (
        "ecs",
        "RESOURCE:MEMORY RESOURCE:CPU RESOURCE:ENI RESOURCE:GPU RESOURCE:PORTS CAPACITY",
        yes("transient", _LONG, "the cluster has no capacity left", _ECS),
    ),
    ("job", "TIMEOUT TIMED_OUT EXPIRED MaxRuntimeExceeded", depends("permanent", _SHORT, _TIME_LIMIT, _GLUE)),
    ("job", "STOPPED USER_REQUEST", depends("permanent", _SHORT, "somebody stopped the job", _GLUE)),
    ("job", "CLUSTER_UNAVAILABLE INSTANCE_FAILURE Interrupted", yes("transient", _MEDIUM, _MOVED, _GLUE)),
    ("job", "VALIDATION_ERROR", no("data", "the job says that its input is wrong", _GLUE)),
    (
        "databricks",
        "INTERNAL_ERROR CLOUD_FAILURE CLUSTER_ERROR DRIVER_ERROR STORAGE_ACCESS_ERROR REPOSITORY_CHECKOUT_FAILED"
        " SERVICE_FAULT",
        depends("transient", _MEDIUM, "the platform failed, or a task in the run did", _DATABRICKS, 3),
    ),
    (
        "databricks",
        "TEMPORARILY_UNAVAILABLE WORKSPACE_TEMPORARILY_UNAVAILABLE SERVICE_UNDER_MAINTENANCE COULD_NOT_ACQUIRE_LOCK"
        " SPOT_INSTANCE_TERMINATION",
        yes("transient", _MEDIUM, "the service is unavailable for now", _DATABRICKS),
    ),
    ("databricks", "REQUEST_LIMIT_EXCEEDED", yes("rate_limit", _MEDIUM, "rate limited", _DATABRICKS)),
    (
        "databricks",
        "CLUSTER_REQUEST_LIMIT_EXCEEDED WORKSPACE_RUN_LIMIT_EXCEEDED MAX_CONCURRENT_RUNS_EXCEEDED"
        " MAX_JOB_QUEUE_SIZE_EXCEEDED MAX_SPARK_CONTEXTS_EXCEEDED",
        yes("rate_limit", _LONG, _MANY_RUNS, _DATABRICKS),
    ),
    ("databricks", "RESOURCE_DOES_NOT_EXIST", no("resource", "there is no such thing", _DATABRICKS)),
    ("databricks", "UNAUTHORIZED_ERROR", no("auth", "not allowed", _DATABRICKS)),
    (
        "databricks",
        "INVALID_CLUSTER_REQUEST INVALID_RUN_CONFIGURATION FEATURE_DISABLED BUDGET_POLICY_LIMIT_EXCEEDED",
        no("permanent", "the job is not configured in a way that can run", _DATABRICKS),
    ),
    ("databricks", "USER_CANCELED CANCELED", depends("permanent", _SHORT, "the run was cancelled", _DATABRICKS)),
    (
        "delta",
        "DELTA_CONCURRENT_APPEND DELTA_CONCURRENT_DELETE_READ DELTA_CONCURRENT_DELETE_DELETE DELTA_CONCURRENT_WRITE"
        " DELTA_CONCURRENT_TRANSACTION DELTA_METADATA_CHANGED DELTA_PROTOCOL_CHANGED DELTA_MAX_COMMIT_RETRIES_EXCEEDED",
        yes("transient", _SHORT, _CONCURRENT_WRITE, _DELTA),
    ),
    (
        "chromium",
        "ERR_CONNECTION_RESET ERR_CONNECTION_REFUSED ERR_CONNECTION_CLOSED ERR_CONNECTION_TIMED_OUT"
        " ERR_CONNECTION_ABORTED ERR_TIMED_OUT ERR_INTERNET_DISCONNECTED ERR_NETWORK_CHANGED ERR_ADDRESS_UNREACHABLE"
        " ERR_EMPTY_RESPONSE ERR_NETWORK_IO_SUSPENDED ERR_HTTP2_PROTOCOL_ERROR ERR_TUNNEL_CONNECTION_FAILED",
        yes("network", _SHORT, "the browser could not reach the page", _CHROMIUM),
    ),
    ("chromium", "ERR_NAME_NOT_RESOLVED",
     depends("network", _MEDIUM, "the host name could not be resolved", _CHROMIUM, 3)),
    ("chromium", "ERR_CERT_DATE_INVALID ERR_CERT_AUTHORITY_INVALID ERR_CERT_COMMON_NAME_INVALID ERR_SSL_PROTOCOL_ERROR",
     no("permanent", "the server's certificate is not accepted", _CHROMIUM)),
    (
        "smb",
        "STATUS_SHARING_VIOLATION STATUS_FILE_LOCK_CONFLICT STATUS_LOCK_NOT_GRANTED STATUS_DELETE_PENDING",
        yes("transient", _SHORT, "another program has the file open", _NTSTATUS),
    ),
    (
        "smb",
        "STATUS_IO_TIMEOUT STATUS_CONNECTION_DISCONNECTED STATUS_CONNECTION_RESET STATUS_NETWORK_NAME_DELETED"
        " STATUS_USER_SESSION_DELETED STATUS_NETWORK_SESSION_EXPIRED STATUS_VIRTUAL_CIRCUIT_CLOSED"
        " STATUS_INSUFFICIENT_RESOURCES STATUS_INSUFF_SERVER_RESOURCES STATUS_SERVER_UNAVAILABLE",
        yes("network", _SHORT, "the connection to the file server was lost", _NTSTATUS),
    ),
    (
        "smb",
        "STATUS_LOGON_FAILURE STATUS_ACCESS_DENIED STATUS_PASSWORD_EXPIRED STATUS_ACCOUNT_LOCKED_OUT"
        " STATUS_ACCOUNT_DISABLED STATUS_PASSWORD_MUST_CHANGE STATUS_ACCOUNT_RESTRICTION",
        no("auth", "the file server refused the login or a permission", _NTSTATUS),
    ),
    (
        "smb",
        "STATUS_OBJECT_NAME_NOT_FOUND STATUS_OBJECT_PATH_NOT_FOUND STATUS_BAD_NETWORK_NAME STATUS_NO_SUCH_FILE",
        no("resource", "there is no such file or share", _NTSTATUS),
    ),
    ("salesforce", "UNABLE_TO_LOCK_ROW", yes("transient", _NOW, "a row is locked", "Salesforce REST API error codes")),
    ("spark", "TABLE_OR_VIEW_NOT_FOUND SCHEMA_NOT_FOUND PATH_NOT_FOUND", no("resource", _MISSING, _SPARK)),
    ("spark", "FILE_NOT_EXIST", yes("transient", _NOW, "the files were replaced while they were read", _SPARK)),
    ("spark", "UNRESOLVED_COLUMN PARSE_SYNTAX_ERROR UNRESOLVED_ROUTINE", no("permanent", _STATEMENT, _SPARK)),
    ("spark", "CAST_INVALID_INPUT DELTA_SCHEMA_MISMATCH", no("data", "the data does not fit its type", _SPARK)),
)  # fmt: skip

_ENTRA_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("90024 90033", yes("transient", _SHORT, "the identity provider failed", _ENTRA)),
    ("50196", depends("rate_limit", _MEDIUM, "the client asks in a loop", _ENTRA)),
    (
        "7000215 7000222 700016 50034 50126 65001 700082 90036",
        no("auth", "the identity provider refused the credentials", _ENTRA),
    ),
)


def _named(rows: tuple[tuple[str, str, Meaning], ...]) -> dict[str, tuple[str, Meaning]]:
    return {code: (f"{vendor}.{code}", meaning) for vendor, codes, meaning in rows for code in codes.split()}


NAMED_CODES: Mapping[str, tuple[str, Meaning]] = {
    **_named(_NAMED_ROWS),
    **{name: (f"trino.{name}", meaning) for name, meaning in TRINO_NAMES.items()},
}
"""By code: the signal's code and its meaning."""

NUMBERED_CODES: Mapping[str, tuple[str, Meaning]] = {
    **{code: (f"oracle.{code}", meaning) for code, meaning in ORACLE_CODES.codes.items()},
    **{
        f"AADSTS{number}": (f"entra.AADSTS{number}", meaning)
        for numbers, meaning in _ENTRA_ROWS
        for number in numbers.split()
    },
}
"""Codes that are a prefix and a number."""
