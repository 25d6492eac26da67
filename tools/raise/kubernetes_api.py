# /// script
# requires-python = "==3.11.*"
# dependencies = ["kubernetes==37.0.1", "urllib3==2.8.0", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the Kubernetes client raises for the Status objects of an API server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenacity
from harness import WRONG_READING, Family
from kubernetes import client, utils
from servers.http import Answer, HttpServer, html, http_server
from servers.kubernetes_status import api, create_pod, read_pod, status

family = Family(__file__, "kubernetes", servers={"http": http_server}, is_wire_form=True)


def replace_map(url: str) -> Any:
    return client.CoreV1Api(api(url)).replace_namespaced_config_map("etl", "etl", {"data": {}}, _request_timeout=1)


WAIT = {"retryAfterSeconds": 7}
for title, call, answer, tags in (
    (
        "pod is none",
        read_pod,
        status(404, "NotFound", 'pods "load-orders" not found', details={"name": "load-orders", "kind": "pods"}),
        [],
    ),
    (
        "namespace is none",
        create_pod,
        status(404, "NotFound", 'namespaces "etl" not found', details={"name": "etl", "kind": "namespaces"}),
        [],
    ),
    (
        "service account may not read pods",
        read_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: User "system:serviceaccount:etl:worker" cannot get resource "pods" in'
            ' API group "" in the namespace "etl"',
        ),
        [],
    ),
    (
        "quota of the namespace is used up",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: exceeded quota: compute, requested: limits.memory=8Gi, used:'
            " limits.memory=60Gi, limited: limits.memory=64Gi",
        ),
        [WRONG_READING],
    ),
    (
        "quota wants limits to be given",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: failed quota: compute: must specify limits.cpu for: base; limits.memory'
            " for: base",
        ),
        [WRONG_READING],
    ),
    (
        "limit range forbids the size",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: maximum memory usage per Container is 4Gi, but limit is 8Gi',
        ),
        [WRONG_READING],
    ),
    (
        "pod security forbids the pod",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation !='
            " false",
        ),
        [WRONG_READING],
    ),
    (
        "namespace is being terminated",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: unable to create new content in namespace etl because it is being'
            " terminated",
            details={
                "causes": [
                    {
                        "reason": "NamespaceTerminating",
                        "message": "namespace etl is being terminated",
                        "field": "metadata.namespace",
                    }
                ]
            },
        ),
        [WRONG_READING],
    ),
    (
        "service account is none",
        create_pod,
        status(
            403,
            "Forbidden",
            'pods "load-orders" is forbidden: error looking up service account etl/worker: serviceaccount "worker"'
            " not found",
        ),
        [WRONG_READING],
    ),
    (
        "priority class is none",
        create_pod,
        status(403, "Forbidden", 'pods "load-orders" is forbidden: no PriorityClass with name etl-high was found'),
        [WRONG_READING],
    ),
    ("token is not accepted", read_pod, status(401, "Unauthorized", "Unauthorized"), []),
    (
        "pod exists already",
        create_pod,
        status(
            409, "AlreadyExists", 'pods "load-orders" already exists', details={"name": "load-orders", "kind": "pods"}
        ),
        [],
    ),
    (
        "old pod is still being deleted",
        create_pod,
        status(409, "AlreadyExists", 'object is being deleted: pods "load-orders" already exists'),
        [WRONG_READING],
    ),
    (
        "object was changed by somebody else",
        replace_map,
        status(
            409,
            "Conflict",
            'Operation cannot be fulfilled on configmaps "etl": the object has been modified; please apply your'
            " changes to the latest version and try again",
        ),
        [WRONG_READING],
    ),
    (
        "quota object was changed at the same time",
        create_pod,
        status(
            409,
            "Conflict",
            'Operation cannot be fulfilled on resourcequotas "compute": the object has been modified; please apply'
            " your changes to the latest version and try again",
        ),
        [WRONG_READING],
    ),
    (
        "spec is not valid",
        create_pod,
        status(
            422,
            "Invalid",
            'Pod "load-orders" is invalid: spec.containers[0].image: Required value',
            details={
                "causes": [
                    {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers[0].image"}
                ]
            },
        ),
        [],
    ),
    (
        "body cannot be read",
        create_pod,
        status(
            400,
            "BadRequest",
            'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.contaners"',
        ),
        [],
    ),
    ("API version is none", read_pod, Answer(404, "404 page not found\n", {"Content-Type": "text/plain"}), []),
    (
        "server is too busy",
        read_pod,
        status(
            429,
            "TooManyRequests",
            "Too many requests, please try again later.",
            details=WAIT,
            headers={"Retry-After": "7"},
        ),
        [],
    ),
    (
        "storage is being initialized",
        read_pod,
        status(
            429,
            "TooManyRequests",
            "storage is (re)initializing",
            details={"retryAfterSeconds": 1},
            headers={"Retry-After": "1"},
        ),
        [],
    ),
    (
        "disruption budget forbids the eviction",
        create_pod,
        status(
            429,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
            details={
                "causes": [
                    {
                        "reason": "DisruptionBudget",
                        "message": "The disruption budget web needs 3 healthy pods and has 3 currently",
                    }
                ]
            },
        ),
        [WRONG_READING],
    ),
    (
        "server could not find the time",
        create_pod,
        status(
            500,
            "ServerTimeout",
            "The POST operation against Pod could not be completed at this time, please try again.",
            details=WAIT,
        ),
        [],
    ),
    (
        "request timed out at the server",
        read_pod,
        status(
            504,
            "Timeout",
            "Timeout: request did not complete within the requested timeout - context deadline exceeded",
        ),
        [],
    ),
    (
        "internal error",
        read_pod,
        status(500, "InternalError", "Internal error occurred: etcdserver: leader changed"),
        [],
    ),
    ("etcd is too slow", create_pod, status(500, "", "etcdserver: request timed out"), []),
    ("etcd is full", create_pod, status(500, "", "etcdserver: mvcc: database space exceeded"), [WRONG_READING]),
    ("service is unavailable", read_pod, status(503, "ServiceUnavailable", "apiserver is shutting down"), []),
    (
        "apiserver not ready behind the aggregator",
        read_pod,
        Answer(503, "service unavailable\n", {"Content-Type": "text/plain"}),
        [],
    ),
    (
        "webhook denies the pod",
        create_pod,
        status(
            403,
            "Forbidden",
            'admission webhook "validate.policy.example" denied the request: image etl:3 is not signed',
        ),
        [WRONG_READING],
    ),
    (
        "webhook denies the pod with status 400",
        create_pod,
        status(
            400,
            "",
            'admission webhook "validation.gatekeeper.sh" denied the request: [require-owner] you must provide'
            ' labels: {"owner"}',
        ),
        [],
    ),
    (
        "webhook does not answer",
        create_pod,
        status(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "mutate.mesh.example": failed to call webhook: Post'
            ' "https://mesh.mesh-system.svc:443/inject?timeout=10s": context deadline exceeded',
        ),
        [],
    ),
    (
        "webhook has no endpoints",
        create_pod,
        status(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "mutate.mesh.example": failed to call webhook: Post'
            ' "https://mesh.mesh-system.svc:443/inject?timeout=10s": no endpoints available for service "mesh"',
        ),
        [],
    ),
    (
        "webhook has a bad certificate",
        create_pod,
        status(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "mutate.mesh.example": failed to call webhook: Post'
            ' "https://mesh.mesh-system.svc:443/inject?timeout=10s": x509: certificate has expired or is not yet'
            " valid",
        ),
        [WRONG_READING],
    ),
    (
        "list has expired",
        read_pod,
        status(410, "Expired", "The provided continue parameter is too old to display a consistent list result."),
        [WRONG_READING],
    ),
    (
        "request is too large",
        create_pod,
        status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
        [],
    ),
    (
        "resource version is too large",
        read_pod,
        status(
            504,
            "Timeout",
            "Too large resource version: 9000, current: 8000",
            details={
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
        ),
        [],
    ),
    (
        "node of the pod cannot be reached",
        read_pod,
        status(
            500,
            "",
            'Get "https://10.0.0.9:10250/containerLogs/etl/load-orders/base": dial tcp 10.0.0.9:10250: i/o timeout',
        ),
        [],
    ),
    (
        "container is still being created",
        read_pod,
        status(400, "BadRequest", 'container "base" in pod "load-orders" is waiting to start: ContainerCreating'),
        [WRONG_READING],
    ),
    (
        "container cannot pull its image",
        read_pod,
        status(
            400,
            "BadRequest",
            'container "base" in pod "load-orders" is waiting to start: trying and failing to pull image',
        ),
        [],
    ),
):

    @family.case(title, raises="ApiException", tags=tags)
    def _(http: HttpServer, call: Callable[[str], Any] = call, answer: Answer = answer) -> None:
        call(http.answers(answer))


@family.case("load balancer says 502 in HTML", raises="ApiException")
def _(http: HttpServer) -> None:
    read_pod(http.answers(html(502, "<html><body><h1>502 Bad Gateway</h1></body></html>")))


@family.case("manifest is refused in part", raises="FailToCreateError")
def _(http: HttpServer) -> None:
    answer = status(403, "Forbidden", 'configmaps is forbidden: User "worker" cannot create resource "configmaps"')
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "etl", "namespace": "etl"}}
    utils.create_from_dict(api(http.answers(answer)), manifest)


class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around a refused pod", raises="LoadError")
def _(http: HttpServer) -> None:
    try:
        create_pod(http.answers(status(403, "Forbidden", 'pods "x" is forbidden: exceeded quota: compute')))
    except client.ApiException as error:
        raise LoadError("cannot start the load") from error


@family.case("tenacity gives up on a busy API server", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(status(429, "TooManyRequests", "too many requests", headers={"Retry-After": "5"}))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(read_pod, url)


@family.case("pod to be cleaned up is none after its creation timed out", raises="ApiException", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    slow = status(504, "Timeout", "Timeout: request did not complete within the requested timeout")
    http.answers(slow, status(404, "NotFound", 'pods "load-orders" not found'))
    try:
        create_pod(http.url)
    finally:
        client.CoreV1Api(api(http.url)).delete_namespaced_pod("load-orders", "etl", _request_timeout=1)


if __name__ == "__main__":
    family.run()
