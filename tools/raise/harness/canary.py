"""A secret that must never come out.

Scripts use it as the password, token or key of everything they connect to. Nothing is told that it is one: the wall
has to find it by where it stands.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from urllib.parse import quote

__all__ = ["CANARY", "holds_canary"]

CANARY = "c4nary-S3cret-Pa55"


def holds_canary(text: str) -> bool:
    """Whether the secret can be read from a text, as it is, in other letters, or out of base64."""
    lowered = text.lower()
    return any(form.lower() in lowered for form in FORMS)


def _forms() -> Iterator[str]:
    yield CANARY
    yield quote(CANARY, safe="")
    yield CANARY[::-1]
    yield CANARY.encode().hex()
    for shift in range(3):  # where it begins within three bytes; the letters at both ends depend on the neighbours
        yield base64.b64encode(b"x" * shift + CANARY.encode()).decode()[4 if shift else 0 : -4]


FORMS = tuple(_forms())
