"""What a run of a family came to, for people and for the summary of all families."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from airflow_common_ai.recordings.recording import Recording

__all__ = ["REPORT_VARIABLE", "Report", "show"]

REPORT_VARIABLE = "RAISE_REPORT"
"""Names the file that the summary of all families is read from."""


@dataclass
class Report:
    """Counts, and everything that somebody has to look at."""

    family: str
    raised: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    in_file: int = 0
    met_canary: int = 0
    """Cases in which the secret was raised and the wall took it out."""
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    """By case, why it did not do what it is for."""
    skipped: list[str] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    """By server, why it could not be had."""

    def compare(self, stored: Sequence[Recording], result: Sequence[Recording], *, raised: int) -> None:
        """Count what changes in the file."""
        before = {recording.id: recording for recording in stored}
        after = {recording.id: recording for recording in result}
        self.raised = raised
        self.new = len(after.keys() - before.keys())
        self.gone = len(before.keys() - after.keys())
        self.changed = sum(before[key] != after[key] for key in after.keys() & before.keys())
        self.in_file = len(after)

    def finish(self) -> None:
        """Print it, and leave it where the summary looks for it."""
        print(
            f"{self.family}: {self.raised} raised, {self.new} new, {self.changed} changed, {self.gone} gone, "
            f"{self.in_file} in the file; the canary was met and masked in {self.met_canary}"
        )
        for name, why in self.failed.items():
            print(f"  FAILED   {name}: {why}")
        for name, why in self.unavailable.items():
            print(f"  NO SERVER {name}: {why}")
        for name in self.skipped:
            print(f"  skipped  {name}")
        if path := os.environ.get(REPORT_VARIABLE):
            Path(path).write_text(json.dumps(asdict(self)), "utf-8")


def show(recording: Recording) -> None:
    """Print what would be recorded."""
    print(f"\n{recording.id}  [{', '.join(recording.tags)}]  {recording.provenance.to_json()}")
    for node in recording.evidence.nodes:
        print(f"  {node.edge.value} {node.type_path}: {node.message}")
        for name, fact in sorted(node.facts.items()):
            print(f"      {name} = {fact!r}")
        for note in node.notes:
            print(f"      note: {note}")
