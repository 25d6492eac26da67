# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==50.0.2", "kubernetes-asyncio==36.1.0", "kubernetes==37.0.1", "urllib3==2.8.0"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the Kubernetes clients raise for networks, watches and bad configuration."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import kubernetes_asyncio
from harness import CANARY, WRONG_READING, Family
from kubernetes import client, config, watch
from servers.http import Answer, HttpServer, http_server
from servers.kubernetes_status import api, event, read_pod, status
from servers.port import refused_port
from servers.tls import https_server

family = Family(
    __file__,
    "kubernetes",
    servers={"http": http_server, "https": https_server(), "expired": https_server(valid_days=(-30, -2))},
    is_wire_form=True,
)


# Networks.
@family.case("connection is refused", raises="MaxRetryError")
def _() -> None:
    with refused_port() as port:
        read_pod(f"http://127.0.0.1:{port}")


@family.case("host does not exist", raises="MaxRetryError")
def _() -> None:
    read_pod("https://kubernetes.default.svc.invalid")


@family.case("answer does not come in time", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    read_pod(http.answers(Answer(silent_s=5)))


@family.case("connection is reset", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    read_pod(http.answers(Answer(is_reset=True)))


@family.case("certificate of the cluster has expired", raises="MaxRetryError")
def _(expired: Any) -> None:
    read_pod(expired.url, ssl_ca_cert=str(expired.root))


@family.case("authority of the cluster is not known", raises="MaxRetryError")
def _(https: Any) -> None:
    read_pod(https.url)


@family.case("answer is not JSON", raises=("JSONDecodeError", "ValueError", "AttributeError", "ApiException"))
def _(http: HttpServer) -> None:
    read_pod(http.answers(Answer(200, '{"kind": "Pod", "metadata": {', {"Content-Type": "application/json"})))


# Watches.
def follow(url: str, **options: Any) -> None:
    for _ in watch.Watch().stream(client.CoreV1Api(api(url)).list_namespaced_pod, "etl", _request_timeout=1, **options):
        pass


@family.case("watch is too old", raises="ApiException", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    message = "too old resource version: 100 (9000)"
    follow(http.answers(event(code=410, reason="Expired", message=message)), resource_version="100")


@family.case("watch meets an internal error", raises="ApiException")
def _(http: HttpServer) -> None:
    message = "unable to decode an event from the watch stream: stream error: stream ID 7; INTERNAL_ERROR"
    follow(http.answers(event(code=500, reason="InternalError", message=message)))


@family.case("watch is cut off", raises="ProtocolError")
def _(http: HttpServer) -> None:
    follow(http.answers(Answer(200, " " * 1000, {"Content-Type": "application/json"}, cut_after_bytes=3)))


@family.case("watch is silent for longer than it may be", raises="ReadTimeoutError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    follow(http.answers(Answer(200, "", {"Content-Type": "application/json", "Content-Length": "1000"})))


@family.case("log of a pod is cut off", raises="ProtocolError")
def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, "x" * 1000, {"Content-Type": "text/plain"}, cut_after_bytes=10))
    log = client.CoreV1Api(api(url)).read_namespaced_pod_log("load-orders", "etl", _preload_content=False)
    for _ in log:
        pass


# Configuration.
@family.case("no kubeconfig", raises="ConfigException")
def _() -> None:
    config.load_kube_config(config_file="kubeconfig")


@family.case("not in a cluster", raises="ConfigException")
def _() -> None:
    os.environ.pop("KUBERNETES_SERVICE_HOST", None)
    config.load_incluster_config()


@family.case("context that is none", raises="ConfigException")
def _() -> None:
    Path("kubeconfig").write_text("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}")
    config.load_kube_config(config_file="kubeconfig", context="prod")


@family.case("kubeconfig whose file of authorities is none", raises="ConfigException")
def _() -> None:
    cluster = "{name: c, cluster: {server: 'https://127.0.0.1', certificate-authority: company.pem}}"
    context = "{name: x, context: {cluster: c, user: u}}"
    user = f"{{name: u, user: {{token: {CANARY}}}}}"
    Path("kubeconfig").write_text(
        f"{{apiVersion: v1, kind: Config, current-context: x, clusters: [{cluster}], contexts: [{context}], users:"
        f" [{user}]}}"
    )
    config.load_kube_config(config_file="kubeconfig")


@family.case("pod without a name", raises=("ValueError", "ApiValueError"))
def _(http: HttpServer) -> None:
    client.CoreV1Api(api(http.answers(Answer(200, "{}")))).read_namespaced_pod(None, "etl")


@family.case("container without a name", raises="ValueError")
def _() -> None:
    client.V1Container(image="etl:3", name=None)


# kubernetes_asyncio.
asyncio_case = partial(family.case, library="kubernetes-asyncio")


async def read_pod_async(url: str) -> Any:
    setup = kubernetes_asyncio.client.Configuration(host=url)
    setup.api_key = {"BearerToken": f"Bearer {CANARY}"}
    async with kubernetes_asyncio.client.ApiClient(setup) as opened:
        pods = kubernetes_asyncio.client.CoreV1Api(opened)
        return await pods.read_namespaced_pod("load-orders", "etl", _request_timeout=1)


for title, answer, tags in (
    (
        "asyncio: server is too busy",
        status(
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
            headers={"Retry-After": "3"},
        ),
        [],
    ),
    ("asyncio: token is not accepted", status(401, "Unauthorized", "Unauthorized"), []),
    (
        "asyncio: quota is used up",
        status(403, "Forbidden", 'pods "x" is forbidden: exceeded quota: compute'),
        [WRONG_READING],
    ),
    (
        "asyncio: etcd lost its leader",
        status(500, "InternalError", "Internal error occurred: etcdserver: no leader"),
        [],
    ),
):

    @asyncio_case(title, raises="ApiException", tags=tags)
    async def _(http: HttpServer, answer: Answer = answer) -> None:
        await read_pod_async(http.answers(answer))


@asyncio_case("asyncio: connection is refused", raises="ClientConnectorError")
async def _() -> None:
    with refused_port() as port:
        await read_pod_async(f"http://127.0.0.1:{port}")


@asyncio_case("asyncio: answer does not come in time", raises="TimeoutError")
async def _(http: HttpServer) -> None:
    await read_pod_async(http.answers(Answer(silent_s=5)))


@asyncio_case("asyncio: server hangs up", raises="ServerDisconnectedError")
async def _(http: HttpServer) -> None:
    await read_pod_async(http.answers(Answer(raw=b"")))


@asyncio_case("asyncio: watch is too old", raises="ApiException", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    old = event(code=410, reason="Expired", message="too old resource version: 100 (9000)")
    setup = kubernetes_asyncio.client.Configuration(host=http.answers(old))
    async with kubernetes_asyncio.client.ApiClient(setup) as opened:
        pods = kubernetes_asyncio.client.CoreV1Api(opened)
        async with kubernetes_asyncio.watch.Watch().stream(
            pods.list_namespaced_pod, "etl", resource_version="1"
        ) as seen:
            async for _ in seen:
                pass


if __name__ == "__main__":
    family.run()
