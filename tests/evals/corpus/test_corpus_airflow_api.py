"""Failed tries through the REST API: all of them, no more than asked for, and never at the mercy of what answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest
from evals.corpus.collecting import NOON
from evals.corpus.fake_airflow import SINCE, FakeAirflow, FakeTry
from loopback.http_server import Answer, json_answer, serving

from airflow_common_ai.cli.failure_input import read_stream
from airflow_common_ai.evals.corpus.airflow_api import logs_of_failed_tries
from airflow_common_ai.evals.corpus.api_client import AirflowApiError, ApiClient
from airflow_common_ai.evals.corpus.log import Log, Skipped, TaskTry

TOKEN = "eyJ-a-token"

pytestmark = pytest.mark.usefixtures("no_proxy")


@contextmanager
def fake(tries: Sequence[FakeTry], **special: Answer) -> Iterator[FakeAirflow]:
    server = FakeAirflow(tries, special)
    try:
        yield server
    finally:
        server.close()


def fetched(
    url: str,
    *,
    dags: Sequence[str] = (),
    limit: int = 100,
    is_seen: Callable[[TaskTry], bool] = lambda task_try: False,
    answer_s: float = 30,
) -> list[Log | Skipped]:
    client = ApiClient(url, TOKEN, answer_s=answer_s)
    return list(logs_of_failed_tries(client, read_stream, since=SINCE, dags=dags, limit=limit, is_seen=is_seen))


def tries_of(logs: Sequence[Log | Skipped]) -> set[tuple[str, int, int]]:
    assert all(isinstance(log, Log) for log in logs)
    return {
        (one.task_try.task_id, one.task_try.map_index, one.task_try.number)
        for one in logs
        if isinstance(one, Log) and one.task_try
    }


def test_every_failed_try_is_fetched_once_also_of_what_a_retry_saved() -> None:
    tries = [
        FakeTry("failed", 1),
        FakeTry("failed", 2),
        FakeTry("saved", 1),
        FakeTry("saved", 2, "success"),
        FakeTry("again", 1),
        FakeTry("again", 2, "running"),
        FakeTry("mapped", 1, map_index=4),
        FakeTry("good", 1, "success"),
        FakeTry("old", 1, ended_at=SINCE - timedelta(seconds=1)),
    ]
    with fake(tries) as airflow:
        logs = fetched(airflow.url)

    assert len(logs) == 5
    assert tries_of(logs) == {
        ("failed", -1, 1),
        ("failed", -1, 2),
        ("saved", -1, 1),
        ("again", -1, 1),
        ("mapped", 4, 1),
    }
    assert all("bad row" in log.text for log in logs if isinstance(log, Log))


def test_all_pages_are_read() -> None:
    with fake([FakeTry(f"task_{number}") for number in range(205)]) as airflow:
        assert len(fetched(airflow.url, limit=1000)) == 205


def test_only_the_dags_that_were_named_are_asked_about() -> None:
    with fake([FakeTry("load"), FakeTry("load", dag_id="bills/é ?x"), FakeTry("load", dag_id="other")]) as airflow:
        logs = fetched(airflow.url, dags=["shop", "bills/é ?x"])

    assert [log.task_try.dag_id for log in logs if isinstance(log, Log) and log.task_try] == ["shop", "bills/é ?x"]


def test_no_more_logs_are_fetched_than_asked_for() -> None:
    with fake([FakeTry(f"task_{number}") for number in range(9)]) as airflow:
        *logs, last = fetched(airflow.url, limit=3)
        asked = [path for _, path in airflow.seen if "/logs/" in path]

    assert (len(logs), len(asked)) == (3, 3)
    assert isinstance(last, Skipped)
    assert "at most 3 logs" in last.reason


def test_what_was_added_before_is_not_fetched_and_does_not_count() -> None:
    with fake([FakeTry(f"task_{number}") for number in range(4)]) as airflow:
        logs = fetched(airflow.url, limit=2, is_seen=lambda one: one.task_id in ("task_0", "task_1"))
        asked = [path for _, path in airflow.seen if "/logs/" in path]

    assert (len(logs), len(asked)) == (4, 2)


@pytest.mark.parametrize("status", [404, 500, 503])
def test_a_log_that_is_gone_keeps_nobody_from_the_others(status: int) -> None:
    with fake([FakeTry("lost", log=Answer(status, "<html>")), FakeTry("kept")]) as airflow:
        lost, kept = fetched(airflow.url)

    assert isinstance(lost, Skipped)
    assert f"HTTP {status}" in lost.reason
    assert isinstance(kept, Log)


def test_a_log_that_is_empty_or_no_text_is_skipped() -> None:
    with fake([FakeTry("empty", log=Answer(200, "")), FakeTry("junk", log=Answer(200, b"\0" * 99))]) as airflow:
        logs = fetched(airflow.url)

    assert [one.reason.partition(";")[0] for one in logs if isinstance(one, Skipped)] == [
        "its log is empty",
        "its log is no text",
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(401), r"HTTP 401\. Set a valid token"),
        (Answer(403), r"HTTP 403\. Use the token of a user who may read"),
        (Answer(404), r"HTTP 404\. Check the URL"),
        (Answer(500), r"HTTP 500\. Look at the log of its API server"),
        (Answer(200, "<html>sign in</html>"), "does not answer as Airflow 3 does"),
        (json_answer(200, {"task_instances": {}}), "does not answer as Airflow 3 does"),
        (json_answer(200, {"task_instances": ["x"]}), "does not answer as Airflow 3 does"),
        (json_answer(200, {"task_instances": [{"dag_id": 7}]}), "names no task instances"),
        (Answer(200, "[" * 100_000), "does not answer as Airflow 3 does"),
        (Answer(200, "x" * 1000, cut_after_bytes=10), "broke off in its answer"),
        (Answer(raw=b""), "cannot be reached"),
        (Answer(raw=b"hello\r\n\r\n"), "cannot be reached"),
    ],
)
def test_what_is_no_answer_of_airflow_ends_it_with_what_to_do(answer: Answer, said: str) -> None:
    with serving(answer) as server, pytest.raises(AirflowApiError, match=said) as caught:
        fetched(server.url)
    assert TOKEN not in str(caught.value)


def test_a_list_without_end_is_left() -> None:
    with serving(Answer(200, b"[" + b" " * (33 * 1024**2))) as server, pytest.raises(AirflowApiError, match="32 MiB"):
        fetched(server.url)


def test_a_log_without_end_is_skipped() -> None:
    with fake([FakeTry("long", log=Answer(200, b"x\n" * (129 * 1024**2)))]) as airflow:
        (long,) = fetched(airflow.url)

    assert isinstance(long, Skipped)
    assert "more than 256 MiB" in long.reason


def test_a_redirect_is_not_followed_since_the_token_would_go_along() -> None:
    with (
        serving(Answer(200)) as thief,
        serving(Answer(302, headers={"Location": f"{thief.url}/steal"})) as server,
        pytest.raises(AirflowApiError, match="must not be sent elsewhere"),
    ):
        fetched(server.url)
    assert thief.seen == []


def test_an_answer_that_drips_is_left_when_its_time_is_over() -> None:
    with dripping() as url, pytest.raises(AirflowApiError, match="is too slow to answer"):
        fetched(url, answer_s=0.2)


def test_where_nothing_listens_that_is_said() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(AirflowApiError, match=f"127.0.0.1:{port} cannot be reached: .*refused"):
        fetched(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "url",
    ["", "airflow.example.com", "ftp://airflow.example.com", "https://", "file:///etc/passwd", "http://a/?token=x"],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be like https://airflow\.example\.com"):
        ApiClient(url, TOKEN)


def test_a_password_in_the_url_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold no password") as caught:
        ApiClient("https://bob:hunter2@airflow.example.com", TOKEN)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX-Admin: 1", "tokén"])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="the token is empty or not one word"):
        ApiClient("https://airflow.example.com", token)


@pytest.mark.parametrize("end", ["", "/", "/api/v2", "/api/v2/"])
def test_the_url_may_end_as_people_copy_it(end: str) -> None:
    with fake([FakeTry("load", ended_at=NOON)]) as airflow:
        assert len(fetched(airflow.url + end)) == 1


@contextmanager
def dripping() -> Iterator[str]:
    """Serve an answer that comes byte by byte and never ends."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not done.wait(0.02):
                    try:
                        connection.sendall(b"[")
                    except OSError:
                        return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            done.set()
            thread.join()
