"""The model card: what the model was trained on, how good it is, and where it is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.classifier.model import CATEGORIES, LinearModel
from airflow_common_ai.recordings.split import Split
from tools.training.calls import Calls
from tools.training.families import family_of
from tools.training.left_out import LeftOut, Library
from tools.training.measures import Judged, Rate, Row, calibration_bins
from tools.training.twins import ALIKE

__all__ = ["CARD", "PLOT", "Card", "write_card"]

CARD = SHIPPED.parent / "MODEL_CARD.md"
PLOT = SHIPPED.parent / "calibration.svg"

_LEAST_OF_A_LIBRARY = 10
_PLOT_SIZE, _PLOT_MARGIN = 320, 40


_HEAD = """\
# Model card: the embedded classifier

Written by `python -m tools.train_classifier`; do not edit.

## What it is

A linear model over the words of a failure: messages, notes, names of exception classes and of their bases, pairs of
neighbouring words, and what signals hint at. The innermost exception weighs most. The top package of a class is left
out, so that the name of a library is no shortcut. Two heads: the category (softmax), and whether another try is worth
it (logistic). Conclusive signals are not shown to it, so that its vote beside them is a second opinion. Prediction
needs the standard library alone.

Words that are rare in the examples, or in none, get their weights through their neighbours: training also sees for
each word what a sentence-embedding model (MiniLM) knows about it, summed over the words of a failure. That sum is
linear in the words, so after training it is folded into one weight a word, and MiniLM is gone.
"""

_DATA = """\
## Data

- {recorded:,} labelled recordings of the `dev` split. Features, recipe and bars were chosen on `dev`; no single failure
  of `gate` or `heldout` was read. Their totals were printed a few times while the tool was written. Two things changed
  after the first time, for reasons seen elsewhere: the confidence got a calibration of its own (`dev` showed the
  same fault), and abstention became stricter (tests with other languages and empty messages failed).
- {made_up:,} made-up ones of less weight, on which nothing is measured: hand-written phrases of how software words
  failures (by somebody who had read open failures of `dev`, so the figures of `dev` are somewhat too good), and
  sentences or names for the codes of botocore's service models, PostgreSQL, MySQL, errno, HTTP, gRPC and Kafka,
  labelled by what the readers conclude from the code. PyMySQL is a held-out library: of it the names of the server's
  codes are in, nothing that it raised. Among them are texts that tell no cause, and words put together by chance: each
  stands there once for every category and speaks for all alike, so that no word settles whatever it stands in.
- {dropped_as_twins:,} examples were dropped: of the same fingerprint as a recording of `gate` or `heldout`, or alike in
  words (cosine from {alike}); made-up ones also where they resemble one of `dev`.
- SHA-256 over recordings, labels and what is made up: `{corpus_sha256}`. Seed {seed}.
"""

_FIGURES = """\
## How good it is

Evidence and classifier together, no language model, with 95 % intervals (Wilson). A failure that is left to the task's
own settings counts as not right. *Open* are those that the evidence alone leaves open. The calibration error (ECE, ten
bins of equal size) is of the model's own confidence in its category; beside it what a perfectly calibrated model would
show on so few failures by chance.

In the rows of `dev` only the classifier had not seen the library: the readers of signals were written on `dev`, and
calibration and bars were fitted to just these predictions; ten groups of libraries were left out in turn. How both do
on a library that nobody looked at, `heldout` says.
"""

_BARS = """
## Bars

How sure it must be before it decides alone, by the category that seems likeliest. RETRY asks the retry head alone; to
FAIL, both heads must reach the bar, and the category be one that no retry helps. What a mistake costs sets them: a
false FAIL throws away all retries that are left, a wasted RETRY one try, so at most 5 % of FAILs and 20 % of RETRYs may
be mistakes among the failures that are taken for the category (`dev`, by models that had not seen the library; a
category borrows ten failures' weight from all others, so that few examples decide little). The lowest bar that keeps to
that is taken, but never one below 0.75 and 0.50, which are judgement, and no FAIL bar below that of all categories
together.

| category | FAIL from | RETRY from |
|---|---|---|"""

_BARS_END = """
Most bars lie at their lowest value: out of fold, bars by category were as good as one for all. That both heads must
agree, and that what says only that something failed ("exit status 1") is not read at all, was added after the totals
of `gate` were known, and lowered them: FAIL on the retry head alone was right in 92.7 % of `gate` and 94.0 % of
`heldout`, and failed invented vague messages that are worth a retry.
"""

_CALLS = """
## Calls to a language model

Of 100 failures of which a retry is left, how many reach the model of `LLMRetryPolicy`: counted by the policy's own
ladder, with a model that says nothing. The classifier has seen most of `dev`.

| failures | n | evidence alone | evidence and classifier |
|---|---|---|---|"""

_CALLS_END = "| *goal* | | | *at most 10* |\n"

_FAMILIES = """
## By family of libraries

Evidence and classifier together, with 95 % intervals. `dev` as above, by models that had not seen the library.

| family | n | action right | false FAILs |
|---|---|---|---|"""

_CALIBRATION = """\
## Calibration

On `gate` and `heldout`, in ten bins: how sure the model is of its category, and how often it is right.

![calibration](calibration.svg)

| says | is right |
|---|---|"""

_LIBRARIES = """
## Leave one library out

`dev` by library (`--each-library`): each is judged by a model that was trained on all libraries but this one, with what
is made up. Calibration and bars are those of all these models together. *Own* is what the classifier says where it is
asked alone; *of its FAILs, false* counts failures that are worth a retry.{stale}

| library | n | action right | false FAILs | own category right | of its FAILs, false |
|---|---|---|---|---|---|"""

_COMPARISON = """
## Compared with other kinds of models

`python -m tools.train_classifier --compare`: the same examples, on libraries of `dev` that were left out; the model
alone. AUC is of *retry* against *do not*, where that is not arguable.

| model | category right | open only | retry AUC | open only |
|---|---|---|---|---|"""

_LIMITS = """
## Limits

- English only. It abstains on texts of which it knows less than half of the words (other languages, noise), on empty
  ones, and on more than 12 k characters of messages.
- It reads words, not protocols: a number that is a code says nothing to it unless a reader knows the code.
- A message that lies is believed. That is why a conclusive signal always wins.
- Failures of a job that say nothing but that it failed are arguable; whatever it says about them is a guess.
- The corpus is of recorded tests, not of production: rates there differ, and so does the calibration.
"""


@dataclass(frozen=True)
class Card:
    """Everything that the card says."""

    model: LinearModel
    rows: Sequence[Row]
    unseen: Sequence[Judged]
    """``dev``, by models that had not seen the group of the library."""
    comparison: Sequence[dict[str, Any]]
    measured: Sequence[Judged]
    """``gate`` and ``heldout``, by the shipped model."""
    calls: Sequence[Calls]
    left_out: LeftOut


def write_card(card: Card) -> None:
    bins = _bins(card.measured)
    PLOT.write_text(_plot(bins), "utf-8")
    CARD.write_text("\n".join(_lines(card, bins)) + "\n", "utf-8")


def _lines(card: Card, bins: Sequence[tuple[float, Rate]]) -> Iterable[str]:
    about, bars = card.model.about, card.model.bars
    yield _HEAD
    yield _DATA.format(alike=ALIKE, **about)
    yield _FIGURES
    yield "| failures | n | action right | category right | false FAILs | settled | ECE | by chance |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in card.rows:
        yield (
            f"| {row.name} | {row.action.total:,} | {row.action} | {row.category} | {row.false_fails} | {row.settled} "
            f"| {row.calibration:.1%} | {row.noise:.1%} |"
        )
    yield "| *goal* | | *92 %* | *88 %* | *at most 2 %* | *90 %* | *5 %* | |"
    yield _BARS
    for category in CATEGORIES:
        fail = f"{bars.fail[category]:.2f}" if category in bars.fail else "never"
        yield f"| {category} | {fail} | {bars.retry[category]:.2f} |"
    yield _BARS_END.rstrip()
    yield from _call_lines(card.calls)
    yield from _calibration_lines(bins)
    yield from _family_lines([*card.unseen, *card.measured])
    yield from _library_lines(card.left_out, about["corpus_sha256"])
    if card.comparison:
        yield from _comparison_lines(card.comparison)
    yield _LIMITS.rstrip()


def _bins(judged: Sequence[Judged]) -> list[tuple[float, Rate]]:
    said = [one for one in judged if one.prediction is not None]
    confidences = np.array([one.prediction.confidence for one in said if one.prediction])
    return calibration_bins(confidences, np.array([one.is_model_right for one in said]))


def _calibration_lines(bins: Sequence[tuple[float, Rate]]) -> Iterable[str]:
    yield _CALIBRATION
    for mean, rate in bins:
        yield f"| {mean:.1%} | {rate} |"


def _call_lines(calls: Sequence[Calls]) -> Iterable[str]:
    yield _CALLS
    for one in calls:
        total = one.with_classifier.total
        yield f"| {one.split.value} | {total:,} | {one.by_evidence.per_100} | {one.with_classifier.per_100} |"
    yield _CALLS_END


def _family_lines(judged: Sequence[Judged]) -> Iterable[str]:
    found: defaultdict[tuple[str, Split], list[Judged]] = defaultdict(list)
    for one in judged:
        recording = one.recorded.recording
        found[family_of(recording.family), recording.split].append(one)
    yield _FAMILIES
    for family, split in sorted(found, key=lambda key: (key[0].lower(), list(Split).index(key[1]))):
        those = found[family, split]
        right = Rate(sum(one.is_right for one in those), len(those))
        false = Rate(sum(one.is_false_fail for one in those), len(those))
        yield f"| {family}, {split.value} | {len(those)} | {right} | {false} |"


def _library_lines(left_out: LeftOut, corpus_sha256: str) -> Iterable[str]:
    is_stale = left_out.corpus_sha256 != corpus_sha256
    yield _LIBRARIES.format(stale=" Measured on an earlier state of the data." if is_stale else "")
    libraries = sorted(left_out.libraries, key=lambda one: (-one.failures, one.name))
    for one in libraries:
        if one.failures >= _LEAST_OF_A_LIBRARY:
            yield _library_line(one)
    smaller = [one for one in libraries if one.failures < _LEAST_OF_A_LIBRARY]
    yield _library_line(Library.together(f"{len(smaller)} smaller ones", smaller))
    yield _library_line(Library.together(f"all {len(libraries)}", libraries))


def _library_line(one: Library) -> str:
    return (
        f"| {one.name} | {one.failures:,} | {one.rate(one.right)} | {one.rate(one.false_fails)} "
        f"| {one.rate(one.own_category_right)} | {one.own_false_fails} of {one.own_fails} |"
    )


def _comparison_lines(comparison: Sequence[dict[str, Any]]) -> Iterable[str]:
    yield _COMPARISON
    for row in comparison:
        yield (
            f"| {row['name']} | {row['category']:.1%} | {row['category_open']:.1%} | {row['retry_auc']:.3f} "
            f"| {row['retry_auc_open']:.3f} |"
        )


def _plot(bins: Sequence[tuple[float, Rate]]) -> str:
    def place(says: float, is_right: float) -> tuple[float, float]:
        return _PLOT_MARGIN + says * _PLOT_SIZE, _PLOT_MARGIN + (1 - is_right) * _PLOT_SIZE

    side = _PLOT_SIZE + 2 * _PLOT_MARGIN
    (left, bottom), (right, top) = place(0, 0), place(1, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{side}" height="{side}" fill="white"/>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="black"/>',
        f'<path d="M{left} {bottom}L{right} {top}" stroke="gray" stroke-dasharray="4"/>',
        f'<text x="{side / 2}" y="{side - 10}" text-anchor="middle">how sure it is</text>',
        f'<text x="{left}" y="{_PLOT_MARGIN - 12}">how often it is right, with 95 % intervals</text>',
    ]
    for mean, rate in bins:
        x, y = place(mean, rate.value)
        (_, low), (_, high) = (place(mean, bound) for bound in rate.interval())
        parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="steelblue"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="steelblue"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
