from __future__ import annotations

import signal
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import psutil
import pytest

ROOT = Path(__file__).parents[2]

START = """
import tempfile
from demo.throwaway_airflow import ThrowawayAirflow

tempfile.tempdir = {folder!r}
with ThrowawayAirflow([], say=lambda line: print(line, flush=True)):
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupted_start_leaves_no_process_and_no_file(tmp_path: Path, number: int):
    script = START.format(folder=str(tmp_path))
    with Popen([sys.executable, "-c", script], cwd=ROOT, stdout=PIPE, stderr=DEVNULL, text=True) as starting:
        assert starting.stdout is not None
        assert starting.stdout.readline() == "creating Airflow's database\n"
        migration = wait_for_child(starting)
        starting.send_signal(number)
        assert starting.wait(timeout=60) != 0

    assert not migration.is_running()
    assert list(tmp_path.iterdir()) == []


def wait_for_child(process: Popen[str]) -> psutil.Process:
    while process.poll() is None:
        children = psutil.Process(process.pid).children()
        if children:
            return children[0]
    raise AssertionError("it ended by itself")
