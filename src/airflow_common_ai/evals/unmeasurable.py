"""That nothing can be said, which is neither a pass nor a failure."""

from __future__ import annotations

__all__ = ["Unmeasurable"]


class Unmeasurable(Exception):
    """A run does not allow the measurement; the text says why. Commands exit with 3."""
