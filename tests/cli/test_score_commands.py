"""``score``, ``compare``, ``gate``, ``trust`` and ``simulate`` as they are called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from evals.replayed_run import label, replayed, row, run_of, written
from typer.testing import CliRunner

from airflow_common_ai.cli.score import app
from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.policies.llm.trust import read_trust

SCREEN_LINES = 40
GATES = '[measure]\nmin_failures = 10\n[[bound]]\nmetric = "false_fails"\nat_most = {bar}\n[[drop]]\nmetric = "right"\n'


def call(*arguments: object, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == exit_code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(replayed("dev", every=6), tmp_path_factory.mktemp("runs") / "run.jsonl")


def run_file(path: Path, rows: Sequence[Row], **changes: Any) -> Path:
    run = run_of(rows)
    return written(Run(replace(run.header, **changes), run.rows), path)


def full(tmp_path: Path) -> Path:
    """A run that has something of everything."""
    rows = []
    for number in range(120):
        is_worth_it = number % 3 == 0
        category = "network" if is_worth_it else "auth"
        judged = label("yes", "network") if is_worth_it else label("no", "auth")
        vote = {"tier": "llm", "outcome": "unsure", "category": category, "confidence": 0.5 + number % 5 / 10}
        asked = {"votes": (vote,), "model": "a-model", "calls": 1, "input_tokens": 400, "cost_usd": 0.001}
        outcome = Outcome.CRASHED if number == 5 else Outcome.DECIDED
        for repeat in (1, 2):
            is_settled = (is_worth_it or number == 4) and repeat == 1
            fields = {**asked, "source": f"tier-{number % 6}", "category": category if is_settled else None}
            action = "retry" if is_settled else "default"
            rows.append(row(number, action, judged, repeat=repeat, outcome=outcome, **fields))
    return run_file(
        tmp_path / "full.jsonl",
        rows,
        question={"prompt": "a" * 64, "schema": "b" * 64, "categories": "c" * 64},
        conn_type="pydanticai",
        measured_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def test_a_score_of_real_decisions_fits_a_screen(real: Path) -> None:
    lines = call("score", real, "--split", "dev").stdout.splitlines()
    assert len(lines) <= SCREEN_LINES
    text = "\n".join(lines)
    for words in ("right of all", "false FAILs", "rate_limit", "Airflow's default", "oracle", "Who decided"):
        assert words in text
    assert "\x1b" not in text


def test_a_score_of_everything_fits_a_screen_and_verbose_shows_all(tmp_path: Path) -> None:
    path = full(tmp_path)
    short, long = call("score", path).stdout, call("score", path, "-v").stdout
    assert len(short.splitlines()) <= SCREEN_LINES
    for words in ("Confidence of llm", "min_confidence", "Asked 2 times", "crashed, timed out, stale", "tokens a call"):
        assert words in short
    for words in ("Confusion matrix", "cost of 100", "tier-5"):
        assert words in long
        assert words not in short


def test_the_worst_decisions_fill_what_is_left_of_the_screen(tmp_path: Path) -> None:
    rows = [row(number, "fail" if number < 50 else "retry") for number in range(100)]
    lines = call("score", run_file(tmp_path / "run.jsonl", rows)).stdout.splitlines()
    assert len(lines) == SCREEN_LINES
    worst = lines.index("Worst")
    assert lines[worst + 1] == "    60.0  false FAILs: family/case-0"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "{run}"),
        ("compare", "{run}", "{run}"),
        ("simulate", "{run}", "--months", "20"),
        ("gate", "{run}", "--config", "{gates}"),
        ("trust", "{run}", "-o", "{trust}"),
    ],
)
def test_every_command_prints_json_that_any_program_reads(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    gates = tmp_path / "gates.toml"
    gates.write_text('[measure]\nmax_unanswered = 0.1\n[[bound]]\nmetric = "right"\nat_least = 0.1\n', "utf-8")
    places = {"run": full(tmp_path), "gates": gates, "trust": tmp_path / "trust.json"}
    result = call(*(argument.format(**places) for argument in arguments), "--json")
    data = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["version"] == 1
    assert result.stderr == ""


def test_prices_are_the_users(tmp_path: Path, real: Path) -> None:
    costs = tmp_path / "costs.toml"
    costs.write_text('unit = "euros"\nwasted_retry_minutes = 0\n', "utf-8")
    assert "Cost of 100 failures, euros" in call("score", real, "--costs", costs).stdout
    costs.write_text("false_fial = 3\n", "utf-8")
    refused = call("score", real, "--costs", costs, exit_code=2)
    assert refused.stderr.startswith(f"airflow-common-ai score: {costs}: false_fial is no key of this file.")


def test_a_comparison_shows_what_changed_worst_first(tmp_path: Path) -> None:
    rows = [row(number) for number in range(60)]
    before = run_file(tmp_path / "before.jsonl", rows)
    worse = [replace(one, action=Action.FAIL, delay_s=None) for one in rows[:30]] + rows[30:]
    after = run_file(tmp_path / "after.jsonl", worse)
    lines = call("compare", before, after).stdout.splitlines()
    assert len(lines) <= SCREEN_LINES
    assert "30 cases changed, worst first" in lines
    assert "   +60.0  family/case-0: retry in 60.0 s -> fail, worth a retry: yes" in lines
    assert lines[-1] == "  and 10 more: -v or --json"
    assert len(call("compare", before, after, "-v").stdout.splitlines()) == len(lines) + 9


def test_runs_on_different_corpora_are_not_compared(tmp_path: Path) -> None:
    before, after = run_file(tmp_path / "a.jsonl", [row(1)]), run_file(tmp_path / "b.jsonl", [row(2)])
    refused = call("compare", before, after, exit_code=3)
    assert refused.stderr.startswith("airflow-common-ai compare: the runs are on different corpora")


@pytest.mark.parametrize(
    ("bar", "wrong", "exit_code", "last"),
    [
        (0.1, 0, 0, "PASSED (exit code 0)"),
        (0.001, 0, 1, "FAILED (exit code 1)"),
        (0.9, 20, 1, "FAILED (exit code 1)"),
    ],
)
def test_a_gate_ends_with_its_verdict(tmp_path: Path, bar: float, wrong: int, exit_code: int, last: str) -> None:
    rows = [row(number) for number in range(60)]
    baseline = run_file(tmp_path / "baseline.jsonl", rows)
    worse = [replace(one, action=Action.FAIL, delay_s=None) for one in rows[:wrong]] + rows[wrong:]
    run = run_file(tmp_path / "run.jsonl", worse)
    config = tmp_path / "gates.toml"
    config.write_text(GATES.format(bar=bar), "utf-8")
    result = call("gate", run, "--config", config, "--baseline", baseline, exit_code=exit_code)
    assert result.stdout.splitlines()[-1] == last
    assert "sees from" in result.stdout
    told = call("gate", run, "--config", config, "--baseline", baseline, "--json", exit_code=exit_code)
    assert json.loads(told.stdout)["exit_code"] == exit_code


def test_a_gate_that_could_not_be_measured_says_why(tmp_path: Path) -> None:
    run = run_file(tmp_path / "run.jsonl", [row(1), row(2, outcome=Outcome.STALE)])
    config = tmp_path / "gates.toml"
    config.write_text(GATES.format(bar=1), "utf-8")
    lines = call("gate", run, "--config", config, exit_code=3).stdout.splitlines()
    assert lines[-1] == "NOT MEASURED (exit code 3)"
    assert (
        "not measured: 1 rows are stale, since the cassettes hold no answer to what was asked: record them again"
        in lines
    )
    assert "not measured: 2 distinct failures with a label are fewer than min_failures = 10" in lines


def test_gates_that_are_wrong_are_a_usage_error(tmp_path: Path, real: Path) -> None:
    missing = call("gate", real, "--config", tmp_path / "gates.toml", exit_code=2)
    assert "gates.toml cannot be read: No such file" in missing.stderr
    config = tmp_path / "gates.toml"
    config.write_text("[[bound]]\nmetric = 'right'\n", "utf-8")
    assert "must have either at_least or at_most" in call("gate", real, "--config", config, exit_code=2).stderr


def test_a_trust_table_is_written_whole_for_the_policy_that_was_measured(tmp_path: Path) -> None:
    output = tmp_path / "trust.json"
    lines = call("trust", full(tmp_path), "-o", output).stdout
    assert read_trust(output).categories.keys() == {"auth"}
    assert "a-model" in lines
    assert "yes: the bar is 90 %" in lines
    assert not output.with_name("trust.json.unfinished").exists()


def test_a_run_without_a_model_earns_no_trust_and_leaves_the_file_alone(tmp_path: Path, real: Path) -> None:
    output = tmp_path / "trust.json"
    output.write_text("as it was", "utf-8")
    refused = call("trust", real, "-o", output, exit_code=3)
    assert "no model named a category" in refused.stderr
    assert output.read_text("utf-8") == "as it was"


def test_where_the_table_goes_no_link_is_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text("as it was", "utf-8")
    output = tmp_path / "trust.json"
    output.symlink_to(elsewhere)
    call("trust", full(tmp_path), "-o", output)
    assert elsewhere.read_text("utf-8") == "as it was"
    assert read_trust(output).categories


def test_a_month_fits_a_screen_with_its_assumptions(real: Path) -> None:
    lines = call("simulate", real, "--failures", 300, "--months", 20, "--seed", 3).stdout.splitlines()
    assert len(lines) <= SCREEN_LINES
    assert "Assumed" in lines
    assert any(line.startswith("tasks lost that would recover") for line in lines)


@pytest.mark.parametrize("command", ["score", "simulate", "gate"])
def test_what_is_no_run_is_refused_with_the_way_out(tmp_path: Path, command: str) -> None:
    missing = call(command, tmp_path / "run.jsonl", exit_code=2)
    assert (
        missing.stderr
        == f"airflow-common-ai {command}: {tmp_path}/run.jsonl cannot be read: No such file or directory.\n"
    )
    folder = call(command, tmp_path, exit_code=2)
    assert "is no regular file. Give the file itself, not a link, a folder or a pipe." in folder.stderr
    link = tmp_path / "link.jsonl"
    link.symlink_to("/etc/passwd")
    assert "is no regular file" in call(command, link, exit_code=2).stderr
    (tmp_path / "text.jsonl").write_text("hello\n", "utf-8")
    assert "text.jsonl:1: not a JSON object" in call(command, tmp_path / "text.jsonl", exit_code=2).stderr


def test_a_split_that_nobody_judged_cannot_be_measured(real: Path) -> None:
    refused = call("score", real, "--split", "haldout", exit_code=3)
    assert "split 'haldout' of the run holds no case with a label; splits with labels: dev." in refused.stderr


def test_what_a_stranger_wrote_into_a_run_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    hostile = "family/\x1b]0;owned\x07\u202e"
    rows = [replace(row(number, "fail"), id=f"{hostile}{number}", category="\x1b[31m") for number in range(3)]
    path = run_file(tmp_path / "run.jsonl", rows, policy="\x1b[2J", policy_id="\x9b1m")
    config = tmp_path / "gates.toml"
    config.write_text('[measure]\nmin_failures = 1\n[[must_pass]]\nname = "\\u001b[1m"\nids = ["*"]\n', "utf-8")
    for arguments, exit_code in (
        (("score", path, "-v"), 0),
        (("compare", path, path), 0),
        (("gate", path, "--config", config), 1),
        (("simulate", path, "--months", "20"), 0),
    ):
        shown = call(*arguments, exit_code=exit_code).output
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
