"""A server that is not running is found before anything large is imported; nothing else counts as that."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from asking import LONG_S
from loopback.llm_server import blackhole
from loopback.sockets import refused_port, serve, stay_silent

from airflow_common_ai.policies.llm.endpoint import is_refused

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/v1", "https://127.0.0.1:{}", "http://localhost:{}"])
def test_a_port_that_refuses_is_refused(url: str) -> None:
    with refused_port() as port:
        assert asyncio.run(is_refused(url.format(port)))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_that_takes_connections_is_not(host: str) -> None:
    with serve(stay_silent) as port:
        assert not asyncio.run(is_refused(f"http://{host}:{port}"))


def test_silence_is_not_refusal() -> None:
    with blackhole() as url:
        assert not asyncio.run(is_refused(url))


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "no url",
        "127.0.0.1:1",
        "ftp://127.0.0.1:1",
        "http://",
        "http://[::1",
        "http://x:99999",
        "http://a.invalid",
    ],
)
def test_what_cannot_be_asked_is_not_refusal(url: str | None) -> None:
    assert not asyncio.run(is_refused(url))


def test_a_proxy_on_the_way_is_not_bypassed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    with refused_port() as port:
        url = f"http://127.0.0.1:{port}"
        assert not asyncio.run(is_refused(url))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert asyncio.run(is_refused(url))


PROGRAM = """
import json, os, sys
definition = {"conn_type": "pydanticai", "host": "http://127.0.0.1:%s/v1", "extra": {"model": "openai:a"}}
os.environ["AIRFLOW_CONN_MY_LLM"] = json.dumps(definition)
from airflow_common_ai.policies.llm.call import Question, ask
from airflow_common_ai.policies.llm.connections import fetch_chain
print(ask(fetch_chain("my_llm", None), Question("", "", object, {}, 1), 60.0).reason)
print(sorted({"pydantic_ai", "openai", "anthropic", "airflow.providers.common.ai.hooks"} & set(sys.modules)))
"""


def test_a_server_that_is_not_running_is_told_without_loading_a_model_library() -> None:
    with refused_port() as port:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM % port], capture_output=True, text=True, timeout=LONG_S, check=True
        )

    assert done.stdout.splitlines()[-2:] == ["connection refused", "[]"]
