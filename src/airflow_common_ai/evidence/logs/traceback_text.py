"""Read the text of a traceback back into the nodes that it was printed from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from airflow_common_ai.evidence.exception_tree import pruned
from airflow_common_ai.evidence.logs.exception_line import built_in_exception, match_exception, match_exception_alone
from airflow_common_ai.evidence.logs.java_trace import JAVA_MARKS, parse_java_lines, parse_java_trace
from airflow_common_ai.evidence.logs.log_line import LinePrefix, is_log_record, lines_of
from airflow_common_ai.evidence.model import Edge, ExceptionNode
from airflow_common_ai.evidence.type_path import base_paths, type_path

__all__ = ["holds_traceback", "opens_traceback", "parse_tracebacks"]

_HEADER = "Traceback (most recent call last)"
_GROUP = "Exception Group "
_GROUP_MARGIN = "  + "
_FRAME_MARK = 'File "'
_LINKS = {
    "The above exception was the direct cause of the following exception:": Edge.CAUSE,
    "During handling of the above exception, another exception occurred:": Edge.CONTEXT,
}
_MARKS = (_HEADER, _FRAME_MARK, 'File \\"', *_LINKS, *JAVA_MARKS)

_MEMBER = re.compile(r"(?:\+-)?\+-{4,} (?:\d+|\.\.\.) -{4,}$")
_END_OF_MEMBERS = re.compile(r"\+-{8,}$")
_RICH_BOX = "─╮ "
_QUOTES = ('"""', "'''")


def holds_traceback(text: str) -> bool:
    """Whether it is worth looking for a traceback in a text."""
    return any(map(text.__contains__, _MARKS))


def opens_traceback(line: str, lines_before: Sequence[str]) -> bool:
    """
    Whether a traceback begins here that belongs to none before it.

    :param lines_before: The last two lines: a separator, the number of a group's member, or quotes tie it to them.
    """
    if _HEADER not in line:
        return False
    last = lines_before[-1].rstrip() if lines_before else ""
    is_tied = any(link in before for before in lines_before for link in _LINKS)
    return not (is_tied or _MEMBER.search(last) or last.endswith(_QUOTES))


def parse_tracebacks(text: str) -> list[ExceptionNode]:
    """
    Return the last complete traceback of a text as nodes, root first, each after its parent.

    Python prints the exception that came out last, so the last one is the root and what the separator lines
    tie to it hangs below. Other tracebacks of the text, such as those of earlier tries, belong to other
    failures and are left out. Without a traceback a Java trace is read, then the exceptions of Java
    that a line names, then a line that can only be an exception (``requests.exceptions.ConnectionError: …``) if it
    begins or ends the text.

    Colours, prefixes of log lines, escaped line ends and a missing start are allowed for. Notes cannot be told
    from the further lines of a message and stay part of it. Time is linear in the length of the text.

    :param text: A traceback, or a log or message around one.
    :return: Nodes with :attr:`~ExceptionNode.from_text`; bases are known for built-in classes only. Empty if
        there is nothing to read.
    """
    root = None
    if holds_traceback(text):
        reader = _Reader()
        for line in lines_of(text):
            reader.read(line)
        root = reader.finish()
        if root is None and (nodes := parse_java_trace(text)):
            return nodes
    if root is None and (nodes := parse_java_lines(text)):
        return nodes
    root = root or _bare_exception(text)
    return pruned(_nodes_of(root)) if root else []


@dataclass(eq=False, slots=True)
class _Printed:
    """One printed exception."""

    type_path: str = ""
    """Empty while its stack frames are read."""
    lines: list[str] = field(default_factory=list)
    edge: Edge = Edge.ROOT
    children: list[_Printed] = field(default_factory=list)
    is_proven: bool = True
    """Whether a traceback or a separator shows that this is an exception and not a line that looks like one."""
    is_before_source: bool = False
    """The line before was a stack frame that had lost its indentation."""


@dataclass(eq=False, slots=True)
class _Chain:
    """Tracebacks that separators tie together: those of the text itself, or those of one member of a group."""

    column: int = 0
    """Where the margin of a member's lines stands."""
    group: _Printed | None = None
    current: _Printed | None = None
    """What is being read."""
    last: _Printed | None = None
    """What was read completely before."""
    is_adjacent: bool = False
    """Nothing came after the last one, so a separator would speak of it."""
    link: Edge | None = None
    """How the last one hangs on the one that follows."""

    def start(self, printed: _Printed) -> None:
        self.finish()
        self.current = printed
        self.is_adjacent = False

    def finish(self) -> None:
        printed, self.current = self.current, None
        if printed is None:
            return
        if printed.type_path and printed.is_proven:
            if self.link and self.last:
                self.last.edge = self.link
                printed.children.append(self.last)
            self.last = printed
            self.is_adjacent = True
        self.link = None


class _Reader:
    """Reads line by line; :attr:`_chains` are the text's own chain and the open members of groups inside it."""

    def __init__(self) -> None:
        self._prefix = LinePrefix()
        self._is_prefix_new = False
        self._quote = '"""'
        """What ends a traceback that stands in quotes; a process pool sends its worker's in three."""
        self._chains = [_Chain()]
        self._group_column: int | None = None
        """Where the margin of the outermost group stands while its lines are read."""

    @property
    def _top(self) -> _Chain:
        return self._chains[0]

    def finish(self) -> _Printed | None:
        self._close_down_to(0)
        self._top.finish()
        return self._top.last

    def read(self, line: str) -> None:
        if self._is_prefix_new:
            self._is_prefix_new = False
            if not self._prefix.is_on(line):
                self._prefix = LinePrefix()  # a record of many lines: only the first one carried it
        line = self._prefix.removed_from(line)
        before, header, after = line.partition(_HEADER)
        if header and not after.removeprefix(":").strip(_RICH_BOX):
            self._start_traceback(before)
            return
        body = line.lstrip(" ")
        column = len(line) - len(body)
        if self._group_column is None:
            is_margin = body.startswith("| ") and self._top.current is None and match_exception(body[2:])
            if is_margin:
                self._group_column = column  # a group that was never raised has no header
        if self._group_column is None:
            self._read_words(self._top, line)
        elif body.startswith("|"):
            self._close_down_to(column)
            self._read_words(self._chains[-1], body[2:])
        elif _MEMBER.match(body):
            self._start_member(column + 2 * body.startswith("+-+"))
        elif _END_OF_MEMBERS.match(body):
            self._close_down_to(column - 1)
        else:
            self._group_column = None
            self._close_down_to(0)
            self._top.finish()
            self._read_words(self._top, line)

    def _start_traceback(self, before: str) -> None:
        before = before.removesuffix(_GROUP)
        column = None
        if before.endswith(_GROUP_MARGIN):
            prefix, column = before.removesuffix(_GROUP_MARGIN), _GROUP_MARGIN.index("+")
        elif before.strip(" ") == "|":
            prefix, column = "", before.index("|")
        else:
            prefix = before.partition("╭")[0]
        if prefix:
            self._prefix = LinePrefix(prefix)
            self._is_prefix_new = True
            self._quote = prefix[-1] if prefix[-1] in "\"'" else '"""'
        if column is None or before.endswith("+ ") or self._group_column is None:
            self._group_column = column
            self._close_down_to(0)
        else:
            self._close_down_to(column)
        self._chains[-1].start(_Printed())

    def _start_member(self, column: int) -> None:
        self._close_down_to(column - 1)
        group = self._chains[-1]
        if group.current is not None:
            group.current.is_proven = True
        group.finish()
        self._chains.append(_Chain(column, group.last))

    def _close_down_to(self, column: int) -> None:
        while len(self._chains) > 1 and self._chains[-1].column > column:
            member = self._chains.pop()
            member.finish()
            if member.last is None:
                continue
            if member.group is None:
                self._top.last = member.last  # the start of the group is cut off: its members are all there is
            else:
                member.last.edge = Edge.MEMBER
                member.group.children.append(member.last)

    def _read_words(self, chain: _Chain, words: str) -> None:
        link = _LINKS.get(words.strip())
        if link is not None:
            if chain.current is not None:
                chain.current.is_proven = True
                chain.finish()
            chain.link = link if chain.is_adjacent else None
        elif chain.current is None:
            self._read_between(chain, words)
        elif not chain.current.type_path:
            self._read_frame(chain.current, words)
        else:
            self._read_message(chain, chain.current, words)

    def _read_between(self, chain: _Chain, words: str) -> None:
        at = words.find(_FRAME_MARK)
        if at >= 0 and ", line " in words[at:]:
            # The start is cut off. Frames are indented by two, what stands before that is a log's.
            self._prefix = LinePrefix(words[: max(0, at - 2)])
            chain.start(_Printed(is_before_source=at == 0))
            return
        is_expected = chain.link is not None or chain.group is not None
        match = match_exception(words) if is_expected else match_exception_alone(words)
        if match:
            chain.start(_printed(match, is_proven=is_expected))
        elif words.strip():
            chain.is_adjacent = False

    def _read_frame(self, printed: _Printed, words: str) -> None:
        if words.startswith(_FRAME_MARK):
            printed.is_before_source = True
        elif words[:1].strip():
            match = match_exception_alone(words) if printed.is_before_source else match_exception(words)
            printed.is_before_source = False
            if match:
                printed.type_path, printed.lines = match["type"], [match["message"] or ""]

    def _read_message(self, chain: _Chain, printed: _Printed, words: str) -> None:
        if words.startswith(self._quote):
            chain.finish()
        elif chain.group is None and is_log_record(words):
            chain.finish()
            chain.is_adjacent = False
        elif not printed.is_proven and (match := match_exception_alone(words)):
            chain.start(_printed(match, is_proven=False))
        else:
            printed.lines.append(words)


def _printed(match: re.Match[str], *, is_proven: bool = True) -> _Printed:
    return _Printed(match["type"], [match["message"] or ""], is_proven=is_proven)


def _bare_exception(text: str) -> _Printed | None:
    """Return the exception line that a text begins with, with all that follows it, or the one that it ends with."""
    lines = lines_of(text.strip())
    if not lines:
        return None
    if match := match_exception_alone(lines[0]):
        return _Printed(match["type"], [match["message"] or "", *lines[1:]])
    match = match_exception_alone(lines[-1])
    return _printed(match) if match else None


def _nodes_of(root: _Printed) -> list[ExceptionNode]:
    nodes: list[ExceptionNode] = []
    waiting: list[tuple[_Printed, int | None]] = [(root, None)]
    while waiting:
        printed, parent = waiting.pop()
        index = len(nodes)
        nodes.append(_node(printed, parent))
        message = nodes[index].message
        for java in parse_java_trace(message) or parse_java_lines(message):
            above = (index, Edge.NESTED) if java.parent is None else (java.parent + index + 1, java.edge)
            nodes.append(replace(java, parent=above[0], edge=above[1]))
        children = sorted(printed.children, key=lambda child: child.edge.is_explicit)
        waiting.extend((child, index) for child in reversed(children))
    return nodes


def _node(printed: _Printed, parent: int | None) -> ExceptionNode:
    built_in = built_in_exception(printed.type_path)
    return ExceptionNode(
        type_path=type_path(built_in) if built_in else printed.type_path,
        base_paths=base_paths(built_in) if built_in else (),
        message="\n".join(printed.lines).rstrip(),
        edge=printed.edge if parent is not None else Edge.ROOT,
        parent=parent,
        from_text=True,
    )
