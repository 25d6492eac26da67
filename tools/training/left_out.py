"""How good the model is about each library of ``dev`` that it was trained without, that one library alone left out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.training.measures import Judged, Rate

__all__ = ["LEFT_OUT", "LeftOut", "Library", "read_left_out", "write_left_out"]

LEFT_OUT = Path(__file__).parent / "left_out.json"


@dataclass(frozen=True, slots=True)
class Library:
    """Counts of distinct failures."""

    name: str
    failures: int = 0
    right: int = 0
    """Of what evidence and classifier do together."""
    category_right: int = 0
    false_fails: int = 0
    settled: int = 0
    own_category_right: int = 0
    """Of what the classifier says alone."""
    own_fails: int = 0
    own_false_fails: int = 0

    @classmethod
    def of(cls, name: str, judged: Sequence[Judged]) -> Library:
        fails = [one for one in judged if one.prediction and one.prediction.should_retry is False]
        return cls(
            name,
            failures=len(judged),
            right=sum(one.is_right for one in judged),
            category_right=sum(one.is_category_right for one in judged),
            false_fails=sum(one.is_false_fail for one in judged),
            settled=sum(one.retries is not None for one in judged),
            own_category_right=sum(one.is_model_right for one in judged),
            own_fails=len(fails),
            own_false_fails=sum(one.recorded.label.should_retry.value == "yes" for one in fails),
        )

    @classmethod
    def together(cls, name: str, libraries: Sequence[Library]) -> Library:
        counts = [field for field in cls.__slots__ if field != "name"]
        return cls(name, **{field: sum(getattr(one, field) for one in libraries) for field in counts})

    def rate(self, count: int) -> Rate:
        return Rate(count, self.failures)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was measured last; it takes minutes, so it is kept."""

    corpus_sha256: str
    """Of everything that was learned from then."""
    libraries: Sequence[Library]


def write_left_out(judged: Sequence[Judged], corpus_sha256: str, path: Path = LEFT_OUT) -> None:
    by_library: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        by_library[one.recorded.library].append(one)
    rows = [asdict(Library.of(name, found)) for name, found in sorted(by_library.items())]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    path.write_text(f'{{\n "corpus_sha256": "{corpus_sha256}",\n "libraries": [\n{lines}\n ]\n}}\n', "utf-8")


def read_left_out(path: Path = LEFT_OUT) -> LeftOut:
    kept = json.loads(path.read_text("utf-8"))
    return LeftOut(kept["corpus_sha256"], tuple(Library(**row) for row in kept["libraries"]))
