"""Reasons in the errors of Google's APIs, of BigQuery's jobs and of Google's logins.

The reasons that clients of any kind meet in JSON bodies are rows of :mod:`.http_vendor_codes`; here are those which
only mean something where Google is known to have said them.
"""

from __future__ import annotations

import re

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.code_table import CodeRow, CodeRule, CodeTable, with_message
from airflow_common_ai.evidence.protocols.http.vendor_codes import find_vendor_code
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["find_reason"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_BIGQUERY = "BigQuery error messages; google-cloud-bigquery 3.47.0"
_ERROR_INFO = "google.api.ErrorReason; googleapis-common-protos 1.76.0"
_COMPUTE = "Compute Engine resource availability errors"

_NOT_ALLOWED = no("auth", "not allowed; a permission granted just now may need some minutes", _BIGQUERY)
_WRONG = no("data", "the request itself is wrong", _BIGQUERY)
_IN_USE = yes("transient", _SHORT, "other work on the same thing is in the way", _BIGQUERY)
_REFUSED = no("auth", "the credentials are not accepted here", _ERROR_INFO)
_FORBIDDEN = no("permanent", "a policy or the state of the project forbids it", _ERROR_INFO)
_NO_CAPACITY = yes("transient", _LONG, "the zone has no capacity of this kind for now", _COMPUTE)

_ROWS = (
    CodeRow("accessDenied forbidden IAM_PERMISSION_DENIED permissionDenied", _NOT_ALLOWED),
    CodeRow("invalid required badRequest invalidParameter parseError invalidArgument", _WRONG),
    CodeRow("notFound", no("resource", "it does not exist, or not for these credentials", _BIGQUERY)),
    CodeRow("duplicate alreadyExists", no("data", "it exists already, perhaps from an earlier try", _BIGQUERY)),
    CodeRow("conditionNotMet", depends("data", _NOW, "somebody else changed it meanwhile", "Cloud Storage JSON API")),
    CodeRow("conflict resourceInUse resourceNotReady", _IN_USE, "conflict"),
    CodeRow("notImplemented", no("permanent", "the service does not do this", _BIGQUERY)),
    CodeRow("timeout", depends("permanent", _SHORT, "the job hit its own time limit", _BIGQUERY)),
    CodeRow(
        "ZONE_RESOURCE_POOL_EXHAUSTED ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS RESOURCE_POOL_EXHAUSTED stockout",
        _NO_CAPACITY,
    ),
    CodeRow("ACCESS_TOKEN_EXPIRED", depends("auth", _SHORT, "the access token has expired", _ERROR_INFO)),
    CodeRow(
        "CREDENTIALS_MISSING OVERLOADED_CREDENTIALS ACCESS_TOKEN_SCOPE_INSUFFICIENT ACCESS_TOKEN_TYPE_UNSUPPORTED"
        " ACCOUNT_STATE_INVALID SESSION_COOKIE_INVALID JWT_TOKEN_INVALID CREDENTIAL_TYPE_UNSUPPORTED"
        " ACCOUNT_TYPE_UNSUPPORTED USER_PROJECT_DENIED",
        _REFUSED,
    ),
    CodeRow(
        "SERVICE_DISABLED accessNotConfigured",
        no("permanent", "the API is not enabled in the project; one enabled just now needs some minutes", _ERROR_INFO),
    ),
    CodeRow(
        "CONSUMER_SUSPENDED CONSUMER_INVALID GCP_SUSPENDED RESOURCE_PROJECT_INVALID USER_BLOCKED_BY_ADMIN"
        " SERVICE_NOT_VISIBLE SYSTEM_PARAMETER_UNSUPPORTED MISSING_ORIGIN MCP_SERVER_DISABLED",
        _FORBIDDEN,
    ),
    CodeRow(
        "bytesBilledLimitExceeded",
        no("permanent", "the query would read more than its own limit allows", "BigQuery, maximumBytesBilled"),
    ),
    CodeRow(
        "RESOURCE_QUOTA_EXCEEDED",
        depends("permanent", _LONG, "a quota of the project is used up", _ERROR_INFO),
        "limit",
    ),
)

_RULES = (
    CodeRule(re.compile(r"^serving limit"), yes("rate_limit", _MEDIUM, "the service is too busy", _BIGQUERY)),
    CodeRule(re.compile(r"^(?:api key|credential) "), _REFUSED),
    CodeRule(re.compile(r"\b(?:policy|restriction|blocked)\b"), _FORBIDDEN),
)

_CODES = CodeTable(_ROWS, _RULES)


def find_reason(reason: str, *, message: str = "", status: int | None = None) -> Meaning | None:
    """
    Return what a reason means.

    :param reason: As Google spells it: ``rateLimitExceeded``, ``SERVICE_DISABLED``, ``invalid_grant``.
    :param message: What came with it.
    :param status: The HTTP status; BigQuery gives a job that was ``stopped`` the status 200.
    """
    if _CODES.lists(reason):
        return _CODES.find(reason, message=message, status=status)
    if found := find_vendor_code(reason, status):
        meaning = found[1]
        is_limit = meaning.category == "rate_limit"
        return with_message(meaning, ("limit" if meaning.max_attempts else "rate") if is_limit else "", message)
    return _CODES.find(reason, message=message, status=status)
