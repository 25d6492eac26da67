"""Any policy on any corpus: every case is asked about, whatever the policy does, and the file is the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from evals.small_corpus import POLICIES, a_recording, an_error_each, judged, written_corpus

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.runner import RunOptions, RunSummary, run_policy
from airflow_common_ai.evals.runs.run_file import Run, read_run
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split

OURS = "airflow_common_ai.policies:EvidenceRetryPolicy"


def ran(corpus: Path, output: Path, policy: str = OURS, **options: Any) -> RunSummary:
    return run_policy(RunOptions(corpus, policy, output, **{"jobs": 2, **options}))


def without_times(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    for line in lines:
        line.pop("milliseconds", None)
        line.pop("measured_at", None)
    return lines


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recordings = an_error_each(24)
    return written_corpus(tmp_path_factory.mktemp("corpus"), recordings, judged(recordings[:20]))


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    summary = ran(corpus, path, repeats=2)
    assert summary.is_measured
    return read_run(path)


def test_every_case_and_repeat_has_a_row_in_the_order_of_the_corpus(run: Run) -> None:
    assert [row.key for row in run.rows] == [(f"family/case-{at:04}", repeat) for at in range(24) for repeat in (1, 2)]
    assert run.missing == 0


def test_a_row_holds_the_decision_and_what_was_judged(run: Run) -> None:
    first, *_, last = run.rows
    assert (first.outcome, first.action, first.source) == (Outcome.DECIDED, Action.RETRY, "signals")
    assert first.label is not None
    assert last.label is None
    assert first.failure == ("ConnectionRefusedError: [Errno 111] Connection refused by aax",)


def test_the_header_says_what_was_run_on_what(run: Run) -> None:
    header = run.header
    assert (header.cases, header.repeats, header.mode, header.policy) == (24, 2, "offline", OURS)
    assert header.policy_id.startswith("EvidenceRetryPolicy-")
    assert {"python", "airflow-common-ai", "apache-airflow-task-sdk"} <= header.versions.keys()


def test_the_same_run_gives_the_same_file_with_any_number_of_processes(corpus: Path, tmp_path: Path) -> None:
    ran(corpus, tmp_path / "one.jsonl", jobs=1)
    ran(corpus, tmp_path / "three.jsonl", jobs=3)
    assert without_times(tmp_path / "one.jsonl") == without_times(tmp_path / "three.jsonl")


def test_shards_are_the_whole_and_keep_what_is_alike_together(corpus: Path, tmp_path: Path) -> None:
    twins = [a_recording(f"twin-{at}", ValueError(f"bad value {at}")) for at in range(6)]
    folder = written_corpus(tmp_path / "corpus", sorted([*an_error_each(9), *twins], key=lambda one: one.id))
    assert len({one.fingerprint for one in twins}) == 1
    rows: list[Any] = []
    for index in (1, 2, 3):
        ran(folder, tmp_path / f"{index}.jsonl", shard=(index, 3))
        part = read_run(tmp_path / f"{index}.jsonl")
        assert part.missing == 0
        assert sum(row.id.startswith("family/twin") for row in part.rows) in (0, 6)
        rows += part.rows
    assert sorted(row.id for row in rows) == sorted(one.id for one in [*an_error_each(9), *twins])
    assert len({read_run(tmp_path / f"{index}.jsonl").header.corpus for index in (1, 2, 3)}) == 1


@pytest.mark.parametrize("policy", [OURS, f"{POLICIES}:Telling"])
def test_what_somebody_wrote_into_a_corpus_is_redacted_before_anybody_is_asked(policy: str, tmp_path: Path) -> None:
    corpus = written_corpus(tmp_path / "corpus", [a_recording("it", RuntimeError("the orders are gone"))])
    file = corpus / "family.jsonl"
    file.write_text(file.read_text("ascii").replace("the orders", "postgresql://etl:hunter2pass@db/orders"), "ascii")
    ran(corpus, tmp_path / "run.jsonl", policy)

    text = (tmp_path / "run.jsonl").read_text("ascii")
    assert "postgresql://etl:***@db/orders" in text
    assert "hunter2pass" not in text
    assert "hunter2pass"[::-1] not in text


def test_whoever_evaluates_a_policy_without_a_model_loads_no_client_of_one() -> None:
    asks = "import sys, airflow_common_ai.evals.runner; print({'vcr', 'httpx', 'airflow'} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert loaded.stdout == "set()\n"


def test_one_split_only(tmp_path: Path) -> None:
    recordings: Sequence[Recording] = an_error_each(12)
    gate = [one.id for one in recordings if one.split is Split.GATE]
    assert gate, "some of these fall into it"
    ran(written_corpus(tmp_path / "corpus", recordings), tmp_path / "run.jsonl", split=Split.GATE)
    assert [row.id for row in read_run(tmp_path / "run.jsonl").rows] == gate


def test_a_policy_that_hangs_crashes_or_ends_its_process_is_an_outcome_and_the_run_goes_on(tmp_path: Path) -> None:
    words = ["fine", "hang", "raise", "exit", "fine as well", "hang", "last"]
    recordings = [a_recording(f"case-{at}", RuntimeError(word)) for at, word in enumerate(words)]
    folder = written_corpus(tmp_path / "corpus", recordings)
    summary = ran(folder, tmp_path / "run.jsonl", f"{POLICIES}:Misbehaving", timeout_s=2.0)
    rows = read_run(tmp_path / "run.jsonl").rows
    assert [row.outcome.value for row in rows] == [
        "decided",
        "timed_out",
        "crashed",
        "crashed",
        "decided",
        "timed_out",
        "decided",
    ]
    assert [row.error for row in rows[1:4]] == [
        "no answer within 2 s",
        "builtins.ValueError: no",
        "the process that asked it came to an end",
    ]
    assert summary.is_measured, "the policy was measured: that it misbehaves is what was found"


@pytest.mark.parametrize(
    ("outcomes", "is_measured"),
    [
        ({}, False),
        ({"crashed": 3, "timed_out": 1}, False),
        ({"decided": 1, "crashed": 3}, True),
        ({"decided": 3, "stale": 1}, False),
    ],
)
def test_a_run_in_which_nothing_was_decided_or_an_answer_is_missing_measured_nothing(
    run: Run, outcomes: dict[str, int], is_measured: bool
) -> None:
    assert RunSummary(run.header, has_model=False, outcomes=Counter(outcomes)).is_measured is is_measured


def test_offline_nothing_leaves_the_machine_whatever_it_goes_through(corpus: Path, tmp_path: Path) -> None:
    ran(corpus, tmp_path / "run.jsonl", f"{POLICIES}:Calling")
    reasons = {row.reason for row in read_run(tmp_path / "run.jsonl").rows}
    assert reasons == {"NetworkBlocked: the network is blocked in this evaluation: 192.0.2.1:9 was not asked"}


def test_offline_a_policy_with_a_model_is_told_to_have_none(corpus: Path, tmp_path: Path) -> None:
    summary = ran(corpus, tmp_path / "run.jsonl", f"{POLICIES}:chain")
    assert summary.header.mode == "offline"
    assert summary.calls == 0
    assert [words for words in summary.warnings if words.startswith("no model was asked, and the network was blocked")]


# ---- wrong use


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpus": Path("nowhere")}, "there is no corpus at 'nowhere'"),
        ({"labels": Path("nowhere.jsonl")}, "there is no file of labels at 'nowhere.jsonl'"),
        ({"policy": "no_such_module:x"}, "there is no module 'no_such_module'"),
        (
            {"replay": Path("nowhere")},
            "there are no recorded answers in 'nowhere'. Record them with --record",
        ),
        ({"live": True, "policy": f"{POLICIES}:common_ai"}, "there is no connection 'scripted', which the policy asks"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_be_run_is_said_with_the_fix(
    corpus: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is looked at
        ran(**{"corpus": corpus, "output": tmp_path / "run.jsonl", **options})
    assert message in str(refused.value)
    assert not (tmp_path / "run.jsonl").exists()


def test_several_ways_to_ask_models_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="take one of --replay, --record and --live"):
        RunOptions(tmp_path, OURS, tmp_path / "run.jsonl", replay=tmp_path, live=True)


def test_labels_of_another_corpus_are_refused(tmp_path: Path) -> None:
    folder = written_corpus(tmp_path / "corpus", an_error_each(2), judged([a_recording("else", OSError())]))
    with pytest.raises(ValueError, match="no label belongs to a recording"):
        ran(folder, tmp_path / "run.jsonl")
