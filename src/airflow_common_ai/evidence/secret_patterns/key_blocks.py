"""Private keys in their armour, whole or cut anywhere, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.cut import CUT_MARK
from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["find_json_keys", "find_private_keys", "find_putty_keys"]

_ARMOUR = re.compile(r"-{4,5} ?(?P<side>BEGIN|END) (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_NEWLINE = r"(?:[\r\n]|\\{1,4}[rn])"
_FIRST_LINE = re.compile(
    rf"[ \t]*{_NEWLINE}(?:\s|\\{{1,4}}[rn])*(?:[A-Za-z0-9+/=]{{1,80}}(?:{_NEWLINE}|[\"']|$)|[A-Z][A-Za-z\-]{{2,20}}: )"
)
_LAST_LINE = re.compile(rf"(?:{_NEWLINE}|^)[ \t]*[A-Za-z0-9+/=]{{1,80}}[ \t]*{_NEWLINE}+[ \t]*$")
_BODY = re.compile(r"[A-Za-z0-9+/]{32}")
_NEAR = 400
"""Characters beside the armour in which its body is looked for: log prefixes may stand between."""

_PUTTY = re.compile(r"private-lines: ?\d{1,4}(?:\s|\\{1,4}[rn])(?P<secret>[a-z0-9+/=\s\\]+)")

_JSON_MEMBER = re.compile(r"[\"'](?:[dkpq]|d[pq]|qi)[\"']: ?[\"'](?P<secret>[\w\-+/=]{16,8192})[\"']")


def find_private_keys(text: str, lowered: str) -> Iterator[Span]:
    """
    Find what stands between BEGIN and END.

    Without its END a key reaches to the end of the text, without its BEGIN from the start or from the last cut: the
    other half was cut off. Armour with nothing of a key beside it is only mentioned.
    """
    opened: int | None = None
    previous = 0
    for armour in _ARMOUR.finditer(text):
        start, end = armour.span()
        if armour["side"] == "BEGIN":
            if opened is None or not _has_body_behind(text, previous):
                opened = start
        elif opened is not None:
            if _has_body_behind(text, previous):
                yield opened, end
            opened = None
        elif _has_body_before(text, start, previous):
            cut = text.rfind(CUT_MARK, previous, start)
            yield (previous if cut < 0 else cut + len(CUT_MARK)), end
        previous = end
    if opened is not None and _has_body_behind(text, previous):
        yield opened, len(text)


def find_putty_keys(text: str, lowered: str) -> Iterator[Span]:
    """Find the private lines of a PuTTY key file."""
    for match in _PUTTY.finditer(lowered):
        start, end = match.span("secret")
        mac = lowered.find("private-mac", start, end + len("private-mac"))
        yield start, end if mac < 0 else mac


def find_json_keys(text: str, lowered: str) -> Iterator[Span]:
    """Find the members of a JSON web key that are not public."""
    return (match.span("secret") for match in _JSON_MEMBER.finditer(text))


def _has_body_behind(text: str, armour_end: int) -> bool:
    near = text[armour_end : armour_end + _NEAR]
    return _FIRST_LINE.match(near) is not None or _BODY.search(near) is not None


def _has_body_before(text: str, armour_start: int, previous: int) -> bool:
    near = text[max(previous, armour_start - _NEAR) : armour_start]
    return _LAST_LINE.search(near[-100:]) is not None or _BODY.search(near) is not None
