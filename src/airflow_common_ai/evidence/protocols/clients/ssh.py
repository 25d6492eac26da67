"""SSH: why a channel was not opened, why the other side disconnected, and the status of an SFTP operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("paramiko", "asyncssh")
PRINTED_MARKS = ()

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_OPEN = "RFC 4254 §5.1; paramiko 5.1.0, asyncssh 2.24.1; whether to retry is judgement"
_SFTP = "draft-ietf-secsh-filexfer-13 §9.1; asyncssh 2.24.1; whether to retry is judgement"
_DISCONNECT = "RFC 4253 §11.1; paramiko 5.1.0, asyncssh 2.24.1; whether to retry is judgement"

_CHANNEL_ROWS: tuple[NumberRow, ...] = (
    # OpenSSH says so of a forbidden tunnel and of too many sessions alike.
    ("1:channel_prohibited", depends("auth", _SHORT, "the server does not allow the channel", _OPEN)),
    ("2:channel_connect_failed", yes("network", _SHORT, "what the channel was to reach could not be reached", _OPEN)),
    ("3:channel_type_unknown", no("permanent", "the server does not have that kind of channel", _OPEN)),
    ("4:channel_resource_shortage", yes("network", _MEDIUM, "the server has no room for a channel", _OPEN)),
)
_DISCONNECT_ROWS: tuple[NumberRow, ...] = (
    ("1:host_not_allowed", no("auth", "the server does not let this host in", _DISCONNECT)),
    ("2:protocol_error 5:mac_error 6:compression_error", depends("network", _SHORT, "SSH broke off", _DISCONNECT, 3)),
    ("3:key_exchange_failed 8:version_not_supported",
     no("permanent", "the two sides do not agree on SSH algorithms or versions", _DISCONNECT)),
    ("7:service_not_available", yes("transient", _MEDIUM, "the SSH service is not available", _DISCONNECT)),
    ("10:connection_lost 11:by_application", yes("network", _SHORT, "the SSH connection was closed", _DISCONNECT)),
    ("12:too_many_connections", yes("rate_limit", _MEDIUM, "the SSH server has too many connections", _DISCONNECT)),
    ("9:host_key_not_verifiable 13:cancelled_by_user 14:no_more_auth_methods 15:illegal_user_name",
     no("auth", "the SSH login or host key was refused", _DISCONNECT)),
)  # fmt: skip
_SFTP_ROWS: tuple[NumberRow, ...] = (
    ("2:no_such_file 10:no_such_path", no("resource", "the file does not exist on the SFTP server", _SFTP)),
    ("3:permission_denied 12:write_protect", no("auth", "permission denied by the SFTP server", _SFTP)),
    ("6:no_connection 7:connection_lost", yes("network", _SHORT, "the SFTP connection was lost", _SFTP)),
    ("4:failure 5:bad_message", depends("transient", _SHORT, "the SFTP server failed without saying why", _SFTP, 3)),
    ("14:no_space_on_filesystem", depends("transient", _MEDIUM, "no space left on the SFTP server", _SFTP, 3)),
    ("15:quota_exceeded", depends("transient", _MEDIUM, "the disk quota on the SFTP server is used up", _SFTP)),
    ("17:lock_conflict 25:byte_range_lock_conflict 26:byte_range_lock_refused 27:delete_pending",
     yes("transient", _SHORT, "the file is locked on the SFTP server", _SFTP)),
    ("8:op_unsupported 11:file_already_exists 18:dir_not_empty 19:not_a_directory 20:invalid_filename"
     " 21:link_loop 24:file_is_a_directory", no("permanent", "the SFTP server does not do this with that path", _SFTP)),
)  # fmt: skip

_BY_FACT: Mapping[str, Mapping[int, Signal]] = {
    "ssh.channel_code": signals_by_number("ssh", _CHANNEL_ROWS),
    "ssh.disconnect_code": signals_by_number("ssh", _DISCONNECT_ROWS),
    "ssh.sftp_code": signals_by_number("sftp", _SFTP_ROWS),
}
_FACTS = {
    "ChannelException": "ssh.channel_code",
    "ChannelOpenError": "ssh.channel_code",
    "DisconnectError": "ssh.disconnect_code",
    "SFTPError": "ssh.sftp_code",
}
"""By the class that keeps the code."""
_PRINTED_CHANNEL = re.compile(r"ChannelException\((\d{1,2}), ")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the reason code."""
    code = getattr(exception, "code", None)
    fact = next((_FACTS[base.__name__] for base in type(exception).__mro__ if base.__name__ in _FACTS), None)
    return {fact: code} if fact is not None and type(code) is int else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the reason code says."""
    for fact, signals in _BY_FACT.items():
        code = number_in(node, fact)
        if code is not None and code in signals:
            yield signals[code]
            return
    if match := _PRINTED_CHANNEL.match(node.message):
        yield from filter(None, [_BY_FACT["ssh.channel_code"].get(int(match[1]))])
