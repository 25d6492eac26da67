"""Exceptions with the path, the bases and the attributes of classes whose libraries are not installed here.

What they keep where was read in the libraries' code, in the version that the test names.
"""

from __future__ import annotations


def stand_in(type_path: str, *arguments: object, bases: tuple[str, ...] = (), **attributes: object) -> Exception:
    """Return an exception that was raised; ``bases`` are paths in method resolution order."""
    cls: type[Exception] = Exception
    for path in (*reversed(bases), type_path):
        module, _, name = path.rpartition(".")
        cls = type(name, (cls,), {"__module__": module})
    error = cls(*arguments)
    for name, value in attributes.items():
        setattr(error, name, value)
    return raised(error)


def raised(error: Exception) -> Exception:
    """Return the exception with the traceback that it has in life, and in a log."""
    try:
        raise error
    except Exception as caught:
        return caught
