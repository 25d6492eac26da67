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


def test_the_readme_says_how_often_a_model_is_asked_as_the_model_card_does() -> None:
    card, readme = CARD.read_text("utf-8"), " ".join(README.read_text("utf-8").split())
    _, _, table = card.partition("## Calls to a language model")
    calls = dict(re.findall(r"^\| (gate|heldout) \|.*\| ([^|]+) \|$", table.partition("##")[0], re.MULTILINE))

    assert f"about {calls['gate']} of 100 failures of `gate` and about {calls['heldout']} of `heldout`" in readme
    assert all(float(said.split(" ")[0]) <= 10 for said in calls.values()), "the goal"
