"""``airflow-common-ai report``: a run as a page, a job summary, test results and data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airflow_common_ai.cli.extra import require_evals
from airflow_common_ai.cli.measuring import WrongFile, costs_in, measuring, read_file, run_in, write_file
from airflow_common_ai.cli.output import print_json, print_lines

if TYPE_CHECKING:
    from airflow_common_ai.evals.gates.gate import GateVerdict
    from airflow_common_ai.evals.report.report import Report
    from airflow_common_ai.evals.score import Score

__all__ = ["app", "report"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_MAX_TITLE_CHARS = 200


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="What `airflow-common-ai run` wrote.")],
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Where it goes: .html, .md, .xml (JUnit) or .json; may be repeated."),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Only these cases, e.g. gate.")] = None,
    costs: Annotated[Path | None, typer.Option("--costs", metavar="FILE", help="Prices as TOML: docs/ci.md.")] = None,
    gates: Annotated[
        Path | None, typer.Option("--gates", metavar="FILE", help="Gates to judge it by; they name split and prices.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN", help="An earlier run, for gates about drops.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Its heading; the policy's name if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the JSON too, for programs.")] = False,
) -> None:
    """
    Write what a run came to, for people and for CI.

    The page is one file without scripts that needs no network. The same run always makes the same bytes.

    \b
    airflow-common-ai report run.jsonl -o report.html -o report.md -o report.junit.xml --gates gates.toml

    Exits with 0, with 1 if it fails the gates, with 2 if it was called wrongly, with 3 if nothing could be measured.
    What the gates say does not keep the files from being written.
    """
    require_evals("report", "matplotlib", "numpy", "scipy", "sklearn")
    from airflow_common_ai.evals.report.formats import format_of, to_json
    from airflow_common_ai.evals.report.report import Report

    outputs = output or []
    with measuring("report"):
        _check(outputs, as_json, gates, split, costs, baseline)
        formats = [(path, _format(path, format_of)) for path in outputs]
        score, verdict = _judged(run, split, costs, gates, baseline)
        made = Report(score, title[:_MAX_TITLE_CHARS] if title else score.header.policy, verdict)
        for path, as_text in formats:
            write_file(path, as_text(made))
    if as_json:
        print_json(to_json(made))
    else:
        print_lines(f"wrote {path}" for path in outputs)
        if verdict is not None:
            print_lines([f"gates: {verdict.status.value}", *(f"  {reason}" for reason in verdict.reasons)])
    if verdict is not None:
        raise typer.Exit(verdict.exit_code)


def _check(
    outputs: Sequence[Path],
    as_json: bool,
    gates: Path | None,
    split: str | None,
    costs: Path | None,
    baseline: Path | None,
) -> None:
    if not outputs and not as_json:
        raise WrongFile("nothing to write. Name a file, e.g. -o report.html.")
    twins = sorted({str(path) for path in outputs if outputs.count(path) > 1})
    if twins:
        raise WrongFile(f"{twins[0]} is named twice. Leave one of them out.")
    if gates is not None and (split is not None or costs is not None):
        raise WrongFile("--gates names split and prices itself. Leave --split and --costs out, or --gates.")
    if gates is None and baseline is not None:
        raise WrongFile("--baseline is for gates about drops. Give them with --gates gates.toml.")


def _format(path: Path, format_of: Callable[[Path], Callable[[Report], str]]) -> Callable[[Report], str]:
    try:
        return format_of(path)
    except ValueError as fault:
        raise WrongFile(str(fault)) from None


def _judged(
    run: Path, split: str | None, costs: Path | None, gates: Path | None, baseline: Path | None
) -> tuple[Score, GateVerdict | None]:
    from airflow_common_ai.evals.gates.gate import check
    from airflow_common_ai.evals.gates.gates_file import read_gates
    from airflow_common_ai.evals.score import score
    from airflow_common_ai.evals.unmeasurable import Unmeasurable

    if gates is None:
        return score(run_in(run), split=split, costs=costs_in(costs)), None
    rules = read_file(gates, read_gates)
    verdict = check(run_in(run), rules, None if baseline is None else run_in(baseline))
    if verdict.score is None:
        raise Unmeasurable("; ".join(verdict.reasons))
    return verdict.score, verdict
