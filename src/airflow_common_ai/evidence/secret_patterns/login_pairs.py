"""A user and a password side by side: ``auth=('bob', 'hunter2')``, ``simple_bind_s('cn=bob', 'hunter2')``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_made_up, is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["find_login_pairs"]

_STRING = r"b?['\"](?:[^'\"\n]{0,100})['\"]"
_SECOND = r"[^'\"\n]+(?=['\"])"
_WHAT = r"(?:auth|cred(?:ential)?s?|account|login|logon)"
_PAIR = re.compile(
    rf"{_WHAT}(?:_info|_tuple)?[\"'\])]{{0,2}}(?:[ ]?[=:][ ]?)?\({_STRING}, ?b?['\"](?P<argument>{_SECOND})"
    rf"|{_WHAT}[ ](?:[a-z]{{1,12}}[ ]){{0,2}}\({_STRING}, ?b?['\"](?P<said>{_SECOND})['\"]\)"
    r"|\b(?:log(?:in|on|ging in as)[ :]{1,3}[\w.@\-]{1,64}:"
    r"|(?:cred(?:ential)?s?|user(?:name)?/pass(?:word)?)[ :]{1,3}[\w.@\-]{1,64}(?::|[ ]?/[ ]?))"
    r"(?P<written>[^\s\"':/,;)\]]{6,64})(?![\w:/@])"
    rf"|bind(?:_s)?\((?=['\"][^'\"\n=@\\]{{0,60}}[=@\\]){_STRING}, ?b?['\"](?P<bound>{_SECOND})"
)
"""An argument or a field; a pair or ``bob:hunter2`` in a sentence; what binds to a directory."""


def find_login_pairs(text: str, lowered: str) -> Iterator[Span]:
    """Find the second of two; in a sentence, which may list two methods or name a path, only if it was made up."""
    for match in _PAIR.finditer(lowered):
        group = match.lastgroup or ""
        value = text[slice(*match.span(group))]
        if is_made_up(value) if group in ("said", "written") else not is_placeholder(value):
            yield match.span(group)
