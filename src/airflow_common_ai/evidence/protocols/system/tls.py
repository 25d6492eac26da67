"""Why a TLS handshake or connection failed: OpenSSL's reason codes, in attributes and in words."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from dataclasses import replace

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import hint, number_in, settle
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["SIGNALS", "probe", "read", "read_words"]

_SHORT = Wait.SHORT
_SOURCE = "OpenSSL SSL_R_*, openssl/sslerr.h; whether to retry is judgement"

# Reason without the prefix that says which TLS version's alert it was, what it says.
_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("UNEXPECTED_EOF_WHILE_READING", yes("network", _SHORT, "the other side hung up in the middle of TLS", _SOURCE)),
    ("DECRYPTION_FAILED_OR_BAD_RECORD_MAC", yes("network", _SHORT, "a TLS record arrived damaged", _SOURCE)),
    ("BAD_RECORD_MAC", yes("network", _SHORT, "the other side received a damaged TLS record", _SOURCE)),
    ("INTERNAL_ERROR", yes("network", _SHORT, "the other side had an internal TLS error", _SOURCE)),
    ("APPLICATION_DATA_AFTER_CLOSE_NOTIFY", yes("network", _SHORT, "the TLS connection was closed too early", _SOURCE)),
    ("BAD_LENGTH", yes("network", _SHORT, "a TLS message arrived damaged", _SOURCE)),
    ("USER_CANCELLED", yes("network", _SHORT, "the other side cancelled the TLS handshake", _SOURCE)),
    ("CERTIFICATE_VERIFY_FAILED", no("permanent", "the server's certificate is not trusted", _SOURCE)),
    ("WRONG_VERSION_NUMBER", no("permanent", "the port does not speak TLS: plain HTTP, or a wrong port", _SOURCE)),
    ("RECORD_LAYER_FAILURE", no("permanent", "the port does not speak TLS: plain HTTP, or a wrong port", _SOURCE)),
    ("UNKNOWN_PROTOCOL", no("permanent", "the port does not speak TLS: plain HTTP, or a wrong port", _SOURCE)),
    ("HTTP_REQUEST", no("permanent", "plain HTTP was sent to a TLS port", _SOURCE)),
    ("HTTPS_PROXY_REQUEST", no("permanent", "a proxy request was sent to a TLS port", _SOURCE)),
    ("UNSUPPORTED_PROTOCOL", no("permanent", "no TLS version that both sides allow", _SOURCE)),
    ("PROTOCOL_VERSION", no("permanent", "no TLS version that both sides allow", _SOURCE)),
    ("HANDSHAKE_FAILURE", no("permanent", "no cipher or setting that both sides allow", _SOURCE)),
    ("NO_SHARED_CIPHER", no("permanent", "no cipher that both sides allow", _SOURCE)),
    ("INSUFFICIENT_SECURITY", no("permanent", "the server demands a stronger cipher", _SOURCE)),
    ("NO_APPLICATION_PROTOCOL", no("permanent", "no application protocol that both sides speak", _SOURCE)),
    ("UNSAFE_LEGACY_RENEGOTIATION_DISABLED", no("permanent", "the server is too old for this TLS library", _SOURCE)),
    ("DH_KEY_TOO_SMALL", no("permanent", "the server's key exchange is too weak", _SOURCE)),
    ("EE_KEY_TOO_SMALL", no("permanent", "the certificate's key is too weak", _SOURCE)),
    ("CA_MD_TOO_WEAK", no("permanent", "the certificate's signature is too weak", _SOURCE)),
    ("UNRECOGNIZED_NAME", no("permanent", "the server does not serve that host name", _SOURCE)),
    ("KEY_VALUES_MISMATCH", no("permanent", "the client's key does not belong to its certificate", _SOURCE)),
    ("PEM_LIB", no("permanent", "a certificate or key file could not be read", _SOURCE)),
    ("NO_CERTIFICATE_OR_CRL_FOUND", no("permanent", "a certificate file holds no certificate", _SOURCE)),
    ("CERTIFICATE_REQUIRED", no("auth", "the server demands a client certificate", _SOURCE)),
    ("PEER_DID_NOT_RETURN_A_CERTIFICATE", no("auth", "the client sent no certificate", _SOURCE)),
    ("BAD_CERTIFICATE", no("auth", "the server rejected the client's certificate", _SOURCE)),
    ("CERTIFICATE_EXPIRED", no("auth", "the server says that the client's certificate has expired", _SOURCE)),
    ("CERTIFICATE_REVOKED", no("auth", "the server says that the client's certificate was revoked", _SOURCE)),
    ("CERTIFICATE_UNKNOWN", no("auth", "the server rejected the client's certificate", _SOURCE)),
    ("UNSUPPORTED_CERTIFICATE", no("auth", "the server does not accept this kind of certificate", _SOURCE)),
    ("UNKNOWN_CA", no("auth", "the server does not know the authority of the client's certificate", _SOURCE)),
    ("ACCESS_DENIED", no("auth", "the server denied access during the TLS handshake", _SOURCE)),
)

SIGNALS = {reason: meaning.signal(f"tls.{reason.lower()}", Rank.OS) for reason, meaning in _ROWS}
"""What each reason says, by its name without the prefix of an alert."""

_OTHER_REASON = hint(depends("network", _SHORT, "TLS failed for a reason that has no row here", "judgement", 3)).signal(
    "tls.other", Rank.OS
)

# X509_V_ERR_* of openssl/x509_vfy.h, and the words that OpenSSL has for them.
_CERTIFICATE_FAULTS = (
    (9, "is not valid yet, or this worker's clock is wrong", "certificate is not yet valid"),
    (10, "has expired", "certificate has expired"),
    (18, "is self-signed", "self-signed certificate"),
    (18, "is self-signed", "self signed certificate"),
    (19, "ends in a root that is not trusted here", "self-signed certificate in certificate chain"),
    (19, "ends in a root that is not trusted here", "self signed certificate in certificate chain"),
    (20, "was issued by somebody not trusted here", "unable to get local issuer certificate"),
    (21, "comes without its chain", "unable to verify the first certificate"),
    (23, "was revoked", "certificate revoked"),
    (62, "is for another host name", "Hostname mismatch"),
    (64, "is for another address", "IP address mismatch"),
)
_FAULT_BY_CODE = {code: fault for code, fault, _ in _CERTIFICATE_FAULTS}
_FAULT_BY_WORDS = sorted(((words, fault) for _, fault, words in _CERTIFICATE_FAULTS), key=lambda row: -len(row[0]))

_ALERT_PREFIX = re.compile(r"^(?:SSLV3_ALERT_|TLSV1_ALERT_|TLSV13_ALERT_|TLS_ALERT_|SSL/TLS_ALERT_|TLSV1_)")
_HUNG_UP = "EOF occurred in violation of protocol"
_MARKS = ("[SSL: ", "SSL routines:", "SSL error: ", _HUNG_UP)
_IN_TEXT = re.compile(
    rf"""
      \[SSL:\ (?P<python>[A-Z0-9_/]{{3,60}})\]                            # str() of an ssl.SSLError
    | \bSSL\ routines:[^:\n]{{0,60}}:(?P<openssl>[A-Za-z0-9_/\ ]{{3,60}})  # OpenSSL and BoringSSL themselves
    | \bSSL\ error:\ (?P<libpq>[a-z0-9_/\ ]{{3,60}})                      # PostgreSQL's client
    | (?P<hung_up>{re.escape(_HUNG_UP)})
    """,
    re.VERBOSE,
)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy OpenSSL's reason, its library and the verification code."""
    if not isinstance(exception, ssl.SSLError):
        return {}
    facts: dict[str, Fact] = {}
    for name in ("reason", "library", "verify_code"):
        value: object = getattr(exception, name, None)
        if isinstance(value, int | str):
            facts[f"tls.{name}"] = value
    return facts


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what OpenSSL's reason on a node says."""
    if "tls.reason" in node.facts:
        fault = _FAULT_BY_CODE.get(number_in(node, "tls.verify_code") or 0)
        yield _signal(str(node.facts["tls.reason"]), fault)


def read_words(message: str) -> tuple[Signal, ...]:
    """Return what OpenSSL's words in a message say."""
    if not any(map(message.__contains__, _MARKS)):
        return ()
    fault = next((fault for words, fault in _FAULT_BY_WORDS if words in message), None)
    return settle((_signal(reason, fault) for reason in _reasons(message)), message)


def _reasons(message: str) -> Iterator[str]:
    for match in _IN_TEXT.finditer(message):
        if match["hung_up"]:
            yield "UNEXPECTED_EOF_WHILE_READING"
        else:
            yield match[match.lastgroup or 0].strip().upper().replace(" ", "_")


def _signal(reason: str, certificate_fault: str | None) -> Signal:
    signal = SIGNALS.get(_ALERT_PREFIX.sub("", reason), _OTHER_REASON)
    if certificate_fault and signal is SIGNALS["CERTIFICATE_VERIFY_FAILED"]:
        return replace(signal, sentence=f"the server's certificate {certificate_fault}")
    return signal
