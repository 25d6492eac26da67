"""HDFS over HTTP: the Java exception that a WebHDFS answer names, which Python's clients keep beside its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("hdfs", "pywebhdfs")
PRINTED_MARKS = ()

_HADOOP = "Apache Hadoop 3.3 WebHDFS REST API, Error Responses"
_PACKAGE = "org.apache.hadoop"
_PACKAGES = {
    "FileNotFoundException": "java.io",
    "IOException": "java.io",
    "IllegalArgumentException": "java.lang",
    "SecurityException": "java.lang",
    "UnsupportedOperationException": "java.lang",
}
_MAX_CHARS = 2048
_CLASS = re.compile(r"[A-Z]\w{2,79}Exception")
# Where a log shows nothing but the words.
_WORDS = tuple(
    (re.compile(words), meaning.signal(f"hdfs.{name}", Rank.VENDOR_CODE))
    for words, name, meaning in (
        (
            r"[Nn]ame ?node is in (?:startup|safe) mode|in safe mode|in state standby",
            "safe_mode",
            yes("transient", Wait.MEDIUM, "the name node is starting or another one has taken over", _HADOOP),
        ),
        ("^Server too busy", "too_busy", yes("transient", Wait.MEDIUM, "the server has too much to do", _HADOOP)),
        (
            r"\bleaseholder\b|\blease (?:recovery|holder)|is already the current lease holder",
            "lease",
            depends("transient", Wait.MEDIUM, "another writer holds the file", _HADOOP, 3),
        ),
        (
            r"quota (?:\([^()]{1,60}\) )?of (?:directory )?\S{1,400} is exceeded",
            "quota",
            no("permanent", "the quota of the directory is used up; a person must raise it or delete files", _HADOOP),
        ),
        (r"^[A-Z_]{3,40} is not supported$", "unsupported", no("permanent", "it offers no such operation", _HADOOP)),
    )
)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the name of the Java class, with the package that the answer named and the client dropped."""
    name = getattr(exception, "exception", None)
    if not isinstance(name, str) or not _CLASS.fullmatch(name):
        return {}
    return {"jvm.class": f"{_PACKAGES.get(name, _PACKAGE)}.{name}", "jvm.message": cut(str(exception), 500)}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the words say; the reader of the JVM's classes says what the class does."""
    yield from (signal for words, signal in _WORDS if words.search(node.message[:_MAX_CHARS]))
