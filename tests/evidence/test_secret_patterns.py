"""Every named pattern finds what it is named for, and leaves what only looks like it."""

from __future__ import annotations

import re

import pytest
from secret_texts import TEXTS
from secret_token_samples import NOT_TOKENS, TOKEN_SAMPLES

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.secret_patterns import PATTERNS, SecretPattern, mask_spans, suspect

_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
_WEBHOOKS = (
    "https://hooks.slack.com/services/",
    "https://hooks.slack.com/workflows/",
    "https://discord.com/api/webhooks/",
)


def _in_texts(name: str, token: str, index: int) -> str:
    """Put a token where tokens are seen: in prose, in a value, in a URL."""
    if name == "webhook address":
        return f"POST {_WEBHOOKS[index % 3]}«{token}» failed: 404"
    return (f"call with «{token}» failed", f"('«{token}»', 403)", f"https://api.example.com/items?x=«{token}»&page=2")[
        index % 3
    ]


_HITS = [(name, text) for name, texts in TEXTS.items() for text in texts.hits] + [
    (name, _in_texts(name, token, index))
    for name, tokens in TOKEN_SAMPLES.items()
    for index, token in enumerate(tokens)
]
_NEAR_MISSES = [(name, text) for name, texts in TEXTS.items() for text in texts.near_misses] + [
    (name, text) for name, texts in NOT_TOKENS.items() for text in texts
]


def _alone(pattern: SecretPattern, text: str) -> str:
    return mask_spans(text, pattern.find(text, text.lower()))


def test_every_pattern_has_at_least_three_hits_and_three_near_misses() -> None:
    for cases in (_HITS, _NEAR_MISSES):
        counts = {name: sum(name == other for other, _ in cases) for name in _BY_NAME}
        assert {name for name, count in counts.items() if count < 3} == set()
        assert {name for name, _ in cases} == set(_BY_NAME)


def test_every_pattern_says_where_it_comes_from() -> None:
    assert all(pattern.name and pattern.source for pattern in PATTERNS)
    assert len(_BY_NAME) == len(PATTERNS)


@pytest.mark.parametrize(("name", "marked"), _HITS)
def test_a_pattern_masks_the_secret_and_nothing_else(name: str, marked: str) -> None:
    text = marked.replace("«", "").replace("»", "")

    assert _alone(_BY_NAME[name], text) == re.sub("«.*?»", "***", marked, flags=re.DOTALL)


@pytest.mark.parametrize(("name", "marked"), _HITS)
def test_a_pattern_is_among_those_that_are_tried_on_the_text(name: str, marked: str) -> None:
    text = marked.replace("«", "").replace("»", "")

    assert _BY_NAME[name] in suspect(f"some text before\n{text}\nand after")


@pytest.mark.parametrize(("name", "marked"), _HITS)
def test_nothing_of_a_secret_passes_the_wall(name: str, marked: str) -> None:
    redacted = Redactor().text(marked.replace("«", "").replace("»", ""))

    for secret in re.findall("«(.*?)»", marked, flags=re.DOTALL):
        assert secret not in redacted
        if len(secret) > 12:
            assert secret[:12] not in redacted
            assert secret[-12:] not in redacted
    assert Redactor().text(redacted) == redacted


@pytest.mark.parametrize(("name", "text"), _NEAR_MISSES)
def test_a_pattern_leaves_what_only_looks_like_a_secret(name: str, text: str) -> None:
    assert _alone(_BY_NAME[name], text) == text


@pytest.mark.parametrize(("name", "text"), _NEAR_MISSES)
def test_what_only_looks_like_a_secret_passes_the_wall(name: str, text: str) -> None:
    assert Redactor().text(text) == text
