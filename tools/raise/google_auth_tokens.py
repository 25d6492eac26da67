# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cryptography==50.0.2",
#     "gcsfs==2026.10.1",
#     "google-auth==2.62.0",
#     "google-auth-oauthlib==1.5.0",
#     "requests==2.34.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What google-auth raises when there is no token to be had, and gcsfs for errors of Cloud Storage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google.auth
import google.auth.identity_pool
import google.auth.impersonated_credentials
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth.transport.requests import Request
from google.oauth2 import service_account
from google.oauth2.credentials import Credentials
from harness import CANARY, WRONG_READING, Family
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "google-auth", servers={"http": http_server}, is_wire_form=True)
EMAIL = "etl@etl-prod.iam.gserviceaccount.com"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
KEY_BITS = 2048
PRIVATE_KEY = (
    rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    .private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    .decode()
)


def robot(url: str, **changes: Any) -> dict[str, Any]:
    """Return the JSON key of a service account whose tokens come from this server."""
    identity = {"type": "service_account", "client_email": EMAIL, "client_id": "1", "project_id": "etl-prod"}
    return {**identity, "private_key": PRIVATE_KEY, "private_key_id": CANARY, "token_uri": f"{url}/token", **changes}


def by_key(url: str) -> None:
    credentials = service_account.Credentials.from_service_account_info(robot(url), scopes=SCOPES)
    credentials.refresh(Request())


def by_login(url: str) -> None:
    keys = {"client_id": "1.apps.googleusercontent.example", "client_secret": CANARY, "refresh_token": CANARY}
    Credentials(None, token_uri=f"{url}/token", **keys).refresh(Request())


def oauth(status: int, error: str, description: str | None = None, **more: Any) -> Answer:
    return json_answer(status, {"error": error, **({"error_description": description} if description else {}), **more})


# https://developers.google.com/identity/protocols/oauth2/service-account#error-codes
for title, call, answer, tags in (
    (
        "clock is wrong",
        by_key,
        oauth(
            400,
            "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your"
            " iat and exp values in the JWT claim.",
        ),
        [WRONG_READING],
    ),
    ("key was deleted", by_key, oauth(400, "invalid_grant", "Invalid JWT Signature."), []),
    ("account is none", by_key, oauth(400, "invalid_grant", "Invalid grant: account not found"), []),
    ("account is disabled", by_key, oauth(401, "disabled_client", "The OAuth client was disabled."), []),
    (
        "scopes are not allowed for the domain",
        by_key,
        oauth(
            401,
            "unauthorized_client",
            "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of"
            " the scopes requested.",
        ),
        [],
    ),
    ("login was revoked", by_login, oauth(400, "invalid_grant", "Token has been expired or revoked."), []),
    (
        "login needs a person again",
        by_login,
        oauth(400, "invalid_grant", "reauth related error (invalid_rapt)", error_subtype="invalid_rapt"),
        [WRONG_READING],
    ),
    ("client is none", by_login, oauth(401, "invalid_client", "The OAuth client was not found."), []),
    ("token service has an error", by_login, oauth(500, "internal_failure"), [WRONG_READING]),
    (
        "token service is overloaded",
        by_key,
        oauth(503, "temporarily_unavailable", "Service is overloaded, try again later"),
        [WRONG_READING],
    ),
    (
        "token service has too many requests",
        by_login,
        oauth(429, "rate_limit_exceeded", "Too many token requests for this client"),
        [WRONG_READING],
    ),
    (
        "token service answers in HTML",
        by_login,
        html(502, "<html><title>Error 502 (Server Error)!!1</title></html>"),
        [WRONG_READING],
    ),
    ("token service answers without a token", by_login, json_answer(200, {"token_type": "Bearer"}), []),
):

    @family.case(title, raises="RefreshError", tags=tags)
    def _(http: HttpServer, call: Callable[[str], None] = call, answer: Answer = answer) -> None:
        call(http.answers(answer))


@family.case("token service refuses connections", raises="TransportError")
def _() -> None:
    with refused_port() as port:
        by_key(f"http://127.0.0.1:{port}")


@family.case("token service does not exist", raises="TransportError")
def _() -> None:
    by_key("https://oauth2.invalid")


@family.case("token service hangs up", raises="TransportError")
def _(http: HttpServer) -> None:
    by_login(http.answers(Answer(raw=b"")))


# Where credentials come from.
@family.case("no credentials at all", raises="DefaultCredentialsError")
def _() -> None:
    os.environ |= {"NO_GCE_CHECK": "true", "HOME": str(Path.cwd()), "CLOUDSDK_CONFIG": str(Path.cwd())}
    google.auth.default()


@family.case("the file of credentials is not there", raises="DefaultCredentialsError")
def _() -> None:
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = "/var/run/secrets/google/key.json"
    google.auth.default()


@family.case("the file of credentials is no JSON", raises="DefaultCredentialsError")
def _() -> None:
    Path("key.json").write_text(f"private_key = {CANARY}")
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = "key.json"
    google.auth.default()


@family.case("the file of credentials is of another kind", raises="DefaultCredentialsError")
def _() -> None:
    Path("key.json").write_text(json.dumps({"type": "api_key", "key": CANARY}))
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = "key.json"
    google.auth.default()


@family.case("a key without its e-mail address", raises="MalformedError")
def _() -> None:
    info = robot("https://oauth2.example")
    info.pop("client_email")
    service_account.Credentials.from_service_account_info(info)


@family.case("a key whose PEM is damaged", raises="ValueError")
def _() -> None:
    info = robot(
        "https://oauth2.example", private_key=f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n"
    )
    service_account.Credentials.from_service_account_info(info)


def on_metadata(http: HttpServer, answer: Answer) -> None:
    """Ask the metadata server of a machine, which is on loopback."""
    from google.auth import compute_engine
    from google.auth.compute_engine import _metadata

    place = http.answers(answer).removeprefix("http://")
    _metadata._GCE_METADATA_HOST = place  # read from the environment once, at import
    _metadata._METADATA_ROOT = f"http://{place}/computeMetadata/v1/"
    compute_engine.Credentials().refresh(Request())


METADATA = {"Metadata-Flavor": "Google"}


@family.case("the machine has no service account", raises=("RefreshError", "TransportError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    on_metadata(http, Answer(404, "", METADATA))


@family.case("the metadata server is not reached", raises=("RefreshError", "TransportError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    on_metadata(http, Answer(503, "", METADATA))


@family.case("the metadata server answers something else", raises=("RefreshError", "TransportError"))
def _(http: HttpServer) -> None:
    on_metadata(http, Answer(200, "{", {**METADATA, "Content-Type": "application/json"}))


# Impersonation and workload identity.
def impersonate(url: str) -> None:
    source = Credentials(token=CANARY)
    google.auth.impersonated_credentials.Credentials(
        source_credentials=source,
        target_principal=EMAIL,
        target_scopes=SCOPES,
        iam_endpoint_override=f"{url}/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken",
    ).refresh(Request())


def rpc_error(status: int, word: str, message: str) -> Answer:
    return json_answer(status, {"error": {"code": status, "message": message, "status": word}})


for title, answer, tags in (
    (
        "may not impersonate",
        rpc_error(
            403,
            "PERMISSION_DENIED",
            "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).",
        ),
        [],
    ),
    (
        "impersonation is throttled",
        rpc_error(
            429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Generate credentials requests per minute'"
        ),
        [WRONG_READING],
    ),
    (
        "impersonation is unavailable",
        rpc_error(503, "UNAVAILABLE", "The service is currently unavailable."),
        [WRONG_READING],
    ),
    ("account to impersonate is none", rpc_error(404, "NOT_FOUND", "Not found; Gaia id not found for email etl"), []),
):

    @family.case(title, raises="RefreshError", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        impersonate(http.answers(answer))


def exchange(url: str, file: str = "token") -> None:
    google.auth.identity_pool.Credentials(
        audience="//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/etl/providers/aws",
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        token_url=f"{url}/token",
        credential_source={"file": file},
        scopes=SCOPES,
    ).refresh(Request())


@family.case("token of another cloud is not accepted", raises="OAuthError")
def _(http: HttpServer) -> None:
    Path("token").write_text(CANARY)
    exchange(
        http.answers(oauth(400, "invalid_grant", "The audience in ID Token does not match the expected audience."))
    )


@family.case("token of another cloud has expired", raises="OAuthError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    Path("token").write_text(CANARY)
    exchange(http.answers(oauth(400, "invalid_grant", "ID Token issued at 1 is stale to sign-in.")))


@family.case("token of another cloud is not on disk", raises="RefreshError")
def _(http: HttpServer) -> None:
    exchange(http.url, "/var/run/service-account/token")


# gcsfs: https://cloud.google.com/storage/docs/json_api/v1/status-codes
def bucket_files(url: str) -> Any:
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"  # it asks by gRPC else
    import gcsfs

    return gcsfs.GCSFileSystem("etl-prod", token="anon", endpoint_url=url, skip_instance_cache=True, timeout=2)


def json_error(status: int, reason: str, message: str) -> Answer:
    return json_answer(
        status, {"error": {"code": status, "message": message, "errors": [{"reason": reason, "message": message}]}}
    )


def read(url: str) -> Any:
    return bucket_files(url).cat_file("lake/orders.csv")


for title, raises, answer, tags in (
    (
        "gcsfs: object is none",
        "FileNotFoundError",
        json_error(404, "notFound", "No such object: lake/orders.csv"),
        [],
    ),
    (
        "gcsfs: no right",
        "OSError",
        json_error(
            403, "forbidden", "etl does not have storage.objects.get access to the Google Cloud Storage object."
        ),
        [],
    ),
    (
        "gcsfs: token is not valid",
        "Exception",
        json_error(401, "authError", "Request had invalid authentication credentials."),
        [],
    ),
    ("gcsfs: request is bad", "Exception", json_error(400, "invalid", "Invalid argument."), []),
    (
        "gcsfs: requester pays",
        "ValueError",
        json_error(400, "required", "Bucket is a requester pays bucket but no user project provided."),
        [],
    ),
    (
        "gcsfs: object is there already",
        "Exception",
        json_error(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold."),
        [],
    ),
):

    @family.case(title, raises=raises, tags=tags, library="gcsfs")
    def _(http: HttpServer, answer: Answer = answer) -> None:
        read(http.answers(answer))


if __name__ == "__main__":
    family.run()
