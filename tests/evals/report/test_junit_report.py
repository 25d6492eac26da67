"""What the test pages of a CI are told."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from evals.replayed_run import label, row, run_of
from evals.report.report_runs import PAYLOADS, hostile_run, report_of

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.gates.gate import check
from airflow_common_ai.evals.gates.gates_file import Bound, Demand, Drop, Gates, Measure, MustPass
from airflow_common_ai.evals.report.junit import as_junit
from airflow_common_ai.evals.report.plain import plain
from airflow_common_ai.evals.report.report import Report
from airflow_common_ai.evals.runs.run_file import Run
from airflow_common_ai.evals.score import score
from airflow_common_ai.evals.scoring.costs import Costs

GOOD = run_of([row(number) for number in range(60)])


def cases_in(document: str) -> dict[str, tuple[str, str]]:
    """Each test's name, how it ended, and what it says; the totals must agree."""
    root = ElementTree.fromstring(document.encode())
    found = {}
    for case in root.iter("testcase"):
        outcome = next(iter(case), None)
        kind = "passed" if outcome is None or outcome.tag == "system-out" else outcome.tag
        words = "" if outcome is None else f"{outcome.get('message', '')}\n{outcome.text or ''}"
        found[case.get("name", "")] = (kind, words)
    kinds = [kind for kind, _ in found.values()]
    for element in (root, *root.iter("testsuite")):
        totals = {name: int(element.get(name, "-1")) for name in ("tests", "failures", "errors", "skipped")}
        assert totals == {
            "tests": len(kinds),
            "failures": kinds.count("failure"),
            "errors": kinds.count("error"),
            "skipped": kinds.count("skipped"),
        }
    return found


def judged(run: Run, *gates: Bound | Drop | MustPass, least: int = 1) -> dict[str, tuple[str, str]]:
    verdict = check(
        run,
        Gates(
            measure=Measure(min_failures=least),
            bounds=tuple(gate for gate in gates if isinstance(gate, Bound)),
            drops=tuple(gate for gate in gates if isinstance(gate, Drop)),
            must_pass=tuple(gate for gate in gates if isinstance(gate, MustPass)),
        ),
    )
    assert verdict.score is not None
    return cases_in(as_junit(Report(verdict.score, "a title", verdict)))


def test_a_gate_that_holds_is_a_test_that_passes() -> None:
    found = judged(GOOD, Bound("false_fails", at_most=0.1), MustPass("all", Demand.RIGHT, ids=("family/*",)))
    assert {kind for kind, _ in found.values()} == {"passed"}
    assert "at most 10.0\u00a0%; found: 0\u00a0%" in found["bound: false_fails"][1]


def test_a_gate_that_was_measured_and_does_not_hold_is_a_failure() -> None:
    bad = run_of([row(number, "fail") for number in range(60)])
    found = judged(bad, Bound("false_fails", at_most=0.1), MustPass("the first", Demand.RIGHT, ids=("family/case-0",)))
    assert found["bound: false_fails"][0] == "failure"
    assert found["must pass: the first"][0] == "failure"
    assert "family/case-0" in found["must pass: the first"][1]


def test_what_was_not_measured_is_an_error_and_no_failure() -> None:
    found = judged(GOOD, MustPass("others", Demand.RIGHT, ids=("nowhere/*",)), least=1000)
    assert found["must pass: others"][0] == "error"
    kind, words = found["the run says enough to be judged"]
    assert kind == "error"
    assert "fewer than min_failures = 1000" in words


def test_a_drop_without_a_baseline_is_skipped() -> None:
    assert judged(GOOD, Drop("right", 0.01))["drop: right of all"][0] == "skipped"


def test_without_gates_each_of_the_worst_false_fails_is_a_failure() -> None:
    run = run_of([row(1, "fail", failure=("a.B: it broke",)), row(2), row(3, "retry", label("no"))])
    found = cases_in(as_junit(report_of(run)))
    assert {name: kind for name, (kind, _) in found.items()} == {
        "every failure was answered": "passed",
        "no false FAIL": "failure",
        "family/case-1": "failure",
    }
    assert "a.B: it broke" in found["family/case-1"][1]


def test_without_gates_a_false_fail_is_a_failure_even_where_it_costs_nothing() -> None:
    scored = score(run_of([row(1, "fail"), row(2)]), costs=Costs(false_fail=0))
    assert cases_in(as_junit(Report(scored, "a title")))["no false FAIL"] == ("failure", "1 of 2 failures\n")


def test_without_gates_and_without_false_fails_a_test_passes() -> None:
    assert {kind for kind, _ in cases_in(as_junit(report_of(GOOD))).values()} == {"passed"}


def test_without_gates_what_got_no_answer_is_an_error() -> None:
    run = run_of([row(1), row(2, "default", outcome=Outcome.CRASHED, error="boom")])
    assert cases_in(as_junit(report_of(run)))["every failure was answered"] == ("error", "1 of 2 failures got none\n")


def test_attacks_are_words_of_the_document() -> None:
    document = as_junit(report_of(hostile_run("http://127.0.0.1:1"), PAYLOADS[13]))
    assert ElementTree.fromstring(document.encode()).get("name") == plain(PAYLOADS[13])
    assert {element.tag for element in ElementTree.fromstring(document.encode()).iter()} <= {
        *("testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out")
    }


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_gate_is_named_as_it_is_whatever_it_is_called(payload: str) -> None:
    found = judged(GOOD, MustPass(payload, Demand.RIGHT, ids=("nowhere/*",)))
    assert plain(f"must pass: {payload}", 1000) in found
