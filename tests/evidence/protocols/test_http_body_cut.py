"""A body that is too long is cut so that redaction sees the cut: half a secret is not recognised as one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from airflow_common_ai.evidence.cut import CUT_MARK
from airflow_common_ai.evidence.model import Evidence, ExceptionNode
from airflow_common_ai.evidence.protocols.http.body import body_facts
from airflow_common_ai.evidence.redaction import Redactor

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
SECRET = "s3cr3t-Tr0ub4dor-and-more-of-it"


def shown(body: object) -> str:
    node = ExceptionNode("builtins.OSError", facts=body_facts(body))
    return str(Redactor().redact(Evidence((node,), NOW)).nodes[0].facts["http.body"])


@pytest.mark.parametrize("encode", [str, str.encode])
@pytest.mark.parametrize("limit", [1024, 2048, 65_536])
@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_no_half_secret_is_left_at_a_cut(encode: Callable[[str], object], limit: int, shift: int) -> None:
    before = "word " * (limit // 5 - 8) + "." * shift
    body = f"{before} password={SECRET} {'more ' * 20_000}"

    assert SECRET[:6] not in shown(encode(body))


def test_head_and_tail_of_a_long_body_stay() -> None:
    body = shown("<!doctype html> " + "word " * 2000 + "the end")

    assert body.startswith("<!doctype html> word")
    assert body.endswith("the end")
    assert CUT_MARK in body


def test_a_body_that_was_not_read_to_its_end_does_not_end_in_half_a_word() -> None:
    body = shown(("word " * 13_107 + f"password={SECRET}" * 20_000).encode())

    assert "password" not in body
    assert body.endswith(CUT_MARK)


def test_a_long_message_in_a_body_is_cut_in_the_same_way() -> None:
    facts = body_facts({"message": "word " * 200})

    assert CUT_MARK in str(facts["http.body.message"])
    assert len(str(facts["http.body.message"])) <= 500
