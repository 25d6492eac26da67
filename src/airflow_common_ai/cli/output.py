"""What a command prints: lines for people that cannot act on a terminal, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

import typer

from airflow_common_ai.sanitizer import sanitize

__all__ = ["print_error", "print_json", "print_lines"]


def print_lines(lines: Iterable[str], *, to_error: bool = False) -> None:
    """Print lines; a line break that one begins with makes an empty line before it."""
    for line in lines:
        text = line.removeprefix("\n")
        _print(("\n" if text != line else "") + sanitize(text), to_error=to_error)


def print_json(value: object) -> None:
    _print(json.dumps(value, indent=2), to_error=False)


def print_error(command: str, words: object) -> None:
    """Say on standard error what went wrong with a command."""
    _print(f"airflow-common-ai {command}: {sanitize(str(words))}", to_error=True)


def _print(text: str, *, to_error: bool) -> None:
    encoding = getattr(sys.stderr if to_error else sys.stdout, "encoding", None) or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=to_error)
