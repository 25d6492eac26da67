"""README's table says what was measured last."""

from __future__ import annotations

import re
from pathlib import Path

from tools.replay import read_measured

README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\| (dev|gate|heldout) \| (.+) \|$", re.MULTILINE)


def test_the_table_in_the_readme_is_what_was_measured_last() -> None:
    measured = {
        split.value: f"{figures.labelled:,} | {figures.settled_share:.1%} | {figures.accuracy:.1%} | "
        f"{figures.false_fail_share:.1%} | {figures.undercut}".replace("%", " %")
        for split, figures in read_measured().items()
    }

    assert dict(ROW.findall(README.read_text("utf-8"))) == measured
