"""What a value looks like: random, a signature, a placeholder, prose."""

from __future__ import annotations

import base64
import binascii
import re
from itertools import pairwise

__all__ = [
    "is_basic_credentials",
    "is_login",
    "is_made_up",
    "is_mixed",
    "is_opaque",
    "is_placeholder",
    "is_random",
    "is_signature",
    "is_uuid",
    "reads_like_prose",
]

_PLACEHOLDER = re.compile(
    r"none|null|nil|undefined|nan|true|false|yes|no|on|off"
    r"|%[0-9.]{0,5}[a-z]|%\(\w+\)[a-z]|:[a-z_]+(?:_\d+)?|\?|\$\d+"
    r"|(?-i:\$\{?[A-Z_][A-Z0-9_]*\}?)|\$?\{\{.*\}\}|\$?\{\w*\}|<[^<>]*>"
    r"|\*+|x{3,}|\.{3}|…"
    r"|[\[(<*]{0,3}(?:redacted|masked|hidden|filtered|removed|empty|unset)[\])>*]{0,3}"
    r"|\[withheld: .*",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OPAQUE = re.compile(r"[A-Za-z0-9_\-+/=~%.]{20,2048}")
_LEAST_RANDOM_CHARS = 20
_LEAST_CHANGES = 4
_SHORT_KEY = re.compile(r"[A-Za-z0-9_\-+/]{10,2048}={0,2}")
_SHORTEST_HEX = 16
_HEX_KEY = re.compile(r"[0-9a-fA-F]{32,128}")
_PERCENT_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_LOGIN = re.compile(r"[\w.@+\-\\]{1,64}:(?!//|\d{1,5}$)(?P<password>\S{3,200})")
"""Not the port of a host, and not a URL."""
_SIGNATURE = re.compile(r"(?=[^0-9]{0,64}[0-9])[A-Za-z0-9_\-+/=%~]{16,4096}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{8,4096}={0,2}")
_PROSE = re.compile(
    r"\b(?:are|at|be|been|can|cannot|could|did|does|expected|expired|field|for|had|has|have|invalid|is|least|may|might"
    r"|missing|must|not|required|should|than|the|this|to|too|was|were|will|with|your)\b",
    re.IGNORECASE,
)
_MADE_UP = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?=.*?(?:[0-9]|[!@#$%^&*+=~].))[^\s\"'`<>(){}\[\]|\\]{6,256}")
_TECHNICAL = re.compile(
    r"[a-z_]*(?:sha|md|aes|des|des3|rsa|ed|pkcs|base|utf|int|float|real|char|double|oauth|http|ssh|ipv|argon|bcrypt|x|p|v"
    r"|mysql|pbkdf|scram|caching|varchar|uint|number|id|type|version|part|line|step|node|host|user|attempt|try|col|column"
    r"|field|row|level|rev|s|k|py|python)[_\-]?(?:sha[_\-]?)?[0-9]{1,5}[a-z_]{0,12}(?:[_\-][a-z0-9]{1,12})*"
    r"|v?[0-9]+(?:\.[0-9]+)+[\w.\-]*|[0-9][0-9.,:_\-/]*[A-Za-z%]{1,7}|[0-9]{4}-[0-9]{2}-[0-9]{2}T?[0-9:.+\-Z]*"
    r"|~?\.{0,2}/.*|[a-z][a-z0-9+.\-]*://.*|[\w./\-]+\.(?:py|json|ya?ml|txt|pem|key|csv|log|sql|sh|env|conf|cfg|ini|toml|xml)"
    r"|(?-i:[a-z0-9_.\-]+(?:/[a-z0-9_.\-]+)+)|[\w.\-]*@[\w.\-]*|[\w.]+=[^=]*|[a-z_]+(?:[_\-][a-z0-9]+)*[_\-][0-9]{1,3}"
    r"|(?-i:[0-9a-f]{7,64}|[0-9A-F]{7,64})|%\w+|\$\w+|0x[0-9a-f]+",
    re.IGNORECASE,
)
"""Algorithms, types, versions, amounts, dates, paths, files, digests and numbered things."""


def is_made_up(value: str) -> bool:
    """Whether letters are mixed with digits or signs, as in most passwords, and not as in the words of a trade."""
    value = value.rstrip(".,:;!?")
    if _MADE_UP.fullmatch(value) is None or is_placeholder(value) or is_uuid(value):
        return False
    return _TECHNICAL.fullmatch(value) is None


def is_placeholder(value: str) -> bool:
    """Whether nothing, a variable or an earlier mask stands where a secret would."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Whether it is written like a UUID."""
    return _UUID.fullmatch(value) is not None


def is_signature(value: str) -> bool:
    """Whether it may be a signature in hexadecimal or base64, not the word or the arguments of a function."""
    return _SIGNATURE.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """
    Whether capitals, small letters and digits change about as often as in a random text.

    Digests, UUIDs, paths, dates and names of things in any case do not look like that.
    """
    if _OPAQUE.fullmatch(value) is None or _UUID.fullmatch(value):
        return False
    value = _PERCENT_ESCAPE.sub("-", value)
    kinds = _kinds(value)
    return set(kinds) == {"A", "a", "0"} and _changes(kinds) >= 0.35 * len(value)


def is_opaque(value: str) -> bool:
    """
    Whether it looks like a key where one is expected: as :func:`is_random`, but shorter, or in hexadecimal.

    ``orders_2026``, ``E1234567890123456``, ``oauth2``, paths and UUIDs do not.
    """
    if is_random(value):
        return True
    if _SHORT_KEY.fullmatch(value) is None or _UUID.fullmatch(value):
        return False
    kinds = _kinds(value)
    if set(kinds) == {"A", "a", "0"}:
        return len(kinds) < _LEAST_RANDOM_CHARS and _changes(kinds) >= 0.4 * len(kinds)
    if set(kinds) not in ({"a", "0"}, {"A", "0"}) or len(kinds) < _SHORTEST_HEX:
        return False
    return _HEX_KEY.fullmatch(value) is not None or _changes(kinds) >= 0.3 * len(value)


def is_mixed(value: str) -> bool:
    """Whether capitals, small letters and digits take turns, as in ``Sup3rS3cret`` and not in ``Run2026``."""
    kinds = _kinds(value)
    return set(kinds) == {"A", "a", "0"} and _changes(kinds) >= _LEAST_CHANGES


def _kinds(value: str) -> str:
    return "".join("A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else "" for c in value)


def _changes(kinds: str) -> int:
    return sum(left != right for left, right in pairwise(kinds))


def is_login(value: str) -> bool:
    """Whether it is ``user:password``."""
    match = _LOGIN.fullmatch(value)
    return match is not None and not is_placeholder(match["password"])


def is_basic_credentials(value: str) -> bool:
    """Whether it is base64 of ``user:password``."""
    if _BASE64.fullmatch(value) is None:
        return False
    padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
    try:
        decoded = base64.b64decode(padded, altchars=b"-_" if "-" in value or "_" in value else None).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


def reads_like_prose(value: str) -> bool:
    """Whether several words say something about a secret rather than being one."""
    return " " in value and _PROSE.search(value) is not None
