"""One way for a stranger's words onto a screen: nothing in them may act on a terminal, a log or a table."""

from __future__ import annotations

import re
from typing import TypeVar, cast

__all__ = ["sanitize"]

Text = TypeVar("Text", bound=str)

_ACTING = re.compile(
    "["
    "\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 and C1 controls: line breaks, escape, BEL, CSI, OSC; a tab is harmless
    "\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # bidi marks and isolates, zero-width, line separators
    "\u00ad\u3164\ufeff\ufff9-\ufffb"  # what is not seen at all
    "\U000e0000-\U000e007f"  # invisible tags
    "\ud800-\udfff"  # lone surrogates cannot be printed
    "]"
)


def sanitize(text: Text, max_chars: int | None = None) -> Text:
    """
    Return text in which control characters, ANSI and OSC sequences and bidi marks stand escaped (``\\x1b``).

    :param max_chars: Where it is cut off.
    :return: Still redacted, if the text is: what it is escaped to hides and reveals nothing.
    """
    shown = _ACTING.sub(lambda found: found[0].encode("unicode_escape", "backslashreplace").decode(), text)
    return cast("Text", shown[:max_chars])
