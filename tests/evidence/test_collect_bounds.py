"""How much of a big failure is kept."""

from __future__ import annotations

from itertools import pairwise

import pytest

from airflow_common_ai.evidence import live_exception
from airflow_common_ai.evidence.collect import CUT_MARK, collect
from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Edge, Evidence

KIB = 1024


def chain(length: int, *, edge: str = "cause", words: str = "") -> Exception:
    """Return the first of so many exceptions, numbered from 0, each behind the one before."""
    errors = [ValueError(f"{number}{words}") for number in range(length)]
    for outer, inner in pairwise(errors):
        setattr(outer, f"__{edge}__", inner)
    return errors[0]


def messages(evidence: Evidence) -> list[str]:
    return [node.message for node in evidence.nodes]


def depth(evidence: Evidence) -> int:
    depths: list[int] = []
    for node in evidence.nodes:
        depths.append(1 if node.parent is None else depths[node.parent] + 1)
    return max(depths)


class TestChains:
    @pytest.mark.parametrize("edge", ["cause", "context"])
    def test_sixteen_exceptions_are_kept_whole(self, edge: str) -> None:
        evidence = collect(chain(16, edge=edge))
        assert messages(evidence) == [str(number) for number in range(16)]
        assert not evidence.is_truncated

    @pytest.mark.parametrize("length", [17, 100, 400])
    def test_of_a_longer_chain_both_ends_are_kept(self, length: int) -> None:
        evidence = collect(chain(length))
        assert messages(evidence) == [str(number) for number in (*range(8), *range(length - 8, length))]
        assert [node.parent for node in evidence.nodes] == [None, *range(15)]
        assert evidence.is_truncated

    def test_an_endless_chain_ends(self) -> None:
        evidence = collect(chain(100_000))
        assert len(evidence.nodes) == 16
        assert evidence.is_truncated

    def test_the_edge_over_a_gap_is_implicit_if_any_link_in_it_was(self) -> None:
        error = chain(40)
        link = error
        for _ in range(20):
            link = link.__cause__  # type: ignore[assignment]
        link.__context__, link.__cause__ = link.__cause__, None
        evidence = collect(error)
        assert [node.edge for node in evidence.nodes] == [Edge.ROOT, *[Edge.CAUSE] * 7, Edge.CONTEXT, *[Edge.CAUSE] * 7]

    def test_a_member_stays_a_member_over_a_gap(self) -> None:
        group = ExceptionGroup("g", [chain(30), chain(30)])
        edges = [(node.message, node.edge) for node in collect(group).nodes if node.message in ("0", "22", "29")]
        assert edges == [("0", Edge.MEMBER), ("22", Edge.CAUSE), ("29", Edge.CAUSE)] * 2


class TestTrees:
    @pytest.mark.parametrize("members", [63, 64, 1000])
    def test_at_most_sixty_four_exceptions_are_kept(self, members: int) -> None:
        evidence = collect(ExceptionGroup("g", [ValueError(str(number)) for number in range(members)]))
        assert messages(evidence)[1:] == [str(number) for number in range(63)]
        assert evidence.is_truncated == (members > 63)

    def test_of_many_chains_the_innermost_exceptions_are_kept_first(self) -> None:
        group = ExceptionGroup("g", [chain(5, words=f" of {number}") for number in range(40)])
        evidence = collect(group)
        assert len(evidence.nodes) == 64
        assert {message for message in messages(evidence) if message.startswith("4 ")} == {
            f"4 of {number}" for number in range(40)
        }
        assert all(node.edge is Edge.MEMBER for node in evidence.nodes if node.parent == 0)

    def test_the_context_of_a_huge_group_is_not_forgotten(self) -> None:
        group = ExceptionGroup("g", [ValueError(str(number)) for number in range(100_000)])
        group.__context__ = OSError("before")
        assert "before" in messages(collect(group))

    def test_a_wide_and_deep_tree_stays_within_both_bounds(self) -> None:
        def grow(levels: int) -> Exception:
            return ExceptionGroup("g", [grow(levels - 1), grow(levels - 1)]) if levels else chain(20)

        evidence = collect(grow(6))
        assert len(evidence.nodes) == 64
        assert depth(evidence) <= 16
        assert all(node.parent is None or node.parent < index for index, node in enumerate(evidence.nodes))

    def test_nested_tracebacks_count_too(self) -> None:
        text = "\n\nThe above exception was the direct cause of the following exception:\n\n".join(
            f"Traceback (most recent call last):\n  ...\nValueError: printed {number}" for number in range(30)
        )
        error = chain(16)
        innermost = error
        while innermost.__cause__ is not None:
            innermost = innermost.__cause__  # type: ignore[assignment]
        innermost.args = (text,)
        evidence = collect(error)
        assert depth(evidence) == 16
        assert evidence.nodes[0].message == "0"
        assert evidence.nodes[-1].message == "printed 0"


class TestTexts:
    @pytest.mark.parametrize("length", [16 * KIB, 16 * KIB + 512])
    def test_a_message_of_sixteen_kibibytes_is_kept_whole(self, length: int) -> None:
        evidence = collect(ValueError("x" * length))
        assert messages(evidence) == ["x" * length]
        assert not evidence.is_truncated

    def test_a_longer_message_keeps_head_and_tail_around_a_mark(self) -> None:
        evidence = collect(ValueError("head" + "x" * 1_000_000 + "tail"))
        [message] = messages(evidence)
        head, mark, tail = message.partition(CUT_MARK)
        assert mark
        assert head.startswith("headx")
        assert tail.endswith("xtail")
        assert abs(len(head) - len(tail)) <= 1
        assert 16 * KIB <= len(message) <= 17 * KIB
        assert evidence.is_truncated

    @pytest.mark.parametrize("members", [1, 3])
    @pytest.mark.parametrize("kind", [ExceptionGroup, BaseExceptionGroup])
    def test_a_group_says_what_python_prints_whatever_its_size(
        self, kind: type[BaseExceptionGroup[ValueError]], members: int
    ) -> None:
        short = kind("failed", [ValueError()] * members)
        long = kind("head" + "x" * 1_000_000, [ValueError()] * members)
        ending = str(short).removeprefix("failed")
        assert messages(collect(short))[0] == str(short)
        [message, *_] = messages(collect(long))
        assert message.startswith("headx")
        assert message.endswith(f"x{ending}")
        assert 16 * KIB <= len(message) <= 17 * KIB

    def test_the_root_and_the_innermost_exceptions_get_the_largest_share(self) -> None:
        sizes = [len(message) for message in messages(collect(chain(10, words="x" * 1_000_000)))]
        assert sizes[0] > 16 * KIB
        assert sizes[-1] > 16 * KIB
        assert min(sizes[1:-1]) > KIB // 2
        assert max(sizes[1:-1]) < sizes[-1]
        assert sum(sizes) <= 40 * KIB

    def test_what_short_messages_leave_goes_to_long_ones(self) -> None:
        group = ExceptionGroup("g", [ValueError("x" * 1_000_000), *(ValueError("short") for _ in range(50))])
        sizes = [len(message) for message in messages(collect(group))]
        assert sizes[1] > 16 * KIB

    def test_sixty_four_huge_messages_stay_within_one_budget(self) -> None:
        group = ExceptionGroup("g" * 1_000_000, [ValueError("x" * 1_000_000) for _ in range(63)])
        evidence = collect(group)
        assert len(evidence.nodes) == 64
        assert sum(len(message) for message in messages(evidence)) <= 40 * KIB
        assert all(CUT_MARK in message for message in messages(evidence))

    def test_notes_are_bounded_in_count_and_size(self) -> None:
        error = ValueError("x")
        for number in range(40):
            error.add_note(f"{number} " + "n" * (5_000 if number == 0 else 1))
        evidence = collect(error)
        [node] = evidence.nodes
        assert len(node.notes) == 16
        assert len(node.notes[0]) == 2 * KIB
        assert node.notes[15] == "15 n"
        assert evidence.is_truncated

    def test_notes_of_all_exceptions_share_a_budget_and_both_ends_are_served_first(self) -> None:
        error = chain(12)
        link: BaseException | None = error
        while link is not None:
            for _ in range(4):
                link.add_note("n" * 10_000)
            link = link.__cause__
        counts = [len(node.notes) for node in collect(error).nodes]
        assert counts == [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]

    def test_facts_are_bounded_in_count_size_and_all_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            live_exception, "probe", lambda exception: {f"a.{n}": "f" * 10_000 for n in range(80)} | {"late": 1}
        )
        evidence = collect(chain(3))
        strings = [fact for node in evidence.nodes for fact in node.facts.values()]
        assert max(len(str(fact)) for fact in strings) == 2 * KIB
        assert sum(len(str(fact)) for fact in strings) <= 32 * KIB
        assert evidence.is_truncated

    def test_numbers_are_kept_where_strings_no_longer_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        facts = {f"a.{n}": "f" * 10_000 for n in range(40)} | {"http.status": 429}
        monkeypatch.setattr(live_exception, "probe", lambda exception: facts)
        assert [node.facts["http.status"] for node in collect(chain(5)).nodes] == [429] * 5


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("longer", 5, CUT_MARK),
        ("0123456789abcdef", len(CUT_MARK) + 5, f"01{CUT_MARK}def"),
        ("x\udc80y", 3, "x?y"),
        ("x\udc80y", 0, CUT_MARK),
    ],
)
def test_a_cut_text_keeps_to_its_limit_unless_that_is_below_the_mark(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected
