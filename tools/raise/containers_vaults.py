# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "docker==7.2.0",
#     "hvac==2.4.0",
#     "py-consul==1.8.0",
#     "cryptography==50.0.2",
#     "requests==2.34.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the clients of the Docker engine, of HashiCorp's Vault and of Consul raise."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import consul
import docker
import hvac
import requests
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server

family = Family(__file__, "docker", servers={"http": http_server, "https": https_server()}, is_wire_form=True)


# Docker engine: https://docs.docker.com/reference/api/engine/version/v1.47/
def engine(url: str, **options: Any) -> docker.DockerClient:
    return docker.DockerClient(base_url=url.replace("http://", "tcp://"), version="1.47", timeout=1, **options)


def says(status: int, message: str) -> Answer:
    return json_answer(status, {"message": message})


def start(url: str) -> Any:
    return engine(url).containers.run("etl:3", "load", detach=True)


def get(url: str) -> Any:
    return engine(url).containers.get("load-orders")


def pull(url: str) -> Any:
    return engine(url).images.pull("company/etl", "3")


for title, call, status, message, tags in (
    ("container is none", get, 404, "No such container: load-orders", []),
    (
        "name is in use",
        start,
        409,
        (
            'Conflict. The container name "/load-orders" is already in use by container "abc". You have to remove (or'
            " rename) that container to be able to reuse that name."
        ),
        [],
    ),
    ("removal is in progress", get, 409, "removal of container load-orders is already in progress", [WRONG_READING]),
    ("engine has an error", get, 500, "server error", []),
    ("disk is full", start, 500, "write /var/lib/docker/tmp/GetImageBlob: no space left on device", [WRONG_READING]),
    (
        "no address is left in the network",
        start,
        500,
        "failed to set up container networking: could not find an available, non-overlapping IPv4 address pool",
        [WRONG_READING],
    ),
    (
        "port is taken",
        start,
        500,
        (
            "driver failed programming external connectivity on endpoint load-orders: Bind for 0.0.0.0:8080 failed:"
            " port is already allocated"
        ),
        [WRONG_READING],
    ),
    (
        "program is none",
        start,
        400,
        (
            'OCI runtime create failed: unable to start container process: exec: "lod": executable file not found in'
            " $PATH"
        ),
        [],
    ),
    (
        "no device of this kind",
        start,
        500,
        'could not select device driver "" with capabilities: [[gpu]]',
        [WRONG_READING],
    ),
    (
        "mount does not exist",
        start,
        400,
        'invalid mount config for type "bind": bind source path does not exist: /data/orders',
        [],
    ),
    ("engine is part of no swarm", get, 503, "This node is not a swarm manager.", [WRONG_READING]),
    (
        "plugin forbids it",
        start,
        403,
        "authorization denied by plugin opa-docker-authz: request rejected by administrative policy",
        [],
    ),
    ("image is none", pull, 404, "manifest for company/etl:3 not found: manifest unknown: manifest unknown", []),
    (
        "image may not be pulled",
        pull,
        404,
        (
            "pull access denied for company/etl, repository does not exist or may require 'docker login': denied:"
            " requested access to the resource is denied"
        ),
        [WRONG_READING],
    ),
    (
        "image was pulled too often",
        pull,
        500,
        (
            "toomanyrequests: You have reached your unauthenticated pull rate limit."
            " https://www.docker.com/increase-rate-limit"
        ),
        [WRONG_READING],
    ),
    (
        "registry does not answer",
        pull,
        500,
        (
            'Get "https://registry.example/v2/": net/http: request canceled while waiting for connection'
            " (Client.Timeout exceeded while awaiting headers)"
        ),
        [],
    ),
    (
        "registry's name is not found",
        pull,
        500,
        'Get "https://registry.example/v2/": dial tcp: lookup registry.example on 127.0.0.11:53: no such host',
        [],
    ),
    (
        "registry's certificate is not trusted",
        pull,
        500,
        (
            'Get "https://registry.example/v2/": tls: failed to verify certificate: x509: certificate signed by'
            " unknown authority"
        ),
        [WRONG_READING],
    ),
    (
        "login of the registry is wrong",
        pull,
        500,
        'Get "https://registry.example/v2/": unauthorized: incorrect username or password',
        [WRONG_READING],
    ),
):

    @family.case(f"docker: {title}", raises="APIError", tags=tags)
    def _(http: HttpServer, call: Any = call, status: int = status, message: str = message) -> None:
        call(http.answers(says(status, message)))


@family.case("docker: image of a run is none", raises="ImageNotFound")
def _(http: HttpServer) -> None:
    start(http.answers(says(404, "No such image: etl:3")))


def ends(http: HttpServer, code: int, log: str) -> str:
    """Let a container run, and end with a code."""

    def route(request: Request) -> Answer:
        place = request.path.split("?")[0]
        if place.endswith("/create"):
            return json_answer(201, {"Id": "abc"})
        if place.endswith("/wait"):
            return json_answer(200, {"StatusCode": code})
        if place.endswith("/logs"):
            frame = b"\x02\x00\x00\x00" + len(log).to_bytes(4, "big") + log.encode()
            return Answer(200, frame, {"Content-Type": "application/vnd.docker.raw-stream"})
        if place.endswith("/json"):
            return json_answer(
                200, {"Id": "abc", "Config": {"Tty": False}, "HostConfig": {"LogConfig": {"Type": "json-file"}}}
            )
        return Answer(204)

    return http.routes(route)


for title, code, log, tags in (
    ("docker: container was killed for memory", 137, "", []),
    (
        "docker: container ended with a traceback",
        1,
        "Traceback (most recent call last):\n  File \"/app/load.py\", line 3, in <module>\nKeyError: 'amount'\n",
        [],
    ),
    (
        "docker: container lost its database",
        1,
        (
            'psycopg.OperationalError: connection failed: connection to server at "10.0.0.5", port 5432 failed:'
            " Connection refused\n"
        ),
        [WRONG_READING],
    ),
    ("docker: command of a container is not found", 127, "sh: lod: not found\n", []),
):

    @family.case(title, raises="ContainerError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, code: int = code, log: str = log) -> None:
        engine(ends(http, code, log)).containers.run("etl:3", "load", auto_remove=False)


@family.case("docker: a build fails in one of its steps", raises="BuildError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    words = "The command '/bin/sh -c pip install -r requirements.txt' returned a non-zero code: 1"
    line = json.dumps({"errorDetail": {"code": 1, "message": words}, "error": words})
    http.answers(Answer(200, line + "\r\n", {"Content-Type": "application/json"}))
    with open("Dockerfile", "w") as file:
        file.write("FROM etl:3\nRUN pip install -r requirements.txt\n")
    engine(http.url).images.build(path=".")


@family.case("docker: engine is not reached", raises=("DockerException", "ConnectionError"))
def _() -> None:
    with refused_port() as port:
        get(f"http://127.0.0.1:{port}")


@family.case("docker: socket is not there", raises=("DockerException", "ConnectionError"))
def _() -> None:
    docker.DockerClient(base_url="unix:///var/run/no-docker.sock", timeout=1).ping()


@family.case("docker: API of the engine is too old", raises="APIError")
def _(http: HttpServer) -> None:
    get(http.answers(says(400, "client version 1.47 is too new. Maximum supported API version is 1.41")))


# Vault: https://developer.hashicorp.com/vault/api-docs#http-status-codes
vault_case = partial(family.case, library="hvac", raises="VaultError")


def vault(url: str, **options: Any) -> hvac.Client:
    return hvac.Client(url=url, token=CANARY, timeout=1, **options)


def read(url: str) -> Any:
    return vault(url).secrets.kv.v2.read_secret_version("dwh", raise_on_deleted_version=True)


def errors(status: int, *words: str, headers: dict[str, str] | None = None) -> Answer:
    return json_answer(status, {"errors": list(words)}, headers)


for title, answer, tags in (
    ("token may not read", errors(403, "1 error occurred:\n\t* permission denied\n\n"), []),
    ("token has expired", errors(403, "permission denied", "invalid token"), [WRONG_READING]),
    ("path has nothing", errors(404), []),
    (
        "secret was deleted",
        json_answer(
            404, {"data": {"data": None, "metadata": {"deletion_time": "2026-08-01T10:00:00Z", "destroyed": False}}}
        ),
        [],
    ),
    ("vault is sealed", errors(503, "Vault is sealed"), [WRONG_READING]),
    ("vault is a standby", errors(473, "performance standby node"), []),
    ("vault has no leader", errors(500, "local node not active but active cluster node not found"), []),
    ("vault is not initialized", errors(501, "Vault is not initialized"), [WRONG_READING]),
    (
        "rate limit of a quota",
        errors(429, 'request path "secret/data/dwh": rate limit quota exceeded', headers={"Retry-After": "1"}),
        [],
    ),
    ("lease count of a quota", errors(429, "lease count quota exceeded"), [WRONG_READING]),
    ("version of the engine is another one", errors(400, "Invalid path for a versioned K/V secrets engine"), []),
    ("mount has no handler", errors(404, 'no handler for route "secret/data/dwh". route entry not found.'), []),
    (
        "database behind it cannot be reached",
        errors(
            500,
            "1 error occurred:\n\t* failed to find entry for connection with name: error verifying connection: dial"
            " tcp 10.0.0.5:5432: connect: connection refused\n\n",
        ),
        [],
    ),
    ("write is out of order", errors(412, "required index state not present"), [WRONG_READING]),
):

    @vault_case(f"vault: {title}", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        read(http.answers(answer))


for title, status, words, tags in (
    ("role id is wrong", 400, "invalid role or secret ID", [WRONG_READING]),
    ("secret id was used up", 400, "invalid secret id", [WRONG_READING]),
    ("user is locked out", 403, "permission denied", []),
):

    @vault_case(f"vault sign-in: {title}", tags=tags)
    def _(http: HttpServer, status: int = status, words: str = words) -> None:
        vault(http.answers(errors(status, words))).auth.approle.login("etl", CANARY)


@family.case("vault: certificate is not trusted", raises="SSLError", library="hvac")
def _(https: Any) -> None:
    read(https.url)


@family.case(
    "vault: it speaks TLS only",
    raises=("InvalidRequest", "ConnectionError", "VaultError"),
    library="hvac",
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    read(http.answers(Answer(400, "Client sent an HTTP request to an HTTPS server.\n", {"Content-Type": "text/plain"})))


# Consul: https://developer.hashicorp.com/consul/api-docs
consul_case = partial(family.case, library="py-consul")


def key(http: HttpServer, answer: Answer) -> None:
    http.answers(answer)
    consul.Consul(host="127.0.0.1", port=http.port, token=CANARY).kv.put("etl/lock", "1", acquire="session")


for title, answer in (
    ("no leader", Answer(500, "No cluster leader")),
    ("token is none", Answer(403, "ACL not found")),
    (
        "token may not write",
        Answer(403, "Permission denied: token with AccessorID 'x' lacks permission 'key:write' on \"etl/lock\""),
    ),
    ("session is none", Answer(500, 'invalid session "session"')),
    (
        "requests come too fast",
        Answer(429, "Your IP is issuing too many concurrent connections, please rate limit your calls\n"),
    ),
    (
        "rate limit of the servers",
        Answer(503, "rate limit exceeded for operation that can only be performed by the leader, so try again later"),
    ),
    ("value is too large", Answer(413, "Request body(600000 bytes) too large, max size: 524288 bytes.")),
):
    traps = [WRONG_READING] if title in ("session is none", "rate limit of the servers") else []

    @consul_case(f"consul: {title}", raises=("ConsulException", "HTTPError"), tags=traps)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        key(http, answer)


@consul_case("consul: connection is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        consul.Consul(host="127.0.0.1", port=port).kv.get("etl/lock")


class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around a sealed vault", raises="LoadError", library="hvac")
def _(http: HttpServer) -> None:
    try:
        read(http.answers(errors(503, "Vault is sealed")))
    except Exception as error:
        raise LoadError("no password for the warehouse") from error


@family.case(
    "clean-up of a container that is none after its start was refused", raises="NotFound", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    taken = says(500, "driver failed programming external connectivity: port is already allocated")
    http.answers(taken, says(404, "No such container: load-orders"))
    try:
        start(http.url)
    finally:
        engine(http.url).api.remove_container("load-orders")


@family.case("a plain request to Vault without a token", raises="HTTPError", library="requests")
def _(http: HttpServer) -> None:
    url = http.answers(errors(400, "missing client token"))
    requests.get(f"{url}/v1/secret/data/dwh", timeout=1).raise_for_status()


if __name__ == "__main__":
    family.run()
