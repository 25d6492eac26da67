"""A failure that a real library raised once, with where it came from: what the corpus is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor, from_json
from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.recordings.split import Split, split_of

__all__ = ["SCHEMA", "Provenance", "Recording"]

SCHEMA = 1
"""Raised by one whenever a reader of older files would misread a newer one."""

_ID = re.compile(r"[a-z0-9_]{1,60}/[a-z0-9-]{1,160}")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_TAG = re.compile(r"[a-z0-9-]{1,60}")
_MAX_TAGS = 20
_MAX_COUNT = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who raised it, and how to have it raised again."""

    tool: str
    """What recorded it, e.g. ``tools/raise/requests_http.py``."""
    library: str
    """The distribution whose exception it is; ``python`` for the standard library."""
    version: str | None
    """``None`` if nobody knows, as of a failure that was found in a log."""
    how: str
    """The command that raises it again."""
    server: str | None = None
    """What answered, if a server did, e.g. ``PostgreSQL``."""
    server_version: str | None = None
    is_wire_form: bool = False
    """
    The service cannot run on a developer's machine: the library parsed an answer in its documented form, which a
    server on loopback gave. The exception is the library's own, the bytes are ours.
    """
    wrapped_by: str | None = None
    """The Airflow hook or operator that it came through."""

    def to_json(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"tool": self.tool, "library": self.library}
        if self.version is not None:
            entry["version"] = self.version
        entry["how"] = self.how
        if self.server is not None:
            entry["server"] = self.server
        if self.server_version is not None:
            entry["server_version"] = self.server_version
        if self.is_wire_form:
            entry["wire_form"] = True
        if self.wrapped_by is not None:
            entry["wrapped_by"] = self.wrapped_by
        return entry


@dataclass(frozen=True, slots=True)
class Recording:
    """One line of a corpus."""

    id: str
    """``family/case``: the script that raised it, and which of its cases this is."""
    fingerprint: str
    split: Split
    """Given when the recording was first made, and kept from then on."""
    evidence: RedactedEvidence
    provenance: Provenance
    tags: tuple[str, ...] = ()
    """What the raising script knows about it, e.g. ``obvious-reading-is-wrong``."""
    count: int = 1
    """How often it was seen, where recordings are collected from what went wrong in production."""

    @classmethod
    def of(
        cls, recording_id: str, evidence: RedactedEvidence, provenance: Provenance, tags: tuple[str, ...] = ()
    ) -> Recording:
        """Return a new recording with its fingerprint and the split that falls to it."""
        if not _ID.fullmatch(recording_id):
            raise ValueError(f"id must be like 'requests_http/429-with-retry-after', got {recording_id!r}.")
        split = split_of(evidence, provenance.library)
        return cls(recording_id, fingerprint(evidence), split, evidence, provenance, tuple(sorted(tags)))

    @property
    def family(self) -> str:
        """The name of the script, which is the name of the file."""
        return self.id.partition("/")[0]

    @property
    def recorded_at(self) -> datetime:
        return self.evidence.observed_at

    def refreshed(self) -> Recording:
        """Return it with the fingerprint that it has by now; the split stays."""
        return replace(self, fingerprint=fingerprint(self.evidence))

    def in_split(self, split: Split) -> Recording:
        """Return it in the split that it was in before."""
        return replace(self, split=split)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; :meth:`from_json` reads it back."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "fingerprint": self.fingerprint,
            "split": self.split.value,
            **({"tags": list(self.tags)} if self.tags else {}),
            **({"count": self.count} if self.count != 1 else {}),
            "provenance": self.provenance.to_json(),
            "evidence": self.evidence.to_json(),
        }

    @classmethod
    def from_json(cls, data: object, redactor: Redactor) -> Recording:
        """
        Return the recording that :meth:`to_json` wrote, redacted again.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("a recording", data)
        schema = fields.take("schema")
        if schema != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, got {schema!r}. Record it again, or use a newer version.")
        recording = cls(
            id=fields.text("id", like=_ID, example="requests_http/429-with-retry-after"),
            fingerprint=fields.text("fingerprint", like=_FINGERPRINT, example="0123456789abcdef"),
            split=Split(fields.one_of("split", [split.value for split in Split])),
            tags=fields.texts("tags", like=_TAG, limit=_MAX_TAGS),
            count=fields.whole_number("count", default=1, most=_MAX_COUNT),
            provenance=_provenance(fields.take("provenance"), redactor),
            evidence=from_json(fields.take("evidence"), redactor),
        )
        fields.nothing_else()
        return recording


def _provenance(data: object, redactor: Redactor) -> Provenance:
    fields = Fields("provenance", data)
    found = {
        "tool": fields.text("tool"),
        "library": fields.text("library"),
        "how": fields.text("how"),
        **{name: fields.optional_text(name) for name in ("version", "server", "server_version", "wrapped_by")},
    }
    told = {name: text for name, text in found.items() if text is not None}
    shown = dict(zip(told, redactor.texts(told.values()), strict=True))
    provenance = Provenance(
        tool=shown["tool"],
        library=shown["library"],
        version=shown.get("version"),
        how=shown["how"],
        server=shown.get("server"),
        server_version=shown.get("server_version"),
        is_wire_form=fields.flag("wire_form"),
        wrapped_by=shown.get("wrapped_by"),
    )
    fields.nothing_else()
    return provenance
