"""The named patterns: what a secret looks like in a text about a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

from airflow_common_ai.evidence.secret_patterns.cells import find_table_secrets
from airflow_common_ai.evidence.secret_patterns.commands import (
    OPTION,
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
from airflow_common_ai.evidence.secret_patterns.key_blocks import find_json_keys, find_private_keys, find_putty_keys
from airflow_common_ai.evidence.secret_patterns.login_pairs import find_login_pairs
from airflow_common_ai.evidence.secret_patterns.parameters import (
    SIGNS_OF_PARAMETERS,
    find_random_parameters,
    find_webhook_paths,
)
from airflow_common_ai.evidence.secret_patterns.pattern import SecretPattern, exact_pattern, lower_pattern
from airflow_common_ai.evidence.secret_patterns.personal_data import find_card_numbers, find_email_addresses, find_ibans
from airflow_common_ai.evidence.secret_patterns.schemes import find_schemes
from airflow_common_ai.evidence.secret_patterns.shapes import is_made_up
from airflow_common_ai.evidence.secret_patterns.spans import Span, spans_of
from airflow_common_ai.evidence.secret_patterns.sql import find_bound_secrets, find_inserted_secrets, find_sql_passwords
from airflow_common_ai.evidence.secret_patterns.tokens import TOKENS
from airflow_common_ai.evidence.secret_patterns.urls import find_url_credentials
from airflow_common_ai.evidence.secret_patterns.values import TELLING, find_flags, find_named_values
from airflow_common_ai.evidence.secret_patterns.vault import find_stored_secrets

__all__ = ["PATTERNS", "SecretPattern", "find_secrets", "suspect"]

_MIN_TOKEN_CHARS = 16
"""The shortest token of ``tokens.py``, prefix and all, stands in a word of at least this length."""

_FOREIGN_PASSWORDS = (
    *("kennwort", "wachtwoord", "contraseña", "contrasena", "senha", "hasło", "heslo", "lösenord"),
    *("пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
_FOREIGN = rf"(?:{'|'.join(_FOREIGN_PASSWORDS)})[\"']?\s{{0,4}}[:=：][ \t]{{0,4}}[\"']?(?P<secret>[^\s\"',;]{{3,128}})"


def _find_foreign_passwords(text: str, lowered: str) -> Iterator[Span]:
    return (span for span in spans_of(_FOREIGN, lowered) if is_made_up(text[slice(*span)]))


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
        (TELLING, ("value", "default")),
    ),
    SecretPattern(
        "rejected input", "pydantic shows it below its field", find_rejected_inputs, (TELLING, ("input_value=",))
    ),
    SecretPattern(
        "authorization scheme",
        "RFC 9110 section 11, RFC 6750, RFC 7617",
        find_schemes,
        (("bearer", "basic", "token", "key", "negotiate", "ntlm", "pass", "secret"),),
    ),
    SecretPattern(
        "random URL parameter",
        "API keys and OAuth codes in queries",
        find_random_parameters,
        (SIGNS_OF_PARAMETERS, ("?", "&", "'", '"')),
    ),
    lower_pattern(
        "OAuth redirect",
        "RFC 6749 section 4.1.2: beside a state a code is a secret, however it looks",
        (("code=",), ("state=",)),
        r"(?<![\w\-])code=(?P<first>(?!\d{1,5}&)[\w\-.%~/+]{3,2048})(?:&(?:amp;)?\w{1,40}=[^&\s]{0,400}){0,3}&(?:amp;)?"
        r"(?:session_)?state="
        r"|(?<![\w\-])(?:session_)?state=[^&\s]{0,400}(?:&(?:amp;)?\w{1,40}=[^&\s]{0,400}){0,3}&(?:amp;)?"
        r"code=(?P<second>(?!\d{1,5}(?![\w\-.%]))[\w\-.%~/+]{3,2048})",
    ),
    lower_pattern(
        "PKCE verifier",
        "RFC 7636 section 4.1",
        (("code_verifier",),),
        r"code_verifier[\"']?[ ]?[=:][ ]?[\"']?(?P<secret>[\w\-.~]{43,128})",
    ),
    SecretPattern(
        "webhook path", "whoever knows the address may post", find_webhook_paths, (("hook", "with/key"), ("/",))
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
    SecretPattern("JSON web key", "RFC 7518 section 6", find_json_keys, (("kty",),)),
    SecretPattern(
        "stored secret",
        "developer.hashicorp.com, Vault's KV engine; Azure Key Vault; Kubernetes",
        find_stored_secrets,
        (("vault", "hvac", "lease_id", "kind"), ("data", "value", "vault")),
    ),
    SecretPattern("PuTTY key", "PuTTY manual, appendix C", find_putty_keys, (("private-lines",),)),
    SecretPattern(
        "command line password",
        "the manual pages of the commands",
        find_command_passwords,
        screen=OPTION,
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
            ("pass", "pw", "key", "token", "secret", "identified"),
            ("'", '"', "identified"),
        ),
    ),
    lower_pattern(
        "logon statement",
        "Teradata BTEQ, Db2 CLP, net use, lftp, SQL*Plus, Poetry, Composer",
        (
            ("logon", "using", "net", "lftp", "sqlplus", "sqlldr", "expdp", "impdp", "userid", "http-basic"),
            ("logon ", "using ", "net use", "lftp", "sqlplus", "sqlldr", "expdp", "impdp", "userid=", "http-basic"),
        ),
        r"\.?logon\s{1,4}[\w.\-]{1,100}/[\w.\-]{1,60},(?P<bteq>[^\s;,]{3,128})"
        r"|\bconnect\s{1,4}to\s{1,4}\w{1,60}\s{1,4}user\s{1,4}[\w.\-]{1,60}\s{1,4}using\s{1,4}['\"]?(?P<db2>[^\s;'\"]{3,128})"
        r"|\bnet use [^\n]{1,200}?/user:\S{1,100}\s{1,4}(?P<net>[^\s/]{3,128})"
        r"|\blftp [^\n]{0,100}?-u\s{1,4}[^\s,]{1,60},(?P<lftp>\S{3,128})"
        r"|(?:\b(?:sqlplus|sqlldr|expdp|impdp)(?:['\"]?,?[ ]{1,4}['\"]?-\w{1,12}){0,5}['\"]?,?[ ]{1,4}|\buserid=)"
        r"['\"]?[\w$#]{1,30}/(?P<oracle>[^\s\"'/@.]{3,60})(?=[\s\"';]|$)"
        r"|\bhttp-basic\.[\w.\-]{1,100}\s{1,4}\S{1,100}\s{1,4}(?P<packages>\S{3,128})",
    ),
    SecretPattern(
        "login command",
        "RFC 959; RFC 3501; the AUTH and HELLO commands of Redis",
        find_login_commands,
        (("pass", "auth", "login"), ("pass ", "auth ", " login ")),
    ),
    SecretPattern(
        "password in another language",
        "how others than English speakers call it",
        _find_foreign_passwords,
        (_FOREIGN_PASSWORDS,),
    ),
    exact_pattern(
        "password file",
        "PostgreSQL manual, the password file",
        ((":",), (":5432:", ":*:", ":543", ":643")),
        r"(?m:^)[\w.\-*]{1,200}:(?:[0-9]{4,5}|\*):(?!\d+:)[\w*\-]{1,63}:[\w*.\-@]{1,63}:(?P<secret>[^\s:]{4,200})(?=\s|\Z)",
    ),
    exact_pattern(
        "unseal key",
        "developer.hashicorp.com, vault operator init",
        (("key",), ("unseal key", "recovery key")),
        r"(?:Unseal|Recovery) Key [0-9]{1,2}: (?P<secret>[A-Za-z0-9+/=]{12,})",
    ),
    lower_pattern(
        "key of an encryption",
        "the functions of MySQL, Snowflake and PostgreSQL's pgcrypto",
        (("crypt",), ("'", '"')),
        r"crypt(?:_bytea|_raw)?\(\s{0,8}(?:'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"|[^'\"(),\n]{1,200}"
        r"(?:\([^()\n]{0,200}\)){0,2}),\s{0,8}(?:'(?P<single>[^'\n]{3,200})'|\"(?P<double>[^\"\n]{3,200})\")",
    ),
    SecretPattern("inserted secret", "statements that SQLAlchemy shows", find_inserted_secrets, (TELLING, ("insert",))),
    SecretPattern(
        "bound parameter", "statements that SQLAlchemy shows", find_bound_secrets, (TELLING, ("[parameters:",))
    ),
    lower_pattern(
        "signed request",
        "AWS Signature Version 4, Google Cloud Storage V4 signing, Alibaba OSS",
        (("cred", "key"), ("credential=", "accesskeyid=", "key-pair-id=")),
        r"(?:x-(?:amz|goog|oss|tos)-credential|(?:aws|oss)accesskeyid|key-pair-id)=(?P<secret>[^&\s\"'<>\\]{8,})",
    ),
    exact_pattern(
        "AWS credentials",
        "a key id with its secret, as in a credentials CSV",
        (("akia", "asia"),),
        r"A[KS]IA[A-Z0-9]{12,124}[^A-Za-z0-9+/]{1,20}(?:[A-Za-z_\-]{1,30}[^A-Za-z0-9+/]{1,8}){0,2}"
        r"(?P<secret>(?![0-9a-f]{40})[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
    ),
    exact_pattern(
        "storage account key",
        "64 bytes in base64: Azure storage, Cosmos DB",
        (("==",),),
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==",
    ),
    exact_pattern(
        "Azure client secret",
        "what Microsoft Entra ID gives to applications",
        (("~",), ("q~",)),
        r"(?<![\w~.\-])[\w~.\-]{3}[0-9]Q~[\w~.\-]{25,40}",
    ),
    exact_pattern(
        "starred out key",
        "api.openai.com shows both ends of a wrong key",
        (("***",), ("sk-",)),
        r"(?<![A-Za-z0-9])sk-[\w\-]{0,40}\*{3,}[\w\-]{0,16}",
    ),
    exact_pattern(
        "Telegram bot token",
        "core.telegram.org/bots/api",
        ((":aa",),),
        r"(?<![0-9])[0-9]{8,10}:AA[\w\-]{30,}",
    ),
    exact_pattern(
        "Terraform token",
        "developer.hashicorp.com, API tokens",
        ((".atlasv1.",),),
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w\-]{20,}",
    ),
    exact_pattern(
        "Mailchimp key",
        "mailchimp.com/developer, API keys",
        (("-us",),),
        r"(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}\b",
    ),
    lower_pattern(
        "cookie", "http.cookiejar.Cookie.__repr__", (("<",), ("cookie",)), r"<cookie [^=\s]{1,200}=(?P<secret>[^\s>]+)"
    ),
    SecretPattern(
        "login pair",
        "requests and httpx: auth=(user, password); python-ldap; what people write",
        find_login_pairs,
        (
            ("auth", "login", "logon", "logging", "cred", "account", "bind", "/pass"),
            ("('", '("', "(b'", '(b"', ":", "/"),
        ),
    ),
    lower_pattern(
        "netrc",
        "ftp(1), the .netrc file",
        (("pass",), ("login ",)),
        r"\b(?:machine\s{1,8}\S{1,200}|default)\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<secret>\S+)",
    ),
    exact_pattern(
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
    exact_pattern(
        "password hash",
        "crypt(5), PostgreSQL's pg_authid, Werkzeug and Django",
        (("$",),),
        r"\$(?:2[abxy]|5|6|y|1|apr1|argon2i?d?)\$[./A-Za-z0-9$=,+]{20,}|SCRAM-SHA-256\$[0-9]{1,8}:[A-Za-z0-9+/=$:]{20,}"
        r"|pbkdf2[:_]sha(?:1|256|512)[$:][A-Za-z0-9+/=$:.]{20,}",
    ),
    lower_pattern(
        "password taken for a port",
        "urllib.parse, http.client, urllib3, httpx and libpq split an unquoted password at its colon or space",
        (
            ("port", "integer", "missing"),
            (
                'missing "=" after',
                "invalid integer value",
                "integer value as",
                "nonnumeric port",
                "invalid port",
                "host or port",
            ),
        ),
        r"(?:port could not be cast to integer value as|nonnumeric port:|invalid port:?) ?['\"]"
        r"(?!none['\"]|[${<])(?P<secret>[^'\"\n]+)|'[^':\s]{0,100}:(?P<port>[^'\n]+)' is not a valid host or port"
        r"|missing \"=\" after \"(?P<option>(?=[^\"\n]{0,100}[0-9!@#$%^&*])[^\"\n/:]{1,200})\" in connection info"
        r"|invalid integer value \"(?P<number>[^\"\n]{1,200})\" for connection option \"port\"",
    ),
    lower_pattern(
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

_BY_CLUE: dict[str, frozenset[SecretPattern]] = {
    clue: frozenset(pattern for pattern in PATTERNS if pattern.clues and clue in pattern.clues[0])
    for clue in sorted({clue for pattern in PATTERNS for group in pattern.clues[:1] for clue in group})
}
"""By each clue of their first groups."""
_WITHOUT_CLUES = frozenset(pattern for pattern in PATTERNS if not pattern.clues and not pattern.prefixes)
_MANY_CHARS = 4096
"""In so long a text the same words come again and again."""


@cache
def _prefixes() -> tuple[re.Pattern[str], dict[str, frozenset[SecretPattern]]]:
    """
    Return what finds the prefixes of tokens at the start of words, and which patterns each of them stands for.

    It finds the shortest of those that begin alike, which stands for them all.
    """
    known = sorted({prefix for pattern in PATTERNS for prefix in pattern.prefixes})
    shortest = [prefix for prefix in known if not any(prefix != other and prefix.startswith(other) for other in known)]
    groups = groupby(shortest, key=lambda prefix: prefix[0])  # a long alternation without is slow
    alternatives = (
        f"{re.escape(first)}(?:{'|'.join(re.escape(prefix[1:]) for prefix in group)})" for first, group in groups
    )
    return re.compile(rf"(?<![A-Za-z0-9])(?=({'|'.join(alternatives)}))"), {
        prefix: frozenset(pattern for pattern in PATTERNS if any(p.startswith(prefix) for p in pattern.prefixes))
        for prefix in shortest
    }


def suspect(text: str) -> tuple[SecretPattern, ...]:
    """Return the patterns that are worth trying on ``text`` or on a part of it: one look spares most of them."""
    lowered = lowered_words = _lower_in_place(text)
    words: Iterable[str] = text.split()
    if len(text) > _MANY_CHARS:
        words = set(words)
        lowered_words = _lower_in_place(" ".join(words))
    candidates = set(_WITHOUT_CLUES)
    for clue, patterns in _BY_CLUE.items():
        if clue in lowered_words:
            candidates |= patterns
    any_prefix, by_prefix = _prefixes()
    for prefix in set(any_prefix.findall(" ".join([word for word in words if len(word) >= _MIN_TOKEN_CHARS]))):
        candidates |= by_prefix[prefix]
    shape = _shape_of(text)
    return tuple([pattern for pattern in candidates if pattern.may_match(text, lowered, shape)])


def find_secrets(text: str, patterns: Sequence[SecretPattern]) -> list[Span]:
    """Return where ``patterns`` find secrets in ``text``."""
    lowered = _lower_in_place(text)
    spans: list[Span] = []
    shape = _shape_of(text) if any(pattern.shapes for pattern in patterns) else b""
    for pattern in patterns:
        if pattern.may_match(text, lowered, shape):
            spans += pattern.find(text, lowered)
    return spans


def _shape_of(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_SHAPE)


def _lower_in_place(text: str) -> str:
    """Return ``text`` in lower case with each character where it was: the only one that becomes two is ``İ``."""
    return text.replace("İ", "I").lower()
