"""The commands and their options. What they do is imported when they run: ``--help`` must be quick."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airflow_common_ai import __version__
from airflow_common_ai.cli import corpus, report, run, score, train

if TYPE_CHECKING:
    from airflow_common_ai.cli.screen import Screen
    from airflow_common_ai.evidence.model import Evidence

app = typer.Typer(
    name="airflow-common-ai",
    help="Retries for Apache Airflow that know why a task failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
)

app.add_typer(corpus.app, name="corpus")
for command in (
    run.run, run.merge, score.score, score.compare, score.gate, report.report, score.simulate, score.trust, train.train
):  # fmt: skip
    app.command()(command)

_NOTHING_FOUND = (
    "found no failed task: no traceback, and no error of Airflow. Of several tries in a log only the last one counts. "
    "A process that was killed leaves no exception, and then no policy is asked either"
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


def _check_seconds(seconds: float) -> float:
    # No range excludes it in older versions of typer.
    if math.isnan(seconds):
        raise typer.BadParameter("must be a number of seconds, e.g. 300.")
    return seconds


@app.command()
def explain(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="What to read, also as .gz; standard input if left out or -."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs: docs/explain.md.")] = False,
    try_number: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="The try that failed; those before it count as failed in the same way."),
    ] = 1,
    retries: Annotated[int, typer.Option(min=0, max=10_000, help="The task's retries.")] = 3,
    retry_delay: Annotated[
        float,
        typer.Option(min=0, max=31_536_000, callback=_check_seconds, help="The task's retry_delay in seconds."),
    ] = 300,
) -> None:
    """
    Show what EvidenceRetryPolicy would decide about a failure, and why.

    Reads a task log of Airflow, as it is stored, downloaded or printed, a part of one, or a Python traceback. What a
    log does not hold, such as the header Retry-After, is not seen; a policy in the worker does see it.

    \b
    airflow-common-ai explain attempt=2.log
    kubectl logs my-pod | airflow-common-ai explain --retries 5 --json

    Exits with 0 if a failure was judged, with 2 if there is none or it cannot be read.
    """
    from airflow_common_ai.cli.failure_input import UnreadableInput

    try:
        evidence = _read(source)
    except UnreadableInput as error:
        typer.echo(f"airflow-common-ai explain: {error}", err=True)
        raise typer.Exit(2) from None

    from airflow_common_ai.cli.explain import TaskSettings, decide, to_json

    judged = decide(evidence, TaskSettings(try_number, retries, retry_delay))
    _print(json.dumps(to_json(judged), indent=2) if as_json else _screen().show(judged))


@app.command()
def doctor(
    conn_id: Annotated[str, typer.Option("--conn-id", help="The connection that LLMRetryPolicy is given.")],
    model_id: Annotated[
        str | None, typer.Option("--model-id", help="The model, if not the connection's own, e.g. ollama:llama3.2.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs: docs/local-models.md.")] = False,
    timeout: Annotated[
        float,
        typer.Option(min=1, max=3600, callback=_check_seconds, help="Seconds that one question may take."),
    ] = 120,
) -> None:
    """
    Find out whether the model behind a connection can judge failures, and what to mend if not.

    Asks it about twenty recorded failures and compares. Writes nothing, and lets no model fail tasks: that takes an
    evaluation.

    \b
    airflow-common-ai doctor --conn-id ollama_local

    Exits with 0 if it can, with 1 if something has to be mended, with 2 if it was called wrongly.
    """
    # As Airflow's own commands do, so that connections in its database are found too.
    os.environ["_AIRFLOW_PROCESS_CONTEXT"] = "server"

    from airflow_common_ai.cli.doctor import diagnose

    try:
        with contextlib.redirect_stdout(io.StringIO()):  # where Airflow's hooks log to outside of a task
            found = diagnose(conn_id, model_id, timeout_s=timeout, progress=lambda line: typer.echo(line, err=True))
    except (TypeError, ValueError) as error:
        typer.echo(f"airflow-common-ai doctor: {error}", err=True)
        raise typer.Exit(2) from None
    _print(json.dumps(found.to_json(), indent=2) if as_json else found.show())
    if not found.is_healthy:
        raise typer.Exit(1)


def _read(source: Path | None) -> Evidence:
    from airflow_common_ai.cli.failure_input import UnreadableInput, read_input
    from airflow_common_ai.evidence.logs.task_log import read_failure

    evidence = read_failure(read_input(source), datetime.now(UTC))
    if evidence is None:
        raise UnreadableInput(_NOTHING_FOUND)
    return evidence


def _screen() -> Screen:
    from airflow_common_ai.cli.screen import Screen

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    has_width = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    return Screen(
        width=max(shutil.get_terminal_size().columns, 40) if has_width else None,
        has_styles=is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
    )


def _print(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding))
