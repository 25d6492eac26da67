"""The summary for a job of CI, read as GitHub reads Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from evals.replayed_run import label, row, run_of
from evals.report.report_runs import PAYLOADS, hostile_run, report_of, whole_run
from markdown_it import MarkdownIt

from airflow_common_ai.evals.report.markdown import as_markdown
from airflow_common_ai.evals.report.markdown_text import code, code_element, fenced, table
from airflow_common_ai.evals.report.plain import plain

_STRUCTURE = {
    *("h2", "h3", "p", "ul", "li", "strong", "code", "pre", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class Read(HTMLParser):
    """The elements that Markdown becomes, its words, and those that stand outside of any code."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.words, self.prose = "", ""
        self._in_code = 0
        self.feed(MarkdownIt("gfm-like", {"html": True, "linkify": True}).render(markdown))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)
        self._in_code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "code"

    def handle_data(self, data: str) -> None:
        self.words += data
        if not self._in_code:
            self.prose += data


@pytest.mark.parametrize("payload", PAYLOADS)
def test_words_in_a_cell_stay_words_in_that_cell(payload: str) -> None:
    read = Read(table(["a", "b"], [["1", code(payload)], ["2", "3"]]))
    assert read.tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert plain(payload, 200).strip() in read.words
    assert read.prose.split() == ["a", "b", "1", "2", "3"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_words_in_a_line_stay_words_in_that_line(payload: str) -> None:
    for markdown in (f"before {code(payload)} after", f"## {code(payload)}", f"- {code(payload)}"):
        read = Read(markdown)
        assert read.tags <= {"p", "h2", "ul", "li", "code"}
        assert plain(payload, 200).strip() in read.words
        assert read.prose.split() in (["before", "after"], [])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_words_in_a_summary_or_a_block_stay_words(payload: str) -> None:
    block = fenced([payload, "```", f"```{payload}", "````", "~~~", "last"], 3000)
    read = Read(f"<details>\n<summary>{code_element(payload)}</summary>\n\n{block}\n\n</details>\n\nafter")
    assert read.tags == {"details", "summary", "code", "pre", "p"}
    assert read.words.count(plain(payload, 200)[:199]) == 3
    assert read.prose.split() == ["after"]


def test_attacks_add_nothing_to_the_summary() -> None:
    read = Read(as_markdown(report_of(hostile_run("http://127.0.0.1:1"), PAYLOADS[0])))
    assert read.tags <= _STRUCTURE
    assert read.attributes <= {("class", "language-text")}
    assert not re.search(r"pwned|127\.0\.0\.1|someone|www", read.prose)


def test_nothing_is_there_to_attack_with_in_the_plain_text_either() -> None:
    markdown = as_markdown(report_of(hostile_run("http://127.0.0.1:1"), PAYLOADS[13]))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ufffe\uffff]", markdown)


def test_the_largest_summary_fits_github() -> None:
    text = "`|<&@" * 400
    votes = tuple({"tier": text, "outcome": text, "code": text, "category": text} for _ in range(64))
    rows = [
        row(
            number,
            "fail",
            label("yes"),
            id=f"{number} {text}",
            failure=(text,) * 64,
            source=f"{number} {text}",
            category=f"{number} {text}",
            confidence=0.5,
            reason=text,
            votes=votes,
        )
        for number in range(100)
    ]
    assert len(as_markdown(report_of(run_of(rows, policy=text), text)).encode()) < 1024 * 1024 / 2


def test_the_headline_comes_first_and_the_rest_is_folded() -> None:
    markdown = as_markdown(report_of(whole_run()))
    lines = markdown.splitlines()
    assert lines[0] == "## `How good is it?`"
    assert any(line.startswith("| **right** |") for line in lines[:20])
    unfolded = re.sub(r"<details>.*?</details>", "", markdown, flags=re.DOTALL)
    assert len(list(filter(None, unfolded.splitlines()))) < 30
    assert markdown.count("<details>") == markdown.count("</details>") > 5


def test_the_worst_failures_tell_the_evidence_and_all_votes() -> None:
    votes = ({"tier": "signals", "outcome": "abstained"}, {"tier": "llm", "outcome": "fail", "category": "data"})
    wrong = row(1, "fail", label("yes"), failure=("a.B: outer", "c.D: inner"), reason="it says so", votes=votes)
    markdown = as_markdown(report_of(run_of([wrong])))
    worst = markdown[markdown.index("worst failures") :]
    assert "a.B: outer\nc.D: inner\n" in worst
    assert "why:     by hand" in worst
    assert "vote:    signals: abstained\nvote:    llm: fail data\n" in worst
