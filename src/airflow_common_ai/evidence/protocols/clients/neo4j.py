"""Neo4j: the status code, whose second part says by design whether another try may help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("neo4j", "py2neo", "neomodel", "graphdatascience")
PRINTED_MARKS = ("Neo.TransientError.", "Neo.ClientError.", "Neo.DatabaseError.")

_CODES = "Neo4j 5 status codes for errors; neo4j 6.0 exceptions"
_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_MEMORY = "Neo4j has no memory left for the transaction"
_STATEMENT = "the statement itself is wrong"

_ROWS: Mapping[str, Meaning] = {
    # The client's own routing takes these for passing; the docs have them among the client's errors.
    "ClientError.Cluster.NotALeader": yes("transient", _SHORT, "the cluster has just elected another leader", _CODES),
    "ClientError.General.ForbiddenOnReadOnlyDatabase": depends(
        "transient", _SHORT, "this member of the cluster takes no writes", _CODES, 3
    ),
    "ClientError.Security.AuthorizationExpired": yes("auth", _SHORT, "the session has to be authorised anew", _CODES),
    "ClientError.Security.TokenExpired": depends("auth", _SHORT, "the token has expired", _CODES),
    "ClientError.Security.AuthenticationRateLimit": depends(
        "rate_limit", _MEDIUM, "the login was refused too often in a short time", _CODES
    ),
    "ClientError.Database.DatabaseNotFound": no("resource", "there is no such database", _CODES),
    "ClientError.Schema.ConstraintValidationFailed": no("data", "the data breaks a constraint", _CODES),
    "ClientError.Statement.ConstraintVerificationFailed": no("data", "the data breaks a constraint", _CODES),
    "ClientError.Statement.EntityNotFound": no("resource", "there is no such node or relation", _CODES),
    "ClientError.Transaction.TransactionTimedOut": depends("permanent", _SHORT, "the time limit was hit", _CODES),
    "ClientError.Transaction.TransactionTimedOutClientConfiguration": depends(
        "permanent", _SHORT, "the time limit was hit", _CODES
    ),
    "ClientError.Transaction.LockClientStopped": depends("transient", _SHORT, "the transaction was stopped", _CODES),
    "TransientError.Transaction.LockClientStopped": depends("transient", _SHORT, "the transaction was stopped", _CODES),
    "TransientError.Transaction.Terminated": depends("transient", _SHORT, "somebody ended the transaction", _CODES),
    "TransientError.General.MemoryPoolOutOfMemoryError": yes("transient", _MEDIUM, _MEMORY, _CODES),
    "TransientError.General.TransactionOutOfMemoryError": yes("transient", _MEDIUM, _MEMORY, _CODES),
    "TransientError.General.OutOfMemoryError": yes("transient", _MEDIUM, _MEMORY, _CODES),
}
_GROUPS: Mapping[str, Meaning] = {
    "TransientError": yes("transient", _SHORT, "Neo4j says that it may be tried again", _CODES),
    "ClientError.Security": no("auth", "the login or a permission was refused", _CODES),
    "ClientError.Statement": no("permanent", _STATEMENT, _CODES),
    "ClientError.Procedure": no("permanent", "the procedure is not there or was called wrongly", _CODES),
    "ClientError.Schema": no("permanent", "the schema does not allow it, or has it already", _CODES),
    "ClientError": no("permanent", "Neo4j says that only another request can succeed", _CODES),
    "DatabaseError": depends("transient", _SHORT, "Neo4j failed", _CODES, 3),
}
_CODE = re.compile(r"\bNeo\.((?:Transient|Client|Database)Error(?:\.[A-Z][A-Za-z]{1,60}){2})")
_SPEAKS_ANOTHER = no("permanent", "a server of another protocol answers on this port", "neo4j 6.0, _bolt.py")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy nothing: the driver prints the code into the message."""
    return {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the code says, else what its group says."""
    if match := _CODE.search(node.message):
        code = match[1]
        kind, _, rest = code.partition(".")
        meaning = _ROWS.get(code) or _GROUPS.get(f"{kind}.{rest.partition('.')[0]}") or _GROUPS[kind]
        yield meaning.signal(f"neo4j.{rest}", Rank.VENDOR_CODE)
    elif "(looks like HTTP)" in node.message:
        yield _SPEAKS_ANOTHER.signal("neo4j.other_protocol", Rank.VENDOR_CODE)
