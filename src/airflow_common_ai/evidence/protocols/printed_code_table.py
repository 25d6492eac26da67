"""Codes of vendors that are met as words of a message, with what they mean; adding one is one line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.http_meaning import Meaning, depends, no, yes

__all__ = ["GRPC_CODES", "NAMED_CODES", "NUMBERED_CODES", "find_sqlstate"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_K8S = "Kubernetes container, pod and node reasons; apache-airflow-providers-cncf-kubernetes 10.25.0"
_ECS = "AWS ECS stopCode and stoppedReason; apache-airflow-providers-amazon 9.39.0"
_DATABRICKS = "Databricks run states and error codes; databricks-sdk 0.162.0"
_DELTA = "Delta Lake error classes; delta-io/delta"
_SPARK = "Spark and YARN"
_TRINO = "Trino StandardErrorCode"
_GRPC = "gRPC status codes; google-api-core 2.44.0"
_GLUE = "AWS Glue, SageMaker and EMR job states; botocore 1.44.8"
_PG = "PostgreSQL Appendix A, SQLSTATE"
_ORACLE = "Oracle Database Error Messages; python-oracledb 26.1.0"
_ENTRA = "Microsoft Entra AADSTS codes"

_MOVED = "the machine it ran on was taken away"
_OWN_MEMORY = "the job's own memory limit was hit"
_CONCURRENT_WRITE = "another writer was faster"
_MANY_RUNS = "too many jobs at the same time"
_LOGIN = "the login was refused"
_MISSING = "a database object does not exist"
_CONSTRAINT = "the data breaks a rule of the schema"
_STATEMENT = "the statement itself is wrong"
_GONE = "the connection to the database was lost"
_LOCK = "a lock or a deadlock was in the way"
_STARTING = "the database is starting or stopping"
_TIME_LIMIT = "a configured time limit was hit, or somebody cancelled it"
_CONNECTIONS = "too many connections"

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
        depends("permanent", _MEDIUM, "the container cannot be started; a secret may be missing", _K8S),
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
    ("salesforce", "UNABLE_TO_LOCK_ROW", yes("transient", _NOW, "a row is locked", "Salesforce REST API error codes")),
    ("spark", "TABLE_OR_VIEW_NOT_FOUND SCHEMA_NOT_FOUND PATH_NOT_FOUND", no("resource", _MISSING, _SPARK)),
    ("spark", "UNRESOLVED_COLUMN PARSE_SYNTAX_ERROR UNRESOLVED_ROUTINE", no("permanent", _STATEMENT, _SPARK)),
    ("spark", "CAST_INVALID_INPUT DELTA_SCHEMA_MISMATCH", no("data", "the data does not fit its type", _SPARK)),
    (
        "trino",
        "TRANSACTION_CONFLICT ADMINISTRATIVELY_PREEMPTED REMOTE_TASK_ERROR REMOTE_HOST_GONE PAGE_TRANSPORT_ERROR"
        " PAGE_TRANSPORT_TIMEOUT REMOTE_TASK_MISMATCH ABANDONED_TASK GENERIC_INTERNAL_ERROR",
        yes("transient", _SHORT, "the cluster lost a part of the query", _TRINO),
    ),
    (
        "trino",
        "NO_NODES_AVAILABLE SERVER_STARTING_UP SERVER_SHUTTING_DOWN CLUSTER_OUT_OF_MEMORY EXCEEDED_GLOBAL_MEMORY_LIMIT",
        yes("transient", _MEDIUM, "the cluster has no room or is starting", _TRINO),
    ),
    ("trino", "QUERY_QUEUE_FULL TOO_MANY_REQUESTS_FAILED", yes("rate_limit", _MEDIUM, _MANY_RUNS, _TRINO)),
    (
        "trino",
        "EXCEEDED_LOCAL_MEMORY_LIMIT EXCEEDED_TIME_LIMIT EXCEEDED_CPU_LIMIT EXCEEDED_SCAN_LIMIT EXCEEDED_SPILL_LIMIT",
        depends("permanent", _MEDIUM, "the query needs more than it may have", _TRINO),
    ),
    ("trino", "TABLE_NOT_FOUND COLUMN_NOT_FOUND CATALOG_NOT_FOUND", no("resource", _MISSING, _TRINO)),
    ("trino", "SYNTAX_ERROR TYPE_MISMATCH FUNCTION_NOT_FOUND", no("permanent", _STATEMENT, _TRINO)),
    ("trino", "DIVISION_BY_ZERO INVALID_CAST_ARGUMENT", no("data", "a value cannot be computed with", _TRINO)),
)  # fmt: skip

_GRPC_ROWS: tuple[tuple[str, str, Meaning], ...] = (
    ("grpc", "UNAVAILABLE", yes("transient", _SHORT, "the service is unavailable", _GRPC)),
    ("grpc", "ABORTED", yes("transient", _NOW, _CONCURRENT_WRITE, _GRPC)),
    ("grpc", "RESOURCE_EXHAUSTED", yes("rate_limit", _MEDIUM, "a limit of the service is used up", _GRPC)),
    ("grpc", "INTERNAL", depends("transient", _SHORT, "the service failed", _GRPC, 3)),
    ("grpc", "DEADLINE_EXCEEDED", depends("network", _SHORT, "it took longer than the deadline", _GRPC, 3)),
    ("grpc", "CANCELLED", depends("transient", _SHORT, "the call was cancelled", _GRPC)),
    ("grpc", "UNAUTHENTICATED", depends("auth", _SHORT, "the credentials were refused", _GRPC)),
    ("grpc", "PERMISSION_DENIED", no("auth", "not allowed", _GRPC)),
    ("grpc", "NOT_FOUND", no("resource", "there is no such thing", _GRPC)),
    ("grpc", "ALREADY_EXISTS", no("data", "it already exists", _GRPC)),
    ("grpc", "INVALID_ARGUMENT OUT_OF_RANGE FAILED_PRECONDITION DATA_LOSS", no("data", "the request is wrong", _GRPC)),
    ("grpc", "UNIMPLEMENTED", no("permanent", "the service does not do this", _GRPC)),
)


_NUMBERED_ROWS: tuple[tuple[str, str, Meaning], ...] = (
    ("ORA-", "00060 08177 00054 30006 04020 04021 04061 04068", yes("transient", _NOW, _LOCK, _ORACLE)),
    (
        "ORA-",
        "00022 00028 00031 00045 00378 00602 00603 00609 01012 01041 01043 01089 01092 02396 03113 03114 03122 03135"
        " 12153 12170 12535 12537 12541 12545 12547 12560 12570 12571 12583 27146 28511 56600",
        yes("network", _SHORT, _GONE, _ORACLE),
    ),
    ("DPY-", "4011 1001", yes("network", _SHORT, _GONE, _ORACLE)),
    ("DPI-", "1010 1080", yes("network", _SHORT, _GONE, _ORACLE)),
    ("ORA-", "00376 01033 01034 01090 01115 12514 12757 16456", yes("transient", _MEDIUM, _STARTING, _ORACLE)),
    ("ORA-", "00018 00020 12516 12519 12520 24459 24496", yes("rate_limit", _MEDIUM, _CONNECTIONS, _ORACLE)),
    (
        "ORA-",
        "01555 30036 04030 04031 01652",
        depends("transient", _MEDIUM, "undo, temp space or memory is full", _ORACLE),
    ),
    ("ORA-", "01653 01654 01536 19815", depends("permanent", _LONG, "the tablespace is full", _ORACLE)),
    ("ORA-", "01013", depends("permanent", _SHORT, _TIME_LIMIT, _ORACLE)),
    ("DPY-", "4024", depends("permanent", _SHORT, _TIME_LIMIT, _ORACLE)),
    ("ORA-", "01005 01017 28000 28001 01031 01045", no("auth", _LOGIN, _ORACLE)),
    ("ORA-", "00942 04043 12154 12505", no("resource", _MISSING, _ORACLE)),
    (
        "ORA-",
        "00900 00903 00904 00907 00911 00917 00918 00923 00933 00936 06550",
        no("permanent", _STATEMENT, _ORACLE),
    ),
    (
        "ORA-",
        "00001 00955 01400 01438 02290 02291 02292 01722 01830 01843 01858 01861 12899 01476",
        no("data", _CONSTRAINT, _ORACLE),
    ),
    ("AADSTS", "90024 90033", yes("transient", _SHORT, "the identity provider failed", _ENTRA)),
    ("AADSTS", "50196", depends("rate_limit", _MEDIUM, "the client asks in a loop", _ENTRA)),
    (
        "AADSTS",
        "7000215 7000222 700016 50034 50126 65001 700082 90036",
        no("auth", "the identity provider refused the credentials", _ENTRA),
    ),
)  # fmt: skip
_VENDORS = {"ORA-": "oracle", "DPY-": "oracle", "DPI-": "oracle", "AADSTS": "entra"}

_SQLSTATES: tuple[tuple[str, Meaning], ...] = (
    ("40001|40P01|40000", yes("transient", _NOW, _LOCK, _PG)),
    ("40003|08007", depends("transient", _SHORT, "whether it was committed is not known", _PG)),
    ("55P03", yes("transient", _SHORT, _LOCK, _PG)),
    ("55006", depends("transient", _SHORT, "it is in use", _PG, 3)),
    ("57P01|57P02|57P05|25P03", yes("network", _SHORT, _GONE, _PG)),
    ("57P03", yes("transient", _SHORT, _STARTING, _PG)),
    ("57014|25P04", depends("permanent", _SHORT, _TIME_LIMIT, _PG)),
    ("53300", yes("rate_limit", _MEDIUM, _CONNECTIONS, _PG)),
    ("53000|53200|53400", yes("transient", _MEDIUM, "the server is short of memory", _PG)),
    ("53100", depends("transient", _LONG, "the server's disk is full", _PG)),
    ("54...", depends("permanent", _LONG, "a limit of the server", _PG)),
    ("08001|08004", depends("network", _SHORT, "the database could not be reached, or it refused the login", _PG, 3)),
    ("08...|HYT0[01]", yes("network", _SHORT, _GONE, _PG)),
    ("28...", no("auth", _LOGIN, _PG)),
    ("42501", no("auth", "a permission is missing", _PG)),
    ("42P01|42703|42883|3F000|3D000|42704|42S02|42S22", no("resource", _MISSING, _PG)),
    ("42P07|42P06|42710|42P04|42S01", no("data", "it already exists", _PG)),
    ("25006", depends("transient", _SHORT, "the server is read-only, perhaps a replica after a failover", _PG)),
    # ODBC drivers stamp 42000 on errors of every kind, throttling included: the words must tell.
    ("42(?!000)...|26000|0A...", no("permanent", _STATEMENT, _PG)),
    ("22...|21000|44000", no("data", "the data does not fit its type", _PG)),
    ("23...", no("data", _CONSTRAINT, _PG)),
    ("58...", depends("transient", _MEDIUM, "the server's own system failed", _PG)),
)
_SQLSTATE_ROWS = tuple((re.compile(pattern), meaning) for pattern, meaning in _SQLSTATES)


def find_sqlstate(state: str) -> Meaning | None:
    """Return what a SQLSTATE means, by itself or else by its class."""
    return next((meaning for pattern, meaning in _SQLSTATE_ROWS if pattern.fullmatch(state)), None)


def _named(rows: tuple[tuple[str, str, Meaning], ...]) -> dict[str, tuple[str, Meaning]]:
    return {code: (f"{vendor}.{code}", meaning) for vendor, codes, meaning in rows for code in codes.split()}


NAMED_CODES: Mapping[str, tuple[str, Meaning]] = _named(_NAMED_ROWS)
"""By code: the signal's code and its meaning."""

NUMBERED_CODES: Mapping[str, tuple[str, Meaning]] = {
    f"{prefix}{number}": (f"{_VENDORS[prefix]}.{prefix}{number}", meaning)
    for prefix, numbers, meaning in _NUMBERED_ROWS
    for number in numbers.split()
}
"""Codes that are a prefix and a number."""

GRPC_CODES: Mapping[str, tuple[str, Meaning]] = _named(_GRPC_ROWS)
"""Apart from the others: these words also mean other things."""
