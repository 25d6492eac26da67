"""How classes of the JVM are named, and how an exception prints itself: ``java.net.ConnectException: refused``."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["is_java_class", "printed_exceptions", "simple_name"]

_ROOTS = (
    "javax?|jakarta|jdk|sun|kotlin|akka|com|org|net|io|edu|gov|de|fr|eu|uk|ch|nl|ru|cn|jp|software|oracle|reactor"
    r"|shaded|okhttp3|retrofit2|feign|redis\.clients|kafka\.(?:common|server|zookeeper)"
)
"""First words of package names, with one package more below: ``io.UnsupportedOperation`` is Python's."""

_PATH = rf"(?:scala|(?:{_ROOTS})\.[a-z_][\w$]*+)(?:\.[a-z_][\w$]*+)*+\.[A-Z][\w$]*+"
_JAVA_CLASS = re.compile(_PATH)
_THROWABLE_WORDS = ("Exception", "Error", "Failure", "Throwable")
_PRINTED = re.compile(
    rf"""
      (?<![\w.$/@-])(?P<type>{_PATH})
      (?:\((?P<remote>{_PATH})\))?              # Hadoop: RemoteException(org.apache.hadoop.….StandbyException)
      (?:(?P<colon>:(?![\d/])\s?)|[;,.)\]"']*+\s*$)
    """,
    re.VERBOSE,
)
_NAMES_A_CLASS = re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError|ClassCastException): (?:class )?$")
"""What these print behind their colon is no exception that happened."""
_BEFORE_A_LONE_ONE = re.compile(r"(?:^|[:;=(\[>] ?|[Ee]xception )\W{0,3}$")


def simple_name(type_path: str) -> str:
    """Return the name of a class without packages and enclosing classes."""
    return type_path.rstrip("$").rpartition(".")[2].rpartition("$")[2]


def is_java_class(type_path: str) -> bool:
    """
    Whether a path is that of a class of the JVM.

    JPype puts the package in front once more: ``java.net.java.net.ConnectException``.
    """
    return _JAVA_CLASS.fullmatch(type_path) is not None


def printed_exceptions(line: str) -> Iterator[tuple[str, int]]:
    """Yield the class of each exception that a line prints, and where its message starts."""
    if not any(map(line.__contains__, _THROWABLE_WORDS)):
        return
    for match in _PRINTED.finditer(line):
        type_path, start = match["remote"] or match["type"], match.start()
        if not type_path.endswith(_THROWABLE_WORDS):
            continue
        if match["colon"] is not None or _is_alone(line, start):
            yield type_path, match.end()


def _is_alone(line: str, start: int) -> bool:
    """Whether a class without a message stands where an exception stands, not as the object of a sentence."""
    before = max(0, start - 40)
    return bool(_BEFORE_A_LONE_ONE.search(line, before, start)) and not _NAMES_A_CLASS.search(line, before, start)
