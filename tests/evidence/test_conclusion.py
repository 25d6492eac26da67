"""Which signal wins: within a node, along explicit causes, against implicit contexts, in groups."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from airflow_common_ai.evidence.conclusion import Conclusion, conclude
from airflow_common_ai.evidence.model import (
    Edge,
    Rank,
    RedactedEvidence,
    RedactedNode,
    Retry,
    Signal,
    Strength,
    Wait,
)

NODE = tuple[str, Edge, int | None]


def signal(
    code: str,
    node: int,
    retry: Retry,
    rank: Rank = Rank.STATUS,
    *,
    category: str = "transient",
    strength: Strength = Strength.CONCLUSIVE,
    asked: float | None = None,
    wait: Wait = Wait.SHORT,
) -> Signal:
    return Signal(
        code=code,
        category=category,  # type: ignore[arg-type]
        retry=retry,
        wait=wait,
        rank=rank,
        sentence=code,
        source="test",
        strength=strength,
        asked_delay_s=asked,
        max_attempts=2 if retry is Retry.DEPENDS else None,
        node=node,
    )


def chain(*edges: tuple[Edge, int | None]) -> RedactedEvidence:
    nodes = (RedactedNode("Error"), *(RedactedNode("Error", edge=edge, parent=parent) for edge, parent in edges))
    return RedactedEvidence(nodes, datetime(2026, 1, 1, tzinfo=UTC))


def winner(evidence: RedactedEvidence, *signals: Signal) -> str | None:
    ordered = sorted(signals, key=lambda found: (found.node, found.rank))
    found = conclude(evidence, ordered).signal
    return found.code if found else None


CAUSE = (Edge.CAUSE, 0)
CONTEXT = (Edge.CONTEXT, 0)


def test_nothing_is_concluded_from_no_signal() -> None:
    assert conclude(chain(CAUSE), ()) == Conclusion(None)


def test_within_a_node_the_better_rank_wins() -> None:
    status = signal("http.400", 0, Retry.NO, Rank.STATUS, category="data")
    vendor = signal("aws.throttling", 0, Retry.YES, Rank.VENDOR_CODE, category="rate_limit")
    assert winner(chain(), status, vendor) == "aws.throttling"


def test_a_code_that_may_pass_yields_to_words_beside_it_that_name_another_cause() -> None:
    may_pass = signal("kubernetes.ErrImagePull", 0, Retry.DEPENDS, Rank.VENDOR_CODE)
    missing = signal("text.not_found", 0, Retry.NO, Rank.TEXT, category="resource")
    assert winner(chain(), may_pass, missing) == "text.not_found"
    hint = signal("text.not_found", 0, Retry.NO, Rank.TEXT, category="resource", strength=Strength.HINT)
    assert winner(chain(), may_pass, hint) == "kubernetes.ErrImagePull"
    expired = signal("aws.ExpiredToken", 0, Retry.DEPENDS, Rank.VENDOR_CODE, category="auth")
    denied = signal("text.access_denied", 0, Retry.NO, Rank.TEXT, category="auth")
    assert winner(chain(), expired, denied) == "aws.ExpiredToken"


def test_an_error_number_does_not_yield_to_its_own_words() -> None:
    no_socket = signal("os.enoent_socket", 0, Retry.DEPENDS, Rank.OS, category="network")
    missing = signal("text.not_found", 0, Retry.NO, Rank.TEXT, category="resource")
    assert winner(chain(), no_socket, missing) == "os.enoent_socket"
    killed = signal("exit.137", 0, Retry.DEPENDS, Rank.OS)
    assert winner(chain(), killed, missing) == "text.not_found"


def test_a_bad_request_yields_to_words_beside_it_that_name_a_passing_cause() -> None:
    bad_request = signal("google.invalidQuery", 0, Retry.NO, Rank.VENDOR_CODE, category="data")
    lost_race = signal("text.lost_race", 0, Retry.YES, Rank.TEXT)
    assert winner(chain(), bad_request, lost_race) == "text.lost_race"
    refused = signal("http.401", 0, Retry.NO, category="auth")
    assert winner(chain(), refused, lost_race) == "http.401"


def test_a_first_try_that_was_refused_for_good_does_not_fail_a_second_way_that_may_pass() -> None:
    refused_for_good = signal("http.403", 1, Retry.NO, category="auth")
    second_way = signal("os.econnrefused", 0, Retry.YES, Rank.OS, category="network")
    assert winner(chain(CONTEXT), second_way, refused_for_good) == "os.econnrefused"


def test_the_deepest_explicit_cause_wins_over_its_wrappers() -> None:
    outer = signal("http.500", 0, Retry.YES)
    inner = signal("sql.28P01", 1, Retry.NO, Rank.VENDOR_CODE, category="auth")
    assert winner(chain(CAUSE), outer, inner) == "sql.28P01"


def test_a_status_on_the_wrapper_beats_a_class_name_below_it() -> None:
    outer = signal("http.503", 0, Retry.YES)
    inner = signal("python.key_error", 1, Retry.NO, Rank.CLASS, category="data")
    assert winner(chain(CAUSE), outer, inner) == "http.503"


@pytest.mark.parametrize("rank", [Rank.CLASS, Rank.TEXT])
def test_an_implicit_context_says_nothing_by_its_class_or_words(rank: Rank) -> None:
    assert winner(chain(CONTEXT), signal("python.key_error", 1, Retry.NO, rank, category="data")) is None


def test_an_implicit_context_speaks_for_a_wrapper_that_says_nothing() -> None:
    assert winner(chain(CONTEXT), signal("http.404", 1, Retry.NO, category="resource")) == "http.404"


def test_clean_up_that_fails_does_not_mask_the_first_error() -> None:
    cleanup = signal("os.enoent", 0, Retry.NO, Rank.OS, category="resource")
    first = signal("http.503", 1, Retry.YES)
    assert winner(chain(CONTEXT), cleanup, first) == "http.503"


def test_a_missed_lookup_that_was_handled_does_not_outweigh_what_came_after_it() -> None:
    handled = signal("os.enoent", 1, Retry.NO, Rank.OS, category="resource")
    assert winner(chain(CONTEXT), signal("http.503", 0, Retry.YES), handled) == "http.503"
    assert winner(chain(CONTEXT), signal("text.refused", 0, Retry.YES, Rank.TEXT), handled) == "text.refused"


def test_a_context_that_would_fail_the_task_yields_to_an_explicit_hint_at_a_retry() -> None:
    hint = signal("text.timeout", 0, Retry.YES, Rank.TEXT, strength=Strength.HINT)
    context = signal("os.eacces", 1, Retry.NO, Rank.OS, category="auth")
    assert winner(chain(CONTEXT), hint, context) is None
    assert winner(chain(CONTEXT), context) == "os.eacces"


def test_a_cause_below_an_implicit_context_counts_as_implicit() -> None:
    evidence = chain(CONTEXT, (Edge.CAUSE, 1))
    assert winner(evidence, signal("python.value_error", 2, Retry.NO, Rank.CLASS, category="data")) is None
    assert winner(evidence, signal("os.econnrefused", 2, Retry.YES, Rank.OS)) == "os.econnrefused"


def test_hints_never_conclude_and_stay_beside_the_conclusion() -> None:
    hint = signal("text.timeout", 0, Retry.YES, Rank.TEXT, strength=Strength.HINT)
    found = conclude(chain(), [hint])
    assert found.signal is None
    assert found.others == (hint,)
    assert found.hints_at_retry


def test_hints_that_disagree_do_not_point_to_a_retry() -> None:
    hints = [
        signal("text.timeout", 0, Retry.YES, Rank.TEXT, strength=Strength.HINT),
        signal("text.invalid", 0, Retry.NO, Rank.TEXT, strength=Strength.HINT),
    ]
    assert not conclude(chain(), hints).hints_at_retry


@pytest.mark.parametrize(
    ("on_top", "first", "expected"),
    [
        # clean-up that fails: `conn.close()` on None, a temporary file that is not there
        (("python.attribute_error", Retry.NO, Rank.CLASS, "permanent"), None, None),
        (("os.enoent", Retry.NO, Rank.OS, "resource"), None, None),
        (
            ("python.attribute_error", Retry.NO, Rank.CLASS, "permanent"),
            ("text.refused", Retry.YES, Rank.TEXT, "network"),
            "text.refused",
        ),
        (
            ("python.attribute_error", Retry.NO, Rank.CLASS, "permanent"),
            ("python.value_error", Retry.NO, Rank.CLASS, "data"),
            "python.attribute_error",
        ),
        # a second way that may pass, on top of a refused login
        (
            ("text.connection_lost", Retry.YES, Rank.TEXT, "network"),
            ("http.401", Retry.NO, Rank.STATUS, "auth"),
            "text.connection_lost",
        ),
        # an answer, or a product's own words, need no support from below
        (("http.404", Retry.NO, Rank.STATUS, "resource"), None, "http.404"),
        (("text.login_refused", Retry.NO, Rank.TEXT, "auth"), None, "text.login_refused"),
        # a wrapper that says nothing, over words
        (None, ("text.refused", Retry.YES, Rank.TEXT, "network"), "text.refused"),
        (None, ("text.login_refused", Retry.NO, Rank.TEXT, "auth"), None),
    ],
)
def test_an_error_on_top_of_another_one(
    on_top: tuple[str, Retry, Rank, str] | None, first: tuple[str, Retry, Rank, str] | None, expected: str | None
) -> None:
    signals = [
        signal(said[0], node, said[1], said[2], category=said[3])
        for node, said in enumerate((on_top, first))
        if said is not None
    ]
    assert winner(chain(CONTEXT), *signals) == expected


def test_a_connection_that_is_already_closed_on_top_of_a_refused_login_is_clean_up() -> None:
    evidence = RedactedEvidence(
        (
            RedactedNode("psycopg2.InterfaceError", message="connection already closed"),
            RedactedNode("requests.exceptions.HTTPError", edge=Edge.CONTEXT, parent=0),
        ),
        datetime(2026, 1, 1, tzinfo=UTC),
    )
    closed = signal("text.connection_lost", 0, Retry.YES, Rank.TEXT, category="network")
    assert winner(evidence, closed, signal("http.401", 1, Retry.NO, category="auth")) == "http.401"


def test_a_hook_that_restates_the_status_of_its_context_does_not_outweigh_the_code_in_it() -> None:
    restated = signal("http.429", 0, Retry.YES, category="rate_limit")
    status = signal("http.429", 1, Retry.YES, category="rate_limit")
    quota = signal("http.429.insufficient_quota", 1, Retry.NO, Rank.VENDOR_CODE, category="permanent")
    assert winner(chain(CONTEXT), restated, status, quota) == "http.429.insufficient_quota"


def test_a_long_chain_of_contexts_is_settled_without_walking_it_twice_at_each_step() -> None:
    evidence = chain(*((Edge.CONTEXT, index) for index in range(60)))
    assert winner(evidence, signal("http.503", 60, Retry.YES)) == "http.503"


MEMBERS = ((Edge.MEMBER, 0), (Edge.MEMBER, 0))


def test_one_member_that_must_fail_fails_the_group() -> None:
    transient = signal("http.503", 1, Retry.YES)
    auth = signal("http.401", 2, Retry.NO, category="auth")
    assert winner(chain(*MEMBERS), transient, auth) == "http.401"


def test_a_group_that_may_be_retried_waits_for_its_slowest_member() -> None:
    short = signal("os.econnreset", 1, Retry.YES, wait=Wait.SHORT)
    long = signal("http.429", 2, Retry.YES, wait=Wait.LONG)
    assert winner(chain(*MEMBERS), short, long) == "http.429"
    asked = signal("http.503", 1, Retry.YES, asked=90)
    assert winner(chain(*MEMBERS), asked, long) == "http.503"


def test_the_longest_ask_of_the_chain_is_kept_whichever_signal_wins() -> None:
    outer = signal("http.429", 0, Retry.YES, asked=120)
    inner = signal("os.econnreset", 1, Retry.YES, Rank.OS)
    found = conclude(chain(CAUSE), [outer, inner])
    assert found.signal is inner
    assert found.asked_delay_s == 120


def test_depends_without_a_cap_is_refused() -> None:
    with pytest.raises(ValueError, match="'depends' needs max_attempts"):
        Signal("x.y", "auth", Retry.DEPENDS, Wait.SHORT, Rank.STATUS, "", "")
