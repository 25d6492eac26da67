"""What stands between a name and its value: ``=``, ``": "``, ``' => '``, ``(again): ``."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Separator", "separator_at"]

_SEPARATOR = re.compile(
    r"(?P<close>\\{0,7}[\"'`]?[\])]?)"
    r"(?:[ ](?:provided|given|used|value|\(again\)|\[[^\]\n]{0,40}\]|(?P<whose>for (?:user )?[^\s:'\"]{1,100}"
    r"|for (?:key |user )?'[^'\n]{1,200}')))?"
    r"(?::[ ]?(?:str|bytes|secretstr)(?=[ ]?=))?"  # an annotated default in a line of source
    r"[ \t]{0,40}(?P<sign>=>|:=|={1,3}|!={1,2}|-{1,2}>|:|,(?=[ ]?b?[\"']|[^\s,()]{3,200}\)))[ \t]{0,40}"
)
_PLAIN_SIGN = re.compile(r"=(?![=>\s])")
"""Most often nothing but this stands between a name and its value."""


class Separator(NamedTuple):
    """What stands between a name and its value."""

    end: int
    sign: str
    close: str = ""
    """Quotes and brackets behind the name."""
    whose: str | None = None
    has_space: bool = False
    """Behind the sign."""


def separator_at(lowered: str, position: int) -> Separator | None:
    """Return what follows a name at ``position``, ``None`` if that announces no value."""
    if _PLAIN_SIGN.match(lowered, position):
        return Separator(position + 1, "=")
    match = _SEPARATOR.match(lowered, position)
    if match is None:
        return None
    has_space = match.end() > match.end("sign")
    return Separator(match.end(), match["sign"], match["close"], match["whose"], has_space)
