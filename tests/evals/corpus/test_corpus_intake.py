"""What becomes of a failure in a log: one recording of each kind, counted, redacted, with a name one can read."""

from __future__ import annotations

import traceback
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from airflow.exceptions import AirflowException
from evals.corpus.collecting import (
    NOON,
    TRACEBACK,
    a_try,
    collect_into,
    corpus_in,
    label_for,
    log_of,
    task_log,
    texts_in,
)

from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder
from airflow_common_ai.evals.corpus.intake import MAX_NEW_CASES, Intake
from airflow_common_ai.evals.corpus.log import Log, Skipped, TaskTry, task_try_in
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.split import split_of


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    try:
        raise outer from inner
    except BaseException as error:
        return error


def while_handling(outer: BaseException, inner: BaseException) -> BaseException:
    try:
        try:
            raise inner
        except BaseException:
            raise outer  # noqa: B904 - that nothing says why is what is tested
    except BaseException as error:
        return error


def traceback_of(line: str, name: str = "error.txt") -> Log:
    return Log(name, TRACEBACK.format(line), NOON)


def test_the_same_failure_is_kept_once_and_counted(tmp_path: Path) -> None:
    intake = collect_into(
        tmp_path,
        log_of(ValueError("row 7 is bad"), 1),
        log_of(ValueError("row 8 is bad"), 2),
        log_of(ValueError("row 9 is bad"), 1, task_id="other", dag_id="other"),
        log_of(KeyError("id"), 3),
    )

    assert (intake.logs, intake.failures, len(intake.new)) == (4, 4, 2)
    assert sum(intake.repeated.values()) == 2
    assert sorted((one.id.partition("-")[0], one.count) for one in corpus_in(tmp_path)) == [
        ("shop/load", 1),
        ("shop/load", 3),
    ]


def test_a_try_is_counted_once_however_often_it_is_added(tmp_path: Path) -> None:
    first = collect_into(tmp_path, log_of(ValueError("bad"), 1), log_of(ValueError("bad"), 2))
    again = collect_into(tmp_path, log_of(ValueError("bad"), 2), log_of(ValueError("bad"), 3))

    assert (first.failures, again.failures, again.logs_added_before) == (2, 1, 1)
    assert [one.count for one in corpus_in(tmp_path)] == [3]


def test_a_log_without_a_failure_is_looked_at_again_since_it_may_get_one(tmp_path: Path) -> None:
    running = Log("shop-1.log", task_log(), NOON, a_try())

    before = collect_into(tmp_path, running)
    after = collect_into(tmp_path, log_of(ValueError("bad")))

    assert (before.logs_without_failure, after.failures) == (1, 1)


def test_texts_of_the_same_name_and_content_are_one_and_others_count(tmp_path: Path) -> None:
    logs = [traceback_of("ValueError: bad", name) for name in ("a.txt", "b.txt", "a.txt")]

    intake = collect_into(tmp_path, *logs)

    assert (intake.failures, intake.logs_added_before) == (2, 1)


def test_every_try_in_one_file_counts(tmp_path: Path) -> None:
    text = task_log(ValueError("bad"), KeyError("id"), ValueError("bad"))

    intake = collect_into(tmp_path, Log("all.log", text, NOON))

    assert (intake.failures, len(intake.new)) == (3, 2)


def test_labels_that_are_there_are_kept(tmp_path: Path) -> None:
    (recording_id,) = collect_into(tmp_path, log_of(ValueError("bad"))).new
    corpus = corpus_in(tmp_path)
    corpus.labels[recording_id] = label_for(recording_id)
    corpus.save()

    collect_into(tmp_path, log_of(ValueError("bad"), 2), log_of(OSError("new"), 3))

    assert corpus_in(tmp_path).labels == {recording_id: label_for(recording_id)}


@pytest.mark.parametrize(
    ("dag_id", "task_id", "readable"),
    [
        ("my_dag", "load_orders", "my_dag/load-orders-"),
        ("My.Dag-2", "group.Load Orders", "my_dag_2/group-load-orders-"),
        ("naïve", "größe", "naive/groe-"),
        ("..", "../../etc/passwd", "dag/etc-passwd-"),
        ("日本", "日本", "dag/task-"),
        ("labels", "t", "labels_dag/t-"),
        ("d" * 300, "t" * 300, f"{'d' * 60}/{'t' * 140}-"),
    ],
)
def test_a_case_is_named_by_its_dag_and_its_task(dag_id: str, task_id: str, readable: str, tmp_path: Path) -> None:
    log = log_of(ValueError("bad"), task_id=task_id, dag_id=dag_id)
    (recording_id,) = collect_into(tmp_path / "one", log).new

    assert recording_id.removesuffix(recording_id[-8:]) == readable
    assert corpus_in(tmp_path / "one")[recording_id].fingerprint.startswith(recording_id[-8:])
    assert collect_into(tmp_path / "two", log).new == [recording_id]


def test_a_failure_of_no_task_is_named_by_its_class(tmp_path: Path) -> None:
    intake = collect_into(tmp_path, traceback_of("requests.exceptions.ConnectionError: no route"))

    assert intake.new[0].startswith("tracebacks/connection-error-")


@pytest.mark.parametrize(
    ("failure", "library"),
    [
        (ValueError("bad"), "python"),
        (requests.ConnectionError("no route"), "requests"),
        (caused(AirflowException("no data"), requests.ConnectionError("no route")), "requests"),
        (caused(requests.ConnectionError("no route"), OSError("unreachable")), "requests"),
        (AirflowException("no data"), "airflow"),
        (while_handling(AirflowException("no data"), requests.ConnectionError("no route")), "requests"),
        (while_handling(ValueError("bad"), requests.ConnectionError("no route")), "python"),
    ],
)
def test_where_nobody_knows_the_library_it_is_the_package_of_the_innermost_exception(
    failure: BaseException, library: str, tmp_path: Path
) -> None:
    collect_into(tmp_path, Log("error.txt", "".join(traceback.format_exception(failure)), NOON))
    (recording,) = corpus_in(tmp_path)

    assert (recording.provenance.library, recording.provenance.version) == (library, None)
    assert recording.split is split_of(recording.evidence, library)


def test_what_is_no_log_is_remembered_with_its_reason_and_of_very_many_the_first(tmp_path: Path) -> None:
    intake = collect_into(tmp_path, *(Skipped(f"{number}.bin", "no text") for number in range(1500)))

    assert (intake.skipped_in_all, len(intake.skipped)) == (1500, 1000)


def test_one_log_at_a_time_is_in_memory(tmp_path: Path) -> None:
    def logs() -> Iterator[Log]:
        for number in range(40):
            yield Log(f"{number}.log", "x" * 1_000_000 + "\n" + task_log(ValueError("bad")), NOON, a_try(number))

    redactor = Redactor()
    intake = Intake(Corpus(CorpusFolder(tmp_path), redactor), redactor)
    tracemalloc.start()
    for _ in intake.add(logs()):
        pass
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert intake.failures == 40
    assert peak_bytes < 15_000_000


def test_of_very_many_different_failures_a_bounded_number_is_added_and_known_ones_still_count(tmp_path: Path) -> None:
    logs = [many_failures(start, 1005) for start in range(0, MAX_NEW_CASES, 1000)]

    intake = collect_into(tmp_path, *logs)

    assert (len(intake.new), intake.over_limit) == (MAX_NEW_CASES, 5)
    assert sum(intake.repeated.values()) == 9 * 5
    seen = corpus_in(tmp_path).folder.read_seen()
    assert seen == {log.key for log in logs[:-1]}


def test_of_a_log_that_holds_very_many_failures_a_bounded_number_is_read(tmp_path: Path) -> None:
    intake = collect_into(tmp_path, many_failures(0, 2003))

    assert intake.failures == 2000
    assert [one.reason for one in intake.skipped] == ["the rest of it: it holds more than 2,000 failures. Split it"]


def many_failures(start: int, count: int) -> Log:
    numbers = range(start, start + count)
    return Log(f"{start}.txt", "".join(TRACEBACK.format(f"ValueError: {word_for(one)}") for one in numbers), NOON)


def word_for(number: int) -> str:
    """Return words without a digit, of which no two are the same failure."""
    letters = "abcdefghij"
    return " ".join(letters[int(digit)] * 3 for digit in f"{number:06}")


CANARIES = (
    "postgresql://bob:canary-hunter2@db/orders",
    "token=ghp_canaryabcdefghijklmnopqrstuvwxyz0123",
    "Authorization: Bearer canary.eyJhbGciOiJIUzI1NiJ9.c2VjcmV0",
)


@pytest.mark.parametrize("secret", CANARIES)
def test_a_secret_in_a_log_reaches_no_file(secret: str, tmp_path: Path) -> None:
    collect_into(
        tmp_path,
        log_of(RuntimeError(f"cannot use {secret}")),
        log_of(OSError("no"), task_id=secret, dag_id=f"dag {secret}"),
        Log(f"{secret}.txt", TRACEBACK.format(f"ValueError: {secret}"), NOON),
    )

    assert len(list(corpus_in(tmp_path))) == 3
    assert not [text for text in texts_in(tmp_path) if "canary" in text]
    assert not [path for path in tmp_path.rglob("*") if "canary" in path.name]


def test_a_log_says_itself_whose_it_is_if_it_is_of_one_try() -> None:
    record = (
        '{"event": "x", "ti_id": "01a22e88-4ad4-7d4b-8ab2-88aee6a67f1d", "dag_id": "shop", "task_id": "load", '
        '"run_id": "r", "map_index": -1, "try_number": 2}\n'
    )
    other = record.replace("01a22e88", "ffffffff")

    assert task_try_in(f"noise\n{record}{record}") == TaskTry("shop", "r", "load", -1, 2)
    assert task_try_in(record + other) is None
    assert task_try_in(record.replace('"shop"', "7")) is None
    assert task_try_in(record.replace("}", "")) is None
