"""The named patterns: what a secret looks like in a text about a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from airflow_common_ai.evidence.secret_patterns.cells import find_table_secrets
from airflow_common_ai.evidence.secret_patterns.commands import (
    find_command_passwords,
    find_login_commands,
    find_oracle_logins,
    find_piped_passwords,
)
from airflow_common_ai.evidence.secret_patterns.fields import (
    find_listed_settings,
    find_rejected_inputs,
    find_xml_values,
)
from airflow_common_ai.evidence.secret_patterns.key_blocks import find_private_keys, find_putty_keys
from airflow_common_ai.evidence.secret_patterns.personal_data import find_card_numbers, find_email_addresses, find_ibans
from airflow_common_ai.evidence.secret_patterns.shapes import is_basic_credentials, is_made_up, is_random
from airflow_common_ai.evidence.secret_patterns.spans import Finder, Span, compiled, places_of, spans_of
from airflow_common_ai.evidence.secret_patterns.sql import find_inserted_secrets, find_sql_passwords
from airflow_common_ai.evidence.secret_patterns.tokens import TOKENS
from airflow_common_ai.evidence.secret_patterns.urls import find_url_credentials
from airflow_common_ai.evidence.secret_patterns.values import (
    TELLING,
    find_flags,
    find_named_values,
)

__all__ = ["PATTERNS", "SecretPattern", "find_secrets", "suspect"]

_MIN_TOKEN_CHARS = 16
"""The shortest token of ``tokens.py``, prefix and all, stands in a word of at least this length."""

Clues = tuple[tuple[str, ...], ...]
"""Pieces of text in lower case. Of each group a text must hold one, or the pattern cannot match in it. The first
group is looked for in each word only, and the cheapest: one character, or what other patterns ask for as well."""


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One kind of secret."""

    name: str
    source: str
    """Where its form is documented, or why it is a secret."""
    find: Finder
    clues: Clues = ()
    screen: str | None = None
    """An expression: a text that it does not match cannot match either. For what has no clue."""
    prefixes: tuple[str, ...] = ()
    """One of these is in a long word, written like this."""
    shapes: tuple[bytes, ...] = ()
    """One of these is in the text, with ``A`` for each capital and ``0`` for each digit."""


def _lower(name: str, source: str, clues: Clues, expression: str) -> SecretPattern:
    """Return a pattern whose expression is matched against the text in lower case."""
    return SecretPattern(name, source, lambda _, lowered: spans_of(expression, lowered), clues)


def _exact(name: str, source: str, clues: Clues, expression: str, prefixes: tuple[str, ...] = ()) -> SecretPattern:
    """Return a pattern whose expression is matched against the text as it is written."""
    return SecretPattern(name, source, lambda text, _: spans_of(expression, text), clues, prefixes=prefixes)


_SCHEMES = ("bearer", "basic", "token", "negotiate", "ntlm", "password", "secret", "key")
_CREDENTIALS = re.compile(r"[ ]{1,4}(?P<secret>[a-z0-9\-._~+/]{8,4096}={0,2})")
_SHORTEST_TICKET = 24
_KEY_OWNER = re.compile(r"(?:api|access|secret|private)[ _-]?$")


def _find_schemes(text: str, lowered: str) -> Iterator[Span]:
    """Find ``Bearer …`` and ``token …`` where ``Bearer authentication`` and ``token expired`` may be meant."""
    for scheme in _SCHEMES:
        for place in places_of([f"{scheme} "], lowered):
            match = _CREDENTIALS.match(lowered, place + len(scheme))
            if match is not None and _are_credentials(scheme, text[slice(*match.span("secret"))], lowered, place):
                yield match.span("secret")


def _are_credentials(scheme: str, value: str, lowered: str, place: int) -> bool:
    if scheme == "basic":
        return is_basic_credentials(value)
    if scheme == "bearer":
        return any(map(str.isdigit, value))
    if scheme in ("negotiate", "ntlm"):
        return len(value) >= _SHORTEST_TICKET
    if scheme == "key" and _KEY_OWNER.search(lowered, max(0, place - 8), place) is None:
        return False
    return is_random(value)


_FOREIGN_PASSWORDS = (
    *("kennwort", "wachtwoord", "contraseña", "contrasena", "senha", "hasło", "heslo", "lösenord"),
    *("пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
_FOREIGN = rf"(?:{'|'.join(_FOREIGN_PASSWORDS)})[\"']?\s{{0,4}}[:=：][ \t]{{0,4}}[\"']?(?P<secret>[^\s\"',;]{{3,128}})"


def _find_foreign_passwords(text: str, lowered: str) -> Iterator[Span]:
    return (span for span in spans_of(_FOREIGN, lowered) if is_made_up(text[slice(*span)]))


_PARAMETER = r"[?&](?:amp;)?(?:key|code|auth|sid|sign|hash|ticket)=(?P<secret>[\w\-.%~/+]{16,2048}={0,2})"


def _find_random_parameters(text: str, lowered: str) -> Iterator[Span]:
    """Find parameters of a URL whose name may mean anything and whose value is random."""
    return (span for span in spans_of(_PARAMETER, lowered) if is_random(text[slice(*span)]))


_CARD_SHAPES = (b"0000000000", b"0000 0000", b"0000-0000", b"0000 000000", b"0000-000000")
_SHAPE = bytes(
    ord("A" if 65 <= code <= 90 else "0" if 48 <= code <= 57 else chr(code) if chr(code) in " -" else "x")
    for code in range(256)
)

PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern("named value", "the names in names.py", find_named_values, (TELLING,)),
    SecretPattern(
        "cell of a table",
        "what psql, mysql, csv and Markdown print",
        find_table_secrets,
        (TELLING, ("|", "\t", ",", ";")),
    ),
    SecretPattern("command line flag", "the names in names.py", find_flags, (("-",), TELLING)),
    SecretPattern("XML element", "the names in names.py", find_xml_values, (("<",), TELLING)),
    SecretPattern(
        "listed setting",
        "environments in Kubernetes, ECS and CloudFormation",
        find_listed_settings,
        (TELLING, ("value",)),
    ),
    SecretPattern(
        "rejected input", "pydantic shows it below its field", find_rejected_inputs, (TELLING, ("input_value=",))
    ),
    SecretPattern(
        "authorization scheme",
        "RFC 9110 section 11, RFC 6750, RFC 7617",
        _find_schemes,
        (("bearer", "basic", "token", "key", "negotiate", "ntlm", "pass", "secret"),),
    ),
    SecretPattern(
        "random URL parameter", "API keys and OAuth codes in queries", _find_random_parameters, (("?", "&"),)
    ),
    SecretPattern(
        "URL credentials",
        "RFC 3986 section 3.2.1, and what drivers accept beyond it",
        find_url_credentials,
        (("@", "://"),),
    ),
    SecretPattern(
        "private key", "RFC 7468, RFC 4880, openssh PROTOCOL.key", find_private_keys, (("key",), ("private key",))
    ),
    SecretPattern("PuTTY key", "PuTTY manual, appendix C", find_putty_keys, (("private-lines",),)),
    SecretPattern(
        "command line password",
        "the manual pages of the commands",
        find_command_passwords,
        screen=r"-(?<=[\s\"']-)(?:[pauwPUEb]|-(?:user|proxy-user|auth|cert|cookie))",
    ),
    SecretPattern(
        "piped password",
        "sudo -S, kinit, docker login --password-stdin",
        find_piped_passwords,
        (("|",), ("echo ", "printf ")),
    ),
    SecretPattern(
        "Oracle login",
        "SQL*Plus user's guide, JDBC thin driver",
        find_oracle_logins,
        (("@",), ("/",)),
    ),
    SecretPattern(
        "SQL password",
        "CREATE USER of MySQL, Oracle and PostgreSQL; COPY of Redshift and Snowflake",
        find_sql_passwords,
        (
            ("pass", "pw", "key", "token", "identified"),
            ("password ", "passphrase ", "passwd ", "pwd ", "identified", "_key ", "key_id ", "token "),
        ),
    ),
    _lower(
        "logon statement",
        "Teradata BTEQ, Db2 CLP, net use, lftp",
        (("logon", "using", "net", "lftp"), ("logon ", "using ", "net use", "lftp")),
        r"\.?logon\s{1,4}[\w.\-]{1,100}/[\w.\-]{1,60},(?P<bteq>[^\s;,]{3,128})"
        r"|\bconnect\s{1,4}to\s{1,4}\w{1,60}\s{1,4}user\s{1,4}[\w.\-]{1,60}\s{1,4}using\s{1,4}['\"]?(?P<db2>[^\s;'\"]{3,128})"
        r"|\bnet use [^\n]{1,200}?/user:\S{1,100}\s{1,4}(?P<net>[^\s/]{3,128})"
        r"|\blftp [^\n]{0,100}?-u\s{1,4}[^\s,]{1,60},(?P<lftp>\S{3,128})",
    ),
    SecretPattern(
        "login command",
        "RFC 959; the AUTH and HELLO commands of Redis",
        find_login_commands,
        (("pass", "auth"), ("pass ", "auth ")),
    ),
    SecretPattern(
        "password in another language",
        "how others than English speakers call it",
        _find_foreign_passwords,
        (_FOREIGN_PASSWORDS,),
    ),
    _exact(
        "password file",
        "PostgreSQL manual, the password file",
        ((":",), (":5432:", ":*:", ":543", ":643")),
        r"(?m:^)[\w.\-*]{1,200}:(?:[0-9]{4,5}|\*):(?!\d+:)[\w*\-]{1,63}:[\w*.\-@]{1,63}:(?P<secret>[^\s:]{4,200})(?=\s|\Z)",
    ),
    _exact(
        "unseal key",
        "developer.hashicorp.com, vault operator init",
        (("key",), ("unseal key", "recovery key")),
        r"(?:Unseal|Recovery) Key [0-9]{1,2}: (?P<secret>[A-Za-z0-9+/=]{12,})",
    ),
    SecretPattern("inserted secret", "statements that SQLAlchemy shows", find_inserted_secrets, (TELLING, ("insert",))),
    _lower(
        "signed request",
        "AWS Signature Version 4, Google Cloud Storage V4 signing, Alibaba OSS",
        (("cred", "key"), ("credential=", "accesskeyid=", "key-pair-id=")),
        r"(?:x-(?:amz|goog|oss|tos)-credential|(?:aws|oss)accesskeyid|key-pair-id)=(?P<secret>[^&\s\"'<>\\]{8,})",
    ),
    _exact(
        "AWS credentials",
        "a key id with its secret, as in a credentials CSV",
        (),
        r"A[KS]IA[A-Z0-9]{12,124}[^A-Za-z0-9+/]{1,20}(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        prefixes=("AKIA", "ASIA"),
    ),
    _exact(
        "storage account key",
        "64 bytes in base64: Azure storage, Cosmos DB",
        (("==",),),
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==",
    ),
    _exact(
        "Azure client secret",
        "what Microsoft Entra ID gives to applications",
        (("~",), ("q~",)),
        r"(?<![\w~.\-])[\w~.\-]{3}[0-9]Q~[\w~.\-]{25,40}",
    ),
    _exact(
        "starred out key",
        "api.openai.com shows both ends of a wrong key",
        (("***",), ("sk-",)),
        r"(?<![A-Za-z0-9])sk-[\w\-]{0,40}\*{3,}[\w\-]{0,16}",
    ),
    _exact(
        "Telegram bot token",
        "core.telegram.org/bots/api",
        ((":aa",),),
        r"(?<![0-9])[0-9]{8,10}:AA[\w\-]{30,}",
    ),
    _exact(
        "Terraform token",
        "developer.hashicorp.com, API tokens",
        ((".atlasv1.",),),
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w\-]{20,}",
    ),
    _exact(
        "Mailchimp key",
        "mailchimp.com/developer, API keys",
        (("-us",),),
        r"(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}\b",
    ),
    _lower(
        "OpenWeather key", "openweathermap.org/appid", (("?", "&"), ("appid=",)), r"[?&]appid=(?P<secret>[0-9a-f]{32})"
    ),
    _lower(
        "cookie", "http.cookiejar.Cookie.__repr__", (("<",), ("cookie",)), r"<cookie [^=\s]{1,200}=(?P<secret>[^\s>]+)"
    ),
    _lower(
        "login pair",
        "requests and httpx: auth=(user, password)",
        (("auth", "login("), ("auth=(", "auth(", "login(")),
        r"(?:auth=|auth|login)\(['\"][^'\"\n]{0,100}['\"], ?['\"](?P<secret>[^'\"\n]+)['\"]",
    ),
    _lower(
        "netrc",
        "ftp(1), the .netrc file",
        (("pass",), ("login ",)),
        r"\b(?:machine\s{1,8}\S{1,200}|default)\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<secret>\S+)",
    ),
    _exact(
        "SMTP login",
        "RFC 4954, RFC 4616",
        (
            ("auth", "ugfzc3dvcmq6"),
            ("auth plain", "auth login", "auth xoauth2", "auth cram-md5", "334 ugfzc3dvcmq6"),
        ),
        r"(?:AUTH (?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5) "
        r"|334 UGFzc3dvcmQ6[^A-Za-z0-9+/=]{1,8}(?:\w{1,10}[^A-Za-z0-9+/=]{1,8})?)"
        r"(?P<secret>(?!(?:PLAIN|LOGIN|XOAUTH2|CRAM|NTLM|GSSAPI|DIGEST|OAUTHBEARER)\b)[A-Za-z0-9+/]{4,}={0,2})",
    ),
    _exact(
        "password hash",
        "crypt(5), PostgreSQL's pg_authid, Werkzeug and Django",
        (("$",),),
        r"\$(?:2[abxy]|5|6|y|1|apr1|argon2i?d?)\$[./A-Za-z0-9$=,+]{20,}|SCRAM-SHA-256\$[0-9]{1,8}:[A-Za-z0-9+/=$:]{20,}"
        r"|pbkdf2[:_]sha(?:1|256|512)[$:][A-Za-z0-9+/=$:.]{20,}",
    ),
    _lower(
        "password taken for a port",
        "urllib.parse, http.client, urllib3 and httpx split an unquoted password at its colon",
        (("port", "integer"), ("integer value as", "nonnumeric port", "invalid port", "host or port")),
        r"(?:port could not be cast to integer value as|nonnumeric port:|invalid port:?) ?['\"]"
        r"(?!none['\"]|[${<])(?P<secret>[^'\"\n]+)|'[^':\s]{0,100}:(?P<port>[^'\n]+)' is not a valid host or port",
    ),
    _lower(
        "social security number",
        "only beside its name: the digits alone may be anything",
        (("ssn", "social"), ("ssn", "social security")),
        r"(?:ssn|social security)[^\n0-9]{0,40}(?P<secret>[0-9]{3}-?[0-9]{2}-?[0-9]{4})\b",
    ),
    SecretPattern("e-mail address", "RFC 5322 section 3.4.1", find_email_addresses, (("@",),)),
    SecretPattern("card number", "ISO/IEC 7812", find_card_numbers, shapes=_CARD_SHAPES),
    SecretPattern("IBAN", "ISO 13616", find_ibans, shapes=(b"AA00",)),
    *(SecretPattern(token.name, token.source, token.find, prefixes=token.prefixes) for token in TOKENS),
)

_FIRST_CLUES = tuple({clue for pattern in PATTERNS for group in pattern.clues[:1] for clue in group})


@cache
def _any_prefix() -> re.Pattern[str]:
    """Return what finds any token's prefix at the start of a word: one pass tells that a text has none, as most."""
    prefixes = sorted({prefix for pattern in PATTERNS for prefix in pattern.prefixes})
    groups = groupby(prefixes, key=lambda prefix: prefix[0])  # a long alternation without is slow
    alternatives = (
        f"{re.escape(first)}(?:{'|'.join(re.escape(prefix[1:]) for prefix in group)})" for first, group in groups
    )
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(alternatives)})")


def suspect(text: str) -> tuple[SecretPattern, ...]:
    """Return the patterns that are worth trying on ``text`` or on a part of it: one look spares most of them."""
    lowered = _lower_in_place(text)
    words = set(text.split())  # many come again and again
    long_words = " ".join([word for word in words if len(word) >= _MIN_TOKEN_CHARS])
    has_token = _any_prefix().search(long_words) is not None
    lowered_words = _lower_in_place(" ".join(words))
    clues = {clue for clue in _FIRST_CLUES if clue in lowered_words}
    shape = _shape_of(text)
    return tuple(
        pattern
        for pattern in PATTERNS
        if (not pattern.prefixes or (has_token and any(prefix in long_words for prefix in pattern.prefixes)))
        and (not pattern.clues or not clues.isdisjoint(pattern.clues[0]))
        and (not pattern.shapes or any(part in shape for part in pattern.shapes))
        and (pattern.screen is None or compiled(pattern.screen).search(text) is not None)
        and all(any(clue in lowered for clue in group) for group in pattern.clues[1:])
    )


def find_secrets(text: str, patterns: Sequence[SecretPattern]) -> list[Span]:
    """Return where ``patterns`` find secrets in ``text``."""
    lowered = _lower_in_place(text)
    spans: list[Span] = []
    shape: bytes | None = None
    for pattern in patterns:
        if pattern.screen is not None and compiled(pattern.screen).search(text) is None:
            continue
        if pattern.shapes:
            shape = _shape_of(text) if shape is None else shape
            if not any(part in shape for part in pattern.shapes):
                continue
        spans += pattern.find(text, lowered)
    return spans


def _shape_of(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_SHAPE)


def _lower_in_place(text: str) -> str:
    """Return ``text`` in lower case with each character where it was: the only one that becomes two is ``İ``."""
    return text.replace("İ", "I").lower()
