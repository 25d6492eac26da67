"""Passwords on command lines and in commands to servers: ``mysql -psecret``, ``echo secret | kinit``, ``AUTH x``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_made_up, is_mixed, is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span, places_of

__all__ = ["OPTION", "find_command_passwords", "find_login_commands", "find_oracle_logins", "find_piped_passwords"]

_GAP = r"(?:[ ]{1,4}|[\"'],[ ]{0,2}(?=[\"']))"
"""Between two arguments: of a shell, or in the list that a ``CalledProcessError`` shows."""
_VALUE = r"(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<bare>[^\s\"'\-][^\s\"']*))"
_JOINED = re.compile(r"(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<bare>[^\s\"']+))")
_NEXT = re.compile(_GAP + _VALUE)
_EITHER = re.compile(rf"{_GAP}?{_VALUE}")
_BEHIND_USER = re.compile(
    rf"(?:{_GAP}|=)?(?:'[^\s':,]{{1,100}}:(?P<single>[^'\n]+)'|\"[^\s\":,]{{1,100}}:(?P<double>[^\"\n]+)\""
    rf"|[\"']?[^\s\"':,]{{1,100}}:(?P<bare>[^\s\"']+))"
)
_COOKIES = re.compile(rf"{_GAP}[\"']?(?P<secret>[\w\-.]{{1,60}}=[^\s\"']+)")
_BEHIND_PERCENT = re.compile(rf"{_GAP}[\"']?[^\s\"'%]{{1,100}}%(?P<secret>[^\s\"']+)")

_FORMS: dict[tuple[str, str], re.Pattern[str]] = {
    (command, option): form
    for commands, options, form in (
        (
            "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlslap mysqlbinlog mysqlpump mysqlsh"
            " mariadb mariadb-dump mariadb-admin mariabackup xtrabackup",
            "-p",
            _JOINED,
        ),
        ("sshpass 7z 7za 7zz rar unrar", "-p", _EITHER),
        ("login beeline sqlline mongo mongosh mongodump mongorestore mongoexport mongoimport", "-p", _NEXT),
        ("cqlsh cypher-shell hdbsql exaplus rabbitmqadmin couchbase-cli cbq cbbackupmgr conan", "-p", _NEXT),
        ("redis-cli valkey-cli", "-a", _NEXT),
        ("ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd vsql", "-w", _NEXT),
        ("sqlcmd bcp isql tsql osql zip unzip ipmitool mosquitto_pub mosquitto_sub", "-P", _NEXT),
        ("twine", "-p", _NEXT),
        ("openssl", "-k", _NEXT),
        ("curl", "-u -U --user --proxy-user -E --cert", _BEHIND_USER),
        ("curl", "-b --cookie", _COOKIES),
        ("http https xh", "-a --auth", _BEHIND_USER),
        ("smbclient smbget rpcclient", "-U --user", _BEHIND_PERCENT),
    )
    for command in commands.split()
    for option in options.split()
}
"""What follows which option of which command is its password; ``login`` is that of docker, helm, az and others, whose
``run -p`` names ports. Source: the manual page of each."""

OPTION = r"-(?<=[\s\"']-)(?:[pauwPUEbk]|-(?:user|proxy-user|auth|cert|cookie)(?=[\s=\"']))"
_OPTION = re.compile(OPTION)
_COMMAND = re.compile(rf"(?<![\w.\-])(?:{'|'.join(sorted({re.escape(command) for command, _ in _FORMS}))})(?![\w.\-])")
_BEHIND_USER_OPTION = re.compile(
    rf"-(?<=[\s\"']-)(?:[unU]|-?user(?:name)?)(?:{_GAP}|=)[\"']?[^\s\"'\-][^\s\"']{{0,100}}"
    rf"(?:[\"'],)?[\"']?[ ]{{1,4}}[\"']?-p{_NEXT.pattern}"
)
"""``tool -u bob -p secret``: whatever the tool, what follows a user is no port."""
_LONE = re.compile(
    rf"-(?<=[\s\"']-)p(?:{_GAP})?(?P<quote>[\"']?)"
    r"(?P<secret>[^\s\"'./:\\_\-,=${}%<>()\[\]~+@*?|;]{8,64})(?P=quote)(?=[\s\"',\])]|$)"
)
"""``tool -p secret``, if it looks like nothing else: paths, ports, files, names of pods and ``name=value`` have signs
that a password here must not have."""
_SIGN = re.compile(r"[!#&]")
_PORTS = re.compile(r"[0-9.:\-]+(?:/(?:tcp|udp))?")
_MAX_COMMAND_CHARS = 400
_COMMAND_ENDS = "\n|;&"

_PIPED = re.compile(
    r"\b(?:echo|printf)(?: -n)? {1,4}"
    r"(?:'(?P<single>[^'\n]{1,200})'|\"(?P<double>[^\"\n]{1,200})\"|(?P<bare>[^\s\"'|]{1,200}))"
    r" {0,4}\| {0,4}(?:sudo )?"
    r"(?:kinit|sudo|-s|su|passwd|chpasswd|[a-z]{1,10}(?: registry)? login [^\n|]{0,200}--password-stdin)\b"
)
_ORACLE = re.compile(
    r"(?:(?<![\w.@:/\-])|(?<=thin:)|(?<=oci:))(?P<user>[\w$#]{1,30})/(?P<secret>(?![\d.]+@)[^\s\"'/@:,;]{4,60})@"
    r"(?P<host>//)?(?P<address>[\w\-]{1,63}(?:\.[\w\-]{1,63}){0,8})(?P<port>:[0-9]{2,5}\b)?(?=$|[\s:/\"',;)\]])"
)
_ORACLE_TOOL = re.compile(
    r"\b(?:sqlplus|sqlldr|expdp|impdp|rman|oracle|ora-\d|cx_oracle|oracledb|connect|connecting|conn|logon|dsn)\b|jdbc:oracle:"
)
_PUBLIC_NAME = re.compile(r"(?:[\w\-]+\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}")
_NEAR = 100


_FTP_PASSWORD = re.compile(r"PASS (?P<secret>[^\s'\"]{3,128})")
_FTP_USER = re.compile(r"\bUSER \S{1,100}\s{1,8}(?:[^\n]{0,20}[>'\" ])?$")
_IMAP_PASSWORD = re.compile(r"LOGIN (?:\"[^\"\n]{1,100}\"|[^\s\"]{1,100}) \"?(?P<secret>[^\s\"']{3,128})")
_IMAP_TAG = re.compile(r"(?<![A-Za-z0-9])[A-Z]{0,5}[0-9]{1,5} $", re.IGNORECASE)
_REDIS_PASSWORD = re.compile(r"AUTH (?:default )?(?P<secret>[^\s'\",=]{6,128})")


def find_command_passwords(text: str, lowered: str) -> Iterator[Span]:
    """
    Find the password that an option of a known command takes, or ``-p`` of any other: whatever stands right behind its
    user, else what looks like a password and like nothing else.
    """
    for match in _BEHIND_USER_OPTION.finditer(text):
        commands = _COMMAND.findall(text, *_command_before(text, match.start()))
        is_known = bool(commands) and (commands[-1], "-p") in _FORMS
        password = match[match.lastgroup or 0]
        if not (is_known or _PORTS.fullmatch(password) or is_placeholder(password)):
            yield match.span(match.lastgroup or 0)
    for match in _LONE.finditer(text):
        value = match["secret"]
        if is_made_up(value) and (_SIGN.search(value) or is_mixed(value)):
            yield match.span("secret")
    if _COMMAND.search(text) is None:
        return
    for option in _OPTION.finditer(text):
        commands = _COMMAND.findall(text, *_command_before(text, option.start()))
        form = _FORMS.get((commands[-1], option[0])) if commands else None
        value = form.match(text, option.end()) if form is not None else None
        if value is not None and value.lastgroup is not None and not is_placeholder(value[value.lastgroup]):
            yield value.span(value.lastgroup)


def _command_before(text: str, option: int) -> Span:
    start = max(0, option - _MAX_COMMAND_CHARS)
    return max(start, *(text.rfind(end, start, option) for end in _COMMAND_ENDS)), option


def find_piped_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Find what is echoed into a command that asks for a password."""
    for match in _PIPED.finditer(lowered):
        group = next(name for name in ("single", "double", "bare") if match[name] is not None)
        if not is_placeholder(text[slice(*match.span(group))]):
            yield match.span(group)


def find_oracle_logins(text: str, lowered: str) -> Iterator[Span]:
    """Find ``scott/tiger@`` where an Oracle tool takes it, or before what can only be a host."""
    at = text.find("@")
    while at >= 0:
        slash = text.rfind("/", max(0, at - 61), at)
        start = slash
        while start > max(0, slash - 30) and (text[start - 1].isalnum() or text[start - 1] in "_$#"):
            start -= 1
        match = _ORACLE.match(lowered, start) if slash > start >= 0 else None
        if match is not None and match.end("secret") == at and not is_placeholder(match["secret"]):
            is_address = match["host"] or match["port"] or _PUBLIC_NAME.fullmatch(match["address"])
            if is_address or _ORACLE_TOOL.search(lowered, max(0, start - _NEAR), start):
                yield match.span("secret")
        at = text.find("@", at + 1)


def find_login_commands(text: str, lowered: str) -> Iterator[Span]:
    """Find what is sent to FTP, IMAP and Redis; a test that passes is ``PASS test_x``."""
    for place in places_of(["PASS "], text):
        match = _FTP_PASSWORD.match(text, place)
        if match and (text[place - 1 : place] in ("'", '"') or _FTP_USER.search(text, max(0, place - 150), place)):
            yield match.span("secret")
    for place in places_of(["LOGIN "], text):
        match = _IMAP_PASSWORD.match(text, place)
        if match and _IMAP_TAG.search(text, max(0, place - 12), place):
            yield match.span("secret")
    for place in places_of(["AUTH "], text):
        match = _REDIS_PASSWORD.match(text, place)
        if match and not text[place - 1 : place].isalnum() and is_made_up(match["secret"]):
            yield match.span("secret")
