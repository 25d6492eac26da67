# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-cncf-kubernetes==10.25.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "kubernetes==36.0.3",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Pods and API servers that fail, as Airflow's KubernetesPodOperator and its hook pass them on.

Forms: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ and
https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["AIRFLOW__WORKERS__API_RETRIES"] = "2"  # read when the provider is imported

from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook
from airflow.providers.cncf.kubernetes.operators.job import KubernetesJobOperator
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, http_server, json_answer
from servers.port import refused_port

family = Family(
    __file__,
    "apache-airflow-providers-cncf-kubernetes",
    wrapped_by="KubernetesPodOperator",
    servers={"http": http_server},
    is_wire_form=True,
)

META = {
    "name": "load-orders",
    "namespace": "etl",
    "uid": "6f0c7c9e-0000-4000-8000-000000000000",
    "resourceVersion": "7",
    "labels": {"try_number": "1"},
}
SPEC = {
    "nodeName": "node-3",
    "containers": [{"name": "base", "image": "shop/etl:3", "env": [{"name": "DB_PASSWORD", "value": CANARY}]}],
}
WHEN = "2026-01-31T05:00:00Z"


def pod(phase: str, **status: Any) -> dict[str, Any]:
    """Return a pod as the API server shows it."""
    return {"kind": "Pod", "apiVersion": "v1", "metadata": META, "spec": SPEC, "status": {"phase": phase, **status}}


def container(state: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    kind = {"name": "base", "image": "shop/etl:3", "imageID": "", "ready": False, "restartCount": 0}
    return {"containerStatuses": [{**kind, "state": state, **more}]}


def ended(exit_code: int, reason: str = "Error", message: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a pod whose only container ended so."""
    state = {"exitCode": exit_code, "reason": reason, "startedAt": WHEN, "finishedAt": WHEN, **more}
    if message:
        state["message"] = message
    return pod("Failed", **container({"terminated": state}))


def waits(reason: str, message: str | None = None) -> dict[str, Any]:
    """Return a pod whose container does not start."""
    state = {"reason": reason, **({"message": message} if message else {})}
    conditions = [{"type": "PodScheduled", "status": "True"}]
    return pod("Pending", conditions=conditions, **container({"waiting": state}))


def status(code: int, reason: str, message: str, **more: Any) -> Answer:
    """Return a Status object."""
    kind = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json_answer(code, {**kind, "message": message, "reason": reason, "code": code, **more})


Route = Callable[[Request], Answer | None]


def cluster(
    http: HttpServer, seen: dict[str, Any] | None = None, *, log: str = "", but: Route = lambda request: None
) -> str:
    """
    Play an API server.

    :param seen: The pod, once it was made.
    :param but: What is asked first; ``None`` leaves it to the rest.
    """

    def route(request: Request) -> Answer:
        if (answer := but(request)) is not None:
            return answer
        path = request.path.partition("?")[0]
        if path.endswith("/log"):
            return Answer(200, log, {"Content-Type": "text/plain"})
        if path.endswith("/events") or (request.method == "GET" and path.endswith("/pods")):
            return json_answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []})
        if request.method == "POST":
            return json_answer(201, pod("Pending"))
        return json_answer(200, seen or pod("Pending"))

    return http.routes(route)


def connect(url: str) -> None:
    setup = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "etl",
        "clusters": [{"name": "etl", "cluster": {"server": url}}],
        "users": [{"name": "etl", "user": {"token": CANARY}}],
        "contexts": [{"name": "etl", "context": {"cluster": "etl", "user": "etl", "namespace": "etl"}}],
    }
    os.environ["AIRFLOW_CONN_KUBERNETES_DEFAULT"] = json.dumps(
        {"conn_type": "kubernetes", "extra": {"kube_config": json.dumps(setup), "namespace": "etl"}}
    )


def context() -> dict[str, Any]:
    run = SimpleNamespace(run_id="scheduled__2026-01-31", dag_id="shop", logical_date=None, start_date=None)
    ti = SimpleNamespace(
        dag_id="shop", task_id="load", run_id=run.run_id, try_number=1, map_index=-1, hostname="", start_date=None,
        xcom_push=lambda **values: None, dag_run=run,
    )  # fmt: skip
    dag = SimpleNamespace(dag_id="shop", parent_dag=None, is_subdag=False, fileloc="shop.py")
    return {"ti": ti, "task_instance": ti, "dag": dag, "dag_run": run, "run_id": run.run_id, "params": {}}


def run(url: str, **options: Any) -> Any:
    """Run a pod as a task does."""
    connect(url)
    settings: dict[str, Any] = {
        "name": "load-orders",
        "image": "shop/etl:3",
        "namespace": "etl",
        "random_name_suffix": False,
        "on_finish_action": "keep_pod",
        "startup_timeout_seconds": 1,
        "startup_check_interval_seconds": 0.1,
        "schedule_timeout_seconds": 1,
        "do_xcom_push": False,
        **options,
    }
    return KubernetesPodOperator(task_id="load", **settings).execute(context())


# Pods that ran and failed. By default the exception's text has the whole pod, so most is read out of a long text.
DISRUPTED = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": WHEN}
for title, seen, tags in (
    ("container is out of memory", ended(137, "OOMKilled"), []),
    ("container is killed without a reason", ended(137), []),
    ("container exits with 1", ended(1), []),
    ("container exits with 2", ended(2), []),
    ("container command is not found", ended(127, "ContainerCannotRun", 'exec: "lood": executable file not found in $PATH'), []),
    ("container command is not executable", ended(126), []),
    ("container is told to end", ended(143), []),
    ("container dies of a segmentation fault", ended(139), []),
    ("container aborts", ended(134), []),
    ("container says try again later", ended(75), []),
    ("container cannot be started", ended(128, "StartError", "failed to create containerd task: OCI runtime create failed: no such file or directory"), []),
    ("container leaves a traceback as its message", ended(1, "Error", "Traceback (most recent call last):\n  File \"/app/load.py\", line 9, in <module>\n    load()\nConnectionRefusedError: [Errno 111] Connection refused\n"), [FROM_TEXT, WRONG_READING]),
    ("container leaves a quota error as its message", ended(1, "Error", "googleapiclient.errors.HttpError: <HttpError 403 \"Quota exceeded for quota metric 'Read requests'\". Details: rateLimitExceeded>"), [FROM_TEXT, WRONG_READING]),
    ("container leaves a missing column as its message", ended(1, "Error", 'psycopg2.errors.UndefinedColumn: column "amount" does not exist'), [FROM_TEXT]),
    ("container leaves an expired token as its message", ended(1, "Error", "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: The provided token has expired."), [FROM_TEXT]),
    ("pod is evicted since its node is short of memory", pod("Failed", reason="Evicted", message="The node was low on resource: memory. Threshold quantity: 100Mi, available: 40Mi.", **container({"terminated": {"exitCode": 137, "reason": "Error"}})), []),
    ("pod is evicted for its own disk", pod("Failed", reason="Evicted", message="Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.", **container({"terminated": {"exitCode": 137, "reason": "Error"}})), [WRONG_READING]),
    ("pod is preempted", pod("Failed", conditions=[{**DISRUPTED, "reason": "PreemptionByScheduler", "message": "preempting to accommodate a higher priority pod"}], **container({"terminated": {"exitCode": 143, "reason": "Error"}})), []),
    ("pod goes with its node", pod("Failed", reason="Terminated", message="Pod was terminated in response to imminent node shutdown.", **container({"terminated": {"exitCode": 137, "reason": "Error"}})), [WRONG_READING]),
    ("pod runs past its deadline", pod("Failed", reason="DeadlineExceeded", message="Pod was active on the node longer than the specified deadline", **container({"terminated": {"exitCode": 143, "reason": "Error"}})), [WRONG_READING]),
    ("pod is lost with its node", pod("Failed", reason="NodeLost", message="Node node-3 which was running pod load-orders is unresponsive", **container({"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown"}})), []),
):  # fmt: skip
    family.case(title, raises="AirflowException", tags=tags)(lambda http, seen=seen: run(cluster(http, seen)))


@family.case("container fails and the pod is not shown", raises="AirflowException", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    run(cluster(http, ended(137, "OOMKilled")), log_pod_spec_on_failure=False)


@family.case("container leaves its log's end as its message", raises="AirflowException", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    message = "2026-01-31 05:00:02 ERROR load: 3 tries used up\nurllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='api.shop.example', port=443): Max retries exceeded with url: /v1/orders (Caused by NameResolutionError(\"Failed to resolve 'api.shop.example' ([Errno -3] Temporary failure in name resolution)\"))"
    run(
        cluster(http, ended(1, "Error", message)),
        log_pod_spec_on_failure=False,
        termination_message_policy="FallbackToLogsOnError",
    )


# Pods that do not start.
PULL = 'Back-off pulling image "registry.shop.example/etl:3": ErrImagePull: failed to pull and unpack image "registry.shop.example/etl:3": '
for title, seen, tags in (
    ("image is none", waits("ImagePullBackOff", PULL + "failed to resolve reference: not found"), []),
    ("image pull is denied", waits("ImagePullBackOff", PULL + "pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials"), []),
    ("image pull backs off", waits("ImagePullBackOff", 'Back-off pulling image "registry.shop.example/etl:3"'), []),
    ("image cannot be looked at", waits("ImageInspectError", "rpc error: code = Unknown desc = Error response from daemon: readlink: invalid argument"), []),
    ("container cannot be run", waits("RunContainerError", "failed to create shim task: OCI runtime create failed: unable to start container process: permission denied"), []),
    ("image name is invalid", waits("InvalidImageName", 'Failed to apply default image tag "shop/ETL:3": invalid reference format: repository name must be lowercase'), []),
    ("image is never pulled", waits("ErrImageNeverPull", 'Container image "shop/etl:3" is not present with pull policy of Never'), []),
    ("container takes too long to be made", waits("ContainerCreating"), []),
    ("node is never found", pod("Pending", conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/6 nodes are available: 6 Insufficient memory."}]), []),
    ("pod fails before its containers", pod("Failed", reason="UnexpectedAdmissionError", message="Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"), []),
    ("pod does not fit its node", pod("Failed", reason="OutOfcpu", message="Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3900, capacity: 4000"), []),
):  # fmt: skip
    family.case(title, raises="AirflowException", tags=tags)(lambda http, seen=seen: run(cluster(http, seen)))

# API servers that do not make the pod.
for title, answer, tags in (
    ("quota of the namespace is used up", status(403, "Forbidden", 'pods "load-orders" is forbidden: exceeded quota: etl, requested: requests.memory=8Gi, used: requests.memory=60Gi, limited: requests.memory=64Gi'), [WRONG_READING]),
    ("service account may not make pods", status(403, "Forbidden", 'pods is forbidden: User "system:serviceaccount:airflow:worker" cannot create resource "pods" in API group "" in the namespace "etl"'), []),
    ("namespace is ending", status(403, "Forbidden", 'pods "load-orders" is forbidden: unable to create new content in namespace etl because it is being terminated', details={"causes": [{"reason": "NamespaceTerminating"}]}), [WRONG_READING]),
    ("namespace is none", status(404, "NotFound", 'namespaces "etl" not found'), []),
    ("service account is none", status(403, "Forbidden", 'pods "load-orders" is forbidden: error looking up service account etl/loader: serviceaccount "loader" not found'), [WRONG_READING]),
    ("token is not accepted", status(401, "Unauthorized", "Unauthorized"), []),
    ("pod is there already", status(409, "AlreadyExists", 'pods "load-orders" already exists'), []),
    ("pod spec is invalid", status(422, "Invalid", 'Pod "load-orders" is invalid: spec.containers[0].resources.requests: Invalid value: "9Gi": must be less than or equal to memory limit of 8Gi'), []),
    ("webhook forbids the pod", status(400, "BadRequest", 'admission webhook "policy.shop.example" denied the request: images must come from registry.shop.example'), []),
    ("webhook cannot be reached", status(500, "InternalError", 'Internal error occurred: failed calling webhook "policy.shop.example": failed to call webhook: Post "https://policy.kyverno.svc:443/validate?timeout=10s": context deadline exceeded'), []),
    ("etcd is too slow", status(500, "InternalError", "etcdserver: request timed out"), []),
    ("API server is starting", Answer(503, "no endpoints available for service"), []),
    ("API server sheds load", status(429, "TooManyRequests", "the server has received too many requests and has asked us to try again later", details={"retryAfterSeconds": 1}), []),
):  # fmt: skip

    @family.case(title, raises=("ApiException", "AirflowException"), tags=tags, limit_s=60)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        run(cluster(http, but=lambda request: answer if request.method == "POST" else None))


@family.case("pod is gone while it is watched", raises=("ApiException", "AirflowException"), limit_s=60)
def _(http: HttpServer) -> None:
    gone = status(404, "NotFound", 'pods "load-orders" not found', details={"name": "load-orders", "kind": "pods"})
    run(
        cluster(
            http,
            but=lambda request: gone if request.method == "GET" and request.path.endswith("/load-orders") else None,
        )
    )


@family.case("API server is refused", raises=("MaxRetryError", "AirflowException"), limit_s=60)
def _() -> None:
    with refused_port() as port:
        run(f"http://127.0.0.1:{port}")


@family.case("kubeconfig is none", raises=("ConfigException", "AirflowException"))
def _() -> None:
    os.environ["AIRFLOW_CONN_KUBERNETES_DEFAULT"] = json.dumps({"conn_type": "kubernetes", "extra": {}})
    KubernetesPodOperator(task_id="load", name="load", image="shop/etl:3", namespace="etl", in_cluster=False).execute(
        context()
    )


@family.case("worker runs in no cluster", raises=("ConfigException", "AirflowException"))
def _() -> None:
    os.environ["AIRFLOW_CONN_KUBERNETES_DEFAULT"] = json.dumps(
        {"conn_type": "kubernetes", "extra": {"in_cluster": True}}
    )
    KubernetesPodOperator(task_id="load", name="load", image="shop/etl:3", namespace="etl").execute(context())


@family.case("pod template is no YAML", raises=("ScannerError", "ParserError", "AirflowException"))
def _(http: HttpServer) -> None:
    Path("load.yaml").write_text("kind: Pod\nspec: [containers: {\n")
    run(cluster(http), pod_template_file="load.yaml")


@family.case("pod name is not allowed", raises=("ValueError", "AirflowException"))
def _(http: HttpServer) -> None:
    run(cluster(http), name="load orders/2026")


@family.case(
    "hook is given settings that exclude each other",
    raises=("AirflowException", "ValueError"),
    wrapped_by="KubernetesHook",
)
def _() -> None:
    settings = {"in_cluster": True, "kube_config_path": "/opt/airflow/kubeconfig"}
    os.environ["AIRFLOW_CONN_KUBERNETES_DEFAULT"] = json.dumps({"conn_type": "kubernetes", "extra": settings})
    KubernetesHook(conn_id="kubernetes_default").get_conn()


# Jobs: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/
for title, reason, message, tags in (
    ("job is over its deadline", "DeadlineExceeded", "Job was active longer than specified deadline", [WRONG_READING]),
    ("job is out of tries", "BackoffLimitExceeded", "Job has reached the specified backoff limit", []),
    ("job is failed by its policy", "PodFailurePolicy", "Container base for pod etl/load-orders failed with exit code 42 matching FailJob rule at index 0", []),
):  # fmt: skip

    @family.case(title, raises="AirflowException", tags=tags, wrapped_by="KubernetesJobOperator", limit_s=60)
    def _(http: HttpServer, reason: str = reason, message: str = message) -> None:
        condition = {"type": "Failed", "status": "True", "reason": reason, "message": message}
        job = {
            "kind": "Job",
            "apiVersion": "batch/v1",
            "metadata": META,
            "spec": {"template": {"metadata": {}, "spec": SPEC}},
        }
        seen = {**job, "status": {"failed": 1, "conditions": [condition]}}
        pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [ended(1)]}

        def jobs(request: Request) -> Answer | None:
            if "/jobs" in request.path:
                return json_answer(201 if request.method == "POST" else 200, seen)
            is_list = request.method == "GET" and request.path.partition("?")[0].endswith("/pods")
            return json_answer(200, pods) if is_list else None

        connect(cluster(http, but=jobs))
        KubernetesJobOperator(
            task_id="load", name="load-orders", image="shop/etl:3", namespace="etl", random_name_suffix=False,
            wait_until_job_complete=True, job_poll_interval=0.1, startup_timeout_seconds=1, do_xcom_push=False,
        ).execute(context())  # fmt: skip


if __name__ == "__main__":
    family.run()
