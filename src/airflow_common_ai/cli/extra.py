"""What evaluation needs beside the package, and what to do where it is missing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import typer

__all__ = ["require_evals"]

_DISTRIBUTIONS: Mapping[str, str] = {
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "vcr": "vcrpy",
}
"""Of the extra ``[evals]``, by what is imported."""


def require_evals(command: str, *modules: str) -> None:
    """
    End the command with exit code 2 where a library of the extra ``[evals]`` is missing. Imports none of them.

    :param command: As it was called, e.g. ``score``.
    :param modules: What it imports, e.g. ``scipy``; everything in the extra if none is named.
    """
    missing = [_DISTRIBUTIONS[module] for module in modules or _DISTRIBUTIONS if find_spec(module) is None]
    if missing:
        needs = ", ".join(missing)
        typer.echo(
            f"airflow-common-ai {command}: needs {needs}. Install the extra: pip install 'airflow-common-ai[evals]'",
            err=True,
        )
        raise typer.Exit(2)
