"""The class of a recorded exception: the real one where it is safe to have it, else a stand-in of the same name.

A corpus may come from anybody, so a name in it never makes this process import what it would not import anyway: a real
class is taken from a module that is loaded already, or that belongs to a package on the list below.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress

__all__ = ["ALLOWED_PACKAGES", "class_of", "speaking", "stand_in"]

ALLOWED_PACKAGES = frozenset({
    "aiohttp", "airflow.exceptions", "airflow.sdk.exceptions", "anthropic", "asyncio", "azure.core", "boto3",
    "botocore", "concurrent", "csv", "databricks", "docker", "duckdb", "elastic_transport", "elasticsearch",
    "google.api_core", "google.auth", "grpc", "http", "httpcore", "httpx", "json", "kubernetes", "mysql", "openai",
    "paramiko", "psycopg", "psycopg2", "pymongo", "pymysql", "redis", "requests", "smtplib", "socket", "sqlalchemy",
    "sqlite3", "ssl", "subprocess", "tenacity", "urllib", "urllib3", "zipfile",
})  # fmt: skip
"""Client libraries whose modules do nothing but define things when they are imported."""

_NEVER = "__main__"
"""Another program's ``__main__`` is not ours."""

_stand_ins: dict[tuple[str, tuple[str, ...], frozenset[str]], type[BaseException]] = {}
"""Each made once, so that two recordings of one class are of one class."""


def class_of(
    type_path: str, base_paths: tuple[str, ...] = (), allowed: Collection[str] = ALLOWED_PACKAGES
) -> type[BaseException]:
    """
    Return a class that lives at ``type_path`` as far as anybody can see.

    :param base_paths: Its bases in method resolution order, for a stand-in.
    :param allowed: Packages, with dots or without, that may be imported.
    """
    return _real(type_path, allowed) or stand_in(type_path, base_paths, allowed)


def stand_in(type_path: str, base_paths: tuple[str, ...], allowed: Collection[str] = ()) -> type[BaseException]:
    """Return a class of that name, with real bases where they can be had and empty ones in the place of others."""
    key = (type_path, base_paths, frozenset(allowed))
    if key not in _stand_ins:
        _stand_ins[key] = _made(type_path, _bases(base_paths, allowed))
    return _stand_ins[key]


def speaking(cls: type[BaseException], message: str) -> type[BaseException]:
    """Return the class once more, with ``message`` for what it prints."""
    members = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__str__": lambda self: message}
    # Not `type(cls)(…)`: google-api-core's metaclass would hand the new class to whoever meets the same status.
    return type.__new__(type(cls), cls.__name__, (cls,), members)


def _real(type_path: str, allowed: Collection[str]) -> type[BaseException] | None:
    for module_name, qualified_name in _splits(type_path):
        module = sys.modules.get(module_name)
        if module is None and _is_allowed(module_name, allowed):
            with suppress(Exception):  # whatever a half-installed library raises while it is imported
                module = importlib.import_module(module_name)
        found: object = module
        for part in qualified_name.split("."):
            # Past `__getattr__`: a lazy module would import more.
            found = getattr(found, "__dict__", {}).get(part)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return None


def _splits(type_path: str) -> Iterator[tuple[str, str]]:
    """Yield module and name, the longest module first."""
    parts = type_path.split(".")
    if parts[0] == _NEVER:
        return
    for at in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:at]), ".".join(parts[at:])


def _is_allowed(module: str, allowed: Collection[str]) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in allowed)


def _bases(base_paths: tuple[str, ...], allowed: Collection[str]) -> list[type]:
    bases: list[type] = []
    for path in base_paths:
        real = _real(path, allowed)
        if real is None:
            bases.append(_named(path, ()))
        elif not any(issubclass(base, real) for base in bases):
            bases.append(real)
    return bases


def _made(type_path: str, bases: list[type]) -> type[BaseException]:
    """Return a class with these bases; with fewer, if they do not go together."""
    while any(issubclass(base, BaseException) for base in bases):
        with suppress(TypeError):
            return _named(type_path, tuple(bases))
        bases = bases[:-1]
    return _named(type_path, (*bases, Exception))


def _named(type_path: str, bases: tuple[type, ...]) -> type:
    path = type_path.encode("utf-8", "replace").decode().replace("\0", "")
    module, _, name = path.rpartition(".")
    return type(name, bases, {"__module__": module or "builtins", "__qualname__": name})
