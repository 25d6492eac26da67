"""Words that several scripts put on their cases."""

from __future__ import annotations

__all__ = ["FROM_TEXT", "WRONG_READING"]

WRONG_READING = "obvious-reading-is-wrong"
"""Who reads the class or the first words only would decide wrongly: a 403 that is a rate limit."""
FROM_TEXT = "from-text"
"""The cause is in words only: no code, no status, no class of its own."""
