"""Strangers' words in Markdown, as GitHub reads it: nothing in them is markup, a link, a mention or a table's edge."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from airflow_common_ai.evals.report.plain import plain

__all__ = ["code", "code_element", "fenced", "table"]

_SPAN_ENDS = re.compile(r"[`|\\]")
_NOT_WORD = re.compile(r"[^A-Za-z0-9 \u00a0-\U0010ffff]")
_BACKTICKS = re.compile(r"`+")
_MIN_FENCE = 3


def code(text: str, max_chars: int = 200) -> str:
    """
    Return words for a line or a cell.

    A code span is read as it stands, but what would end the span or the cell has to be written in entities.
    """
    shown = plain(text, max_chars).strip()
    if not shown:
        return "–"
    return f"<code>{_entities(shown)}</code>" if _SPAN_ENDS.search(shown) else f"`{shown}`"


def code_element(text: str, max_chars: int = 200) -> str:
    """Return words for inside of a block of HTML, where nothing is read as Markdown."""
    return f"<code>{html.escape(plain(text, max_chars))}</code>"


def fenced(lines: Sequence[str], max_chars: int) -> str:
    """Return lines as a block in which nothing is markup: its fence is longer than any in the lines."""
    shown = [plain(line, max_chars) for line in lines]
    longest = max((len(run) for line in shown for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(_MIN_FENCE, longest + 1)
    return "\n".join([f"{fence}text", *shown, fence])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _entities(text: str) -> str:
    # An @ stands apart, so that no address is made of it.
    return _NOT_WORD.sub(lambda found: f"&#{ord(found[0])};" + ("<!-- -->" if found[0] == "@" else ""), text)
