"""A Dag that was written for the Common AI provider's policy works with the import line changed."""

from __future__ import annotations

import ast
import copy
import re
import warnings
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.definitions.retry_policy import RetryAction, RetryPolicy, RetryRule

from airflow_common_ai.policies import DEFAULT_CATEGORIES, ErrorClassification, FailureCategory, LLMRetryPolicy

PAGES = [Path(__file__).parents[2] / "docs" / name for name in ("migrate.md", "llm-policy.md")]
PROVIDER = "airflow.providers.common.ai.policies.retry"


def example_files() -> list[Path]:
    """The example Dags of the installed provider that use its policy."""
    spec = find_spec("airflow.providers.common.ai.example_dags")
    assert spec is not None
    (folder,) = spec.submodule_search_locations or ()
    return [path for path in sorted(Path(folder).glob("*.py")) if "LLMRetryPolicy" in path.read_text("utf-8")]


class ChangedImport(ast.NodeTransformer):
    """Takes the names that are here from here, and leaves the others where they were."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module != PROVIDER:
            return node
        ours = [name for name in node.names if name.name in ("LLMRetryPolicy", "ErrorClassification")]
        theirs = [name for name in node.names if name not in ours]
        return [
            ast.ImportFrom(module, names, 0)
            for module, names in (("airflow_common_ai.policies", ours), (PROVIDER, theirs))
            if names
        ]


def with_changed_import(path: Path) -> dict[str, Any]:
    tree = ast.fix_missing_locations(ChangedImport().visit(ast.parse(path.read_text("utf-8"))))
    namespace: dict[str, Any] = {"__name__": f"changed_{path.stem}"}
    exec(compile(tree, str(path), "exec"), namespace)
    return namespace


def policies_in(values: list[Any]) -> list[LLMRetryPolicy]:
    inner = [getattr(value, "fallback_policy", None) for value in values if isinstance(value, RetryPolicy)]
    return [value for value in (*values, *inner) if isinstance(value, LLMRetryPolicy)]


def test_the_provider_has_examples() -> None:
    assert example_files()


@pytest.mark.parametrize("path", example_files(), ids=lambda path: path.stem)
def test_every_policy_of_the_providers_example_dags_is_built(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        namespace = with_changed_import(path)
    found = policies_in(list(namespace.values()))
    assert len(found) == path.read_text("utf-8").count(" LLMRetryPolicy(") + path.read_text("utf-8").count(
        "=LLMRetryPolicy("
    )
    for policy in found:
        assert vars(copy.deepcopy(policy)) == vars(policy)


def masking(message: str) -> str:
    return re.sub(r"[\w.+-]+@[\w-]+\.[\w.-]+", "<email>", message)


RULES = [
    RetryRule(exception=ConnectionError, action=RetryAction.RETRY, retry_delay=timedelta(seconds=10)),
    RetryRule(exception=PermissionError, action=RetryAction.FAIL),
]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {"llm_conn_id": "pydanticai_default", "timeout": 30.0, "fallback_rules": RULES}),
        (("pydanticai_default", "openai:gpt-5-mini", None, RULES, 30.0), {}),
        ((), {"llm_conn_id": "pydanticai_default", "redactor": masking, "max_exception_length": 2048}),
        ((), {"llm_conn_id": "pydanticai_default", "include_traceback": True, "max_exception_length": 100_000}),
        ((), {"llm_conn_id": "ollama_local", "model_id": "ollama:llama3.2"}),
        ((), {"llm_conn_id": "pydanticai_default", "instructions": "", "fallback_rules": None, "timeout": 600}),
    ],
    ids=["usage", "by position", "redactor", "traceback", "local model", "empty values"],
)
def test_every_form_of_the_policy_in_the_providers_docs_is_built_by_both(
    arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as TheirLLMRetryPolicy

    theirs = TheirLLMRetryPolicy(*arguments, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ours = LLMRetryPolicy(*arguments, **options)
    for name in ("llm_conn_id", "model_id", "timeout", "max_exception_length", "include_traceback"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert list(ours.fallback_rules) == (theirs.fallback_rules or [])


def test_instructions_with_a_taxonomy_of_their_own_say_when_parsed_what_the_model_answers() -> None:
    with pytest.warns(
        UserWarning, match=r"instructions are given without categories: .* answers one of rate_limit, "
    ) as said:
        LLMRetryPolicy(llm_conn_id="c", instructions="Classify into queued or schema_drift. Set 120 s for queued.")
    assert said[0].filename == __file__


def test_instructions_with_categories_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        LLMRetryPolicy("c", instructions="x", categories={"queued": FailureCategory("The warehouse is busy.")})


def test_redaction_cannot_be_turned_off_and_a_warning_says_so() -> None:
    with pytest.warns(UserWarning, match="redact_exception=False is ignored: nothing unredacted leaves the worker"):
        assert LLMRetryPolicy(llm_conn_id="c", redact_exception=False)


def test_the_categories_of_the_provider_are_accepted() -> None:
    from airflow.providers.common.ai.policies import retry

    mine = {"queued": retry.ErrorCategory("Busy.", delay=timedelta(minutes=2), min_confidence=0.7)}
    policy = LLMRetryPolicy("c", categories={**retry.DEFAULT_CATEGORIES, **mine})
    assert list(policy.categories) == [*DEFAULT_CATEGORIES, "queued"]
    for name, row in {**retry.DEFAULT_CATEGORIES, **mine}.items():
        ours = policy.categories[name]
        assert (ours.description, ours.retry, ours.delay) == (row.description, row.retry, row.delay)


def test_a_classification_has_the_fields_of_the_providers() -> None:
    from airflow.providers.common.ai.policies.retry import ErrorClassification as TheirErrorClassification

    values = {"category": "network", "should_retry": True, "reasoning": "x"}
    assert ErrorClassification(**values).model_dump() == TheirErrorClassification(**values).model_dump()


def test_every_argument_of_the_providers_policy_is_named_on_the_page_or_means_the_same() -> None:
    text = PAGES[0].read_text("utf-8")
    for name in ("timeout", "instructions", "fallback_rules", "redactor", "redact_exception", "max_exception_length"):
        assert f"`{name}" in text
    assert "include_traceback" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_the_pages_runs(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert blocks
    with DAG("pages"):
        for code in blocks:
            exec(code, {})
