# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "dnspython==2.9.1", "kazoo==2.11.0", "ldap3==2.9.1", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What clients of directories raise: ldap3 of OpenLDAP, dnspython, and kazoo of ZooKeeper."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from functools import partial
from typing import Any

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.resolver
import dns.zone
import kazoo.client
import kazoo.exceptions
import kazoo.retry
import kazoo.security
import ldap3
import ldap3.core.exceptions
import ldap3.utils.dn
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs
from servers.dns import Dns, dns_server
from servers.ldap import Ldap, ldap, ldap_that_says
from servers.port import refused_port
from servers.zookeeper import ZooKeeper, zookeeper

family = Family(__file__, "ldap3", servers={"slapd": ldap, "names": dns_server, "keeper": zookeeper})
dns_case = partial(family.case, library="dnspython", is_wire_form=True)
keeper_case = partial(family.case, library="kazoo")
TRAP = [WRONG_READING]
BASE = "dc=shop,dc=example"
PEOPLE = f"ou=people,{BASE}"
QUICK_S = 0.5


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def connect(port: int, user: str | None = "etl", password: str | None = CANARY, **options: Any) -> ldap3.Connection:
    server = ldap3.Server("127.0.0.1", port, connect_timeout=1, get_info=ldap3.NONE)
    name = f"cn=admin,{BASE}" if user == "admin" else f"uid={user},{PEOPLE}" if user else None
    usual = {"raise_exceptions": True, "auto_bind": True, "receive_timeout": 2}
    return ldap3.Connection(server, name, password, **{**usual, **options})


@family.case("the password is wrong", raises="LDAPInvalidCredentialsResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, password=f"old-{CANARY}")


@family.case("the password is wrong, without the library's own exceptions of results", raises="LDAPBindError")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="ada", password=f"old-{CANARY}", raise_exceptions=False)


@family.case("the user does not exist", raises="LDAPInvalidCredentialsResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="nobody")


@family.case("the account is locked after too many failures", raises="LDAPInvalidCredentialsResult", tags=TRAP)
def _(slapd: Ldap) -> None:
    for _number in range(4):
        with contextlib.suppress(ldap3.core.exceptions.LDAPInvalidCredentialsResult):
            connect(slapd.port, user="locked", password=f"old-{CANARY}")
    connect(slapd.port, user="locked")


@family.case("nobody has signed in", raises=("LDAPStrongerAuthRequiredResult", "LDAPInappropriateAuthenticationResult"))
def _(slapd: Ldap) -> None:
    connect(slapd.port, user=None, password=None)


@family.case("a user without a password", raises="LDAPPasswordIsMandatoryError")
def _(slapd: Ldap) -> None:
    connect(slapd.port, password=None)


@family.case("the name of the user is no name", raises="LDAPInvalidDNSyntaxResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin", auto_bind=False).rebind("etl", CANARY)


@family.case("the user may not write", raises="LDAPInsufficientAccessRightsResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port).modify(f"uid=ada,{PEOPLE}", {"cn": [(ldap3.MODIFY_REPLACE, ["Ada L"])]})


@family.case(
    "the user may not see the subtree",
    raises=("LDAPNoSuchObjectResult", "LDAPInsufficientAccessRightsResult"),
    tags=TRAP,
)
def _(slapd: Ldap) -> None:
    connect(slapd.port).search(BASE, "(objectClass=*)")


@family.case("the base of the search does not exist", raises="LDAPNoSuchObjectResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").search(f"ou=customers,{BASE}", "(uid=*)")


@family.case("the suffix belongs to another server", raises=("LDAPNoSuchObjectResult", "LDAPReferralResult"))
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").search("dc=other,dc=example", "(uid=*)")


@family.case("more entries than allowed", raises="LoadError", tags=[FROM_TEXT])
def _(slapd: Ldap) -> None:
    client = connect(slapd.port)
    if not client.search(PEOPLE, "(uid=*)") or client.result["result"]:
        raise LoadError(f"the list of people is not complete: {client.result}")


@family.case("the filter is none", raises="LDAPInvalidFilterError")
def _(slapd: Ldap) -> None:
    connect(slapd.port).search(PEOPLE, "(uid=")


@family.case("the entry exists already", raises="LDAPEntryAlreadyExistsResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").add(f"uid=ada,{PEOPLE}", "inetOrgPerson", {"sn": "A", "cn": "A"})


@family.case("the entry lacks an attribute", raises="LDAPObjectClassViolationResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").add(f"uid=zoe,{PEOPLE}", "inetOrgPerson", {"cn": "Zoe"})


@family.case(
    "the class of the entry does not exist", raises=("LDAPInvalidAttributeSyntaxResult", "LDAPObjectClassError")
)
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").add(f"uid=zoe,{PEOPLE}", "shopPerson", {"cn": "Zoe"})


@family.case("the attribute does not exist", raises="LDAPUndefinedAttributeTypeResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(f"uid=ada,{PEOPLE}", {"colour": [(ldap3.MODIFY_ADD, ["red"])]})


@family.case("the attribute has a value that is not unique", raises="LDAPConstraintViolationResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(
        f"uid=ada,{PEOPLE}", {"mail": [(ldap3.MODIFY_REPLACE, ["bo@shop.example"])]}
    )


@family.case("the value breaks a rule", raises="LDAPConstraintViolationResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(f"uid=ada,{PEOPLE}", {"employeeNumber": [(ldap3.MODIFY_REPLACE, ["x"])]})


@family.case("the new password is too short", raises="LDAPConstraintViolationResult", tags=TRAP)
def _(slapd: Ldap) -> None:
    connect(slapd.port).modify(f"uid=etl,{PEOPLE}", {"userPassword": [(ldap3.MODIFY_REPLACE, ["x"])]})


@family.case("a value that is there is added", raises="LDAPAttributeOrValueExistsResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(f"uid=ada,{PEOPLE}", {"cn": [(ldap3.MODIFY_ADD, ["ada"])]})


@family.case("an attribute that is not there is removed", raises="LDAPNoSuchAttributeResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(f"uid=ada,{PEOPLE}", {"title": [(ldap3.MODIFY_DELETE, [])]})


@family.case("an entry with children is removed", raises="LDAPNotAllowedOnNotLeafResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").delete(PEOPLE)


@family.case("the name of an entry is changed within its attributes", raises="LDAPNamingViolationResult")
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").modify(f"uid=ada,{PEOPLE}", {"uid": [(ldap3.MODIFY_REPLACE, ["eve"])]})


@family.case(
    "the server does not offer TLS", raises=("LDAPStartTLSError", "LDAPUnavailableResult", "LDAPProtocolErrorResult")
)
def _(slapd: Ldap) -> None:
    connect(slapd.port, auto_bind=False).start_tls()


@family.case("the mechanism of sign-in is not offered", raises="LDAPException")
def _(slapd: Ldap) -> None:
    connect(slapd.port, authentication=ldap3.SASL, sasl_mechanism=ldap3.EXTERNAL, auto_bind=False).bind()


@family.case("the extended operation is not known", raises=("LDAPProtocolErrorResult", "LDAPExtensionError"))
def _(slapd: Ldap) -> None:
    connect(slapd.port, user="admin").extended("1.3.6.1.4.1.99999.1")


@family.case("the name is not well formed", raises="LDAPInvalidDnError")
def _() -> None:
    ldap3.utils.dn.parse_dn("uid=etl,,dc=shop")


@family.case("the connection is refused", raises="LDAPSocketOpenError")
def _() -> None:
    with refused_port() as port:
        connect(port)


@family.case("the host name does not exist", raises="LDAPSocketOpenError")
def _() -> None:
    ldap3.Connection(ldap3.Server("directory.invalid", connect_timeout=1), "uid=etl", CANARY, auto_bind=True)


@family.case("the server does not answer in time", raises=("LDAPSocketReceiveError", "LDAPResponseTimeoutError"))
def _() -> None:
    with port_that_hangs() as port:
        connect(port, receive_timeout=1)


@family.case("the server hangs up", raises="LDAPException", tags=TRAP)
def _() -> None:
    with port_that_closes(1) as port:
        connect(port)


@family.case("none of a pool of servers is there", raises="LDAPServerPoolExhaustedError")
def _() -> None:
    with refused_port() as port:
        pool = ldap3.ServerPool([ldap3.Server("127.0.0.1", port, connect_timeout=1)], ldap3.FIRST, active=1)
        ldap3.Connection(pool, f"uid=etl,{PEOPLE}", CANARY, auto_bind=True)


for title, code, words, raises, tags in (
    # https://www.rfc-editor.org/rfc/rfc4511#section-4.1.9 and the sub-codes of Active Directory:
    # https://ldapwiki.com/wiki/Wiki.jsp?page=Common%20Active%20Directory%20Bind%20Errors
    ("the server is busy", 51, "too busy", "LDAPBusyResult", []),
    ("the server is not available", 52, "shutting down", "LDAPUnavailableResult", []),
    ("the server does not want to", 53, "00002035: operation not allowed through GC port", "LDAPUnwillingToPerformResult", []),
    ("the time limit is exceeded", 3, "", "LDAPBindError", []),
    ("the administrator's limit is exceeded", 11, "", "LDAPAdminLimitExceededResult", []),
    ("signing is a must", 8, "00002028: LdapErr: DSID-0C09023A, comment: The server requires binds to turn on integrity"
     " checking", "LDAPStrongerAuthRequiredResult", TRAP),
    ("the account has expired", 49, "80090308: LdapErr: DSID-0C090447, comment: AcceptSecurityContext error, data 701, v3839",
     "LDAPInvalidCredentialsResult", []),
    ("the password has expired", 49, "80090308: LdapErr: DSID-0C090447, comment: AcceptSecurityContext error, data 532, v3839",
     "LDAPInvalidCredentialsResult", []),
    ("the account may not sign in at this time", 49, "80090308: LdapErr: DSID-0C090447, comment: AcceptSecurityContext error,"
     " data 530, v3839", "LDAPInvalidCredentialsResult", TRAP),
    ("the server has an error of its own", 1, "000004DC: LdapErr: DSID-0C090A5C, comment: In order to perform this operation"
     " a successful bind must be completed on the connection.", "LDAPOperationsErrorResult", TRAP),
    ("the server has some other error", 80, "internal error: mdb_txn_begin failed", "LDAPOtherResult", []),
):  # fmt: skip

    @family.case(f"wire form: {title}", raises=raises, tags=tags, is_wire_form=True)
    def _(code: int = code, words: str = words) -> None:
        with ldap_that_says(code, words) as port:
            connect(port)


# DNS: https://www.rfc-editor.org/rfc/rfc1035#section-4.1.1
def resolve(names: Dns, name: str = "orders.example", kind: str = "A", **options: Any) -> Any:
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers = ["127.0.0.1"]
    resolver.port = names.port
    resolver.lifetime = 1
    resolver.timeout = QUICK_S
    return resolver.resolve(name, kind, search=False, **options)


for title, code, raises, tags in (
    ("the name does not exist", dns.rcode.NXDOMAIN, "NXDOMAIN", []),
    ("the server fails", dns.rcode.SERVFAIL, "NoNameservers", []),
    ("the server refuses", dns.rcode.REFUSED, "NoNameservers", TRAP),
    ("the question has no valid form", dns.rcode.FORMERR, "NoNameservers", TRAP),
    ("the server cannot do that", dns.rcode.NOTIMP, "NoNameservers", TRAP),
    ("the name exists without such a record", dns.rcode.NOERROR, "NoAnswer", []),
):

    @dns_case(f"DNS: {title}", raises=raises, tags=tags)
    def _(names: Dns, code: dns.rcode.Rcode = code) -> None:
        names.code = code
        resolve(names)


@dns_case("DNS: no answer comes in time", raises="LifetimeTimeout")
def _(names: Dns) -> None:
    names.code = None
    resolve(names)


@dns_case("DNS: a label is too long", raises="LabelTooLong", is_wire_form=False)
def _(names: Dns) -> None:
    resolve(names, "x" * 70 + ".example")


@dns_case("DNS: a label is empty", raises="EmptyLabel", is_wire_form=False)
def _(names: Dns) -> None:
    resolve(names, "orders..example")


@dns_case("DNS: the kind of record is not known", raises="UnknownRdatatype", is_wire_form=False)
def _(names: Dns) -> None:
    resolve(names, kind="AA")


@dns_case("DNS: no settings of a resolver", raises="NoResolverConfiguration", is_wire_form=False)
def _() -> None:
    dns.resolver.Resolver("none.conf")


@dns_case(
    "DNS: the answer is to another question", raises=("BadResponse", "DNSException", "Timeout"), is_wire_form=False
)
def _(names: Dns) -> None:
    names.code = dns.rcode.NOERROR
    question = dns.message.make_query("orders.example", "A")
    names.is_foreign = True
    try:
        dns.query.udp(question, "127.0.0.1", timeout=QUICK_S, port=names.port)
    finally:
        names.is_foreign = False


# ZooKeeper.
def keeper_client(port: int, **options: Any) -> Any:
    usual = {"timeout": 1, "connection_retry": {"max_tries": 0}, "command_retry": {"max_tries": 0}}
    return kazoo.client.KazooClient(f"127.0.0.1:{port}", **{**usual, **options})


@contextlib.contextmanager
def started(keeper: ZooKeeper, **options: Any) -> Any:
    client = keeper_client(keeper.port, **{"timeout": 10, **options})
    client.start(10)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@keeper_case("ZooKeeper: the connection is refused", raises="KazooTimeoutError", tags=TRAP)
def _() -> None:
    with refused_port() as port:
        client = keeper_client(port)
        try:
            client.start(1)
        finally:
            client.stop()


@keeper_case("ZooKeeper: the node does not exist", raises="NoNodeError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.get("/orders")


@keeper_case("ZooKeeper: the node exists already", raises="NodeExistsError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.ensure_path("/load")
        client.create("/load")


@keeper_case("ZooKeeper: the node has changed", raises="BadVersionError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.ensure_path("/load")
        client.set("/load", b"1", version=77)


@keeper_case("ZooKeeper: the node has children", raises="NotEmptyError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.ensure_path("/load/1")
        client.delete("/load")


@keeper_case("ZooKeeper: a node that is passing may have no children", raises="NoChildrenForEphemeralsError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.create("/passing", ephemeral=True)
        client.create("/passing/1")


@keeper_case("ZooKeeper: nobody has signed in", raises="NoAuthError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        rule = kazoo.security.make_digest_acl("etl", CANARY, all=True)
        client.create("/secret", acl=[rule], ephemeral=True)
        client.get("/secret")


@keeper_case("ZooKeeper: the rule of access is none", raises="InvalidACLError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.create("/free", acl=[kazoo.security.ACL(31, kazoo.security.Id("none", "x"))])


@keeper_case("ZooKeeper: the lock is held by another", raises="LockTimeout")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as first, started(keeper) as second, first.Lock("/locks/load"):
        second.Lock("/locks/load").acquire(timeout=QUICK_S)


@keeper_case("ZooKeeper: the client is closed", raises="ConnectionClosedError")
def _(keeper: ZooKeeper) -> None:
    with started(keeper) as client:
        client.stop()
        client.get("/orders")


@keeper_case(
    "ZooKeeper: the server does not answer", raises=("ConnectionLoss", "KazooTimeoutError", "SessionExpiredError")
)
def _(keeper: ZooKeeper) -> None:
    with started(keeper, timeout=2) as client:
        os.kill(keeper.pid, signal.SIGSTOP)
        time.sleep(QUICK_S)  # it takes a moment to stop
        try:
            client.exists("/orders")
        finally:
            os.kill(keeper.pid, signal.SIGCONT)
            time.sleep(QUICK_S)


# As tasks meet them.
@family.case("wrapped: the server is busy", raises="LoadError", is_wire_form=True)
def _() -> None:
    with ldap_that_says(51, "") as port:
        try:
            connect(port)
        except ldap3.core.exceptions.LDAPException as error:
            raise LoadError("cannot read the staff") from error


@family.case("wrapped in words: the user may not write", raises="LoadError", tags=[FROM_TEXT])
def _(slapd: Ldap) -> None:
    try:
        connect(slapd.port).delete(f"uid=ada,{PEOPLE}")
    except ldap3.core.exceptions.LDAPException as error:
        raise LoadError(f"sync of the staff failed: {error}") from None


@dns_case("tenacity gives up: the DNS server fails", raises="RetryError")
def _(names: Dns) -> None:
    names.code = dns.rcode.SERVFAIL
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(resolve, names)


if __name__ == "__main__":
    family.run()
