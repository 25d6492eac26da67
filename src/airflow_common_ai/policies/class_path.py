"""Check a dotted class path without importing it: importing a library to check its name would slow every parse."""

from __future__ import annotations

import ast
import logging
import re
import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path

from airflow_common_ai.evidence.type_path import type_path

__all__ = ["check_class_path", "loaded_class_path"]

log = logging.getLogger(__name__)

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")


@lru_cache(maxsize=1024)
def check_class_path(path: str) -> None:
    """
    Warn if the module of a class is not here, and refuse it if the module is here but has no such name.

    :raises ValueError: Not a dotted path, or the module has no such name.
    """
    if not _PATH.fullmatch(path):
        raise ValueError(f"a rule's exception must be a dotted path such as 'builtins.ValueError', got {path!r}.")
    module, attribute = _split(path)
    if module is None:
        log.warning(
            "The module of the exception %r in a retry rule is not installed here. If it is there on the worker, "
            "the rule works; else check it for typos.",
            path,
        )
    elif not _has_name(module, attribute):
        raise ValueError(f"module {module!r} has no {attribute!r}: check the exception {path!r} for typos.")
    elif _is_something_else(path):
        raise ValueError(f"a rule's exception must be an exception class, and {path!r} is none. Check it for typos.")


def _is_something_else(path: str) -> bool:
    """Whether a loaded module holds something under this name that nobody can raise."""
    module, _, name = path.rpartition(".")
    if module not in sys.modules or name not in vars(sys.modules[module]):
        return False
    found = vars(sys.modules[module])[name]
    return not (isinstance(found, type) and issubclass(found, BaseException))


def loaded_class_path(path: str) -> str:
    """Follow a re-export (``requests.HTTPError``) to where the class lives, if its module is loaded."""
    module, _, name = path.rpartition(".")
    found = vars(sys.modules[module]).get(name) if module in sys.modules else None
    return type_path(found) if isinstance(found, type) else path


def _split(path: str) -> tuple[str | None, str]:
    """Return the longest prefix that is a module here, and the first name after it."""
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        if module in sys.modules or _find(module) is not None:
            return module, parts[length]
    return None, path


def _find(module: str) -> ModuleSpec | None:
    """Like ``importlib.util.find_spec``, which would import the parent packages."""
    spec: ModuleSpec | None = None
    locations: list[str] | None = None
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        name = ".".join(parts[:length])
        specs = (finder.find_spec(name, locations) for finder in sys.meta_path)
        spec = next((found for found in specs if found is not None), None)
        if spec is None:
            return None
        locations = list(spec.submodule_search_locations or [])
    return spec


def _has_name(module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    if loaded is not None:
        # Asking a lazy module for the name would import what lies behind it.
        return name in vars(loaded) or "__getattr__" in vars(loaded)
    spec = _find(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return True  # compiled or built on the fly: only an import could tell
    try:
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    # Every name that is bound anywhere is accepted: this looks for typos, it does not run the module.
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
    is_lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
    return is_lazy or "*" in names or "globals" in names or name in names
