"""The page about a corpus says what the commands do."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import typer
from evals.corpus.collecting import collect_into, log_of
from typer.testing import CliRunner

from airflow_common_ai.cli.corpus import app

PAGE = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text("utf-8")
LINES = re.findall(r"airflow-common-ai corpus ([^`\n]+)", PAGE)
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("line", LINES)
def test_every_command_on_the_page_has_these_options(line: str) -> None:
    name, *arguments = shlex.split(line)

    COMMANDS[name].make_context(name, arguments)


def test_every_command_is_on_the_page() -> None:
    assert {name for name in COMMANDS if f"corpus {name} failures" in PAGE or f"corpus {name} " in PAGE} == set(
        COMMANDS
    )


@pytest.mark.parametrize("command", ["add", "lint", "stats", "dedupe", "split", "label"])
def test_the_page_names_every_field_of_the_json(command: str, tmp_path: Path) -> None:
    collect_into(tmp_path, log_of(ValueError("bad")))
    arguments = [command, "-c", str(tmp_path)] if command == "add" else [command, str(tmp_path)]

    result = CliRunner().invoke(app, [*arguments, "--json"], input="x")

    (row,) = re.findall(rf"^\| `{command}` \| (.*) \|$", PAGE, re.MULTILINE)
    fields = set(json.loads(result.stdout)) - {"version"}
    assert fields
    assert {field for field in fields if f"`{field}`" not in row} == set()
