"""Status objects and events as an API server sends them, and the calls that meet them. Depends on ``kubernetes``.

Forms: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ and
https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import json
from typing import Any

import urllib3
from harness.canary import CANARY
from kubernetes import client

from servers.http import Answer, json_answer

__all__ = ["api", "create_pod", "event", "read_pod", "status"]


def status(code: int, reason: str, message: str, **more: Any) -> Answer:
    """Return a Status object; ``details`` and ``headers`` as they are."""
    headers = more.pop("headers", None)
    kind = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json_answer(code, {**kind, "message": message, "reason": reason, "code": code, **more}, headers)


def api(url: str, **settings: Any) -> client.ApiClient:
    setup = client.Configuration(host=url)
    setup.api_key = {"authorization": f"Bearer {CANARY}"}
    setup.retries = urllib3.Retry(0)
    for name, value in settings.items():
        setattr(setup, name, value)
    return client.ApiClient(setup)


def read_pod(url: str, **settings: Any) -> Any:
    return client.CoreV1Api(api(url, **settings)).read_namespaced_pod("load-orders", "etl", _request_timeout=1)


def create_pod(url: str) -> Any:
    body: Any = {"metadata": {"name": "load-orders"}, "spec": {"containers": [{"name": "base", "image": "etl:3"}]}}
    return client.CoreV1Api(api(url)).create_namespaced_pod("etl", body, _request_timeout=1)


def event(**object_: Any) -> Answer:
    body = json.dumps(
        {"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", **object_}}
    )
    return Answer(200, body + "\n", {"Content-Type": "application/json"})
