"""A run that is killed is continued, and what it ends with is what it would have been."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from evals.replayed_run import header, row
from evals.small_corpus import POLICIES, an_error_each, judged, written_corpus

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.runner import RunOptions, run_policy
from airflow_common_ai.evals.runs.run_file import Row, line_of, read_run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.runs.run_output import RunOutput

SLOW = f"{POLICIES}:Slow"
COUNT = 60


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recordings = an_error_each(COUNT)
    return written_corpus(tmp_path_factory.mktemp("corpus"), recordings, judged(recordings))


def without_times(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("milliseconds", "measured_at")} for line in lines
    ]


def test_killed_at_half_and_resumed_gives_the_same_file_but_for_timings(corpus: Path, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    program = (
        "from pathlib import Path\n"
        "from airflow_common_ai.evals.runner import RunOptions, run_policy\n"
        f"run_policy(RunOptions(Path({str(corpus)!r}), {SLOW!r}, Path({str(killed)!r}), jobs=2))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    while process.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < COUNT // 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    written = killed.read_bytes().count(b"\n") - 1
    assert COUNT // 2 - 1 <= written < COUNT, "it was killed in the middle"
    with killed.open("ab") as file:
        file.write(b'{"id": "family/half-a-li')  # as if it had been killed while it wrote

    summary = run_policy(RunOptions(corpus, SLOW, killed, resume=True, jobs=2))
    assert summary.resumed == written
    run_policy(RunOptions(corpus, SLOW, whole, jobs=2))
    assert without_times(killed) == without_times(whole)
    again = killed.read_bytes()
    assert run_policy(RunOptions(corpus, SLOW, killed, resume=True, jobs=2)).resumed == COUNT
    assert killed.read_bytes() == again, "there was nothing left to ask"


def test_no_process_is_left_behind_by_who_is_killed(corpus: Path, tmp_path: Path) -> None:
    program = (
        "from airflow_common_ai.evals.workers.job import Setup\n"
        "from airflow_common_ai.evals.workers.nursery_process import NurseryProcess\n"
        f"nursery = NurseryProcess(); nursery.send(Setup({SLOW!r}, '/', 'offline')); nursery.receive()\n"
        "print(nursery._process.pid, flush=True); input()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    nursery = int(process.stdout.readline())
    process.kill()
    process.communicate()
    while Path(f"/proc/{nursery}/stat").exists() and not _is_over(nursery):
        time.sleep(0.01)


def _is_over(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


# ---- what may be continued


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"corpus": "d" * 64}, "it is of another corpus, or of other labels or another split"),
        ({"policy": "other:policy"}, "it is of the policy other:policy"),
        ({"policy_id": "Other-76543210"}, "the policy has changed since: it was Other-76543210 and is"),
        ({"mode": "live"}, "it was made in the mode live"),
        ({"repeats": 3}, "it has 3 repeats"),
        ({"shard": (2, 4)}, "it is of the shard 2/4"),
        ({"prompt": "another"}, "prompt, schema or categories have changed since"),
        ({"versions": {"python": "2.7"}}, "other versions are installed by now"),
    ],
)
def test_a_run_of_something_else_is_not_continued_and_not_touched(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(line_of(RunHeader(**{**vars_of(header()), **change})) + line_of(case("a")), "ascii")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"run\.jsonl' cannot be continued: ") as refused:
        RunOutput(path, header(), resume=True)
    assert words in str(refused.value)
    assert "Name another file with -o." in str(refused.value)
    assert path.read_bytes() == before


def case(name: str, outcome: Outcome = Outcome.DECIDED) -> Row:
    return row(0, id=f"family/{name}", outcome=outcome)


def vars_of(one: RunHeader) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(line_of(header()), "ascii")
    with pytest.raises(ValueError, match=r"is there already\. Continue it with --resume, or name another one with -o"):
        RunOutput(path, header(), resume=False)


def test_a_symbolic_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(ValueError, match="is no file"):
        RunOutput(tmp_path / "run.jsonl", header(), resume=False)
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("torn", ["", '{"schema": 1, "cor'])
def test_a_run_that_was_killed_before_its_first_line_begins_anew(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(torn, "ascii")
    with RunOutput(path, header(), resume=True) as output:
        output.write(case("a"))
    assert [one.id for one in read_run(path).rows] == ["family/a"]


def test_rows_in_which_nothing_was_measured_are_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    stale = case("b", Outcome.STALE)
    path.write_text(line_of(header()) + line_of(case("a")) + line_of(stale), "ascii")
    with RunOutput(path, header(), resume=True) as output:
        assert [one.id for one in output.rows] == ["family/a"]


def test_rows_end_in_the_order_of_the_corpus_in_whichever_order_they_came(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunOutput(path, header(), resume=False) as output:
        for name in "cab":
            output.write(case(name))
        assert len(read_run(path).rows) == 3, "each is there as soon as it is written"
        output.finish({("family/a", 1): 0, ("family/b", 1): 1, ("family/c", 1): 2})
    assert [one.id for one in read_run(path).rows] == ["family/a", "family/b", "family/c"]
    assert not path.with_name("run.jsonl.unfinished").exists()
    assert os.listdir(tmp_path) == ["run.jsonl"]


@pytest.mark.parametrize(("before", "now", "is_continued"), [(1, 1, True), (3, 3, True), (1, 3, False), (3, 1, False)])
def test_a_run_with_other_tries_is_not_continued(tmp_path: Path, before: int, now: int, is_continued: bool) -> None:
    path = tmp_path / "run.jsonl"
    later = (LaterTry(Action.RETRY, 60.0),) * (before - 1)
    failed = row(1, "fail", id="family/b")
    path.write_text(line_of(header()) + line_of(row(0, id="family/a", later=later)) + line_of(failed), "ascii")
    if is_continued:
        with RunOutput(path, header(), resume=True, tries=now) as output:
            assert len(output.rows) == 2
    else:
        with pytest.raises(ValueError, match="it was made with other --tries"):
            RunOutput(path, header(), resume=True, tries=now)
