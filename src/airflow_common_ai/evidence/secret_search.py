"""Find secrets in a text: as it is written, as it reads, and in what is encoded in it.

Registered secrets are only known by what their function masks. So whatever can be read differently is read that way
and handed to the function; where it changes anything, what it was read from is withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from airflow_common_ai.evidence.secret_patterns import SecretPattern, Span, find_secrets, suspect
from airflow_common_ai.evidence.secret_patterns.encoded_runs import hidden_text
from airflow_common_ai.evidence.secret_patterns.respellings import (
    Respelled,
    Spelling,
    is_respelled,
    respellings,
    value_respellings,
    value_spellings,
)

__all__ = ["SecretSearch"]

_ENCODINGS_IN_EACH_OTHER = 3


class SecretSearch:
    """
    Looks for secrets by their patterns, and for registered ones in any form but the plain one.

    :param mask_registered: masks the secrets that are known by value.
    """

    def __init__(self, mask_registered: Callable[[str], str] | None) -> None:
        self._mask_registered = mask_registered

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return for each text, which is behind the function for registered ones, where its secrets are."""
        return self._find(texts, _ENCODINGS_IN_EACH_OTHER)

    def _find(self, texts: Sequence[str], depth: int) -> list[list[Span]]:
        # One look at all of them together tells what is worth looking for in each.
        together = "\n".join(texts)
        readings: list[list[Respelled]] = [[] for _ in texts]
        if is_respelled(together):
            readings = [list(respellings(text)) for text in texts]
            together = "\n".join((together, *(respelled.text for read in readings for respelled in read)))
        patterns = suspect(together)
        spellings = () if self._mask_registered is None else value_spellings(together)
        depth = depth if depth and self._in_hidden(together, depth) else 0
        return [
            self._find_in(text, read, patterns, spellings, depth) for text, read in zip(texts, readings, strict=True)
        ]

    def _find_in(
        self,
        text: str,
        read: Iterable[Respelled],
        patterns: Sequence[SecretPattern],
        spellings: Sequence[Spelling],
        depth: int,
    ) -> list[Span]:
        spans = find_secrets(text, patterns)
        if depth:
            spans += self._in_hidden(text, depth)
        for respelled in read:
            found = find_secrets(respelled.text, patterns)
            found += self._registered(respelled.text)
            if depth:
                found += self._in_hidden(respelled.text, depth)
            spans += map(respelled.in_source, found)
        for respelled in value_respellings(text, spellings):
            spans += map(respelled.in_source, self._registered(respelled.text))
        return spans

    def _in_hidden(self, text: str, depth: int) -> list[Span]:
        """Find the encoded runs that hold secrets."""
        hidden = hidden_text(text)
        if hidden is None:
            return []
        (found,) = self._find([hidden.text], depth - 1)
        found += self._registered(hidden.text)
        return [run for span in found for run in hidden.in_source(span)]

    def _registered(self, text: str) -> Iterator[Span]:
        """Find where registered secrets are masked; several in one line are covered as one."""
        if self._mask_registered is None or self._mask_registered(text) == text:
            return
        start = 0
        is_found = False
        for line in text.splitlines(keepends=True):
            masked = self._mask_registered(line)
            if masked != line:
                is_found = True
                left, right = _difference(line, masked)
                yield start + left, start + right
            start += len(line)
        if not is_found:  # a secret of several lines
            yield _difference(text, self._mask_registered(text))


def _difference(text: str, masked: str) -> Span:
    """Return the stretch of ``text`` outside of which both are the same."""
    shorter = min(len(text), len(masked))
    left = next((index for index in range(shorter) if text[index] != masked[index]), shorter)
    right = next((index for index in range(shorter - left) if text[-1 - index] != masked[-1 - index]), shorter - left)
    return left, len(text) - right
