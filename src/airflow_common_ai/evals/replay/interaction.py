"""One request and its response as a file keeps them. Without vcrpy: who only hands them on need not load it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Interaction", "is_interaction"]

Interaction = dict[str, Any]
"""A request and its response, as vcrpy stores them."""


def is_interaction(value: object) -> bool:
    """Whether a value from a file can be replayed."""
    if not isinstance(value, Mapping):
        return False
    request, response = value.get("request"), value.get("response")
    return (
        isinstance(request, Mapping)
        and isinstance(response, Mapping)
        and isinstance(request.get("uri"), str)
        and isinstance(request.get("method"), str)
        and isinstance(request.get("headers"), Mapping)
        and isinstance(response.get("headers"), Mapping)
        and isinstance(response.get("status"), Mapping)
        and isinstance(response["status"].get("code"), int)
        and isinstance(response.get("body"), Mapping)
    )
