"""How much of the path of a class was written in source, and not put together at run time.

``type(secret, (Exception,), {})`` gives a class any name, and a printed traceback may hold any. What can be found
under its path in a module was named by whoever wrote that module. Nothing is imported to find out.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec

__all__ = ["written_part"]

_class_dict = vars(type)["__dict__"]


def written_part(path: str) -> str:
    """Return what of ``module.Class`` is known to be from source: all of it, ``module.``, or nothing."""
    parts = path.split(".")
    if len(parts) == 1:
        return path if _holds_class(vars(builtins), parts) else ""
    for width in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:width]))
        if module is not None and _holds_class(_members(module), parts[width:]):
            return path
    return path[: -len(parts[-1])] if parts[0] in sys.modules or _is_installed(parts[0]) else ""


def _holds_class(members: Mapping[str, object], names: Sequence[str]) -> bool:
    for name in names:
        found = members.get(name)
        if not issubclass(type(found), type):
            return False
        members = _class_dict.__get__(found)
    return True


def _members(module: object) -> Mapping[str, object]:
    """Return what is in a module, without asking it: a lazy one would import."""
    try:
        members: object = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return members if type(members) is dict else {}


@lru_cache(maxsize=256)
def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False
