"""Passwords on command lines: ``mysql -psecret``, ``curl -u user:secret``, ``echo secret | kinit``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span, spans_of

__all__ = ["find_command_passwords", "find_oracle_logins", "find_piped_passwords"]

_GAP = r"(?:[ ]{1,4}|[\"'],[ ]{0,2}(?=[\"']))"
"""Between two arguments: of a shell, or in the list that a ``CalledProcessError`` shows."""
_VALUE = r"(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<bare>[^\s\"'\-][^\s\"']*))"
_JOINED = re.compile(r"(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<bare>[^\s\"']+))")
_NEXT = re.compile(_GAP + _VALUE)
_EITHER = re.compile(rf"{_GAP}?{_VALUE}")
_BEHIND_USER = re.compile(rf"(?:{_GAP}|=)?[\"']?[^\s\"':,]{{1,100}}:(?P<secret>[^\s\"']+)")
_BEHIND_PERCENT = re.compile(rf"{_GAP}[\"']?[^\s\"'%]{{1,100}}%(?P<secret>[^\s\"']+)")

_FORMS: dict[tuple[str, str], re.Pattern[str]] = {
    (command, option): form
    for commands, options, form in (
        ("mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlsh mariadb mariadb-dump", "-p", _JOINED),
        ("sshpass 7z 7za", "-p", _EITHER),
        ("login beeline mongo mongosh mongodump mongorestore", "-p", _NEXT),
        ("redis-cli valkey-cli", "-a", _NEXT),
        ("ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd", "-w", _NEXT),
        ("sqlcmd bcp isql zip unzip", "-P", _NEXT),
        ("curl", "-u -U --user --proxy-user", _BEHIND_USER),
        ("http https xh", "-a --auth", _BEHIND_USER),
        ("smbclient smbget rpcclient", "-U --user", _BEHIND_PERCENT),
    )
    for command in commands.split()
    for option in options.split()
}
"""What follows which option of which command is its password; ``login`` is that of docker, helm, az and others, whose
``run -p`` names ports. Source: the manual page of each."""

_OPTION = re.compile(r"-(?<=[\s\"']-)(?:[pauwPU]|-(?:user|proxy-user|auth)(?=[\s=\"']))")
_COMMAND = re.compile(rf"(?<![\w.\-])(?:{'|'.join(sorted({re.escape(command) for command, _ in _FORMS}))})(?![\w.\-])")
_MAX_COMMAND_CHARS = 400
_COMMAND_ENDS = "\n|;&"

_PIPED = re.compile(
    r"\b(?:echo|printf)(?: -n)? {1,4}"
    r"(?:'(?P<single>[^'\n]{1,200})'|\"(?P<double>[^\"\n]{1,200})\"|(?P<bare>[^\s\"'|]{1,200}))"
    r" {0,4}\| {0,4}(?:sudo )?"
    r"(?:kinit|sudo|-s|su|passwd|chpasswd|[a-z]{1,10}(?: registry)? login [^\n|]{0,200}--password-stdin)\b"
)
_ORACLE = (
    r"(?:\b(?:sqlplus|sqlldr|expdp|impdp|rman)\b[^\n]{0,80}?[\s\"']|jdbc:oracle:(?:thin|oci):)"
    r"[\w$#]{1,30}/(?P<secret>[^\s\"'/@]{1,60})@"
)


def find_command_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Find the password that an option of a known command takes."""
    if _COMMAND.search(text) is None:
        return
    for option in _OPTION.finditer(text):
        start = max(0, option.start() - _MAX_COMMAND_CHARS)
        start = max(start, *(text.rfind(end, start, option.start()) for end in _COMMAND_ENDS))
        commands = _COMMAND.findall(text, start, option.start())
        form = _FORMS.get((commands[-1], option[0])) if commands else None
        value = form.match(text, option.end()) if form is not None else None
        if value is not None and value.lastgroup is not None and not is_placeholder(value[value.lastgroup]):
            yield value.span(value.lastgroup)


def find_piped_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Find what is echoed into a command that asks for a password."""
    for match in _PIPED.finditer(lowered):
        group = next(name for name in ("single", "double", "bare") if match[name] is not None)
        if not is_placeholder(text[slice(*match.span(group))]):
            yield match.span(group)


def find_oracle_logins(text: str, lowered: str) -> Iterator[Span]:
    """Find ``scott/tiger@`` where Oracle's tools take it."""
    return spans_of(_ORACLE, lowered)
