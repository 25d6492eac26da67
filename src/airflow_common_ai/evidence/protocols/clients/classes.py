"""What the exception classes of client libraries say that keep a ``ConnectionError`` or a timeout of their own.

Clients of HTTP are :mod:`.http_classes`. The class is the last thing to ask: where a library keeps a status, a code
or the system's error, that speaks louder. It also settles what a base class would get wrong: Redis makes a refused
login a connection error, and SQLAlchemy calls its own empty pool a timeout.
"""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Signal, Wait
from airflow_common_ai.evidence.protocols.class_table import ClassRow, signals_by_kind
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["SIGNALS"]

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_HTTP = "requests 2.34.2, urllib3 2.8.0, aiohttp 3.14.5"
_BOTO = "botocore 1.44.8"
_REDIS = "redis 8.1.0"
_MONGO = "pymongo 4.20.1"
_SSH = "paramiko 5.1.0, asyncssh 2.24.1"
_OTHER = "the library's documentation of its exceptions"

_LOST = "the connection could not be made or broke off"
_SLOW = "the other side did not answer in time"
_LOGIN = "the login was refused"
_TLS = "TLS failed; the reason stands deeper in the chain"

_ROWS: tuple[ClassRow, ...] = (
    # TLS wrappers: without a reason in the chain or in the words they say too little
    (
        "requests.SSLError urllib3.SSLError botocore.SSLError elastic_transport.TlsError elasticsearch.SSLError"
        " aiohttp.ClientSSLError aiohttp.ClientConnectorSSLError",
        hint(depends("network", _SHORT, _TLS, _HTTP, 3)),
    ),
    (
        "aiohttp.ClientConnectorCertificateError aiohttp.ServerFingerprintMismatch",
        no("permanent", "the server's certificate is not trusted", _HTTP),
    ),
    # names that do not resolve
    (
        "urllib3.NameResolutionError aiohttp.ClientConnectorDNSError",
        depends("network", _MEDIUM, "the host name could not be resolved", _HTTP, 3),
    ),
    ("dns.NXDOMAIN dns.NoAnswer", depends("network", _MEDIUM, "the host name could not be resolved", _OTHER, 3)),
    ("dns.LifetimeTimeout dns.NoNameservers dns.Timeout", yes("network", _SHORT, "no name server answered", _OTHER)),
    # AWS
    (
        "botocore.EndpointConnectionError botocore.ConnectionError botocore.ConnectionClosedError"
        " botocore.ProxyConnectionError botocore.HTTPClientError botocore.ResponseStreamingError"
        " botocore.IncompleteReadError",
        yes("network", _SHORT, _LOST, _BOTO),
    ),
    ("botocore.ConnectTimeoutError botocore.ReadTimeoutError", yes("network", _SHORT, _SLOW, _BOTO)),
    ("botocore.ChecksumError botocore.FlexibleChecksumError", yes("network", _NOW, "the transfer was damaged", _BOTO)),
    # Google
    ("google.TransportError", yes("network", _SHORT, "the identity service could not be reached", _OTHER)),
    ("google.DataCorruption", yes("network", _NOW, "the transfer was damaged", _OTHER)),
    # Redis
    ("redis.ConnectionError", yes("network", _SHORT, _LOST, _REDIS)),
    ("redis.TimeoutError", yes("network", _SHORT, _SLOW, _REDIS)),
    (
        "redis.AuthenticationError redis.AuthenticationWrongNumberOfArgsError redis.AuthorizationError"
        " redis.NoPermissionError redis.ExternalAuthProviderError",
        no("auth", _LOGIN, _REDIS),
    ),
    ("redis.MaxConnectionsError", yes("rate_limit", _MEDIUM, "too many connections to Redis", _REDIS)),
    ("redis.BusyLoadingError", yes("transient", _MEDIUM, "Redis is loading its data", _REDIS)),
    (
        "redis.ClusterDownError redis.MasterDownError redis.TryAgainError redis.MovedError redis.AskError"
        " redis.SlotNotCoveredError",
        yes("transient", _SHORT, "the Redis cluster is moving or down", _REDIS),
    ),
    ("redis.ReadOnlyError", depends("transient", _SHORT, "this Redis is a read-only replica", _REDIS, 3)),
    ("neo4j.TransientError", yes("transient", _SHORT, "Neo4j says that it may be tried again", "Neo4j status codes")),
    ("redis.OutOfMemoryError", depends("transient", _MEDIUM, "Redis has no memory left", _REDIS, 3)),
    ("redis.WatchError", yes("transient", _NOW, "another client changed a watched key", _REDIS)),
    ("redis.LockError", depends("transient", _SHORT, "the lock was not obtained", _REDIS, 3)),
    (
        "redis.DataError redis.NoScriptError redis.ClusterCrossSlotError redis.CrossSlotTransactionError",
        no("data", "Redis cannot work with this value or command", _REDIS),
    ),
    # MongoDB
    ("pymongo.NetworkTimeout pymongo.ServerSelectionTimeoutError", yes("network", _SHORT, _SLOW, _MONGO)),
    ("pymongo.AutoReconnect pymongo.ConnectionFailure", yes("network", _SHORT, _LOST, _MONGO)),
    ("pymongo.NotPrimaryError", yes("transient", _SHORT, "the MongoDB primary has just changed", _MONGO)),
    ("pymongo.WaitQueueTimeoutError", depends("transient", _MEDIUM, "the client's own pool is exhausted", _MONGO, 3)),
    ("pymongo.ExecutionTimeout", depends("permanent", _SHORT, "the query hit its own time limit", _MONGO)),
    ("pymongo.DuplicateKeyError", no("data", "the key is already in the collection", _MONGO)),
    ("pymongo.DocumentTooLarge bson.InvalidDocument bson.InvalidBSON", no("data", "the document is not valid", _MONGO)),
    ("pymongo.ConfigurationError pymongo.InvalidURI", no("permanent", "MongoDB is configured wrongly", _MONGO)),
    # queues
    (
        "kafka.NoBrokersAvailable kafka.KafkaConnectionError kafka.NodeNotReadyError kafka.BrokerNotAvailableError"
        " pika.AMQPConnectionError pika.ConnectionClosed pika.StreamLostError kombu.OperationalError"
        " aiokafka.KafkaConnectionError aiormq.AMQPConnectionError nats.NoServersError",
        yes("network", _SHORT, _LOST, _OTHER),
    ),
    ("kafka.KafkaTimeoutError aiokafka.KafkaTimeoutError", yes("network", _SHORT, _SLOW, _OTHER)),
    ("pika.AuthenticationError pika.ProbableAuthenticationError", no("auth", _LOGIN, _OTHER)),
    ("pika.ProbableAccessDeniedError", no("auth", _LOGIN, _OTHER)),
    # SSH
    ("paramiko.NoValidConnectionsError", yes("network", _MEDIUM, _LOST, _SSH)),
    ("paramiko.ChannelException asyncssh.ChannelOpenError", yes("network", _SHORT, "no SSH channel was opened", _SSH)),
    (
        "asyncssh.ConnectionLost asyncssh.DisconnectError paramiko.ProxyCommandFailure",
        yes("network", _SHORT, "the SSH connection was lost", _SSH),
    ),
    (
        "paramiko.AuthenticationException paramiko.BadAuthenticationType paramiko.PasswordRequiredException"
        " paramiko.BadHostKeyException paramiko.UnableToAuthenticate asyncssh.PermissionDenied"
        " asyncssh.HostKeyNotVerifiable asyncssh.KeyEncryptionError",
        no("auth", "the SSH login or host key was refused", _SSH),
    ),
    (
        "paramiko.IncompatiblePeer asyncssh.KeyExchangeFailed asyncssh.ProtocolNotSupported",
        no("permanent", "no SSH algorithm that both sides allow", _SSH),
    ),
    ("paramiko.SSHException asyncssh.Error", hint(depends("network", _SHORT, "SSH failed", _SSH, 3))),
    # databases and their pools
    (
        "sqlalchemy.TimeoutError",
        depends("transient", _MEDIUM, "the task's own connection pool is exhausted", _OTHER, 3),
    ),
    (
        "psycopg_pool.PoolTimeout",
        depends("transient", _MEDIUM, "the task's own connection pool is exhausted", _OTHER, 3),
    ),
    # secrets and tokens
    ("hvac.VaultDown hvac.BadGateway", yes("transient", _MEDIUM, "Vault is down, sealed or electing", "hvac 2.4.0")),
    ("hvac.InvalidPath", no("resource", "there is no such secret", "hvac 2.4.0")),
    (
        "jwt.ExpiredSignatureError jwt.ImmatureSignatureError",
        depends("auth", _SHORT, "the token is too old or too new", "PyJWT 2.12"),
    ),
    (
        "jwt.InvalidSignatureError jwt.InvalidAudienceError jwt.InvalidIssuerError jwt.InvalidAlgorithmError"
        " jwt.DecodeError",
        no("auth", "the token is not accepted", "PyJWT 2.12"),
    ),
    # the layers below HTTP clients
    (
        "anyio.BrokenResourceError anyio.EndOfStream anyio.ClosedResourceError h11.RemoteProtocolError"
        " h2.StreamClosedError websockets.ConnectionClosed websockets.ConnectionClosedError trio.BrokenResourceError",
        yes("network", _SHORT, _LOST, _OTHER),
    ),
    # mail
    (
        "smtplib.SMTPServerDisconnected aiosmtplib.SMTPServerDisconnected aiosmtplib.SMTPConnectError",
        yes("network", _SHORT, "the mail server hung up or cannot be reached", _OTHER),
    ),
    ("aiosmtplib.SMTPTimeoutError", yes("network", _SHORT, _SLOW, _OTHER)),
)

SIGNALS: Mapping[str, Signal] = signals_by_kind(_ROWS)
"""What each class says, by kind."""
