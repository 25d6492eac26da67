"""What the exception classes of data libraries say: frames, schemas, documents, models of SQL.

Only classes that cannot hide a failure of a network or a disk. Words in the message that name such a failure still
win over a class.
"""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Signal
from airflow_common_ai.evidence.protocols.class_table import ClassRow, signals_by_kind
from airflow_common_ai.evidence.protocols.meaning import no

__all__ = ["SIGNALS"]

_POLARS = "polars 1.36"
_PANDAS = "pandas 3.0"
_SPARK = "pyspark 4.1, pyspark.errors"
_DBT = "dbt-core 1.11, dbt/exceptions.py"
_OTHER = "the library's documentation of its exceptions"

_UNFIT = "the data does not fit what the code does with it"
_COLUMNS = "the columns are not those that the code expects"
_SCHEMA = "the data does not follow its schema"
_CODE = "the code uses the library wrongly"
_PROJECT = "the dbt project is wrong"

_ROWS: tuple[ClassRow, ...] = (
    (
        "polars.ColumnNotFoundError polars.DuplicateError polars.SchemaError polars.SchemaFieldNotFoundError"
        " polars.ShapeError polars.StructFieldNotFoundError",
        no("data", _COLUMNS, _POLARS),
    ),
    (
        "polars.InvalidOperationError polars.NoDataError polars.OutOfBoundsError polars.RowsError"
        " polars.NoRowsReturnedError polars.TooManyRowsReturnedError polars.StringCacheMismatchError"
        " polars.CategoricalRemappingError",
        no("data", _UNFIT, _POLARS),
    ),
    ("polars.SQLInterfaceError polars.SQLSyntaxError polars.ParameterCollisionError polars.ModuleUpgradeRequiredError",
     no("permanent", _CODE, _POLARS)),
    (
        "pandas.IntCastingNaNError pandas.MergeError pandas.OutOfBoundsDatetime pandas.OutOfBoundsTimedelta"
        " pandas.InvalidIndexError pandas.DuplicateLabelError pandas.UnsortedIndexError pandas.DataError",
        no("data", _UNFIT, _PANDAS),
    ),
    ("pandas.UndefinedVariableError pandas.SpecificationError pandas.NumExprClobberingError pandas.NumbaUtilError",
     no("permanent", _CODE, _PANDAS)),
    ("pandera.SchemaError pandera.SchemaErrors pandera.SchemaDefinitionError", no("data", _SCHEMA, _OTHER)),
    (
        "jsonschema.SchemaError fastjsonschema.JsonSchemaException fastavro.ValidationError avro.AvroTypeException"
        " xmlschema.XMLSchemaValidationError lxml.DocumentInvalid cerberus.DocumentError voluptuous.Invalid"
        " voluptuous.MultipleInvalid schema.SchemaError",
        no("data", _SCHEMA, _OTHER),
    ),
    ("openpyxl.IllegalCharacterError openpyxl.InvalidFileException openpyxl.SheetTitleException bson.InvalidId"
     " bson.InvalidStringData pypdf.FileNotDecryptedError pypdf.WrongPasswordError", no("data", _UNFIT, _OTHER)),
    ("pyarrow.ArrowKeyError pyarrow.ArrowIndexError", no("data", _COLUMNS, _OTHER)),
    ("pyarrow.ArrowNotImplementedError", no("permanent", "Arrow cannot do this with these types", _OTHER)),
    (
        "pyspark.PySparkValueError pyspark.PySparkTypeError pyspark.PySparkAttributeError pyspark.PySparkKeyError"
        " pyspark.PySparkIndexError pyspark.PySparkAssertionError pyspark.PySparkNotImplementedError"
        " pyspark.PySparkImportError pyspark.PySparkPicklingError pyspark.ParseException",
        no("permanent", _CODE, _SPARK),
    ),
    (
        "dbt.DbtProjectError dbt.DbtProfileError dbt.DbtUsageException dbt.UninstalledPackagesFoundError"
        " dbt.DbtSelectorsError dbt.DuplicateResourceNameError dbt.AmbiguousAliasError dbt.ParsingError"
        " dbt.SchemaConfigError dbt.YamlParseDictError dbt.YamlLoadError dbt.EnvVarMissingError"
        " dbt.RequiredVarNotFoundError dbt.DependencyNotFoundError dbt.InvalidAccessTypeError"
        " dbt_common.CompilationError dbt.CompilationError dbt.MissingConfigError",
        no("permanent", _PROJECT, _DBT),
    ),
    ("dbt.TargetNotFoundError dbt.UndefinedMacroError dbt.MacroNotFoundError dbt.ModelNotFoundError"
     " dbt_common.UndefinedMacroError", no("resource", "the dbt project refers to what is not there", _DBT)),
    ("kubernetes.ConfigException kubernetes_asyncio.ConfigException",
     no("permanent", "there is no usable kubeconfig, and this is no pod", "kubernetes 36.0, config_exception.py")),
    ("pymongo.InvalidOperation pymongo.InvalidName", no("permanent", _CODE, "pymongo 4.20.1")),
    ("httpx.StreamConsumed httpx.StreamClosed httpx.ResponseNotRead httpx.RequestNotRead httpx.LocalProtocolError"
     " httpx.CookieConflict h11.LocalProtocolError", no("permanent", _CODE, "httpx 0.28.1")),
    ("pytz.UnknownTimeZoneError", no("data", "there is no such time zone", _OTHER)),
    ("pendulum.ParserError dateutil.ParserError arrow.ParserError", no("data", "it is no date or time", _OTHER)),
    ("numpy.LinAlgError numpy.AxisError", no("data", _UNFIT, _OTHER)),
    ("cryptography.InvalidSignature cryptography.InvalidTag cryptography.InvalidToken",
     no("permanent", "the key does not fit what was encrypted or signed", _OTHER)),
)  # fmt: skip

SIGNALS: Mapping[str, Signal] = signals_by_kind(_ROWS)
"""What each class says, by kind."""
