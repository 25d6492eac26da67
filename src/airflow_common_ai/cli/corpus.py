"""``airflow-common-ai corpus``: from logs to a corpus with labels."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airflow_common_ai.cli.output import print_error, print_json, print_lines
from airflow_common_ai.recordings.split import Split

if TYPE_CHECKING:
    from airflow_common_ai.cli.screen import Screen
    from airflow_common_ai.evals.corpus.folder import Corpus

__all__ = ["JSON_VERSION", "app"]

app = typer.Typer(
    name="corpus",
    help="Failures of your own, collected from logs, and what should have been decided about each.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""
_PROGRESS_STEP = 25
_OUR_POLICY = "airflow_common_ai.policies:EvidenceRetryPolicy"

CorpusArgument = Annotated[Path, typer.Argument(metavar="CORPUS", help="The folder of the corpus.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs: docs/corpus.md.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")]


@app.command()
def add(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SOURCE...", help="Logs and tracebacks: files, folders, - for standard input."),
    ] = None,
    *,
    corpus: Annotated[Path, typer.Option("--corpus", "-c", help="The folder of the corpus; made if it is not there.")],
    airflow: Annotated[
        str | None, typer.Option(metavar="URL", help="Also the failed tries of this Airflow, by its REST API.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=3650, help="With --airflow: how far back.")] = 7,
    dag: Annotated[
        list[str] | None, typer.Option(help="With --airflow: of this Dag only; may be given several times.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="With --airflow: how many logs are fetched.")] = 2000,
    token_file: Annotated[
        Path | None, typer.Option(help="With --airflow: the file of the token, if not in AIRFLOW_CLI_TOKEN.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Collect failures from logs: read, redacted, and the same one kept once and counted.

    Reads what `explain` reads, in files, in folders and in Airflow's own log folders, also packed with gzip. A try
    that was added before is not counted again.

    \b
    airflow-common-ai corpus add ~/airflow/logs -c failures
    airflow-common-ai corpus add --airflow https://airflow.example.com -c failures

    Exits with 0 if everything was read, with 2 if it was called wrongly, with 3 if Airflow did not answer to the end,
    with 130 if you stopped it; what was read until then is kept.
    """
    with _usage_errors("add"):
        from airflow_common_ai.cli.corpus_screen import intake_lines
        from airflow_common_ai.cli.corpus_sources import logs_of, logs_of_airflow
        from airflow_common_ai.evals.corpus.api_client import AirflowApiError
        from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder
        from airflow_common_ai.evals.corpus.intake import Intake
        from airflow_common_ai.evidence.redaction import Redactor

        redactor = Redactor()
        kept = Corpus(CorpusFolder(corpus), redactor)
        intake = Intake(kept, redactor)
        logs = [logs_of(source, corpus) for source in sources or ([] if airflow else [Path("-")])]
        if airflow is not None:
            logs.append(logs_of_airflow(airflow, token_file, days=days, dags=dag or [], limit=limit, intake=intake))
        trouble, exit_code = "", 0
        try:
            _follow(intake.add(chain.from_iterable(logs)))
        except AirflowApiError as error:
            trouble, exit_code = str(error), 3
        except KeyboardInterrupt:
            trouble, exit_code = "stopped. Call it again to go on where it stopped.", 130
        intake.save()
    if as_json:
        print_json({"version": JSON_VERSION, **intake.to_json(), "trouble": trouble or None})
    else:
        print_lines(intake_lines(intake, kept, str(corpus)))
    if trouble:
        print_error("corpus add", trouble)
        raise typer.Exit(exit_code)


@app.command()
def lint(
    corpus: CorpusArgument,
    fix: Annotated[bool, typer.Option("--fix", help="Sort, redact again, renew fingerprints.")] = False,
    as_json: AsJson = False,
) -> None:
    """
    Find what is wrong with a corpus: what breaks it or leaks, and what weakens a measurement.

    Exits with 0 if there is no error, with 1 if there is one, with 2 if there is no corpus.
    """
    with _usage_errors("lint"):
        from airflow_common_ai.cli.corpus_screen import findings_lines
        from airflow_common_ai.evals.corpus.folder import CorpusFolder
        from airflow_common_ai.evals.corpus.lint import Level, lint, mend
        from airflow_common_ai.evidence.redaction import Redactor

        folder = CorpusFolder(corpus)
        folder.require()
        mended = mend(folder, Redactor()) if fix else 0
        findings = lint(folder, Redactor())
    if as_json:
        entries = [
            {"level": one.level.value, "where": one.where, "what": one.what, "can_be_mended": one.can_be_mended}
            for one in findings
        ]
        print_json({"version": JSON_VERSION, "mended": mended, "findings": entries})
    else:
        print_lines([f"mended: {mended}"] * (mended > 0))
        print_lines(findings_lines(findings))
    if any(finding.level is Level.ERROR for finding in findings):
        raise typer.Exit(1)


@app.command()
def stats(corpus: CorpusArgument, as_json: AsJson = False) -> None:
    """Show how much there is of everything, and what that allows to claim."""
    with _usage_errors("stats"):
        from airflow_common_ai.cli.corpus_screen import size_lines
        from airflow_common_ai.evals.corpus.sizes import could_still_be, sizes_of

        sizes = sizes_of(_read(corpus))
    if as_json:
        from airflow_common_ai.evals.json_form import as_json as json_of

        bound = could_still_be(sizes.labelled)
        print_json({"version": JSON_VERSION, **json_of(sizes), "wrong_fails_could_still_be": round(bound, 6)})
    else:
        print_lines(size_lines(sizes, str(corpus)))


@app.command()
def dedupe(corpus: CorpusArgument, check: Check = False, as_json: AsJson = False) -> None:
    """
    Merge cases of one failure: what differs in numbers, hosts, times and the like. Counts add up, labels are kept.

    Where labels of one failure differ, nothing is merged.
    """
    with _usage_errors("dedupe"):
        from airflow_common_ai.cli.corpus_screen import merge_lines
        from airflow_common_ai.evals.corpus.twins import merge_equal, mergeable

        kept = _read(corpus)
        merges = mergeable(kept)
        if not check:
            merge_equal(kept, merges)
            kept.save()
    if as_json:
        entries = [{"kept": one.kept.id, "dropped": [other.id for other in one.dropped]} for one in merges]
        print_json({"version": JSON_VERSION, "is_written": not check, "merges": entries})
    else:
        print_lines(merge_lines(merges))
    if check and merges:
        raise typer.Exit(1)


@app.command()
def split(corpus: CorpusArgument, check: Check = False, as_json: AsJson = False) -> None:
    """
    See that no split holds a near twin of another one's, and mend it.

    Rules are written looking at `dev` only; `gate` and `heldout` measure them. A case gets its split when it is added
    and keeps it. Twins in several splits go to the one that was looked at first.
    """
    with _usage_errors("split"):
        from airflow_common_ai.cli.corpus_screen import move_lines
        from airflow_common_ai.evals.corpus.twins import moves_of_split

        kept = _read(corpus)
        moves = moves_of_split(kept)
        if not check:
            for recording in moves:
                kept.put(recording)
            kept.save()
    if as_json:
        entries = [{"id": one.id, "split": one.split.value} for one in moves]
        print_json({"version": JSON_VERSION, "is_written": not check, "moves": entries})
    else:
        print_lines(move_lines(moves))
    if check and moves:
        raise typer.Exit(1)


@app.command()
def label(
    corpus: CorpusArgument,
    split: Annotated[Split | None, typer.Option(help="Of one split only.")] = None,
    judge: Annotated[str, typer.Option(help="Whose judgement it is; kept as the label's source.")] = "reading",
    show_decision: Annotated[
        bool, typer.Option("--show-decision", help="Show what the evidence would decide before the questions.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Label failures in the terminal, one key an answer, the most frequent first.

    Every label is saved at once: quit whenever you like, and go on later. Without a terminal an answer is read from
    each line of standard input.
    """
    with _usage_errors("label"):
        from airflow_common_ai.cli.keys import keys_of_standard_input
        from airflow_common_ai.cli.labelling import Labeller
        from airflow_common_ai.evals.corpus.labelling import LabellingSession

        if not judge.strip() or len(judge) > 200:
            raise ValueError("--judge must be a name of at most 200 characters.")
        session = LabellingSession(_read(corpus), judge=judge, split=split)
        with keys_of_standard_input() as read_key, suppress(KeyboardInterrupt):  # everything is saved
            say = partial(print_lines, to_error=as_json)
            Labeller(read_key, say, _screen(), shows_decision_first=show_decision).run(session)
    left = session.total - len(session.answered)
    if as_json:
        print_json({"version": JSON_VERSION, "labelled": session.answered, "left": left})
    else:
        print_lines([f"{len(session.answered)} labelled, {left} left"])
        if session.answered:
            print_lines([f"next: airflow-common-ai run {corpus} --policy {_OUR_POLICY} -o run.jsonl"])


@contextmanager
def _usage_errors(command: str) -> Iterator[None]:
    """End with exit code 2 where a file, an option or a corpus is not what it must be."""
    try:
        yield
    except (OSError, ValueError) as fault:
        print_error(f"corpus {command}", fault)
        raise typer.Exit(2) from None


def _read(path: Path) -> Corpus:
    from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder
    from airflow_common_ai.evidence.redaction import Redactor

    folder = CorpusFolder(path)
    folder.require()
    return Corpus(folder, Redactor())


def _follow(names: Iterable[str]) -> None:
    """Do the work, and show on a terminal that it goes on."""
    shows = sys.stderr is not None and sys.stderr.isatty()
    for number, _ in enumerate(names, 1):
        if shows and number % _PROGRESS_STEP == 0:
            typer.echo(f"\r{number:,} logs", err=True, nl=False)
    if shows:
        typer.echo("\r\x1b[K", err=True, nl=False)


def _screen() -> Screen:
    from airflow_common_ai.cli.screen import Screen

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return Screen(width=max(shutil.get_terminal_size().columns, 40) if is_terminal else None)
