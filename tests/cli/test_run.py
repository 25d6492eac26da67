"""``airflow-common-ai run`` as people and programs run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evals.small_corpus import POLICIES, a_recording, an_error_each, judged, written_corpus
from typer.testing import CliRunner

from airflow_common_ai.cli.run import app
from airflow_common_ai.evals.runs.run_file import read_run

OURS = "airflow_common_ai.policies:EvidenceRetryPolicy"


def run(*arguments: object, exit_code: int = 0) -> tuple[str, str]:
    return command("run", *arguments, exit_code=exit_code)


def command(*arguments: object, exit_code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == exit_code, result.output
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recordings = an_error_each(6)
    return written_corpus(tmp_path_factory.mktemp("corpus"), recordings, judged(recordings))


def test_people_see_what_was_decided_by_whom_and_what_to_do_next(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    shown, said = run(corpus, "--policy", OURS, "-o", output)
    lines = shown.splitlines()
    assert lines[0].startswith(f"{OURS} (EvidenceRetryPolicy-")
    assert lines[0].endswith("), offline: 6 cases")
    assert lines[1:4] == [
        "  outcome  decided 6",
        "  action   default 2, fail 2, retry 2",
        "  decided  signals 4, default 2",
    ]
    assert lines[4].startswith(f"6 rows in {output}, ")
    assert lines[5:] == [f"Next: airflow-common-ai score {output}"]
    assert said == "", "without a terminal there is no bar"
    assert len(read_run(output).rows) == 6


def test_programs_get_json(corpus: Path, tmp_path: Path) -> None:
    shown, _ = run(corpus, "--policy", OURS, "-o", tmp_path / "run.jsonl", "--json", "--shard", "1/1", "--repeat", "2")
    summary = json.loads(shown)
    assert (summary["is_measured"], summary["rows"], summary["labelled"]) == (True, 12, 12)
    assert summary["header"]["shard"] == [1, 1]
    assert summary["sources"] == {"signals": 8, "default": 4}


def test_where_nothing_could_be_measured_it_ends_with_3(tmp_path: Path) -> None:
    corpus = written_corpus(tmp_path / "corpus", [a_recording("case", RuntimeError("raise"))])
    shown, _ = run(corpus, "--policy", f"{POLICIES}:Misbehaving", "-o", tmp_path / "run.jsonl", exit_code=3)
    assert "  error    1 × builtins.ValueError: no\n" in shown
    assert shown.endswith("Nothing was measured: every case crashed or timed out.\n")


def test_an_empty_part_of_a_corpus_measures_nothing(corpus: Path, tmp_path: Path) -> None:
    shards = [f"{index}/40" for index in range(1, 41)]
    from airflow_common_ai.evals.cases import in_shard, read_cases

    empty = next(one for at, one in enumerate(shards, 1) if not in_shard(read_cases(corpus), (at, 40)))
    shown, _ = run(corpus, "--policy", OURS, "-o", tmp_path / "run.jsonl", "--shard", empty, exit_code=3)
    assert shown.endswith("Nothing was measured: there is no case to ask about.\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "mine"], "airflow-common-ai run: --policy must be like my_package.policies:careful or"),
        (["--policy", OURS, "--shard", "0/4"], "airflow-common-ai run: --shard must be like 1/4, from 1/1 to"),
        (["--policy", OURS, "--shard", "5/4"], "got '5/4'."),
        (["--policy", OURS, "--shard", "x"], "got 'x'."),
        (["--policy", OURS, "--live", "--record", "d"], "take one of --replay, --record and --live."),
        (["--policy", OURS, "--replay", "nowhere"], "there are no recorded answers in 'nowhere'."),
        (["--policy", OURS, "--labels", "\x1b[31m"], "there is no file of labels at '\\x1b[31m'"),
    ],
)
def test_wrong_use_ends_with_2_and_the_fix(corpus: Path, tmp_path: Path, options: list[str], words: str) -> None:
    shown, said = run(corpus, "-o", tmp_path / "run.jsonl", *options, exit_code=2)
    assert words in said
    assert shown == ""


def test_a_file_that_is_there_is_kept(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    run(corpus, "--policy", OURS, "-o", output)
    before = output.read_bytes()
    _, said = run(corpus, "--policy", OURS, "-o", output, exit_code=2)
    assert "is there already. Continue it with --resume, or name another one with -o." in said
    shown, _ = run(corpus, "--policy", OURS, "-o", output, "--resume")
    assert "6 rows, 6 of them from before in" in shown
    assert output.read_bytes() == before


def test_shards_are_merged_into_what_one_run_would_have_been(tmp_path: Path) -> None:
    corpus = written_corpus(tmp_path / "corpus", an_error_each(24))
    shards = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for at, shard in enumerate(shards, 1):
        run(corpus, "--policy", OURS, "-o", shard, "--shard", f"{at}/2")
    shown, _ = command("merge", *shards, "-o", tmp_path / "run.jsonl")
    assert shown == f"24 rows of 2 shards in {tmp_path / 'run.jsonl'}\n"
    assert [row.id for row in read_run(tmp_path / "run.jsonl").rows] == [f"family/case-{at:04}" for at in range(24)]
    _, said = command("merge", shards[0], "-o", tmp_path / "half.jsonl", exit_code=2)
    assert said == "airflow-common-ai merge: shard 2/2 is missing. Name the files of all shards.\n"
    _, said = command("merge", *shards, "-o", shards[0], exit_code=2)
    assert said.endswith("1.jsonl' is there already. Name another file with -o.\n")
