"""The code on the page of every way in runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ways-in.md"
README = Path(__file__).parents[2] / "README.md"


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def block(page: Path, word: str) -> str:
    (found,) = [code for code in blocks(page) if word in code]
    return found


PREAMBLE = (
    "from datetime import timedelta\nfrom airflow.sdk import DAG, dag, task\nfrom airflow_common_ai.policies import *\n"
)


def test_the_first_dag_of_the_page_parses() -> None:
    from airflow.sdk.definitions.dag import DAG

    namespace: dict[str, object] = {}
    exec(block(PAGE, "def orders()"), namespace)
    exec("the_dag = orders()", namespace)
    the_dag = namespace["the_dag"]
    assert isinstance(the_dag, DAG)
    assert type(the_dag.task_dict["load"].retry_policy).__name__ == "EvidenceRetryPolicy"


def run(code: str) -> dict[str, object]:
    """Run a block as it stands there, as a file would that has the usual imports."""
    namespace: dict[str, object] = {}
    exec(PREAMBLE + code, namespace)
    return namespace


@pytest.mark.parametrize("page", [PAGE, README], ids=lambda page: page.name)
def test_every_block_of_python_runs_as_it_stands(page: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = blocks(page)
    assert len(found) == page.read_text().count("```python")
    for code in found:
        run(code)
    # What a reader copies must not be warned about, but for a class of the reader's own company.
    assert [one for one in caplog.messages if "my_company" not in one] == []


def test_each_mapped_task_of_the_page_has_the_policy() -> None:
    made: Any = run(block(PAGE, "BashOperator.partial"))["dag"]
    assert type(made.task_dict["export"].partial_kwargs["retry_policy"]).__name__ == "EvidenceRetryPolicy"


def test_default_args_reach_the_tasks_that_set_no_policy() -> None:
    made: Any = run(block(PAGE, "def invoices()") + "\nmade = invoices()")["made"]
    modes = {name: operator.retry_policy.mode for name, operator in made.task_dict.items()}
    assert modes == {"load": None, "send": "shadow"}


def test_the_chain_of_the_page_asks_ours_first_and_then_the_other() -> None:
    chain: Any = run(block(PAGE, "ChainRetryPolicy("))["policy"]
    missing = chain.evaluate(FileNotFoundError(2, "No such file or directory", "/nowhere"), 1, 3)
    assert missing.reason.startswith("EvidenceRetryPolicy: os.enoent: ")
    assert chain.evaluate(RuntimeError("odd"), 1, 3).reason.startswith("ExceptionRetryPolicy: ")


def test_the_policy_of_a_deployment_reaches_every_task_that_has_retries_and_none_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "airflow_local_settings.py").write_text(block(PAGE, "def task_policy"))
    dags = tmp_path / "dags"
    dags.mkdir()
    (dags / "deployment.py").write_text(
        PREAMBLE
        + "with DAG('deployment'):\n"
        + "    @task(retries=2)\n    def plain(): ...\n"
        + "    @task(retries=2, retry_policy=ExceptionRetryPolicy(rules=[]))\n    def own(): ...\n"
        + "    @task\n    def without_retries(): ...\n"
        + "    @task(retries=1)\n    def mapped(x): ...\n"
        + "    plain(); own(); without_retries(); mapped.expand(x=[1, 2])\n"
    )
    program = (
        "from airflow.dag_processing.dagbag import DagBag\n"
        f"bag = DagBag({str(dags)!r})\n"
        "assert not bag.import_errors, bag.import_errors\n"
        "for task in bag.dags['deployment'].tasks:\n"
        "    print(task.task_id, type(task.retry_policy).__name__)\n"
    )
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    policies = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    assert (
        policies.items()
        >= {
            "plain": "EvidenceRetryPolicy",
            "own": "ExceptionRetryPolicy",
            "without_retries": "NoneType",
            "mapped": "EvidenceRetryPolicy",
        }.items()
    )


def test_the_options_of_the_page_are_those_of_the_provider_with_their_defaults() -> None:
    from airflow_common_ai.get_provider_info import CONFIG_OPTIONS

    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert dict(rows) == {name: option["default"] for name, option in CONFIG_OPTIONS.items()}
