"""WebHDFS names a Java exception; Python's client keeps its simple name, and a log only its words."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


@pytest.mark.parametrize(
    ("name", "retry"),
    [
        ("StandbyException", YES),
        ("SafeModeException", YES),
        ("RetriableException", YES),
        ("AlreadyBeingCreatedException", DEPENDS),
        ("DSQuotaExceededException", NO),
        ("AccessControlException", NO),
        ("FileNotFoundException", NO),
        ("FileAlreadyExistsException", NO),
        ("UnsupportedOperationException", NO),
    ],
)
def test_the_java_class_that_the_client_keeps_is_read(name: str, retry: Retry) -> None:
    signal = conclusion(alive(stand_in("hdfs.util.HdfsError", "It did not work.", exception=name)))
    assert signal is not None
    assert (signal.code.partition(".")[0], signal.retry) == ("jvm", retry)


@pytest.mark.parametrize("name", [None, 5, "not a class", "x" * 500 + "Exception"])
def test_what_is_no_name_of_a_class_is_left_out(name: object) -> None:
    evidence = alive(stand_in("hdfs.util.HdfsError", "It did not work.", exception=name))
    assert "jvm.class" not in evidence.nodes[0].facts


@pytest.mark.parametrize(
    ("message", "code", "retry"),
    [
        ("Namenode is in startup mode", "hdfs.safe_mode", YES),
        ("Operation category READ is not supported in state standby", "hdfs.safe_mode", YES),
        ("Server too busy", "hdfs.too_busy", YES),
        ("Failed to create file /o for etl because current leaseholder is trying to recreate file.",
         "hdfs.lease", DEPENDS),
        ("The DiskSpace quota of /orders is exceeded: quota = 1 GB but diskspace consumed = 1.1 GB",
         "hdfs.quota", NO),
        ("The NameSpace quota (directories and files) of directory /orders is exceeded: quota=3 file count=4",
         "hdfs.quota", NO),
        ("LISTSTATUS is not supported", "hdfs.unsupported", NO),
    ],
)  # fmt: skip
def test_of_a_log_the_words_are_read(message: str, code: str, retry: Retry) -> None:
    for evidence in (logged(stand_in("hdfs.util.HdfsError", message)), printed("hdfs.util.HdfsError", message)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry) == (code, retry)


def test_a_quota_that_a_person_must_raise_is_told_from_one_that_comes_back() -> None:
    """The words alone are those of any quota."""
    message = "The DiskSpace quota of /orders is exceeded: quota = 1 GB but diskspace consumed = 1.1 GB"
    signal = conclusion(alive(stand_in("hdfs.util.HdfsError", message, exception="DSQuotaExceededException")))
    assert signal is not None
    assert signal.retry is NO
