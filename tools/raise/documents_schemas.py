# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "fastavro==1.13.1",
#     "jinja2==3.1.6",
#     "jsonschema==4.26.0",
#     "lxml==6.1.3",
#     "pillow==13.0.0",
#     "protobuf==7.36.2",
#     "py7zr==1.1.4",
#     "pydantic==2.14.4",
#     "pypdf==7.1.1",
#     "pyyaml==6.0.4",
#     "zstandard==0.25.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What libraries for documents, schemas, templates and archives raise over input that is not as agreed."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import fastavro
import jinja2
import jsonschema
import py7zr
import pydantic
import pypdf
import yaml
import zstandard
from google.protobuf import json_format, struct_pb2, text_format, timestamp_pb2
from harness import FROM_TEXT, WRONG_READING, Family
from lxml import etree
from PIL import Image

family = Family(__file__, "pydantic")


class LoadError(Exception):
    """A user's own."""


def simple(library: str, *cases: Any) -> None:
    for title, raises, function, *tags in cases:
        family.case(title, raises=raises, tags=tags, library=library)(lambda function=function: function())


class Order(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    id: int
    amount: float = pydantic.Field(gt=0)
    currency: str = pydantic.Field(pattern="^[A-Z]{3}$")


class Settings(pydantic.BaseModel):
    """What a task is configured with."""

    database_url: pydantic.PostgresDsn
    batch_size: int


@pydantic.validate_call
def load(day: str, limit: int) -> None:
    """A task with checked arguments."""


GOOD: dict[str, Any] = {"id": 1, "amount": 9.5, "currency": "EUR"}
simple(
    "pydantic",
    ("an order without a field", "ValidationError", lambda: Order.model_validate({"id": 1, "amount": 2})),
    ("an order with a text for a number", "ValidationError", lambda: Order.model_validate({**GOOD, "id": "n/a"})),
    ("an order with a field too many", "ValidationError", lambda: Order.model_validate({**GOOD, "colour": "red"})),
    ("an order below zero in a currency of two letters", "ValidationError", lambda: Order.model_validate({**GOOD, "amount": -1, "currency": "eu"})),
    ("an order of JSON that is cut off", "ValidationError", lambda: Order.model_validate_json('{"id": 1, "amou'), WRONG_READING),
    ("many orders with several faults", "ValidationError", lambda: pydantic.TypeAdapter(list[Order]).validate_python([GOOD, {}, {"id": "x"}])),
    ("settings that are incomplete", "ValidationError", lambda: Settings(database_url="db.internal.example", batch_size="all"), WRONG_READING),  # type: ignore[arg-type]
    ("a call with an argument of another type", "ValidationError", lambda: load("2026-01-31", "all"), WRONG_READING),  # type: ignore[arg-type]
)  # fmt: skip

SCHEMA = {"type": "object", "required": ["id", "lines"], "additionalProperties": False, "properties": {
    "id": {"type": "integer"}, "status": {"enum": ["open", "paid"]},
    "lines": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["sku"]}}}}  # fmt: skip
simple(
    "jsonschema",
    ("a document without a property", "ValidationError", lambda: jsonschema.validate({"id": 1}, SCHEMA)),
    ("a document with a value that is none of those allowed", "ValidationError", lambda: jsonschema.validate({"id": 1, "lines": [{"sku": 1}], "status": "closed"}, SCHEMA)),
    ("a document with a fault deep inside", "ValidationError", lambda: jsonschema.validate({"id": 1, "lines": [{"sku": 1}, {}]}, SCHEMA)),
    ("a schema that is wrong itself", "SchemaError", lambda: jsonschema.validate({}, {"type": "objekt"}), WRONG_READING),
    ("a schema that refers to nothing", ("_WrappedReferencingError", "Unresolvable"), lambda: jsonschema.validate({}, {"$ref": "#/$defs/order"})),
)  # fmt: skip

simple(
    "pyyaml",
    ("YAML with a tab", "ScannerError", lambda: yaml.safe_load("orders:\n\t- 1")),
    ("YAML with a wrong indent", "ParserError", lambda: yaml.safe_load("a: [1, 2\nb: 3")),
    ("YAML with a value that has a colon", "ScannerError", lambda: yaml.safe_load("query: select a: b")),
    ("YAML with a tag of Python", "ConstructorError", lambda: yaml.safe_load("!!python/object:orders.Order {}")),
    ("YAML with an alias that is not defined", "ComposerError", lambda: yaml.safe_load("a: *base")),
    ("YAML with a byte that is no UTF-8", "ReaderError", lambda: yaml.safe_load(b"name: J\xfcrgen")),
    ("YAML with two documents", "ComposerError", lambda: yaml.safe_load("a: 1\n---\nb: 2")),
)

STRICT = jinja2.Environment(undefined=jinja2.StrictUndefined, loader=jinja2.FileSystemLoader("."))
simple(
    "jinja2",
    ("a template with a name that is not defined", "UndefinedError", lambda: STRICT.from_string("select * from {{ tabel }}").render(table="orders")),
    ("a template with an attribute of nothing", "UndefinedError", lambda: jinja2.Template("{{ params.table.name }}").render(params={})),
    ("a template that is not closed", "TemplateSyntaxError", lambda: STRICT.from_string("{% for day in days %}{{ day }}")),
    ("a template with a filter that is unknown", "TemplateAssertionError", lambda: STRICT.from_string("{{ day | ds_nodahs }}")),
    ("a template that is not there", "TemplateNotFound", lambda: STRICT.get_template("sql/orders.sql")),
    ("a template that adds a text to a number", "TypeError", lambda: STRICT.from_string("{{ 'a' + 1 }}").render()),
    ("a template that reads what it must not", "SecurityError", lambda: sandboxed()),
)  # fmt: skip


def sandboxed() -> Any:
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment().from_string("{{ ''.__class__.__mro__[1].__subclasses__() }}").render()


def schema_of_xml() -> Any:
    text = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType><xs:sequence>'
        '<xs:element name="amount" type="xs:decimal"/></xs:sequence></xs:complexType></xs:element></xs:schema>'
    )
    return etree.XMLSchema(etree.XML(text))


simple(
    "lxml",
    (
        "XML that is cut off",
        "XMLSyntaxError",
        lambda: etree.fromstring("<orders><order id='1'><amount>9"),
        WRONG_READING,
    ),
    ("XML with tags that do not match", "XMLSyntaxError", lambda: etree.fromstring("<orders><order></orders>")),
    ("XML with an ampersand", "XMLSyntaxError", lambda: etree.fromstring("<name>Smith & Sons</name>")),
    ("XML of nothing", "XMLSyntaxError", lambda: etree.fromstring(b""), WRONG_READING),
    ("XML with a byte of another encoding", "XMLSyntaxError", lambda: etree.fromstring(b"<n>J\xfcrgen</n>")),
    (
        "XML that does not hold its schema",
        "DocumentInvalid",
        lambda: schema_of_xml().assertValid(etree.XML("<order><amount>n/a</amount></order>")),
    ),
    ("XML file that is not there", "OSError", lambda: etree.parse("orders.xml")),
    ("XPath with a prefix that is unknown", "XPathEvalError", lambda: etree.XML("<a/>").xpath("//o:order")),
    ("XML text with a null byte", "ValueError", lambda: setattr(etree.Element("a"), "text", "a\x00b")),
)

RECORD = fastavro.parse_schema({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
OTHER = fastavro.parse_schema({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]})
MORE = fastavro.parse_schema(
    {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "day", "type": "string"}]}
)


def avro(size: int | None = None) -> io.BytesIO:
    target = io.BytesIO()
    fastavro.writer(target, RECORD, [{"id": number} for number in range(500)])
    return io.BytesIO(target.getvalue()[:size])


simple(
    "fastavro",
    ("a value that Avro cannot write", "Exception", lambda: fastavro.writer(io.BytesIO(), RECORD, [{"id": "x"}])),
    ("a record that Avro does not validate", "ValidationError", lambda: fastavro.validate({"id": None}, RECORD)),
    ("Avro data for a reader of another type", "SchemaResolutionError", lambda: list(fastavro.reader(avro(), OTHER))),
    ("Avro data for a reader that wants more", "SchemaResolutionError", lambda: list(fastavro.reader(avro(), MORE))),
    ("an Avro file that is cut off", "EOFError", lambda: list(fastavro.reader(avro(300))), WRONG_READING),
    ("an Avro file that is none", "ValueError", lambda: list(fastavro.reader(io.BytesIO(b"id,amount\n1,2\n")))),
    ("an Avro schema with a type that is unknown", "UnknownType", lambda: fastavro.parse_schema({"type": "record", "name": "A", "fields": [{"name": "id", "type": "lnog"}]})),
    ("an Avro codec that is not installed", ("ValueError", "ImportError"), lambda: fastavro.writer(io.BytesIO(), RECORD, [{"id": 1}], codec="snappy")),
    ("an Avro schema that is not there", "SchemaRepositoryError", lambda: fastavro.schema.load_schema("order.avsc")),
)  # fmt: skip

simple(
    "protobuf",
    ("a message that protobuf cannot decode", "DecodeError", lambda: struct_pb2.Struct.FromString(b"\x0a\xff\xff\xff\x7f"), WRONG_READING),
    ("JSON with a field that the message does not have", "ParseError", lambda: json_format.Parse('{"secs": 1}', struct_pb2.ListValue())),
    ("JSON with a time that is none", "ParseError", lambda: json_format.Parse('"31.01.2026"', timestamp_pb2.Timestamp())),
    ("a value out of the range of its field", "ValueError", lambda: timestamp_pb2.Timestamp(nanos=2**40)),
    ("a text of another type for a field", "TypeError", lambda: timestamp_pb2.Timestamp(seconds="now")),  # type: ignore[arg-type]
    ("text that protobuf cannot parse", "ParseError", lambda: text_format.Parse("seconds: now", timestamp_pb2.Timestamp())),
)  # fmt: skip


def archive(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as file:
        file.writestr("orders.csv", "id,amount\n" * 3000)
    return target.getvalue()


def unpack(content: bytes, **options: Any) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return file.read("orders.csv", **options)


def tar(size: int | None = None, mode: Any = "w:gz") -> bytes:
    target = io.BytesIO()
    Path("orders.csv").write_bytes(bytes(range(256)) * 200)
    with tarfile.open(fileobj=target, mode=mode) as file:
        file.add("orders.csv")
    return target.getvalue()[:size]


def untar(content: bytes) -> Any:
    with tarfile.open(fileobj=io.BytesIO(content)) as file:
        file.extractall("out", filter="data")


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def climbing() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as file:
        file.addfile(tarfile.TarInfo("../../etc/cron.d/x"))
    return target.getvalue()


def encrypted(content: bytes) -> bytes:
    """Set the bit of an encrypted file in both headers."""
    second = content.index(b"PK\x01\x02") + 8
    return content[:6] + b"\x01" + content[7:second] + b"\x01" + content[second + 1 :]


simple(
    "python",
    ("a zip archive that is cut off", "BadZipFile", lambda: unpack(archive()[:-30]), WRONG_READING),
    ("a zip archive with a checksum that is wrong", "BadZipFile", lambda: unpack(flipped(archive(zipfile.ZIP_STORED), 99))),
    ("a zip archive without the file", "KeyError", lambda: zipfile.ZipFile(io.BytesIO(archive())).read("orders-2026.csv")),
    ("a zip archive with a password", "RuntimeError", lambda: unpack(encrypted(archive())), WRONG_READING),
    ("a zip archive with a password that is wrong", "RuntimeError", lambda: unpack(encrypted(archive()), pwd=b"no"), WRONG_READING),
    ("a zip archive of a method that is not supported", "NotImplementedError", lambda: unpack(archive().replace(b"\x08\x00", b"\x63\x00"))),
    ("a tar archive that is cut off", ("EOFError", "ReadError"), lambda: untar(tar(120)), WRONG_READING),
    ("a plain tar archive that is cut off", "ReadError", lambda: untar(tar(2000, "w")), WRONG_READING),
    ("a tar archive that is a page", "ReadError", lambda: untar(b"<html>Sign in</html>" * 40), WRONG_READING),
    ("a tar archive of nothing", "ReadError", lambda: untar(b""), WRONG_READING),
    ("a tar archive that climbs out of its folder", "OutsideDestinationError", lambda: untar(climbing())),
    ("a bz2 file that is cut off", ("ValueError", "EOFError"), lambda: bz2.decompress(bz2.compress(b"x" * 900)[:20]), WRONG_READING),
    ("an xz file that is cut off", "LZMAError", lambda: lzma.decompress(lzma.compress(b"x" * 900)[:40]), WRONG_READING),
    ("an xz file that is none", "LZMAError", lambda: lzma.decompress(b"plain text")),
)  # fmt: skip
simple(
    "zstandard",
    ("a zstd frame that is cut off", "ZstdError", lambda: zstandard.decompress(zstandard.compress(b"x" * 9000)[:15]), WRONG_READING),
    ("a zstd frame that is none", "ZstdError", lambda: zstandard.decompress(b"plain text")),
)  # fmt: skip
simple(
    "py7zr",
    ("a 7z archive that is none", "Bad7zFile", lambda: py7zr.SevenZipFile(io.BytesIO(b"plain text" * 9))),
)


def picture(size: int | None = None) -> io.BytesIO:
    target = io.BytesIO()
    Image.effect_noise((80, 80), 50).save(target, "PNG")
    return io.BytesIO(target.getvalue()[:size])


simple(
    "pillow",
    ("a picture that is none", "UnidentifiedImageError", lambda: Image.open(io.BytesIO(b"<html>Not Found</html>"))),
    ("a picture that is cut off", "OSError", lambda: Image.open(picture(1500)).load(), WRONG_READING),
    ("a picture that is too large", "DecompressionBombError", lambda: bomb(), WRONG_READING),
    ("a picture with transparency for JPEG", "OSError", lambda: Image.new("RGBA", (4, 4)).save("a.jpg"), WRONG_READING),
    ("a format that pillow does not know", "ValueError", lambda: Image.new("RGB", (4, 4)).save("a.orders")),
    ("a picture that is not there", "FileNotFoundError", lambda: Image.open("scan.png")),
)


def bomb() -> Any:
    head = b"BM" + (54).to_bytes(4, "little") + b"\0" * 4 + (54).to_bytes(4, "little")
    info = (40).to_bytes(4, "little") + (60000).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + b"\0" * 24
    return Image.open(io.BytesIO(head + info))


def pdf(**options: Any) -> bytes:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    if options:
        writer.encrypt(**options)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def first_page(content: bytes) -> Any:
    return pypdf.PdfReader(io.BytesIO(content), strict=True).pages[0]


simple(
    "pypdf",
    ("a PDF of nothing", "EmptyFileError", lambda: first_page(b""), WRONG_READING),
    ("a PDF that is a page of HTML", "PdfReadError", lambda: first_page(b"<html>Sign in</html>")),
    ("a PDF that is cut off", "PdfReadError", lambda: first_page(pdf()[:300]), WRONG_READING),
    ("a PDF that is encrypted", "FileNotDecryptedError", lambda: first_page(pdf(user_password="x", algorithm="RC4-128"))),
)  # fmt: skip

own = partial(family.case, raises="LoadError")


@own("an archive that is broken under a user's own exception", tags=[FROM_TEXT], library="python")
def _() -> None:
    try:
        unpack(archive()[:-30])
    except zipfile.BadZipFile as error:
        raise LoadError(f"delivery of 2026-01-31 cannot be opened: {error}") from None


@own("orders that are invalid under a user's own exception")
def _() -> None:
    try:
        Order.model_validate({"id": "n/a"})
    except pydantic.ValidationError as error:
        raise LoadError(f"{error.error_count()} faults in the delivery") from error


@family.case("orders that are invalid one and all", raises="ExceptionGroup")
def _() -> None:
    faults: list[Exception] = []
    for row in ({"id": "n/a"}, {"amount": -1}):
        try:
            Order.model_validate(row)
        except pydantic.ValidationError as error:
            faults.append(error)
    raise ExceptionGroup("rows that were not taken", faults)


if __name__ == "__main__":
    family.run()
