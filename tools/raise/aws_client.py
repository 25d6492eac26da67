# /// script
# requires-python = "==3.11.*"
# dependencies = ["boto3==1.43.123", "botocore==1.43.123", "cryptography==50.0.2"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What boto3 raises by itself: for credentials, regions, networks and waiters."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from harness import CANARY, WRONG_READING, Family
from servers.aws import aws_error
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server

family = Family(
    __file__,
    "botocore",
    servers={"http": http_server, "https": https_server(), "expired": https_server(valid_days=(-30, -2))},
)


def client(service: str, url: str | None = None, *, has_keys: bool = True, **options: Any) -> Any:
    """Return a client of a session of its own that looks nowhere but where a case says."""
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    os.environ.setdefault("AWS_CONFIG_FILE", "aws-config")
    os.environ.setdefault("AWS_SHARED_CREDENTIALS_FILE", "aws-credentials")
    keys = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": CANARY} if has_keys else {}
    session = boto3.Session(profile_name=options.pop("profile", None))
    config = {
        "retries": {"total_max_attempts": 1},
        "connect_timeout": 1,
        "read_timeout": 1,
        **options.pop("config", {}),
    }
    region = options.pop("region", "eu-west-1")
    return session.client(service, endpoint_url=url, region_name=region, config=Config(**config), **keys, **options)


def caller(aws: Any) -> Any:
    return aws.get_caller_identity()


def profile(text: str) -> None:
    Path("aws-config").write_text(text)


# Credentials.
@family.case("no credentials anywhere", raises="NoCredentialsError")
def _(http: HttpServer) -> None:
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("an access key without its secret", raises="PartialCredentialsError")
def _(http: HttpServer) -> None:
    client("s3", http.url, has_keys=False, aws_access_key_id="AKIAIOSFODNN7EXAMPLE").list_buckets()


@family.case("a profile that is not configured", raises="ProfileNotFound")
def _() -> None:
    client("s3", has_keys=False, profile="prod")


@family.case("a config file that cannot be parsed", raises="ConfigParseError")
def _() -> None:
    profile("region = eu-west-1\n[default\n")
    client("s3", has_keys=False)


@family.case("a credential process that fails", raises="CredentialRetrievalError")
def _(http: HttpServer) -> None:
    profile("[default]\ncredential_process = sh -c 'echo vault is sealed >&2; exit 2'\n")
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a credential process of another version", raises="CredentialRetrievalError")
def _(http: HttpServer) -> None:
    profile("[default]\ncredential_process = echo '{\"Version\": 2}'\n")
    client("s3", http.url, has_keys=False).list_buckets()


@family.case(
    "a container whose credentials service fails",
    raises="CredentialRetrievalError",
    tags=[WRONG_READING],
    is_wire_form=True,
)
def _(http: HttpServer) -> None:
    http.answers(Answer(500, "internal"))
    os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{http.url}/creds"
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a container whose credentials are at a foreign address", raises="ValueError")
def _(http: HttpServer) -> None:
    os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://creds.example/role"
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a web identity file that is not there", raises="FileNotFoundError")
def _(http: HttpServer) -> None:
    os.environ["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/etl"
    os.environ["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"
    client("s3", http.url, has_keys=False).list_buckets()


def with_web_identity(http: HttpServer, code: str, message: str) -> None:
    Path("token").write_text("eyJ.x.y")
    os.environ |= {"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/etl", "AWS_WEB_IDENTITY_TOKEN_FILE": "token"}
    os.environ["AWS_ENDPOINT_URL_STS"] = http.url
    http.answers(aws_error(client("sts", http.url), code, message, status=400 if code != "AccessDenied" else 403))
    client("s3", http.url, has_keys=False).list_buckets()


for title, code, message, tags in (
    (
        "web identity token has expired",
        "ExpiredTokenException",
        "Token expired: current date/time must be before the expiration date/time",
        [WRONG_READING],
    ),
    (
        "web identity role may not be assumed",
        "AccessDenied",
        "Not authorized to perform sts:AssumeRoleWithWebIdentity",
        [],
    ),
    (
        "web identity provider is not known to the account",
        "InvalidIdentityToken",
        "No OpenIDConnect provider found in your account for https://oidc.example",
        [],
    ),
):

    @family.case(title, raises="ClientError", tags=tags, is_wire_form=True)
    def _(http: HttpServer, code: str = code, message: str = message) -> None:
        with_web_identity(http, code, message)


@family.case("a profile whose role may not be assumed", raises="ClientError", is_wire_form=True)
def _(http: HttpServer) -> None:
    profile(
        "[default]\nrole_arn = arn:aws:iam::123456789012:role/etl\nsource_profile = base\n"
        f"[profile base]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = {CANARY}\n"
    )
    os.environ["AWS_ENDPOINT_URL_STS"] = http.url
    http.answers(
        aws_error(
            client("sts", http.url), "AccessDenied", "User is not authorized to perform: sts:AssumeRole", status=403
        )
    )
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a profile whose source is none", raises="InvalidConfigError")
def _(http: HttpServer) -> None:
    profile("[default]\nrole_arn = arn:aws:iam::123456789012:role/etl\nsource_profile = base\n")
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a profile whose source is itself", raises="InfiniteLoopConfigError")
def _(http: HttpServer) -> None:
    profile(
        "[default]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = b\n"
        "[profile b]\nrole_arn = arn:aws:iam::1:role/b\nsource_profile = default\n"
    )
    client("s3", http.url, has_keys=False).list_buckets()


SSO = """[default]
sso_session = company
sso_account_id = 123456789012
sso_role_name = etl
[sso-session company]
sso_region = eu-west-1
sso_start_url = https://company.awsapps.example/start
"""


@family.case("single sign-on without a login", raises="SSOTokenLoadError")
def _(http: HttpServer) -> None:
    os.environ["HOME"] = str(Path.cwd())
    profile(
        SSO.replace(
            "sso_session = company", "sso_start_url = https://company.awsapps.example/start\nsso_region = eu-west-1"
        )
    )
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("single sign-on session without a token", raises=("TokenRetrievalError", "SSOTokenLoadError"))
def _(http: HttpServer) -> None:
    profile(SSO)
    client("s3", http.url, has_keys=False).list_buckets()


@family.case("a role that wants a second factor", raises=("EOFError", "OSError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    profile(
        "[default]\nrole_arn = arn:aws:iam::1:role/a\nmfa_serial = arn:aws:iam::1:mfa/etl\nsource_profile = base\n"
        f"[profile base]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = {CANARY}\n"
    )
    client("s3", http.url, has_keys=False).list_buckets()


# Regions, services and parameters.
@family.case("no region anywhere", raises="NoRegionError")
def _() -> None:
    client("sqs", region=None)


@family.case("a region that is no host name", raises="InvalidRegionError")
def _() -> None:
    client("sqs", region="eu west 1")


@family.case("an address that is none", raises="ValueError")
def _() -> None:
    client("sqs", "sqs.internal")


@family.case("a service that boto3 does not know", raises="UnknownServiceError")
def _() -> None:
    client("s4")


@family.case("a parameter is missing and another has the wrong type", raises="ParamValidationError")
def _(http: HttpServer) -> None:
    client("kinesis", http.url).put_record(StreamName="orders", Data=7)


@family.case("a table name that is a number", raises="EndpointResolutionError")
def _(http: HttpServer) -> None:
    client("dynamodb", http.url).get_item(TableName=7)


@family.case("a bucket name that is none", raises="ParamValidationError")
def _(http: HttpServer) -> None:
    client("s3", http.url).list_objects_v2(Bucket="s3://lake/orders")


@family.case("a retry mode that is none", raises="InvalidRetryModeError")
def _() -> None:
    client("s3", config={"retries": {"mode": "eager"}})


# Networks.
@family.case("the endpoint refuses connections", raises="EndpointConnectionError")
def _() -> None:
    with refused_port() as port:
        caller(client("sts", f"http://127.0.0.1:{port}"))


@family.case("an endpoint whose host does not exist", raises="EndpointConnectionError", tags=[WRONG_READING])
def _() -> None:
    caller(client("sts", "https://sts.eu-west-9.invalid"))


@family.case(
    "the endpoint does not take the connection in time", raises=("ConnectTimeoutError", "EndpointConnectionError")
)
def _() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        caller(client("sts", f"http://127.0.0.1:{full.getsockname()[1]}"))


@family.case("the answer does not come in time", raises="ReadTimeoutError")
def _(http: HttpServer) -> None:
    http.answers(Answer(silent_s=5))
    caller(client("sts", http.url))


@family.case("the connection is closed without an answer", raises="ConnectionClosedError")
def _(http: HttpServer) -> None:
    http.answers(Answer(raw=b""))
    caller(client("sts", http.url))


@family.case("the connection is reset", raises=("ConnectionClosedError", "ConnectionError", "HTTPClientError"))
def _(http: HttpServer) -> None:
    http.answers(Answer(is_reset=True))
    caller(client("sts", http.url))


@family.case("the certificate has expired", raises="SSLError")
def _(expired: Any) -> None:
    caller(client("sts", expired.url, verify=str(expired.root)))


@family.case("the certificate is of an unknown authority", raises="SSLError")
def _(https: Any) -> None:
    caller(client("sts", https.url))


@family.case("the file of authorities is not there", raises=("FileNotFoundError", "OSError"))
def _(https: Any) -> None:
    caller(client("sts", https.url, verify="/etc/ssl/certs/company.pem"))


@family.case("the proxy refuses connections", raises="ProxyConnectionError")
def _() -> None:
    with refused_port() as port:
        proxy = f"http://etl:{CANARY}@127.0.0.1:{port}"
        caller(client("sts", "https://sts.example", config={"proxies": {"https": proxy}}))


@family.case(
    "the proxy forbids the host",
    raises=("ProxyConnectionError", "HTTPClientError"),
    tags=[WRONG_READING],
    is_wire_form=True,
)
def _(http: HttpServer) -> None:
    http.answers(Answer(403, reason="Forbidden"))
    proxy = http.url.replace("://", f"://etl:{CANARY}@")
    caller(client("sts", "https://sts.example", config={"proxies": {"https": proxy}}))


@family.case(
    "a service answers with something that is not its protocol", raises="ResponseParserError", is_wire_form=True
)
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "<html><body>welcome to the guest network", {"Content-Type": "text/html"}))
    caller(client("sts", http.url))


@family.case("a JSON service answers half a document", raises="KeyError", is_wire_form=True, tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(200, '{"TableNames": ["orde', {"Content-Type": "application/x-amz-json-1.0"}))
    client("dynamodb", http.url).list_tables()["TableNames"]


# Waiters.
def waits(http: HttpServer, service: str, waiter: str, answer: Answer, **arguments: Any) -> None:
    http.answers(answer)
    client(service, http.url).get_waiter(waiter).wait(WaiterConfig={"Delay": 0, "MaxAttempts": 2}, **arguments)


def emr_state(state: str, code: str, message: str) -> Answer:
    status = {"State": state, "StateChangeReason": {"Code": code, "Message": message}}
    return json_answer(200, {"Cluster": {"Id": "j-1", "Status": status}})


for title, waiter, answer, tags in (
    (
        "emr cluster still starts when the waiter gives up",
        "cluster_running",
        emr_state("BOOTSTRAPPING", "", ""),
        [WRONG_READING],
    ),
    (
        "emr cluster ended with a bad step",
        "cluster_running",
        emr_state("TERMINATED_WITH_ERRORS", "STEP_FAILURE", "Shut down as step failed"),
        [],
    ),
    (
        "emr cluster ended for lack of capacity",
        "cluster_running",
        emr_state("TERMINATED_WITH_ERRORS", "INTERNAL_ERROR", "Unable to provision: insufficient capacity"),
        [WRONG_READING],
    ),
    (
        "emr cluster ended in bootstrap",
        "cluster_running",
        emr_state(
            "TERMINATED_WITH_ERRORS",
            "BOOTSTRAP_FAILURE",
            "On the master instance (i-1), bootstrap action 1 returned a non-zero return code",
        ),
        [],
    ),
):

    @family.case(title, raises="WaiterError", tags=tags, is_wire_form=True)
    def _(http: HttpServer, waiter: str = waiter, answer: Answer = answer) -> None:
        waits(http, "emr", waiter, answer, ClusterId="j-1")


@family.case("a waiter meets access denied", raises="WaiterError", tags=[WRONG_READING], is_wire_form=True)
def _(http: HttpServer) -> None:
    denied = aws_error(
        client("emr", http.url),
        "AccessDeniedException",
        "User is not authorized to perform: elasticmapreduce:DescribeCluster",
    )
    waits(http, "emr", "cluster_running", denied, ClusterId="j-1")


@family.case("a waiter is throttled", raises="WaiterError", tags=[WRONG_READING], is_wire_form=True)
def _(http: HttpServer) -> None:
    slow = aws_error(client("emr", http.url), "ThrottlingException", "Rate exceeded")
    waits(http, "emr", "cluster_running", slow, ClusterId="j-1")


@family.case("a key does not appear while a waiter waits", raises="WaiterError", is_wire_form=True)
def _(http: HttpServer) -> None:
    waits(http, "s3", "object_exists", Answer(404), Bucket="lake", Key="_SUCCESS")


@family.case("a secret that is not the JSON it should be", raises=("JSONDecodeError", "KeyError"))
def _(http: HttpServer) -> None:
    http.answers(json_answer(200, {"Name": "dwh", "SecretString": f"password={CANARY}"}))
    json.loads(client("secretsmanager", http.url).get_secret_value(SecretId="dwh")["SecretString"])


if __name__ == "__main__":
    family.run()
