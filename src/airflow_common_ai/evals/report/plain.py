"""Strangers' words before they enter a report; each format escapes them on top in its own way."""

from __future__ import annotations

import re

from airflow_common_ai.sanitizer import sanitize

__all__ = ["plain", "plain_lines"]

_NO_XML = re.compile("[\ufffe\uffff]")
"""What a screen can bear and XML forbids. Source: XML 1.0, section 2.2."""


def plain(text: str, max_chars: int | None = None) -> str:
    """Return text on one line without any character that acts, or that XML forbids; ``…`` where it is cut off."""
    shown = _NO_XML.sub("\ufffd", sanitize(text.replace("\t", " ")))
    return shown if max_chars is None or len(shown) <= max_chars else f"{shown[: max_chars - 1]}…"


def plain_lines(texts: tuple[str, ...], max_lines: int, max_chars: int) -> list[str]:
    """Return lines, and how many more there are."""
    lines = [plain(text, max_chars) for text in texts[:max_lines]]
    return [*lines, f"… and {len(texts) - max_lines:,} more"] if len(texts) > max_lines else lines
