from __future__ import annotations

import ast
import base64
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from checkout import ROOT, UV_FILE, Checkout, fake_uv
from package_index import PackageIndex, make_wheel, serve

from tools.bootstrap.__main__ import check_python
from tools.bootstrap.machine import SetupError

# --- uv is found or fetched ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.2.0", "0.2.1", "0.10.0", "1.0.0"])
def test_a_uv_on_the_path_that_is_new_enough_is_used(version: str, checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    checkout.put_on_path(fake_uv(version))

    assert checkout.set_up().returncode == 0

    assert checkout.uv_calls == ["sync --locked None"]
    assert not index.requests


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(fake_uv("0.1.99"), id="too old"),
        pytest.param(b"#!/bin/sh\nexit 127\n", id="a shim without a uv behind it"),
        pytest.param(b"#!/bin/sh\necho hello\n", id="another program of that name"),
        pytest.param(b"\x7fELF\x00", id="for another machine"),
        pytest.param(None, id="none"),
    ],
)
def test_else_the_locked_uv_is_fetched_from_where_the_lock_says(
    program: bytes | None, checkout: Checkout, index: PackageIndex
) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    if program is not None:
        checkout.put_on_path(program)

    result = checkout.set_up()

    assert result.returncode == 0, result.stderr
    assert "Fetching uv 0.2.0 from 127.0.0.1" in result.stdout
    assert checkout.uv_calls == ["sync --locked None"]
    assert index.requests == [f"/simple/uv/{UV_FILE}"]
    assert checkout.own_uv.stat().st_mode & stat.S_IXUSR


def test_a_second_set_up_does_nothing_until_the_lock_or_the_project_changes(
    checkout: Checkout, index: PackageIndex
) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    assert checkout.set_up().returncode == 0

    again = checkout.set_up()

    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(checkout.uv_calls) == 1

    (checkout.folder / "pyproject.toml").write_text("# changed")
    checkout.set_up()
    assert len(checkout.uv_calls) == 2
    checkout.lock(f"{index.url}/uv/{UV_FILE}", registry="changed")
    checkout.set_up()
    assert len(checkout.uv_calls) == 3
    assert len(index.requests) == 1, "the fetched uv is kept"


def test_a_set_up_that_failed_is_tried_again(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    checkout.put_on_path(fake_uv("0.2.0") + b"sys.exit(2)\n")

    failed = checkout.set_up()

    assert failed.returncode == 1
    assert "`uv sync --locked` exited with 2" in failed.stderr
    checkout.put_on_path(fake_uv("0.2.0"))
    assert checkout.set_up().returncode == 0
    assert len(checkout.uv_calls) == 2


# --- this machine's settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_the_index_of_the_environment_is_used_for_uv_and_by_uv(
    variable: str, checkout: Checkout, index: PackageIndex
) -> None:
    checkout.lock("http://127.0.0.1:9/never-asked/" + UV_FILE)

    result = checkout.set_up(**{variable: f"{index.url}/"})

    assert result.returncode == 0, result.stderr
    assert index.requests == ["/simple/uv/", f"/simple/uv/{UV_FILE}"]
    assert [call.rpartition(" ")[0] for call in checkout.uv_calls] == [
        "export --frozen",
        "venv --quiet",
        "pip sync",
        "pip install",
    ]
    if variable != "UV_INDEX_URL":  # uv reads its own older name itself
        assert {call.rpartition(" ")[2] for call in checkout.uv_calls} == {f"{index.url}/"}


def test_links_are_read_from_where_the_index_really_is(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock("http://127.0.0.1:9/never-asked/" + UV_FILE)
    index.redirects["/pypi/uv/"] = "/simple/uv/"

    result = checkout.set_up(PIP_INDEX_URL=index.url.replace("/simple", "/pypi"))

    assert result.returncode == 0, result.stderr
    assert index.requests == ["/pypi/uv/", "/simple/uv/", f"/simple/uv/{UV_FILE}"]


def test_an_index_that_is_the_locks_own_leaves_the_plain_locked_sync(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}", registry=index.url)

    assert checkout.set_up(PIP_INDEX_URL=f"{index.url}/").returncode == 0

    assert checkout.uv_calls == [f"sync --locked {index.url}/"]


def test_credentials_of_the_index_are_sent_to_it_and_never_shown(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock("http://127.0.0.1:9/never-asked/" + UV_FILE)
    with_credentials = index.url.replace("://", "://robot:s%40cret@")

    result = checkout.set_up(PIP_INDEX_URL=with_credentials)

    assert result.returncode == 0, result.stderr
    assert index.authorizations == {"Basic " + base64.b64encode(b"robot:s@cret").decode()}
    index.files.clear()
    checkout.own_uv.unlink()
    (checkout.folder / "pyproject.toml").write_text("# changed")
    failed = checkout.set_up(PIP_INDEX_URL=with_credentials)
    assert failed.returncode == 1
    assert "/simple/uv/ could not be fetched" in failed.stderr
    assert "cret" not in result.stdout + result.stderr + failed.stdout + failed.stderr


def test_the_proxy_of_the_environment_is_used(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock("http://index.invalid/simple/uv/" + UV_FILE)

    result = checkout.set_up(http_proxy=index.url.removesuffix("/simple"))

    assert result.returncode == 0, result.stderr
    assert index.requests == [f"http://index.invalid/simple/uv/{UV_FILE}"]


# --- what can go wrong --------------------------------------------------------------------------------------------


def test_a_file_with_another_hash_is_thrown_away(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}", sha256="0" * 64)

    result = checkout.set_up()

    assert result.returncode == 1
    assert "is not the file that uv.lock names: its sha256 differs" in result.stderr
    assert not checkout.own_uv.exists()
    assert not checkout.uv_calls


def test_an_index_without_the_locked_version_is_named(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    index.files["uv"] = {"uv-1.0.0-py3-none-any.whl": b""}

    result = checkout.set_up(PIP_INDEX_URL=index.url)

    assert result.stderr == f"Set-up failed: {index.url}/uv/ does not offer {UV_FILE}, which uv.lock names.\n"


def test_no_network_is_said_with_what_to_set(checkout: Checkout) -> None:
    with serve(PackageIndex()) as gone:
        pass
    checkout.lock(f"{gone.url}/uv/{UV_FILE}")

    result = checkout.set_up()

    assert result.returncode == 1
    assert "could not be fetched: " in result.stderr
    assert "Connection refused" in result.stderr
    assert "HTTPS_PROXY" in result.stderr
    assert "PIP_INDEX_URL" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_download_that_breaks_off_is_said(checkout: Checkout, index: PackageIndex) -> None:
    checkout.lock(f"{index.url}/uv/{UV_FILE}")
    index.is_broken_off = True

    result = checkout.set_up()

    assert result.returncode == 1
    assert "could not be fetched: IncompleteRead" in result.stderr
    assert not checkout.own_uv.exists()


def test_an_older_python_is_turned_away_with_the_fix() -> None:
    check_python((3, 11, 0))
    check_python((4, 0, 0))

    with pytest.raises(SetupError, match=r"(?s)Python 3\.11 or newer is needed.* is 3\.10\.12\..*PYTHON=python3\.11"):
        check_python((3, 10, 12))


@pytest.mark.parametrize("source", sorted((ROOT / "tools" / "bootstrap").glob("*.py")), ids=lambda path: path.name)
def test_an_older_python_can_read_far_enough_to_say_so(source: Path) -> None:
    tree = ast.parse(source.read_text(), feature_version=(3, 7))

    imported = {
        name.partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert "tomllib" not in imported, "new in 3.11"
    assert imported - {"tools"} <= set(sys.stdlib_module_names)


# --- with the real uv ---------------------------------------------------------------------------------------------

BUILD_BACKEND = """
import base64, hashlib, pathlib, zipfile
def build_editable(folder, settings=None, metadata=None):
    files = {
        "project.pth": str(pathlib.Path("src").resolve()).encode(),
        "project-1.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: project\\nVersion: 1\\n",
        "project-1.dist-info/WHEEL": b"Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files["project-1.dist-info/RECORD"] = "".join(f"{name},,\\n" for name in files).encode()
    with zipfile.ZipFile(pathlib.Path(folder) / "project-1-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return "project-1-py3-none-any.whl"
"""


@pytest.fixture
def real_checkout(checkout: Checkout) -> Callable[[PackageIndex], Checkout]:
    """Makes a project with a dependency, locked by the real uv against an index."""

    def lock(index: PackageIndex) -> Checkout:
        real_uv = Path(sys.executable).parent / "uv"
        (checkout.path / "uv").symlink_to(real_uv)
        (checkout.folder / "backend.py").write_text(BUILD_BACKEND)
        (checkout.folder / "src").mkdir()
        (checkout.folder / "src" / "project.py").write_text("import something\nvalue = something.value\n")
        (checkout.folder / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "project"\nversion = "1"\nrequires-python = ">=3.11"\n'
            'dependencies = ["something"]\n[dependency-groups]\ndev = ["uv"]\n'
        )
        checkout.environ["UV_CACHE_DIR"] = str(checkout.folder.parent / "cache")
        index.add(
            "something", "something-1-py3-none-any.whl", make_wheel("something", "1", {"something.py": b"value = 1"})
        )
        subprocess.run(
            [real_uv, "lock", "--quiet", "--default-index", index.url, "--python", sys.executable],
            cwd=checkout.folder,
            env=checkout.environ,
            check=True,
        )
        return checkout

    return lock


def imported_value(checkout: Checkout) -> str:
    python = checkout.folder / ".venv" / "bin" / "python"
    return subprocess.check_output([python, "-c", "import project; print(project.value)"], text=True).strip()


def test_the_locked_packages_and_the_project_are_installed(
    real_checkout: Callable[[PackageIndex], Checkout], index: PackageIndex
) -> None:
    checkout = real_checkout(index)

    result = checkout.set_up(PIP_INDEX_URL=index.url)

    assert result.returncode == 0, result.stderr
    assert imported_value(checkout) == "1"


def test_they_come_from_this_machines_index_though_the_lock_names_another(
    real_checkout: Callable[[PackageIndex], Checkout], index: PackageIndex
) -> None:
    with serve(PackageIndex(files=index.files)) as first_home:
        checkout = real_checkout(first_home)
    first_home.requests.clear()

    result = checkout.set_up(PIP_INDEX_URL=index.url, UV_CACHE_DIR=str(checkout.folder.parent / "empty"))

    assert result.returncode == 0, result.stderr
    assert imported_value(checkout) == "1"
    assert not first_home.requests
    assert "/simple/something/something-1-py3-none-any.whl" in index.requests


def test_another_index_cannot_slip_in_another_file(
    real_checkout: Callable[[PackageIndex], Checkout], index: PackageIndex
) -> None:
    with serve(PackageIndex(files={**index.files})) as first_home:
        checkout = real_checkout(first_home)
    forged = make_wheel("something", "1", {"something.py": b"value = 'forged'"})
    index.add("something", "something-1-py3-none-any.whl", forged)

    result = checkout.set_up(PIP_INDEX_URL=index.url, UV_CACHE_DIR=str(checkout.folder.parent / "empty"))

    assert result.returncode == 1
    assert "Hash mismatch" in result.stderr
    assert "`uv pip sync` exited with" in result.stderr
