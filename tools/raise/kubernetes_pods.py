# /// script
# requires-python = "==3.11.*"
# dependencies = ["kubernetes==37.0.1", "urllib3==2.8.0", "websocket-client==1.9.2"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What is raised for commands in pods and for pods that failed, as a task reads them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from harness import FROM_TEXT, WRONG_READING, Family
from kubernetes import client, stream
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.kubernetes_status import api, read_pod, status
from servers.port import refused_port

family = Family(__file__, "kubernetes", servers={"http": http_server}, is_wire_form=True)


# Exec: https://kubernetes.io/docs/reference/using-api/api-concepts/ (WebSocket, v4.channel.k8s.io)
def run_command(url: str) -> Any:
    pods = client.CoreV1Api(api(url))
    return stream.stream(
        pods.connect_get_namespaced_pod_exec, "load-orders", "etl", command=["true"], _request_timeout=2
    )


for title, answer in (
    ("exec in a pod that is none", status(404, "NotFound", 'pods "load-orders" not found')),
    ("exec in a container that has ended", status(500, "InternalError", "container not running (load-orders)")),
    (
        "exec is forbidden",
        status(403, "Forbidden", 'User "worker" cannot create resource "pods/exec" in API group ""'),
    ),
    (
        "exec in a completed pod",
        status(400, "BadRequest", "cannot exec into a container in a completed pod; current phase is Succeeded"),
    ),
):

    @family.case(title, raises="ApiException", tags=[WRONG_READING])
    def _(http: HttpServer, answer: Answer = answer) -> None:
        run_command(http.answers(answer))


@family.case("exec while the API server is away", raises="ApiException", tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        run_command(f"http://127.0.0.1:{port}")


class LoadError(Exception):
    """A task's own."""


@family.case("command in a pod ends with 137, kept in words", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    cause = {"reason": "ExitCode", "message": "137"}
    outcome = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [cause]}}
    outcome["message"] = "command terminated with non-zero exit code: exit status 137"
    payload = b"\x03" + json.dumps({"metadata": {}, **outcome}).encode()
    frame = bytes([0x82, 126]) + len(payload).to_bytes(2, "big") + payload + b"\x88\x02\x03\xe8"

    def route(request: Any) -> Answer:
        key = request.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        protocol = f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n"
        return Answer(raw=(head + protocol).encode() + frame)

    pods = client.CoreV1Api(api(http.routes(route)))
    running = stream.stream(
        pods.connect_get_namespaced_pod_exec, "load-orders", "etl", command=["load"], _preload_content=False
    )
    running.run_forever(timeout=2)
    raise LoadError(f"command in pod load-orders failed with exit code {running.returncode}")


# Pods that failed, as a task reads them. States: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
def pod_of(**pod_status: Any) -> Answer:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "load-orders"}, "spec": {"containers": []}}
    return json_answer(200, {**pod, "status": pod_status})


def ended(**terminated: Any) -> dict[str, Any]:
    state = {"terminated": {"exitCode": 1, **terminated}}
    return {"phase": "Failed", "containerStatuses": [container(state)]}


def container(state: dict[str, Any]) -> dict[str, Any]:
    return {"name": "base", "image": "etl:3", "imageID": "", "ready": False, "restartCount": 0, "state": state}


def waits(reason: str, message: str) -> dict[str, Any]:
    return {"phase": "Pending", "containerStatuses": [container({"waiting": {"reason": reason, "message": message}})]}


for title, pod_status, tags in (
    ("pod was killed for memory", ended(reason="OOMKilled", exitCode=137), []),
    ("pod ended with an error of its own", ended(reason="Error", exitCode=1, message="KeyError: 'amount'"), []),
    ("pod was told to stop", ended(reason="Error", exitCode=143), [WRONG_READING]),
    (
        "pod cannot be started",
        ended(reason="StartError", exitCode=128, message='exec: "lod": executable file not found in $PATH'),
        [],
    ),
    (
        "pod was evicted for lack of disk",
        {
            "phase": "Failed",
            "reason": "Evicted",
            "message": "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 8Gi.",
        },
        [],
    ),
    (
        "pod was evicted by its own disk limit",
        {
            "phase": "Failed",
            "reason": "Evicted",
            "message": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.",
        },
        [WRONG_READING],
    ),
    (
        "pod lost its node",
        {
            "phase": "Failed",
            "reason": "NodeLost",
            "message": "Node ip-10-0-0-9 which was running pod load-orders is unresponsive",
        },
        [],
    ),
    (
        "pod was preempted",
        {"phase": "Failed", "reason": "Preempting", "message": "Preempted in order to admit critical pod"},
        [],
    ),
    (
        "pod ran longer than its deadline",
        {
            "phase": "Failed",
            "reason": "DeadlineExceeded",
            "message": "Pod was active on the node longer than the specified deadline",
        },
        [WRONG_READING],
    ),
    (
        "pod waits for an image that is none",
        waits(
            "ErrImagePull",
            'failed to pull and unpack image "docker.io/library/etl:4": failed to resolve reference: not found',
        ),
        [],
    ),
    (
        "pod waits as pulls are limited",
        waits("ErrImagePull", "toomanyrequests: You have reached your pull rate limit."),
        [WRONG_READING],
    ),
    (
        "pod waits as it may not pull",
        waits(
            "ErrImagePull",
            "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
        ),
        [],
    ),
    (
        "pod waits as its image name is none",
        waits(
            "InvalidImageName",
            'Failed to apply default image tag "Etl:3": invalid reference format: repository name must be lowercase',
        ),
        [],
    ),
    ("pod waits for a secret that is none", waits("CreateContainerConfigError", 'secret "dwh" not found'), []),
    (
        "pod does not fit anywhere",
        {
            "phase": "Pending",
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/12 nodes are available: 12 Insufficient memory.",
                }
            ],
        },
        [],
    ),
    (
        "pod asks for a node that is none",
        {
            "phase": "Pending",
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/12 nodes are available: 12 node(s) didn't match Pod's node affinity/selector.",
                }
            ],
        },
        [WRONG_READING],
    ),
    (
        "pod keeps crashing",
        waits("CrashLoopBackOff", "back-off 5m0s restarting failed container=base pod=load-orders"),
        [],
    ),
    (
        "pod waits for a volume",
        waits(
            "ContainerCreating",
            'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) load-orders-0',
        ),
        [],
    ),
):

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, pod_status: dict[str, Any] = pod_status) -> None:
        found = read_pod(http.answers(pod_of(**pod_status))).status
        states = [one.state for one in found.container_statuses or []]
        causes = [part for state in states for part in (state.terminated, state.waiting) if part]
        causes += list(found.conditions or []) or ([found] if found.reason else [])
        told = [f"{one.reason}: {one.message}" for one in causes]
        codes = [f"exit code {one.exit_code}" for one in causes if getattr(one, "exit_code", None)]
        raise LoadError(f"Pod load-orders returned a failure ({found.phase}): {'; '.join(told + codes)}")


if __name__ == "__main__":
    family.run()
