"""What a rule can ask for is what the readers make: no good rule is refused because a table of names lags behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_failures import Failure, of_databases, of_http_clients, of_libraries, of_python, of_services, two_tries

import airflow_common_ai.evidence.protocols
from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.signal_names import FACTS, FLAGS, NUMBERS, PROTOCOLS, TEXTS, is_fact
from airflow_common_ai.policies.signal_test import SignalTest

FAILURES: list[Failure] = [
    *of_python.FAILURES,
    *of_http_clients.FAILURES,
    *of_services.FAILURES,
    *of_databases.FAILURES,
    *of_libraries.FAILURES,
]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], dict[str, set[type]]]:
    """The codes of every real failure, and the names of its facts with the types that they had."""
    codes: set[str] = set()
    facts: dict[str, set[type]] = {}
    with two_tries(tmp_path_factory.mktemp("tries")) as (first, _):
        for failure in FAILURES:
            evidence = Redactor().redact(collect(failure.raised_in(first)))
            codes |= {signal.code for signal in read_signals(evidence)}
            for name, value in (item for node in evidence.nodes for item in node.facts.items()):
                facts.setdefault(name, set()).add(type(value))
    return codes, facts


def test_the_code_of_every_real_failure_can_be_named_in_a_rule(seen: tuple[set[str], dict[str, set[type]]]) -> None:
    codes, _ = seen
    assert len(codes) > 50
    for code in codes:
        assert SignalTest.parse(code).name == code


def test_the_facts_of_every_real_failure_can_be_tested_in_a_rule(seen: tuple[set[str], dict[str, set[type]]]) -> None:
    _, facts = seen
    assert len(facts) > 30
    assert {name for name in facts if not is_fact(name)} == set()


def test_a_fact_of_a_real_failure_holds_what_a_test_of_it_must_hold(
    seen: tuple[set[str], dict[str, set[type]]],
) -> None:
    _, facts = seen
    for names, kinds in ((NUMBERS, {int, float}), (FLAGS, {bool}), (TEXTS, {str})):
        met = names & facts.keys()
        assert met
        assert {name: facts[name] for name in met if not facts[name] <= kinds} == {}


def _facts_that_are_read() -> Iterator[str]:
    """Find what the readers look up by its full name, as in ``node.facts.get("http.status")``."""
    for path in Path(airflow_common_ai.evidence.protocols.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            looked_up: ast.expr | None = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                is_get = node.func.attr == "get" and ast.unparse(node.func.value).endswith("facts")
                looked_up = node.args[0] if is_get or node.func.attr == "text_of" else None
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("facts"):
                looked_up = node.slice
            if isinstance(looked_up, ast.Constant) and isinstance(looked_up.value, str):
                yield looked_up.value


def test_every_fact_that_a_reader_looks_up_can_be_tested_in_a_rule() -> None:
    read = set(_facts_that_are_read())
    assert len(read) > 30
    assert {name for name in read if not is_fact(name)} == set()


def test_every_protocol_has_a_reader_that_makes_codes_of_it() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(airflow_common_ai.evidence.protocols.__path__[0]).rglob("*.py")
    )
    assert {name for name in PROTOCOLS if f"{name}." not in sources and f'"{name}"' not in sources} == set()
    assert {fact.partition(".")[0] for fact in FACTS} <= PROTOCOLS | {"process"}
