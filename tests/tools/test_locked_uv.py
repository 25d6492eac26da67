from __future__ import annotations

import pytest
from checkout import ROOT

from tools.bootstrap.locked_uv import LockedUv, Wheel, pick_wheel, read_locked_uv
from tools.bootstrap.machine import SetupError


@pytest.fixture(scope="module")
def locked_uv() -> LockedUv:
    return read_locked_uv(ROOT / "uv.lock")


@pytest.mark.parametrize(
    ("system", "machine", "libc", "expected"),
    [
        ("linux", "x86_64", ("glibc", "2.36"), "manylinux_2_17_x86_64.manylinux2014_x86_64"),
        ("linux", "x86_64", ("", ""), "musllinux_1_1_x86_64"),
        ("linux", "aarch64", ("glibc", "2.17"), "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
        ("linux", "aarch64", ("", ""), "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
        ("linux", "riscv64", ("glibc", "2.39"), "manylinux_2_31_riscv64.musllinux_1_1_riscv64"),
        ("darwin", "arm64", ("", ""), "macosx_11_0_arm64"),
        ("darwin", "x86_64", ("", ""), "macosx_10_12_x86_64"),
    ],
)
def test_the_lock_of_this_project_has_a_uv_for(
    system: str, machine: str, libc: tuple[str, str], expected: str, locked_uv: LockedUv
) -> None:
    wheel = pick_wheel(locked_uv.wheels, system, machine, libc)

    assert wheel.name.removesuffix(".whl").rpartition("-")[2] == expected
    assert len(wheel.sha256) == 64


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [
        ("linux", "sparc64", ("glibc", "2.36")),
        ("linux", "x86_64", ("glibc", "2.5")),
        ("freebsd14", "x86_64", ("", "")),
    ],
)
def test_a_platform_without_a_uv_is_named(system: str, machine: str, libc: tuple[str, str]) -> None:
    wheels = [Wheel(f"http://index/uv-0.2.0-py3-none-{tag}.whl", "") for tag in ("manylinux_2_17_x86_64", "win32")]

    with pytest.raises(SetupError, match=f"no uv to fetch for {system} on {machine}"):
        pick_wheel(wheels, system, machine, libc)
