"""What the words of an unknown vendor code, or of an answer's message, say about a status.

``ThrottlingException``, ``QUOTA_VIOLATION`` and ``resource-locked`` need no table to be understood. Words only ever
explain the status that they came with: each kind of :mod:`.kinds` names the statuses that it may overrule.
"""

from __future__ import annotations

import re

from airflow_common_ai.evidence.protocols.http.kinds import KINDS, Kind

__all__ = ["Kind", "kind_of_code", "kind_of_message"]

_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_URL = re.compile(r"\bhttps?://\S+")
_MAX_CODE_CHARS = 100
_MAX_MESSAGE_CHARS = 2048


def kind_of_code(code: str, status: int | None = None) -> Kind | None:
    """Return the kind that the words of a vendor's code name, of those that may overrule ``status`` if it is given."""
    words = _WORD_BREAK.sub(" ", code[:_MAX_CODE_CHARS]).lower()
    kinds = (kind for kind in KINDS if status is None or status in kind.overrules)
    return next((kind for kind in kinds if kind.code and kind.code.search(words)), None)


def kind_of_message(message: str, status: int) -> Kind | None:
    """Return the kind that a message names, of those that may overrule ``status``."""
    text = _URL.sub(" ", message[:_MAX_MESSAGE_CHARS]).lower()
    return next(
        (kind for kind in KINDS if kind.message and status in kind.message_overrules and kind.message.search(text)),
        None,
    )
