"""Codes of vendors that are only printed into a message."""

# ruff: noqa: E501 - messages stand as they were written

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from kubernetes import client as k8s

from airflow_common_ai.evidence.model import Rank, RedactedNode, Retry, Signal
from airflow_common_ai.evidence.protocols.printed import reader as printed_codes
from airflow_common_ai.evidence.protocols.printed.code_table import NAMED_CODES, NUMBERED_CODES

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read(message: str) -> list[Signal]:
    return list(printed_codes.read(RedactedNode("airflow.sdk.exceptions.AirflowException", message=message), NOW))


def codes(message: str) -> list[str]:
    return [signal.code for signal in read(message)]


def failed_pod(reason: str, *, pod_reason: str | None = None) -> str:
    """What the KubernetesPodOperator raises with, the pod printed as its client prints it."""
    terminated = k8s.V1ContainerStateTerminated(exit_code=137, reason=reason)
    status = k8s.V1ContainerStatus(
        name="base", image="corp/etl:7", image_id="", ready=False, restart_count=0,
        state=k8s.V1ContainerState(terminated=terminated),
    )  # fmt: skip
    environment = [k8s.V1EnvVar(name=f"SETTING_{number}", value="Evicted? no") for number in range(100)]
    pod = k8s.V1Pod(
        metadata=k8s.V1ObjectMeta(name="etl-x1"),
        spec=k8s.V1PodSpec(containers=[k8s.V1Container(name="base", env=environment)]),
        status=k8s.V1PodStatus(phase="Failed", reason=pod_reason, container_statuses=[status]),
    )
    return f"Pod etl-x1 returned a failure.\nremote_pod: {pod}"


@pytest.mark.parametrize(
    ("message", "code", "category", "retry"),
    [
        (failed_pod("OOMKilled"), "kubernetes.OOMKilled", "permanent", Retry.DEPENDS),
        (failed_pod("Error", pod_reason="Evicted"), "kubernetes.Evicted", "transient", Retry.YES),
        ("Image cannot be pulled, unable to start: InvalidImageName\n", "kubernetes.InvalidImageName", "permanent", Retry.NO),
        ("Image cannot be pulled, unable to start: ErrImagePull\nrpc error", "kubernetes.ErrImagePull", "transient", Retry.DEPENDS),
        ("Kubernetes job 'x' is failed with error '{'reason': 'DeadlineExceeded'}'", "kubernetes.DeadlineExceeded", "permanent", Retry.DEPENDS),
        ("Message: unknown error: net::ERR_CONNECTION_RESET", "chromium.ERR_CONNECTION_RESET", "network", Retry.YES),
        ("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://x.example/", "chromium.ERR_NAME_NOT_RESOLVED", "network", Retry.DEPENDS),
        ("unexpected status from the server: (3221225539) STATUS_SHARING_VIOLATION: 0xc0000043", "smb.STATUS_SHARING_VIOLATION", "transient", Retry.YES),
        ("SMB failed, status: STATUS_LOGON_FAILURE", "smb.STATUS_LOGON_FAILURE", "auth", Retry.NO),
        ("Container base was OOMKilled", "kubernetes.OOMKilled", "permanent", Retry.DEPENDS),
        ("This task is not in success state {'stopCode': 'SpotInterruption', 'containers': []}", "ecs.SpotInterruption", "transient", Retry.YES),
        ("{'failures': [{'arn': 'a', 'reason': 'RESOURCE:MEMORY'}]}", "ecs.RESOURCE:MEMORY", "transient", Retry.YES),
        ("The task failed to start due to: CannotPullContainerError: i/o timeout", "ecs.CannotPullContainerError", "transient", Retry.DEPENDS),
        ("Glue job run jr_1 for job etl ended in state 'STOPPED' instead of succeeding.", "job.STOPPED", "permanent", Retry.DEPENDS),
        ("etl failed with terminal state: {'life_cycle_state': 'INTERNAL_ERROR', 'result_state': 'FAILED'}", "databricks.INTERNAL_ERROR", "transient", Retry.DEPENDS),
        ("RESOURCE_DOES_NOT_EXIST: Table orders", "databricks.RESOURCE_DOES_NOT_EXIST", "resource", Retry.NO),
        ("[DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES] Files were added", "delta.DELTA_CONCURRENT_APPEND", "transient", Retry.YES),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `a`.`b` cannot be found", "spark.TABLE_OR_VIEW_NOT_FOUND", "resource", Retry.NO),
        ("TrinoUserError(type=USER_ERROR, name=TRANSACTION_CONFLICT, message=\"x\")", "trino.TRANSACTION_CONFLICT", "transient", Retry.YES),
        ("TrinoUserError(type=USER_ERROR, name=TABLE_NOT_FOUND, message=\"x\")", "trino.TABLE_NOT_FOUND", "resource", Retry.NO),
        ("ORA-00060: deadlock detected while waiting for resource", "oracle.ORA-00060", "transient", Retry.YES),
        ("ORA-01017: invalid username/password; logon denied", "oracle.ORA-01017", "auth", Retry.NO),
        ("ORA-12516: TNS:listener could not find available handler", "oracle.ORA-12516", "rate_limit", Retry.YES),
        ("DPY-4011: the database or network closed the connection", "oracle.DPY-4011", "network", Retry.YES),
        ("AADSTS7000222: The provided client secret keys are expired.", "entra.AADSTS7000222", "auth", Retry.NO),
        ("AADSTS90033: A transient error has occurred.", "entra.AADSTS90033", "transient", Retry.YES),
        ("ERROR: deadlock detected (SQLSTATE 40P01)", "sql.40P01", "transient", Retry.YES),
        ("SQLSTATE[28000]: Invalid authorization", "sql.28000", "auth", Retry.NO),
        ("SQLSTATE: 42P01", "sql.42P01", "resource", Retry.NO),
        ("ERROR 1205 (40001): Deadlock", "sql.40001", "transient", Retry.YES),
        ("('08S01', '[08S01] [Microsoft]TCP Provider: Error code 0x68')", "sql.08S01", "network", Retry.YES),
    ],
)  # fmt: skip
def test_a_code_is_read_where_codes_stand(message: str, code: str, category: str, retry: Retry) -> None:
    signal = next(signal for signal in read(message) if signal.code == code)
    assert (signal.category, signal.retry) == (category, retry)
    assert signal.is_conclusive
    assert signal.rank in (Rank.VENDOR_CODE, Rank.STATUS)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "error: Interrupted by the user of another system",
        "the pods were Evicted by hand",
        "see TABLE_OR_VIEW_NOT_FOUND in the manual",
        "wrote /tmp/OOMKilled/report.csv",
        "OOMKilled.csv was written",
        "the setting RESOURCE_DOES_NOT_EXIST_POLICY",
        "def InvalidImageName(): ...",
        "order ORA-1 and order XORA-01017",
        "ORA-99999: no such code",
        "SQLSTATE 00000",
        "('HY000', '[HY000] general error')",
        # ODBC drivers stamp this one on throttling, too.
        "('42000', '[42000] [Microsoft] The service is currently busy. (40501)')",
        "HTTP 503 UNAVAILABLE",
        "code 503 in the log",
        "{'reason': 'Error', 'status': 'FAILED', 'state': 'Completed'}",
        "{'lastStatus': 'STOPPED', 'desiredStatus': 'STOPPED'}",
        "{'stopCode': 'EssentialContainerExited'}",
    ],
)
def test_what_only_looks_like_a_code_says_nothing(message: str) -> None:
    assert codes(message) == []


def test_a_code_in_a_sentence_may_be_worth_a_retry_but_never_fails_a_task() -> None:
    for code, (_, meaning) in NAMED_CODES.items():
        assert not [s for s in read(f"we then saw {code} in a report about it") if s.retry is Retry.NO], meaning


def test_every_code_of_the_tables_is_found_under_its_key() -> None:
    for code, (name, _) in NAMED_CODES.items():
        assert name in codes(f"The run ended: {{'id': 7, 'reason': '{code}'}}"), code
    for code, (name, _) in NUMBERED_CODES.items():
        assert name in codes(f"Failed with {code}: some words"), code


def test_codes_that_disagree_about_retrying_are_hints() -> None:
    signals = read("{'reason': 'Evicted', 'error_code': 'RESOURCE_DOES_NOT_EXIST'}")
    assert len(signals) == 2
    assert not any(signal.is_conclusive for signal in signals)


def test_only_the_ends_of_a_very_long_message_are_read() -> None:
    noise = "nothing to see here " * 50_000
    assert codes(f"{noise} reason: OOMKilled") == ["kubernetes.OOMKilled"]
    assert codes(f"{noise} reason: OOMKilled {noise}") == []


@pytest.mark.parametrize(
    "hostile",
    ["code: a." * 130_000, "reason=" * 150_000, "A" * 1_000_000, "[A_" * 330_000, "ORA-" * 250_000, "Aa_:" * 250_000],
)
def test_hostile_megabytes_are_read_without_an_error(hostile: str) -> None:
    assert read(hostile) == []
