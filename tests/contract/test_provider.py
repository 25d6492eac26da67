from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points, version
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from airflow_common_ai.get_provider_info import CONFIG_OPTIONS, get_provider_info

SCHEMA = json.loads(files("airflow").joinpath("provider_info.schema.json").read_text("utf-8"))


def airflow(home: Path, *command: str) -> str:
    """Return what the ``airflow`` command prints in a home of its own."""
    return subprocess.run(
        [Path(sys.executable).parent / "airflow", *command],
        env={**os.environ, "AIRFLOW_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_provider_info_is_what_airflows_own_schema_wants() -> None:
    jsonschema.validate(get_provider_info(), SCHEMA)


def test_airflows_schema_would_refuse_an_option_without_a_default() -> None:
    info = get_provider_info()
    info["config"] = {"common_ai_retry": {"description": "", "options": {"mode": {"description": ""}}}}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(info, SCHEMA)


def test_the_entry_point_is_the_one_that_airflow_looks_for() -> None:
    (entry_point,) = (
        found
        for found in entry_points(group="apache_airflow_provider")
        if found.dist is not None and found.dist.name == "airflow-common-ai"
    )

    assert entry_point.load() is get_provider_info


def test_airflow_shows_the_provider(tmp_path: Path) -> None:
    shown = json.loads(airflow(tmp_path, "providers", "get", "airflow-common-ai", "--output", "json"))

    assert shown == [{"Provider": "airflow-common-ai", "Version": version("airflow-common-ai")}]


def test_airflow_knows_the_default_of_an_option(tmp_path: Path) -> None:
    assert airflow(tmp_path, "config", "get-value", "common_ai_retry", "mode").strip() == "enforce"


def test_airflow_shows_what_each_option_means(tmp_path: Path) -> None:
    shown = airflow(
        tmp_path, "config", "list", "--section", "common_ai_retry", "--include-descriptions", "--include-examples"
    )

    for name, option in CONFIG_OPTIONS.items():
        assert f"Example: {name} = {option['example']}" in shown
        assert f"# {option['description'].splitlines()[0]}" in shown


def test_the_options_are_these() -> None:
    assert {name: option["default"] for name, option in CONFIG_OPTIONS.items()} == {
        "mode": "enforce",
        "max_delay": "3600",
        "max_server_delay": "86400",
        "history_retention_days": "30",
        "force_shadow": "False",
    }
