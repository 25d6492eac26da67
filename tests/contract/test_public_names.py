from __future__ import annotations

import pytest

from airflow_common_ai import policies


@pytest.mark.parametrize("name", ["ExceptionRetryPolicy", "RetryAction", "RetryDecision", "RetryPolicy", "RetryRule"])
def test_the_sdks_types_are_the_very_objects_of_the_sdk(name: str) -> None:
    from airflow import sdk
    from airflow.sdk.definitions import retry_policy

    assert getattr(policies, name) is getattr(retry_policy, name) is getattr(sdk, name)


def test_every_type_of_common_compat_is_the_very_object_too() -> None:
    from airflow.providers.common.compat import sdk as compat

    assert policies.ChainRetryPolicy is compat.ChainRetryPolicy


def test_the_public_names_are_these() -> None:
    assert set(policies.__all__) == {
        "DEFAULT_CATEGORIES",
        "ChainRetryPolicy",
        "ErrorClassification",
        "EvidenceRetryPolicy",
        "ExceptionRetryPolicy",
        "FailureCategory",
        "FailureRule",
        "LLMRetryPolicy",
        "RetryAction",
        "RetryDecision",
        "RetryPolicy",
        "RetryRule",
    }


def test_each_public_name_is_there_and_shown_by_dir() -> None:
    assert {name for name in policies.__all__ if not hasattr(policies, name)} == set()
    assert set(policies.__all__) <= set(dir(policies))


def test_a_misspelt_name_is_an_error_that_names_it() -> None:
    with pytest.raises(ImportError, match="EvidenceRetryPolice"):
        exec("from airflow_common_ai.policies import EvidenceRetryPolice")
