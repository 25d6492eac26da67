"""A real OpenLDAP with a few people and rules."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import CANARY

from servers.broken import listener
from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["Ldap", "ldap", "ldap_that_says"]

_INSTALL = "apt-get install slapd"
_USER = "openldap"
_SETTINGS = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload ppolicy
moduleload unique
moduleload constraint
pidfile {folder}/pid
sizelimit 5
disallow bind_anon
require authc
conn_max_pending_auth 100

database mdb
suffix "dc=shop,dc=example"
rootdn "cn=admin,dc=shop,dc=example"
rootpw {secret}
directory {folder}/data
maxsize 10485760
overlay ppolicy
ppolicy_default "cn=policy,dc=shop,dc=example"
ppolicy_use_lockout
overlay unique
unique_uri ldap:///?mail?sub
overlay constraint
constraint_attribute employeeNumber regex ^[0-9]+$
access to attrs=userPassword by self write by anonymous auth by * none
access to dn.subtree="ou=people,dc=shop,dc=example" by users read by anonymous auth
access to * by anonymous auth by users disclose
"""
_PERSON = """
dn: uid={name},ou=people,dc=shop,dc=example
objectClass: inetOrgPerson
objectClass: pwdPolicy
cn: {name}
sn: {name}
mail: {name}@shop.example
pwdAttribute: userPassword
userPassword: {secret}
"""
_CONTENT = """
dn: dc=shop,dc=example
objectClass: dcObject
objectClass: organization
dc: shop
o: shop

dn: ou=people,dc=shop,dc=example
objectClass: organizationalUnit
ou: people

dn: cn=policy,dc=shop,dc=example
objectClass: device
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdLockout: TRUE
pwdMaxFailure: 3
pwdMinLength: 8
pwdCheckQuality: 1
"""
_NAMES = ("etl", "ada", "bo", "cy", "di", "ed", "fi", "locked")


@dataclass(frozen=True)
class Ldap:
    """A running server; its users and its administrator all have the canary for a password."""

    port: int
    pid: int
    version: str | None
    name: str = "OpenLDAP"


@contextlib.contextmanager
def ldap() -> Iterator[Ldap]:
    """The server that the cases of a family share."""
    program = find_program("slapd", "/usr/sbin/slapd", install=_INSTALL)
    told = subprocess.run([program, "-VV"], capture_output=True, text=True, check=False, timeout=20)
    found = re.search(r"slapd (\d[\d.]*)", told.stdout + told.stderr)
    port = free_port()
    with server_folder(_USER) as folder:
        (folder / "data").mkdir()
        settings, content = folder / "slapd.conf", folder / "content.ldif"
        settings.write_text(_SETTINGS.format(folder=folder, secret=CANARY))
        people = (_PERSON.format(name=name, secret=CANARY) for name in _NAMES)
        content.write_text(_CONTENT + "".join(people))
        _give_away(folder / "data", settings, content)
        command = [program, "-f", str(settings), "-h", f"ldap://127.0.0.1:{port}", "-d", "0"]
        with running_process(command, is_ready=accepts_connections(port), folder=folder, user=_USER) as process:
            adder = find_program("ldapadd", install="apt-get install ldap-utils")
            administrator = ["-x", "-H", f"ldap://127.0.0.1:{port}", "-D", "cn=admin,dc=shop,dc=example", "-w", CANARY]
            subprocess.run([adder, *administrator, "-f", str(content)], check=True, capture_output=True, timeout=20)
            yield Ldap(port, process.pid, found[1].rstrip(".") if found else None)


def ldap_that_says(code: int, words: str) -> contextlib.AbstractContextManager[int]:
    """
    Answers to the first bind with a code of result.

    Form: https://www.rfc-editor.org/rfc/rfc4511#section-4.2.2
    """

    def talk(accepted: socket.socket) -> None:
        asked = accepted.recv(4096)
        start = 2 + (asked[1] & 0x7F if asked[1] & 0x80 else 0)  # behind the length of the sequence
        number = asked[start : start + 2 + asked[start + 1]]
        result = _tagged(0x0A, bytes([code])) + _tagged(0x04, b"") + _tagged(0x04, words.encode())
        accepted.sendall(_tagged(0x30, number + _tagged(0x61, result)))
        accepted.recv(4096)

    return listener(talk)


def _tagged(tag: int, content: bytes) -> bytes:
    return bytes([tag, 0x82]) + len(content).to_bytes(2, "big") + content


def _give_away(*places: Path) -> None:
    if os.geteuid() == 0:
        for place in places:
            shutil.chown(place, _USER)
