"""Files that cannot be read because they are cut short or damaged, as by a download that broke off.

The task that finds the damage is often not the one that made it: ``urllib`` with ``copyfileobj`` cuts a file short
without an error. So a few more tries, in which the file may be fetched anew, and then it counts as failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.class_table import ClassRow, signals_by_kind
from airflow_common_ai.evidence.protocols.findings import hint, settle
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no

__all__ = ["SIGNALS", "read"]

_PYTHON = "Python 3.11 library reference; whether to retry is judgement"
_LIBRARY = "the library's documentation of its exceptions"


def _damaged(what: str, source: str = _PYTHON) -> Meaning:
    return depends("network", Wait.SHORT, f"{what} is cut short or damaged, as by a broken download", source, 3)


_ROWS: tuple[ClassRow, ...] = (
    ("EOFError", depends("network", Wait.SHORT, "the input ended too early", _PYTHON, 3)),
    ("zipfile.BadZipFile zipfile.BadZipfile", _damaged("a ZIP file")),
    ("gzip.BadGzipFile zlib.error", _damaged("compressed data")),
    ("_lzma.LZMAError lzma.LZMAError", _damaged("compressed data")),
    ("tarfile.ReadError tarfile.HeaderError tarfile.TruncatedHeaderError", _damaged("a tar archive")),
    ("shutil.ReadError", _damaged("an archive")),
    ("zstandard.ZstdError zstd.ZstdError py7zr.Bad7zFile rarfile.BadRarFile", _damaged("an archive", _LIBRARY)),
    (
        "xml.ParseError xml.ExpatError lxml.XMLSyntaxError",
        depends("data", Wait.SHORT, "the XML is not well-formed, or an HTML page came instead", _LIBRARY),
    ),
)

SIGNALS: Mapping[str, Signal] = signals_by_kind(_ROWS)
"""What each class says that is raised for damaged files, by kind."""

# Detail, words, what they say; for classes that are raised for other reasons too.
_WORD_ROWS: tuple[tuple[str, tuple[str, ...], Meaning], ...] = (
    (
        "prompt",
        ("EOF when reading a line",),
        no("permanent", "the code waits for a person's input, and nobody is there", _PYTHON),
    ),
    (
        "archive",
        (
            "Compressed file ended before the end-of-stream marker",
            "Compressed data ended before the end-of-stream marker",
            "Invalid data stream",
        ),
        _damaged("compressed data"),
    ),
    ("pickle", ("pickle data was truncated", "Ran out of input", "invalid load key, '<'"), _damaged("a pickle")),
    (
        "parquet",
        (
            "Parquet magic bytes not found",
            "Parquet file size is ",
            "too small to be a Parquet file",
            "must end with PAR1",
            "No magic bytes found at end of file",
            "Couldn't deserialize thrift",
            "Unexpected end of stream: Page was smaller",
        ),
        _damaged("a Parquet file", "Apache Arrow, polars, DuckDB"),
    ),
    ("image", ("image file is truncated", "cannot identify image file"), _damaged("an image", "Pillow")),
    ("hdf5", ("truncated file: eof = ",), _damaged("an HDF5 file", "h5py")),
    (
        "xml",
        ("no element found: ", "unclosed token: ", "unclosed CDATA", "Document is empty", "Premature end of data"),
        _damaged("XML", "expat, libxml2"),
    ),
    (
        "csv",
        ("EOF inside string starting at",),
        depends("data", Wait.SHORT, "the CSV file ends inside a quoted value: cut short, or badly quoted", "pandas"),
    ),
)


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the words of a message say about a damaged file."""
    if node.is_a(*_FORMAT_CLASSES) and (other := _other_format(node.message[:1024])) is not None:
        yield other.signal("damaged.other_format", Rank.CLASS)
        return
    yield from settle(_find(node.message), node.message)


_NOT_THIS_FORMAT = no("data", "the file is not of the format that the code expects", _PYTHON)
_FORMAT_CLASSES = ("gzip.BadGzipFile", "zlib.error", "_lzma.LZMAError", "lzma.LZMAError", "tarfile.ReadError")
_OTHER_BYTES = re.compile(r"Not a gzipped file \(b['\"](?!<|\{|\\x00)")
"""What came begins otherwise, and not as an error page, an error in JSON or a file that is not yet written does."""
_UNSHOWN_BYTES = re.compile(r"Input format not supported by decoder|incorrect header check|^not an? (?:gzip|lzma) file")
"""It begins otherwise, but nobody says how: such a page, or a file of another format."""


def _other_format(message: str) -> Meaning | None:
    if _OTHER_BYTES.search(message):
        return _NOT_THIS_FORMAT
    return hint(_NOT_THIS_FORMAT) if _UNSHOWN_BYTES.search(message) else None


def _find(message: str) -> Iterator[Signal]:
    for detail, phrases, meaning in _WORD_ROWS:
        if any(map(message.__contains__, phrases)):
            yield meaning.signal(f"damaged.{detail}", Rank.CLASS)
