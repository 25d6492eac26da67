"""Which names announce a secret: ``DB_PASSWORD``, ``x-api-key``, ``clientSecret``, but not ``password_resets``."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache

from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["Name", "kind_of_name"]


class Name(Enum):
    """What a name says about the value behind it."""

    HARMLESS = auto()
    SECRET = auto()
    """Whatever stands behind it is secret."""
    TOKEN = auto()
    """As :attr:`SECRET`, but readers of grammars and models count and name tokens too."""
    SIGNATURE = auto()
    """Secret if it looks like one: functions have signatures as well."""
    SESSION = auto()
    """Secret unless it is a plain number, as Livy and PostgreSQL number theirs."""
    IDENTIFIER = auto()
    """``secret_id``: secret as a UUID (Vault's AppRole), else the name of a secret (AWS Secrets Manager)."""
    LOGIN = auto()
    """``basic_auth``: secret if the value is ``user:password``."""
    PERHAPS = auto()
    """Secret if the value is long and random, or a login with a made-up password: ``key``, ``auth``."""
    AUTHORIZATION = auto()
    """A header whose value is a scheme and its credentials."""
    COOKIE = auto()


_MAX_NAME_CHARS = 160

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORDS = (
    *("password", "passwd", "passwort", "passphrase", "passcode", "pwd"),
    *(
        f"{owner}pass"
        for owner in (
            *(
                "user",
                "db",
                "database",
                "store",
                "key",
                "trust",
                "my",
                "root",
                "admin",
                "require",
                "master",
                "login",
                "pg",
            ),
            *(
                "sql",
                "mysql",
                "ora",
                "redis",
                "smtp",
                "mail",
                "ftp",
                "ldap",
                "bind",
                "sasl",
                "proxy",
                "http",
                "ssh",
                "sudo",
            ),
            *("auth", "app", "svc", "service", "srv", "kafka", "cert", "ca", "enc", "host", "wifi", "vnc"),
        )
    ),
    *(f"{owner}pw" for owner in ("bind", "root", "db", "user", "my", "admin", "ldap", "sql")),
)
_ENDINGS: dict[str, Name] = {
    **dict.fromkeys(_PASSWORDS, Name.SECRET),
    "secret": Name.SECRET,
    "token": Name.TOKEN,
    "cookie": Name.COOKIE,
    "sessionid": Name.SESSION,
    "sessid": Name.SESSION,
    "userinfo": Name.LOGIN,
    "authorization": Name.AUTHORIZATION,
    **{
        f"{owner}key": Name.SECRET
        for owner in ("api", "access", "account", "secret", "private", "shared", "auth", "signing", "encryption")
    },
}
"""Endings of one part of a name, since ``PGPASSWORD`` and ``authtoken`` are written in one."""

_EXACT: dict[str, Name] = {
    "pass": Name.SECRET,
    "passe": Name.SECRET,  # mot de passe
    "pw": Name.SECRET,
    "otp": Name.SECRET,
    "jwt": Name.TOKEN,
    "signature": Name.SIGNATURE,
    "sig": Name.SIGNATURE,
}
"""Parts that must stand alone: ``compass`` is no ``pass``."""

_PAIRS: dict[tuple[str, str], Name] = {
    **{
        (owner, "key"): Name.SECRET
        for owner in (
            *("api", "access", "account", "secret", "private", "shared", "auth", "signing", "encryption", "storage"),
            *("fernet", "subscription", "client", "app", "application", "service", "consumer", "integration", "master"),
            *("functions", "function", "deploy", "ssh", "rsa", "hmac", "license", "token", "password", "webhook"),
            *("instrumentation", "ingestion"),
        )
    },
    ("session", "id"): Name.SESSION,
    ("connect", "sid"): Name.SESSION,
    ("secret", "id"): Name.IDENTIFIER,
    ("webhook", "url"): Name.SECRET,
    ("basic", "auth"): Name.LOGIN,
    ("http", "auth"): Name.LOGIN,
    ("user", "info"): Name.LOGIN,  # Kafka's schema registry: basic.auth.user.info
    ("rediscli", "auth"): Name.SECRET,
    ("key", "data"): Name.SECRET,  # kubeconfig: client-key-data
    ("certificate", "data"): Name.SECRET,  # kubeconfig: client-certificate-data
    ("authority", "data"): Name.SECRET,  # kubeconfig: certificate-authority-data
    ("security", "code"): Name.TOKEN,
}

_LONE: frozenset[str] = frozenset({"key", "auth", "credential", "cred", "session", "sid", "bearer", "license"})
"""Last parts that may name anything: a sort key, an auth method. The value decides."""

_NOT_THE_SECRET_ITSELF = words(
    "age alg algorithm arn at attempt attempts auth authenticate authentication backend bits bucket budget bytes "
    "cache changed check checked class col column columns count counter counts created date days denied dir "
    "directory disabled enabled encoder encoding endpoint endpoints error errors exception exchange exists "
    "expiration expire expired expires expiring expiry factory failed failure field fields file filename files "
    "format found handler has helper hint history host id ids index info invalid is issuer kind kms label labels "
    "len length lifetime limit limits location manager max method methods min minutes mismatch missing mode "
    "module ms name names not num number offset path paths per plugin policies policy port pos position prefix "
    "provider providers rate ref reference refs refused rejected remaining required reset resets revoked rotated "
    "rotation rule rules schema scope scopes sec seconds server service size source stage stages state status "
    "storage store strength suffix table tables time timeout ttl type types updated uri url urls usage used valid "
    "validation validator version versions was zero"
)
"""Parts after the telling one that turn it into something about the secret: ``token_url``, ``password_resets``."""

_OTHER_TOKENS = words(
    "bad bos cached cls completion continuation continue cursor eos expired illegal input invalid limit malformed "
    "mask max min missing n next no not num of output pad page pagination per prompt public pull ratelimit "
    "reasoning remaining reset sep special stop sync total unexpected unk unknown unrecognized used wrong"
)
"""Parts right before the telling one: these tokens mark a page or are counted, or the name is that of an error or of
a Kubernetes object."""


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> Name:
    """
    Return what ``name`` says about the value behind it.

    :param name: as it was written: ``camelCase`` is told from ``lowercase``.
    """
    if len(name) > _MAX_NAME_CHARS:
        return Name.HARMLESS
    parts = [part.lower() for part in _PARTS.findall(name)]
    for index in range(len(parts) - 1, -1, -1):
        kind, width = _kind_at(parts, index)
        if kind is Name.HARMLESS:
            continue
        if _OTHER_TOKENS.intersection(parts[max(0, index - 1) : index]):
            return Name.HARMLESS
        if _NOT_THE_SECRET_ITSELF.intersection(parts[index + width :]):
            return Name.HARMLESS
        if kind is Name.TOKEN and name.lower().startswith("x-"):
            return Name.SECRET
        is_header = kind in (Name.AUTHORIZATION, Name.COOKIE)
        return Name.HARMLESS if is_header and parts[index + width :] else kind
    return Name.PERHAPS if parts and _singular(parts[-1]) in _LONE else Name.HARMLESS


def _kind_at(parts: list[str], index: int) -> tuple[Name, int]:
    """Return the kind of the part, or the pair of parts, at ``index`` and how many parts that are."""
    first = _singular(parts[index])
    if index + 1 < len(parts):
        pair = _PAIRS.get((first, _singular(parts[index + 1])))
        if pair is not None:
            # An id of a key is no key, but a cloud's access key id is half of a credential.
            return pair, 3 if parts[index:] == ["access", "key", "id"] else 2
    if first in _EXACT:
        return _EXACT[first], 1
    for ending, kind in _ENDINGS.items():
        if first.endswith(ending):
            return kind, 1
    return Name.HARMLESS, 0


def _singular(part: str) -> str:
    return part[:-1] if part.endswith("s") and not part.endswith("ss") else part
