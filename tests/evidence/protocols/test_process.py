"""Real programs end in real ways; operators that only print the exit code are read as well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
import invoke
import pytest
from airflow.providers.standard.operators.bash import BashOperator
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by

from airflow_common_ai.evidence.model import Rank, Retry, Wait
from airflow_common_ai.evidence.protocols.process import exit_codes
from airflow_common_ai.evidence.protocols.process import reader as process

AIRFLOW_EXCEPTION = "airflow.exceptions.AirflowException"


def run(script: str, **options: object) -> Callable[[], object]:
    def dying_of_a_hangup() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests under nohup ignores it

    return lambda: subprocess.run(  # type: ignore[call-overload]
        ["sh", "-c", script], check=True, preexec_fn=dying_of_a_hangup, **options
    )


def fake_program(folder: Path, name: str, script: str) -> str:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("code", "category", "retry"),
    [
        (64, "permanent", Retry.NO),
        (65, "data", Retry.NO),
        (69, "transient", Retry.YES),
        (75, "transient", Retry.YES),
        (77, "auth", Retry.NO),
        (124, "permanent", Retry.DEPENDS),
        (126, "permanent", Retry.NO),
        (127, "permanent", Retry.NO),
        (134, "permanent", Retry.DEPENDS),
        (137, "transient", Retry.DEPENDS),
        (139, "permanent", Retry.DEPENDS),
        (143, "transient", Retry.YES),
    ],
)
def test_exit_codes_with_an_agreed_meaning_settle_the_failure(code: int, category: str, retry: Retry) -> None:
    error = raised_by(run(f"exit {code}"))
    for evidence in (alive(error), logged(error)):
        found = conclusion(evidence)
        assert found is not None
        assert (found.code, found.category, found.retry, found.rank) == (f"exit.{code}", category, retry, Rank.OS)


@pytest.mark.parametrize("code", [1, 2, 3, 42, 100, 255])
def test_exit_codes_without_an_agreed_meaning_are_hints(code: int) -> None:
    error = raised_by(run(f"exit {code}"))
    for evidence in (alive(error), logged(error)):
        assert codes(evidence, "exit") == [f"(exit.{code})"]
        assert conclusion(evidence) is None


@pytest.mark.parametrize(
    "number",
    [signal.SIGHUP, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGUSR1],
)
def test_a_signal_is_the_same_finding_from_the_system_from_a_shell_and_from_a_log(number: int) -> None:
    killed = raised_by(run(f"kill -{int(number)} $$"))
    assert isinstance(killed, subprocess.CalledProcessError)
    assert killed.returncode == -number
    told_by_a_shell = raised_by(run(f"sh -c 'kill -{int(number)} $$'; exit $?"))
    expected = f"exit.{128 + number}"
    found = [conclusion_code(evidence) for evidence in (alive(killed), logged(killed), alive(told_by_a_shell))]
    assert found == [expected] * 3


def test_killed_without_a_reason_may_be_tried_thrice_and_stopped_politely_without_a_cap() -> None:
    killed, stopped = exit_codes.SIGNALS[137], exit_codes.SIGNALS[143]
    assert (killed.category, killed.retry, killed.wait, killed.max_attempts) == (
        "transient",
        Retry.DEPENDS,
        Wait.MEDIUM,
        3,
    )
    assert (stopped.category, stopped.retry, stopped.max_attempts) == ("transient", Retry.YES, None)


def test_a_real_time_signal_has_no_row_but_is_named() -> None:
    found = exit_codes.killed_signal(40)
    assert found is not None
    assert (found.code, found.is_conclusive) == ("exit.168", False)
    assert "signal 40" in found.sentence


@pytest.mark.parametrize("code", [256, 1000, -100, -65])
def test_what_is_no_exit_code_says_nothing(code: int) -> None:
    assert exit_codes.exit_signal(code) is None


def test_a_time_limit_on_a_program_is_a_setting_not_a_network() -> None:
    error = raised_by(lambda: subprocess.run(["sleep", "60"], timeout=0.1))
    for evidence in (alive(error), logged(error)):
        found = conclusion(evidence)
        assert found is not None
        assert (found.code, found.category, found.max_attempts) == ("exit.time_limit", "permanent", 2)
    assert alive(error).nodes[0].facts["process.time_limit_s"] == pytest.approx(0.1, abs=0.05)


# sys.exit


@pytest.mark.parametrize(
    ("argument", "code"), [(1, 1), (3, 3), ("bad news", 1), (None, 0), (0, 0), (True, 1)], ids=repr
)
def test_sys_exit_is_read_as_the_exit_code_that_the_process_would_have(argument: object, code: int) -> None:
    error = raised_by(lambda: sys.exit(argument))  # type: ignore[arg-type]
    assert codes(alive(error), "exit") == [f"(exit.{code})"]


def test_sys_exit_with_an_agreed_code_settles_it() -> None:
    assert conclusion_code(alive(raised_by(lambda: sys.exit(75)))) == "exit.75"


# Who else runs programs


def test_invoke_keeps_the_exit_code_in_a_result() -> None:
    error = raised_by(lambda: invoke.run("exit 75", hide=True, in_stream=False))
    assert conclusion_code(alive(error)) == "exit.75"


def test_a_constant_of_a_class_is_no_exit_code() -> None:
    assert process.probe(click.UsageError("no such option")) == {}


def test_a_worker_process_that_dies_breaks_its_pool() -> None:
    with ProcessPoolExecutor(1) as pool:
        error = raised_by(pool.submit(os._exit, 9).result)
    found = conclusion(alive(error))
    assert found is not None
    assert (found.code, found.category, found.max_attempts) == (
        "python.concurrent.broken_process_pool",
        "transient",
        3,
    )


def test_an_exit_code_in_an_attribute_of_the_wrong_type_is_left_alone() -> None:
    error = RuntimeError("x")
    error.exit_code = "137"  # type: ignore[attr-defined]
    assert process.probe(error) == {}


# Programs with a meaning of their own


@pytest.mark.parametrize(
    ("program", "code", "finding", "category", "retry"),
    [
        ("curl", 6, "exit.curl_6", "network", Retry.DEPENDS),
        ("curl", 7, "exit.curl_7", "network", Retry.YES),
        ("curl", 28, "exit.curl_28", "network", Retry.YES),
        ("curl", 60, "exit.curl_60", "permanent", Retry.NO),
        ("curl", 67, "exit.curl_67", "auth", Retry.NO),
        ("curl", 77, "exit.curl_77", "permanent", Retry.NO),  # a missing permission elsewhere
        ("wget", 4, "exit.wget_4", "network", Retry.YES),
        ("wget", 6, "exit.wget_6", "auth", Retry.NO),
        ("rsync", 30, "exit.rsync_30", "network", Retry.YES),
        ("ssh", 255, "exit.ssh_255", "network", Retry.DEPENDS),
        ("curl", 127, "exit.127", "permanent", Retry.NO),
    ],
)
def test_a_well_known_program_is_asked_what_it_means(
    program: str, code: int, finding: str, category: str, retry: Retry, tmp_path: Path
) -> None:
    path = fake_program(tmp_path, program, f"exit {code}")
    for command, is_shell in ([path, "--flag"], False), (f"{path} --flag", True):
        error = raised_by(lambda c=command, s=is_shell: subprocess.run(c, check=True, shell=s))  # type: ignore[misc]
        for evidence in (alive(error), logged(error)):
            found = conclusion(evidence)
            assert found is not None
            assert (found.code, found.category, found.retry) == (finding, category, retry)


def test_nothing_but_the_name_of_a_well_known_program_is_copied_from_a_command() -> None:
    assert process.probe(subprocess.CalledProcessError(7, ["curl", "-u", "me:secret"])) == {
        "process.exit_code": 7,
        "process.program": "curl",
    }
    assert process.probe(subprocess.CalledProcessError(7, ["my-tool", "--token=x"])) == {"process.exit_code": 7}


def test_a_command_line_is_not_what_went_wrong() -> None:
    error = raised_by(lambda: subprocess.run(["sh", "-c", "exit 1", "ECONNREFUSED [Errno 13]"], check=True))
    for evidence in (alive(error), logged(error)):
        assert codes(evidence, "os", "exit") == ["(exit.1)"]


# What it printed


def test_the_end_of_what_a_program_printed_says_why_it_failed() -> None:
    script = "echo starting; echo 'OSError: [Errno 28] No space left on device' >&2; exit 1"
    error = raised_by(run(script, capture_output=True))
    assert conclusion_code(alive(error)) == "os.enospc"


def test_words_of_any_service_in_the_output_are_read_as_words() -> None:
    error = raised_by(run("echo 'password authentication failed for user \"x\"' >&2; exit 1", stderr=subprocess.PIPE))
    found = conclusion(alive(error))
    assert found is not None
    assert (found.category, found.retry, found.rank) == ("auth", Retry.NO, Rank.TEXT)


def test_only_the_end_of_a_long_output_is_kept() -> None:
    error = subprocess.CalledProcessError(1, "x", stderr=b"\xff" + b"a" * 100_000 + b"end")
    kept = process.probe(error)["process.stderr"]
    assert isinstance(kept, str)
    assert kept.endswith("end")
    assert len(kept) == 4096


class DockerContainerFailedException(Exception):
    """Stands in for the one of Airflow's Docker provider, which keeps the container's last lines."""

    def __init__(self, message: str, logs: list[str | bytes]) -> None:
        super().__init__(message)
        self.logs = logs


def test_the_last_lines_of_a_container_say_why_it_failed() -> None:
    traceback = (
        "Traceback (most recent call last):\n  File \"job.py\", line 1, in <module>\nNameError: name 'x' is not defined"
    )
    error = DockerContainerFailedException(
        "Docker container failed: {'StatusCode': 1}", [b"starting", *traceback.split("\n")]
    )
    assert conclusion_code(alive(error)) == "python.name_error"


def test_logs_that_are_no_lines_are_left_alone() -> None:
    assert "process.logs" not in process.probe(DockerContainerFailedException("x", "log")) | process.probe(
        DockerContainerFailedException("x", [1, None])
    )


# Operators that print the code


@pytest.mark.parametrize("code", [75, 127, 137])
def test_the_bash_operator_prints_the_exit_code(code: int) -> None:
    operator = BashOperator(task_id="bash", bash_command=f"exit {code}")
    error = raised_by(lambda: operator.execute({}))
    assert conclusion_code(alive(error)) == f"exit.{code}"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Bash command failed. The command returned a non-zero exit code 137.", "exit.137"),
        ("SSH operator error: exit status = 143", "exit.143"),
        ("Process returned non-zero exit status 75.", "exit.75"),
        ("Command exited with return code 126", "exit.126"),
        ("The job exited with code 127", "exit.127"),
        ("Process exited abnormally with code 134", "exit.134"),
        ("Container exited with a non-zero exit code 143. Error file: prelaunch.err.", "exit.143"),
        ("Exit code: 143", "exit.143"),
        ("Exit code is 137", "exit.137"),
        ("exit code=137", "exit.137"),
        ("command terminated with exit code 137", "exit.137"),
        ('{"containers": [{"exitCode": 137, "name": "main"}]}', "exit.137"),
        ("{'terminated': {'container_id': None, 'exit_code': 143, 'message': None}}", "exit.143"),
        ("Docker container failed: {'Error': None, 'StatusCode': 137}", "exit.137"),
        ("Cannot execute: spark-submit --class X. Error code is: 143.", "exit.143"),
        ("Command '['x']' died with <Signals.SIGKILL: 9>.", "exit.137"),
        ("Task exited with return code -9", "exit.137"),
        ("Task exited with return code Negsignal.SIGKILL", "exit.137"),
        ("worker was terminated by signal 15", "exit.143"),
        ("killed by signal: SIGTERM", "exit.143"),
        ("process 0 terminated with signal SIGKILL", "exit.137"),
        ("The exit codes of the workers are {SIGKILL(-9)}", "exit.137"),
        ("exec failed: signal: killed", "exit.137"),
        ("signal: segmentation fault (core dumped)", "exit.139"),
    ],
)
def test_printed_exit_codes_are_read(message: str, code: str) -> None:
    assert codes(printed(AIRFLOW_EXCEPTION, message), "exit") == [code]


@pytest.mark.parametrize(
    "message",
    [
        "status code 137",
        "HTTP status 143",
        "error code 137",
        "exit code 0",
        "Exit status: -100. Diagnostics: Container released on a lost node",
        "FAILED: Execution Error, return code 2 from org.apache.hadoop.hive.ql.exec.mr.MapRedTask",
        "exit code 137.5",
        "exit code 1370",
        "exit codes are documented",
        "the code exits",
        "'StatusCode': 503",
        "killed by signals",
        "return code",
    ],
)
def test_near_misses_are_no_exit_code(message: str) -> None:
    assert codes(printed(AIRFLOW_EXCEPTION, message), "exit") == []


def test_a_missing_exit_status_of_ssh_is_a_lost_connection() -> None:
    assert codes(printed(AIRFLOW_EXCEPTION, "SSH operator error: exit status = -1"), "exit") == ["(exit.255)"]


def test_containers_that_ended_differently_leave_it_open() -> None:
    pod = "[{'exit_code': 143, 'name': 'sidecar'}, {'exit_code': 0, 'name': 'x'}, {'exit_code': 127, 'name': 'base'}]"
    assert codes(printed(AIRFLOW_EXCEPTION, pod), "exit") == ["(exit.143)", "(exit.127)"]


@pytest.mark.parametrize(
    ("program", "output", "code", "expected"),
    [
        ("curl", "curl: (22) The requested URL returned error: 404", 22, "http.404"),
        ("curl", "curl: (22) The requested URL returned error: 503", 22, "http.503"),
        (
            "aws",
            "An error occurred (ThrottlingException) when calling the GetRecords operation: Rate exceeded",
            254,
            "aws.ThrottlingException",
        ),
        ("psql", "psql:load.sql:1: NOTICE:  table does not exist, skipping\npsql:load.sql:2: ERROR:  deadlock detected",
         3, "text.deadlock"),
        ("psql", "psql:load.sql:2: ERROR:  something else", 3, None),
    ],
)  # fmt: skip
def test_what_a_program_printed_is_read_as_an_exception_would_be(
    program: str, output: str, code: int, expected: str | None, tmp_path: Path
) -> None:
    command = fake_program(tmp_path, program, f"cat >&2 <<'END'\n{output}\nEND\nexit {code}")
    error = raised_by(lambda: subprocess.run([command], check=True, capture_output=True))
    assert conclusion_code(alive(error)) == expected
