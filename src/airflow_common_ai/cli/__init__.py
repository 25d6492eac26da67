"""The ``airflow-common-ai`` command."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command; the entry point of the package."""
    from airflow_common_ai.cli.app import app

    app()
