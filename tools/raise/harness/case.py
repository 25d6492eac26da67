"""One failure to be raised, and what came of it."""

from __future__ import annotations

import asyncio
import inspect
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.type_path import type_path
from harness.canary import holds_canary
from harness.own_environment import own_environment, own_folder, without_output
from harness.own_names import without_own_names
from harness.servers import Server
from harness.time_limit import CaseTimeout, time_limit

__all__ = ["Case", "Caught", "Failed", "slug_of"]

_MISTAKES = (NameError, AttributeError, TypeError, ImportError, AssertionError)
"""What a mistake in the script itself raises; a case that means it says so with ``raises``."""


@dataclass(frozen=True)
class Case:
    """A function that raises, and what its script says about it."""

    title: str
    function: Callable[..., Any]
    library: str
    tags: tuple[str, ...]
    raises: tuple[str, ...]
    is_wire_form: bool
    wrapped_by: str | None
    limit_s: float

    @property
    def slug(self) -> str:
        return slug_of(self.title)

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers that the function asks for."""
        return tuple(
            name
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.default is inspect.Parameter.empty
        )


@dataclass(frozen=True)
class Caught:
    """What a case raised."""

    evidence: RedactedEvidence
    has_met_canary: bool
    """The secret was in what was raised, and the wall took it out."""


@dataclass(frozen=True)
class Failed:
    """Why there is nothing to record: a fault of the script, or of the wall."""

    why: str


def slug_of(title: str) -> str:
    """Return a title as it stands in an id."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def run(case: Case, servers: Mapping[str, Server]) -> Caught | Failed:
    """Run a case in an empty folder of its own, and return what it raised."""
    with own_folder() as work, own_environment(home=work):
        try:
            with without_output(), time_limit(case.limit_s):
                _call(partial(case.function, **{name: servers[name] for name in case.servers}))
        except CaseTimeout:
            return Failed(_too_slow(case))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what this is for
            if not _is_meant(error, case.raises):
                return Failed(f"raised {type(error).__module__}.{type(error).__qualname__}: {_one_line(error)}")
            caught = _caught(error, work)
            return Failed(_too_slow(case)) if _holds_timeout(caught) else caught
        return Failed("raised nothing")


def _call(function: Callable[[], Any]) -> None:
    result = function()
    if inspect.iscoroutine(result):
        asyncio.run(result)


def _is_meant(error: BaseException, raises: tuple[str, ...]) -> bool:
    if not raises:
        return not isinstance(error, _MISTAKES)
    return any(cls.__name__ in raises for cls in type(error).__mro__)


def _caught(error: BaseException, work: Path) -> Caught | Failed:
    seen = collect(error, observed_at=datetime.now(UTC).replace(microsecond=0))
    evidence = Redactor(extra=partial(without_own_names, work=work)).redact(seen)
    shown = repr(evidence.to_json())
    if holds_canary(shown):
        return Failed("the canary came through the redaction wall: tell who looks after it, and do not record this")
    if "[withheld:" in shown:
        return Failed("the redaction wall withheld a text: one of the filters raised")
    return Caught(evidence, has_met_canary=holds_canary(repr(seen.nodes)))


def _holds_timeout(caught: Caught | Failed) -> bool:
    """Whether a library put its own exception around ours."""
    own = type_path(CaseTimeout)
    return isinstance(caught, Caught) and any(node.type_path == own for node in caught.evidence.nodes)


def _too_slow(case: Case) -> str:
    return f"took longer than {case.limit_s:g} s"


def _one_line(error: BaseException) -> str:
    return " ".join(Redactor().text(str(error)).split())[:200]
