"""What gRPC statuses mean."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["CODES"]

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_SOURCE = "gRPC status codes; google.rpc.Code; google-api-core 2.44.0"

CODES: Mapping[str, Meaning] = {
    "CANCELLED": depends("transient", _SHORT, "the call was cancelled", _SOURCE),
    "UNKNOWN": depends("transient", _SHORT, "the server failed and did not say why", _SOURCE, 3),
    "INVALID_ARGUMENT": no("data", "the request is wrong", _SOURCE),
    "DEADLINE_EXCEEDED": depends("network", _SHORT, "the deadline passed; it may have been done", _SOURCE, 3),
    "NOT_FOUND": no("resource", "there is no such thing, or no permission to see it", _SOURCE),
    "ALREADY_EXISTS": no("data", "it exists already, perhaps from an earlier try", _SOURCE),
    "PERMISSION_DENIED": no("auth", "these credentials are not allowed to do this", _SOURCE),
    "RESOURCE_EXHAUSTED": depends("rate_limit", _MEDIUM, "a limit or a quota of the service is used up", _SOURCE, 3),
    "FAILED_PRECONDITION": no("data", "not possible in the state that things are in", _SOURCE),
    "ABORTED": yes("transient", _NOW, "a concurrent change won", _SOURCE),
    "OUT_OF_RANGE": no("data", "the request reaches beyond the end", _SOURCE),
    "UNIMPLEMENTED": no("permanent", "the service does not do this", _SOURCE),
    "INTERNAL": depends("transient", _SHORT, "the service failed", _SOURCE, 3),
    "UNAVAILABLE": yes("transient", _SHORT, "the service is unavailable", _SOURCE),
    "DATA_LOSS": no("data", "the service lost or damaged the data", _SOURCE),
    "UNAUTHENTICATED": depends("auth", _SHORT, "the credentials were refused or have expired", _SOURCE),
}
"""By name of the status."""
