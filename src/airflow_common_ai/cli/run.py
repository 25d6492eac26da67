"""``airflow-common-ai run`` and ``merge``: what a retry policy decides about every failure of a corpus."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from airflow_common_ai.cli.extra import require_evals
from airflow_common_ai.cli.output import print_error, print_json, print_lines
from airflow_common_ai.recordings.split import Split

if TYPE_CHECKING:
    from airflow_common_ai.evals.runner import RunSummary

__all__ = ["app", "merge", "run", "to_json"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_MAX_LISTED = 5
_MAX_ERROR_CHARS = 160
_MOST_SHARDS = 10_000


@app.command()
def run(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A folder of recorded failures, or one file.")],
    policy: Annotated[
        str, typer.Option("--policy", help="A policy: my_package.policies:careful or path/to/file.py:careful.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the decisions go, e.g. run.jsonl.")],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="What is right, if not labels.jsonl of the corpus.")
    ] = None,
    split: Annotated[Split | None, typer.Option("--split", help="Only these cases.")] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="The i-th of n parts, to spread over machines.")
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=1000, help="How often each case is asked.")] = 1,
    tries: Annotated[
        int, typer.Option("--tries", min=1, max=5, help="Let each failure come again: what `simulate` is truest with.")
    ] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the output file.")] = False,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="DIR", help="Models answer what was recorded; no network.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Ask models, and keep what they answer.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask models, and keep nothing.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, max=256, help="Processes; one for each processor if left out.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=86_400, help="Seconds that one decision may take.")
    ] = 120,
    allow_import: Annotated[
        list[str] | None,
        typer.Option("--allow-import", metavar="PACKAGE", help="Import its exception classes too; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """
    Ask a retry policy about every recorded failure of a corpus, and write down what it decides.

    Without --replay, --record or --live no model is asked and the network is blocked. A policy that raises or hangs
    is an outcome, like every decision; a run that was stopped is continued with --resume.

    \b
    airflow-common-ai run my_corpus --policy airflow_common_ai.policies:EvidenceRetryPolicy -o run.jsonl
    airflow-common-ai score run.jsonl

    Exits with 0 if every case was asked, with 2 if it was called wrongly, with 3 if nothing could be measured or an
    answer was never recorded.
    """
    require_evals("run", "vcr")
    from airflow_common_ai.evals.runner import RunOptions, run_policy
    from airflow_common_ai.evals.workers.nursery_process import NoWorkers

    try:
        options = RunOptions(
            corpus=corpus,
            policy=policy,
            output=output,
            labels=labels,
            split=split,
            shard=_shard(shard),
            repeats=repeat,
            tries=tries,
            resume=resume,
            replay=replay,
            record=record,
            live=live,
            jobs=jobs,
            timeout_s=timeout,
            allow_import=tuple(allow_import or ()),
        )
        with _progress() as progress:
            summary = run_policy(options, progress)
    except (ValueError, OSError) as error:
        _end(2, error)
    except NoWorkers as error:
        _end(3, error)
    except KeyboardInterrupt:
        _end(130, f"stopped. {output} holds what was decided so far: continue it with --resume.")
    if as_json:
        print_json(to_json(summary))
    else:
        print_lines(_lines(summary, output))
    if not summary.is_measured:
        raise typer.Exit(3)


@app.command()
def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="RUN...", help="The runs of all shards.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the whole run goes.")],
) -> None:
    """
    Make one run of the runs of all shards.

    \b
    airflow-common-ai run my_corpus --policy mine:careful --shard 1/2 -o 1.jsonl
    airflow-common-ai run my_corpus --policy mine:careful --shard 2/2 -o 2.jsonl
    airflow-common-ai merge 1.jsonl 2.jsonl -o run.jsonl

    Exits with 0, or with 2 if these are not all shards of one run.
    """
    from airflow_common_ai.evals.runs.merging import merge_runs, write_run

    try:
        whole = merge_runs(shards)
        if output.exists() or output.is_symlink():
            raise ValueError(f"'{output}' is there already. Name another file with -o.")
        write_run(output, whole)
    except (ValueError, OSError) as error:
        print_error("merge", error)
        raise typer.Exit(2) from None
    print_lines([f"{len(whole.rows)} rows of {len(shards)} shards in {output}"])


def to_json(summary: RunSummary) -> dict[str, object]:
    """Return a summary for programs."""
    return {
        "version": 1,
        "header": summary.header.to_json(),
        "is_measured": summary.is_measured,
        "rows": summary.rows,
        "resumed": summary.resumed,
        "labelled": summary.labelled,
        "outcomes": dict(summary.outcomes),
        "actions": dict(summary.actions),
        "sources": dict(summary.sources),
        "calls": summary.calls,
        "models": dict(summary.models),
        "errors": dict(summary.errors.most_common(_MAX_LISTED)),
        "stale": [{"id": name, "difference": difference} for name, difference in summary.stale],
        "warnings": summary.warnings,
        "seconds": round(summary.seconds, 3),
    }


def _lines(summary: RunSummary, output: Path) -> Iterator[str]:
    header = summary.header
    of = f", shard {header.shard[0]} of {header.shard[1]}" if header.shard else ""
    times = f" × {header.repeats}" if header.repeats > 1 else ""
    yield f"{header.policy} ({header.policy_id}), {header.mode}: {header.cases} cases{times}{of}"
    yield f"  outcome  {_counted(summary.outcomes)}"
    yield f"  action   {_counted(summary.actions)}"
    yield f"  decided  {_counted(summary.sources)}"
    if summary.calls:
        by = f", answered by {_counted(summary.models)}" if summary.models else ""
        yield f"  models   {summary.calls} requests{by}"
    for error, times_seen in summary.errors.most_common(_MAX_LISTED):
        yield f"  error    {times_seen} × {_cut(error)}"
    again = f", {summary.resumed} of them from before" if summary.resumed else ""
    yield f"{summary.rows} rows{again} in {output}, {summary.seconds:.1f} s"
    for warning in summary.warnings:
        yield f"Note: {warning}"
    if not summary.labelled and summary.rows:
        yield "Note: none of these cases has a label, so nothing can be said about what is right."
    for name, difference in summary.stale:
        yield f"Not recorded: {name}"
        yield from (f"  {line}" for line in difference.split("\n"))
    if summary.stale:
        yield "Record again with --record, in the place of --replay, where the model can be reached."
    elif not summary.rows:
        yield "Nothing was measured: there is no case to ask about."
    elif not summary.is_measured:
        yield "Nothing was measured: every case crashed or timed out."
    else:
        yield f"Next: airflow-common-ai score {output}"


def _counted(counter: dict[str, int]) -> str:
    entries = sorted(counter.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{name} {count}" for name, count in entries) or "none"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ERROR_CHARS else f"{text[:_MAX_ERROR_CHARS]}…"


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield what draws a bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    index, _, shards = text.partition("/")
    if index.isdecimal() and shards.isdecimal() and 1 <= int(index) <= int(shards) <= _MOST_SHARDS:
        return int(index), int(shards)
    raise ValueError(f"--shard must be like 1/4, from 1/1 to {_MOST_SHARDS}/{_MOST_SHARDS}, got {text[:40]!r}.")


def _end(code: int, words: object) -> NoReturn:
    print_error("run", words)
    raise typer.Exit(code) from None
