"""``airflow-common-ai score``, ``compare``, ``gate``, ``trust`` and ``simulate``: what a run says about a policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from airflow_common_ai.cli.extra import require_evals
from airflow_common_ai.cli.measuring import costs_in, measuring, read_file, run_in, write_file
from airflow_common_ai.cli.output import print_json, print_lines

__all__ = ["app", "compare", "gate", "score", "simulate", "trust"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="What `airflow-common-ai run` wrote.")]
Split = Annotated[str | None, typer.Option("--split", help="Only these cases, e.g. gate.")]
Prices = Annotated[Path | None, typer.Option("--costs", metavar="FILE", help="Prices as TOML: docs/ci.md.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs: docs/ci.md.")]
IsLong = Annotated[bool, typer.Option("--verbose", "-v", help="All of it, not only what fits a screen.")]


@app.command()
def score(
    run: RunArgument, split: Split = None, costs: Prices = None, as_json: AsJson = False, verbose: IsLong = False
) -> None:
    """
    Score a run: how often was the policy right, what did its errors cost, and how sure is that?

    Neither the corpus nor the policy is asked again. Copies of a failure count as one.

    \b
    airflow-common-ai score run.jsonl --split gate

    Exits with 0, with 2 if it was called wrongly, with 3 if nothing in the run was judged by anybody.
    """
    require_evals("score", "numpy", "scipy", "sklearn")
    from airflow_common_ai.cli.score_screen import score_lines
    from airflow_common_ai.evals.score import score as score_run

    with measuring("score"):
        found = score_run(run_in(run), split=split, costs=costs_in(costs))
    if as_json:
        print_json(found.to_json())
    else:
        print_lines(score_lines(found, is_long=verbose))


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The run of the baseline.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The run to judge.")],
    split: Split = None,
    costs: Prices = None,
    as_json: AsJson = False,
    verbose: IsLong = False,
) -> None:
    """
    Compare two runs on the same corpus, case by case: what changed, and can it be chance?

    \b
    airflow-common-ai compare main.jsonl mine.jsonl --split gate

    Exits with 0, with 2 if it was called wrongly, with 3 if the runs are not on the same cases.
    """
    require_evals("compare", "numpy", "scipy", "sklearn")
    from airflow_common_ai.cli.compare_screen import comparison_lines
    from airflow_common_ai.evals.compare import compare as compare_runs

    with measuring("compare"):
        found = compare_runs(run_in(before), run_in(after), split=split, costs=costs_in(costs))
    if as_json:
        print_json(found.to_json())
    else:
        print_lines(comparison_lines(found, is_long=verbose))


@app.command()
def gate(
    run: RunArgument,
    config: Annotated[Path, typer.Option("--config", help="The gates.")] = Path("gates.toml"),
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN", help="An earlier run, for gates about drops.")
    ] = None,
    as_json: AsJson = False,
    verbose: IsLong = False,
) -> None:
    """
    Judge a run by gates, so that a build stops when a policy gets worse.

    \b
    airflow-common-ai gate run.jsonl --config gates.toml --baseline main.jsonl

    Exits with 0 if it passes, with 1 if it does not, with 2 if it was called wrongly, with 3 if that could not be
    measured: stale or missing answers, too few failures, too many crashes, another corpus than the baseline's.
    """
    require_evals("gate", "numpy", "scipy", "sklearn")
    from airflow_common_ai.cli.gate_screen import gate_lines
    from airflow_common_ai.evals.gates.gate import check
    from airflow_common_ai.evals.gates.gates_file import read_gates

    with measuring("gate"):
        verdict = check(run_in(run), read_file(config, read_gates), None if baseline is None else run_in(baseline))
    if as_json:
        print_json(verdict.to_json())
    else:
        print_lines(gate_lines(verdict, is_long=verbose))
    raise typer.Exit(verdict.exit_code)


@app.command()
def trust(
    run: RunArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the table goes, e.g. trust.json.")],
    split: Annotated[str | None, typer.Option("--split", help="Only these cases; all but dev if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Write how far a run has measured a model, so that LLMRetryPolicy(trust=...) may fail tasks on its word alone.

    \b
    airflow-common-ai trust run.jsonl -o trust.json

    Exits with 0, with 2 if it was called wrongly, with 3 if the run measures no model, or on too few failures.
    """
    require_evals("trust", "numpy", "scipy", "sklearn")
    from airflow_common_ai.cli.trust_screen import trust_lines
    from airflow_common_ai.evals.trust import measure_trust

    with measuring("trust"):
        found = measure_trust(run_in(run), split=split)
        write_file(output, json.dumps(found.table.to_json(), indent=2) + "\n")
    if as_json:
        print_json(found.to_json())
    else:
        print_lines(trust_lines(found, output))


@app.command()
def simulate(
    run: RunArgument,
    split: Split = None,
    failures: Annotated[
        int | None,
        typer.Option("--failures", min=1, max=1_000_000, help="That a month brings; the corpus's if left out."),
    ] = None,
    attempt_minutes: Annotated[
        float, typer.Option("--attempt-minutes", min=0, max=10_000, help="How long a try runs until it fails.")
    ] = 5,
    retries: Annotated[int, typer.Option("--retries", min=1, max=50, help="That a task has.")] = 5,
    retry_delay: Annotated[
        float, typer.Option("--retry-delay", min=0, max=31_536_000, help="A task's own, in seconds.")
    ] = 300,
    months: Annotated[int, typer.Option("--months", min=20, max=10_000, help="That are simulated.")] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed simulates the same months.")] = 1,
    as_json: AsJson = False,
) -> None:
    """
    Simulate what a month would have looked like with the policy, with Airflow's default, and with others.

    \b
    airflow-common-ai simulate run.jsonl --failures 500

    Exits with 0, with 2 if it was called wrongly, with 3 if nothing in the run was judged by anybody.
    """
    require_evals("simulate", "numpy", "scipy", "sklearn")
    from airflow_common_ai.cli.month_screen import month_lines
    from airflow_common_ai.evals.simulate import Assumptions
    from airflow_common_ai.evals.simulate import simulate as simulate_months

    assumptions = Assumptions(
        failures=failures,
        attempt_minutes=attempt_minutes,
        retries=retries,
        retry_delay_s=retry_delay,
        months=months,
        seed=seed,
    )
    with measuring("simulate"):
        month = simulate_months(run_in(run), assumptions, split=split)
    if as_json:
        print_json(month.to_json())
    else:
        print_lines(month_lines(month))
