"""Logs in files and folders: Airflow's own layout is known, and nothing in a folder can do harm."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from evals.corpus.collecting import TRACEBACK, collect_into, task_log

from airflow_common_ai.cli.failure_input import read_stream
from airflow_common_ai.evals.corpus.log import Log, Skipped, TaskTry
from airflow_common_ai.evals.corpus.log_folder import logs_in

FAILED = task_log(ValueError("bad row"))
OF_A_TASK = "dag_id=shop/run_id=manual__2026-01-31T12:00:00+00:00/task_id=load.orders"
A_TRACEBACK = TRACEBACK.format("ValueError: bad row")


def put(folder: Path, name: str, content: str | bytes = FAILED) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def found(source: Path) -> tuple[list[Log], dict[str, str]]:
    """Return the logs, and why others were skipped."""
    everything = list(logs_in(source, read_stream))
    skipped = {one.name: one.reason for one in everything if isinstance(one, Skipped)}
    return [one for one in everything if isinstance(one, Log)], skipped


@pytest.mark.parametrize(
    ("name", "map_index", "number"),
    [
        (f"{OF_A_TASK}/attempt=1.log", -1, 1),
        (f"{OF_A_TASK}/attempt=12.log.gz", -1, 12),
        (f"{OF_A_TASK}/map_index=3/attempt=2.log", 3, 2),
        (f"bucket/prefix/{OF_A_TASK}/attempt=2.log", -1, 2),
    ],
)
def test_the_folders_of_airflow_3_tell_whose_log_it_is(name: str, map_index: int, number: int, tmp_path: Path) -> None:
    put(tmp_path, name, gzip.compress(FAILED.encode()) if name.endswith(".gz") else FAILED)
    wanted = TaskTry("shop", "manual__2026-01-31T12:00:00+00:00", "load.orders", map_index, number)

    for source in (tmp_path, (tmp_path / name).parent, tmp_path / name):
        (log,), _ = found(source)
        assert log.task_try == wanted
        assert log.text == FAILED


def test_a_folder_of_any_files_is_read_in_order(tmp_path: Path) -> None:
    for name in ("b/2.txt", "a.log", "b/1.json", "c"):
        put(tmp_path, name, A_TRACEBACK)

    logs, skipped = found(tmp_path)

    assert [log.name for log in logs] == ["a.log", "b/1.json", "b/2.txt", "c"]
    assert {log.task_try for log in logs} == {None}
    assert not skipped


def test_beside_the_logs_of_tasks_other_parts_of_airflow_log_failures_that_are_none_of_a_task(tmp_path: Path) -> None:
    put(tmp_path, f"{OF_A_TASK}/attempt=1.log")
    put(tmp_path, "dag_processor/2026-01-31/shop.py.log", A_TRACEBACK)
    put(tmp_path, f"{OF_A_TASK}/attempt=1.log.trigger.17.log", A_TRACEBACK)

    logs, skipped = found(tmp_path)

    assert len(logs) == 1
    assert skipped == {
        "dag_processor": "no log of a task",
        f"{OF_A_TASK}/attempt=1.log.trigger.17.log": "a triggerer's log: what failed stands in the task's",
    }


def test_an_exception_that_a_task_of_airflow_handled_is_not_collected(tmp_path: Path) -> None:
    put(tmp_path / "logs", f"{OF_A_TASK}/attempt=1.log", A_TRACEBACK)

    intake = collect_into(tmp_path / "corpus", *logs_in(tmp_path / "logs", read_stream))

    assert (intake.failures, intake.logs_without_failure) == (0, 1)


def test_no_symbolic_link_is_followed(tmp_path: Path) -> None:
    elsewhere = put(tmp_path, "elsewhere/secret.log").parent
    logs = tmp_path / "logs"
    put(logs, "mine.log")
    (logs / "file.log").symlink_to(elsewhere / "secret.log")
    (logs / "folder").symlink_to(elsewhere)
    (logs / "round").symlink_to(logs)

    read, skipped = found(logs)

    assert [log.name for log in read] == ["mine.log"]
    assert skipped == dict.fromkeys(("file.log", "folder", "round"), "a symbolic link")
    with pytest.raises(ValueError, match="Give what it points to"):
        found(logs / "folder")


def test_what_is_no_text_is_skipped_with_a_reason(tmp_path: Path) -> None:
    put(tmp_path, "core.bin", os.urandom(100) + b"\0" * 5000)
    put(tmp_path, "damaged.gz", gzip.compress(FAILED.encode())[:40])
    put(tmp_path, "empty.log", "")
    os.mkfifo(tmp_path / "pipe")
    put(tmp_path, "good.log", A_TRACEBACK)

    logs, skipped = found(tmp_path)

    assert [log.name for log in logs] == ["good.log"]
    assert {name: reason.partition(";")[0].partition(",")[0] for name, reason in skipped.items()} == {
        "core.bin": "it is no text",
        "damaged.gz": "it is a gzip file that is cut off",
        "empty.log": "it is empty",
        "pipe": "no regular file",
    }


def test_a_packed_bomb_is_skipped(tmp_path: Path) -> None:
    put(tmp_path, "bomb.gz", gzip.compress(b"x" * (260 * 1024**2), compresslevel=9))

    assert found(tmp_path) == ([], {"bomb.gz": "it holds more than 256 MiB; give its last part, e.g. with tail -c 4M"})


def test_of_a_very_long_log_the_end_is_read(tmp_path: Path) -> None:
    put(tmp_path, f"{OF_A_TASK}/attempt=1.log", "x" * 20_000_000 + "\n" + FAILED)

    (log,), _ = found(tmp_path)

    assert len(log.text) <= 4 * 1024**2
    assert collect_into(tmp_path / "corpus", log).failures == 1


def test_folders_are_entered_only_so_deep(tmp_path: Path) -> None:
    put(tmp_path, "/".join(["d"] * 60) + "/deep.log")

    logs, (reason,) = found(tmp_path)[0], found(tmp_path)[1].values()

    assert (logs, reason) == ([], "more than 32 folders deep")


def test_a_corpus_inside_the_folder_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "a.log", A_TRACEBACK)
    put(tmp_path, "failures/tracebacks.jsonl", A_TRACEBACK)

    everything = list(logs_in(tmp_path, read_stream, leave_out=tmp_path / "failures"))

    assert [one.name for one in everything] == ["a.log", "failures"]
    assert everything[1] == Skipped("failures", "the corpus itself")


def test_what_is_not_there_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file or folder"):
        logs_in(tmp_path / "nothing", read_stream)
