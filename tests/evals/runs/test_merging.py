"""The shards of one run, and of nothing else, make one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evals.replayed_run import header, row

from airflow_common_ai.evals.runs.merging import merge_runs, write_run
from airflow_common_ai.evals.runs.run_file import Run, read_run


def shard(folder: Path, index: int, names: str, **changes: Any) -> Path:
    rows = tuple(row(0, id=f"family/{name}") for name in names)
    path = folder / f"{index}.jsonl"
    write_run(path, Run(replace(header(), shard=(index, 3), cases=len(rows), **changes), rows))
    return path


def test_all_shards_make_the_whole_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    paths = [shard(tmp_path, 3, "bd"), shard(tmp_path, 1, "ace"), shard(tmp_path, 2, "")]
    write_run(tmp_path / "run.jsonl", merge_runs(paths))
    run = read_run(tmp_path / "run.jsonl")
    assert (run.header.shard, run.header.cases, run.missing) == (None, 5, 0)
    assert [one.id[-1] for one in run.rows] == list("abcde")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"corpus": "f" * 64}, "has another corpus than"),
        ({"policy_id": "Other-00000000"}, "has another policy_id than"),
        ({"mode": "live"}, "has another mode than"),
        ({"shard": (2, 4)}, "is not one of as many shards as"),
        ({"shard": None}, "is not one of as many shards as"),
        ({"shard": (1, 3)}, "are the same shard. Leave one out."),
        ({"cases": 4}, "lacks 2 rows. Continue it with --resume."),
    ],
)
def test_what_is_no_part_of_the_same_run_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    other = tmp_path / "other.jsonl"
    rows = tuple(row(0, id=f"family/{name}") for name in "de")
    write_run(other, Run(replace(header(), **{"shard": (2, 3), "cases": 2, **change}), rows))
    with pytest.raises(ValueError, match="jsonl") as refused:
        merge_runs([shard(tmp_path, 1, "a"), other, shard(tmp_path, 3, "c")])
    assert words in str(refused.value)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shard 2/3 is missing"):
        merge_runs([shard(tmp_path, 1, "a"), shard(tmp_path, 3, "c")])


def test_nothing_and_what_is_no_shard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is nothing to merge"):
        merge_runs([])
    write_run(tmp_path / "run.jsonl", Run(header(), ()))
    with pytest.raises(ValueError, match=r"run\.jsonl' is no shard"):
        merge_runs([tmp_path / "run.jsonl"])
