from __future__ import annotations

import pytest
from http_reading import answer_node, signal_of, signals_of

from airflow_common_ai.evidence.model import Fact, Rank, Retry, Strength, Wait

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
NONE, NOW, SHORT, MEDIUM, LONG = Wait.NONE, Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

STATUSES = [
    ([400, 411, 413, 416, 417, 422, 428, 431], "data", NO, NONE),
    ([401, 403, 407, 511, 561], "auth", NO, NONE),
    ([419, 440, 498], "auth", DEPENDS, SHORT),
    ([404, 410], "resource", NO, NONE),
    ([402, 405, 406, 414, 415, 426, 501, 505, 506, 507, 508], "permanent", NO, NONE),
    ([418, 451, 463, 464, 494, 495, 496, 497], "permanent", NO, NONE),
    ([408, 444, 460, 499, 502, 504, 598, 599, 520, 521, 522, 523, 527, 530], "network", YES, SHORT),
    ([421, 425], "network", YES, NOW),
    ([524], "network", DEPENDS, MEDIUM),
    ([409], "transient", DEPENDS, SHORT),
    ([412], "data", DEPENDS, NOW),
    ([423, 424], "transient", DEPENDS, MEDIUM),
    ([449], "transient", YES, NOW),
    ([500], "transient", YES, SHORT),
    ([503, 529, 531], "transient", YES, MEDIUM),
    ([420, 429, 430, 509], "rate_limit", YES, MEDIUM),
    ([525], "permanent", DEPENDS, LONG),
    ([526], "permanent", NO, NONE),
    # Never registered, never seen: the x00 of their class.
    ([542, 599, 578], None, YES, SHORT),
]


@pytest.mark.parametrize(
    ("status", "category", "retry", "wait"),
    [(status, category, retry, wait) for statuses, category, retry, wait in STATUSES for status in statuses],
)
def test_a_bare_status_is_read_by_its_row(status: int, category: str | None, retry: Retry, wait: Wait) -> None:
    signal = signal_of(answer_node({"status": status}))
    assert (signal.code, signal.rank, signal.retry, signal.wait) == (f"http.{status}", Rank.STATUS, retry, wait)
    assert category is None or signal.category == category
    assert signal.is_conclusive
    assert signal.source
    assert str(status) not in signal.sentence


def test_an_unknown_client_error_is_only_a_hint() -> None:
    signal = signal_of(answer_node({"status": 489}))
    assert (signal.category, signal.strength) == ("data", Strength.HINT)


@pytest.mark.parametrize("status", [100, 200, 204])
def test_a_status_of_success_says_nothing(status: int) -> None:
    assert signals_of(answer_node({"status": status})) == []


@pytest.mark.parametrize("status", [403, 408, 409, 413, 423, 425, 429, 500, 502, 503, 504, 529])
def test_a_retry_after_makes_a_refusal_temporary(status: int) -> None:
    signal = signal_of(answer_node({"status": status, "header.retry-after": 120.0}))
    assert (signal.retry, signal.asked_delay_s) == (YES, 120)
    assert signal.category in ("rate_limit", "transient", "network")


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_a_retry_after_on_a_final_status_buys_one_retry(status: int) -> None:
    signal = signal_of(answer_node({"status": status, "header.retry-after": 30.0}))
    assert (signal.retry, signal.max_attempts, signal.asked_delay_s) == (DEPENDS, 2, 30)


def test_a_refusal_with_an_empty_budget_is_a_rate_limit() -> None:
    facts: dict[str, Fact] = {"header.x-ratelimit-remaining": 0.0, "header.x-ratelimit-reset": 1767225660.0}
    signal = signal_of(answer_node({"status": 403, **facts}))
    assert (signal.code, signal.category, signal.retry) == ("http.403.throttled", "rate_limit", YES)
    assert signal.asked_delay_s == 60


@pytest.mark.parametrize(("status", "category"), [(401, "auth"), (404, "resource"), (422, "data")])
def test_an_empty_budget_explains_no_other_error(status: int, category: str) -> None:
    """Budget headers come with every answer, and any request may be the last of a window."""
    facts: dict[str, Fact] = {"header.x-ratelimit-remaining": 0.0, "header.x-ratelimit-reset": 1767225660.0}
    signal = signal_of(answer_node({"status": status, **facts}))
    assert (signal.category, signal.retry, signal.asked_delay_s) == (category, NO, None)


def test_a_full_budget_is_no_reason_to_wait() -> None:
    facts: dict[str, Fact] = {"header.x-ratelimit-remaining": 55.0, "header.x-ratelimit-reset": 1767225660.0}
    assert signal_of(answer_node({"status": 429, **facts})).asked_delay_s is None
    assert signal_of(answer_node({"status": 403, **facts})).retry is NO


@pytest.mark.parametrize(
    ("status", "said", "retry", "code"),
    [
        (429, "true", YES, "http.should_retry"),
        (400, "true", YES, "http.should_retry"),
        (429, "false", NO, "http.should_not_retry"),
        (500, "false", NO, "http.should_not_retry"),
        (409, "FALSE", NO, "http.should_not_retry"),
    ],
)
def test_the_servers_verdict_is_obeyed(status: int, said: str, retry: Retry, code: str) -> None:
    signal = signal_of(answer_node({"status": status, "header.x-should-retry": said}))
    assert (signal.rank, signal.retry, signal.code) == (Rank.VERDICT, retry, code)


def test_a_verdict_against_retries_is_for_the_clients_own_loop_if_a_wait_is_named() -> None:
    facts: dict[str, Fact] = {"header.x-should-retry": "false", "header.retry-after": 3600.0}
    signal = signal_of(answer_node({"status": 429, **facts}))
    assert (signal.rank, signal.retry, signal.asked_delay_s) == (Rank.STATUS, YES, 3600)


def test_a_client_that_retried_in_the_process_already_is_given_more_time() -> None:
    assert signal_of(answer_node({"status": 500})).wait is SHORT
    assert signal_of(answer_node({"status": 500, "retries_spent": True})).wait is MEDIUM


def test_a_post_whose_outcome_is_unknown_says_so() -> None:
    assert "may have been carried out" in signal_of(answer_node({"status": 504, "method": "POST"})).sentence
    assert "may have been carried out" not in signal_of(answer_node({"status": 504, "method": "GET"})).sentence
    assert "may have been carried out" not in signal_of(answer_node({"status": 503, "method": "POST"})).sentence
