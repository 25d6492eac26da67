"""The name of a class, as the interpreter has it."""

from __future__ import annotations

import builtins

from airflow_common_ai.evidence.cut import cut

__all__ = ["base_paths", "built_in_name", "type_path"]

_MAX_PATH_CHARS = 300
_MAX_BASES = 32
# Read past the metaclass, which may have made properties of these.
_slots = vars(type)


def type_path(cls: type) -> str:
    """Return ``module.Class``, e.g. ``builtins.ValueError``; without the module if that is not a string."""
    path = str.__str__(_slots["__qualname__"].__get__(cls))
    try:
        module = _slots["__module__"].__get__(cls)
    except AttributeError:
        module = None
    if issubclass(type(module), str):
        path = f"{str.__str__(module)}.{path}"
    return cut(path, _MAX_PATH_CHARS)


def built_in_name(error: BaseException) -> str:
    """Return the class's name if it is built-in, else its nearest built-in base's: a name made at run time may hold
    anything, and reading it may run a stranger's code."""
    bases = _slots["__mro__"].__get__(type(error))
    return next(str(_slots["__name__"].__get__(cls)) for cls in bases if _is_built_in(cls))


def _is_built_in(cls: type) -> bool:
    return getattr(builtins, _slots["__name__"].__get__(cls), None) is cls


def base_paths(cls: type) -> tuple[str, ...]:
    """Return the paths of the bases in method resolution order, without the class itself and ``object``."""
    bases = [base for base in _slots["__mro__"].__get__(cls) if base is not cls and base is not object]
    if len(bases) > _MAX_BASES:
        # The far end is the built-in side, such as OSError: never lose that.
        bases = bases[: _MAX_BASES // 2] + bases[-_MAX_BASES // 2 :]
    return tuple(type_path(base) for base in bases)
