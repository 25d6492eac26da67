"""``airflow-common-ai corpus`` as people and programs run it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from evals.corpus.collecting import TRACEBACK, corpus_in, label_for, task_log
from evals.corpus.fake_airflow import FakeAirflow, FakeTry
from evidence.airflow_log import TaskLog
from loopback.http_server import Answer, serving
from typer.testing import CliRunner, Result

from airflow_common_ai.cli.corpus import app

TOKEN = "eyJ-a-token"


def invoked(*arguments: str, text: str = "", token: str | None = TOKEN, columns: int = 80) -> Result:
    environment = {"AIRFLOW_CLI_TOKEN": token, "NO_PROXY": "*", "no_proxy": "*", "COLUMNS": str(columns)}
    return CliRunner().invoke(app, list(arguments), input=text, env=environment)


def shown(*arguments: str, exit_code: int = 0, text: str = "") -> str:
    result = invoked(*arguments, text=text)
    assert (result.exit_code, result.stderr) == (exit_code, "")
    return result.stdout


def read(*arguments: str, exit_code: int = 0) -> Any:
    return json.loads(shown(*arguments, "--json", exit_code=exit_code))


def refused(*arguments: str, text: str = "", token: str | None = TOKEN) -> str:
    result = invoked(*arguments, text=text, token=token)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of logs as Airflow leaves them: three failures of two kinds, and a task that went well."""
    tries = {
        "load_orders/attempt=1.log": task_log(ValueError("row 7 is bad")),
        "load_orders/attempt=2.log": task_log(ValueError("row 8 is bad")),
        "late/attempt=1.log": task_log(ConnectionRefusedError(111, "Connection refused")),
        "good/attempt=1.log": TaskLog().begins().info("done").stored,
    }
    for name, text in tries.items():
        path = tmp_path / "logs" / "dag_id=shop" / "run_id=r1" / f"task_id={name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "logs"


@pytest.fixture
def corpus(logs: Path, tmp_path: Path) -> str:
    path = str(tmp_path / "failures")
    shown("add", str(logs), "-c", path)
    return path


# ---- add


def test_a_folder_of_logs_becomes_a_corpus(logs: Path, tmp_path: Path) -> None:
    text = shown("add", str(logs), "-c", str(tmp_path / "failures"))

    assert "4 logs read: 3 failures, 2 of them new to the corpus\n" in text
    assert "1 log without a failure that left an exception\n" in text
    assert re.search(r"\n +2 x shop/load-orders-[0-9a-f]{8}  ValueError: row 7 is bad\n", text)
    assert text.endswith(f"next: airflow-common-ai corpus label {tmp_path / 'failures'}\n")
    assert read("add", str(logs), "-c", str(tmp_path / "failures"))["logs_added_before"] == 3


def test_files_folders_and_standard_input_are_added_together(logs: Path, tmp_path: Path) -> None:
    file = tmp_path / "error.txt"
    file.write_text(TRACEBACK.format("KeyError: 'id'"))
    result = invoked(
        "add",
        str(logs),
        str(file),
        "-",
        "-c",
        str(tmp_path / "failures"),
        "--json",
        text=TRACEBACK.format("OSError: x"),
    )

    assert json.loads(result.stdout)["failures"] == 5


def test_without_a_source_standard_input_is_read(tmp_path: Path) -> None:
    text = shown("add", "-c", str(tmp_path / "c"), text=TRACEBACK.format("KeyError: 'id'"))

    assert "1 log read: 1 failure, 1 of them new" in text


def test_what_is_skipped_is_said_with_its_reason(logs: Path, tmp_path: Path) -> None:
    (logs / "core.bin").write_bytes(b"\0" * 100)
    odd = logs / "dag_id=shop" / "odd\x1b[31m.log"
    odd.write_bytes(b"")

    text = shown("add", str(logs), "-c", str(tmp_path / "failures"))

    assert "  core.bin: no log of a task\n" in text
    assert r"odd\x1b[31m.log: it is empty" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "/nowhere", "-c", "{}"], "'/nowhere': there is no such file or folder."),
        (["add", "--airflow", "airflow.example.com", "-c", "{}"], "must be like https://airflow.example.com"),
        (["add", "--airflow", "https://u:p@a", "-c", "{}"], "must hold no password"),
        (["add", "--airflow", "http://a", "--token-file", "/nowhere", "-c", "{}"], "cannot be read: No such file"),
        (["stats", "{}/none"], "there is no corpus in"),
        (["label", "{}"], "there is no corpus in"),
    ],
)
def test_a_wrong_call_says_what_to_do_and_writes_nothing(arguments: list[str], said: str, tmp_path: Path) -> None:
    error = refused(*(one.format(tmp_path) for one in arguments))

    assert error.startswith(f"airflow-common-ai corpus {arguments[0]}: ")
    assert said in error
    assert list(tmp_path.iterdir()) == []


def test_without_a_token_it_says_where_to_put_one(tmp_path: Path) -> None:
    error = refused("add", "--airflow", "http://127.0.0.1:9", "-c", str(tmp_path), token=None)

    assert "AIRFLOW_CLI_TOKEN" in error
    assert "--token-file" in error


def test_a_token_on_the_command_line_is_no_option() -> None:
    text = shown("add", "--help")

    assert "--token-file" in text
    assert not re.search(r"--token\b(?!-file)|--password", text)


def test_failures_of_a_running_airflow_are_added_with_a_token_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    airflow = FakeAirflow(
        [FakeTry("load_orders", ended_at=datetime.now(UTC)), FakeTry("load_orders", 2, ended_at=datetime.now(UTC))]
    )
    try:
        options = ["--token-file", str(tmp_path / "token"), "-c", str(tmp_path / "c"), "--json"]
        result = invoked("add", "--airflow", airflow.url, *options, token=None)
    finally:
        airflow.close()

    assert result.exit_code == 0
    assert json.loads(result.stdout)["failures"] == 2
    assert [one.count for one in corpus_in(tmp_path / "c")] == [2]


def test_where_airflow_breaks_off_what_it_gave_is_kept_and_the_exit_code_is_3(tmp_path: Path) -> None:
    tries = [
        FakeTry("one", ended_at=datetime.now(UTC)),
        FakeTry("two", ended_at=datetime.now(UTC), log=Answer(raw=b"")),
    ]
    airflow = FakeAirflow(tries)
    try:
        result = invoked("add", "--airflow", airflow.url, "-c", str(tmp_path / "c"))
    finally:
        airflow.close()

    assert result.exit_code == 3
    assert "cannot be reached" in result.stderr
    assert len(corpus_in(tmp_path / "c")) == 1


def test_what_was_read_before_somebody_stops_it_is_kept(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    airflow = FakeAirflow([FakeTry("one", ended_at=now), FakeTry("two", ended_at=now, log=Answer(hang=True))])
    program = "from airflow_common_ai.cli.corpus import app; app()"
    arguments = ["add", "--airflow", airflow.url, "-c", str(tmp_path / "c")]
    environment = {**os.environ, "AIRFLOW_CLI_TOKEN": TOKEN, "NO_PROXY": "*", "no_proxy": "*"}
    try:
        with subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            env=environment,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
            # Whoever runs the tests in the background ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as adding:
            while not any("/two/logs/" in path for _, path in airflow.seen):
                assert adding.poll() is None
                time.sleep(0.05)
            adding.send_signal(signal.SIGINT)
            _, error = adding.communicate()
    finally:
        airflow.close()

    assert (adding.returncode, error.splitlines()[-1]) == (
        130,
        "airflow-common-ai corpus add: stopped. Call it again to go on where it stopped.",
    )
    assert [one.id.partition("-")[0] for one in corpus_in(tmp_path / "c")] == ["shop/one"]


def test_an_airflow_that_refuses_ends_with_3_and_a_fix(tmp_path: Path) -> None:
    with serving(Answer(401)) as server:
        result = invoked("add", "--airflow", server.url, "-c", str(tmp_path / "c"))

    assert result.exit_code == 3
    assert "Set a valid token" in result.stderr
    assert TOKEN not in result.output


# ---- lint, stats, dedupe, split


def test_stats_fit_on_one_screen_and_say_what_can_be_claimed(corpus: str) -> None:
    made = corpus_in(Path(corpus))
    for recording in made:
        made.labels[recording.id] = label_for(recording.id)
    made.save()

    text = shown("stats", corpus)

    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 100 + len(corpus)
    assert "3 failures in 2 cases, 2 of them distinct; 2 distinct ones have a label" in text
    assert re.search(r"all labelled +2  wrong FAILs could still be 78%; 57 more for under 5%", text)
    assert read("stats", corpus)["labelled"] == 2


def test_lint_ends_with_1_on_an_error_only_and_can_mend_it(corpus: str) -> None:
    assert "0 errors, 2 warnings" in shown("lint", corpus)
    file = Path(corpus) / "shop.jsonl"
    file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))

    broken = shown("lint", corpus, exit_code=1)
    assert re.search(r"error: .*shop\.jsonl:2: .* ids must be sorted\.", broken)
    assert "1 error can be mended: corpus lint --fix" in broken
    assert {one["level"] for one in read("lint", corpus, exit_code=1)["findings"]} == {"error"}

    assert shown("lint", corpus, "--fix").startswith("mended: 1\n")


def test_dedupe_and_split_change_nothing_with_check(corpus: str) -> None:
    file = Path(corpus) / "shop.jsonl"
    first, *rest = [json.loads(line) for line in file.read_text().splitlines()]
    other = "gate" if first["split"] != "gate" else "heldout"
    lines = [{**first, "id": "shop/a", "split": other}, first, *rest]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = file.read_text()

    for command in ("split", "dedupe"):
        assert not read(command, corpus, "--check", exit_code=1)["is_written"]
        assert file.read_text() == before

    assert "1 case moved" in shown("split", corpus)
    assert "1 case merged into 1" in shown("dedupe", corpus)
    for command in ("split", "dedupe"):
        shown(command, corpus, "--check")


# ---- as a program


LOADED = """
import sys
from typer.testing import CliRunner
from airflow_common_ai.cli.corpus import app
result = CliRunner().invoke(app, sys.argv[1:])
print(result.exit_code, sorted({"airflow", "scipy", "matplotlib", "vcr"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["add", "--help"], ["stats", "{corpus}"], ["lint", "{corpus}"], ["add", "{logs}", "-c", "{corpus}"]],
)
def test_collecting_needs_neither_airflow_nor_the_extra(arguments: list[str], corpus: str, logs: Path) -> None:
    given = [one.format(corpus=corpus, logs=logs) for one in arguments]
    done = subprocess.run([sys.executable, "-c", LOADED, *given], capture_output=True, text=True, check=True)

    assert done.stdout == "0 []\n"


def test_help_is_no_wider_than_a_terminal() -> None:
    for command in ("add", "lint", "stats", "dedupe", "split", "label"):
        assert max(map(len, shown(command, "--help").splitlines())) <= 80, command
