from __future__ import annotations

import base64
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from checkout import ROOT, UV_FILE, UV_WHEEL, Checkout
from loopback.tls_server import CertificateAuthority
from package_index import PackageIndex, serve

from tools.bootstrap.machine import SetupError, configured_index, download, uv_environment


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, None),
        ({"PIP_INDEX_URL": ""}, None),
        ({"PIP_INDEX_URL": "http://pip"}, "http://pip"),
        ({"UV_DEFAULT_INDEX": "http://uv", "PIP_INDEX_URL": "http://pip"}, "http://uv"),
        ({"UV_DEFAULT_INDEX": "corp=http://uv/a=b"}, "http://uv/a=b"),
        ({"UV_DEFAULT_INDEX": "http://uv/a=b"}, "http://uv/a=b"),
    ],
)
def test_uvs_own_variable_wins_over_pips(environ: dict[str, str], found: str | None, tmp_path: Path) -> None:
    assert configured_index({"HOME": str(tmp_path), **environ}) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({".config/pip/pip.conf": "[global]\nindex-url = http://pip/%7E\n"}, "http://pip/%7E"),
        ({".pip/pip.conf": "[global]\nindex-url = http://pip\n"}, "http://pip"),
        ({"etc/pip.conf": "[global]\nindex-url = http://pip\n"}, "http://pip"),
        ({"etc/xdg/pip/pip.conf": "[global]\nindex-url = http://pip\n"}, "http://pip"),
        ({"etc/uv/uv.toml": 'index-url = "http://uv"\n'}, "http://uv"),
        ({"own.conf": "[global]\nindex-url = http://own\n"}, "http://own"),
        ({".config/pip/pip.conf": "[global]\nindex-url=http://a\n[install]\nindex-url=http://b\n"}, "http://b"),
        ({".pip/pip.conf": "[global]\nindex-url=http://a\n", "own.conf": "[global]\nindex-url=http://b\n"}, "http://b"),
        ({".config/pip/pip.conf": "no section\n", ".pip/pip.conf": "[global]\nindex-url=http://a\n"}, "http://a"),
        (
            {".config/uv/uv.toml": 'index-url = "http://uv"\n', "own.conf": "[global]\nindex-url=http://b\n"},
            "http://uv",
        ),
        ({".config/uv/uv.toml": '[[index]]\nurl = "http://more"\n'}, None),
        ({".config/uv/uv.toml": '[[index]]\nurl = "http://uv"\ndefault = true\n'}, "http://uv"),
        ({".config/uv/uv.toml": "broken = \n"}, None),
    ],
)
def test_the_index_is_found_in_the_files_of_pip_and_uv(
    files: dict[str, str], found: str | None, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    environ = {"HOME": str(tmp_path)}
    if "own.conf" in files:
        environ["PIP_CONFIG_FILE"] = str(tmp_path / "own.conf")

    assert configured_index(environ) == found


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PIP_CERT": "/etc/hosts"}, {"SSL_CERT_FILE": "/etc/hosts"}),
        ({"PIP_CERT": "/etc"}, {"SSL_CERT_DIR": "/etc"}),
        ({"SSL_CERT_FILE": "/a", "PIP_CERT": "/b"}, {"SSL_CERT_FILE": "/a"}),
        ({"PIP_INDEX_URL": "http://pip"}, {"UV_DEFAULT_INDEX": "http://pip"}),
        ({"UV_DEFAULT_INDEX": "corp=http://uv"}, {"UV_DEFAULT_INDEX": "corp=http://uv"}),
    ],
)
def test_uv_is_told_what_pip_was_told(environ: dict[str, str], expected: dict[str, str], tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), **environ}
    told = uv_environment(environ)

    assert {name: told[name] for name in expected} == expected


def test_credentials_of_the_index_are_not_sent_to_another_host(index: PackageIndex) -> None:
    download(f"{index.url}/uv/", {}, index="http://robot:secret@127.0.0.1:9/simple")

    assert index.authorizations == {None}


def test_netrc_is_read_as_pip_and_uv_read_it(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login robot password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))

    download(f"{index.url}/uv/", {})

    assert index.authorizations == {"Basic " + base64.b64encode(b"robot:secret").decode()}


# --- certificates -------------------------------------------------------------------------------------------------


@pytest.fixture
def authority(tmp_path: Path) -> CertificateAuthority:
    (tmp_path / "authority").mkdir()
    return CertificateAuthority(tmp_path / "authority", now=datetime.now(UTC))


@pytest.fixture
def https_index(authority: CertificateAuthority) -> Iterator[PackageIndex]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority.issue("package index").path)
    index = PackageIndex()
    index.add("uv", UV_FILE, UV_WHEEL)
    with serve(index, tls) as served:
        yield served


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"])
def test_the_certificate_of_the_environment_is_trusted(
    variable: str, checkout: Checkout, https_index: PackageIndex, authority: CertificateAuthority
) -> None:
    checkout.lock(f"{https_index.url}/uv/{UV_FILE}")

    refused = checkout.set_up(SSL_CERT_FILE=str(ROOT / "LICENSE"))
    assert refused.returncode == 1
    assert f"The certificates in {ROOT / 'LICENSE'} cannot be used" in refused.stderr

    result = checkout.set_up(**{variable: str(authority.root.path)})
    assert result.returncode == 0, result.stderr


def test_a_certificate_that_is_not_trusted_is_refused(https_index: PackageIndex, tmp_path: Path) -> None:
    stranger = CertificateAuthority(tmp_path, now=datetime.now(UTC))

    with pytest.raises(SetupError, match=r"could not be fetched: .*CERTIFICATE_VERIFY_FAILED"):
        download(f"{https_index.url}/uv/", {"SSL_CERT_FILE": str(stranger.root.path)})


class NoCertificates:
    cafile = None
    capath = None


def test_a_machine_without_any_certificates_relies_on_the_hash_but_tells_no_password(
    https_index: PackageIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ssl, "get_default_verify_paths", NoCertificates)
    url = f"{https_index.url}/uv/{UV_FILE}"
    bare = {"HOME": str(tmp_path)}

    assert download(url, bare)[0] == UV_WHEEL
    with pytest.raises(SetupError, match="has no certificates"):
        download(url.replace("://", "://robot:secret@"), bare)
    assert https_index.authorizations == {None}
