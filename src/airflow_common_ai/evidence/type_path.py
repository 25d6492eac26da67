"""The name of a class, as the interpreter has it."""

from __future__ import annotations

from airflow_common_ai.evidence.cut import cut

__all__ = ["base_paths", "type_path"]

_MAX_PATH_CHARS = 300
_MAX_BASES = 32
# Read past the metaclass, which may have made properties of these.
_slots = vars(type)


def type_path(cls: type) -> str:
    """Return ``module.Class``, e.g. ``builtins.ValueError``; without the module if that is not a string."""
    name = cut(str.__str__(_slots["__qualname__"].__get__(cls)), _MAX_PATH_CHARS)
    try:
        module = _slots["__module__"].__get__(cls)
    except AttributeError:
        return name
    if not issubclass(type(module), str):
        return name
    return cut(f"{cut(str.__str__(module), _MAX_PATH_CHARS)}.{name}", _MAX_PATH_CHARS)


def base_paths(cls: type) -> tuple[str, ...]:
    """Return the paths of the bases in method resolution order, without the class itself and ``object``."""
    bases = [base for base in _slots["__mro__"].__get__(cls) if base is not cls and base is not object]
    if len(bases) > _MAX_BASES:
        # The far end is the built-in side, such as OSError: never lose that.
        bases = bases[: _MAX_BASES // 2] + bases[-_MAX_BASES // 2 :]
    return tuple(type_path(base) for base in bases)
