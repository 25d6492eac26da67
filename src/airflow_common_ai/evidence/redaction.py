"""The wall: nothing unredacted reaches a model, the store, a log or a recording.

A string passes, in this order:

1. Airflow's registered secrets, through the function that was handed in.
2. The user's own redactor, if there is one. It adds to ours and cannot undo it: what it returns passes the
   registered secrets again and everything below.
3. The words that touch a cut are dropped.
4. The named patterns, on the text as it is written, as it reads, and on what is encoded in it. Registered secrets are
   looked for in those forms too.
5. A cut to head and tail.

Redacting again changes nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from airflow_common_ai.evidence.class_source import written_part
from airflow_common_ai.evidence.evidence_json import read_evidence
from airflow_common_ai.evidence.fitting import drop_halves, fit
from airflow_common_ai.evidence.model import (
    Evidence,
    ExceptionNode,
    Fact,
    RedactedEvidence,
    RedactedNode,
    RedactedText,
)
from airflow_common_ai.evidence.secret_patterns import (
    MASK,
    Name,
    Span,
    find_secrets,
    is_placeholder,
    kind_of_name,
    mask_spans,
    places_of,
    suspect,
)
from airflow_common_ai.evidence.secret_search import SecretSearch
from airflow_common_ai.evidence.type_path import built_in_name

__all__ = ["Redactor", "TextFilter", "from_json"]

TextFilter = Callable[[str], str]
"""Returns a text with its secrets masked."""

_INTERRUPTS = (KeyboardInterrupt, SystemExit)

_MAX_INPUT_CHARS = 64 * 1024
_MAX_NAME_CHARS = 512
_MAX_ROUNDS = 12
_SHORTEST_VALUE = 4

_NAME = re.compile(r"[^\W\d]\w*(?:[.\-](?:\w+|<locals>|<lambda>))*")
"""What a class statement or a probe can have named. Anything else was put together at run time."""

_MASKED_NAME = re.compile(r"\*{3}[\w.\-]{0,80}\\{0,7}[\"'`]?[\])]?[ \t]{0,8}(?:[=>]|:(?!//))|--?[\w\-]{0,40}\*{3}")
"""Where a registered secret may have been part of what announces another one."""


class Redactor:
    """
    The only way from :class:`~airflow_common_ai.evidence.model.Evidence` to
    :class:`~airflow_common_ai.evidence.model.RedactedEvidence`.

    If a filter raises, or returns no string, nothing leaves: every string from outside is replaced by
    ``[withheld: the redactor raised …]``. Numbers and the paths of classes stay, so that a decision can still rest
    on them.

    :param mask_registered: masks the secrets that Airflow knows by value, e.g. the passwords of connections, wherever
        they stand in a text.
    :param extra: the user's own redactor, beside everything here.
    """

    def __init__(self, mask_registered: TextFilter | None = None, extra: TextFilter | None = None) -> None:
        self._mask_registered = mask_registered
        self._extra = extra
        self._search = SecretSearch(None if mask_registered is None else self._without_registered)

    def text(self, value: str) -> RedactedText:
        """Return one string as it may be shown."""
        return self.texts([value])[0]

    def texts(self, values: Iterable[str]) -> tuple[RedactedText, ...]:
        """Return strings as they may be shown; cheaper than one by one."""
        values = tuple(values)
        try:
            redacted = self._behind_the_wall(values)
            return tuple(redacted[value] for value in values)
        except _INTERRUPTS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's filter raises, nothing may leave
            return tuple(_withheld(error) for _ in values)

    def name(self, value: str) -> RedactedText:
        """
        Return a name as it may be shown: of a class, a code, a category, a rule.

        Names that can have been written in source pass the named patterns only: a password such as ``postgres`` or
        ``timeout`` must not take the structure from a record.
        """
        known = _source_name(value)
        return self.text(value) if known is None else known

    def redact(self, evidence: Evidence) -> RedactedEvidence:
        """Return the same facts as they may be stored, logged and sent."""
        unwritten = _unwritten_parts(evidence)
        try:
            shown = self._behind_the_wall((*_texts_of(evidence), *unwritten.values()))
            return _rebuilt(evidence, unwritten, shown.__getitem__)
        except _INTERRUPTS:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            withheld = _withheld(error)
            return _rebuilt(evidence, unwritten, lambda text: withheld if text else RedactedText(text))

    def _behind_the_wall(self, texts: Iterable[str]) -> dict[str, RedactedText]:
        """Return for each text what may be shown of it."""
        return {text: RedactedText(shown) for text, shown in self._masked(texts).items()}

    def _masked(self, texts: Iterable[str]) -> dict[str, str]:
        bounded = {text: _bounded(text) for text in texts}
        # Together first: what is left alone as a whole holds no secret anywhere, as in most failures.
        together = "\n".join(bounded.values())
        has_registered = bool(together) and self._without_registered(together) != together
        redacted = {text: self._filtered(raw, has_registered=has_registered) for text, raw in bounded.items()}
        pending = [text for text, filtered in redacted.items() if filtered]
        for _ in range(_MAX_ROUNDS):
            if not pending:
                return redacted
            changed = []
            for text, spans in zip(pending, self._search.find([redacted[text] for text in pending]), strict=True):
                masked = fit(drop_halves(mask_spans(redacted[text], spans)))
                if masked != redacted[text]:
                    redacted[text] = masked
                    changed.append(text)
            pending = changed
        return redacted | dict.fromkeys(pending, MASK)

    def _filtered(self, raw: str, *, has_registered: bool) -> str:
        """Return a string behind the functions that were handed in, without the words that a cut touches."""
        if not raw:
            return raw
        registered = self._without_registered(raw) if has_registered else raw
        text = drop_halves(_bounded(self._behind_extra(registered)))
        if registered != raw and _MASKED_NAME.search(registered):
            text = mask_spans(text, _still_in(text, raw))
        return text

    def _behind_extra(self, text: str) -> str:
        if self._extra is None:
            return text
        changed = _call(self._extra, text)
        return text if changed == text else self._without_registered(changed)

    def _without_registered(self, text: str) -> str:
        return text if self._mask_registered is None else _call(self._mask_registered, text)


def from_json(data: object, redactor: Redactor) -> RedactedEvidence:
    """
    Return the failure that :meth:`~airflow_common_ai.evidence.model.RedactedEvidence.to_json` wrote, redacted again.

    Whoever can write to the store or to a file may have written anything: types and bounds are checked.

    :raises ValueError: with the field, the rule and what was found instead; never with a text from ``data``.
    """
    return redactor.redact(read_evidence(data))


def _rebuilt(
    evidence: Evidence, unwritten: Mapping[str, str], through: Callable[[str], RedactedText]
) -> RedactedEvidence:
    paths = {path: _class_path(path, part, through) for path, part in unwritten.items()}
    return RedactedEvidence(
        nodes=tuple(
            RedactedNode(
                type_path=paths[node.type_path],
                base_paths=tuple([paths[path] for path in node.base_paths]),
                message=through(node.message),
                notes=tuple(map(through, node.notes)),
                edge=node.edge,
                parent=node.parent,
                facts=dict(_facts(node, through)),
                from_text=node.from_text,
            )
            for node in evidence.nodes
        ),
        observed_at=evidence.observed_at,
        is_truncated=evidence.is_truncated,
    )


def _texts_of(evidence: Evidence) -> Iterator[str]:
    for node in evidence.nodes:
        yield node.message
        yield from node.notes
        yield from (fact for fact in node.facts.values() if isinstance(fact, str))
        yield from (name for name in node.facts if _source_name(name) is None)


def _unwritten_parts(evidence: Evidence) -> dict[str, str]:
    """Return for the path of each class what :func:`_unwritten` says of it: most bases are those of many."""
    paths = {path for node in evidence.nodes for path in (node.type_path, *node.base_paths)}
    return {path: _unwritten(path) for path in paths}


def _class_path(path: str, unwritten: str, through: Callable[[str], RedactedText]) -> RedactedText:
    """
    Return the path of a class.

    What is known to be written in source passes the named patterns only, for the reason in :meth:`Redactor.name`; the
    rest passes everything, since somebody may have given a class the name of a secret.
    """
    written = path.removesuffix(unwritten)
    known = _source_name(written.removesuffix(".")) if written else RedactedText("")
    return RedactedText(f"{known}{'.' if written.endswith('.') else ''}{through(unwritten)}")


def _unwritten(path: str) -> str:
    """Return what of the path of a class may have been put together at run time."""
    if len(path) > _MAX_NAME_CHARS:
        return ""  # masked as a whole
    return path.removeprefix(written_part(path)) if _NAME.fullmatch(path) else path


def _name(name: str, through: Callable[[str], RedactedText]) -> RedactedText:
    """Return the name of a fact, for which holds what :meth:`Redactor.name` says."""
    known = _source_name(name)
    return through(name) if known is None else known


@lru_cache(maxsize=4096)
def _source_name(name: str) -> RedactedText | None:
    """Return a name from source behind the named patterns, ``None`` if it was put together at run time."""
    if len(name) > _MAX_NAME_CHARS:
        return RedactedText(MASK)
    return Redactor().text(name) if _NAME.fullmatch(name) else None


def _facts(node: ExceptionNode, through: Callable[[str], RedactedText]) -> Iterator[tuple[str, Fact]]:
    for original, fact in node.facts.items():
        name = _name(original, through)
        if isinstance(fact, str):
            is_secret = kind_of_name(name) in (Name.SECRET, Name.TOKEN, Name.AUTHORIZATION, Name.COOKIE)
            yield name, MASK if is_secret and fact and not is_placeholder(fact) else through(fact)
        elif not isinstance(fact, float) or math.isfinite(fact):  # JSON has no other
            yield name, fact


def _bounded(text: str) -> str:
    """Cut early what is many times too long, so that no text costs much."""
    return text if len(text) <= _MAX_INPUT_CHARS else fit(text)


def _still_in(text: str, raw: str) -> Iterator[Span]:
    """
    Find what the patterns found in the raw text and what is still there.

    With ``password`` registered as a password, ``password=hunter2`` has become ``***=hunter2``: nothing announces
    the secret any more.
    """
    found = {raw[start:end] for start, end in find_secrets(raw, suspect(raw))}
    for value in found:
        if len(value) >= _SHORTEST_VALUE:
            yield from ((place, place + len(value)) for place in places_of([value], text))


def _call(function: TextFilter, text: str) -> str:
    result: object = function(text)
    if not isinstance(result, str):
        raise TypeError("a redactor must return a string")
    return "".join(result)  # a plain string, whatever the methods of a subclass do


def _withheld(error: BaseException) -> RedactedText:
    """Return what stands in place of a text; of the error only a built-in name: others may hold anything."""
    return RedactedText(f"[withheld: the redactor raised {built_in_name(error)}]")
