# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-standard==1.21.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "awscli==1.45.11",
#     "cryptography==46.0.3",
#     "pip==26.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What command-line programs print when they fail, in the exception of a PythonOperator's function that ran them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.port import refused_port
from servers.postgres import Postgres, postgres
from servers.programs import Program, program

family = Family(
    __file__,
    "apache-airflow-providers-standard",
    wrapped_by="PythonOperator",
    servers={
        "http": http_server,
        "postgres": postgres,
        "curl": program("curl", "--version", install="apt-get install curl"),
        "git": program("git", "--version", install="apt-get install git"),
        "java": program("java", "-version", install="apt-get install default-jdk-headless"),
        "kubectl": program("kubectl", "version", "--client", install="apt-get install kubernetes-client"),
        "gcloud": program("gcloud", install="apt-get install google-cloud-cli"),
        "psql": program("psql", "--version", install="apt-get install postgresql-client"),
        "rsync": program("rsync", "--version", install="apt-get install rsync"),
        "ssh": program("ssh", "-V", install="apt-get install openssh-client"),
    },
)


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def python(function: Callable[[], Any]) -> Any:
    return PythonOperator(task_id="load", python_callable=function).execute({})


def tells(command: str, **environment: str) -> Any:
    """Run a command in a PythonOperator whose function raises with the end of what it printed."""

    def load() -> str:
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=25, env={**os.environ, **environment}
        )
        if done.returncode:
            printed = (done.stdout + done.stderr)[-2000:].strip()
            raise LoadError(f"command exited with status {done.returncode}:\n{printed}")
        return done.stdout

    return python(load)


def checked(*command: str, **environment: str) -> Any:
    """Run a program in a PythonOperator with ``check=True``."""
    settings = {**os.environ, **environment}
    return python(lambda: subprocess.run(command, check=True, capture_output=True, text=True, timeout=25, env=settings))


# What curl prints.
CURL = "curl -sS --fail --max-time 1 "


def curls(title: str, make: Callable[[HttpServer], str], *tags: str, options: str = "") -> None:
    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, curl: Program) -> None:
        tells(f"{CURL} {options} -H 'Authorization: Bearer {CANARY}' {make(http)}/v1/orders")


curls("curl meets 503", lambda http: http.answers(Answer(503)))
curls("curl meets 429", lambda http: http.answers(Answer(429, headers={"Retry-After": "20"})))
curls("curl meets 401", lambda http: http.answers(Answer(401)))
curls("curl meets 404", lambda http: http.answers(Answer(404)))
curls("curl waits too long", lambda http: http.answers(Answer(silent_s=5)))
curls("curl gets no answer", lambda http: http.answers(Answer(raw=b"")))
curls("curl is reset", lambda http: http.answers(Answer(is_reset=True)))
curls("curl gets half of the body", lambda http: http.answers(Answer(200, "x" * 500, cut_after_bytes=20)))
curls("curl asks a plain server for TLS", lambda http: http.answers(Answer()).replace("http:", "https:"))
curls("curl does not find the host", lambda http: "http://orders.invalid")
curls("curl cannot write its file", lambda http: http.answers(Answer(200, "x")), options="-o /no/such/folder/orders")
curls("curl does not know an option", lambda http: http.answers(Answer()), options="--fial")
curls(
    "curl keeps the body of a quota error",
    lambda http: http.answers(
        json_answer(403, {"error": {"reason": "rateLimitExceeded", "message": "Quota exceeded"}})
    ),
    WRONG_READING,
    options="--no-fail --fail-with-body",
)


@family.case("curl is refused", raises="CalledProcessError")
def _(curl: Program) -> None:
    with refused_port() as port:
        checked("curl", "-sS", "--fail", f"http://etl:{CANARY}@127.0.0.1:{port}/v1/orders")


# psql against the real server.
def query(server: Postgres, statement: str, user: str = "etl", database: str = "warehouse", options: str = "") -> Any:
    place = f"host=127.0.0.1 port={server.port} user={user} dbname={database} connect_timeout=2"
    return tells(f"psql -X -v ON_ERROR_STOP=1 {options} '{place}' -c \"{statement}\"", PGPASSWORD=CANARY)


for title, words, tags in (
    ("psql does not find a table", {"statement": "select * from ordres"}, []),
    ("psql may not read a table", {"statement": "select * from secrets"}, []),
    ("psql meets a duplicate key", {"statement": "insert into customers values (1, 'Ada')"}, []),
    ("psql meets a syntax error", {"statement": "selct 1"}, []),
    ("psql meets a number that is none", {"statement": "select 'n/a'::int"}, []),
    ("psql divides by zero", {"statement": "select 1 / 0"}, []),
    ("psql runs into statement_timeout", {"statement": "set statement_timeout = 50; select pg_sleep(3)"}, [WRONG_READING]),
    ("psql database is none", {"statement": "select 1", "database": "warehuse"}, []),
    ("psql role may not log in", {"statement": "select 1", "user": "no_login"}, []),
    ("psql file is none", {"statement": "select 1", "options": "-f load_orders.sql"}, []),
    ("psql copies from a file that is none", {"statement": "\\\\copy orders from 'orders.csv' csv"}, [WRONG_READING]),
):  # fmt: skip
    family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])(
        lambda postgres, psql, words=words: query(postgres, **words)
    )


@family.case("psql waits too long for a lock", raises="LoadError", tags=[FROM_TEXT, WRONG_READING])
def _(postgres: Postgres, psql: Program) -> None:
    place = f"'host=127.0.0.1 port={postgres.port} user=etl dbname=warehouse'"
    hold = f'psql -X {place} -c "begin; lock table orders; select pg_sleep(2)" & sleep 0.5'
    tells(f'{hold}; psql -X {place} -c "set lock_timeout = 50; select * from orders"', PGPASSWORD=CANARY)


@family.case("psql password is wrong", raises="CalledProcessError")
def _(postgres: Postgres, psql: Program) -> None:
    url = f"postgresql://etl:{CANARY}-old@127.0.0.1:{postgres.port}/warehouse"
    checked("psql", "-X", url, "-c", "select 1")


@family.case("psql is refused", raises="LoadError", tags=[FROM_TEXT])
def _(psql: Program) -> None:
    with refused_port() as port:
        tells(f"psql -X 'host=127.0.0.1 port={port} user=etl' -c 'select 1'", PGPASSWORD=CANARY)


# kubectl against a server that speaks the API's form:
# https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
def cluster(url: str, words: str) -> Any:
    return tells(f"kubectl --server={url} --token={CANARY} --request-timeout=1 {words}")


def kube_status(code: int, reason: str, message: str) -> Answer:
    kind = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json_answer(code, {**kind, "message": message, "reason": reason, "code": code})


RAW = "get --raw /apis/batch/v1/namespaces/etl/jobs/load-orders"
QUOTA = 'jobs.batch "load-orders" is forbidden: exceeded quota: etl, requested: count/jobs.batch=1, used: count/jobs.batch=50, limited: count/jobs.batch=50'
for title, answer, tags in (
    ("kubectl is not logged in", kube_status(401, "Unauthorized", "Unauthorized"), []),
    ("kubectl may not", kube_status(403, "Forbidden", 'jobs.batch "load-orders" is forbidden: User "etl" cannot get resource "jobs" in API group "batch" in the namespace "etl"'), []),
    ("kubectl quota is used up", kube_status(403, "Forbidden", QUOTA), [WRONG_READING]),
    ("kubectl job is none", kube_status(404, "NotFound", 'jobs.batch "load-orders" not found'), []),
    ("kubectl conflict", kube_status(409, "Conflict", 'Operation cannot be fulfilled on jobs.batch "load-orders": the object has been modified; please apply your changes to the latest version and try again'), []),
    ("kubectl meets etcd without a leader", kube_status(500, "InternalError", "etcdserver: no leader"), []),
    ("kubectl meets an API server that is overloaded", Answer(503, "apiserver is shutting down"), []),
):  # fmt: skip
    family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags], is_wire_form=True)(
        lambda http, kubectl, answer=answer: cluster(http.answers(answer), RAW)
    )


@family.case("kubectl is refused", raises="LoadError", tags=[FROM_TEXT])
def _(kubectl: Program) -> None:
    with refused_port() as port:
        tells(f"kubectl --server=http://127.0.0.1:{port} get pods")


# gcloud, with https://cloud.google.com/storage/docs/json_api/v1/status-codes
for title, status, reason, message, tags in (
    ("gcloud bucket is none", 404, "notFound", "The specified bucket does not exist.", []),
    ("gcloud may not", 403, "forbidden", "etl@shop.example does not have storage.objects.list access to the Google Cloud Storage bucket.", []),
    ("gcloud billing is off", 403, "accountDisabled", "The project to be billed is associated with an absent billing account.", [WRONG_READING]),
):  # fmt: skip

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags], is_wire_form=True)
    def _(
        http: HttpServer, gcloud: Program, status: int = status, reason: str = reason, message: str = message
    ) -> None:
        error = {"code": status, "message": message, "errors": [{"message": message, "reason": reason}]}
        Path("token").write_text(CANARY)
        settings = {
            "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": "token",
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": http.answers(json_answer(status, {"error": error})) + "/",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
            "CLOUDSDK_CORE_CHECK_GCE_METADATA": "0",
            "CLOUDSDK_CORE_PROJECT": "shop",
        }
        tells("gcloud storage objects list gs://orders-2026", **settings)


# The AWS command line, with https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
def aws(http: HttpServer, status: int, code: str, message: str, words: str) -> Any:
    body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    url = http.answers(Answer(status, body, {"Content-Type": "application/xml"}))
    settings = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": CANARY, "AWS_MAX_ATTEMPTS": "1"}
    return tells(
        f"{sys.executable} -m awscli --endpoint-url {url} --region eu-west-1 {words}",
        AWS_EC2_METADATA_DISABLED="true",
        **settings,
    )


for title, status, code, message, words, tags in (
    ("aws bucket is none", 404, "NoSuchBucket", "The specified bucket does not exist", "s3 ls s3://orders", []),
    ("aws access is denied", 403, "AccessDenied", "Access Denied", "s3 ls s3://orders", []),
    ("aws slows down", 503, "SlowDown", "Please reduce your request rate.", "s3 ls s3://orders", []),
    ("aws token has expired", 400, "ExpiredToken", "The provided token has expired.", "s3 ls s3://orders", [WRONG_READING]),
    ("aws key is none", 404, "NoSuchKey", "The specified key does not exist.", "s3api get-object --bucket b --key k out", []),
    ("aws clock is skewed", 403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.", "s3 ls s3://orders", [WRONG_READING]),
):  # fmt: skip
    family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags], is_wire_form=True)(
        lambda http, words=(status, code, message, words): aws(http, *words)
    )


@family.case("aws has no credentials", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    tells(f"{sys.executable} -m awscli s3 ls s3://orders", AWS_EC2_METADATA_DISABLED="true")


@family.case("aws is refused", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    settings = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": CANARY, "AWS_MAX_ATTEMPTS": "1"}
    with refused_port() as port:
        tells(f"{sys.executable} -m awscli --endpoint-url http://127.0.0.1:{port} s3 ls s3://orders", **settings)


# Other programs.
for title, command, tags in (
    ("rsync source is none", "rsync -a /data/orders/2026-01-31/ out/", []),
    ("rsync module is refused", "rsync -a rsync://127.0.0.1:1/orders out/", []),
):
    family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])(lambda rsync, command=command: tells(command))


@family.case("git does not find its repository", raises="LoadError", tags=[FROM_TEXT])
def _(git: Program) -> None:
    tells("git clone file:///srv/git/jobs.git")


@family.case("git repository asks for a password", raises="LoadError", tags=[FROM_TEXT])
def _(git: Program, http: HttpServer) -> None:
    url = http.answers(Answer(401, headers={"WWW-Authenticate": 'Basic realm="git"'}))
    tells(f"git clone {url.replace('://', f'://etl:{CANARY}@')}/jobs.git", GIT_TERMINAL_PROMPT="0")


@family.case("git finds its lock", raises="LoadError", tags=[FROM_TEXT])
def _(git: Program) -> None:
    tells("git init -q jobs && touch jobs/.git/index.lock jobs/a && git -C jobs add a")


@family.case("ssh is refused", raises="LoadError", tags=[FROM_TEXT])
def _(ssh: Program) -> None:
    with refused_port() as port:
        tells(f"ssh -o BatchMode=yes -o ConnectTimeout=1 -p {port} etl@127.0.0.1 ./load.sh")


@family.case("ssh does not find its host", raises="LoadError", tags=[FROM_TEXT])
def _(ssh: Program) -> None:
    tells("ssh -o BatchMode=yes etl@edge.invalid ./load.sh")


@family.case("tar archive is cut off", raises="LoadError", tags=[FROM_TEXT, WRONG_READING])
def _() -> None:
    tells("head -c 20000 /dev/urandom > a; tar czf a.tgz a; head -c 9000 a.tgz > b.tgz; tar xzf b.tgz")


@family.case("disk of the folder is full", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    tells("dd status=none if=/dev/zero of=/dev/full bs=1k count=1")


@family.case("file grows past its limit", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    tells("ulimit -f 1; trap '' XFSZ; dd status=none if=/dev/zero of=orders.csv bs=1M count=2")


@family.case("shell cannot fork any more", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    code = "import os, resource; os.setuid(65534); resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)); os.fork()"
    tells(f'{sys.executable} -c "{code}"')


@family.case("pip cannot reach its index", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        index = f"http://etl:{CANARY}@127.0.0.1:{port}/simple"
        tells(
            f"{sys.executable} -m pip --isolated install --retries 0 --timeout 1 --target out --index-url {index} orders-client"
        )


@family.case("pip does not find a version", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    tells(f"{sys.executable} -m pip --isolated install --no-index --target out 'orders-client==9.9'")


# Java's traces.
TRACES: dict[str, tuple[str, list[str]]] = {
    "java code meets a null": ("Object o = null; o.toString();", []),
    "java heap is full": ("var l = new java.util.ArrayList<byte[]>(); while (true) l.add(new byte[1 << 20]);", []),
    "java connection is refused below two wrappers": (
        'try { new java.net.Socket("127.0.0.1", 1); } catch (Exception e)'
        ' { throw new RuntimeException("Job aborted", new IllegalStateException("writer failed", e)); }',
        [WRONG_READING],
    ),
    "java host is unknown": ('new java.net.Socket("warehouse.invalid", 5432);', []),
    "java class is none": ('Class.forName("com.mysql.cj.jdbc.Driver");', []),
    "java driver is none": ('java.sql.DriverManager.getConnection("jdbc:mysql://warehouse/shop");', [WRONG_READING]),
    "java number is none": ('Integer.parseInt("12,50");', []),
    "java file is none": ('new java.io.FileInputStream("/data/orders.csv");', []),
    "java stack overflows": ("main(a);", []),
    "java exits with a code": ('System.err.println("ERROR job failed: too many open files"); System.exit(3);', []),
}  # fmt: skip
for title, (body, tags) in TRACES.items():

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(java: Program, body: str = body) -> None:
        Path("Load.java").write_text(
            f"class Load {{ public static void main(String[] a) throws Exception {{ {body} }} }}"
        )
        tells("java -Xmx48m -XX:TieredStopAtLevel=1 Load.java")


if __name__ == "__main__":
    family.run()
