from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from harness import CANARY, Family, ServerUnavailable
from harness.canary import holds_canary

from airflow_common_ai.recordings.corpus_file import read_corpus_file
from airflow_common_ai.recordings.recording import Recording


@pytest.fixture
def family(tmp_path: Path) -> Family:
    return Family("tools/raise/example.py", "python", corpus=tmp_path)


def run(family: Family, *arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        family.run(list(arguments))
    return int(str(end.value.code))


def recordings(tmp_path: Path) -> list[Recording]:
    path = tmp_path / "example.jsonl"
    return read_corpus_file(path) if path.exists() else []


def only(tmp_path: Path) -> Recording:
    (recording,) = recordings(tmp_path)
    return recording


def test_what_a_case_raises_is_recorded_with_where_it_came_from(family: Family, tmp_path: Path) -> None:
    @family.case("a key that is missing", tags=["from-text"])
    def _() -> None:
        {}["customer_id"]

    assert run(family) == 0

    recording = only(tmp_path)
    assert recording.id == "example/a-key-that-is-missing"
    assert recording.evidence.nodes[0].type_path == "builtins.KeyError"
    assert recording.tags == ("from-text",)
    assert recording.provenance.tool == "tools/raise/example.py"
    assert recording.provenance.how == "make record ARGS=example"
    assert recording.provenance.version == ".".join(map(str, sys.version_info[:3]))


def test_the_version_is_that_of_the_library_which_is_installed(family: Family, tmp_path: Path) -> None:
    @family.case("another library", library="pytest", wrapped_by="SomeHook", is_wire_form=True)
    def _() -> None:
        int("n/a")

    run(family)

    origin = only(tmp_path).provenance
    assert (origin.library, origin.version) == ("pytest", pytest.__version__)
    assert (origin.wrapped_by, origin.is_wire_form) == ("SomeHook", True)


def test_a_coroutine_is_run(family: Family, tmp_path: Path) -> None:
    @family.case("too slow", raises="TimeoutError")
    async def _() -> None:
        await asyncio.wait_for(asyncio.sleep(60), timeout=0.01)

    assert run(family) == 0
    assert only(tmp_path).evidence.nodes[0].type_path == "builtins.TimeoutError"


def nothing() -> None:
    pass


def mistake() -> None:
    None.strip()  # type: ignore[attr-defined]


def too_slow() -> None:
    time.sleep(60)


def swallows_everything() -> None:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(60)


def wraps_whatever_comes() -> None:
    try:
        time.sleep(60)
    except BaseException as error:
        raise RuntimeError("the worker failed") from error


def tells_the_secret() -> None:
    raise ValueError(f"{CANARY} is what they all use")


@pytest.mark.parametrize(
    ("function", "raises", "why"),
    [
        (nothing, (), "raised nothing"),
        (mistake, (), "raised builtins.AttributeError: 'NoneType' object has no attribute 'strip'"),
        (mistake, "ValueError", "raised builtins.AttributeError"),
        (too_slow, (), "took longer than 0.2 s"),
        (wraps_whatever_comes, (), "took longer than 0.2 s"),
        (swallows_everything, (), "took longer than 0.2 s"),
        (tells_the_secret, (), "the canary came through the redaction wall"),
    ],
)
def test_a_case_that_does_not_do_what_it_is_for_is_reported_and_nothing_is_recorded(
    family: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str], function: object, raises: str, why: str
) -> None:
    family.case("a case", raises=raises, limit_s=0.2)(function)  # type: ignore[type-var]

    assert run(family) == 1

    assert recordings(tmp_path) == []
    assert f"FAILED   a-case: {why}" in capsys.readouterr().out


def test_what_a_mistake_would_raise_is_recorded_where_it_is_meant(family: Family, tmp_path: Path) -> None:
    family.case("an attribute of None", raises="AttributeError")(mistake)

    assert run(family) == 0
    assert only(tmp_path).id == "example/an-attribute-of-none"


def test_a_base_of_the_class_is_as_good(family: Family) -> None:
    family.case("an attribute of None", raises=("OSError", "Exception"))(mistake)

    assert run(family) == 0


def test_a_secret_where_the_wall_knows_it_is_masked_and_counted(
    family: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @family.case("a connection string where a number was meant")
    def _() -> None:
        int(f"postgresql://etl:{CANARY}@db:5432/sales")

    assert run(family) == 0

    assert not holds_canary((tmp_path / "example.jsonl").read_text())
    assert "the canary was met and masked in 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        CANARY.upper(),
        quote(f"user:{CANARY}@"),
        base64.b64encode(f"etl:{CANARY}".encode()).decode(),
        base64.b64encode(f"a:{CANARY}".encode()).decode(),
        base64.b64encode(f"{CANARY}".encode()).decode(),
        CANARY.encode().hex(),
        CANARY[::-1],
    ],
)
def test_the_canary_is_seen_in_whatever_form_it_comes_out(form: str) -> None:
    assert holds_canary(f"x {form} y")


@pytest.mark.parametrize("text", ["", "canary", base64.b64encode(b"etl:another-Secret-Pa55").decode()])
def test_no_canary_is_seen_where_there_is_none(text: str) -> None:
    assert not holds_canary(text)


def test_names_of_this_machine_are_others_in_the_recording(family: Family, tmp_path: Path) -> None:
    @family.case("own names")
    def _() -> None:
        raise ValueError(f"{Path.cwd()}/x.csv | {sys.prefix}/lib | {Path(__file__).parent} | {socket.gethostname()}.")

    run(family)

    message = only(tmp_path).evidence.nodes[0].message
    assert "/opt/airflow/work/x.csv" in message
    assert str(Path(__file__).parent) not in message
    assert sys.prefix not in message


def test_each_case_has_an_empty_folder_and_an_environment_of_its_own(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    seen: list[tuple[list[Path], str | None, str | None, str | None]] = []

    for number in range(2):

        @family.case(f"case {number}")
        def _() -> None:
            names = ("AWS_PROFILE", "https_proxy", "LEFT_BEHIND")
            seen.append((list(Path.cwd().iterdir()), *map(os.environ.get, names)))
            Path("left_behind").touch()
            os.environ["LEFT_BEHIND"] = "x"
            int("n/a")

    before = Path.cwd()
    run(family)

    assert seen == [([], None, None, None)] * 2
    assert Path.cwd() == before
    assert os.environ["AWS_PROFILE"] == "mine"


def test_raising_again_leaves_the_file_alone_and_keeps_what_failed_this_time(family: Family, tmp_path: Path) -> None:
    works = True

    @family.case("a")
    def _() -> None:
        raise RuntimeError(f"pid {os.getpid()} at {time.time()}")

    @family.case("b")
    def _() -> None:
        if works:
            int("n/a")

    assert run(family) == 0
    before = (tmp_path / "example.jsonl").read_bytes()
    works = False
    assert run(family) == 1

    assert (tmp_path / "example.jsonl").read_bytes() == before


def test_show_prints_the_cases_that_are_asked_for_and_writes_nothing(
    family: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    family.case("one")(lambda: int("first"))
    family.case("two")(lambda: int("second"))

    run(family, "--show", "tw")

    shown = capsys.readouterr().out
    assert "'second'" in shown
    assert "'first'" not in shown
    assert recordings(tmp_path) == []


def test_a_case_gets_the_servers_that_its_parameters_name(tmp_path: Path) -> None:
    ended = []

    @contextlib.contextmanager
    def start() -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(name="Postgres", version="15.8", port=5432)
        ended.append(True)

    family = Family("example.py", "python", servers={"db": start, "unused": start}, corpus=tmp_path)

    @family.case("with a server")
    def _(db: SimpleNamespace) -> None:
        raise ValueError(f"port {db.port}")

    assert run(family) == 0

    origin = only(tmp_path).provenance
    assert (origin.server, origin.server_version) == ("Postgres", "15.8")
    assert ended == [True]


def test_cases_without_their_server_are_skipped_by_name_and_what_is_stored_of_them_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    is_there = True

    @contextlib.contextmanager
    def start() -> Iterator[SimpleNamespace]:
        if not is_there:
            raise ServerUnavailable("postgres is not installed. Get it with: apt-get install postgresql")
        yield SimpleNamespace(name="Postgres", version=None)

    family = Family("example.py", "python", servers={"db": start}, corpus=tmp_path)
    family.case("with a server")(lambda db: int("n/a"))
    run(family)
    before = recordings(tmp_path)
    is_there = False

    assert run(family) == 0

    shown = capsys.readouterr().out
    assert "NO SERVER db: postgres is not installed. Get it with: apt-get install postgresql" in shown
    assert "skipped  with-a-server" in shown
    assert recordings(tmp_path) == before


def test_two_cases_of_one_name_and_a_server_that_nobody_starts_are_mistakes(family: Family) -> None:
    family.case("one")(nothing)

    with pytest.raises(ValueError, match="two cases of example are called 'one'"):
        family.case("One!")(nothing)
    with pytest.raises(ValueError, match="asks for 'db', which is none of the family's servers"):
        family.case("two")(lambda db: None)


SCRIPT = """
import os
from pathlib import Path
from harness import Family

family = Family(__file__, "python", corpus=Path(__file__).parent)

@family.case("loud")
def _():
    print("words from Python")
    os.system("echo words from a program; echo words of its errors >&2")
    int("n/a")

family.run()
"""


def test_a_script_needs_nothing_but_the_standard_library_and_what_its_cases_print_stays_out_of_the_report(
    tmp_path: Path,
) -> None:
    script = tmp_path / "loud_example.py"
    script.write_text(SCRIPT)
    root = Path(__file__).parent.parent.parent
    paths = os.pathsep.join((str(root / "src"), str(root / "tools" / "raise")))

    # -S: without site-packages, as in an environment that has neither Airflow nor pydantic.
    ran = subprocess.run(
        [sys.executable, "-S", script], env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        "loud_example: 1 raised, 1 new, 0 changed, 0 gone, 1 in the file; the canary was met and masked in 0\n"
    )
    assert read_corpus_file(tmp_path / "loud_example.jsonl")[0].id == "loud_example/loud"
