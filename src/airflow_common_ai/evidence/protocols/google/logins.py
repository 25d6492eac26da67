"""What Google's login library says when no credentials were found or their token could not be refreshed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_common_ai.evidence.model import Rank, RedactedNode, Wait, kind_of
from airflow_common_ai.evidence.protocols.google.codes import find_reason
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["LOGIN_CLASSES", "login_meaning"]

_SOURCE = "google-auth 2.63.0"
_IMPERSONATION = "google-auth 2.63.0; apache-airflow-providers-google 22.8.0"

_NO_CREDENTIALS = no("auth", "there are no usable credentials", _SOURCE)
_CLASSES: Mapping[str, Meaning] = {
    kind: meaning
    for kinds, meaning in (
        (
            "google.DefaultCredentialsError google.MalformedError google.InvalidResource google.InvalidOperation"
            " google.InvalidValue google.InvalidType google.OSError google.UserAccessTokenError google.ReauthFailError"
            " google.ReauthSamlChallengeFailError",
            _NO_CREDENTIALS,
        ),
        (
            "google.MutualTLSChannelError google.ClientCertError",
            no("permanent", "the client's certificate cannot be used", _SOURCE),
        ),
        (
            "google.TimeoutError google.ResponseError",
            yes("network", Wait.SHORT, "the identity service could not be reached", _SOURCE),
        ),
        (
            "google.RefreshError google.OAuthError",
            depends("auth", Wait.SHORT, "the token could not be refreshed", _SOURCE),
        ),
    )
    for kind in kinds.split()
}
LOGIN_CLASSES = tuple(_CLASSES)

_OAUTH_ERROR = re.compile(r"\W*(?:Error code )?([a-z]+(?:_[a-z]+){1,3}): ")
_IMPERSONATED = "Unable to acquire impersonated credentials"
_PRINTED_STATUS = re.compile(r"\\?[\"']code\\?[\"']: ?([45]\d\d)\b")
_CLOCK = re.compile(r"reasonable timeframe|Token used too (?:early|late)")
_PERSON = re.compile(r"(?i)reauthentication is needed|do not contain the necessary fields")
_METADATA_404 = re.compile(r"metadata service\. Status: 404\b")
_WORTH_ANOTHER = frozenset({408, 429})

_RETRYABLE = yes("transient", Wait.SHORT, "the identity service failed for now", _SOURCE)
_WRONG_CLOCK = depends("auth", Wait.SHORT, "the clock of this worker is wrong", _SOURCE)
_NOT_IMPERSONATED = yes("transient", Wait.SHORT, "the service account could not be impersonated", _IMPERSONATION)
_MAY_NOT_IMPERSONATE = no(
    "auth",
    "not allowed to impersonate the service account; a permission granted just now needs some minutes",
    _IMPERSONATION,
)
_NEEDS_A_PERSON = no("auth", "a person must log in again, or the credentials lack what a refresh needs", _SOURCE)
_NO_ACCOUNT_HERE = no("auth", "this machine has no such service account", "Compute Engine metadata server")


def login_meaning(node: RedactedNode) -> tuple[str, Meaning, Rank]:
    """Return the finding, what it means and how close it is to what the service said; for :data:`LOGIN_CLASSES`."""
    message = node.message[:4096]
    if node.facts.get("google.is_retryable") is True:
        return "auth_retryable", _RETRYABLE, Rank.VERDICT
    if _CLOCK.search(message):
        return "wrong_clock", _WRONG_CLOCK, Rank.VENDOR_CODE
    if _PERSON.search(message):
        return "needs_a_person", _NEEDS_A_PERSON, Rank.VENDOR_CODE
    if _METADATA_404.search(message):
        return "no_service_account", _NO_ACCOUNT_HERE, Rank.VENDOR_CODE
    if _IMPERSONATED in message:
        return "impersonation", _impersonation_meaning(node, message), Rank.VENDOR_CODE
    printed = _OAUTH_ERROR.match(message)
    error = node.facts.get("google.login_error") or (printed[1] if printed else None)
    if isinstance(error, str) and (meaning := find_reason(error)):
        return error, meaning, Rank.VENDOR_CODE
    kinds = (kind_of(path) for path in (node.type_path, *node.base_paths))
    kind = next(kind for kind in kinds if kind in _CLASSES)
    return kind.removeprefix("google."), _CLASSES[kind], Rank.CLASS


def _impersonation_meaning(node: RedactedNode, message: str) -> Meaning:
    status, printed = node.facts.get("google.login_status"), _PRINTED_STATUS.search(message)
    if not isinstance(status, int):
        status = int(printed[1]) if printed else None
    is_refused = status is not None and status < 500 and status not in _WORTH_ANOTHER
    return _MAY_NOT_IMPERSONATE if is_refused else _NOT_IMPERSONATED
