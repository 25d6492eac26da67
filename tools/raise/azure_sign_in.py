# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "azure-core==1.41.0",
#     "azure-identity==1.27.0",
#     "cryptography==50.0.2",
#     "msal==1.39.0",
#     "requests==2.34.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What azure-identity and MSAL raise when there is no token to be had."""

from __future__ import annotations

import os
from typing import Any

import msal
from azure.identity import (
    AzureCliCredential,
    CertificateCredential,
    ChainedTokenCredential,
    ClientSecretCredential,
    DefaultAzureCredential,
    EnvironmentCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port
from servers.tls import HttpsServer, https_server

family = Family(
    __file__,
    "azure-identity",
    servers={"http": http_server, "https": https_server("localhost", "127.0.0.1")},
    is_wire_form=True,
)


TENANT = "11111111-2222-3333-4444-555555555555"
APP = "66666666-7777-8888-9999-000000000000"
TRACE = "Trace ID: aaaaaaaa-0000-0000-0000-000000000000 Correlation ID: bbbbbbbb-0000-0000-0000-000000000000"
SCOPE = "https://storage.azure.com/.default"
QUICK: dict[str, Any] = {"retry_total": 0, "connection_timeout": 1, "read_timeout": 1}


# Sign-in. Codes: https://learn.microsoft.com/entra/identity-platform/reference-error-codes
def sign_in(https: HttpsServer, answer: Answer) -> str:
    """Let the token endpoint answer so."""

    def route(request: Request) -> Answer:
        if "openid-configuration" in request.path:
            base = f"https://localhost:{https.port}/{TENANT}"
            places = {
                "token_endpoint": f"{base}/oauth2/v2.0/token",
                "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
            }
            return json_answer(200, {**places, "issuer": f"{base}/v2.0", "tenant_region_scope": "EU"})
        return answer

    https.routes(route)
    return f"https://localhost:{https.port}"


def with_secret(https: HttpsServer, answer: Answer) -> None:
    options = {"disable_instance_discovery": True, "connection_verify": str(https.root), **QUICK}
    ClientSecretCredential(TENANT, APP, CANARY, authority=sign_in(https, answer), **options).get_token(SCOPE)


def entra(status: int, error: str, number: int, text: str) -> Answer:
    words = f"AADSTS{number}: {text} {TRACE} Timestamp: 2026-08-01 10:00:00Z"
    return json_answer(status, {"error": error, "error_description": words, "error_codes": [number]})


for title, answer, tags in (
    (
        "secret is wrong",
        entra(
            401,
            "invalid_client",
            7000215,
            "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value,"
            f" not the client secret ID, for a secret added to app '{APP}'.",
        ),
        [],
    ),
    (
        "secret has expired",
        entra(
            401,
            "invalid_client",
            7000222,
            f"The provided client secret keys for app '{APP}' are expired. Visit the Azure portal to create new keys"
            " for your app.",
        ),
        [WRONG_READING],
    ),
    (
        "app is none",
        entra(
            400,
            "unauthorized_client",
            700016,
            f"Application with identifier '{APP}' was not found in the directory 'Contoso'.",
        ),
        [],
    ),
    (
        "tenant is none",
        entra(
            400,
            "invalid_request",
            90002,
            f"Tenant '{TENANT}' not found. Check to make sure you have the correct tenant ID.",
        ),
        [],
    ),
    (
        "conditional access forbids it",
        entra(
            400,
            "invalid_grant",
            53003,
            "Access has been blocked by Conditional Access policies. The access policy does not allow token issuance.",
        ),
        [],
    ),
    (
        "request timed out at the directory",
        entra(400, "temporarily_unavailable", 90033, "A transient error has occurred. Please try again."),
        [WRONG_READING],
    ),
    (
        "directory is being changed",
        entra(
            400,
            "invalid_request",
            90024,
            "RequestBudgetExceededError - A transient error has occurred. Please try again.",
        ),
        [WRONG_READING],
    ),
    (
        "client asks in a loop",
        entra(
            400,
            "invalid_grant",
            50196,
            "The server terminated an operation because it encountered a client request loop.",
        ),
        [WRONG_READING],
    ),
    (
        "directory throttles",
        Answer(429, '{"error": "temporarily_unavailable"}', {"Retry-After": "15", "Content-Type": "application/json"}),
        [WRONG_READING],
    ),
    ("directory is unavailable", html(503, "<html><body>Service Unavailable</body></html>"), [WRONG_READING]),
    (
        "clock is wrong",
        entra(401, "invalid_client", 700024, "Client assertion is not within its valid time range."),
        [WRONG_READING],
    ),
):

    @family.case(
        f"{title}",
        raises=(
            "ClientAuthenticationError",
            "HttpResponseError",
            "JSONDecodeError",
            "DecodeError",
            "MsalServiceError",
            "HTTPError",
        ),
        tags=tags,
    )
    def _(https: HttpsServer, answer: Answer = answer) -> None:
        with_secret(https, answer)


@family.case("certificate of the directory is not trusted", raises="ClientAuthenticationError", tags=[WRONG_READING])
def _(https: HttpsServer) -> None:
    authority = sign_in(https, Answer(200))
    ClientSecretCredential(
        TENANT, APP, CANARY, authority=authority, disable_instance_discovery=True, **QUICK
    ).get_token(SCOPE)


@family.case("connection is refused", raises="ClientAuthenticationError", tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        authority = f"https://localhost:{port}"
        ClientSecretCredential(
            TENANT, APP, CANARY, authority=authority, disable_instance_discovery=True, **QUICK
        ).get_token(SCOPE)


@family.case("authority without TLS", raises="ValueError")
def _(http: HttpServer) -> None:
    ClientSecretCredential(TENANT, APP, CANARY, authority=http.url)


@family.case("certificate file is not there", raises="FileNotFoundError")
def _() -> None:
    CertificateCredential(TENANT, APP, "client.pem")


@family.case("nothing in the environment", raises="CredentialUnavailableError")
def _() -> None:
    EnvironmentCredential().get_token(SCOPE)


@family.case("command line tool is not installed", raises="CredentialUnavailableError")
def _() -> None:
    os.environ["PATH"] = "/nowhere"
    AzureCliCredential().get_token(SCOPE)


@family.case("a chain in which nothing is available", raises="ClientAuthenticationError", tags=[WRONG_READING])
def _() -> None:
    os.environ["PATH"] = "/nowhere"
    ChainedTokenCredential(EnvironmentCredential(), AzureCliCredential()).get_token(SCOPE)


@family.case("default chain meets an expired secret", raises="ClientAuthenticationError")
def _(https: HttpsServer) -> None:
    authority = sign_in(
        https, entra(401, "invalid_client", 7000222, f"The provided client secret keys for app '{APP}' are expired.")
    )
    os.environ |= {
        "AZURE_TENANT_ID": TENANT,
        "AZURE_CLIENT_ID": APP,
        "AZURE_CLIENT_SECRET": CANARY,
        "PATH": "/nowhere",
    }
    others = (
        "cli",
        "developer_cli",
        "powershell",
        "shared_token_cache",
        "managed_identity",
        "workload_identity",
        "visual_studio_code",
    )
    options: dict[str, Any] = {f"exclude_{name}_credential": True for name in others}
    options |= {"disable_instance_discovery": True, "connection_verify": str(https.root), **QUICK}
    DefaultAzureCredential(authority=authority, **options).get_token(SCOPE)


@family.case(
    "workload identity without its file",
    raises=("FileNotFoundError", "ValueError", "ClientAuthenticationError"),
)
def _(https: HttpsServer) -> None:
    options = {"disable_instance_discovery": True, "connection_verify": str(https.root), **QUICK}
    WorkloadIdentityCredential(
        tenant_id=TENANT,
        client_id=APP,
        token_file_path="/var/run/secrets/azure/tokens/azure-identity-token",
        authority=sign_in(https, Answer(200)),
        **options,
    ).get_token(SCOPE)


def managed_identity(http: HttpServer, answer: Answer) -> None:
    """Ask the identity endpoint of an app service, which is on loopback."""
    os.environ |= {"IDENTITY_ENDPOINT": http.answers(answer) + "/msi/token", "IDENTITY_HEADER": CANARY}
    ManagedIdentityCredential(**QUICK).get_token(SCOPE)


@family.case("managed identity is not assigned", raises=("CredentialUnavailableError", "ClientAuthenticationError"))
def _(http: HttpServer) -> None:
    managed_identity(
        http,
        json_answer(
            400,
            {
                "statusCode": 400,
                "message": (
                    "No User Assigned or Delegated Managed Identity found for specified"
                    " ClientId/ResourceId/PrincipalId."
                ),
            },
        ),
    )


@family.case(
    "managed identity fails for a moment",
    raises=("ClientAuthenticationError", "CredentialUnavailableError"),
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    managed_identity(http, json_answer(500, {"statusCode": 500, "message": "Internal server error, please retry"}))


class LoadError(Exception):
    """A task's own."""


for title, answer in (
    ("msal: wrong secret in words", entra(401, "invalid_client", 7000215, "Invalid client secret provided.")),
    (
        "msal: no consent in words",
        entra(
            400,
            "invalid_grant",
            65001,
            f"The user or administrator has not consented to use the application with ID '{APP}'.",
        ),
    ),
    (
        "msal: refresh token has expired in words",
        entra(
            400,
            "invalid_grant",
            700082,
            "The refresh token has expired due to inactivity. The token was issued on 2026-01-01 and was inactive for"
            " 90.00:00:00.",
        ),
    ),
):

    @family.case(title, raises="LoadError", tags=[FROM_TEXT], library="msal")
    def _(https: HttpsServer, answer: Answer = answer) -> None:
        os.environ["REQUESTS_CA_BUNDLE"] = str(https.root)
        authority = f"{sign_in(https, answer)}/{TENANT}"
        options = {"instance_discovery": False, "verify": str(https.root), "timeout": 2}
        app = msal.ConfidentialClientApplication(APP, client_credential=CANARY, authority=authority, **options)
        token = app.acquire_token_for_client([SCOPE])
        if "access_token" not in token:
            raise LoadError(f"Could not acquire token: {token.get('error')}: {token.get('error_description')}")


if __name__ == "__main__":
    family.run()
