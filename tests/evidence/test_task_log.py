"""The failure of a task is found in its log, in every form in which people get hold of one."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import airflow
import pytest
import requests
from airflow_log import TaskLog, printed, shown, stored

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.logs.task_log import read_failure
from airflow_common_ai.evidence.model import Edge, Evidence

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
UI_LANGUAGES = sorted(Path(airflow.__file__).parent.glob("ui/dist/i18n/locales/*/components.json"))


def found(text: str) -> list[tuple[str, str, str]]:
    """Read a log and return type, message and edge of what was found."""
    evidence = read_failure(text, NOW)
    nodes = evidence.nodes if evidence else ()
    return [(node.type_path.removeprefix("builtins."), node.message, node.edge.value) for node in nodes]


def raised(exception: BaseException, *, cause: BaseException | None = None) -> BaseException:
    try:
        raise exception from cause
    except BaseException as error:
        return error


MISSING = raised(FileNotFoundError(2, "No such file or directory", "/nowhere/prices.csv"))
NO_PRICES = raised(RuntimeError("no prices"), cause=MISSING)
AS_READ = [
    ("RuntimeError", "no prices", "root"),
    ("FileNotFoundError", "[Errno 2] No such file or directory: '/nowhere/prices.csv'", "cause"),
]


def with_time_before_each_line(text: str) -> str:
    return "".join(f"2026-01-31T12:00:00.123456789Z stdout F {line}\n" for line in text.splitlines())


def as_in_airflow_2(exception: BaseException) -> str:
    lead = "[2026-01-31T12:00:00.000+0000] {taskinstance.py:2890}"
    trace = "".join(traceback.format_exception(exception))
    return f"{lead} ERROR - Task failed with exception\n{trace}{lead} INFO - Marking task as UP_FOR_RETRY. dag_id=x\n"


def by_docker(text: str) -> str:
    """As Docker's json-file driver writes it: a record a line, long lines in pieces of 16 KiB."""
    lines = []
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), 16384):
            piece = {"log": line[start : start + 16384], "stream": "stderr", "time": "2026-01-31T12:00:00.123456789Z"}
            lines.append(json.dumps(piece))
    return "\n".join(lines)


def by_kubernetes(text: str) -> str:
    """As containerd writes it: long lines in parts, and the other stream between them."""
    lines = []
    for line in text.splitlines():
        *parts, last = [line[start : start + 16384] for start in range(0, len(line), 16384)] or [""]
        for part in parts:
            lines.append(f"2026-01-31T12:00:00.000000000Z stderr P {part}")
            lines.append("2026-01-31T12:00:00.000000001Z stdout F tick")
        lines.append(f"2026-01-31T12:00:00.000000002Z stderr F {last}")
    return "\n".join(lines)


def by_the_journal(text: str) -> str:
    """As ``journalctl -o json`` shows it: what is not plain text as numbers of bytes."""
    return "\n".join(
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": "1769860800000000",
                "_PID": "77",
                "PRIORITY": "6",
                "SYSLOG_IDENTIFIER": "airflow",
                "MESSAGE": list(line.encode()) if "\x1b" in line else line,
            }
        )
        for line in text.splitlines()
    )


def by_fluent_bit(text: str) -> str:
    return "\n".join(
        json.dumps(
            {
                "date": 1769860800.1,
                "stream": "stderr",
                "logtag": "F",
                "log": line,
                "kubernetes": {"pod_name": "airflow-worker-0", "container_name": "worker"},
            }
        )
        for line in text.splitlines()
    )


def by_fluentd(text: str) -> str:
    """As Fluentd's file output writes it: time, tag, record."""
    lead = "2026-01-31T12:00:00+00:00\tkube.var.log.containers.airflow-worker-0.log\t"
    return "\n".join(
        lead + json.dumps({"message": line, "stream": "stderr", "docker": {"container_id": "0f"}})
        for line in text.splitlines()
    )


def by_cloudwatch(text: str) -> str:
    """As ``aws logs get-log-events`` shows it."""
    events = [{"timestamp": 1769860800000, "message": line, "ingestionTime": 1} for line in text.splitlines()]
    return json.dumps({"events": events, "nextForwardToken": "f/1"}, indent=4)


WRAPPERS = (by_docker, by_kubernetes, by_the_journal, by_fluent_bit, by_fluentd, by_cloudwatch)


def traced(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


FORMS: dict[str, Callable[[BaseException], str]] = {
    "a bare traceback": lambda error: "".join(traceback.format_exception(error)),
    "the log file": stored,
    "the API's answer": lambda error: json.dumps({"content": TaskLog().failed(error).records}),
    "the API's answer, laid out": lambda error: json.dumps({"content": TaskLog().failed(error).records}, indent=2),
    "a list of records": lambda error: json.dumps(TaskLog().failed(error).records),
    "a console": printed,
    "a console in colours": lambda error: printed(error, colors=True),
    "a container's log of a console": lambda error: with_time_before_each_line(printed(error)),
    "a container's log of JSON": lambda error: with_time_before_each_line(stored(error)),
    "Docker Compose": lambda error: f"worker-1  | {stored(error)}",
    "Docker's own file": lambda error: json.dumps({"log": stored(error), "stream": "stdout", "time": "2026"}),
    "Airflow 2": as_in_airflow_2,
    "the API of Airflow 2": lambda error: json.dumps({"content": repr([("host", as_in_airflow_2(error))])}),
    "a line of JSON with a printed traceback": lambda error: json.dumps(
        {"severity": "ERROR", "message": "oh", "time": "", "exc": {"text": "".join(traceback.format_exception(error))}}
    ),
    "JSON with a printed traceback under Airflow's words": lambda error: json.dumps(
        {
            "level": "error",
            "timestamp": "",
            "event": "Task failed with exception",
            "exception": "".join(traceback.format_exception(error)),
        }
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_failure_is_found_in_every_form(form: Callable[[BaseException], str]) -> None:
    assert found(form(NO_PRICES)) == AS_READ


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "form", [traced, stored, printed, as_in_airflow_2, lambda error: printed(error, colors=True)], ids=str
)
def test_the_failure_is_found_inside_what_carries_logs(
    wrapper: Callable[[str], str], form: Callable[[BaseException], str]
) -> None:
    assert found(wrapper(form(NO_PRICES))) == AS_READ


def test_a_carrier_inside_a_carrier_is_taken_off_too() -> None:
    assert found(by_fluentd(by_docker(traced(NO_PRICES)))) == AS_READ
    assert found(by_cloudwatch(by_kubernetes(stored(NO_PRICES)))) == AS_READ


@pytest.mark.parametrize("wrapper", [by_docker, by_kubernetes])
def test_a_line_in_pieces_is_put_together(wrapper: Callable[[str], str]) -> None:
    message = "rows: " + " ".join(map(str, range(9000)))
    wrapped = wrapper(stored(raised(ValueError(message))))
    assert len(wrapped.splitlines()) >= 3

    (node,) = found(wrapped)

    assert node[1].startswith("rows: 0 1 2")
    assert node[1].endswith("8998 8999")


@pytest.mark.parametrize(
    "line",
    [
        '{"log": "Traceback (most recent call last):"',
        '{"log": 5, "stream": "stderr"}',
        '{"MESSAGE": [300, "x"], "_PID": "1"}',
        '{"MESSAGE": null, "_PID": "1"}',
        "2026-01-31T12:00:00.1Z stderr",
        '{"events": [1, {"message": "hello", "ingestionTime": 1}, null]}',
        "[" * 5000 + "]" * 5000,
        '{"message": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_a_damaged_carrier_is_no_failure(line: str) -> None:
    assert found(line) == []


def test_a_record_of_a_program_is_no_carrier_of_lines() -> None:
    """Its level, and an exception beside the words, say more than the words alone."""
    record = {"log": "oh", "level": "error", "time": "", "stream": "stderr", "exc": traced(NO_PRICES)}
    assert found(json.dumps(record)) == AS_READ


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_windows_line_ends_and_blank_lines_around_change_nothing(form: Callable[[BaseException], str]) -> None:
    assert found("\n\n" + form(NO_PRICES).replace("\n", "\r\n") + "\r\n") == AS_READ


def test_notes_and_members_of_groups_stay_what_they_are() -> None:
    group = ExceptionGroup("two regions", [raised(ConnectionResetError(104, "Connection reset by peer")), MISSING])
    group.add_note("of seven")

    evidence = read_failure(stored(raised(group)), NOW)

    assert evidence is not None
    root, reset, missing = evidence.nodes
    assert (root.type_path, root.notes) == ("builtins.ExceptionGroup", ("of seven",))
    assert [(node.class_name, node.edge, node.parent) for node in (reset, missing)] == [
        ("ConnectionResetError", Edge.MEMBER, 0),
        ("FileNotFoundError", Edge.MEMBER, 0),
    ]


def test_groups_in_groups_keep_their_chains() -> None:
    inner = raised(ExceptionGroup("inner", [NO_PRICES]))

    assert found(stored(raised(ExceptionGroup("outer", [inner])))) == [
        ("ExceptionGroup", "outer (1 sub-exception)", "root"),
        ("ExceptionGroup", "inner (1 sub-exception)", "member"),
        ("RuntimeError", "no prices", "member"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/nowhere/prices.csv'", "cause"),
    ]


def test_what_was_only_being_handled_is_no_cause() -> None:
    try:
        try:
            raise KeyError("region")
        except KeyError:
            raise ValueError("no region")  # noqa: B904 - as people write it
    except ValueError as caught:
        error = caught
    assert found(stored(error)) == [("ValueError", "no region", "root"), ("KeyError", "'region'", "context")]


def test_a_failure_in_the_words_of_another_is_found_as_in_a_live_one() -> None:
    remote = "".join(traceback.format_exception(MISSING))
    error = raised(RuntimeError(f"the worker said:\n{remote}"))

    assert found(stored(error))[1:] == [(*AS_READ[1][:2], "nested")]
    assert [node.edge for node in collect(error).nodes] == [Edge.ROOT, Edge.NESTED]


def test_long_chains_keep_both_ends() -> None:
    error = raised(ValueError("0"))
    for number in range(1, 40):
        error = raised(ValueError(str(number)), cause=error)

    evidence = read_failure(stored(error), NOW)

    assert evidence is not None
    assert evidence.is_truncated
    assert [node.message for node in evidence.nodes] == [*map(str, range(39, 31, -1)), *map(str, range(7, -1, -1))]


def test_long_messages_are_cut() -> None:
    evidence = read_failure(stored(raised(ValueError("x" * 100_000))), NOW)

    assert evidence is not None
    assert evidence.is_truncated
    assert len(evidence.nodes[0].message) < 20_000


# ---- what the UI shows


def test_what_the_ui_shows_does_not_say_what_caused_what() -> None:
    assert found(shown(TaskLog().failed(NO_PRICES).records)) == [AS_READ[0], (*AS_READ[1][:2], "context")]


@pytest.mark.parametrize("has_source", [True, False], ids=["source shown", "source hidden"])
@pytest.mark.parametrize("has_time", [True, False], ids=["time shown", "time hidden"])
def test_what_the_ui_shows_is_read_with_every_setting_of_it(has_source: bool, has_time: bool) -> None:
    log = TaskLog().begins().info("Loading").failed(NO_PRICES).info("::group::Post Execute")

    text = shown(log.records, has_source=has_source, has_time=has_time)

    assert [node[:2] for node in found(text)] == [node[:2] for node in AS_READ]


@pytest.mark.parametrize("language", UI_LANGUAGES, ids=lambda path: path.parent.name)
def test_what_the_ui_shows_is_read_in_each_of_its_languages(language: Path) -> None:
    words = json.loads(language.read_text("utf-8"))["logs"]
    location = words["location"].replace("{{line}}", "{lineno}").replace("{{name}}", "{name}")
    text = shown(TaskLog().failed(NO_PRICES).records, frame=f"{words['file']} {{filename}}, {location}")

    assert [node[:2] for node in found(text)] == [node[:2] for node in AS_READ]


def test_all_languages_of_the_ui_are_tried() -> None:
    assert {"de", "en", "ja", "zh-CN"} <= {path.parent.name for path in UI_LANGUAGES}


def test_what_was_copied_from_the_screen_is_read() -> None:
    text = (
        "[2026-01-31 12:00:00] ERROR - Task failed with exception source=task loc=task_runner.py:1676\n"
        "RuntimeError: no prices\n"
        'File "/opt/airflow/dags/prices.py", line 85 in load\n'
        "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/prices.csv'\n"
        'File "/opt/airflow/dags/prices.py", line 83 in <lambda>\n'
        "[2026-01-31 12:00:00] INFO - ::group::Post Execute source=task loc=task_runner.py:1677\n"
    )
    assert [node[:2] for node in found(text)] == [node[:2] for node in AS_READ]
    assert [node[:2] for node in found(text.split("\n", 1)[1])] == [node[:2] for node in AS_READ]


def test_messages_of_many_lines_survive_the_ui() -> None:
    message = "the loader said:\n\n  2 rows, line 3, column 4\n  in /tmp/x, bad\nbye"

    assert found(shown(TaskLog().failed(raised(ValueError(message))).records)) == [("ValueError", message, "root")]


# ---- which failure of a log


def test_of_several_tries_the_last_one_counts() -> None:
    log = TaskLog().begins().failed(MISSING).begins().failed(NO_PRICES)
    assert found(log.stored) == AS_READ
    assert found(shown(log.records))[0] == AS_READ[0]
    assert found(as_in_airflow_2(MISSING) + as_in_airflow_2(NO_PRICES)) == AS_READ


@pytest.mark.parametrize(
    "end",
    ["Process terminated by signal. Likely out of memory error (OOM).", "Task finished"],
)
def test_a_last_try_without_an_exception_is_no_failure(end: str) -> None:
    log = TaskLog().begins().failed(MISSING).begins().info(end)
    assert found(log.stored) == []
    assert found(shown(log.records)) == []


def test_a_last_try_without_an_exception_is_no_failure_in_airflow_2_either() -> None:
    assert (
        found(as_in_airflow_2(MISSING) + "[2026-01-31, 12:05:00 UTC] {x.py:1} INFO - Starting attempt 2 of 4\n") == []
    )


def test_the_failure_of_the_task_counts_and_not_what_fails_after_it() -> None:
    log = TaskLog().begins().error("could not cache", exc_info=raised(OSError("full"))).failed(NO_PRICES)
    log.error("Failed to run task callback", exc_info=raised(ValueError("bad webhook")))
    assert found(log.stored) == AS_READ
    assert [node[:2] for node in found(shown(log.records))] == [node[:2] for node in AS_READ]
    callback = "".join(traceback.format_exception(raised(ValueError("bad webhook"))))
    assert found(f"{printed(NO_PRICES)}2026-01-31T12:00:01Z [error] Failed to run task callback\n{callback}") == AS_READ


def test_a_piece_without_airflows_words_is_read_by_its_last_exception() -> None:
    log = TaskLog().error("upload failed", exc_info=MISSING).error("load failed", exc_info=NO_PRICES).info("bye")
    assert found(log.stored) == AS_READ


def test_words_of_airflow_in_a_callback_do_not_hide_the_failure() -> None:
    log = TaskLog().failed(NO_PRICES).error("could not send", exc_info=raised(ValueError("bad webhook")))
    log.info("sent: Task failed with exception, see the log")
    for has_time in (True, False):
        assert [node[:2] for node in found(shown(log.records, has_time=has_time))] == [node[:2] for node in AS_READ]
    callback = "".join(traceback.format_exception(raised(ValueError("bad webhook"))))
    lead = "[2026-01-31, 12:05:00 UTC] {x.py:1}"
    text = f"{as_in_airflow_2(NO_PRICES)}{lead} ERROR - oh\n{callback}{lead} INFO - sent: Task failed with exception\n"
    assert found(text) == AS_READ


def test_earlier_decisions_are_no_failures() -> None:
    reason = "python.value_error: builtins.ValueError: bad"
    log = TaskLog().failed(NO_PRICES).info("Retry policy decision", action="fail", reason=reason)
    log.error(f"ValueError: {reason}", logger="airflow_common_ai.policies.evaluation")
    assert found(log.stored) == AS_READ

    line = "requests.exceptions.ConnectionError: Max retries exceeded"
    decided = (
        f"[2026-01-31T12:00:00Z] ERROR - {line}\n"
        "[2026-01-31T12:00:00Z] INFO - retry in 5 s - x source=airflow_common_ai.policies.evaluation\n"
        f"[2026-01-31T12:00:00Z] INFO - Retry policy decision reason=ValueError: bad\n"
    )
    assert found(decided) == [("requests.exceptions.ConnectionError", "Max retries exceeded", "root")]


def test_an_exit_is_a_failure_with_its_code() -> None:
    log = TaskLog().begins().error("Task exited", exit_code=137)
    for text in (log.stored, shown(log.records)):
        evidence = read_failure(text, NOW)
        assert evidence is not None
        assert evidence.nodes == collect(SystemExit(137)).nodes


def test_the_traceback_of_a_failed_trigger_hangs_below_the_failure_of_its_task() -> None:
    from airflow.sdk.exceptions import TaskDeferralError

    trace = "\n".join(traceback.format_exception(MISSING))
    log = TaskLog().begins().error(f"Trigger failed:\n{trace}").failed(raised(TaskDeferralError("Trigger failure")))
    for text in (log.stored, shown(log.records)):
        root, below = found(text)
        assert root == ("TaskDeferralError", "Trigger failure", "root")
        assert below == (*AS_READ[1][:2], "trigger")


# ---- what else a log tells


def test_the_time_of_the_failure_is_that_of_the_log() -> None:
    before = datetime.now(UTC)
    log = TaskLog().begins().failed(NO_PRICES)
    for text in (log.stored, shown(log.records), printed(NO_PRICES)):
        evidence = read_failure(text, NOW)
        assert evidence is not None
        assert timedelta(0) <= evidence.observed_at - before < timedelta(minutes=10)


def test_a_traceback_without_a_time_failed_when_it_was_seen() -> None:
    assert observed(FORMS["a bare traceback"](NO_PRICES)) == NOW
    assert observed(stored(NO_PRICES).replace("Z", "?")) == NOW


def observed(text: str) -> datetime:
    evidence = read_failure(text, NOW)
    assert isinstance(evidence, Evidence)
    return evidence.observed_at


def test_lines_of_json_in_a_message_are_not_taken_for_records() -> None:
    body = '{"timestamp": "2026-01-31", "status": 500, "error": "Internal Server Error", "message": "boom"}'
    error = raised(requests.HTTPError(f"500 Server Error\nHTTP response body: {body}\n{body}\nend"))
    text = "".join(traceback.format_exception(error))

    assert found(text)[0][1] == str(error)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "all is well",
        "{}",
        "[]",
        "null",
        '"ValueError"',
        '{"content": null}',
        '{"content": [1, null, "x", {}, {"event": 3}]}',
        '{"event": "Task failed with exception", "timestamp": "", "level": "error"}',
        '{"event": "Task failed with exception", "timestamp": "", "level": "", "error_detail": [[], {}, 3]}',
        '{"event": "x", "timestamp": "", "level": "", "error_detail": [{"exc_type": 3}]}',
        "Task failed with exception",
        "Task failed with exception source=task \n    File /x.py, line 3 in f",
        "    File /x.py, line 3 in f",
        "Task exited",
        "[" * 100_000,
        '{"event":' * 50_000,
        '{"timestamp": "", "level": "", "event": ' + "[" * 500 + "]" * 500 + "}",
        "9" * 10_000,
    ],
)
def test_where_nothing_failed_nothing_is_found(text: str) -> None:
    assert found(text) == []


def test_stacks_that_a_stranger_wrote_are_read_as_far_as_they_go() -> None:
    stacks = [
        {"exc_type": "ValueError", "exc_value": 3, "exc_notes": ["a", 4], "frames": [1, {}, {"filename": None}]},
        {"exc_type": "KeyError", "is_cause": "yes", "frames": None, "exceptions": [3, [{"exc_type": "OSError"}]]},
        "end",
        {"exc_type": "TypeError"},
    ]
    record = {"event": "Task failed with exception", "timestamp": 5, "level": 1, "error_detail": stacks}

    evidence = read_failure(json.dumps(record), NOW)

    assert evidence is not None
    assert [(node.class_name, node.message, node.notes, node.edge) for node in evidence.nodes] == [
        ("ValueError", "", ("a",), Edge.ROOT),
        ("KeyError", "", (), Edge.CONTEXT),
        ("OSError", "", (), Edge.MEMBER),
    ]
    assert evidence.observed_at == NOW
