from __future__ import annotations

from pathlib import Path

import pytest
from recorded import recorded

from airflow_common_ai.recordings.corpus_file import read_corpus_file, write_corpus_file
from tools import record

HEADER = """\
# /// script
# requires-python = "==3.11.*"
# dependencies = ["{requirement}"]
# ///
"""
SCRIPTS = Path(__file__).parent.parent.parent / "tools" / "raise"


def test_a_family_that_nobody_wrote_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert record.main(["python_buildin"]) == 2

    assert "There is no script tools/raise/python_buildin.py. There are: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "requirement", "shadowed"),
    [
        ("redis.py", "redis==6.0.0", "redis"),
        ("google_auth.py", "google-auth==2.1", "google-auth"),
        ("psycopg.py", "psycopg[binary]==3.2", "psycopg"),
        ("redis_client.py", "redis==6.0.0", None),
    ],
)
def test_a_script_named_like_a_package_that_it_imports_is_found_out(
    tmp_path: Path, name: str, requirement: str, shadowed: str | None
) -> None:
    path = tmp_path / name
    path.write_text(HEADER.format(requirement=requirement))

    assert record.Script(path).shadowed() == shadowed


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_pins_its_packages_and_the_day_on_which_the_rest_was_resolved(path: Path) -> None:
    metadata = record.Script(path).metadata()

    assert metadata["requires-python"]
    assert [requirement for requirement in metadata["dependencies"] if "==" not in requirement] == []
    assert metadata["tool"]["uv"]["exclude-newer"]


def test_refreshing_gives_stored_recordings_the_fingerprints_that_they_have_by_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = recorded("case", ValueError("x"))
    path = tmp_path / "tests.jsonl"
    write_corpus_file(path, [stored])
    path.write_text(path.read_text().replace(stored.fingerprint, "0" * 16))
    monkeypatch.setattr(record, "CORPUS", tmp_path)

    assert record.main(["--refresh"]) == 0

    assert read_corpus_file(path) == [stored]


SCRIPT = (
    HEADER.replace('"{requirement}"', "")
    + """
import sys
import time
sys.path.append({raising!r})
from pathlib import Path
from harness import Family

family = Family(__file__, "python", corpus=Path(__file__).parent)
family.case("one")(lambda: {expression})
family.run()
"""
)


def test_scripts_run_apart_and_a_table_sums_up_what_came_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setattr(record, "SCRIPTS", tmp_path)
    monkeypatch.setattr(record, "LIMIT_S", 20)
    expressions = {
        "family_broken": "exec('import this_is_not_there')",
        "family_dead": "exec('import os; os._exit(7)')",
        "family_good": "int('n/a')",
    }
    for name, expression in expressions.items():
        (tmp_path / f"{name}.py").write_text(SCRIPT.format(raising=str(SCRIPTS), expression=expression))

    assert record.main(["family_good"]) == 0
    assert record.main([]) == 1

    table = capfd.readouterr().out.splitlines()[-4:]
    assert [" ".join(line.split()[:7]) for line in table] == [
        "family raised new changed gone in file",
        "family_broken 0 0 0 0 0 1",
        "family_dead - - - - - ended",
        "family_good 1 0 0 0 1 0",
    ]
    assert "ended with exit code 7 and said nothing" in table[2]


def test_a_script_that_takes_too_long_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setattr(record, "SCRIPTS", tmp_path)
    monkeypatch.setattr(record, "LIMIT_S", 0.5)
    (tmp_path / "family_slow.py").write_text(SCRIPT.format(raising=str(SCRIPTS), expression="time.sleep(60)"))

    assert record.main(["family_slow"]) == 1

    assert "was stopped after 0.5 s" in capfd.readouterr().out
