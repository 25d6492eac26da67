"""The page, as far as it needs no browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from evals.replayed_run import label, row, run_of
from evals.report.report_runs import hostile_run, report_of, whole_run

import airflow_common_ai.evals.report as report_package
from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.report.html import as_html
from airflow_common_ai.evals.runs.run_file import Run

_VOID = {"meta", "br"}
_STYLE = (Path(report_package.__file__).parent / "page" / "page.css").read_text("utf-8")


class Outline(HTMLParser):
    """Every element and attribute, and that each element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, Mapping[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


@cache
def _hostile_page() -> str:
    return page_of(hostile_run("http://127.0.0.1:1"))


def page_of(run: Run) -> str:
    return as_html(report_of(run))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(whole_run(), id="everything"),
        pytest.param(run_of([row(1)]), id="one failure"),
        pytest.param(run_of([row(number) for number in range(30)]), id="all alike"),
        pytest.param(run_of([row(1, "default", outcome=Outcome.CRASHED, error="boom")]), id="crashed"),
        pytest.param(run_of([row(1, "default", outcome=Outcome.STALE)]), id="stale"),
        pytest.param(run_of([row(1, "fail", label("no"))]), id="nothing worth a retry"),
        pytest.param(run_of([row(1, repeat=number) for number in (1, 2, 3)]), id="asked three times"),
        pytest.param(
            run_of([row(number, category=f"category-{number}", source=f"tier-{number}") for number in range(500)]),
            id="five hundred categories and sources",
        ),
    ],
)
def test_every_kind_of_run_has_a_page_that_is_whole_and_not_endless(run: Run) -> None:
    page = page_of(run)
    assert Outline(page).seen[0][0] == "html"
    assert len(page) < 500_000
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).split()


def test_a_page_full_of_attacks_is_whole_too() -> None:
    assert Outline(_hostile_page()).seen[0][0] == "html"


def test_the_same_run_makes_the_same_bytes() -> None:
    assert page_of(whole_run()) == page_of(whole_run())


def test_the_page_allows_nothing_but_its_own_style() -> None:
    metas = [attributes for tag, attributes in Outline(page_of(whole_run())).seen if tag == "meta"]
    (policy,) = [one["content"] for one in metas if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def test_attacks_add_no_element_and_no_attribute() -> None:
    plain = page_of(whole_run())
    hostile = _hostile_page()
    known = {(tag, name) for tag, attributes in Outline(plain).seen for name in attributes}
    found = {(tag, name) for tag, attributes in Outline(hostile).seen for name in attributes}
    assert found <= known
    assert not {tag for tag, _ in Outline(hostile).seen} - {tag for tag, _ in Outline(plain).seen}


def test_no_words_of_strangers_stand_in_a_style_or_a_link() -> None:
    for _, attributes in Outline(_hostile_page()).seen:
        assert re.fullmatch(r"[-a-z0-9 .,:;%#()]*", attributes.get("style") or "")
        assert re.fullmatch(r"(#[-\w]+)?", attributes.get("href") or "")


def test_control_characters_are_shown_and_do_not_act() -> None:
    page = _hostile_page()
    assert "\\x1b[31mred" in page
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ufffe\uffff]", page)


def test_a_failure_of_several_exceptions_has_a_line_for_each() -> None:
    page = page_of(run_of([row(1, "fail", failure=("a.B: outer", "c.D: inner"))]))
    assert "a.B: outer\nc.D: inner</pre>" in page


def test_a_worst_failure_tells_what_failed_what_is_right_what_was_decided_and_who_voted() -> None:
    votes = ({"tier": "signals", "outcome": "abstained"}, {"tier": "llm", "outcome": "fail", "confidence": 0.875})
    wrong = row(
        1,
        "fail",
        replace(label("yes", "network"), why="the link was down"),
        failure=("socket.timeout: timed out",),
        category="data",
        source="llm",
        reason="the model named it data",
        votes=votes,
    )
    page = page_of(run_of([wrong]))
    worst = page[page.index('id="worst"') :]
    for words in (
        "false FAIL",
        "socket.timeout: timed out",
        "the link was down",
        "FAIL, data",
        "the model named it data",
        "signals",
        "abstained",
        "87.5\u00a0%",
    ):
        assert words in worst, words


def test_what_to_know_first_is_said_first() -> None:
    run = replace(whole_run(), header=replace(whole_run().header, cases=100, shard=(2, 4), level="model"))
    head = page_of(run).split("</header>")[0]
    for words in ("not complete", "shard 2 of 4", "model alone", "1 of 47 answers crashed", "have no label"):
        assert words in head, words


def contrast(one: str, other: str) -> float:
    """Source: WCAG 2.2, relative luminance and contrast ratio."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_and_marks_stand_out_from_the_paper(scheme: int) -> None:
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", _STYLE.split("@media (prefers-color-scheme: dark)")[scheme]))
    for paper in (colours["paper"], colours["raised"]):
        for words in ("ink", "muted", "accent", "right-ink", "bad-ink", "warn-ink"):
            assert contrast(colours[words], paper) >= 4.5, words
    for mark in ("accent", "right", "unanswered", "warn", "bad"):
        assert contrast(colours[mark], colours["paper"]) >= 3, mark
