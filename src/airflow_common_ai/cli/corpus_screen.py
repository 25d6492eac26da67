"""What the commands of a corpus found, for people: each on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.evals.corpus.intake import MAX_NEW_CASES, Intake
from airflow_common_ai.evals.corpus.lint import Finding, Level
from airflow_common_ai.evals.corpus.log import Skipped
from airflow_common_ai.evals.corpus.sizes import BOUNDS, Sizes, could_still_be
from airflow_common_ai.evals.corpus.twins import Merge
from airflow_common_ai.recordings.recording import Recording

__all__ = ["findings_lines", "intake_lines", "merge_lines", "move_lines", "size_lines"]

_MAX_LISTED = 8
_MAX_FINDINGS = 30
_MAX_CHARS = 160


def intake_lines(intake: Intake, corpus: Corpus, name: str) -> Iterator[str]:
    """Yield what came of adding logs."""
    yield (
        f"{_number(intake.logs, 'log')} read: {_number(intake.failures, 'failure')}, "
        f"{len(intake.new):,} of them new to the corpus"
    )
    if intake.logs_added_before:
        yield f"{_number(intake.logs_added_before, 'log')} left out, which were added before"
    if intake.logs_without_failure:
        yield f"{_number(intake.logs_without_failure, 'log')} without a failure that left an exception"
    if intake.over_limit:
        yield f"{intake.over_limit:,} failures left out: at most {MAX_NEW_CASES:,} new ones are added at once"
    yield from _skipped_lines(intake.skipped, intake.skipped_in_all)
    new = sorted((corpus[one] for one in intake.new), key=lambda one: (-one.count, one.id))
    if new:
        yield "new, the most frequent first:"
    for recording in new[:_MAX_LISTED]:
        yield f"  {recording.count:>6,} x {recording.id}  {_headline(recording)}"
    yield from _more(len(new) - _MAX_LISTED)
    left = _unlabelled(corpus)
    yield f"{name}: {_number(len(corpus), 'case')}, {left:,} without a label"
    if left:
        yield f"next: airflow-common-ai corpus label {name}"


def size_lines(sizes: Sizes, name: str) -> Iterator[str]:
    """Yield how much there is, and what that allows to claim."""
    yield (
        f"{name}: {sizes.failures:,} failures in {sizes.cases:,} cases, {sizes.distinct:,} of them distinct; "
        f"{sizes.labelled:,} distinct ones have a label"
    )
    if sizes.failures:
        yield f"the labelled ones stand for {sizes.labelled_failures / sizes.failures:.0%} of the failures"
    yield f"\n{'split':<10}{'cases':>8}{'distinct':>10}{'labelled':>10}"
    for split in sizes.splits:
        yield f"{split.split.value:<10}{split.cases:>8,}{split.distinct:>10,}{split.labelled:>10,}"
    yield f"\n{'category':<12}{'labelled':>8}{'retry':>8}{'no retry':>10}{'either':>8}"
    for one in sizes.categories:
        yield f"{one.category:<12}{one.labelled:>8,}{one.retry:>8,}{one.no_retry:>10,}{one.either:>8,}"
    libraries = ", ".join(f"{library} {count}" for library, count in sizes.libraries[:_MAX_LISTED])
    others = f" and {len(sizes.libraries) - _MAX_LISTED} more" if len(sizes.libraries) > _MAX_LISTED else ""
    yield f"\nlibraries: {libraries or 'none'}{others}"
    yield "\nwhat can be claimed at best, with 95 % confidence, of a policy that fails none wrongly:"
    yield f"  {_claim('all labelled', sizes.labelled)}"
    for split in sizes.splits:
        yield f"  {_claim(split.split.value, split.labelled)}"


def findings_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what is wrong with a corpus."""
    for finding in findings[:_MAX_FINDINGS]:
        yield f"{finding.level.value}: {finding.where}: {finding.what}"
    yield from _more(len(findings) - _MAX_FINDINGS)
    errors = sum(finding.level is Level.ERROR for finding in findings)
    mendable = sum(finding.can_be_mended for finding in findings)
    if mendable:
        yield f"{_number(mendable, 'error')} can be mended: corpus lint --fix" + (
            "" if mendable == errors else ", when the others are"
        )
    yield f"{_number(errors, 'error')}, {_number(len(findings) - errors, 'warning')}"


def merge_lines(merges: Sequence[Merge]) -> Iterator[str]:
    """Yield which recordings were put together."""
    for merge in merges[:_MAX_LISTED]:
        yield f"  {merge.kept.id} stands for {', '.join(one.id for one in merge.dropped[:_MAX_LISTED])}"
    yield from _more(len(merges) - _MAX_LISTED)
    yield f"{_number(sum(len(merge.dropped) for merge in merges), 'case')} merged into {len(merges):,}"


def move_lines(moves: Sequence[Recording]) -> Iterator[str]:
    """Yield which recordings changed their split."""
    for recording in moves[:_MAX_LISTED]:
        yield f"  {recording.id} to {recording.split.value}, where its near twin is"
    yield from _more(len(moves) - _MAX_LISTED)
    yield f"{_number(len(moves), 'case')} moved"


def _skipped_lines(skipped: Sequence[Skipped], in_all: int) -> Iterator[str]:
    if in_all:
        yield f"{in_all:,} skipped:"
    for one in skipped[:_MAX_LISTED]:
        yield f"  {one.name}: {one.reason}"
    yield from _more(in_all - _MAX_LISTED)


def _claim(name: str, cases: int) -> str:
    reached = next((share for share, needed in reversed(BOUNDS) if cases >= needed), None)
    following = next(((share, needed) for share, needed in BOUNDS if cases < needed), None)
    if reached is None:
        words = f"wrong FAILs could still be {could_still_be(cases):.0%}" if cases else "nothing"
    else:
        words = f"wrong FAILs are under {reached:.0%}"
    more = f"; {following[1] - cases} more for under {following[0]:.0%}" if following else ""
    return f"{name:<13} {cases:>6,}  {words}{more}"


def _headline(recording: Recording) -> str:
    node = recording.evidence.nodes[0]
    words = f"{node.type_path.removeprefix('builtins.')}: {' '.join(node.message.split())}"
    return words if len(words) <= _MAX_CHARS else f"{words[:_MAX_CHARS]}…"


def _unlabelled(corpus: Corpus) -> int:
    labelled = {one.fingerprint for one in corpus if one.id in corpus.labels}
    return len({one.fingerprint for one in corpus} - labelled)


def _more(count: int) -> Iterable[str]:
    return [f"  … and {count:,} more, see --json"] if count > 0 else []


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
