"""Pictures as SVG that takes its colours and its font from the page."""

from __future__ import annotations

import re
import warnings
from xml.etree import ElementTree

import matplotlib
import pytest
from evals.replayed_run import label, row, run_of
from evals.report.report_runs import PAYLOADS, whole_run

from airflow_common_ai.evals.report.pictures import confusion_matrix, reliability, risk_coverage
from airflow_common_ai.evals.report.svg import Colour
from airflow_common_ai.evals.runs.run_file import Run
from airflow_common_ai.evals.score import Score, score

SCORE = score(whole_run())


def pictures_of(scored: Score) -> list[str]:
    assert scored.categories is not None
    return [
        confusion_matrix(scored.categories),
        reliability(scored.calibrations[0], "reliability-1"),
        risk_coverage(scored.risk_coverage[:3], "risk-1"),
    ]


def texts_in(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter("text")]


def cells_of(run: Run) -> list[str]:
    categories = score(run).categories
    assert categories is not None
    return texts_in(confusion_matrix(categories))


def test_a_picture_has_the_colours_and_the_font_of_its_page() -> None:
    for picture in pictures_of(SCORE):
        assert not any(colour.value in picture for colour in Colour)
        assert "font-family" not in picture
        assert re.findall(r"#[0-9a-f]{6}", picture) == []
        assert {"ink", "muted", "line"} & set(re.findall(r"var\(--(\w+)\)", picture))


def test_a_picture_holds_no_style_sheet_no_date_and_no_link_to_elsewhere() -> None:
    for picture in pictures_of(SCORE):
        assert not re.search("<style|<metadata|http|<image", picture)
        assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', picture))


def test_what_a_picture_refers_to_is_in_it_and_in_no_other() -> None:
    pictures = pictures_of(SCORE)
    ids = [set(re.findall(r' id="([^"]*)"', picture)) for picture in pictures]
    for picture, own in zip(pictures, ids, strict=True):
        assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', picture)) <= own
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_a_picture_says_in_words_what_it_shows() -> None:
    title, words = (element.text or "" for element in list(ElementTree.fromstring(pictures_of(SCORE)[0]))[:2])
    assert title == "Confusion matrix of the categories"
    assert "of 10 auth failures 10 named so" in words


def test_the_same_numbers_make_the_same_picture_whatever_style_the_user_has_set() -> None:
    before = pictures_of(SCORE)
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "figure.dpi": 300, "axes.grid": False}):
        assert pictures_of(SCORE) == before


def test_drawing_leaves_the_users_style_as_it_was() -> None:
    with matplotlib.rc_context({"font.size": 30}):
        pictures_of(SCORE)
        assert matplotlib.rcParams["font.size"] == 30


def test_the_confusion_matrix_shows_every_number_and_always_the_abstentions() -> None:
    rows = [row(number, category="transient") for number in range(7)]
    rows += [row(number, category="network") for number in range(7, 9)]
    texts = cells_of(run_of(rows))
    assert [text for text in texts if text.isdecimal()] == ["2", "7"]
    assert texts.count("abstained") == 1


def test_categories_beyond_a_dozen_share_a_column() -> None:
    rows = [row(number, category=f"own-{number}") for number in range(40)]
    rows += [row(number, category="others") for number in range(40, 45)]
    texts = cells_of(run_of(rows))
    assert texts.count("others") == 2, "one that is called so, and the rest"
    assert {"5", "29"} <= set(texts)
    assert len(texts) < 40


@pytest.mark.parametrize("payload", [*PAYLOADS, "失败 🔥 خطأ"])
def test_a_category_of_any_name_is_drawn_as_words_and_without_a_warning(payload: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts = cells_of(run_of([row(1, "retry", label("yes", "data"), category=payload), row(2, category="data")]))
    assert any(len(text) > 1 and text[:5].replace("_", " ") in payload.replace("_", " ") for text in texts)
