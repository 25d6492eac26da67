"""What clients of AWS, gRPC, SSH and Redis raise."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import botocore.config
import botocore.session
import grpc
import paramiko
import redis
from loopback import sockets
from loopback.http_server import Answer, json_answer

from real_failures import Failures, Try

FAILURES = Failures()
row = FAILURES.row

# ---- AWS, in the forms that its services answer in


@functools.cache
def _session() -> botocore.session.Session:
    session = botocore.session.Session()
    session.set_credentials("AKIDEXAMPLE", "not-a-secret")
    return session


def _aws(service: str, endpoint: str, **options: Any) -> Any:
    config = botocore.config.Config(
        retries={"max_attempts": 0}, s3={"addressing_style": "path"}, connect_timeout=5, read_timeout=5, **options
    )
    return _session().create_client(service, "eu-central-1", endpoint_url=endpoint, config=config)


def _s3(t: Try, status: int, code: str, message: str) -> None:
    body = f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{t.id}</RequestId></Error>"
    endpoint = t.endpoint(Answer(status, body, {"x-amz-request-id": t.id, "Date": t.moment}))
    _aws("s3", endpoint).get_object(Bucket=f"bucket-{t.number}", Key=f"{t.name}/{t.id}.csv")


def _glue(t: Try, code: str, message: str) -> None:
    endpoint = t.endpoint(json_answer(400, {"__type": code, "message": message}, {"x-amzn-RequestId": t.id}))
    _aws("glue", endpoint).start_job_run(JobName=t.name)


_ACCOUNT = "arn:aws:sts::{0:012}:assumed-role/worker/i-0{0:x}"

row("botocore", "key is missing", lambda t: _s3(t, 404, "NoSuchKey", "The specified key does not exist."))
row("botocore", "bucket is missing", lambda t: _s3(t, 404, "NoSuchBucket", "The specified bucket does not exist"))
row(
    "botocore",
    "no rights",
    lambda t: _s3(t, 403, "AccessDenied", f"User: {_ACCOUNT.format(t.number)} may not s3:GetObject"),
)
row("botocore", "slow down", lambda t: _s3(t, 503, "SlowDown", "Please reduce your request rate."))
row("botocore", "token is old", lambda t: _s3(t, 400, "ExpiredToken", f"The provided token expired at {t.moment}"))
row(
    "botocore",
    "HEAD without rights",
    lambda t: _aws("s3", t.endpoint(Answer(403))).head_object(Bucket=f"b-{t.number}", Key=t.id),
)
row(
    "botocore",
    "HEAD of nothing",
    lambda t: _aws("s3", t.endpoint(Answer(404))).head_object(Bucket=f"b-{t.number}", Key=t.id),
)
row("botocore", "throttled", lambda t: _glue(t, "ThrottlingException", "Rate exceeded"))
row(
    "botocore",
    "job is missing",
    lambda t: _glue(t, "EntityNotFoundException", f"Failed to start job run due to missing metadata: {t.number}"),
)
row(
    "botocore",
    "too many runs",
    lambda t: _glue(t, "ConcurrentRunsExceededException", f"Concurrent runs exceeded for {t.number}"),
)
row("botocore", "connection refused", lambda t: _aws("s3", f"http://127.0.0.1:{t.refused_port}").list_buckets())
row("botocore", "hung up", lambda t: _aws("s3", t.endpoint(Answer(raw=b""))).list_buckets())
row("botocore", "parameter is bad", lambda t: _aws("s3", t.http.url).get_object(Bucket=f"b-{t.number}", Key=t.number))
row("botocore", "bucket has no name", lambda t: _aws("s3", t.http.url).get_object(Bucket=f"b {t.number}!", Key=t.id))

# ---- gRPC


@contextlib.contextmanager
def _grpc_server(status: grpc.StatusCode, details: str) -> Iterator[str]:
    class Handler(grpc.GenericRpcHandler):
        def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            return grpc.unary_unary_rpc_method_handler(lambda request, context: context.abort(status, details))

    server = grpc.server(ThreadPoolExecutor(1), handlers=(Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None)


def _grpc_call(address: str, timeout_s: float = 5.0) -> None:
    with grpc.insecure_channel(address) as channel:
        channel.unary_unary("/jobs.Jobs/Run")(b"", timeout=timeout_s)


def _grpc(t: Try, status: grpc.StatusCode, details: str) -> None:
    with _grpc_server(status, details) as address:
        _grpc_call(address)


row("grpc", "not found", lambda t: _grpc(t, grpc.StatusCode.NOT_FOUND, f"Job {t.id} not found"))
row("grpc", "no rights", lambda t: _grpc(t, grpc.StatusCode.PERMISSION_DENIED, f"Job {t.id}: permission denied"))
row("grpc", "quota", lambda t: _grpc(t, grpc.StatusCode.RESOURCE_EXHAUSTED, f"Quota of {t.number} requests is used up"))
row("grpc", "disk", lambda t: _grpc(t, grpc.StatusCode.RESOURCE_EXHAUSTED, f"Disk of worker {t.number} is full"))
row("grpc", "aborted", lambda t: _grpc(t, grpc.StatusCode.ABORTED, f"Transaction {t.id} was aborted"))
row("grpc", "connection refused", lambda t: _grpc_call(f"127.0.0.1:{t.refused_port}"))

# ---- SSH


def _ssh(port: int, **options: Any) -> None:
    with paramiko.SSHClient() as client:
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        client.connect(
            "127.0.0.1", port, timeout=5, banner_timeout=5, allow_agent=False, look_for_keys=False, **options
        )


class _Doorkeeper(paramiko.ServerInterface):
    def get_allowed_auths(self, username: str) -> str:
        return "password,publickey"


@functools.cache
def _host_key() -> paramiko.PKey:
    return paramiko.ECDSAKey.generate()


def _refuse_login(connection: socket.socket) -> None:
    with paramiko.Transport(connection) as transport:
        transport.add_server_key(_host_key())
        transport.start_server(server=_Doorkeeper(), event=threading.Event())
        transport.join(5)


def _say_something_else(connection: socket.socket) -> None:
    connection.sendall(b"hello\n")
    connection.shutdown(socket.SHUT_WR)
    sockets.stay_silent(connection)  # to close with something unread would be a reset


def _ssh_to(t: Try, conversation: sockets.Conversation) -> int:
    return t.closing.enter_context(sockets.serve(conversation))


row("paramiko", "connection refused", lambda t: _ssh(t.refused_port, username=t.name, password=t.id))
row("paramiko", "login is refused", lambda t: _ssh(_ssh_to(t, _refuse_login), username=t.name, password=t.id))
row("paramiko", "no SSH", lambda t: _ssh(_ssh_to(t, _say_something_else), username=t.name))
row("paramiko", "key is garbled", lambda t: paramiko.ECDSAKey.from_private_key_file(_key_file(t)))


def _key_file(t: Try) -> str:
    path = t.folder / f"{t.name}.pem"
    path.write_text(t.id)
    return str(path)


# ---- Redis


def _redis_says(t: Try, reply: str) -> int:
    def conversation(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(f"{reply}\r\n".encode())

    return t.closing.enter_context(sockets.serve(conversation))


def _redis(port: int, name: str) -> None:
    with redis.Redis(port=port, host="127.0.0.1", retry=None, protocol=2, driver_info=None, socket_timeout=5) as client:
        client.get(name)


for _name, _reply in {
    "wrong type": "-WRONGTYPE Operation against a key holding the wrong kind of value",
    "no login": "-NOAUTH Authentication required.",
    "memory is short": "-OOM command not allowed when used memory > 'maxmemory'.",
    "loading": "-LOADING Redis is loading the dataset in memory",
    "read only": "-READONLY You can't write against a read only replica.",
    "cluster is down": "-CLUSTERDOWN Hash slot not served",
    "moved": "-MOVED {number} 127.0.0.1:{number}",
    "busy": "-BUSY script {id} has been running for {number} ms",
}.items():
    row(
        "redis",
        _name,
        lambda t, reply=_reply: _redis(_redis_says(t, reply.format(number=t.number % 16384, id=t.id)), t.name),
    )
row("redis", "connection refused", lambda t: _redis(t.refused_port, t.name))
row("redis", "no Redis", lambda t: _redis(_redis_says(t, f"HTTP/1.1 400 {t.id}"), t.name))
