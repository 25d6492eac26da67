"""The texts of a record that a stranger may have written, on their way back in."""

from __future__ import annotations

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import RedactedText
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES
from airflow_common_ai.sanitizer import sanitize

__all__ = ["MAX_LINE_CHARS", "MAX_NAME_CHARS", "MAX_TEXT_CHARS", "StoredTexts"]

MAX_TEXT_CHARS = 500
MAX_NAME_CHARS = 120
MAX_LINE_CHARS = 4096
"""Of one line of a prompt."""

_MAX_REDACTED_CHARS = 4096
"""More than is kept of a sentence, so that no secret is cut in half before it is seen."""

_OWN_WORDS = frozenset(
    "retry fail default abstained unsure undecided unknown rules signals classifier llm repeat fallback_rules".split()
) | frozenset(DEFAULT_CATEGORIES)
"""What must survive where ``default`` is a registered password, or the record would lose its meaning."""


class StoredTexts:
    """Bounds, redacts and escapes the strings of one record; anything else is no text."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[tuple[str, int], RedactedText] = {}
        self.unknown = redactor.name("unknown")

    def text(self, value: object) -> RedactedText | None:
        """Return a sentence."""
        return self._shown(value, MAX_TEXT_CHARS)

    def line(self, value: object) -> RedactedText | None:
        """Return a line of a prompt."""
        return self._shown(value, MAX_LINE_CHARS)

    def name(self, value: object) -> RedactedText | None:
        """Return a word or a code."""
        return self._shown(value, MAX_NAME_CHARS)

    def _shown(self, value: object, max_chars: int) -> RedactedText | None:
        if not isinstance(value, str):
            return None
        if value in _OWN_WORDS:
            return self._redactor.name(value)
        if (value, max_chars) not in self._known:  # the attempts of a round repeat each other
            redacted = self._redactor.text(cut(value, _MAX_REDACTED_CHARS))
            self._known[value, max_chars] = sanitize(redacted, max_chars)
        return self._known[value, max_chars]
