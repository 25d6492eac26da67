"""The commands and their options. What they do is imported when they run: ``--help`` must be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airflow_common_ai import __version__

app = typer.Typer(
    name="airflow-common-ai",
    help="Retries for Apache Airflow that know why a task failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"airflow-common-ai {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Retries for Apache Airflow that know why a task failed."""


@app.command()
def explain(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A traceback or an Airflow task log, also as .gz; - is standard input."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    try_number: Annotated[int, typer.Option(min=1, help="The try that failed.")] = 1,
    retries: Annotated[int, typer.Option(min=0, help="The task's retries.")] = 3,
    retry_delay: Annotated[float, typer.Option(min=0, max=31_536_000, help="The task's retry_delay in seconds.")] = 300,
) -> None:
    """
    Show what EvidenceRetryPolicy would decide about a failure, and why.

    Exit code 0 if a failure was found and judged, 2 if there is nothing to read.
    """
    from airflow_common_ai.cli.explain import explain as run
    from airflow_common_ai.cli.failure_input import UnreadableInput

    try:
        typer.echo(run(source, as_json=as_json, try_number=try_number, retries=retries, retry_delay_s=retry_delay))
    except UnreadableInput as error:
        typer.echo(f"airflow-common-ai explain: {error}", err=True)
        raise typer.Exit(2) from None
