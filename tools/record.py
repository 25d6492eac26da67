"""
Raise the failures of the corpus again: each script in tools/raise, in the environment that its first lines name, for
at most ten minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_common_ai.recordings.corpus_file import read_corpus_file, write_corpus_file

__all__ = ["CORPUS", "LIMIT_S", "SCRIPTS", "Script", "main"]

_CHECKOUT = Path(__file__).parent.parent
SCRIPTS = _CHECKOUT / "tools" / "raise"
CORPUS = _CHECKOUT / "recordings" / "corpus"
_METADATA = "# /// script\n"
LIMIT_S = 600.0
_COLUMNS = ("raised", "new", "changed", "gone", "in_file")


@dataclass(frozen=True)
class Script:
    """One family's script."""

    path: Path

    @property
    def family(self) -> str:
        return self.path.stem

    def shadowed(self) -> str | None:
        """Return the requirement that importing would find this script instead of, if there is one."""
        for requirement in self.metadata().get("dependencies", []):
            name = requirement.partition("=")[0].partition("[")[0].strip()
            if name.replace("-", "_").lower() == self.family:
                return str(name)
        return None

    def metadata(self) -> dict[str, Any]:
        block = self.path.read_text("utf-8").partition(_METADATA)[2].partition("# ///\n")[0]
        return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in block.splitlines()))


@dataclass(frozen=True)
class Outcome:
    """What came of one script."""

    family: str
    report: dict[str, Any]
    trouble: str = ""
    """Why there is no report."""

    @property
    def is_good(self) -> bool:
        return not self.trouble and not self.report["failed"]

    @property
    def row(self) -> tuple[str, ...]:
        if self.trouble:
            return (self.family, *("-" * len(_COLUMNS)), "", "", "", self.trouble)
        counts = (str(self.report[name]) for name in _COLUMNS)
        waiting = "; ".join(self.report["unavailable"].values())
        sizes = (str(len(self.report["failed"])), str(len(self.report["skipped"])), f"{self.report['seconds']:.0f}")
        return (self.family, *counts, *sizes, waiting[:80])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.record", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="the names of scripts; all if none is given")
    parser.add_argument("--show", metavar="TEXT", help="print the cases with TEXT in their id, and write nothing")
    parser.add_argument(
        "--refresh", action="store_true", help="raise nothing; give what is stored the fingerprints that it has by now"
    )
    options = parser.parse_args(arguments)
    if options.refresh:
        return _refresh()
    names = options.families
    scripts = {script.family: script for script in _scripts()}
    if unknown := [name for name in names if name not in scripts]:
        print(f"There is no script tools/raise/{unknown[0]}.py. There are: {', '.join(scripts)}", file=sys.stderr)
        return 2
    uv = shutil.which("uv", path=f"{_CHECKOUT / '.venv' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        print("uv is not there. Run: make setup", file=sys.stderr)
        return 2
    more = [] if options.show is None else ["--show", options.show]
    outcomes = [_run(uv, scripts[name], more) for name in names or scripts]
    _print_table(outcomes)
    return 0 if all(outcome.is_good for outcome in outcomes) else 1


def _refresh() -> int:
    for path in sorted(CORPUS.glob("*.jsonl")):
        stored = read_corpus_file(path)
        refreshed = [recording.refreshed() for recording in stored]
        changed = sum(one != other for one, other in zip(stored, refreshed, strict=True))
        print(f"{path.stem}: {changed} of {len(stored)} fingerprints changed")
        write_corpus_file(path, refreshed)
    return 0


def _scripts() -> Iterator[Script]:
    for path in sorted(SCRIPTS.glob("*.py")):
        if path.read_text("utf-8").startswith(_METADATA):
            yield Script(path)


def _run(uv: str, script: Script, more: list[str]) -> Outcome:
    print(f"\n== {script.family}", flush=True)
    if name := script.shadowed():
        return Outcome(script.family, {}, f"its name hides the package {name}: rename the script")
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        report = Path(folder) / "report.json"
        process = subprocess.Popen(
            [uv, "run", "--no-project", "--quiet", "--script", str(script.path), *more],
            env={
                **os.environ,
                "PYTHONPATH": str(_CHECKOUT / "src"),
                "RAISE_REPORT": str(report),
                "AIRFLOW_HOME": folder,  # importing Airflow writes its configuration there
            },
            cwd=_CHECKOUT,
            start_new_session=True,
        )
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return Outcome(script.family, {}, f"was stopped after {LIMIT_S:g} s")
        finally:
            with suppress(ProcessLookupError):  # with whatever servers it left behind
                os.killpg(process.pid, signal.SIGKILL)
        if not report.exists():
            return Outcome(script.family, {}, f"ended with exit code {process.returncode} and said nothing")
        return Outcome(script.family, json.loads(report.read_text("utf-8")))


def _print_table(outcomes: Iterable[Outcome]) -> None:
    rows: list[tuple[str, ...]] = [
        ("family", "raised", "new", "changed", "gone", "in file", "failed", "skipped", "s", "waiting for")
    ]
    rows += [outcome.row for outcome in outcomes]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        first, *counts, last = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join((first, *(cell.strip().rjust(len(cell)) for cell in counts), last)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
