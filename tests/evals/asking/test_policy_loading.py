"""A policy is named as a user would name it; what is wrong is said with the fix."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy

from airflow_common_ai.evals.asking.policy_loading import PolicyNotLoaded, identity_of, load_policy
from airflow_common_ai.policies import EvidenceRetryPolicy

SOURCE = """
from datetime import timedelta
from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy
from airflow_common_ai.policies import EvidenceRetryPolicy

careful = EvidenceRetryPolicy(max_delay=timedelta(minutes=5))

class Always(RetryPolicy):
    def evaluate(self, exception, try_number, max_tries, context=None):
        return RetryDecision.retry()

class Patient(Always):
    def __init__(self, minutes):
        self.minutes = minutes

class Held:
    inner = careful

def made():
    return Patient(5)

def made_for(team, *, region="eu"):
    return Patient(5)

def broken():
    raise OSError("no such table")

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "team_policies.py").write_text(SOURCE, "utf-8")
    monkeypatch.delitem(sys.modules, "team_policies", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("airflow_common_ai.policies:EvidenceRetryPolicy", "EvidenceRetryPolicy"),
        ("team_policies:careful", "EvidenceRetryPolicy"),
        ("team_policies:Always", "Always"),
        ("team_policies:made", "Patient"),
        ("team_policies:Held.inner", "EvidenceRetryPolicy"),
        ("team_policies.py:careful", "EvidenceRetryPolicy"),
        ("./team_policies.py:made", "Patient"),
    ],
)
def test_a_policy_a_class_or_a_function_in_a_module_or_a_file_is_a_policy(folder: Path, name: str, kind: str) -> None:
    assert type(load_policy(name, folder)).__name__ == kind


def test_a_file_may_import_what_lies_beside_it_and_the_import_path_is_as_before(tmp_path: Path) -> None:
    dags = tmp_path / "dags"
    dags.mkdir()
    (dags / "shared_by_policies.py").write_text("MINUTES = 7\n", "utf-8")
    (dags / "mine.py").write_text(f"import shared_by_policies\n{SOURCE}", "utf-8")
    before = list(sys.path)
    assert load_policy("dags/mine.py:careful", tmp_path)
    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("team_policies", "--policy must be like my_package.policies:careful or path/to/file.py:careful, got 'team"),
        ("team_policies:", "--policy must be like"),
        ("no_such_module:careful", "there is no module 'no_such_module'. Install the package, name the file"),
        ("nowhere.py:careful", "there is no file"),
        ("team_policies:carefull", "team_policies has no 'carefull'; it has: EvidenceRetryPolicy, careful"),
        ("team_policies:Patient", "team_policies:Patient needs arguments: minutes. Write a function without arguments"),
        ("team_policies:made_for", "needs arguments: team."),
        ("team_policies:broken", "team_policies:broken could not be made: OSError: no such table."),
        ("team_policies:number", "must be a RetryPolicy, or a class or a function that makes one; it is an int."),
        ("json:dumps", "json:dumps needs arguments: obj"),
        ("builtins:dict", "it returned a dict."),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(folder: Path, name: str, words: str) -> None:
    with pytest.raises(PolicyNotLoaded) as refused:
        load_policy(name, folder)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "import a_package_that_is_missing\n",
            "ModuleNotFoundError: No module named 'a_package_that",
        ),
        ("raise SystemExit('bye')\n", "could not be imported: SystemExit: bye."),
        ("x = (\n", "could not be imported: SyntaxError"),
        ("raise ValueError('\\x1b[31m')\n", "could not be imported: ValueError: \\x1b[31m."),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(source, "utf-8")
    with pytest.raises(PolicyNotLoaded) as refused:
        load_policy("mine.py:careful", tmp_path)
    assert words in str(refused.value)


def test_the_identity_changes_with_the_options_and_with_the_file(folder: Path) -> None:
    first = identity_of(load_policy("team_policies.py:made", folder))
    assert first == identity_of(load_policy("team_policies.py:made", folder))
    (folder / "team_policies.py").write_text(SOURCE.replace("Patient(5)", "Patient(6)", 1), "utf-8")
    assert identity_of(load_policy("team_policies.py:made", folder)) != first
    assert identity_of(EvidenceRetryPolicy()) != identity_of(EvidenceRetryPolicy(history=False))
    assert identity_of(EvidenceRetryPolicy()) != identity_of(EvidenceRetryPolicy(), "another configuration")


def test_the_identity_names_the_class() -> None:
    name, _, digest = identity_of(ExceptionRetryPolicy([])).partition("-")
    assert name == "ExceptionRetryPolicy"
    assert len(digest) == 8


def test_a_policy_without_a_dict_has_an_identity_too() -> None:
    class Slotted(ExceptionRetryPolicy):
        __slots__ = ()

    assert identity_of(Slotted([])).startswith("Slotted-")
