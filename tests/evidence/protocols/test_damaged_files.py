"""Files of every common format, cut short as a broken download leaves them, and opened by their real readers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import random
import shutil
import tarfile
import xml.etree.ElementTree as ElementTree
import xml.sax
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by

from airflow_common_ai.evidence.model import Retry

CONTENT = random.Random(7).randbytes(50_000)
HTML = b"<!doctype html><title>Sign in</title>" * 20


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.bin", CONTENT)
    return packed.getvalue()


def tarred(mode: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        entry = tarfile.TarInfo("data.bin")
        entry.size = len(CONTENT)
        archive.addfile(entry, io.BytesIO(CONTENT))
    return packed.getvalue()


def read_zip(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.read("data.bin")


def read_tar(data: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            assert content is not None
            content.read()


def read_bz2(data: bytes) -> None:
    with bz2.open(io.BytesIO(data)) as stream:
        stream.read()


def read_xz(data: bytes) -> None:
    with lzma.open(io.BytesIO(data)) as stream:
        stream.read()


Reader = Callable[[bytes], object]

FORMATS: dict[str, tuple[bytes, Reader]] = {
    "gzip": (gzip.compress(CONTENT), gzip.decompress),
    "zip": (zipped(), read_zip),
    "tar": (tarred("w"), read_tar),
    "tar.gz": (tarred("w:gz"), read_tar),
    "tar.xz": (tarred("w:xz"), read_tar),
    "bz2 stream": (bz2.compress(CONTENT), read_bz2),
    "bz2 block": (bz2.compress(CONTENT), bz2.decompress),
    "xz stream": (lzma.compress(CONTENT), read_xz),
    "xz block": (lzma.compress(CONTENT), lzma.decompress),
    "zlib": (zlib.compress(CONTENT), zlib.decompress),
    "pickle": (pickle.dumps(CONTENT), pickle.loads),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", [0.001, 0.3, 0.7])
def test_a_file_that_was_cut_short_is_worth_two_more_tries(part: float, name: str) -> None:
    whole, reader = FORMATS[name]
    error = raised_by(lambda: reader(whole[: int(len(whole) * part)]))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None, error
        assert (signal.category, signal.retry, signal.max_attempts) == ("network", Retry.DEPENDS, 3)


UNSHOWN = {"xz stream", "xz block", "zlib"}
"""Their errors do not show the first bytes."""


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - UNSHOWN))
def test_a_page_that_came_instead_of_the_file_is_worth_two_more_tries(name: str) -> None:
    error = raised_by(lambda: FORMATS[name][1](HTML))
    signal = conclusion(alive(error))
    assert signal is not None, error
    assert (signal.category, signal.retry) == ("network", Retry.DEPENDS)


@pytest.mark.parametrize("name", sorted(UNSHOWN))
def test_what_begins_otherwise_is_left_open_where_the_error_does_not_show_how(name: str) -> None:
    assert conclusion(alive(raised_by(lambda: FORMATS[name][1](HTML)))) is None


def test_an_archive_that_shutil_cannot_unpack_is_damaged(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(HTML)
    error = raised_by(lambda: shutil.unpack_archive(archive, tmp_path))
    assert conclusion_code(alive(error)) == "python.shutil.read_error"


@pytest.mark.parametrize("document", [b"", b"<rows><row>", b"<rows><row></row>", b"<rows><row a='1"])
def test_xml_that_ends_in_the_middle_is_worth_two_more_tries(document: bytes) -> None:
    for error in (
        raised_by(lambda: ElementTree.fromstring(document)),
        raised_by(lambda: xml.sax.parseString(document, xml.sax.ContentHandler())),
    ):
        assert conclusion_code(alive(error)) == "damaged.xml"


def test_xml_that_is_not_well_formed_may_be_an_html_page() -> None:
    error = raised_by(lambda: ElementTree.fromstring("<html><br></html>"))
    assert isinstance(error, SyntaxError)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry, signal.max_attempts) == ("data", Retry.DEPENDS, 2)


@pytest.mark.parametrize(
    ("type_path", "message", "code"),
    [
        ("pyarrow.lib.ArrowInvalid", "Parquet magic bytes not found in footer. Either the file is corrupted or this is "
         "not a parquet file.", "damaged.parquet"),
        ("pyarrow.lib.ArrowInvalid", "Parquet file size is 0 bytes", "damaged.parquet"),
        ("polars.exceptions.ComputeError", "parquet: File out of specification: The file must end with PAR1",
         "damaged.parquet"),
        ("duckdb.InvalidInputException", "Invalid Input Error: No magic bytes found at end of file 'x.parquet'",
         "damaged.parquet"),
        ("builtins.OSError", "image file is truncated (7 bytes not processed)", "damaged.image"),
        ("builtins.OSError", "Unable to open file (truncated file: eof = 4096, sblock->base_addr = 0)", "damaged.hdf5"),
        ("lxml.etree.XMLSyntaxError", "Premature end of data in tag rows line 1, line 1, column 8", "damaged.xml"),
    ],
)  # fmt: skip
def test_formats_whose_readers_are_not_installed_are_read_by_their_words(
    type_path: str, message: str, code: str
) -> None:
    signal = conclusion(printed(type_path, message))
    assert signal is not None
    assert (signal.code, signal.category, signal.max_attempts) == (code, "network", 3)


def test_arrow_data_that_is_wrong_is_bad_data() -> None:
    assert codes(printed("pyarrow.lib.ArrowInvalid", "Could not convert 'x' with type str"), "python") == [
        "python.pyarrow.arrow_invalid"
    ]


def test_an_end_of_input_where_a_person_should_have_typed_is_final() -> None:
    signal = conclusion(alive(EOFError("EOF when reading a line")))
    assert signal is not None
    assert (signal.code, signal.retry) == ("damaged.prompt", Retry.NO)


def test_a_csv_file_that_ends_inside_quotes_is_tried_once_more() -> None:
    message = "Error tokenizing data. C error: EOF inside string starting at row 7"
    signal = conclusion(printed("pandas.errors.ParserError", message))
    assert signal is not None
    assert (signal.code, signal.retry, signal.max_attempts) == ("damaged.csv", Retry.DEPENDS, 2)


def test_rows_that_do_not_fit_together_are_bad_data() -> None:
    message = "Error tokenizing data. C error: Expected 3 fields in line 7, saw 4"
    signal = conclusion(printed("pandas.errors.ParserError", message))
    assert signal is not None
    assert (signal.category, signal.retry) == ("data", Retry.NO)
