"""What the test pages of a CI show: each gate as a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from airflow_common_ai.evals.gates.gate import GateVerdict, Status
from airflow_common_ai.evals.report.gate_lines import gate_lines
from airflow_common_ai.evals.report.plain import plain, plain_lines
from airflow_common_ai.evals.report.report import Report, decided_words, right_words
from airflow_common_ai.evals.score import CostlyRow

__all__ = ["as_junit"]

_MAX_CHARS = 1000
_FALSE_FAIL = "false FAILs"


@dataclass(frozen=True, slots=True)
class _Test:
    name: str
    group: str
    message: str = ""
    """Of what was found, in a line."""
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    """``failure``: measured, and not as it should be; ``error``: not measured."""
    text: str = ""


def as_junit(report: Report) -> str:
    """
    Return a suite with a test for each gate, and one for what could not be measured.

    Without gates nothing was promised, and what fails is the worst error: that there are false FAILs, and each of the
    worst of them.
    """
    tests = list(_of_gates(report.verdict) if report.verdict else _without_gates(report))
    counts = {kind: sum(test.outcome == kind for test in tests) for kind in ("failure", "error", "skipped")}
    totals = {
        "tests": str(len(tests)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
    }
    root = ElementTree.Element("testsuites", {"name": plain(report.title, _MAX_CHARS), **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "gates" if report.verdict else "decisions", **totals})
    for test in tests:
        _add(suite, test)
    ElementTree.indent(root)
    # Asked for text it would declare whatever encoding this machine prefers.
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return f"{document.decode()}\n"


def _of_gates(verdict: GateVerdict) -> Iterator[_Test]:
    outcomes: dict[Status, Literal["passed", "failure", "error", "skipped"]] = {
        Status.PASSED: "passed",
        Status.FAILED: "failure",
        Status.NOT_MEASURED: "error",
        Status.NO_BASELINE: "skipped",
    }
    for line in gate_lines(verdict):
        words = f"{line.asked}; found: {line.found}"
        yield _Test(f"{line.kind}: {line.name}", "gates", words, outcomes[line.status])
    reasons = "\n".join(plain_lines(verdict.reasons, 50, _MAX_CHARS))
    message = verdict.reasons[0] if verdict.reasons else ""
    yield _Test("the run says enough to be judged", "gates", message, "error" if reasons else "passed", reasons)


def _without_gates(report: Report) -> Iterator[_Test]:
    unanswered, false_fails = report.score.actions.unanswered, report.score.actions.false_fails
    message = f"{unanswered.hits:,} of {unanswered.failures:,} failures got none" if unanswered.hits else ""
    yield _Test("every failure was answered", "decisions", message, "error" if message else "passed")
    message = f"{false_fails.hits:,} of {false_fails.failures:,} failures" if false_fails.hits else ""
    yield _Test("no false FAIL", "decisions", message, "failure" if message else "passed")
    for costly in report.worst:
        if costly.why == _FALSE_FAIL:
            yield _false_fail(costly)


def _false_fail(costly: CostlyRow) -> _Test:
    row = costly.row
    text = [*plain_lines(row.failure, 12, _MAX_CHARS), f"right: {right_words(row)}", f"decided: {decided_words(row)}"]
    if row.reason:
        text.append(f"reason: {row.reason}")
    return _Test(row.id, "decisions", "failed, though worth a retry", "failure", "\n".join(text))


def _add(suite: ElementTree.Element, test: _Test) -> None:
    names = {"classname": f"airflow-common-ai.{test.group}", "name": plain(test.name, _MAX_CHARS), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", names)
    if test.outcome == "passed":
        if test.message:
            ElementTree.SubElement(case, "system-out").text = plain(test.message, _MAX_CHARS)
        return
    found = ElementTree.SubElement(case, test.outcome, {"message": plain(test.message, _MAX_CHARS)})
    found.text = "\n".join(plain(line, _MAX_CHARS) for line in test.text.splitlines())
