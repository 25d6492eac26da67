"""What the exception classes of brokers, directories and wide-column stores say where the server sent no code.

Their common failures to connect are in :mod:`.client_classes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Signal, Wait
from airflow_common_ai.evidence.protocols.class_table import ClassRow, signals_by_kind
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["ROOTS", "SIGNALS"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_NATS = "nats-py 2.16.0"
_CELERY = "celery 5.7.0, kombu 5.7.0, billiard"
_AMQP = "pika 1.4.4, amqp 5.4.2, aiormq"
_CASSANDRA = "cassandra-driver 3.30.1"
_LDAP = "ldap3 2.9.1, python-ldap"
_KAFKA = "kafka-python 3.0.12 and 2.0.2, aiokafka 0.14.0"
_SFTP = "asyncssh 2.24.1"
_ZOOKEEPER = "kazoo 2.11.0; ZooKeeper KeeperException.Code"
_OTHER = "stomp.py 9.0.0, pulsar-client 3"

_LOST = "the connection could not be made or broke off"
_SLOW = "the other side did not answer in time"
_LOGIN = "the login was refused"
_BAD = "the message or the request is not valid"
_MISUSED = "the client is used or configured wrongly"

_ROWS: tuple[ClassRow, ...] = (
    # NATS
    ("nats.TimeoutError nats.FlushTimeoutError nats.DrainTimeoutError nats.FetchTimeoutError",
     yes("network", _SHORT, _SLOW, _NATS)),
    (
        "nats.NoRespondersError nats.StaleConnectionError nats.UnexpectedEOF nats.ConnectionClosedError"
        " nats.ConnectionReconnectingError nats.ConnectionDrainingError"
        " nats.NoStreamResponseError nats.OutboundBufferLimitError",
        yes("network", _SHORT, _LOST, _NATS),
    ),
    ("nats.AuthorizationError nats.InvalidUserCredentialsError", no("auth", _LOGIN, _NATS)),
    ("nats.SlowConsumerError nats.TooManyStalledMsgsError",
     depends("transient", _SHORT, "the task reads more slowly than messages come", _NATS, 3)),
    ("nats.MaxPayloadError nats.BadSubjectError nats.BadHeaderError nats.JsonParseError", no("data", _BAD, _NATS)),
    ("nats.DigestMismatchError", depends("network", _SHORT, "the transfer was damaged", _NATS, 3)),
    ("nats.NotFoundError nats.BucketNotFoundError nats.KeyNotFoundError nats.ObjectNotFoundError nats.KeyDeletedError",
     no("resource", "there is no such stream, bucket or key", _NATS)),
    ("nats.ServiceUnavailableError nats.ServerError", yes("transient", _MEDIUM, "JetStream is unavailable", _NATS)),
    ("nats.BadRequestError nats.InvalidKeyError nats.InvalidBucketNameError", no("data", _BAD, _NATS)),
    ("nats.KeyWrongLastSequenceError", yes("transient", _SHORT, "another client changed the key meanwhile", _NATS)),
    # Celery and Kombu
    ("celery.TimeoutError", depends("network", _SHORT, "the result did not come in time", _CELERY, 3)),
    ("celery.BackendGetMetaError celery.BackendStoreError celery.IncompleteStream",
     yes("network", _SHORT, "the result store could not be reached", _CELERY)),
    ("billiard.WorkerLostError billiard.Terminated",
     depends("transient", _MEDIUM, "a worker process died, often for lack of memory", _CELERY, 3)),
    ("billiard.TimeLimitExceeded billiard.SoftTimeLimitExceeded",
     depends("permanent", _SHORT, "the Celery task hit its own time limit", _CELERY)),
    ("celery.NotRegistered celery.ImproperlyConfigured celery.QueueNotFound", no("permanent", _MISUSED, _CELERY)),
    ("celery.TaskRevokedError", depends("permanent", _SHORT, "somebody revoked the Celery task", _CELERY)),
    ("celery.ChordError celery.MaxRetriesExceededError",
     hint(depends("transient", _SHORT, "a Celery task failed; the reason stands deeper", _CELERY, 3))),
    ("kombu.ConnectionLimitExceeded kombu.ChannelLimitExceeded kombu.LimitExceeded",
     yes("rate_limit", _MEDIUM, "too many connections or channels", _CELERY)),
    ("kombu.EncodeError kombu.DecodeError kombu.SerializationError kombu.ContentDisallowed",
     no("data", _BAD, _CELERY)),
    # AMQP, where no reply code came
    (
        "amqp.RecoverableConnectionError amqp.RecoverableChannelError amqp.ConnectionError amqp.Blocked"
        " amqp.ConsumerCancelled pika.AMQPHeartbeatTimeout pika.ConnectionBlockedTimeout pika.ConsumerCancelled"
        " pika.ConnectionWrongStateError pika.ChannelWrongStateError pika.ConnectionOpenAborted"
        " aiormq.ChannelInvalidStateError aiormq.ConnectionClosed aiormq.ChannelClosed",
        yes("network", _SHORT, _LOST, _AMQP),
    ),
    ("pika.NoFreeChannels", depends("permanent", _SHORT, "the connection has no free channel", _AMQP)),
    ("pika.NackError amqp.MessageNacked aiormq.DeliveryError",
     depends("transient", _MEDIUM, "the broker did not take the message", _AMQP, 3)),
    ("pika.UnroutableError aiormq.PublishError",
     depends("permanent", _SHORT, "no queue takes the message, or not yet", _AMQP)),
    ("aiormq.AuthenticationError aiormq.ProbableAuthenticationError", no("auth", _LOGIN, _AMQP)),
    ("pika.IncompatibleProtocolError aiormq.IncompatibleProtocolError",
     depends("permanent", _SHORT, "no AMQP broker of this version answers there", _AMQP)),
    # Cassandra; NoHostAvailable keeps what each host said in its errors
    (
        "cassandra.NoHostAvailable cassandra.ConnectionException cassandra.ConnectionShutdown"
        " cassandra.CrcMismatchException cassandra.Unavailable",
        yes("network", _SHORT, _LOST, _CASSANDRA),
    ),
    ("cassandra.OperationTimedOut cassandra.ReadTimeout cassandra.WriteTimeout cassandra.Timeout",
     yes("network", _SHORT, _SLOW, _CASSANDRA)),
    ("cassandra.ReadFailure cassandra.WriteFailure cassandra.CoordinationFailure",
     depends("transient", _MEDIUM, "a replica failed", _CASSANDRA, 3)),
    ("cassandra.ConnectionBusy cassandra.NoConnectionsAvailable",
     yes("rate_limit", _SHORT, "all connections of the driver are in use", _CASSANDRA)),
    ("cassandra.UnresolvableContactPoints",
     depends("network", _MEDIUM, "the host name could not be resolved", _CASSANDRA, 3)),
    ("cassandra.AuthenticationFailed cassandra.Unauthorized", no("auth", _LOGIN, _CASSANDRA)),
    (
        "cassandra.InvalidRequest cassandra.ConfigurationException cassandra.UnsupportedOperation"
        " cassandra.ProtocolVersionUnsupported cassandra.UserTypeDoesNotExist cassandra.SyntaxException",
        no("permanent", "the statement itself is wrong, or what it refers to is missing", _CASSANDRA),
    ),
    ("cassandra.AlreadyExists", no("data", "it already exists, perhaps from an earlier try", _CASSANDRA)),
    # LDAP
    (
        "ldap3.LDAPSocketOpenError ldap3.LDAPSocketReceiveError ldap3.LDAPSocketSendError ldap3.LDAPSocketCloseError"
        " ldap3.LDAPSessionTerminatedByServerError ldap3.LDAPServerPoolExhaustedError ldap3.LDAPMaximumRetriesError"
        " ldap.SERVER_DOWN ldap.CONNECT_ERROR",
        yes("network", _SHORT, _LOST, _LDAP),
    ),
    ("ldap3.LDAPResponseTimeoutError ldap.TIMEOUT", depends("network", _SHORT, _SLOW, _LDAP, 3)),
    ("ldap.BUSY ldap.UNAVAILABLE", yes("transient", _MEDIUM, "the directory is busy or unavailable", _LDAP)),
    (
        "ldap.INVALID_CREDENTIALS ldap.INSUFFICIENT_ACCESS ldap.STRONG_AUTH_REQUIRED ldap.INAPPROPRIATE_AUTH"
        " ldap3.LDAPPasswordIsMandatoryError ldap3.LDAPUserNameIsMandatoryError",
        no("auth", _LOGIN, _LDAP),
    ),
    ("ldap3.LDAPBindError", hint(depends("auth", _SHORT, "the login failed; the words say how", _LDAP))),
    ("ldap.NO_SUCH_OBJECT", no("resource", "there is no such entry", _LDAP)),
    ("ldap3.LDAPCertificateError", no("permanent", "the server's certificate is not trusted", _LDAP)),
    # Kafka clients, where no broker sent a code
    (
        "aiokafka.NoBrokersAvailable aiokafka.KafkaUnavailableError aiokafka.NodeNotReadyError aiokafka.StaleMetadata"
        " aiokafka.MetadataEmptyBrokerList",
        yes("network", _SHORT, _LOST, _KAFKA),
    ),
    ("kafka.AuthenticationFailedError aiokafka.AuthenticationFailedError", no("auth", _LOGIN, _KAFKA)),
    ("kafka.CommitFailedError aiokafka.CommitFailedError aiokafka.ProducerFenced kafka.TransactionAbortedError",
     depends("transient", _SHORT, "another member of the group or another producer took over", _KAFKA, 3)),
    (
        "kafka.KafkaConfigurationError aiokafka.KafkaConfigurationError kafka.UnsupportedCodecError"
        " aiokafka.UnsupportedCodecError kafka.IllegalArgumentError aiokafka.IllegalArgumentError"
        " kafka.IncompatibleBrokerVersion aiokafka.IncompatibleBrokerVersion",
        no("permanent", _MISUSED, _KAFKA),
    ),
    ("aiokafka.RecordTooLargeError", no("data", _BAD, _KAFKA)),
    # SFTP, where a log keeps no status
    ("asyncssh.SFTPNoSuchFile asyncssh.SFTPNoSuchPath", no("resource", "there is no such file", _SFTP)),
    ("asyncssh.SFTPPermissionDenied asyncssh.SFTPWriteProtect", no("auth", "permission denied", _SFTP)),
    ("asyncssh.SFTPNoConnection asyncssh.SFTPConnectionLost", yes("network", _SHORT, _LOST, _SFTP)),
    ("asyncssh.SFTPFailure asyncssh.SFTPBadMessage",
     depends("transient", _SHORT, "the SFTP server failed without saying why", _SFTP, 3)),
    # ZooKeeper, whose client makes a class of each code and often gives it no words
    (
        "kazoo.ConnectionLoss kazoo.OperationTimeoutError kazoo.SessionExpiredError kazoo.ConnectionClosedError"
        " kazoo.ConnectionDropped kazoo.SessionMovedError kazoo.KazooTimeoutError kazoo.RolledBackError",
        yes("network", _SHORT, _LOST, _ZOOKEEPER),
    ),
    ("kazoo.BadVersionError", yes("transient", _SHORT, "another client changed the node meanwhile", _ZOOKEEPER)),
    ("kazoo.LockTimeout", yes("transient", _SHORT, "somebody else holds the lock", _ZOOKEEPER)),
    ("kazoo.NewConfigNoQuorumError kazoo.ReconfigInProcessError kazoo.NotReadOnlyCallError",
     yes("transient", _MEDIUM, "the ensemble has no quorum for now", _ZOOKEEPER)),
    ("kazoo.NoAuthError kazoo.AuthFailedError", no("auth", _LOGIN, _ZOOKEEPER)),
    ("kazoo.NoNodeError", no("resource", "there is no such node", _ZOOKEEPER)),
    ("kazoo.NodeExistsError", no("data", "it already exists, perhaps from an earlier try", _ZOOKEEPER)),
    ("kazoo.NotEmptyError kazoo.NoChildrenForEphemeralsError kazoo.BadArgumentsError kazoo.MarshallingError",
     no("data", _BAD, _ZOOKEEPER)),
    ("kazoo.InvalidACLError kazoo.InvalidCallbackError kazoo.UnimplementedError kazoo.ConfigurationError",
     no("permanent", _MISUSED, _ZOOKEEPER)),
    # Hive and Impala, whose Python clients speak Thrift
    ("thrift.TTransportException thriftpy2.TTransportException thrift_sasl.TTransportException",
     yes("network", _SHORT, _LOST, "thrift 0.22")),
    # STOMP, Pulsar
    (
        "stomp.ConnectFailedException stomp.NotConnectedException stomp.ConnectionClosedException"
        " _pulsar.ConnectError _pulsar.NotConnected _pulsar.Timeout _pulsar.LookupError _pulsar.ReadError",
        yes("network", _SHORT, _LOST, _OTHER),
    ),
    (
        "_pulsar.ServiceUnitNotReady _pulsar.TooManyLookupRequestException _pulsar.ProducerBusy _pulsar.ConsumerBusy"
        " _pulsar.BrokerMetadataError _pulsar.BrokerPersistenceError _pulsar.TransactionConflict",
        yes("transient", _SHORT, "the broker was moving or busy", _OTHER),
    ),
    ("_pulsar.ProducerQueueIsFull _pulsar.MemoryBufferIsFull",
     yes("rate_limit", _SHORT, "the client's own queue is full", _OTHER)),
    ("_pulsar.ChecksumError", depends("network", _SHORT, "the transfer was damaged", _OTHER, 3)),
    ("_pulsar.AuthenticationError _pulsar.AuthorizationError _pulsar.ErrorGettingAuthenticationData",
     no("auth", _LOGIN, _OTHER)),
    ("_pulsar.TopicNotFound", depends("resource", _SHORT, "there is no such topic, or not yet", _OTHER)),
    ("_pulsar.MessageTooBig _pulsar.InvalidMessage _pulsar.IncompatibleSchema", no("data", _BAD, _OTHER)),
    ("_pulsar.InvalidConfiguration _pulsar.InvalidUrl _pulsar.InvalidTopicName", no("permanent", _MISUSED, _OTHER)),
)  # fmt: skip

SIGNALS: Mapping[str, Signal] = signals_by_kind(_ROWS)
"""What each class says, by kind."""

ROOTS = frozenset(kind.partition(".")[0] for kind in SIGNALS)
"""Top packages of the libraries."""
