"""Ask a policy about every case of a corpus, and write down what it decided."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.cases import Case, class_paths, digest_of, in_shard, read_cases, row_of
from airflow_common_ai.evals.replay.cassette_store import OLD_DAYS, CassetteStore, StoreHeader
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.runs.run_output import RunOutput
from airflow_common_ai.evals.workers.job import Job, Mode, PolicyFacts, Preparation, Setup
from airflow_common_ai.evals.workers.worker_pool import WorkerPool, processors
from airflow_common_ai.recordings.split import Split

__all__ = ["RunOptions", "RunSummary", "run_policy"]

Progress = Callable[[int, int], None]
"""Told how many rows there are, and how many there will be."""

_MAX_STALE = 3
"""Of which the difference is shown."""


@dataclass(frozen=True)
class RunOptions:
    """What is run on what."""

    corpus: Path
    policy: str
    output: Path
    labels: Path | None = None
    split: Split | None = None
    shard: tuple[int, int] | None = None
    repeats: int = 1
    tries: int = 1
    """How often the same failure comes again, for those who want to know what happens later; at most five."""
    resume: bool = False
    replay: Path | None = None
    record: Path | None = None
    live: bool = False
    jobs: int | None = None
    """Processes; as many as the machine has processors if ``None``."""
    timeout_s: float = 120.0
    allow_import: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.replay is not None) + (self.record is not None) + self.live > 1:
            raise ValueError("take one of --replay, --record and --live.")

    @property
    def mode(self) -> Mode:
        if self.live:
            return "live"
        return "record" if self.record is not None else "replay" if self.replay is not None else "offline"


@dataclass
class RunSummary:
    """What a run came to."""

    header: RunHeader
    has_model: bool
    """The policy names a model, whether it was asked or not."""
    rows: int = 0
    resumed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    calls: int = 0
    models: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    """What a policy raised, and why models did not answer."""
    stale: list[tuple[str, str]] = field(default_factory=list)
    """The first cases whose answers were never recorded, with the difference."""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_measured(self) -> bool:
        """Whether every case was asked, and something came of it."""
        return not self.outcomes[Outcome.STALE] and self.outcomes[Outcome.DECIDED] > 0

    def add(self, row: Row) -> None:
        self.rows += 1
        self.outcomes[row.outcome.value] += 1
        self.labelled += row.label is not None
        self.calls += row.calls
        if row.model:
            self.models[row.model] += 1
        if row.outcome is Outcome.DECIDED:
            self.actions[row.action.value] += 1
            self.sources[row.source] += 1
        if row.outcome is Outcome.STALE and len(self.stale) < _MAX_STALE:
            self.stale.append((row.id, row.error or ""))
        elif row.outcome is not Outcome.STALE and row.error:
            self.errors[row.error] += 1


def run_policy(options: RunOptions, progress: Progress = lambda done, total: None) -> RunSummary:
    """
    Ask and write; what is there already is not asked again where a run is continued.

    :raises ValueError: The corpus, the policy, the store or the output cannot be used: why, and how to mend it.
    :raises NoWorkers: The processes that ask came to an end.
    """
    started = time.monotonic()
    store = _store(options)
    recorded = store.header.connections if store is not None and store.header is not None else {}
    setup = Setup(
        options.policy,
        str(Path.cwd()),
        options.mode,
        options.tries,
        options.allow_import,
        recorded if options.mode == "replay" else {},
    )
    with WorkerPool(setup, options.jobs or processors()) as pool:
        every_case = read_cases(options.corpus, options.labels, options.split)
        cases = in_shard(every_case, options.shard)
        facts = pool.facts()
        recorded_at = store.header.recorded_at if store is not None and store.header is not None else None
        header = _header(options, facts, every_case, len(cases), recorded_at if options.mode == "replay" else None)
        summary = RunSummary(header, facts.has_model, warnings=list(_warnings(store, facts, options)))
        _refuse_missing(facts, options.mode)
        pool.prepare(Preparation(class_paths(every_case) if facts.looks_at_exceptions else (), options.timeout_s))
        with RunOutput(options.output, header, resume=options.resume, tries=options.tries) as output:
            if store is not None and options.record is not None:
                store.start(_store_header(options, facts))
            summary.header = output.header
            for row in output.rows:
                summary.add(row)
            summary.resumed = len(output.rows)
            _ask(pool, cases, output, store, options, summary, progress)
            output.finish({key: at for at, (key, _) in enumerate(_planned(cases, options.repeats))})
            if store is not None and options.record is not None:
                store.finish(sorted(summary.models))
    summary.seconds = time.monotonic() - started
    return summary


def _ask(
    pool: WorkerPool,
    cases: Sequence[Case],
    output: RunOutput,
    store: CassetteStore | None,
    options: RunOptions,
    summary: RunSummary,
    progress: Progress,
) -> None:
    done = {row.key for row in output.rows}
    planned = [(key, case) for key, case in _planned(cases, options.repeats) if key not in done]
    total = len(done) + len(planned)
    progress(len(done), total)

    def jobs() -> Iterator[Job]:
        for index, (key, case) in enumerate(planned):
            replayed = store.get(key) if store is not None and options.replay is not None else ()
            yield Job(index, case.recording, key[1], tuple(replayed))

    for result in pool.run(jobs()):
        key, case = planned[result.index]
        if store is not None and options.record is not None:
            store.put(key, result.interactions)  # first, since a row says that its answer is kept
        row = row_of(case, key[1], result.answer)
        output.write(row)
        summary.add(row)
        progress(summary.rows, total)


def _planned(cases: Sequence[Case], repeats: int) -> Iterator[tuple[tuple[str, int], Case]]:
    for case in cases:
        for repeat in range(1, repeats + 1):
            yield (case.recording.id, repeat), case


def _header(
    options: RunOptions, facts: PolicyFacts, cases: Sequence[Case], count: int, recorded_at: datetime | None
) -> RunHeader:
    return RunHeader(
        corpus=digest_of(cases),
        cases=count,
        policy=options.policy,
        policy_id=facts.policy_id,
        mode=options.mode,
        repeats=options.repeats,
        shard=options.shard,
        model=facts.model,
        prompt=facts.prompt,
        question=facts.question,
        conn_type=facts.conn_type,
        measured_at=recorded_at if recorded_at is not None else datetime.now(UTC).replace(microsecond=0),
        versions=facts.versions,
    )


def _store(options: RunOptions) -> CassetteStore | None:
    folder = options.replay or options.record
    if folder is None:
        return None
    store = CassetteStore(folder)
    if options.replay is not None and store.header is None:
        raise ValueError(f"there are no recorded answers in '{folder}'. Record them with --record '{folder}'.")
    return store


def _store_header(options: RunOptions, facts: PolicyFacts) -> StoreHeader:
    return StoreHeader(
        recorded_at=datetime.now(UTC),
        policy=options.policy,
        policy_id=facts.policy_id,
        prompt=facts.prompt,
        connections=facts.connections,
        versions=facts.versions,
    )


def _warnings(store: CassetteStore | None, facts: PolicyFacts, options: RunOptions) -> Iterator[str]:
    if facts.has_model and options.mode == "offline":
        yield "no model was asked, and the network was blocked: take --replay, --record or --live to have one asked."
    if store is None or store.header is None or options.replay is None:
        return
    age = store.header.age_days(datetime.now(UTC))
    if age > OLD_DAYS:
        yield f"the answers were recorded {age} days ago: the model may answer otherwise by now. Record them again."
    if store.header.prompt != facts.prompt:
        yield "the answers were recorded with another prompt: whatever is asked otherwise now is stale."


def _refuse_missing(facts: PolicyFacts, mode: Mode) -> None:
    if facts.missing_connections and mode != "offline":
        named = facts.missing_connections[0]
        raise ValueError(
            f"there is no connection {named!r}, which the policy asks. Define it: airflow connections add {named} …, "
            f"or the variable AIRFLOW_CONN_{named.upper()}."
        )


def counts(counter: Mapping[str, int]) -> dict[str, int]:
    """Return a counter's entries, the most frequent first."""
    return dict(sorted(counter.items(), key=lambda entry: (-entry[1], entry[0])))
