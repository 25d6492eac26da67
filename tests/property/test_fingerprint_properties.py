"""What holds for the fingerprint of any failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.fingerprint import fingerprint, normalise
from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode

NOW = datetime(2026, 1, 5, tzinfo=UTC)

words = st.sampled_from("the job task row lost found broken in of while reading writing bad quota disk".split())
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)
# What a hostile or unlucky message is made of.
noise = st.lists(
    st.sampled_from([
        "a", "1", " ", "'", '"', "\\", "/", ".", ":", "-", "=", "(", "[", "{", "<", "*", "@", "_", "\n", "é", "字",
        "e5", "code ", "http://", "Mon, ", "2026-01-05", "10 s", "[parameters:", "localhost", "***",
    ]),
    max_size=200,
).map("".join)  # fmt: skip
texts = st.one_of(st.text(max_size=300), noise, sentences)

numbers = st.one_of(st.integers(0, 10**12).map(str), st.floats(0, 1e6).map(str))
ids = st.one_of(
    st.uuids().map(str),
    st.uuids().map(lambda uuid: uuid.hex),
    st.binary(min_size=6, max_size=20).map(lambda data: f"0x{data.hex()}"),
)
addresses = st.one_of(st.ip_addresses(v=4).map(str), st.ip_addresses(v=6).map(lambda address: f"[{address}]"))
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(datetime.isoformat)
names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
values = st.one_of(
    numbers,
    ids,
    addresses,
    moments,
    st.builds("{}:{}".format, addresses, st.integers(1, 65535)),
    st.builds("'{}'".format, names),
    st.builds("/{}/{}.csv".format, names, names),
    st.builds("s3://{}/{}".format, names, names),
    st.builds("https://{}.example.com/{}?id={}".format, names, names, numbers),
)


def evidence(nodes: Sequence[RedactedNode]) -> RedactedEvidence:
    return RedactedEvidence(tuple(nodes), NOW)


facts = st.dictionaries(st.sampled_from(["http.status", "os.errno", "x.reason", "x"]), st.integers() | texts)


def any_node(*, may_have_parent: bool) -> st.SearchStrategy[RedactedNode]:
    return st.builds(
        RedactedNode,
        type_path=texts,
        message=texts,
        notes=st.lists(texts, max_size=2).map(tuple),
        edge=st.sampled_from(Edge),
        parent=st.none() | st.integers(-1, 9) if may_have_parent else st.none(),
        facts=facts,
    )


@st.composite
def trees(draw: st.DrawFn) -> RedactedEvidence:
    """Any tree of exceptions, also ones that only a damaged recording can hold."""
    return evidence([draw(any_node(may_have_parent=index > 0)) for index in range(draw(st.integers(0, 8)))])


@given(trees())
def test_every_failure_has_a_fingerprint_and_always_the_same(failure: RedactedEvidence) -> None:
    digest = fingerprint(failure)

    assert len(digest) == 16
    assert int(digest, 16) >= 0
    assert fingerprint(replace(failure, observed_at=datetime(1999, 1, 1, tzinfo=UTC))) == digest


@given(texts)
def test_a_normalised_message_is_one_tidy_line(text: str) -> None:
    message = normalise(text)

    assert len(message.splitlines()) <= 1
    assert message == message.strip()


@given(sentences, values, values, sentences)
def test_a_value_between_words_does_not_count(before: str, one: str, other: str, after: str) -> None:
    assert normalise(f"{before} {one} {after}") == normalise(f"{before} {other} {after}")


@given(sentences, sentences)
def test_other_words_are_another_message(one: str, other: str) -> None:
    assert (normalise(one) == normalise(other)) == (one == other)


@given(st.integers(400, 599), st.integers(400, 599), sentences, st.uuids(), st.uuids())
def test_another_status_is_another_failure(one: int, other: int, phrase: str, this_id: UUID, that_id: UUID) -> None:
    def failure(status: int, id_: UUID) -> str:
        return fingerprint(evidence([RedactedNode("lib.HTTPError", message=f"HTTP {status}: {phrase} for '{id_}'")]))

    assert (failure(one, this_id) == failure(other, that_id)) == (one == other)


@given(st.lists(sentences, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_members_of_a_group_are_a_set(messages: list[str], random: object) -> None:
    def group(members: Sequence[str]) -> str:
        root = RedactedNode("builtins.ExceptionGroup", message="tasks failed")
        return fingerprint(
            evidence(
                [root, *(RedactedNode("lib.Error", message=member, edge=Edge.MEMBER, parent=0) for member in members)]
            )
        )

    again = [*messages, *messages[:2]]
    random.shuffle(again)

    assert group(again) == group(messages)
    assert group([*messages, "something else"]) != group(messages)


@given(texts, texts, texts)
def test_the_middle_of_a_huge_message_is_never_read(head: str, middle: str, other: str) -> None:
    def huge(filling: str) -> str:
        return f"{head} {'many words come here ' * 500}{filling}{' and then some more' * 500} end"

    assert normalise(huge(middle)) == normalise(huge(other))
