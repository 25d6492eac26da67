"""Read a printed Java stack trace back into nodes: Spark, Hive, JDBC and Kafka often leave nothing else."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.exception_tree import pruned
from airflow_common_ai.evidence.log_line import is_log_record, lines_of, without_record_lead
from airflow_common_ai.evidence.model import Edge, ExceptionNode

__all__ = ["JAVA_MARKS", "parse_java_trace"]

JAVA_MARKS = ("Caused by: ", "nested exception is ", "\tat ", "\\tat ", "    at ", "Exception in thread ")
"""A text without any of these holds no Java trace."""

_MAX_TYPE_CHARS = 300
_CLASS = r"(?P<type>(?:[A-Za-z_][\w$]*+\.(?=[A-Za-z_]))++[A-Z_][\w$]*+)"
_HEAD = re.compile(r"\W{0,3}(?P<thread>Exception in thread \"[^\"]*\" )?" + _CLASS + r"(?:: ?(?P<message>.*))?$")
_BECAUSE = re.compile(r"Caused by: |nested exception is:? ")
_CAUSE = re.compile(_CLASS + r"[\s:;,.]*(?P<message>.*)")
_FRAME = re.compile(r"(?:^|\s)at [\w.$<>/@-]++\(|\s\.\.\. \d++ (?:more|common frames)")


class _Thrown:
    def __init__(self, match: re.Match[str]) -> None:
        self.type_path = match["type"][:_MAX_TYPE_CHARS]
        self.lines = [match["message"] or ""]


class _JavaReader:
    """Reads line by line and holds the last chain that was seen."""

    def __init__(self) -> None:
        self.chain: list[_Thrown] = []
        self._head: _Thrown | None = None
        """What looks like the start of a trace, which only a stack frame or a cause can prove."""
        self._speaking: _Thrown | None = None
        """Whose message goes on in the next line."""
        self._is_suppressed = False
        self._is_between = True
        """A log record came after the last line of a trace: frames without a head are another trace."""
        self._has_leads = False
        """Each line of the trace is a log record of its own."""

    def read(self, line: str) -> None:
        is_record = is_log_record(line)
        first, *causes = _BECAUSE.split(without_record_lead(line))
        if first.strip() or not causes:
            self._read_words(first, is_record)
        elif self._is_suppressed:
            # The causes of an exception that was merely suppressed are indented with it.
            self._is_suppressed = first != ""
        for cause in causes:
            match = _CAUSE.match(cause)
            if match and not self._is_suppressed:
                self._confirm_head()
                self._speaking = _Thrown(match)
                self.chain.append(self._speaking)
                self._is_between = False

    def _read_words(self, line: str, is_record: bool) -> None:
        if _FRAME.search(line):
            if self._head is None and self._is_between:
                self.chain = []
            self._confirm_head()
            self._speaking, self._is_between, self._has_leads = None, False, is_record
        elif line.lstrip().startswith("Suppressed: "):
            self._is_suppressed, self._speaking = True, None
        elif match := _HEAD.match(line):
            self._head = self._speaking = _Thrown(match)
        elif is_record and not self._has_leads:
            self._speaking, self._is_between = None, True
        elif self._speaking is not None:
            self._speaking.lines.append(line)

    def _confirm_head(self) -> None:
        if self._head is not None:
            self.chain, self._head, self._is_suppressed = [self._head], None, False


def parse_java_trace(text: str) -> list[ExceptionNode]:
    """
    Return the last chain of a text: the exception that came out, and each cause below the one it caused.

    :return: Nodes with :attr:`~ExceptionNode.from_text`, the root first; empty if there is no Java trace.
    """
    if not any(mark in text for mark in JAVA_MARKS):
        return []
    reader = _JavaReader()
    for line in lines_of(text):
        reader.read(line)
    return pruned(
        [
            ExceptionNode(
                type_path=thrown.type_path,
                message="\n".join(thrown.lines).strip().removesuffix(";"),
                edge=Edge.CAUSE if index else Edge.ROOT,
                parent=index - 1 if index else None,
                from_text=True,
            )
            for index, thrown in enumerate(reader.chain)
        ]
    )
