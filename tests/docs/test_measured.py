"""README's tables say what was measured last."""

from __future__ import annotations

import re
from pathlib import Path

from tools.replay import read_measured

CARD = Path(__file__).parents[2] / "src" / "airflow_common_ai" / "classifier" / "MODEL_CARD.md"
README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\| (dev|gate|heldout) \| (.+) \|$", re.MULTILINE)


def test_the_table_in_the_readme_is_what_was_measured_last() -> None:
    measured = {
        split.value: f"{figures.labelled:,} | {figures.settled_share:.1%} | {figures.accuracy:.1%} | "
        f"{figures.false_fail_share:.1%} | {figures.undercut}".replace("%", " %")
        for split, figures in read_measured().items()
    }

    assert dict(ROW.findall(README.read_text("utf-8"))) == measured


def test_the_classifiers_rows_in_the_readme_are_those_of_its_model_card() -> None:
    card, readme = CARD.read_text("utf-8"), README.read_text("utf-8")
    for split in ("gate", "heldout"):
        found = re.search(rf"^\| {split} ((?:\| [^|]+ ){{5}})\|", card, re.MULTILINE)
        assert found is not None
        assert f"| {split}, with classifier {found[1]}|".replace("%", " %") in readme
