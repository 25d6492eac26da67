"""A classifier of one's own, from recordings with labels, that a policy then takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_common_ai.classifier import Classifier
from airflow_common_ai.cli.app import app
from airflow_common_ai.policies import EvidenceRetryPolicy
from tools.replay import RECORDINGS

FAMILIES = ("requests_http", "redis_caches", "postgres_psycopg3")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three families of our own corpus."""
    folder = tmp_path / "failures"
    folder.mkdir()
    for family in FAMILIES:
        shutil.copy(RECORDINGS / "corpus" / f"{family}.jsonl", folder)
    lines = (RECORDINGS / "labels.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["id"].partition("/")[0] in FAMILIES]
    (folder / "labels.jsonl").write_text("".join(kept), "utf-8")
    return folder


def test_what_was_learned_is_what_a_policy_takes(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    result = CliRunner().invoke(app, ["train", str(corpus), "-o", str(path), "--json"])

    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["examples"] == Classifier.load(path).model.about["recorded"] > 20
    assert EvidenceRetryPolicy(classifier=path).classifier == str(path)


def test_too_little_to_learn_from_ends_with_2_and_what_is_missing(corpus: Path, tmp_path: Path) -> None:
    (corpus / "labels.jsonl").write_text("", "utf-8")
    path = tmp_path / "model.json"
    result = CliRunner().invoke(app, ["train", str(corpus), "-o", str(path)])

    assert result.exit_code == 2
    assert "Training needs at least 20 labelled failures" in result.stderr
    assert not path.exists()


def test_a_folder_that_is_not_there_is_named(corpus: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", str(corpus), "-o", str(tmp_path / "none" / "model.json")])

    assert result.exit_code == 2
    assert "cannot be written: No such file or directory. Name a file in a folder that is there." in result.stderr
