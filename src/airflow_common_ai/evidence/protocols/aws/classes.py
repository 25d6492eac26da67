"""What the exceptions of botocore, boto3 and s3transfer say that carry no code of a service.

Those about connections are in :mod:`.client_classes`, among all other clients.
"""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["CLASSES"]

_SOURCE = "botocore 1.44.8 exceptions.py"
_TRANSFER = "boto3 1.44.8, s3transfer 0.19.3 exceptions.py"

_ROWS: tuple[tuple[str, Meaning], ...] = (
    (
        # There are none, or the metadata service did not answer in its second: the class says the same of both.
        "NoCredentialsError",
        hint(depends("auth", Wait.SHORT, "no credentials were found, or the metadata service did not answer", _SOURCE)),
    ),
    (
        "CredentialRetrievalError TokenRetrievalError NoAuthTokenError",
        depends("auth", Wait.SHORT, "no credentials were found; the metadata service may not have answered", _SOURCE),
    ),
    (
        "MetadataRetrievalError",
        depends("network", Wait.SHORT, "the metadata service did not answer well", _SOURCE, 3),
    ),
    (
        "PartialCredentialsError SSOError SSOTokenLoadError UnauthorizedSSOTokenError LoginError LoginRefreshRequired"
        " LoginInsufficientPermissions LoginTokenLoadError LoginAuthorizationCodeError RefreshWithMFAUnsupportedError"
        " UnknownCredentialError UnknownTokenProviderError",
        no("auth", "the credentials need a person", _SOURCE),
    ),
    (
        "BaseEndpointResolverError NoRegionError EndpointVariantError UnknownEndpointError UnknownFIPSEndpointError"
        " EndpointProviderError EndpointResolutionError UnknownRegionError InvalidRegionError ProfileNotFound"
        " ConfigParseError ConfigNotFound InvalidConfigError DataNotFoundError UnknownServiceError"
        " ApiVersionNotFoundError"
        " InvalidIMDSEndpointError InvalidRetryConfigurationError InvalidProxiesConfigError"
        " InvalidEndpointConfigurationError InvalidChecksumConfigError InvalidDefaultsMode ServiceNotInRegionError"
        " MissingDependencyException UnknownSignatureVersionError UnsupportedSignatureVersionError"
        " UnsupportedServiceProtocolsError WaiterConfigError",
        no("permanent", "the AWS client is not configured in a way that can work", _SOURCE),
    ),
    (
        "ParamValidationError ValidationError UnknownKeyError RangeError UnknownParameterError MissingParametersError"
        " InvalidDNSNameError InvalidHostLabelError"
        " UnsupportedS3ArnError UnsupportedS3ControlArnError UnsupportedS3ConfigurationError"
        " UnsupportedS3ControlConfigurationError UnsupportedOutpostResourceError InvalidS3AddressingStyleError"
        " OperationNotPageableError UnknownClientMethodError InvalidExpressionError",
        no("data", "the call itself is wrong; nothing was sent", _SOURCE),
    ),
    ("CapacityNotAvailableError", yes("rate_limit", Wait.MEDIUM, "botocore's own budget of retries is spent", _SOURCE)),
    (
        "UnseekableStreamError",
        depends("network", Wait.SHORT, "an upload broke off and its stream cannot be sent again", _SOURCE),
    ),
    ("PaginationError", depends("transient", Wait.SHORT, "a listing went in a circle", _SOURCE)),
)
_TRANSFER_ROWS: tuple[tuple[str, Meaning], ...] = (
    (
        "boto3.RetriesExceededError s3transfer.RetriesExceededError",
        yes("network", Wait.MEDIUM, "a transfer broke off again and again", _TRANSFER),
    ),
    (
        "s3transfer.S3DownloadFailedError s3transfer.S3ValidationError",
        yes("network", Wait.SHORT, "a transfer was damaged, or its object changed meanwhile", _TRANSFER),
    ),
)

CLASSES: Mapping[str, Meaning] = {
    **{f"botocore.{name}": meaning for names, meaning in _ROWS for name in names.split()},
    **{kind: meaning for kinds, meaning in _TRANSFER_ROWS for kind in kinds.split()},
}
"""By top package and name."""
