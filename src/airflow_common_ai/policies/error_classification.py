"""A classification in the Common AI provider's terms, for code that was written against it."""

from __future__ import annotations

from pydantic import BaseModel

__all__ = ["ErrorClassification"]


class ErrorClassification(BaseModel):
    """
    What a failure is and what to do about it, as the Common AI provider's model of the same name has it.

    Not what goes over the wire: :class:`LLMRetryPolicy` asks a closed, bounded question of its own.
    """

    category: str
    """The category's name, e.g. ``rate_limit``."""
    should_retry: bool
    """Whether another try is worth it."""
    suggested_delay_seconds: int = 0
    """Seconds to wait before it; 0 for none."""
    reasoning: str
    """Why, in a sentence."""
