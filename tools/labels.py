"""
Label the corpus: two judges read it apart, and what they agree on becomes the labels.

    python -m tools.labels show pass1                   what pass1 has not judged yet, one recording after the other
    python -m tools.labels add pass1 < judged.jsonl     check judgements, and keep them in recordings/labels/pass1.jsonl
    python -m tools.labels agree                        how far the passes agree, and where they do not
    python -m tools.labels merge                        write recordings/labels.jsonl
    python -m tools.labels sizes                        how much there is of everything
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from airflow_common_ai.recordings.agreement import is_agreed, merge_all
from airflow_common_ai.recordings.corpus_file import read_corpus
from airflow_common_ai.recordings.label import Label, read_labels, write_labels
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

__all__ = ["distinct", "main", "shown"]

_RECORDINGS = Path(__file__).parent.parent / "recordings"
_MAX_TEXT_CHARS = 1500


def main(arguments: list[str] | None = None, *, folder: Path = _RECORDINGS) -> int:
    options = _parser().parse_args(arguments)
    corpus = read_corpus(folder / "corpus")
    try:
        if options.command == "show":
            _show(corpus, _labels(folder, options.judge), options)
        elif options.command == "add":
            _add(corpus, folder, options.judge, sys.stdin)
        elif options.command == "agree":
            _agree(corpus, _labels(folder, "pass1"), _labels(folder, "pass2"))
        elif options.command == "merge":
            _merge(corpus, folder)
        else:
            _sizes(corpus, read_labels(folder / "labels.jsonl"))
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.labels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print what a pass has not judged yet")
    show.add_argument("judge", help="pass1, pass2 or argued")
    show.add_argument("--split", help="dev, gate or heldout only")
    show.add_argument("--family", help="of one script only")
    show.add_argument("--limit", type=int, default=40, help="how many; 40 by default")
    add = commands.add_parser("add", help="check judgements from standard input, and keep them")
    add.add_argument("judge", help="pass1, pass2 or argued")
    commands.add_parser("agree", help="print how far the two passes agree")
    commands.add_parser("merge", help="write the labels")
    commands.add_parser("sizes", help="print how much there is of everything")
    return parser


def _labels(folder: Path, judge: str) -> dict[str, Label]:
    path = folder / "labels" / f"{judge}.jsonl"
    return read_labels(path) if path.exists() else {}


def _show(corpus: Sequence[Recording], done: dict[str, Label], options: argparse.Namespace) -> None:
    left = [
        recording
        for recording in corpus
        if recording.id not in done
        and options.split in (None, recording.split.value)
        and options.family in (None, recording.family)
    ]
    for recording in islice(left, options.limit):
        print(shown(recording))
    print(f"{min(len(left), options.limit)} shown, {len(left)} not judged yet", file=sys.stderr)


def shown(recording: Recording) -> str:
    """Return what a judge reads: what was raised, and nothing of what any rule makes of it."""
    lines = [f"{recording.id}  ({_origin(recording)}, seen {recording.recorded_at:%Y-%m-%d %H:%M:%S} UTC)"]
    for node in recording.evidence.nodes:
        lines.append(f"  {node.edge.value} {node.type_path}: {_short(node.message)}")
        lines += [f"      {name} = {_short(str(fact))}" for name, fact in sorted(node.facts.items())]
        lines += [f"      note: {_short(note)}" for note in node.notes]
    return "\n".join((*lines, ""))


def _origin(recording: Recording) -> str:
    origin = recording.provenance
    parts = [
        f"{origin.library} {origin.version}",
        f"{origin.server} {origin.server_version or ''}".strip() if origin.server else "",
        f"through {origin.wrapped_by}" if origin.wrapped_by else "",
    ]
    return ", ".join(filter(None, parts))


def _short(text: str) -> str:
    text = "\n        ".join(map(sanitize, text.splitlines()))
    return text if len(text) <= _MAX_TEXT_CHARS else f"{text[: _MAX_TEXT_CHARS // 2]} … {text[-_MAX_TEXT_CHARS // 2 :]}"


def _add(corpus: Sequence[Recording], folder: Path, judge: str, lines: Iterable[str]) -> None:
    known = {recording.id for recording in corpus}
    labels = _labels(folder, judge)
    count = len(labels)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            label = Label.from_json(json.loads(line))
        except ValueError as fault:
            raise ValueError(f"line {number}: {fault} Nothing was kept.") from None
        if label.id not in known:
            raise ValueError(f"line {number}: there is no recording {label.id!r}. Nothing was kept.")
        labels[label.id] = label
    write_labels(folder / "labels" / f"{judge}.jsonl", labels.values())
    print(f"{judge}: {len(labels) - count} new, {len(labels)} of {len(known)} judged")


def _agree(corpus: Sequence[Recording], first: dict[str, Label], second: dict[str, Label]) -> None:
    both = distinct(recording for recording in corpus if recording.id in first and recording.id in second)
    print(f"{len(first)} judged by pass1, {len(second)} by pass2; {len(both)} distinct failures by both")
    if not both:
        return
    # Not at the top: it takes a second, and the other commands need none of it.
    from sklearn.metrics import cohen_kappa_score

    for name in ("should_retry", "category"):
        one, other = ([str(getattr(labels[it.id], name)) for it in both] for labels in (first, second))
        same = sum(a == b for a, b in zip(one, other, strict=True))
        kappa = cohen_kappa_score(one, other) if len({*one, *other}) > 1 else 1.0
        print(f"{name}: {same} of {len(both)} the same, Cohen's kappa {kappa:.3f}")
    for it in both:
        if not is_agreed(first[it.id], second[it.id]):
            print(f"\n{it.id}")
            for name, label in (("pass1", first[it.id]), ("pass2", second[it.id])):
                print(f"  {name}: {label.category}, retry {label.should_retry.value}: {label.why}")


def distinct(recordings: Iterable[Recording]) -> list[Recording]:
    """Return one recording of each fingerprint: what differs in values only counts once."""
    return list({recording.fingerprint: recording for recording in recordings}.values())


def _merge(corpus: Sequence[Recording], folder: Path) -> None:
    known = {recording.id for recording in corpus}
    merged = merge_all(_labels(folder, "pass1"), _labels(folder, "pass2"), _labels(folder, "argued"))
    labels = [label for one, label in merged.items() if one in known]
    write_labels(folder / "labels.jsonl", labels)
    answers = Counter(label.should_retry.value for label in labels)
    print(f"{len(labels)} labels: {', '.join(f'{count} {answer}' for answer, count in sorted(answers.items()))}")


def _sizes(corpus: Sequence[Recording], labels: dict[str, Label]) -> None:
    origins = [recording.provenance for recording in corpus]
    sizes = {
        "recordings": len(corpus),
        "distinct fingerprints": len(distinct(corpus)),
        "libraries": len({origin.library for origin in origins}),
        "through a hook or operator of Airflow": sum(origin.wrapped_by is not None for origin in origins),
        "of a service played in its documented form": sum(origin.is_wire_form for origin in origins),
        "with a label": sum(recording.id in labels for recording in corpus),
    }
    sizes |= _counted("in split", (recording.split.value for recording in corpus))
    sizes |= _counted("tagged", (tag for recording in corpus for tag in recording.tags))
    labelled = distinct(recording for recording in corpus if recording.id in labels)
    sizes |= _counted("fingerprints of category", (labels[recording.id].category for recording in labelled))
    for name, size in sizes.items():
        print(f"{size:6} {name}")


def _counted(name: str, values: Iterable[str]) -> dict[str, int]:
    return {f"{name} {value}": count for value, count in sorted(Counter(values).items())}


if __name__ == "__main__":
    sys.exit(main())
