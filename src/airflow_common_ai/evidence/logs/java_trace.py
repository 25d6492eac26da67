"""Read printed Java exceptions back into nodes: Spark, Hive, JDBC and Kafka often leave nothing else."""

from __future__ import annotations

import re
from itertools import islice

from airflow_common_ai.evidence.exception_tree import MAX_DEPTH, pruned
from airflow_common_ai.evidence.logs.java_names import printed_exceptions
from airflow_common_ai.evidence.logs.log_line import is_log_record, lines_of, without_record_lead
from airflow_common_ai.evidence.model import Edge, ExceptionNode

__all__ = ["JAVA_MARKS", "parse_java_lines", "parse_java_trace"]

JAVA_MARKS = ("Caused by: ", "nested exception is ", "\tat ", "\\tat ", "    at ", "Exception in thread ")
"""A text without any of these holds no Java trace."""

_MAX_TYPE_CHARS = 300
_END_LINES = 8
"""How many lines at either end of a text may name an exception that left no trace."""
_CLASS = r"(?P<type>(?:[A-Za-z_][\w$]*+\.(?=[A-Za-z_]))++[A-Z_][\w$]*+)"
_HEAD = re.compile(r"\W{0,3}(?P<thread>Exception in thread \"[^\"]*\" )?" + _CLASS + r"(?:: ?(?P<message>.*))?$")
_BECAUSE = re.compile(r"Caused by: |nested exception is:? ")
_CAUSE = re.compile(_CLASS + r"[\s:;,.]*(?P<message>.*)")
_FRAME = re.compile(r"(?:^|\s)at [\w.$<>/@-]++\(|\s\.\.\. \d++ (?:more|common frames)")


class _Thrown:
    def __init__(self, type_path: str, message: str | None) -> None:
        self.type_path = type_path[:_MAX_TYPE_CHARS]
        self.lines = [message or ""]

    @property
    def message(self) -> str:
        return "\n".join(self.lines).strip().removesuffix(";")


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
                self._speaking = _Thrown(match["type"], match["message"])
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
            self._head = self._speaking = _Thrown(match["type"], match["message"])
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

    The innermost may end with another that it only prints, as Spark's ``Lost task 0.0: java.io.IOException: …``.

    :return: Nodes with :attr:`~ExceptionNode.from_text`, the root first; empty if there is no Java trace.
    """
    if not any(map(text.__contains__, JAVA_MARKS)):
        return []
    reader = _JavaReader()
    for line in lines_of(text):
        reader.read(line)
    return _nodes_of([*reader.chain, *(_printed_in(reader.chain[-1].lines) if reader.chain else ())])


def parse_java_lines(text: str) -> list[ExceptionNode]:
    """
    Return the exceptions that a text names without a trace: ``Job failed: java.net.ConnectException: refused``.

    Of a log the last line that names one counts, of other texts the first. One line may name several, each the
    reason of the one before it.

    :return: Nodes with :attr:`~ExceptionNode.from_text`, the root first; empty if none is named near either end.
    """
    lines = lines_of(text)
    starts = list(range(min(_END_LINES, len(lines))))
    ends = list(range(len(lines) - 1, max(len(lines) - 1 - _END_LINES, -1), -1))
    for at in (*ends, *starts) if any(map(is_log_record, lines)) else (*starts, *ends):
        if named := _printed_in(lines[at:] if not is_log_record(lines[at]) else lines[at : at + 1]):
            return _nodes_of(named)
    return []


def _printed_in(lines: list[str]) -> list[_Thrown]:
    """Return the exceptions that the first line names, each with all that follows it as its message."""
    named = islice(printed_exceptions(lines[0]), MAX_DEPTH)
    printed = [_Thrown(type_path, lines[0][behind:]) for type_path, behind in named]
    if printed:
        printed[-1].lines.extend(lines[1:])
    return printed


def _nodes_of(chain: list[_Thrown]) -> list[ExceptionNode]:
    return pruned(
        [
            ExceptionNode(
                type_path=thrown.type_path,
                message=thrown.message,
                edge=Edge.CAUSE if index else Edge.ROOT,
                parent=index - 1 if index else None,
                from_text=True,
            )
            for index, thrown in enumerate(chain)
        ]
    )
