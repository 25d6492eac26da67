"""After the network is blocked nothing leaves a process: tried in processes of their own, since it is for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest
from loopback.http_server import Answer, serving

BLOCKED = """
import asyncio, socket, urllib.request
from airflow_common_ai.evals.workers.network import NetworkBlocked, block_network, blocked_since
block_network()
def attempt(action):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, error)
    else:
        print("it went through")
"""


def tried(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", BLOCKED + program], capture_output=True, text=True, check=True)
    return result.stdout.strip()


@pytest.mark.parametrize(
    "action",
    [
        "attempt(lambda: socket.create_connection(('127.0.0.1', PORT)))",
        "attempt(lambda: socket.socket().connect(('127.0.0.1', PORT)))",
        "attempt(lambda: urllib.request.urlopen('http://127.0.0.1:PORT'))",
        "attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT)))",
        "attempt(lambda: asyncio.run(asyncio.open_connection('127.0.0.1', PORT)))",
        "import requests; attempt(lambda: requests.get('http://127.0.0.1:PORT'))",
        "import httpx2; attempt(lambda: asyncio.run(httpx2.AsyncClient().get('http://127.0.0.1:PORT')))",
        "import threading; t = threading.Thread(target=attempt, args=[lambda: "
        "socket.create_connection(('127.0.0.1', PORT))]); t.start(); t.join()",
        "import os, sys\nif os.fork() == 0:\n    attempt(lambda: socket.create_connection(('127.0.0.1', PORT)))\n"
        "    sys.stdout.flush(); os._exit(0)\nos.wait()",
    ],
)
def test_nothing_reaches_a_server_on_any_way(action: str) -> None:
    with serving(Answer()) as server:
        result = subprocess.run(
            [sys.executable, "-c", BLOCKED + action.replace("PORT", str(server.port))],
            capture_output=True,
            text=True,
            check=False,  # some libraries make an exception of their own of it
        )
        assert server.seen == []
    assert "it went through" not in result.stdout
    assert "blocked" in result.stdout or "ConnectError" in result.stderr


def test_names_are_not_looked_up() -> None:
    said = tried("attempt(lambda: socket.getaddrinfo('example.com', 443)); print(blocked_since(), blocked_since())")
    assert said.splitlines() == [
        "NetworkBlocked the network is blocked in this evaluation: example.com:443 was not asked",
        "['example.com:443'] []",
    ]


def test_what_does_not_leave_the_machine_goes_on() -> None:
    program = (
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n"
        "async def f(): return 3\n"
        "print(asyncio.run(f()), blocked_since())"
    )
    assert tried(program).splitlines() == ["b'x'", "3 []"]
