"""What points at a person: e-mail addresses, card numbers, accounts, social security numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.secret_patterns.spans import Span
from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["find_card_numbers", "find_email_addresses", "find_ibans"]

_DOMAIN = re.compile(r"@(?P<domain>[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?)")
_MAX_LOCAL_CHARS = 64
_NO_DOMAIN_ENDINGS = words(
    "cluster compute corp home internal intranet lan local localdomain localhost svc "
    "csv gif git gz html jpeg jpg js json log parquet pdf png py service sh socket sql svg tgz ts txt whl xml yaml "
    "yml zip"
)
"""Names inside a network, and files and units that hold an ``@``: ``icon@2x.png``, ``getty@tty1.service``."""

_CARD_START = re.compile(r"[2-6][0-9]{3}[ \-]?[0-9]{4}")
_CARD = re.compile(
    r"(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|2\d\d|4[4-9]\d|5\d\d)|35[2-8]\d)([ \-]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ \-]?)\d{6}\2\d{5}"
    r"|3(?:0[0-5]|[68]\d)\d([ \-]?)\d{6}\3\d{4})(?![\w\-]|\.\d)"
)
"""Visa, Mastercard, Discover, UnionPay, JCB; American Express; Diners Club. Source: ISO/IEC 7812 issuer ranges."""

_IBAN = re.compile(r"[A-Z]{2}\d{2}(?= ?[A-Z0-9]{4})[A-Z0-9 ]{8,40}")
_IBAN_LENGTHS: Mapping[str, int] = {
    country: int(length)
    for length, countries in {
        "15": "NO",
        "16": "BE",
        "18": "DK FI FO GL NL",
        "19": "MK SI",
        "20": "AT BA EE KZ LT LU XK",
        "21": "CH HR LI LV",
        "22": "BG BH CR DE GB GE IE ME RS VA",
        "23": "AE GI IL IQ TL",
        "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST",
        "26": "IS TR",
        "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HU LB NI PL SV",
        "29": "BR EG PS QA UA",
        "30": "JO KW MU",
        "31": "MT SC",
        "33": "RU",
    }.items()
    for country in countries.split()
}
"""Source: SWIFT IBAN registry."""


def find_email_addresses(text: str, lowered: str) -> Iterator[Span]:
    """
    Find who is written to; the domain stays, since it is often the host that failed.

    ``git@github.com:org/repo`` and names without a public domain are accounts on a machine.
    """
    for match in _DOMAIN.finditer(text):
        domain = match["domain"]
        ending = domain.rpartition(".")[2].lower()
        if "." not in domain or not 2 <= len(ending) <= 24 or not ending.isalpha() or ending in _NO_DOMAIN_ENDINGS:
            continue
        start = _local_part(text, match.start())
        follows = text[match.end() : match.end() + 2]
        is_remote_path = len(follows) == 2 and follows[0] == ":" and (follows[1] in "/~" or follows[1].isalnum())
        if start < match.start() and not is_remote_path:
            yield start, match.start()


def _local_part(text: str, end: int) -> int:
    start, lowest = end, max(0, end - _MAX_LOCAL_CHARS)
    while start > lowest and (text[start - 1].isalnum() or text[start - 1] in "._%+-"):
        start -= 1
    while start < end and not text[start].isalnum() and text[start] != "_":
        start += 1
    return start


def find_card_numbers(text: str, lowered: str) -> Iterator[Span]:
    """Find numbers of payment cards: an issuer's range, its length and the Luhn checksum."""
    for start in _CARD_START.finditer(text):
        match = _CARD.match(text, start.start())
        before = text[max(0, start.start() - 1) : start.start()]
        if (
            match is not None
            and not before.isalnum()
            and before not in ("_", ".", "-")
            and _has_luhn_checksum(match[0])
        ):
            yield match.span()


def _has_luhn_checksum(number: str) -> bool:
    digits = [int(character) for character in number if character.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def find_ibans(text: str, lowered: str) -> Iterator[Span]:
    """Find bank accounts: a country, its length and the ISO 7064 checksum."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2], 0)
        compact, end = "", match.start()
        while len(compact) < length and end < match.end():
            compact += text[end].strip()
            end += 1
        follows = text[end : end + 1]
        is_word = not text[max(0, match.start() - 1) : match.start()].isalnum() and not follows.isalnum()
        if length and len(compact) == length and is_word and _has_iban_checksum(compact):
            yield match.start(), end


def _has_iban_checksum(account: str) -> bool:
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97 == 1
