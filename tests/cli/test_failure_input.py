"""Whatever is given as input is read within bounds, or refused with a reason."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airflow_common_ai.cli.failure_input import MAX_READ_BYTES, MAX_TAIL_BYTES, UnreadableInput, read_input

TEXT = "Traceback (most recent call last):\nValueError: café €\n"


class Stream(io.RawIOBase):
    """Standard input that gives the same piece again and again."""

    def __init__(self, piece: bytes, times: float = float("inf")) -> None:
        self._piece, self._left = piece, times
        self.given_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if self._left <= 0:
            return 0
        self._left -= 1
        count = min(len(self._piece), len(buffer))
        buffer[:count] = self._piece[:count]
        self.given_bytes += count
        return count


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[io.RawIOBase | bytes], None]:
    """Give something as standard input."""

    def give(content: io.RawIOBase | bytes) -> None:
        raw = io.BytesIO(content) if isinstance(content, bytes) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(raw)))

    return give


def file_with(folder: Path, content: bytes) -> Path:
    path = folder / "attempt=1.log"
    path.write_bytes(content)
    return path


ENCODED = {
    "UTF-8": TEXT.encode(),
    "UTF-8 with its mark": TEXT.encode("utf-8-sig"),
    "UTF-16 as PowerShell writes it": b"\xff\xfe" + TEXT.encode("utf-16-le"),
    "UTF-16, big end first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "UTF-32": b"\xff\xfe\x00\x00" + TEXT.encode("utf-32-le"),
    "UTF-32, big end first": b"\x00\x00\xfe\xff" + TEXT.encode("utf-32-be"),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "packed": gzip.compress,
    "packed in two parts": lambda data: gzip.compress(data[:11]) + gzip.compress(data[11:]),
}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("content", ENCODED.values(), ids=ENCODED)
def test_a_file_and_standard_input_are_decoded(
    content: bytes, pack: Callable[[bytes], bytes], tmp_path: Path, given: Callable[[bytes], None]
) -> None:
    assert read_input(file_with(tmp_path, pack(content))) == TEXT
    for source in (None, Path("-")):
        given(pack(content))
        assert read_input(source) == TEXT


def test_bytes_that_are_no_character_are_replaced(tmp_path: Path) -> None:
    assert read_input(file_with(tmp_path, b"Value\xe9Error: \xff\n")) == "Value�Error: �\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\t\r\n", "is empty"),
        (gzip.compress(b""), "is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "is no text"),
        (gzip.compress(b"PAR1\x15\x04\x15\x00"), "is no text"),
        (TEXT.encode("utf-16-le"), "is no text"),
        (gzip.compress(TEXT.encode())[:-10], "is a gzip file that is cut off"),
        (gzip.compress(TEXT.encode()) + b"more", "is a damaged gzip file"),
        (b"\x1f\x8b", "is a gzip file that is cut off"),
        (b"\x1f\x8bnothing of the kind", "is a damaged gzip file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    content: bytes, reason: str, tmp_path: Path, given: Callable[[bytes], None]
) -> None:
    path = file_with(tmp_path, content)
    with pytest.raises(UnreadableInput, match=rf"^'{path}' {reason}"):
        read_input(path)
    given(content)
    with pytest.raises(UnreadableInput, match=f"^standard input {reason}"):
        read_input(None)


def test_what_is_no_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for source, reason in [
        (tmp_path, "Is a directory"),
        (tmp_path / "nowhere", "No such file or directory"),
        (Path("/dev/null/x"), "Not a directory"),
        (loop, "Too many levels of symbolic links"),
        (tmp_path / ("x" * 300), "File name too long"),
        (Path("/proc/self/mem"), "Input/output error"),
    ]:
        with pytest.raises(UnreadableInput, match=f"cannot be read: {reason}$"):
            read_input(source)


def test_a_file_without_the_right_to_read_it_is_refused(tmp_path: Path) -> None:
    path = file_with(tmp_path, TEXT.encode())
    path.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)  # root may read everything
    try:
        with pytest.raises(UnreadableInput, match=r"cannot be read: Permission denied$"):
            read_input(path)
    finally:
        if is_root:
            os.seteuid(0)


def test_the_name_of_a_file_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read_input(tmp_path / "a\x1b[31m\nb")
    assert r"a\x1b[31m\nb' cannot be read" in str(caught.value)


@pytest.mark.parametrize(("device", "reason"), [("/dev/zero", "is no text"), ("/dev/null", "is empty")])
def test_devices_do_not_keep_it_busy(device: str, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=f"^'{device}' {reason}"):
        read_input(Path(device))


def test_a_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """As in ``explain <(zcat *.gz)``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    is_open = threading.Event()

    def write() -> None:
        with pipe.open("w") as file:
            is_open.wait()
            file.write(TEXT)

    writer = threading.Thread(target=write)
    writer.start()
    # Like the shell, which has its end open before it starts the program.
    keeper = os.open(pipe, os.O_RDONLY)
    is_open.set()
    assert read_input(pipe) == TEXT
    os.close(keeper)
    writer.join()


def test_a_named_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableInput, match="is empty"):
        read_input(pipe)


def test_a_terminal_and_a_closed_input_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, terminal = os.openpty()
    with open(mine, "rb"), open(terminal) as stdin:
        with pytest.raises(UnreadableInput, match="is a terminal"):
            read_input(Path(os.ttyname(terminal)))
        for one in (stdin, None):
            monkeypatch.setattr(sys, "stdin", one)
            with pytest.raises(UnreadableInput, match=r"^give a file, or pipe .* into standard input$"):
                read_input(None)


# ---- bounds


@pytest.fixture
def peak_bytes() -> Iterator[Callable[[], int]]:
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_of_a_huge_file_only_the_end_is_read(tmp_path: Path, peak_bytes: Callable[[], int]) -> None:
    path = file_with(tmp_path, b"x" * 8192)
    os.truncate(path, 20 * 1024**3)  # a hole: it takes no space
    with path.open("ab") as file:
        file.write(f"\n{TEXT}".encode())

    text = read_input(path)

    assert text.endswith(TEXT)
    assert len(text.encode()) == MAX_TAIL_BYTES
    assert peak_bytes() < 8 * MAX_TAIL_BYTES


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-be"])
@pytest.mark.parametrize("odd_bytes", range(4))
def test_the_end_of_a_huge_file_is_decoded_from_a_whole_character_on(
    encoding: str, odd_bytes: int, tmp_path: Path, given: Callable[[bytes], None]
) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-32-be": b"\x00\x00\xfe\xff"}[encoding]
    data = mark + ("ab" * MAX_TAIL_BYTES)[: MAX_TAIL_BYTES // 2].encode(encoding) + b"\0" * odd_bytes
    given(data)

    texts = [read_input(file_with(tmp_path, data)), read_input(None)]

    for text in texts:
        assert set(text[:1000]) == {"a", "b"}


def test_a_long_stream_is_read_within_bounds_of_memory(
    given: Callable[[io.RawIOBase], None], peak_bytes: Callable[[], int]
) -> None:
    given(Stream(b"x" * 1_000_000, times=100))

    assert len(read_input(None)) == MAX_TAIL_BYTES
    assert peak_bytes() < 8 * MAX_TAIL_BYTES


def test_an_endless_stream_is_given_up(given: Callable[[io.RawIOBase], None], peak_bytes: Callable[[], int]) -> None:
    stream = Stream(b"all is well\n" * 50_000)
    given(stream)

    with pytest.raises(UnreadableInput, match=r"holds more than 256 MiB; give its last part, e\.g\. with tail -c 4M"):
        read_input(None)
    assert stream.given_bytes < MAX_READ_BYTES + 4 * 1024**2
    assert peak_bytes() < 8 * MAX_TAIL_BYTES


def test_an_endless_stream_that_is_no_text_is_given_up_at_once(given: Callable[[io.RawIOBase], None]) -> None:
    stream = Stream(b"\0" * 8192)
    given(stream)

    with pytest.raises(UnreadableInput, match="is no text"):
        read_input(None)
    assert stream.given_bytes < 100_000


def test_a_small_file_that_unpacks_to_a_huge_one_is_given_up(tmp_path: Path, peak_bytes: Callable[[], int]) -> None:
    bomb = file_with(tmp_path, gzip.compress(b"x" * 16 * 1024**2) * 40)

    with pytest.raises(UnreadableInput, match="holds more than 256 MiB"):
        read_input(bomb)
    assert bomb.stat().st_size < 1024**2
    assert peak_bytes() < 64 * 1024**2


def test_a_file_that_is_packed_in_very_many_parts_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="is packed in more than 1000 parts"):
        read_input(file_with(tmp_path, gzip.compress(b"") * 500_000))
