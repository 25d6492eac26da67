"""``airflow-common-ai explain`` as people and programs run it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_common_ai import __version__
from airflow_common_ai.cli.app import app

COMMAND = Path(sys.executable).parent / "airflow-common-ai"
PAGE = Path(__file__).parent.parent.parent / "docs" / "explain.md"
_, LOG, SHOWN, JSON = (block for _, block in re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))

TRACEBACK = "Traceback (most recent call last):\n  File 'dag.py', line 3, in f\n{}\n"
REFUSED = TRACEBACK.format("ConnectionRefusedError: [Errno 111] Connection refused")


def explained(text: str, *options: str, columns: int | None = None, exit_code: int = 0) -> str:
    environment = {"COLUMNS": None if columns is None else str(columns)}
    result = CliRunner().invoke(app, ["explain", *options], input=text, env=environment)
    assert (result.exit_code, result.stderr) == (exit_code, "")
    return result.stdout


def decided(text: str, *options: str) -> Any:
    return json.loads(explained(text, "--json", *options))["decision"]


def refused(text: str, *options: str) -> str:
    result = CliRunner().invoke(app, ["explain", *options], input=text)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


# ---- what is shown


def test_the_page_in_the_docs_shows_what_the_command_prints() -> None:
    assert explained(LOG, columns=80) == SHOWN
    assert json.loads(explained(LOG, "--json")) == json.loads(JSON)


def test_the_page_in_the_docs_names_every_field() -> None:
    table = PAGE.read_text("utf-8").rpartition("```")[2]
    data = json.loads(JSON)
    names = {*data, *data["decision"], *data["signals"][0], *data["failure"]["nodes"][1], *data["votes"][1]}
    names -= {"sentence", "tier", "from_text", "version", "is_truncated"}  # they speak for themselves
    assert not {name for name in names if not re.search(rf"\b{name}\b", table)}


def test_an_ordinary_failure_fits_on_one_screen_of_80_columns() -> None:
    lines = explained(LOG, columns=80).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_lines_are_wrapped_to_the_terminal(columns: int) -> None:
    text = TRACEBACK.format(f"pkg.exceptions.{'Long' * 20}Error: {'words and ' * 20}https://example.com/{'x' * 100}")
    assert max(map(len, explained(text, columns=columns).splitlines())) <= columns


def test_without_a_terminal_each_thing_is_one_line() -> None:
    message = "words and " * 20
    text = explained(TRACEBACK.format(f"ValueError: {message}"))
    assert f"  [0] ValueError: {message.strip()}\n" in text


def test_the_signal_that_settles_it_comes_first_and_is_marked() -> None:
    text = explained(REFUSED)
    said = text.partition("What it says\n")[2].partition("\n\n")[0]
    assert [line[2] for line in said.splitlines() if not line.startswith(" " * 8)] == ["→", " ", " "]
    assert said.startswith("  → [0] os.econnrefused: ")


def test_what_lies_deep_is_shown_below_what_it_hangs_on() -> None:
    log = REFUSED + "\nThe above exception was the direct cause of the following exception:\n\n"
    text = explained(log + TRACEBACK.format("RuntimeError: no data"))
    assert "  [0] RuntimeError: no data\n    [1] caused by ConnectionRefusedError: " in text


def test_notes_are_shown() -> None:
    stacks = [{"exc_type": "ValueError", "exc_value": "bad", "exc_notes": ["row 7\nof 9"]}]
    record = {"timestamp": "", "level": "error", "event": "Task failed with exception", "error_detail": stacks}
    assert "  [0] ValueError: bad\n      note: row 7 of 9\n" in explained(json.dumps(record))


def test_of_many_exceptions_the_first_are_shown_and_json_has_all() -> None:
    members = [[{"exc_type": "ValueError", "exc_value": str(number)}] for number in range(30)]
    stacks = [{"exc_type": "ExceptionGroup", "exc_value": "many", "exceptions": members}]
    log = json.dumps({"timestamp": "", "level": "", "event": "Task failed with exception", "error_detail": stacks})

    text = explained(log)

    assert "  … and 19 more exceptions, see --json\n" in text
    assert "more signals, see --json\n" in text
    assert len(json.loads(explained(log, "--json"))["failure"]["nodes"]) == 31


def test_a_failure_that_says_nothing_is_left_to_airflow() -> None:
    text = explained(TRACEBACK.format("acme.OddError: odd"))
    assert "  no signal: " in text
    assert "Decision: left to the task's own retries - undecided: " in text
    assert "  No tier was sure; judged as try 1 of 4.\n" in text


def test_secrets_are_not_shown() -> None:
    log = TRACEBACK.format("RuntimeError: cannot open postgresql://admin:hunter2secret@db/prices")
    for text in (explained(log), explained(log, "--json")):
        assert "hunter2secret" not in text
        assert "cannot open" in text


HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b5n \u202eevil\u2066 [bold]b[/bold] [link=x]y[/link] \x00\x08\x7f \u200b"
)


def test_nothing_in_a_log_acts_on_the_terminal() -> None:
    stacks = [{"exc_type": f"E\x1b[1m{HOSTILE}", "exc_value": HOSTILE, "exc_notes": [HOSTILE]}]
    record = {"timestamp": "", "level": "", "event": "Task failed with exception", "error_detail": stacks}
    for log in (json.dumps(record), TRACEBACK.format(f"acme.OddError: {HOSTILE}").replace("\x00", "")):
        text = explained(log)
        assert not re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]", text)
        assert "[bold]b[/bold] [link=x]y[/link]" in text
        assert explained(log, "--json").isascii()


# ---- options


def test_the_tries_before_count_as_failed_in_the_same_way() -> None:
    first, third = (decided(REFUSED, "--try-number", number, "--retries", "5") for number in ("1", "3"))
    assert first["delay_s"] < third["delay_s"]
    assert (first["try_number"], third["try_number"]) == (1, 3)


def test_an_earlier_try_that_ends_the_task_is_the_one_that_is_shown() -> None:
    log = TRACEBACK.format("acme.OddError: odd")
    assert decided(log)["action"] == "default"
    for number in ("2", "5"):
        decision = decided(log, "--try-number", number, "--retries", "9")
        assert (decision["action"], decision["code"], decision["try_number"]) == ("fail", "repeat.identical", 2)


@pytest.mark.parametrize(("number", "retries", "is_last"), [(1, 0, True), (3, 3, False), (4, 3, True)])
def test_the_last_try_is_known_as_one(number: int, retries: int, is_last: bool) -> None:
    options = ("--try-number", str(number), "--retries", str(retries))
    assert decided(REFUSED, *options)["is_last_try"] is is_last
    assert ("worth a retry, but none is left" in explained(REFUSED, *options)) is is_last


def test_the_retry_delay_of_the_task_is_part_of_the_arithmetic() -> None:
    short, long = (decided(REFUSED, "--retries", "1", "--retry-delay", delay) for delay in ("1", "1800"))
    assert short["delay_s"] < long["delay_s"] == 1800


@pytest.mark.parametrize(
    "options",
    [
        ["--try-number", "0"],
        ["--try-number", "x"],
        ["--retries", "-1"],
        ["--retries", "1.5"],
        ["--retry-delay", "-1"],
        ["--retry-delay", "nan"],
        ["--retry-delay", "inf"],
        ["--retry-delay", ""],
        ["--no-such-option"],
        ["a.log", "b.log"],
    ],
)
def test_wrong_options_are_refused(options: list[str]) -> None:
    assert "Usage: " in refused(REFUSED, *options)


def test_the_configuration_of_the_machine_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__MAX_DELAY", "7")
    assert decided(REFUSED, "--retry-delay", "7")["delay_s"] == 7
    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__FORCE_SHADOW", "True")
    assert decided(REFUSED)["mode"] == "shadow"
    assert "Decision: shadow mode, not acted on: retry in 7 s" in explained(REFUSED, "--retry-delay", "7")


# ---- what cannot be read


@pytest.mark.parametrize(
    "log", ["all is well\n", "[2026-01-31, 12:00:00 UTC] {x.py:1} INFO - Marking task as SUCCESS\n"]
)
def test_a_log_without_a_failure_is_refused_with_what_was_looked_for(log: str) -> None:
    message = refused(log)
    assert message.startswith("airflow-common-ai explain: found no failed task: ")
    assert message.count("\n") == 1


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    message = refused("", str(tmp_path / "nowhere.log"), "--json")
    assert message == f"airflow-common-ai explain: '{tmp_path}/nowhere.log' cannot be read: No such file or directory\n"


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "attempt=1.log"
    path.write_text(REFUSED)
    assert explained("", str(path)) == explained(REFUSED)


# ---- as a process


def run(*arguments: str, shell_end: str = "", text: str | None = None) -> tuple[int, str, str]:
    line = ["sh", "-c", f'"$0" "$@" {shell_end}', str(COMMAND), *arguments]
    done = subprocess.run(line, input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_exit_codes_and_streams_of_the_process() -> None:
    code, out, error = run("explain", text=REFUSED)
    assert (code, out) == (0, explained(REFUSED))
    assert error == ""
    assert run("explain", shell_end="< /dev/null") == (
        2, "", "airflow-common-ai explain: standard input is empty; give a traceback or a task log\n",
    )  # fmt: skip
    assert run("explain", shell_end="<&-") == (
        2, "", "airflow-common-ai explain: give a file, or pipe a traceback or a task log into standard input\n",
    )  # fmt: skip
    assert run("--version") == (0, f"airflow-common-ai {__version__}\n", "")


def test_a_terminal_that_cannot_show_every_character_is_no_failure() -> None:
    log = TRACEBACK.format("ValueError: café →").encode()
    result = CliRunner(charset="ascii").invoke(app, ["explain"], input=log)
    assert result.exit_code == 0
    assert r"ValueError: caf\xe9 \u2192" in result.stdout


IN_A_TERMINAL = """
import os, sys
from airflow_common_ai.cli.app import app
for setting in ({"TERM": "xterm"}, {"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}):
    os.environ.update(setting)
    app(["explain", sys.argv[1]], standalone_mode=False)
    print("---")
"""


def test_in_a_terminal_there_are_styles_but_not_where_they_are_unwanted() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        os.environ.pop("COLUMNS", None)
        os.execv(sys.executable, [sys.executable, "-c", IN_A_TERMINAL, str(PAGE)])
    output = b""
    with open(terminal, "rb", buffering=0) as screen, contextlib.suppress(OSError):  # EIO: the other end is gone
        while piece := screen.read(4096):
            output += piece
    assert os.waitpid(pid, 0)[1] == 0

    styled, no_color, dumb, _ = output.decode().split("---\r\n")

    assert styled.startswith("\x1b[1mWhat failed\x1b[0m\r\n")
    plain = re.sub("\x1b\\[\\dm", "", styled)
    assert 50 < max(map(len, plain.splitlines())) <= 60
    assert no_color == dumb == plain


LOADED = """
import sys
from typer.testing import CliRunner
from airflow_common_ai.cli.app import app
result = CliRunner().invoke(app, sys.argv[1:], input="")
print(result.exit_code, sorted({"airflow", "pydantic_ai", "rich"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("arguments", "exit_code"), [(["--help"], 0), (["explain", "--help"], 0), (["explain"], 2), (["explain", "/"], 2)]
)
def test_help_and_complaints_do_not_wait_for_airflow_to_load(arguments: list[str], exit_code: int) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == f"{exit_code} []\n"


def test_help_says_what_there_is_to_know() -> None:
    text = CliRunner().invoke(app, ["explain", "--help"]).stdout
    for word in ("--json", "--try-number", "--retries", "--retry-delay", ".gz", "Retry-After", "kubectl logs"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
