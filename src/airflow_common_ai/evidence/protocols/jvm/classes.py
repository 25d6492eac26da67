"""What the exception classes of the Java platform say, those of JDBC, JNDI and JSON readers among them.

The frameworks that run on it are :mod:`.jvm_frameworks`. A class is listed where it says something by itself.
``IOException``, ``SQLException`` and ``RuntimeException`` are not: their words or their causes have to tell.
"""

from __future__ import annotations

from typing import TypeAlias

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["PLATFORM_ROWS", "JvmRow"]

JvmRow: TypeAlias = tuple[str, str, Meaning]
"""Package, class names separated by blanks, what they say. Subpackages and shaded copies of a package count."""

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_JAVA = "Java SE 17 API; whether to retry is judgement"
_JDBC = "Java SE 17 java.sql, MySQL Connector/J 8, PostgreSQL JDBC 42; whether to retry is judgement"
_JSON = "Jackson 2, Gson 2, org.json; whether to retry is judgement"

_LOST = "the connection could not be made or broke off"
_SLOW = "the other side did not answer in time"
_UNKNOWN_HOST = "the host name could not be resolved"
_MISSING_CODE = "a Java class or method is missing on the class path, or has the wrong version"
_BAD_VALUE = "a value is not what the Java code can work with"
_BAD_TEXT = "the data is not in the expected format"
_CUT_SHORT = "the data ended too early, cut short or damaged on its way"
_CERTIFICATE = "the server's certificate is not trusted"
_REFUSED = "the login or a permission was refused"
_LOCK = "a lock or a deadlock was in the way"
_SCHEMA = "the data breaks a rule of the schema"
_FUTURE = "something took longer than the code waits for it"

PLATFORM_ROWS: tuple[JvmRow, ...] = (
    # the network
    ("java.net", "ConnectException", yes("network", _MEDIUM, "the connection was refused or not answered", _JAVA)),
    ("java.net", "NoRouteToHostException PortUnreachableException", yes("network", _SHORT, _LOST, _JAVA)),
    (
        "java.net",
        "SocketTimeoutException HttpTimeoutException HttpConnectTimeoutException",
        yes("network", _SHORT, _SLOW, _JAVA),
    ),
    ("java.net", "SocketException", yes("network", _SHORT, _LOST, _JAVA)),
    ("java.net", "ProtocolException", depends("network", _SHORT, "the other side broke the protocol", _JAVA, 3)),
    ("java.net", "UnknownHostException", depends("network", _MEDIUM, _UNKNOWN_HOST, _JAVA, 3)),
    ("java.net", "BindException", yes("transient", _SHORT, "the local port is in use", _JAVA)),
    ("java.net", "MalformedURLException URISyntaxException", no("permanent", "a URL is not valid", _JAVA)),
    ("java.nio.channels", "UnresolvedAddressException", depends("network", _MEDIUM, _UNKNOWN_HOST, _JAVA, 3)),
    ("java.nio.channels", "ClosedChannelException AsynchronousCloseException", yes("network", _SHORT, _LOST, _JAVA)),
    ("java.rmi", "ConnectException ConnectIOException", yes("network", _SHORT, _LOST, _JAVA)),
    ("java.rmi", "UnknownHostException", depends("network", _MEDIUM, _UNKNOWN_HOST, _JAVA, 3)),
    # TLS
    ("javax.net.ssl", "SSLPeerUnverifiedException", no("permanent", _CERTIFICATE, _JAVA)),
    (
        "javax.net.ssl",
        "SSLHandshakeException SSLProtocolException SSLException",
        hint(depends("network", _SHORT, "TLS failed", _JAVA, 3)),
    ),
    (
        "java.security.cert",
        "CertificateExpiredException CertificateNotYetValidException CertificateException"
        " CertPathValidatorException CertPathBuilderException CertificateRevokedException",
        no("permanent", _CERTIFICATE, _JAVA),
    ),
    (
        "sun.security",
        "ValidatorException SunCertPathBuilderException",
        no("permanent", _CERTIFICATE, _JAVA),
    ),
    (
        "java.security",
        "InvalidKeyException NoSuchAlgorithmException UnrecoverableKeyException KeyStoreException",
        no("permanent", "a key or an algorithm cannot be used here", _JAVA),
    ),
    ("java.security", "AccessControlException", no("auth", _REFUSED, _JAVA)),
    # files
    ("java.io", "FileNotFoundException", no("resource", "the file does not exist or cannot be opened", _JAVA)),
    ("java.nio.file", "NoSuchFileException", no("resource", "the file or directory does not exist", _JAVA)),
    ("java.nio.file", "AccessDeniedException", no("auth", "permission denied", _JAVA)),
    ("java.nio.file", "FileAlreadyExistsException", no("permanent", "the file already exists", _JAVA)),
    (
        "java.nio.file",
        "DirectoryNotEmptyException NotDirectoryException NotLinkException FileSystemLoopException"
        " InvalidPathException ReadOnlyFileSystemException ProviderNotFoundException FileSystemNotFoundException",
        no("permanent", "the path is not what it should be", _JAVA),
    ),
    ("java.nio.channels", "OverlappingFileLockException", yes("transient", _SHORT, "the file is locked", _JAVA)),
    ("java.io", "EOFException", depends("network", _SHORT, _CUT_SHORT, _JAVA, 3)),
    ("java.io", "InterruptedIOException", depends("network", _SHORT, "input or output was interrupted", _JAVA, 3)),
    ("java.io", "NotSerializableException InvalidClassException", no("permanent", _MISSING_CODE, _JAVA)),
    ("java.io", "StreamCorruptedException UTFDataFormatException", depends("data", _SHORT, _BAD_TEXT, _JAVA)),
    ("java.util.zip", "ZipException DataFormatException", depends("data", _SHORT, _CUT_SHORT, _JAVA)),
    (
        "java.nio.charset",
        "MalformedInputException UnmappableCharacterException CharacterCodingException",
        no("data", "text is not in the expected encoding", _JAVA),
    ),
    (
        "java.nio.charset",
        "IllegalCharsetNameException UnsupportedCharsetException",
        no("permanent", "there is no such character set", _JAVA),
    ),
    # the code
    ("java.lang", "NullPointerException", no("permanent", "the Java code uses what is not there (null)", _JAVA)),
    (
        "java.lang",
        "ClassNotFoundException NoClassDefFoundError NoSuchMethodError NoSuchFieldError NoSuchMethodException"
        " NoSuchFieldException AbstractMethodError IncompatibleClassChangeError IllegalAccessError"
        " IllegalAccessException InstantiationException InstantiationError UnsupportedClassVersionError"
        " ClassFormatError VerifyError LinkageError BootstrapMethodError ClassCircularityError UnsatisfiedLinkError"
        " TypeNotPresentException",
        no("permanent", _MISSING_CODE, _JAVA),
    ),
    ("java.lang", "StackOverflowError", no("permanent", "the Java code calls itself without an end", _JAVA)),
    ("java.lang", "AssertionError", no("permanent", "a check in the Java code failed", _JAVA)),
    (
        "java.lang",
        "UnsupportedOperationException CloneNotSupportedException",
        no("permanent", "the Java code cannot do what was asked of it", _JAVA),
    ),
    ("java.lang", "SecurityException", no("auth", _REFUSED, _JAVA)),
    ("java.lang", "IllegalArgumentException", no("data", _BAD_VALUE, _JAVA)),
    ("java.lang", "IllegalStateException", hint(depends("permanent", _SHORT, "not possible in this state", _JAVA))),
    (
        "java.lang",
        "ClassCastException NumberFormatException ArithmeticException IndexOutOfBoundsException ArrayStoreException"
        " ArrayIndexOutOfBoundsException StringIndexOutOfBoundsException NegativeArraySizeException",
        no("data", _BAD_VALUE, _JAVA),
    ),
    ("java.util", "NoSuchElementException InputMismatchException", no("data", "the data lacks an element", _JAVA)),
    (
        "java.util",
        "ConcurrentModificationException",
        depends("permanent", _NOW, "a collection was changed while the code looped over it", _JAVA),
    ),
    (
        "java.util",
        "MissingResourceException UnknownFormatConversionException MissingFormatArgumentException"
        " IllegalFormatConversionException",
        no("permanent", "the Java code is wrong", _JAVA),
    ),
    ("java.text", "ParseException", no("data", _BAD_TEXT, _JAVA)),
    ("java.time", "DateTimeException DateTimeParseException", no("data", "not a valid date or time", _JAVA)),
    ("scala", "MatchError", no("data", _BAD_VALUE, "Scala 2.13 API")),
    ("scala", "NotImplementedError", no("permanent", "the code for this case was never written", "Scala 2.13 API")),
    # memory, threads, time
    ("java.lang", "OutOfMemoryError", depends("permanent", _MEDIUM, "the JVM's own memory limit was hit", _JAVA)),
    (
        "java.lang",
        "InternalError UnknownError VirtualMachineError",
        depends("transient", _SHORT, "the Java virtual machine failed", _JAVA),
    ),
    ("java.lang", "InterruptedException", hint(depends("transient", _SHORT, "the work was interrupted", _JAVA, 3))),
    ("java.util.concurrent", "TimeoutException", depends("network", _SHORT, _FUTURE, _JAVA, 3)),
    ("akka.pattern", "AskTimeoutException", depends("network", _SHORT, _FUTURE, "Akka 2.6 API", 3)),
    (
        "java.util.concurrent",
        "RejectedExecutionException",
        depends("transient", _SHORT, "a pool of threads is full or was shut down", _JAVA, 3),
    ),
    (
        "java.util.concurrent",
        "CancellationException",
        hint(depends("transient", _SHORT, "the work was cancelled", _JAVA, 3)),
    ),
    # databases
    (
        "java.sql",
        "SQLTransientConnectionException SQLRecoverableException",
        yes("network", _SHORT, _LOST, _JDBC),
    ),
    ("java.sql", "SQLNonTransientConnectionException", hint(depends("network", _SHORT, _LOST, _JDBC, 3))),
    ("java.sql", "SQLTransientException", yes("transient", _SHORT, "the database failed for now", _JDBC)),
    ("java.sql", "SQLTransactionRollbackException", yes("transient", _NOW, _LOCK, _JDBC)),
    ("java.sql", "SQLTimeoutException", depends("network", _SHORT, _FUTURE, _JDBC, 3)),
    ("java.sql", "SQLIntegrityConstraintViolationException", no("data", _SCHEMA, _JDBC)),
    ("java.sql", "SQLDataException DataTruncation", no("data", "the data does not fit its type", _JDBC)),
    (
        "java.sql",
        "SQLSyntaxErrorException SQLFeatureNotSupportedException",
        no("permanent", "the statement itself is wrong, or what it refers to is missing", _JDBC),
    ),
    ("java.sql", "SQLInvalidAuthorizationSpecException", no("auth", "the login was refused", _JDBC)),
    (
        "com.mysql",
        "CommunicationsException CJCommunicationsException ConnectionIsClosedException",
        yes("network", _SHORT, _LOST, _JDBC),
    ),
    ("com.mysql", "MySQLTransactionRollbackException", yes("transient", _NOW, _LOCK, _JDBC)),
    ("com.mysql", "MysqlDataTruncation PacketTooBigException", no("data", "the data does not fit", _JDBC)),
    ("com.mysql", "MySQLTimeoutException", depends("network", _SHORT, _FUTURE, _JDBC, 3)),
    ("oracle.net", "NetException", yes("network", _SHORT, _LOST, "Oracle JDBC 21")),
    ("com.zaxxer.hikari", "PoolInitializationException", hint(depends("network", _SHORT, _LOST, "HikariCP 5", 3))),
    # directories, logins, mail
    ("javax.naming", "CommunicationException ServiceUnavailableException", yes("network", _SHORT, _LOST, _JAVA)),
    ("javax.naming", "AuthenticationException NoPermissionException", no("auth", _REFUSED, _JAVA)),
    ("javax.naming", "NameNotFoundException", no("resource", "there is no such name in the directory", _JAVA)),
    ("javax.security.auth.login", "FailedLoginException AccountException", no("auth", _REFUSED, _JAVA)),
    ("javax.security", "LoginException", depends("auth", _SHORT, "the login failed", _JAVA)),
    ("org.ietf.jgss", "GSSException", depends("auth", _SHORT, "there is no valid Kerberos ticket", _JAVA)),
    ("javax.mail", "AuthenticationFailedException", no("auth", _REFUSED, "Jakarta Mail API")),
    ("jakarta.mail", "AuthenticationFailedException", no("auth", _REFUSED, "Jakarta Mail API")),
    ("com.sun.mail", "MailConnectException", yes("network", _SHORT, _LOST, "Jakarta Mail API")),
    # JSON and XML
    ("com.fasterxml.jackson", "JsonEOFException", depends("network", _SHORT, _CUT_SHORT, _JSON, 3)),
    (
        "com.fasterxml.jackson",
        "JsonParseException JsonMappingException MismatchedInputException InvalidFormatException"
        " UnrecognizedPropertyException InvalidDefinitionException InvalidNullException",
        no("data", _BAD_TEXT, _JSON),
    ),
    # Gson and org.json say the same of an HTML page that came instead.
    (
        "com.google.gson",
        "JsonSyntaxException JsonParseException MalformedJsonException",
        depends("data", _SHORT, _BAD_TEXT, _JSON),
    ),
    ("org.json", "JSONException", depends("data", _SHORT, _BAD_TEXT, _JSON)),
    ("org.xml.sax", "SAXParseException", depends("data", _SHORT, _BAD_TEXT, _JAVA)),
    ("javax.xml.stream", "XMLStreamException", depends("data", _SHORT, _BAD_TEXT, _JAVA)),
)
