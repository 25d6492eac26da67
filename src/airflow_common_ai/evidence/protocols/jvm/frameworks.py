"""What the exception classes of frameworks and clients on the JVM say: Spark, Hadoop, Kafka, table formats, HTTP."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.jvm.classes import JvmRow
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["FRAMEWORK_ROWS"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG
_SPARK = "Apache Spark 3.5; whether to retry is judgement"
_HADOOP = "Apache Hadoop 3.3, Hive 3; whether to retry is judgement"
_KAFKA = "org.apache.kafka.common.errors 3, RetriableException and its subclasses"
_DELTA = "Delta Lake concurrency control; Apache Iceberg 1 API; Apache Hudi"
_CLOUD = "AWS SDK for Java 1 and 2, Hadoop S3A, Google API client libraries for Java"
_HTTP = "Apache HttpClient 4 and 5, OkHttp 4, Netty 4, Reactor Netty 1; whether to retry is judgement"

_LOST = "the connection could not be made or broke off"
_SLOW = "the other side did not answer in time"
_EXECUTOR = "a part of the Spark application was lost"
_STATEMENT = "the query itself is wrong, or what it refers to is missing"
_MISSING = "there is no such table, file or topic"
_BAD_VALUE = "a value cannot be computed with"
_REFUSED = "the login or a permission was refused"
_RACE = "another writer was faster"
_BROKER = "the Kafka cluster was moving or short of brokers"
_NAMENODE = "the file system's name node is not ready to serve this"

FRAMEWORK_ROWS: tuple[JvmRow, ...] = (
    # Spark; its Python classes have the names of the Java ones
    (
        "org.apache.spark",
        "FetchFailedException MetadataFetchFailedException ExecutorLostFailure TaskKilledException",
        yes("transient", _MEDIUM, _EXECUTOR, _SPARK),
    ),
    ("org.apache.spark", "RpcTimeoutException", yes("network", _SHORT, _SLOW, _SPARK)),
    ("org.apache.spark", "RpcEndpointNotFoundException", yes("transient", _MEDIUM, _EXECUTOR, _SPARK)),
    (
        "org.apache.spark",
        "SparkOutOfMemoryError",
        depends("permanent", _MEDIUM, "the JVM's own memory limit was hit", _SPARK),
    ),
    # Spark asks to refresh: files that were there when it listed them, another job replaced meanwhile.
    (
        "org.apache.spark",
        "SparkFileNotFoundException",
        depends("resource", _SHORT, "a file has gone, perhaps replaced while it was read", _SPARK),
    ),
    (
        "org.apache.spark",
        "AnalysisException ExtendedAnalysisException ParseException SparkClassNotFoundException"
        " SparkUnsupportedOperationException SparkIllegalArgumentException SparkNoSuchMethodException",
        no("permanent", _STATEMENT, _SPARK),
    ),
    (
        "org.apache.spark",
        "NoSuchTableException NoSuchDatabaseException NoSuchNamespaceException NoSuchPartitionException"
        " NoSuchFunctionException NoSuchPermanentFunctionException",
        no("resource", _MISSING, _SPARK),
    ),
    (
        "org.apache.spark",
        "TableAlreadyExistsException DatabaseAlreadyExistsException NamespaceAlreadyExistsException"
        " TempTableAlreadyExistsException PartitionsAlreadyExistException SparkFileAlreadyExistsException",
        no("data", "it already exists, perhaps from an earlier try", _SPARK),
    ),
    (
        "org.apache.spark",
        "SparkArithmeticException SparkNumberFormatException SparkDateTimeException BadRecordException"
        " SparkArrayIndexOutOfBoundsException SparkUpgradeException",
        no("data", _BAD_VALUE, _SPARK),
    ),
    ("org.apache.spark", "SparkSecurityException", no("auth", _REFUSED, _SPARK)),
    (
        "org.apache.spark",
        "SparkException StreamingQueryException SparkRuntimeException QueryExecutionException",
        hint(depends("transient", _MEDIUM, "the Spark application failed; the reason stands deeper", _SPARK, 3)),
    ),
    ("pyspark", "AnalysisException ParseException", no("permanent", _STATEMENT, _SPARK)),
    ("pyspark", "UnsupportedOperationException PickleException", no("permanent", _STATEMENT, _SPARK)),
    (
        "pyspark",
        "ArithmeticException NumberFormatException DateTimeException ArrayIndexOutOfBoundsException"
        " IllegalArgumentException SparkUpgradeException",
        no("data", _BAD_VALUE, _SPARK),
    ),
    ("pyspark", "RetriesExceeded", yes("network", _MEDIUM, _LOST, _SPARK)),
    (
        "pyspark",
        "SparkRuntimeException StreamingQueryException QueryExecutionException PythonException UnknownException"
        " SparkConnectGrpcException",
        hint(depends("transient", _MEDIUM, "the Spark application failed; the reason stands deeper", _SPARK, 3)),
    ),
    ("py4j", "Py4JNetworkError", depends("network", _MEDIUM, "the JVM of the Spark driver has gone", _SPARK, 3)),
    # Hadoop and Hive
    ("org.apache.hadoop", "AccessControlException AuthorizationException", no("auth", _REFUSED, _HADOOP)),
    (
        "org.apache.hadoop",
        "StandbyException SafeModeException RetriableException ObserverRetryOnActiveException"
        " ApplicationMasterNotRegisteredException",
        yes("transient", _MEDIUM, _NAMENODE, _HADOOP),
    ),
    (
        "org.apache.hadoop",
        "AlreadyBeingCreatedException RecoveryInProgressException LeaseExpiredException",
        depends("transient", _MEDIUM, "another writer holds the file", _HADOOP, 3),
    ),
    ("org.apache.hadoop", "ConnectTimeoutException", yes("network", _SHORT, _SLOW, _HADOOP)),
    (
        "org.apache.hadoop",
        "BlockMissingException ReplicaNotFoundException",
        depends("transient", _MEDIUM, "a block of the file is on no machine that answers", _HADOOP, 3),
    ),
    ("org.apache.hadoop", "ChecksumException", depends("network", _SHORT, "the transfer was damaged", _HADOOP, 3)),
    (
        "org.apache.hadoop",
        "InvalidInputException PathNotFoundException PathIsNotDirectoryException NoSuchObjectException"
        " UnknownDBException UnknownTableException",
        no("resource", _MISSING, _HADOOP),
    ),
    (
        "org.apache.hadoop",
        "FileAlreadyExistsException PathExistsException AlreadyExistsException InvalidPathException"
        " UnsupportedFileSystemException ParentNotDirectoryException",
        no("permanent", "the path is not what it should be", _HADOOP),
    ),
    (
        "org.apache.hadoop",
        "DSQuotaExceededException NSQuotaExceededException QuotaExceededException QuotaByStorageTypeExceededException",
        no("permanent", "the quota of the directory is used up; a person must raise it or delete files", _HADOOP),
    ),
    (
        "org.apache.hadoop",
        "LockException NoSuchTxnException TxnAbortedException",
        yes("transient", _SHORT, "a lock or another transaction was in the way", _HADOOP),
    ),
    ("org.apache.hadoop", "SemanticException ParseException", no("permanent", _STATEMENT, _HADOOP)),
    ("org.apache.thrift", "TTransportException", yes("network", _SHORT, _LOST, _HADOOP)),
    ("org.apache.zookeeper", "ConnectionLossException SessionExpiredException", yes("network", _SHORT, _LOST, _HADOOP)),
    ("org.apache.hadoop.hbase", "RegionTooBusyException", yes("rate_limit", _MEDIUM, "HBase is too busy", _HADOOP)),
    (
        "org.apache.hadoop.hbase",
        "NotServingRegionException RegionServerStoppedException PleaseHoldException CallTimeoutException",
        yes("transient", _SHORT, "HBase was moving a region or starting", _HADOOP),
    ),
    # Kafka. Connect's ConnectException is the base of all its errors and says nothing about a network.
    (
        "org.apache.kafka.connect",
        "ConnectException",
        hint(depends("transient", _MEDIUM, "Kafka Connect failed; the reason stands deeper", _KAFKA, 3)),
    ),
    ("org.apache.kafka.connect", "RetriableException", yes("transient", _SHORT, "Kafka Connect asks to retry", _KAFKA)),
    (
        "org.apache.kafka",
        "TimeoutException NetworkException DisconnectException RetriableException CorrelationIdMismatchException",
        yes("network", _SHORT, _SLOW, _KAFKA),
    ),
    (
        "org.apache.kafka",
        "LeaderNotAvailableException NotLeaderOrFollowerException NotLeaderForPartitionException"
        " ReplicaNotAvailableException BrokerNotAvailableException CoordinatorNotAvailableException"
        " CoordinatorLoadInProgressException NotCoordinatorException NotControllerException KafkaStorageException"
        " NotEnoughReplicasException NotEnoughReplicasAfterAppendException RebalanceInProgressException"
        " UnstableOffsetCommitException ConcurrentTransactionsException OffsetNotAvailableException",
        yes("transient", _SHORT, _BROKER, _KAFKA),
    ),
    ("org.apache.kafka", "ThrottlingQuotaExceededException", yes("rate_limit", _MEDIUM, "rate limited", _KAFKA)),
    (
        "org.apache.kafka",
        "UnknownTopicOrPartitionException UnknownTopicIdException",
        depends("resource", _SHORT, "there is no such topic, or not yet", _KAFKA),
    ),
    (
        "org.apache.kafka",
        "TopicAuthorizationException GroupAuthorizationException ClusterAuthorizationException AuthorizationException"
        " TransactionalIdAuthorizationException SaslAuthenticationException SslAuthenticationException"
        " AuthenticationException",
        no("auth", _REFUSED, _KAFKA),
    ),
    (
        "org.apache.kafka",
        "RecordTooLargeException RecordBatchTooLargeException SerializationException DataException"
        " InvalidRecordException SchemaBuilderException",
        no("data", "the record is too large or not in the expected format", _KAFKA),
    ),
    (
        "org.apache.kafka",
        "InvalidTopicException InvalidConfigurationException ConfigException UnsupportedVersionException"
        " InvalidReplicationFactorException PolicyViolationException TopicExistsException",
        no("permanent", "Kafka is asked for what it does not do as it is configured", _KAFKA),
    ),
    (
        "org.apache.kafka",
        "ProducerFencedException InvalidProducerEpochException OutOfOrderSequenceException FencedInstanceIdException"
        " CommitFailedException",
        depends("transient", _SHORT, "another instance took over from this one", _KAFKA, 3),
    ),
    # tables on object stores
    (
        "io.delta",
        "ConcurrentAppendException ConcurrentDeleteReadException ConcurrentDeleteDeleteException"
        " ConcurrentWriteException ConcurrentTransactionException MetadataChangedException ProtocolChangedException"
        " DeltaConcurrentModificationException",
        yes("transient", _SHORT, _RACE, _DELTA),
    ),
    (
        "org.apache.spark.sql.delta",
        "ConcurrentAppendException ConcurrentDeleteReadException ConcurrentDeleteDeleteException"
        " ConcurrentWriteException ConcurrentTransactionException MetadataChangedException ProtocolChangedException",
        yes("transient", _SHORT, _RACE, _DELTA),
    ),
    (
        "com.databricks",
        "ConcurrentAppendException ConcurrentDeleteReadException ConcurrentDeleteDeleteException"
        " ConcurrentWriteException ConcurrentTransactionException MetadataChangedException ProtocolChangedException",
        yes("transient", _SHORT, _RACE, _DELTA),
    ),
    (
        "delta.exceptions",  # delta-spark's Python classes
        "ConcurrentAppendException ConcurrentDeleteReadException ConcurrentDeleteDeleteException"
        " ConcurrentWriteException ConcurrentTransactionException MetadataChangedException ProtocolChangedException"
        " DeltaConcurrentModificationException",
        yes("transient", _SHORT, _RACE, _DELTA),
    ),
    ("org.apache.iceberg", "CommitFailedException", yes("transient", _SHORT, _RACE, _DELTA)),
    (
        "org.apache.iceberg",
        "CommitStateUnknownException",
        depends("transient", _MEDIUM, "whether it was committed is not known", _DELTA),
    ),
    (
        "org.apache.iceberg",
        "ServiceUnavailableException ServiceFailureException",
        yes("transient", _MEDIUM, "the catalogue is unavailable", _DELTA),
    ),
    ("org.apache.iceberg", "NoSuchTableException NoSuchNamespaceException", no("resource", _MISSING, _DELTA)),
    ("org.apache.iceberg", "NotAuthorizedException ForbiddenException", no("auth", _REFUSED, _DELTA)),
    ("org.apache.hudi", "HoodieWriteConflictException HoodieLockException", yes("transient", _SHORT, _RACE, _DELTA)),
    # clouds, where the service's own code is not printed
    ("org.apache.hadoop.fs.s3a", "AWSServiceThrottledException", yes("rate_limit", _MEDIUM, "rate limited", _CLOUD)),
    ("org.apache.hadoop.fs.s3a", "AWSNoResponseException", yes("network", _SHORT, _SLOW, _CLOUD)),
    (
        "org.apache.hadoop.fs.s3a",
        "NoAuthWithAWSException NoAwsCredentialsException CredentialInitializationException",
        depends("auth", _SHORT, "no credentials were found", _CLOUD),
    ),
    (
        "software.amazon",
        "ApiCallTimeoutException ApiCallAttemptTimeoutException",
        yes("network", _SHORT, _SLOW, _CLOUD),
    ),
    ("com.amazonaws", "AbortedException", yes("network", _SHORT, _LOST, _CLOUD)),
    # HTTP and what lies below it
    (
        "org.apache.http",
        "NoHttpResponseException ConnectionClosedException TruncatedChunkException HttpHostConnectException",
        yes("network", _SHORT, _LOST, _HTTP),
    ),
    (
        "org.apache.http",
        "ConnectTimeoutException ConnectionPoolTimeoutException",
        yes("network", _SHORT, _SLOW, _HTTP),
    ),
    (
        "org.apache.hc",
        "NoHttpResponseException ConnectionClosedException HttpHostConnectException ConnectTimeoutException",
        yes("network", _SHORT, _LOST, _HTTP),
    ),
    ("okhttp3", "StreamResetException ConnectionShutdownException", yes("network", _SHORT, _LOST, _HTTP)),
    (
        "io.netty",
        "ConnectTimeoutException ReadTimeoutException WriteTimeoutException AnnotatedConnectException"
        " AnnotatedNoRouteToHostException AnnotatedSocketException",
        yes("network", _SHORT, _LOST, _HTTP),
    ),
    ("reactor.netty", "PrematureCloseException", yes("network", _SHORT, _LOST, _HTTP)),
)
