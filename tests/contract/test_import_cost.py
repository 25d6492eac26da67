"""What an import brings along. How long it takes is measured by ``make bench``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def imported_by(statement: str, home: Path, *, after: str = "") -> set[str]:
    """Return the modules that ``statement`` imports in a new process which has run ``after``."""
    program = (
        f"import json, sys\n{after}\nbefore = set(sys.modules)\n{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "AIRFLOW_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules: list[str] = json.loads(answer.stdout.splitlines()[-1])
    return set(modules)


def foreign(modules: set[str]) -> set[str]:
    """Neither ours nor Python's."""
    return {name for name in modules if name.partition(".")[0] not in {"airflow_common_ai", *sys.stdlib_module_names}}


def test_the_package_alone_imports_nothing(tmp_path: Path) -> None:
    assert imported_by("import airflow_common_ai", tmp_path) == {"airflow_common_ai"}


def test_the_provider_info_imports_nothing_else_of_ours(tmp_path: Path) -> None:
    modules = imported_by("import airflow_common_ai.get_provider_info", tmp_path)

    assert not foreign(modules)
    assert {name for name in modules if name.startswith("airflow_common_ai.")} == {
        "airflow_common_ai.get_provider_info"
    }


def test_the_policies_load_only_when_they_are_used(tmp_path: Path) -> None:
    modules = imported_by("import airflow_common_ai.policies", tmp_path, after="import airflow.sdk")

    # The package itself is there already: Airflow has asked for the provider info.
    assert modules - {"airflow_common_ai"} == {"airflow_common_ai.policies"}


@pytest.mark.parametrize(
    "statement",
    [
        "from airflow_common_ai.policies import EvidenceRetryPolicy",
        "from airflow_common_ai.policies import EvidenceRetryPolicy, FailureRule; "
        "EvidenceRetryPolicy(rules=[FailureRule(OSError)])",
        "from airflow_common_ai.policies import ErrorClassification, LLMRetryPolicy; "
        "LLMRetryPolicy('my_llm', 'ollama:llama3.2', timeout=10)",
    ],
)
def test_a_dag_file_with_a_policy_loads_no_library_that_the_sdk_has_not_loaded(statement: str, tmp_path: Path) -> None:
    modules = imported_by(statement, tmp_path, after="from airflow.sdk import DAG, RetryPolicy, task")

    assert "airflow_common_ai.policies.evidence_policy" in modules
    assert not [name for name in modules if name.startswith("airflow_common_ai.policies.llm.")]
    assert not foreign(modules)


def test_the_model_stack_would_be_seen(tmp_path: Path) -> None:
    modules = imported_by("import airflow.providers.common.ai.policies.retry", tmp_path, after="import airflow.sdk")

    assert "pydantic_ai" in foreign(modules)
