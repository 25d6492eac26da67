"""Which recordings rules may be written from, and which ones measure them.

Rules and patterns are written looking at ``dev`` only. ``gate`` is what continuous integration measures, and
``heldout`` what nobody looked at.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

from airflow_common_ai.evidence.fingerprint import normalise
from airflow_common_ai.evidence.model import RedactedEvidence, RedactedNode, kind_of, root_of

__all__ = ["HELD_OUT_LIBRARIES", "Split", "failure_family", "is_held_out", "split_of"]


class Split(StrEnum):
    DEV = "dev"
    GATE = "gate"
    HELD_OUT = "heldout"


HELD_OUT_LIBRARIES = frozenset({
    "aiohttp", "asyncpg", "azure-servicebus", "cohere", "elastic_transport", "elasticsearch", "google-cloud-pubsub",
    "hvac", "ldap3", "oracledb", "pika", "pymysql", "smbprotocol", "trino",
})  # fmt: skip
"""
Distributions, and top packages, of which every recording is held out, also behind a hook of Airflow: how well do rules
do on a library that nobody looked at?
"""

_DEV_PERCENT, _GATE_PERCENT = 50, 30

_WRAPPING_ROOTS = frozenset({"airflow", "builtins", "tenacity", "__main__"})
"""Top packages that stand for no library of their own: what they wrap is what failed."""

_CODE_ENDINGS = ("code", "errno", "reason", "sqlstate", "state", "status")


def split_of(evidence: RedactedEvidence, library: str) -> Split:
    """
    Return where a new recording belongs.

    It rests on nothing but the recording itself, so adding others moves none.
    """
    if is_held_out(evidence, library):
        return Split.HELD_OUT
    digest = hashlib.sha256(failure_family(evidence).encode("utf-8", "replace")).digest()
    percentile = int.from_bytes(digest[:8]) % 100
    if percentile < _DEV_PERCENT:
        return Split.DEV
    return Split.GATE if percentile < _DEV_PERCENT + _GATE_PERCENT else Split.HELD_OUT


def is_held_out(evidence: RedactedEvidence, library: str) -> bool:
    """Whether a recording is of a library of which all are held out."""
    return not HELD_OUT_LIBRARIES.isdisjoint({library, *(root_of(node.type_path) for node in evidence.nodes)})


def failure_family(evidence: RedactedEvidence) -> str:
    """
    Return what near twins share, so that no split holds a twin of another's.

    That is the library, the class of the innermost exception that was the reason, and its codes; where it has none,
    its words. A status 429 is one family whatever its headers ask for, and whichever hook of Airflow passed it on.
    """
    library = next((root for node in evidence.nodes if (root := root_of(node.type_path)) not in _WRAPPING_ROOTS), "")
    innermost = _innermost(evidence)
    return "|".join((library, kind_of(innermost.type_path), *(_codes(innermost) or [normalise(innermost.message)])))


def _innermost(evidence: RedactedEvidence) -> RedactedNode:
    """Return the end of the first chain of reasons, also of implicit ones where a hook raised without ``from``."""
    at = 0
    for index, node in enumerate(evidence.nodes):
        if index and node.parent == at and (node.edge.is_explicit or _only_wraps(evidence.nodes[at])):
            at = index
    return evidence.nodes[at]


def _only_wraps(node: RedactedNode) -> bool:
    return root_of(node.type_path) in _WRAPPING_ROOTS and not _codes(node)


def _codes(node: RedactedNode) -> list[str]:
    return [f"{name}={fact}" for name, fact in sorted(node.facts.items()) if name.endswith(_CODE_ENDINGS)]
