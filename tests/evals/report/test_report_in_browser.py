"""Reports as people see them: in a real browser, light and dark, on a phone, and full of attacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from evals.report.report_runs import hostile_run, report_of, whole_run
from playwright.sync_api import Browser, Page

from airflow_common_ai.evals.report.html import as_html

Opened = Callable[..., Page]

_PHONE = {"width": 360, "height": 740}
_DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(as_html(report_of(whole_run())), "utf-8")
    return path


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """Open a page; whatever it says to the console, asks for or pops up fails the test."""
    heard: list[str] = []
    contexts = []

    def open_page(path: Path, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": _DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("dialog", lambda dialog: heard.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: heard.append(f"popup: {popup.url}"))
        page.on("request", lambda request: heard.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not heard


def sizes(page: Page, selector: str) -> list[dict[str, float]]:
    found = page.eval_on_selector_all(
        selector,
        "all => all.map(one => { const box = one.getBoundingClientRect(); return {w: box.width, h: box.height}; })",
    )
    return list(found)


def colour(page: Page, selector: str, name: str) -> str:
    return str(page.eval_on_selector(selector, f"one => getComputedStyle(one).getPropertyValue({name!r})"))


def test_the_pictures_are_there_and_large_enough(whole_page: Path, opened: Opened) -> None:
    page = opened(whole_page)
    titles = page.eval_on_selector_all("svg title", "all => all.map(one => one.textContent)")
    assert titles == ["Confusion matrix of the categories", "Reliability of llm", "Risk and coverage of llm"]
    assert all(size["w"] > 300 and size["h"] > 200 for size in sizes(page, "svg"))
    assert all(size["w"] > 0 and size["h"] > 0 for size in sizes(page, "svg text"))


def test_the_text_of_a_picture_is_text_that_can_be_found(whole_page: Path, opened: Opened) -> None:
    page = opened(whole_page)
    assert page.locator("svg text", has_text="rate limit").count() == 2


def test_light_and_dark_are_one_page_and_one_set_of_pictures(whole_page: Path, opened: Opened) -> None:
    pages = [opened(whole_page, color_scheme=scheme) for scheme in ("light", "dark")]
    papers = [colour(page, "body", "background-color") for page in pages]
    assert papers == ["rgb(255, 255, 255)", "rgb(16, 19, 23)"]
    for page in pages:
        ink = colour(page, "body", "color")
        assert colour(page, "#confusion-words ~ g text[style*=ink]", "fill") == ink


@pytest.mark.parametrize("run", [whole_run(), hostile_run("http://127.0.0.1:1")], ids=["plain", "hostile"])
def test_on_a_phone_the_page_does_not_scroll_to_the_side(run: Any, tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "report.html"
    path.write_text(as_html(report_of(run, run.header.policy * 3)), "utf-8")
    page = opened(path, viewport=_PHONE, is_mobile=True, has_touch=True)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == _PHONE["width"]
    assert page.evaluate("window.innerWidth") == _PHONE["width"], "it was not zoomed out to fit either"


def test_all_of_it_works_without_javascript(whole_page: Path, opened: Opened) -> None:
    page = opened(whole_page, java_script_enabled=False)
    folded = page.locator("details.case:not([open])").first
    folded.locator("summary").click()
    assert page.locator("details.case[open]").count() == 4
    page.get_by_role("link", name="Worst failures").click()
    assert page.url.endswith("#worst")


def test_who_hears_the_page_finds_landmarks_headings_and_named_tables(whole_page: Path, opened: Opened) -> None:
    page = opened(whole_page)
    for role in ("banner", "main", "contentinfo", "navigation"):
        assert page.get_by_role(role).count() == 1, role  # type: ignore[arg-type]  # the roles are spelt out above
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("img").count() == 3
    unnamed = "all => all.filter(one => !document.getElementById(one.getAttribute('aria-labelledby').split(' ')[0]))"
    assert page.eval_on_selector_all("[aria-labelledby]", unnamed) == []
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("html[lang=en]").count() == 1
    twins = "all => { const ids = all.map(one => one.id); return ids.filter((id, at) => ids.indexOf(id) !== at); }"
    assert page.eval_on_selector_all("[id]", twins) == []


def test_nothing_that_strangers_wrote_runs_or_calls(tmp_path: Path, canary: Any, opened: Opened) -> None:
    path = tmp_path / "report.html"
    run = hostile_run(canary.url)
    path.write_text(as_html(report_of(run, run.header.policy)), "utf-8")
    page = opened(path)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.scripts.length") == 0
    tags = page.eval_on_selector_all("*", "all => [...new Set(all.map(one => one.localName))]")
    assert not {"script", "img", "image", "iframe", "foreignObject", "link", "input", "object", "base"} & set(tags)
    assert page.eval_on_selector_all("a", "all => all.every(one => one.getAttribute('href').startsWith('#'))")
    handlers = "all => all.flatMap(one => one.getAttributeNames()).filter(name => name.startsWith('on'))"
    assert page.eval_on_selector_all("*", handlers) == []
    assert page.title() == run.header.policy
    assert page.locator("pre", has_text="window.pwned = 1").count() > 0, "the words are shown, only shown"
    assert canary.called == []


def test_what_would_slip_through_could_not_call_anybody_either(whole_page: Path, canary: Any, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(whole_page.as_uri())
    slipped = (
        f"<img src={canary.url}/img><iframe src={canary.url}/frame></iframe><link rel=stylesheet href={canary.url}/css>"
        f"<p onclick='window.pwned = 1' style='background: url({canary.url}/style)'>press</p>"
    )
    page.evaluate(
        """words => {
            window.refused = [];
            const keep = event => window.refused.push(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", keep);
            document.body.insertAdjacentHTML("beforeend", words);
            document.body.lastChild.click();
        }""",
        slipped,
    )
    refused = ["frame-src", "img-src", "img-src", "script-src-attr", "style-src-elem"]
    page.wait_for_function("count => window.refused.length >= count", arg=len(refused))
    assert sorted(page.evaluate("window.refused")) == refused
    assert page.evaluate("window.pwned") is None
    assert canary.called == []
    page.close()


def test_the_canary_hears_who_calls_it(tmp_path: Path, canary: Any, browser: Browser) -> None:
    path = tmp_path / "open.html"
    path.write_text(f"<img src={canary.url}/img>", "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert canary.called == ["/img"]
    page.close()
