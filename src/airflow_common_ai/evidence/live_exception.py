"""Read a live exception without trusting it.

Its class may be anybody's: ``__str__`` may raise or answer with something that is no string, attributes may be
properties that raise or mocks that answer everything, the class may lie about its name. So types are asked
with ``type``, slots are read past the class, and every value that comes out is a plain built-in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar, cast

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Edge, Fact
from airflow_common_ai.evidence.protocols import probe

__all__ = ["MAX_LINKS", "facts_of", "guarded", "links_of", "message_of", "notes_of"]

T = TypeVar("T")

MAX_LINKS = 256
"""Exceptions that are looked at below one exception."""
_MAX_ITEMS = 64
"""Members, arguments and attributes that are looked at: a group may have a million members."""
_MAX_FACTS = 64
_MAX_FACT_NAME_CHARS = 100
_MAX_INTEGER = 2**63
"""What a date in nanoseconds needs. JSON readers elsewhere choke on more, and ``int`` itself on 4,300 digits."""

_HIDING_PLACES: Mapping[str, Edge] = {
    "exceptions": Edge.MEMBER,  # groups, and what looks like one
    "orig": Edge.WRAPPED,  # sqlalchemy.exc.DBAPIError
    "original_error": Edge.WRAPPED,  # opensearch-py and other SDKs
    "reason": Edge.WRAPPED,  # urllib3.exceptions.MaxRetryError, urllib.error.URLError
    "cause": Edge.WRAPPED,  # google.api_core.exceptions.RetryError
    "_cause": Edge.WRAPPED,
    "inner_exception": Edge.WRAPPED,  # azure.core.exceptions.AzureError
    "errors": Edge.WRAPPED,  # elastic_transport.TransportError, paramiko NoValidConnectionsError
}
"""Attributes in which libraries keep an exception. They are asked by name since some are properties or slots;
whatever else the instance itself holds is found in its ``__dict__``."""

_IMPLICIT_ATTRIBUTE = "exc_value"
"""azure.core fills it with what was being handled at the time, as ``__context__``: nobody said *because*."""

_CONTAINERS: Mapping[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    dict: dict.values,
}
_STR_FAILED = "<exception str() failed>"
"""The interpreter's own words for it."""
_exception_slots = vars(BaseException)
_short_repr = Repr()
_short_repr.maxstring = _short_repr.maxother = 2048


def guarded(read: Callable[[], T], default: T) -> T:
    """Return what ``read`` returns; ``default`` if it raises anything but a wish to stop the process."""
    try:
        return read()
    except (KeyboardInterrupt, SystemExit):
        # Also if the stranger raised it: the handler of a signal raises in whatever frame is running, so that one
        # cannot be told from the other, and a task that cannot be stopped is worse than a failure without a decision.
        raise
    except BaseException:  # noqa: BLE001 - a stranger's property may raise anything
        return default


def plain_text(text: str) -> str:
    """Return a real ``str`` out of a subclass, whatever its methods do."""
    return str.__str__(text)


def message_of(exception: BaseException, limit_chars: int) -> str:
    """Return ``str(exception)``, or its arguments where that says nothing or fails; cut if it is too long."""
    if type(exception) is ExceptionGroup or type(exception) is BaseExceptionGroup:
        return _group_message(exception, limit_chars)
    return cut(_message(exception), limit_chars)


def _group_message(group: BaseExceptionGroup[Any], limit_chars: int) -> str:
    """Return what ``str`` would, without a copy of all that was said."""
    count = len(group.exceptions)
    members = f" ({count} sub-exception{'s' if count > 1 else ''})"
    return f"{cut(plain_text(group.message), limit_chars - len(members))}{members}"


def _message(exception: BaseException) -> str:
    message = guarded(lambda: plain_text(str(exception)), None)
    arguments = _arguments_of(exception)
    if message or not arguments:
        return _STR_FAILED if message is None else message
    if len(arguments) == 1 and issubclass(type(arguments[0]), str):
        return plain_text(cast(str, arguments[0]))
    shown = guarded(lambda: plain_text(_short_repr.repr(arguments)), "")
    return shown or (_STR_FAILED if message is None else message)


def notes_of(exception: BaseException) -> Iterator[str]:
    """Yield the notes that are strings."""
    notes = _attribute(exception, "__notes__")
    for note in (notes, *_items_of(notes)):
        if issubclass(type(note), str):
            yield plain_text(cast(str, note))


def facts_of(exception: BaseException) -> dict[str, Fact]:
    """Return what the protocols find on the exception, each value as the plain type that it claims to be."""
    nothing: dict[str, Fact] = {}
    found = guarded(lambda: dict(probe(exception)), nothing)
    facts: dict[str, Fact] = {}
    for name, value in islice(found.items(), _MAX_FACTS):
        plain = _plain_fact(value)
        if plain is not None:
            facts[cut(plain_text(name), _MAX_FACT_NAME_CHARS)] = plain
    return facts


def links_of(exception: BaseException) -> list[tuple[Edge, BaseException]]:
    """Return the exceptions that hang on this one, in each kind of edge the plainest statement first."""
    links: list[tuple[Edge, BaseException]] = []
    # Extended in place, so that what was found stays if something on the way raises.
    guarded(lambda: links.extend(islice(_links_of(exception), MAX_LINKS)), None)
    return links


def _links_of(exception: BaseException) -> Iterator[tuple[Edge, BaseException]]:
    held = _instance_dict(exception)
    for context in (_slot(exception, "__context__"), held.get(_IMPLICIT_ATTRIBUTE)):
        for handled in _exceptions_in(context):
            yield Edge.CONTEXT, handled
    for cause in _exceptions_in(_slot(exception, "__cause__")):
        yield Edge.CAUSE, cause
    for name, edge in _HIDING_PLACES.items():
        for hidden in _exceptions_in(_attribute(exception, name)):
            yield edge, hidden
    # tenacity.RetryError. The future itself is not asked for its exception, since that may wait.
    for hidden in _exceptions_in(_instance_dict(_attribute(exception, "last_attempt")).get("_exception")):
        yield Edge.WRAPPED, hidden
    for name, value in islice(held.items(), _MAX_ITEMS):
        if name != _IMPLICIT_ATTRIBUTE:
            for hidden in _exceptions_in(value):
                yield Edge.WRAPPED, hidden
    for argument in _arguments_of(exception)[:_MAX_ITEMS]:
        for hidden in _exceptions_in(argument):
            yield Edge.WRAPPED, hidden


def _exceptions_in(value: object) -> Sequence[BaseException]:
    """Return ``value`` if it is an exception, or the exceptions directly inside it if it is a container."""
    if value is None:  # as most attributes
        return ()
    # By `type`, since `isinstance` believes a mock's `__class__`.
    if issubclass(type(value), BaseException):
        return [cast(BaseException, value), *_exceptions_among(_items_of(value))]
    return _exceptions_among(_items_of(value))


def _exceptions_among(items: Iterable[object]) -> list[BaseException]:
    return [cast(BaseException, item) for item in items if issubclass(type(item), BaseException)]


def _items_of(value: object) -> Iterable[object]:
    """Return the first entries of a built-in container, past whatever its class has made of iteration."""
    kind = type(value)
    if value is None or kind is str or kind is int:
        return ()
    for container, entries in _CONTAINERS.items():
        if issubclass(kind, container):
            return islice(entries(value), _MAX_ITEMS)
    return ()


def _attribute(value: object, name: str) -> object:
    return guarded(lambda: getattr(value, name, None), None)


def _slot(exception: BaseException, name: str) -> Any:
    """Return what the interpreter keeps in the exception, whatever its class says."""
    return guarded(lambda: _exception_slots[name].__get__(exception), None)


def _instance_dict(value: object) -> dict[str, object]:
    held = guarded(lambda: object.__getattribute__(value, "__dict__"), None)
    return held if type(held) is dict else {}


def _arguments_of(exception: BaseException) -> tuple[object, ...]:
    return _slot(exception, "args") or ()


def _plain_fact(value: object) -> Fact | None:
    """Return an exact ``bool``, ``int``, ``float`` or ``str`` out of a value or an enum's member, else ``None``."""
    if type(value) is bool:
        return value
    if issubclass(type(value), int):
        number = int.__int__(cast(int, value))
        return number if abs(number) <= _MAX_INTEGER else None
    if issubclass(type(value), float):
        real = float.__float__(cast(float, value))
        return real if math.isfinite(real) else None
    return plain_text(cast(str, value)) if issubclass(type(value), str) else None
