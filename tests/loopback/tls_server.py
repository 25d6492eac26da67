"""TLS servers on 127.0.0.1 with certificates that are good, expired, not valid yet, self-signed or for another host."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from loopback import sockets


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key in one PEM file."""

    subject: str
    path: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class CertificateAuthority:
    """Signs certificates into a folder; clients that trust :attr:`root` trust them."""

    def __init__(self, folder: Path, *, now: datetime.datetime) -> None:
        self._folder = folder
        self._now = now
        self._issuer: Certificate | None = None
        self.root = self.issue("test root", is_authority=True)
        self._issuer = self.root

    def issue(
        self,
        subject: str,
        *,
        valid_from_days: int = -10,
        valid_to_days: int = 10,
        addresses: tuple[str, ...] = ("127.0.0.1",),
        is_authority: bool = False,
        is_self_signed: bool = False,
    ) -> Certificate:
        """Write a certificate that is valid between two offsets from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
        issuer = None if is_self_signed else self._issuer
        signed = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer.certificate.subject if issuer else name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now + datetime.timedelta(days=valid_from_days))
            .not_valid_after(self._now + datetime.timedelta(days=valid_to_days))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(a)) for a in addresses]),
                critical=False,
            )
            .sign(issuer.key if issuer else key, hashes.SHA256())
        )
        path = self._folder / f"{subject.replace(' ', '_')}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + signed.public_bytes(serialization.Encoding.PEM)
        )
        return Certificate(subject, path, signed, key)

    def client_context(self) -> ssl.SSLContext:
        """A client's context that trusts this authority and nobody else."""
        return ssl.create_default_context(cafile=str(self.root.path))


@contextlib.contextmanager
def serve_tls(
    certificate: Certificate,
    *,
    conversation: sockets.Conversation = sockets.say(sockets.http(b"{}")),
    client_authority: Certificate | None = None,
    minimum_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2,
    maximum_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
) -> Iterator[int]:
    """
    Serve TLS on a port until the block ends.

    :param client_authority: demand a client certificate that this authority signed.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = minimum_version
    context.maximum_version = maximum_version
    context.load_cert_chain(certificate.path)
    if client_authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(str(client_authority.path))

    def encrypted(connection: sockets.socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            conversation(wrapped)

    with sockets.serve(encrypted) as port:
        yield port
