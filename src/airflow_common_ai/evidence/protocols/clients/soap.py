"""SOAP: whose fault it was, which the fault's code says, and what WS-Security says of a login."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("zeep", "suds", "pysimplesoap", "spyne")
PRINTED_MARKS = ("<faultcode>", "SOAP-ENV:", "soap:Client", "soap:Server", "soapenv:", "env:Sender", "env:Receiver")

_SOAP = "SOAP 1.1 §4.4.1, SOAP 1.2 part 1 §5.4.6"
_SECURITY = "WS-Security 1.1 §12, WS-Trust 1.4 §11"
_LOGIN = "the service refused the login"
_NOT_UNDERSTOOD = "the service does not speak this version, or does not know a header that it must"

_ROWS: tuple[tuple[str, Meaning], ...] = (
    # "A message that should not be resent without change", but services also say so of what they have no words for.
    ("Client Sender", no("data", "the service says that the request is wrong", _SOAP)),
    ("Server Receiver", depends("transient", Wait.MEDIUM, "the service failed", _SOAP, 3)),
    ("VersionMismatch MustUnderstand DataEncodingUnknown", no("permanent", _NOT_UNDERSTOOD, _SOAP)),
    ("FailedAuthentication InvalidSecurityToken InvalidSecurity FailedCheck SecurityTokenUnavailable",
     no("auth", _LOGIN, _SECURITY)),
    ("UnsupportedSecurityToken UnsupportedAlgorithm", no("permanent", _NOT_UNDERSTOOD, _SECURITY)),
    ("MessageExpired", depends("auth", Wait.SHORT, "the request's time stamp has expired", _SECURITY)),
)  # fmt: skip
_MEANINGS: Mapping[str, Meaning] = {code: meaning for codes, meaning in _ROWS for code in codes.split()}
_MAX_CODE_CHARS = 100
_PRINTED = re.compile(
    r"(?:<faultcode>|<(?:\w{1,20}:)?Value>|\b[\w-]{1,20}:)(?:[\w-]{1,20}:)?"
    rf"({'|'.join(_MEANINGS)})(?=[.<'\"\s,;:)\]]|$)"
)
# Of a fault whose code a log does not show: words that libraries of services have for it.
_WORDS: tuple[tuple[str, re.Pattern[str], Meaning], ...] = (
    ("MustUnderstand", re.compile(r"\bheader \S{1,200} was not understood|not understand mandatory header", re.I),
     _MEANINGS["MustUnderstand"]),
    ("FailedAuthentication", re.compile(r"security token could not be (?:authenticated|authorized)", re.I),
     _MEANINGS["FailedAuthentication"]),
    ("InvalidSecurity", re.compile(r"error was discovered processing the <wsse:Security> header", re.I),
     _MEANINGS["InvalidSecurity"]),
    ("invalid_value", re.compile(r"\bcvc-[a-z-]{3,40}(?:\.\d)*: "), no("data", "a value does not fit the schema",
     "XML Schema 1.0 part 1, appendix C")),
    ("validation", re.compile(r"^Missing element \S{1,200} \("),
     no("data", "the request lacks an element", "zeep 4.3")),
)  # fmt: skip


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code of zeep's fault, or of suds's."""
    code = getattr(exception, "code", None) or getattr(getattr(exception, "fault", None), "faultcode", None)
    subcodes = getattr(exception, "subcodes", None)
    codes = [code, *(subcodes[:4] if isinstance(subcodes, list) else ())]
    said = " ".join(str.__str__(one) for one in codes if isinstance(one, str))
    return {"soap.code": cut(said, _MAX_CODE_CHARS)} if said else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the last of the codes that is known says: a subcode says more than ``Client``."""
    said = node.text_of("soap.code").split()
    known = [name for code in said for name in _names_in(code) if name in _MEANINGS]
    if not said and (match := _PRINTED.search(node.message)):
        known = [match[1]]
    worded = next(((name, meaning) for name, words, meaning in _WORDS if words.search(node.message)), None)
    if worded is not None and (not known or known[-1] in ("Client", "Sender")):
        yield worded[1].signal(f"soap.{worded[0]}", Rank.VENDOR_CODE)
    elif known:
        meaning = _MEANINGS[known[-1]]
        # What a server blames on us may be a limit or a login: its words, where they are read, say more.
        yield (hint(meaning) if known[-1] in ("Client", "Sender") else meaning).signal(
            f"soap.{known[-1]}", Rank.VENDOR_CODE
        )


def _names_in(code: str) -> list[str]:
    """Return the local parts of ``soap:Client.Authentication`` and ``{http://…}Sender``."""
    return code.rpartition("}")[2].rpartition(":")[2].split(".")
