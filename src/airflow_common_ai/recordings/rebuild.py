"""From a recording back to an exception object, so that any retry policy can be asked about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from types import BuiltinFunctionType
from typing import cast

from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode, root_of
from airflow_common_ai.recordings.attributes import restore_attributes
from airflow_common_ai.recordings.class_of import ALLOWED_PACKAGES, class_of, speaking, stand_in

__all__ = ["rebuild"]

_REASON_ATTRIBUTE = {"sqlalchemy": "orig", "urllib": "reason", "urllib3": "reason", "opensearchpy": "original_error"}
"""Where libraries keep the exception that they wrap; by top package."""
_GROUP_SIZE = re.compile(r" \(\d+ sub-exceptions?\)$")
_exception_slots = vars(BaseException)


def rebuild(evidence: RedactedEvidence, *, allow_import: Collection[str] = ()) -> BaseException:
    """
    Return an exception that looks like the recorded one.

    Its message, notes, causes, contexts, members and wrapped exceptions are restored, and of its attributes what the
    recording has facts about. No ``__init__`` is ever called. What was read from texts is in these texts still; what
    a failed trigger raised hangs on nothing, as in Airflow.

    :param allow_import: Packages that may be imported to have their classes, beside those on the list.
    """
    allowed = ALLOWED_PACKAGES.union(allow_import)
    built: dict[int, BaseException] = {}
    for index in reversed(range(len(evidence.nodes))):  # a group needs its members when it is made
        node = evidence.nodes[index]
        children = [
            (child.edge, built[at]) for at, child in enumerate(evidence.nodes) if child.parent == index and at > index
        ]
        built[index] = _rebuilt(node, children, allowed)
    return built[0]


def _rebuilt(
    node: RedactedNode, children: Sequence[tuple[Edge, BaseException]], allowed: Collection[str]
) -> BaseException:
    for cls in _classes(node, allowed):
        exception = _made(cls, node, children)
        if exception is not None and _said(exception) == node.message:
            return exception
    return Exception(node.message)


def _classes(node: RedactedNode, allowed: Collection[str]) -> Iterator[type[BaseException]]:
    """Yield the class, and others for the case that its objects cannot be made or print something else by now."""
    for cls in (class_of(node.type_path, node.base_paths, allowed), stand_in(node.type_path, ("builtins.Exception",))):
        yield cls
        with suppress(Exception):  # what a class does when others derive from it
            yield speaking(cls, node.message)


def _made(
    cls: type[BaseException], node: RedactedNode, children: Sequence[tuple[Edge, BaseException]]
) -> BaseException | None:
    members = [child for edge, child in children if edge is Edge.MEMBER]
    exception = _without_init(cls, node.message, members)
    if exception is None:
        return None
    restore_attributes(exception, node)
    for edge, child in children:
        if edge is Edge.CAUSE:
            _set(exception, "__cause__", child)
        elif edge is Edge.CONTEXT and exception.__context__ is None:
            _set(exception, "__context__", child)
        elif edge is Edge.WRAPPED:
            _wrap(exception, child, node)
    if members and not isinstance(exception, BaseExceptionGroup):
        vars(exception).setdefault("exceptions", members)
    if node.notes:
        vars(exception)["__notes__"] = list(node.notes)
    return exception


def _without_init(cls: type[BaseException], message: str, members: list[BaseException]) -> BaseException | None:
    """Return a bare object, for which nothing but the interpreter and C libraries ran; ``None`` if that fails."""
    is_group = issubclass(cls, BaseExceptionGroup)
    arguments = (_GROUP_SIZE.sub("", message), members) if is_group else ()
    for base in cls.__mro__:
        new = vars(base).get("__new__")
        if isinstance(new, BuiltinFunctionType):
            with suppress(TypeError, ValueError):
                exception = cast(BaseException, new(cls, *arguments))
                if not is_group:
                    _set(exception, "args", _arguments(cls, message))
                return exception
    return None


def _set(exception: BaseException, slot: str, value: object) -> None:
    """Set what the interpreter keeps in every exception, past whatever its class does when it is assigned to."""
    _exception_slots[slot].__set__(exception, value)


def _arguments(cls: type[BaseException], message: str) -> tuple[object, ...]:
    """Return the arguments that print as the message."""
    if not message:
        return ()
    if message.startswith("(") or issubclass(cls, KeyError):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = ast.literal_eval(message)
            if isinstance(value, tuple) and str(value) == message:
                return value
            if isinstance(value, str) and issubclass(cls, KeyError):
                return (value,)
    return (message,)


def _wrap(exception: BaseException, child: BaseException, node: RedactedNode) -> None:
    if node.message == _said(child) and not isinstance(exception, BaseExceptionGroup):
        _set(exception, "args", (child,))  # it prints as what it wraps
        return
    held = vars(exception)
    name = _REASON_ATTRIBUTE.get(root_of(node.type_path), "reason")
    held[name if name not in held else f"wrapped_{len(held)}"] = child


def _said(exception: BaseException) -> str | None:
    try:
        return str(exception)
    except Exception:  # noqa: BLE001 - a class's own way to print may miss what `__init__` would have set
        return None
