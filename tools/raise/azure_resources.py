# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "azure-core==1.41.0",
#     "azure-keyvault-secrets==4.12.0",
#     "azure-mgmt-compute==39.0.0",
#     "cryptography==50.0.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Azure's clients of Key Vault and of the Resource Manager raise."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from azure.core.credentials import AccessToken
from azure.keyvault.secrets import SecretClient
from azure.mgmt.compute import ComputeManagementClient
from harness import CANARY, WRONG_READING, Family
from servers.http import Answer, Request, html, json_answer
from servers.tls import HttpsServer, https_server

family = Family(
    __file__, "azure-mgmt-compute", servers={"https": https_server("localhost", "127.0.0.1")}, is_wire_form=True
)


TENANT = "11111111-2222-3333-4444-555555555555"


QUICK: dict[str, Any] = {"retry_total": 0, "connection_timeout": 1, "read_timeout": 1}


class Token:
    """A credential that has a token."""

    def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        return AccessToken(CANARY, int(time.time()) + 3600)


# Key Vault: https://learn.microsoft.com/azure/key-vault/general/rest-error-codes
def secret(https: HttpsServer, answer: Answer) -> None:
    scheme = f'Bearer authorization="https://login.example/{TENANT}", resource="https://vault.azure.net"'

    def route(request: Request) -> Answer:
        has_token = any(name.lower() == "authorization" for name in request.headers)
        return answer if has_token else Answer(401, "", {"WWW-Authenticate": scheme})

    https.routes(route)
    options = {"verify_challenge_resource": False, "connection_verify": str(https.root), **QUICK}
    SecretClient(f"https://localhost:{https.port}", Token(), **options).get_secret("dwh-password")


for title, status, code, inner, message, headers, tags in (
    (
        "secret is none",
        404,
        "SecretNotFound",
        None,
        (
            "A secret with (name/id) dwh-password was not found in this key vault. If you recently deleted this"
            " secret you may be able to recover it."
        ),
        {},
        [],
    ),
    (
        "secret is disabled",
        403,
        "Forbidden",
        "SecretDisabled",
        "Operation get is not allowed on a disabled secret.",
        {},
        [WRONG_READING],
    ),
    (
        "role is missing",
        403,
        "Forbidden",
        "ForbiddenByRbac",
        (
            "Caller is not authorized to perform action on resource. If role assignments, deny assignments or role"
            " definitions were changed recently, please observe propagation time."
        ),
        {},
        [],
    ),
    (
        "firewall forbids the address",
        403,
        "Forbidden",
        "ForbiddenByFirewall",
        "Client address is not authorized and caller is not a trusted service. Client address: 10.0.0.9",
        {},
        [WRONG_READING],
    ),
    (
        "too many requests",
        429,
        "Throttled",
        None,
        "Request was not processed because too many requests were received. Reason: VaultRequestTypeLimitReached",
        {"Retry-After": "10"},
        [],
    ),
    (
        "subscription has too many requests",
        429,
        "Throttled",
        None,
        (
            "Request was not processed because too many requests were received. Reason:"
            " SubscriptionRequestTypeLimitReached"
        ),
        {},
        [],
    ),
    (
        "vault has a conflict",
        409,
        "Conflict",
        "ObjectIsBeingDeleted",
        "Secret dwh-password is currently being deleted and cannot be re-created; retry later.",
        {},
        [WRONG_READING],
    ),
    (
        "name is not valid",
        400,
        "BadParameter",
        None,
        "The request URI contains an invalid name: dwh_password",
        {},
        [],
    ),
):

    @family.case(f"key vault: {title}", raises="HttpResponseError", tags=tags, library="azure-keyvault-secrets")
    def _(
        https: HttpsServer,
        status: int = status,
        code: str = code,
        inner: str | None = inner,
        message: str = message,
        headers: dict[str, str] = headers,
    ) -> None:
        error = {"code": code, "message": message, **({"innererror": {"code": inner}} if inner else {})}
        secret(https, json_answer(status, {"error": error}, headers))


# Resource Manager: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
def compute(https: HttpsServer) -> ComputeManagementClient:
    options = {"base_url": f"https://localhost:{https.port}", "connection_verify": str(https.root), **QUICK}
    return ComputeManagementClient(Token(), TENANT, polling_interval=0, **options)


def arm(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **more}}


management = partial(family.case, library="azure-mgmt-compute", raises="HttpResponseError")
for title, status, code, message, headers, tags in (
    (
        "machine is none",
        404,
        "ResourceNotFound",
        "The Resource 'Microsoft.Compute/virtualMachines/etl' under resource group 'etl' was not found.",
        {},
        [],
    ),
    ("subscription is none", 404, "SubscriptionNotFound", f"The subscription '{TENANT}' could not be found.", {}, []),
    (
        "no right",
        403,
        "AuthorizationFailed",
        (
            f"The client '{TENANT}' with object id '{TENANT}' does not have authorization to perform action"
            f" 'Microsoft.Compute/virtualMachines/read' over scope '/subscriptions/{TENANT}' or the scope is invalid."
            " If access was recently granted, please refresh your credentials."
        ),
        {},
        [],
    ),
    (
        "token has expired",
        401,
        "ExpiredAuthenticationToken",
        (
            "The access token expiry UTC time '8/1/2026 10:00:00 AM' is earlier than current UTC time '8/1/2026"
            " 10:05:00 AM'."
        ),
        {},
        [WRONG_READING],
    ),
    (
        "subscription is disabled",
        409,
        "ReadOnlyDisabledSubscription",
        f"The subscription '{TENANT}' is disabled and therefore marked as read only.",
        {},
        [WRONG_READING],
    ),
    (
        "subscription is throttled",
        429,
        "SubscriptionRequestsThrottled",
        (
            f"Number of requests for subscription '{TENANT}' and operation 'GET/SUBSCRIPTIONS' exceeded the backend"
            " storage limit. Please try again after '17' seconds."
        ),
        {"Retry-After": "17"},
        [],
    ),
    (
        "another operation is going on",
        429,
        "RetryableErrorDueToAnotherOperation",
        "Operation PutNicOperation is retryable due to another operation in progress.",
        {},
        [WRONG_READING],
    ),
    (
        "quota of cores",
        409,
        "OperationNotAllowed",
        (
            "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota."
            " Current Limit: 10, Current Usage: 8, Additional Required: 4"
        ),
        {},
        [WRONG_READING],
    ),
    (
        "provider is not registered",
        409,
        "MissingSubscriptionRegistration",
        "The subscription is not registered to use namespace 'Microsoft.Compute'.",
        {},
        [WRONG_READING],
    ),
    (
        "policy disallows it",
        403,
        "RequestDisallowedByPolicy",
        "Resource 'etl' was disallowed by policy. Reasons: 'Only West Europe'.",
        {},
        [WRONG_READING],
    ),
    (
        "scope is locked",
        409,
        "ScopeLocked",
        (
            "The scope 'etl' cannot perform write operation because following scope(s) are locked. Please remove the"
            " lock and try again."
        ),
        {},
        [WRONG_READING],
    ),
    (
        "size is not available in the zone",
        409,
        "SkuNotAvailable",
        (
            "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions:"
            " Standard_D4s_v5' is currently not available in location 'westeurope'."
        ),
        {},
        [WRONG_READING],
    ),
    (
        "parameter is not valid",
        400,
        "InvalidParameter",
        "The value 'Standard_X' of parameter 'vmSize' is invalid.",
        {},
        [],
    ),
):

    @management(f"arm: {title}", tags=tags)
    def _(
        https: HttpsServer,
        status: int = status,
        code: str = code,
        message: str = message,
        headers: dict[str, str] = headers,
    ) -> None:
        https.answers(json_answer(status, arm(code, message), headers))
        compute(https).virtual_machines.get("etl", "etl")


for title, code, message, tags in (
    (
        "no capacity in the zone",
        "ZonalAllocationFailed",
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone.",
        [],
    ),
    (
        "no capacity in the region",
        "AllocationFailed",
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this region.",
        [],
    ),
    (
        "machine did not start in time",
        "OSProvisioningTimedOut",
        "OS Provisioning for VM 'etl' did not finish in the allotted time.",
        [WRONG_READING],
    ),
    (
        "operation was preempted by another one",
        "OperationPreempted",
        "Operation execution has been preempted by a more recent operation.",
        [],
    ),
    (
        "disk is being attached",
        "AttachDiskWhileBeingDetached",
        "Cannot attach data disk 'd' to VM 'etl' because the disk is currently being detached.",
        [WRONG_READING],
    ),
):

    @management(f"arm: start fails as {title}", tags=tags)
    def _(https: HttpsServer, code: str = code, message: str = message) -> None:
        place = f"https://localhost:{https.port}/operations/1"

        def route(request: Request) -> Answer:
            if request.method == "POST":
                return Answer(202, "", {"Azure-AsyncOperation": place, "Retry-After": "0"})
            return json_answer(200, {"status": "Failed", **arm(code, message)})

        https.routes(route)
        compute(https).virtual_machines.begin_start("etl", "etl").result(10)


@management("arm: gateway answers in HTML")
def _(https: HttpsServer) -> None:
    https.answers(html(502, "<html><h2>Our services aren't available right now</h2></html>"))
    compute(https).virtual_machines.get("etl", "etl")


if __name__ == "__main__":
    family.run()
