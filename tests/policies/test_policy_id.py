"""A policy's name in the record: which options, and which weights of the classifier."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_common_ai.classifier import version
from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.policy_id import policy_id


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    path = tmp_path / "weights.json"
    path.write_bytes(SHIPPED.read_bytes())
    return path


def test_other_weights_are_another_policy(copied: Path) -> None:
    policy = EvidenceRetryPolicy(classifier=copied)
    before = policy_id(policy)
    copied.write_bytes(SHIPPED.read_bytes().replace(b'"seed"', b'"seen"'))

    assert policy_id(policy) != before
    assert policy_id(policy).startswith("EvidenceRetryPolicy-")


def test_where_the_weights_are_does_not_matter(copied: Path) -> None:
    assert policy_id(EvidenceRetryPolicy(classifier=copied)) == policy_id(EvidenceRetryPolicy())


def test_no_classifier_is_another_policy_and_so_is_one_that_is_gone(copied: Path) -> None:
    policy = EvidenceRetryPolicy(classifier=copied)
    names = {policy_id(policy), policy_id(EvidenceRetryPolicy(classifier=False))}
    copied.unlink()

    assert len({*names, policy_id(policy)}) == 3


def test_weights_that_stay_as_they_are_are_read_once(copied: Path) -> None:
    first = version.version_of(copied)
    reads = version._hash.cache_info().misses

    assert {version.version_of(copied) for _ in range(5)} == {first}
    assert version._hash.cache_info().misses == reads
