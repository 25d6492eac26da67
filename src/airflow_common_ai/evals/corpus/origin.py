"""What is known of a failure that was found in a log: a readable id, and where it comes from."""

from __future__ import annotations

import re
import sys
import unicodedata

from airflow_common_ai.evals.corpus.log import Log
from airflow_common_ai.evidence.model import RedactedEvidence, root_of
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.recording import Provenance

__all__ = ["case_id", "library_of", "provenance_of"]

_TOOL = "airflow-common-ai corpus add"
_OF_A_TASK, _OF_NO_TASK = "seen in the log of a task", "seen in a log or a traceback"
_FAMILY_OF_NO_TASK = "tracebacks"
_MAX_FAMILY_CHARS = 60
_MAX_NAME_CHARS = 140
_SHORT_HASH_CHARS = 8
_RESERVED = frozenset({"labels"})
"""Families are names of files; this one is taken."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AIRFLOW = "airflow"
_PASSED_OVER = frozenset({"__main__", "__mp_main__", "builtins", "tenacity", *sys.stdlib_module_names})


def case_id(
    log: Log, evidence: RedactedEvidence, fingerprint: str, redactor: Redactor, *, is_long: bool = False
) -> str:
    """
    Return ``dag/task-fingerprint``; of a failure without a task ``tracebacks/class-fingerprint``.

    The same task and failure always get the same one.

    :param redactor: Names of Dags pass it too: an id is shown everywhere.
    :param is_long: Give the whole fingerprint, where a short one is taken by another failure.
    """
    if log.task_try is None:
        family, name = _FAMILY_OF_NO_TASK, _HUMP.sub("-", evidence.nodes[0].class_name)
    else:
        family, name = redactor.texts([log.task_try.dag_id, log.task_try.task_id])
    family = _slug(family, "_")[:_MAX_FAMILY_CHARS].strip("_") or "dag"
    name = _slug(name, "-")[:_MAX_NAME_CHARS].strip("-") or "task"
    if family in _RESERVED:
        family = f"{family}_dag"
    return f"{family}/{name}-{fingerprint if is_long else fingerprint[:_SHORT_HASH_CHARS]}"


def provenance_of(log: Log, evidence: RedactedEvidence) -> Provenance:
    how = _OF_NO_TASK if log.task_try is None else _OF_A_TASK
    return Provenance(tool=_TOOL, library=library_of(evidence), version=None, how=how)


def library_of(evidence: RedactedEvidence) -> str:
    """
    Return the top package of the innermost exception that is a library's.

    ``airflow`` if there are only Airflow's own, ``python`` if only the standard library's, ``unknown`` if a log names
    nothing but classes without their modules, as it does of those in a Dag file.
    """
    roots = _roots(evidence)
    libraries = [root for root in roots if root not in _PASSED_OVER]
    of_others = [root for root in libraries if root != _AIRFLOW]
    if of_others or libraries:
        return (of_others or libraries)[-1]
    return "python" if roots else "unknown"


def _roots(evidence: RedactedEvidence) -> list[str]:
    """Return the top packages along the chain of reasons, outermost first, where they are known."""
    nodes, chain = evidence.nodes, [0]
    for index, node in enumerate(nodes):
        at = chain[-1]
        # Hooks of Airflow often raise without saying what for.
        if index and node.parent == at and (node.edge.is_explicit or root_of(nodes[at].type_path) == _AIRFLOW):
            chain.append(index)
    return [root_of(nodes[index].type_path) for index in chain if "." in nodes[index].type_path]


def _slug(text: str, joint: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", joint, plain)
