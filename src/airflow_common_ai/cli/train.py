"""``airflow-common-ai train``: an embedded classifier from labelled failures of one's own."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from airflow_common_ai.cli.extra import require_evals
from airflow_common_ai.cli.measuring import WrongFile, write_file
from airflow_common_ai.cli.output import print_error, print_json, print_lines
from airflow_common_ai.recordings.split import Split

__all__ = ["train"]


def train(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A folder of labelled failures, or one file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes, e.g. model.json.")],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="What is right, if not labels.jsonl of the corpus.")
    ] = None,
    split: Annotated[Split, typer.Option("--split", help="What to learn from; the others are left to measure.")] = (
        Split.DEV
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """
    Train the embedded classifier on failures of your own; it keeps what the shipped one knows about words.

    \b
    airflow-common-ai corpus add ~/airflow/logs -c failures
    airflow-common-ai corpus label failures
    airflow-common-ai train failures -o model.json

    Then: EvidenceRetryPolicy(classifier="model.json"). Measure it on the other splits with `run` and `score`.

    Exits with 0, with 2 if it was called wrongly or there is too little to learn from.
    """
    require_evals("train", "numpy", "scipy", "sklearn")
    from airflow_common_ai.classifier import Classifier
    from airflow_common_ai.classifier.training import Example, vectors_of
    from airflow_common_ai.classifier.training import train as train_model
    from airflow_common_ai.evals.cases import digest_of, read_cases
    from airflow_common_ai.evidence.protocols import read_signals

    try:
        cases = [case for case in read_cases(corpus, labels, split) if case.label is not None]
        examples = [
            Example(
                case.recording.evidence,
                read_signals(case.recording.evidence),
                case.label.category,
                case.label.should_retry.value,
                case.label.also,
                group=case.recording.provenance.library,
            )
            for case in cases
            if case.label is not None
        ]
        about = {"corpus_sha256": digest_of(cases), "recorded": len(examples)}
        model = train_model(examples, vectors=vectors_of(Classifier.load().model), about=about).model
        content = model.to_bytes()
        write_file(output, content.decode("ascii"))
    except (OSError, ValueError, WrongFile) as fault:
        print_error("train", fault)
        raise typer.Exit(2) from None
    digest = hashlib.sha256(content).hexdigest()
    if as_json:
        print_json({"model": str(output), "sha256": digest, "examples": len(examples), "features": len(model.rows)})
    else:
        print_lines([f"learned from {len(examples)} labelled failures of {split.value}", f"wrote {output}"])
