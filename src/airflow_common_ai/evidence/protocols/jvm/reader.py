"""Exceptions of Java and Scala: printed by Spark, Hadoop and JDBC into other messages, or passed on by a bridge.

What the message says outright goes before the class (:mod:`.jvm_messages`), the classes are :mod:`.jvm_classes` and
:mod:`.jvm_frameworks`. A class that fails the task is believed only where its message is its own: one that begins
with another exception was made around it, and anybody may raise ``IllegalArgumentException`` over a lost connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.logs.java_names import is_java_class, printed_exceptions, simple_name
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.http.words import kind_of_code
from airflow_common_ai.evidence.protocols.jvm.classes import PLATFORM_ROWS, JvmRow
from airflow_common_ai.evidence.protocols.jvm.frameworks import FRAMEWORK_ROWS
from airflow_common_ai.evidence.protocols.jvm.messages import read_message
from airflow_common_ai.evidence.protocols.text import reader as text

__all__ = ["probe", "read"]

_Found = tuple[str, Signal]
"""Package and what it says."""

_MAX_CAUSES = 16
_MAX_TYPE_CHARS = 300
_MAX_MESSAGE_CHARS = 1024
_FROM_OUTSIDE = ("network", "transient", "rate_limit")


def _by_name(rows: tuple[JvmRow, ...]) -> dict[str, list[_Found]]:
    table: dict[str, list[_Found]] = {}
    for package, names, meaning in rows:
        for name in names.split():
            table.setdefault(name, []).append((package, meaning.signal(f"jvm.{name}", Rank.CLASS)))
    return table


_CLASSES: Mapping[str, list[_Found]] = _by_name((*PLATFORM_ROWS, *FRAMEWORK_ROWS))


def probe(exception: BaseException) -> dict[str, Fact]:
    """
    Copy the innermost failure that Trino and Presto send along, as its Java class and its message.

    A Java exception behind a bridge such as Py4J's is not asked: it lives in another process, which may have died.
    """
    error = vars(exception).get("_error")
    failure = error.get("failureInfo") if isinstance(error, dict) else None
    for _ in range(_MAX_CAUSES):
        if not isinstance(failure, dict) or not isinstance(failure.get("cause"), dict):
            break
        failure = failure["cause"]
    if not isinstance(failure, dict) or not isinstance(failure.get("type"), str):
        return {}
    message = failure.get("message")
    return {
        "jvm.class": cut(failure["type"], _MAX_TYPE_CHARS),
        "jvm.message": cut(message, _MAX_MESSAGE_CHARS) if isinstance(message, str) else "",
    }


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what a Java exception's message or class says."""
    if type_path := node.text_of("jvm.class"):
        node = replace(node, type_path=type_path, base_paths=(), message=node.text_of("jvm.message"))
    is_java = is_java_class(node.type_path)
    if is_java and (found := tuple(read_message(node, observed_at))):
        yield from found
        return
    signal = _class_signal(node) or (_guess(node) if is_java else None)
    if signal is not None:
        yield replace(signal, strength=Strength.HINT) if _is_doubtful(signal, node, observed_at) else signal


def _class_signal(node: RedactedNode) -> Signal | None:
    if signal := _find(node.type_path):
        return signal
    if node.from_text and "." not in node.type_path:
        return _find_by_name(node.type_path)
    # JPype passes Java's own classes on, with their bases.
    inherited = next(filter(None, map(_find, node.base_paths)), None)
    if inherited is not None and inherited.retry is Retry.NO:
        return replace(inherited, strength=Strength.HINT)
    return inherited


def _find(type_path: str) -> Signal | None:
    path = f".{type_path}"
    return next(
        (signal for package, signal in _CLASSES.get(simple_name(type_path), ()) if f".{package}." in path), None
    )


def _find_by_name(name: str) -> Signal | None:
    """Return what a class says of which a log printed only the name, if all classes of this name say the same."""
    signals = [signal for _, signal in _CLASSES.get(name, ())]
    return signals[0] if len({signal.retry for signal in signals}) == 1 else None


def _guess(node: RedactedNode) -> Signal | None:
    """Return what the words in the name of an unknown class hint at: ``…TimeoutException``, ``…NotFoundException``."""
    name = simple_name(node.type_path)
    kind = kind_of_code(name.removesuffix("Exception").removesuffix("Error"))
    return None if kind is None else hint(kind.meaning).signal(f"jvm.{kind.name}", Rank.CLASS)


def _is_doubtful(signal: Signal, node: RedactedNode, observed_at: datetime) -> bool:
    if signal.retry is not Retry.NO:
        return False
    is_wrapper = next(printed_exceptions(node.message.partition("\n")[0]), None) is not None
    return is_wrapper or any(
        said.retry is not Retry.NO and said.category in _FROM_OUTSIDE for said in text.read(node, observed_at)
    )
