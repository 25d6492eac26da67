"""Certificates, good and bad, and a server that shows one. Scripts that use this depend on ``cryptography``."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from servers.http import HttpServer
from servers.process import server_folder

__all__ = ["Authority", "Certificate", "authority", "https_server"]


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key in one PEM file."""

    path: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path)
        return context


class Authority:
    """Signs certificates; clients that trust :attr:`root` trust them."""

    name = "loopback TLS"
    version: str | None = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key, self._certificate = _signed("Test Root", (), is_authority=True)
        self.root = folder / "root.pem"
        self.root.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self,
        *names: str,
        valid_days: tuple[int, int] = (-1, 1),
        is_self_signed: bool = False,
    ) -> Certificate:
        """
        Write a certificate.

        :param names: The addresses and hosts that it is for; 127.0.0.1 and localhost if there are none.
        :param valid_days: From and to, in days from now.
        """
        issuer = None if is_self_signed else (self._key, self._certificate)
        key, certificate = _signed("server", names or ("127.0.0.1", "localhost"), valid_days=valid_days, issuer=issuer)
        path = self._folder / f"{certificate.serial_number}.pem"
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
        return Certificate(path)


@contextlib.contextmanager
def authority() -> Iterator[Authority]:
    """An authority of its own; can be given to a family as a server."""
    with server_folder() as folder:
        yield Authority(folder)


def https_server(
    *names: str,
    valid_days: tuple[int, int] = (-1, 1),
    is_self_signed: bool = False,
    adjust: Callable[[ssl.SSLContext], None] = lambda context: None,
) -> Callable[[], AbstractContextManager[HttpsServer]]:
    """
    Return what starts a server with a certificate as :meth:`Authority.issue` makes them.

    :param adjust: Changes the server's TLS context, e.g. to speak old versions only.
    """

    @contextlib.contextmanager
    def start() -> Iterator[HttpsServer]:
        with authority() as own:
            context = own.issue(*names, valid_days=valid_days, is_self_signed=is_self_signed).server_context()
            adjust(context)
            with contextlib.closing(HttpsServer(own, context)) as server:
                yield server

    return start


class HttpsServer(HttpServer):
    """An :class:`~servers.http.HttpServer` over TLS."""

    name = "loopback HTTPS"

    def __init__(self, own: Authority, context: ssl.SSLContext) -> None:
        super().__init__(context)
        self.root = own.root
        """The file of the authority that a client has to trust."""


def _signed(
    subject: str,
    names: tuple[str, ...],
    *,
    valid_days: tuple[int, int] = (-1, 1),
    issuer: tuple[ec.EllipticCurvePrivateKey, x509.Certificate] | None = None,
    is_authority: bool = False,
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer[1].subject if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=valid_days[0]))
        .not_valid_after(now + timedelta(days=valid_days[1]))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(one) for one in names]), False)
    return key, builder.sign(issuer[0] if issuer else key, hashes.SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
