"""From ``pkg.mod:obj`` or ``path/to/file.py:obj`` to a retry policy."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from airflow.sdk.definitions.retry_policy import RetryPolicy

from airflow_common_ai.evidence.type_path import type_path
from airflow_common_ai.policies.policy_id import policy_id
from airflow_common_ai.sanitizer import sanitize

__all__ = ["PolicyNotLoaded", "identity_of", "load_policy"]

_FORM = "my_package.policies:careful or path/to/file.py:careful"
_FILE_MODULE = "policy_from_file_"
_MAX_LISTED = 8
_MAX_CHARS = 300


class PolicyNotLoaded(ValueError):
    """What is wrong with the name of a policy, and how to mend it."""


def load_policy(name: str, folder: Path | None = None) -> RetryPolicy:
    """
    Return the policy of that name.

    :param name: A module, or a file, and behind a colon what is in it: a policy, a class or a function that makes one
        without arguments.
    :param folder: What is searched for modules too, and is on the import path for nothing else; the working directory
        if ``None``.
    :raises PolicyNotLoaded: There is no such thing, it cannot be imported, or it is no policy.
    """
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise PolicyNotLoaded(f"--policy must be like {_FORM}, got {_shown(name)!r}.")
    with _on_import_path(_folders(place, folder or Path.cwd())):
        module = _module(place, folder or Path.cwd())
        return _made(_attribute(module, attribute, place), name)


def identity_of(policy: RetryPolicy, beside: str = "") -> str:
    """
    Return the name of a policy's class and a digest of its options and of the file that defines it.

    It is the same in every process, and another one where a decision may be another one because of what a user
    changed. What the file imports is not in it.

    :param beside: What else it decides by.
    """
    try:
        options = policy_id(policy)
    except Exception:  # noqa: BLE001 - a class with slots, or with options that cannot be compared
        options = type_path(type(policy))
    digest = hashlib.sha256(f"{options}\0{beside}".encode("utf-8", "replace"))
    module = sys.modules.get(type(policy).__module__)
    if file := getattr(module, "__file__", None):
        with suppress(OSError):
            digest.update(Path(file).read_bytes())
    return f"{type(policy).__name__}-{digest.hexdigest()[:8]}"


def _folders(place: str, folder: Path) -> list[str]:
    parent = [str((folder / place).resolve().parent)] if _is_file(place) else []
    return [*parent, str(folder)]


@contextmanager
def _on_import_path(folders: list[str]) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = folders
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _is_file(place: str) -> bool:
    return place.endswith(".py") or "/" in place


def _module(place: str, folder: Path) -> ModuleType:
    try:
        return _from_file((folder / place).resolve()) if _is_file(place) else importlib.import_module(place)
    except PolicyNotLoaded:
        raise
    except ModuleNotFoundError as error:
        if error.name and f"{place}.".startswith(f"{error.name}."):
            fix = f"Install the package, name the file (path/to/file.py:…), or run this where {place} is found."
            raise PolicyNotLoaded(f"there is no module {_shown(place)!r}. {fix}") from None
        raise PolicyNotLoaded(f"{_shown(place)} could not be imported: {_said(error)}. Install it.") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's module raises
        raise PolicyNotLoaded(f"{_shown(place)} could not be imported: {_said(error)}.") from None


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PolicyNotLoaded(f"there is no file {_shown(str(path))}. The form is {_FORM}.")
    name = _FILE_MODULE + "".join(char if char.isalnum() else "_" for char in path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PolicyNotLoaded(f"{_shown(str(path))} is no Python file. The form is {_FORM}.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for their own module
    spec.loader.exec_module(module)
    return module


def _attribute(module: ModuleType, attribute: str, place: str) -> object:
    found: object = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            there = ", ".join(_policies_in(module)) or "no policy at all"
            raise PolicyNotLoaded(f"{_shown(place)} has no {_shown(attribute)!r}; it has: {there}.") from None
    return found


def _policies_in(module: ModuleType) -> list[str]:
    public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    found = []
    for name in public:
        value = getattr(module, name, None)
        is_class = isinstance(value, type) and issubclass(value, RetryPolicy) and not inspect.isabstract(value)
        if is_class or isinstance(value, RetryPolicy):
            found.append(_shown(name))
    return found[:_MAX_LISTED]


def _made(found: object, name: str) -> RetryPolicy:
    made = found
    if not isinstance(found, RetryPolicy) and callable(found):
        if needed := _needed_arguments(found):
            raise PolicyNotLoaded(
                f"{_shown(name)} needs arguments: {', '.join(needed)}. Write a function without arguments that returns "
                f"the policy, and name that."
            )
        try:
            made = found()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
            raise PolicyNotLoaded(f"{_shown(name)} could not be made: {_said(error)}.") from None
    if not isinstance(made, RetryPolicy):
        what = "returned" if made is not found else "is"
        raise PolicyNotLoaded(
            f"{_shown(name)} must be a RetryPolicy, or a class or a function that makes one; it {what} "
            f"{_article(type(made).__name__)}."
        )
    return made


def _needed_arguments(function: object) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]  # it is callable
    except (TypeError, ValueError):  # something in C that does not say
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {_shown(name)}"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {_shown(str(error))}".rstrip(".")


def _shown(text: str) -> str:
    return sanitize(text, _MAX_CHARS)
