"""What Python's own exception classes say, and those of the libraries that only look at data."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Signal, Wait
from airflow_common_ai.evidence.protocols.class_table import ClassRow, signals_by_kind
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["SIGNALS"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_PYTHON = "Python 3.11 library reference; whether to retry is judgement"
_LIBRARY = "the library's documentation of its exceptions"

_ROWS: tuple[ClassRow, ...] = (
    # the code
    ("AttributeError", no("permanent", "the code asks an object for what it does not have", _PYTHON)),
    ("NameError UnboundLocalError", no("permanent", "the code uses a name that is not defined", _PYTHON)),
    ("ImportError ModuleNotFoundError", no("permanent", "a Python module cannot be imported here", _PYTHON)),
    ("SyntaxError IndentationError TabError", no("permanent", "the code is not valid Python", _PYTHON)),
    ("NotImplementedError", no("permanent", "the code for this case was never written", _PYTHON)),
    ("AssertionError", no("permanent", "a check in the code failed", _PYTHON)),
    ("RecursionError", no("permanent", "the code calls itself without an end", _PYTHON)),
    ("jinja2.UndefinedError", no("permanent", "a template uses a variable that is not defined", _LIBRARY)),
    (
        "jinja2.TemplateNotFound jinja2.TemplatesNotFound jinja2.TemplateSyntaxError jinja2.TemplateAssertionError"
        " jinja2.TemplateRuntimeError",
        no("permanent", "a template is missing or wrong", _LIBRARY),
    ),
    ("re.error re.PatternError", no("permanent", "a regular expression is wrong", _PYTHON)),
    ("configparser.Error", no("permanent", "a configuration file is wrong", _PYTHON)),
    ("_pickle.PicklingError pickle.PicklingError", no("permanent", "an object cannot be pickled", _PYTHON)),
    # the data
    ("KeyError", no("data", "a key is missing in the data", _PYTHON)),
    ("IndexError", no("data", "the data has fewer items than the code needs", _PYTHON)),
    ("LookupError", no("data", "the data lacks what the code looks for", _PYTHON)),
    ("TypeError", no("data", "a value has the wrong type", _PYTHON)),
    ("ValueError", no("data", "a value is not what the code can work with", _PYTHON)),
    (
        "UnicodeError UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError",
        no("data", "text is not in the expected encoding", _PYTHON),
    ),
    (
        "ArithmeticError ZeroDivisionError OverflowError FloatingPointError",
        no("data", "a calculation on the data is impossible", _PYTHON),
    ),
    ("decimal.DecimalException decimal.InvalidOperation", no("data", "not a decimal number", _PYTHON)),
    ("_csv.Error csv.Error", no("data", "the CSV data is not well-formed", _PYTHON)),
    ("struct.error", no("data", "the binary data does not have the expected layout", _PYTHON)),
    ("binascii.Error", no("data", "the data is not validly encoded", _PYTHON)),
    ("tomllib.TOMLDecodeError", no("data", "the TOML data is not well-formed", _PYTHON)),
    (
        "yaml.YAMLError yaml.MarkedYAMLError yaml.ScannerError yaml.ParserError yaml.ComposerError"
        " yaml.ConstructorError",
        no("data", "the YAML data is not well-formed", _LIBRARY),
    ),
    ("pydantic_core.ValidationError pydantic.ValidationError", no("data", "the data is not valid", _LIBRARY)),
    ("jsonschema.ValidationError", no("data", "the data does not follow its JSON schema", _LIBRARY)),
    ("marshmallow.ValidationError", no("data", "the data is not valid", _LIBRARY)),
    ("msgspec.ValidationError", no("data", "the data is not valid", _LIBRARY)),
    ("google.ParseError", no("data", "the text is no valid protobuf message", _LIBRARY)),
    ("pandas.EmptyDataError", no("data", "the file holds no data", _LIBRARY)),
    ("pandas.ParserError", no("data", "the rows of the file do not fit together", _LIBRARY)),
    ("pyarrow.ArrowInvalid", no("data", "the data does not fit its Arrow type", _LIBRARY)),
    ("pyarrow.ArrowTypeError", no("data", "the data does not fit its Arrow type", _LIBRARY)),
    # files, where the error carries no number
    ("FileNotFoundError", no("resource", "the file or directory does not exist", _PYTHON)),
    ("FileExistsError", no("permanent", "the file already exists", _PYTHON)),
    ("IsADirectoryError NotADirectoryError", no("permanent", "the path is not what it should be", _PYTHON)),
    ("PermissionError", no("auth", "permission denied", _PYTHON)),
    ("io.UnsupportedOperation", no("permanent", "the stream cannot do what the code asks", _PYTHON)),
    ("shutil.SameFileError", no("permanent", "a file would be copied onto itself", _PYTHON)),
    # the network
    ("ConnectionError", yes("network", _SHORT, "the connection failed", _PYTHON)),
    ("ConnectionRefusedError", yes("network", _MEDIUM, "the connection was refused", _PYTHON)),
    ("ConnectionResetError", yes("network", _SHORT, "the other side reset the connection", _PYTHON)),
    ("ConnectionAbortedError BrokenPipeError", yes("network", _SHORT, "the connection broke off", _PYTHON)),
    (
        "TimeoutError socket.timeout asyncio.TimeoutError concurrent.TimeoutError",
        depends("network", _SHORT, "something took longer than the code waits for it", _PYTHON, 4),
    ),
    ("socket.gaierror socket.herror", depends("network", _MEDIUM, "the host name could not be resolved", _PYTHON, 3)),
    ("ssl.SSLEOFError ssl.SSLZeroReturnError", yes("network", _SHORT, "the TLS connection was closed", _PYTHON)),
    ("ssl.SSLSyscallError ssl.SSLWantReadError", yes("network", _SHORT, "the TLS connection broke off", _PYTHON)),
    (
        "ssl.SSLCertVerificationError ssl.CertificateError",
        no("permanent", "the server's certificate is not trusted", _PYTHON),
    ),
    ("ssl.SSLError", hint(depends("network", _SHORT, "TLS failed", _PYTHON, 3))),
    ("asyncio.IncompleteReadError", yes("network", _SHORT, "the stream ended too early", _PYTHON)),
    (
        "http.RemoteDisconnected http.IncompleteRead http.BadStatusLine",
        yes("network", _SHORT, "the server hung up or answered only half", _PYTHON),
    ),
    (
        "http.CannotSendRequest http.CannotSendHeader http.ResponseNotReady http.ImproperConnectionState",
        hint(depends("network", _SHORT, "the HTTP connection was not in the right state", _PYTHON, 3)),
    ),
    ("urllib.ContentTooShortError", yes("network", _SHORT, "the download ended too early", _PYTHON)),
    ("urllib.URLError", hint(depends("network", _SHORT, "the URL could not be opened", _PYTHON, 3))),
    # memory, processes, time
    ("MemoryError", depends("transient", _MEDIUM, "the task ran out of memory", _PYTHON, 3)),
    ("BlockingIOError InterruptedError", yes("transient", _SHORT, "the operation would have waited", _PYTHON)),
    (
        "concurrent.BrokenExecutor concurrent.BrokenProcessPool concurrent.BrokenThreadPool"
        " joblib.TerminatedWorkerError",
        depends("transient", _MEDIUM, "a worker process died, often for lack of memory", _PYTHON, 3),
    ),
    (
        "multiprocessing.TimeoutError",
        depends("permanent", _SHORT, "a process took longer than the code waits", _PYTHON),
    ),
    ("SystemError", depends("permanent", _SHORT, "the interpreter or an extension module has a fault", _PYTHON)),
    # a wish to stop: whose, only the chain or the log can tell
    ("KeyboardInterrupt", hint(depends("permanent", _SHORT, "the task was interrupted, as by a person", _PYTHON))),
    (
        "asyncio.CancelledError concurrent.CancelledError GeneratorExit",
        hint(depends("transient", _SHORT, "the work was cancelled; the log may say by whom", _PYTHON, 3)),
    ),
)

SIGNALS: Mapping[str, Signal] = signals_by_kind(_ROWS)
"""What each class says, as an instance of exactly this class, by kind."""
