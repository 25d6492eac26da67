"""Read a message as prose: the words that somebody wrote, with everything that is a name or a value blanked.

``relation "rate limit" does not exist`` becomes ``relation * does not exist``: a pattern can then never fire
on a table, a column, a file, a URL, a quoted value or an SQL statement, whatever they are called.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

__all__ = ["both_ends", "read_prose"]

_BREAKS = (".", ",")

_BLANK = "\x00"
"""Stands for what was blanked before the tokens are read; a message's own are dropped."""
_MAX_NESTED_QUOTES = 8

_SCRIPT = re.compile(r"<(?:script|style)\b[^<]*", re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!][^<>\n]{0,200}>")
_ANSI = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_CURLY = (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("«", '"'), ("»", '"'), ("…", "."))
_SELECT = re.compile(r"\bSELECT\b[^;\n]{1,300}?\bFROM\b(?:\s+\S+)?")
# PostgreSQL's DETAIL lines: `Key (email)=(permission denied) already exists`, `Failing row contains (1, x)`.
_ROW = re.compile(r"(?:=|\bcontains )\([^()\n]{0,400}\)")
_ECHO_LINE = re.compile(r"\s*(?:LINE \d+: |STATEMENT:|QUERY:|\^+\s*$|~+\^|at [\w.$<>]{1,200}\()")
_TRACE_LINE = re.compile(r"(\s*)File \"[^\"]*\", line \d+")
_CHATTER_LINE = re.compile(r".{0,80}?\b(?:INFO|DEBUG|TRACE|NOTICE|WARN|WARNING)\b")

_BYTES_PREFIX = re.compile(r"\b[bru]$")
_QUOTE = re.compile(r"(\\*)([\"'`])")
_SPEECH_KEYS = {"msg", "text", "title", "desc", "err", "errors", "stderr", "cause", "fault", "str", "warning"}
_SPEECH_KEY_ENDS = ("message", "error", "reason", "description", "detail", "details", "exception")
_SPEECH_WORDS = {"error", "message", "reason", "said", "says", "exception", "cause", "limit", "metric", "quota"}
_LAST_WORD = re.compile(r"[A-Za-z_]\w*$")
_CODE_OF_TUPLE = re.compile(r"\(-?\d{1,6}\s*,$")
_CLASS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")

_TOKEN = re.compile(r"([^\s()\[\]{}<>,;|]+)(\()?|([()\[\]{}<>,|])|([;\n])")
_NUMBER = re.compile(r"[+~-]?\d[\d.,:_]*([A-Za-z]{0,12})%?")
_RATE = re.compile(r"([A-Za-z]+)/\d{0,4}(s|secs?|seconds?|mins?|minutes?|h|hours?|days?|months?)")


def both_ends(text: str, window_chars: int = 4096) -> str:
    """Return what is worth reading of a long message: its beginning and its end, no token cut in two."""
    statement = text.find("\n[SQL: ")
    if statement >= 0:
        # SQLAlchemy ends its messages with the statement and its parameters: data, not speech.
        text = text[:statement]
    if len(text) <= 2 * window_chars:
        return text
    head = text[:window_chars].rsplit(None, 1)
    tail = text[-window_chars:].split(None, 1)
    return f"{head[0] if len(head) == 2 else ''}\n{tail[1] if len(tail) == 2 else ''}"


def read_prose(text: str, words_of_art: frozenset[str] = frozenset()) -> str:
    """
    Return the words of ``text`` in lower case between single spaces, with one space at both ends.

    :param text: A message; call :func:`both_ends` first where it may be long.
    :param words_of_art: Words that would be taken for names (``pg_hba.conf``, ``OutOfMemoryError``) and are
        to be kept, as they are.
    :return: Words; ``*`` for a name or a value, ``#`` for a number, ``.`` and ``,`` for the breaks.
    """
    text = _plain(text.replace(_BLANK, ""))
    if '"' in text or "'" in text or "`" in text:
        text = "".join(_blank_quoted_names(text, words_of_art))
    tokens: list[str] = [","]
    known: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    for run, call, soft, hard in _TOKEN.findall(text):
        if run.islower() and run.isalpha() and not call:
            tokens.append(run)
            continue
        if run == "=":
            # `timeout = 30` names a setting.
            if tokens[-1].isalpha():
                tokens[-1] = "*"
            _add_break(tokens, ",")
        elif run:
            said = known.get((run, call))
            if said is None:
                said = known[run, call] = _read_run(run, bool(call), words_of_art)
            tokens += said[0]
            _add_break(tokens, said[1])
        elif hard:
            _add_break(tokens, ".")
        if soft or call:
            _add_break(tokens, ",")
    return f" {' '.join(tokens)} "


def _plain(text: str) -> str:
    if not text.isascii():
        for curly, plain in _CURLY:
            text = text.replace(curly, plain)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "&" in text and ";" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub("\n", _SCRIPT.sub("", text))
    if "\\" in text:
        text = text.replace("\\r", "\n").replace("\\n", "\n").replace("\\t", " ")
    if "\n" in text.strip():
        text = "\n".join(_spoken_lines(text))
    if "SELECT" in text and "FROM" in text:
        text = _SELECT.sub(f" {_BLANK} ", text)
    if "(" in text:
        text = _ROW.sub(f" {_BLANK} ", text.replace("(s)", "s"))
    return text


def _spoken_lines(text: str) -> list[str]:
    """Leave out echoed statements, source lines of a traceback, and log lines that report no error."""
    spoken: list[str] = []
    chatter: list[str] = []
    code_indent = -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if trace := _TRACE_LINE.match(line):
            code_indent = len(trace[1])
        elif 0 <= code_indent < indent or _ECHO_LINE.match(line):
            continue
        else:
            code_indent = -1
            (chatter if _CHATTER_LINE.match(line) else spoken).append(line)
    return spoken if any(line.strip() for line in spoken) else chatter


def _blank_quoted_names(text: str, words_of_art: frozenset[str]) -> Iterator[str]:
    """Yield ``text`` with quoted names replaced by ``*`` and quoted speech without its quotes."""
    done = 0
    previous_end, previous_is_speech = -1, False
    dropped: list[int] = []
    for start, end, escapes in _pair_quotes(text):
        if start < done:
            continue
        before = text[max(0, start - 60) : start]
        content = text[start + 1 : end]
        is_sibling = previous_is_speech and text[previous_end + 1 : start].strip() in (",", ", b")
        is_key = text[end + 1 : end + 4].lstrip()[:1] == ":"
        is_speech = (
            content in words_of_art
            or content.lstrip(" b'\"\\")[:1] in ("{", "[", "<")
            or (not is_key and (is_sibling or _introduces_speech(before, is_start=start <= 60)))
        )
        previous_end, previous_is_speech = end, is_speech
        if is_speech:
            if _BYTES_PREFIX.search(before):
                dropped.append(start - 1)
            dropped += (start, end)
            continue
        yield from _without(text, done, start - escapes, dropped)
        yield f" {_BLANK} "
        done = end + 1
    yield from _without(text, done, len(text), dropped)


def _without(text: str, start: int, end: int, dropped: list[int]) -> Iterator[str]:
    for index in sorted(index for index in dropped if start <= index < end):
        yield text[start:index] + " "
        start = index + 1
    dropped[:] = [index for index in dropped if index >= end]
    yield text[start:end]


def _pair_quotes(text: str) -> list[tuple[int, int, int]]:
    """
    Match opening to closing quotes in one pass; apostrophes and quotes left open pair with nothing.

    :return: Start, end and the number of backslashes before the start, for each pair.
    """
    pairs: list[tuple[int, int, int]] = []
    still_open: list[tuple[str, int, int]] = []
    for mark in _QUOTE.finditer(text):
        at = mark.end() - 1
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if before in ("b", "u", "r") and not _is_word_char(text[at - 2 : at - 1]):
            before = ""
        can_open = not _is_word_char(before)
        can_close = not _is_word_char(after)
        kind, escapes = mark[2], len(mark[1])
        if can_close:
            level = _find_open(still_open, kind, escapes)
            if level is not None:
                pairs.append((still_open[level][2], at, escapes))
                del still_open[level:]
                continue
        if can_open and len(still_open) < _MAX_NESTED_QUOTES:
            still_open.append((kind, escapes, at))
    return sorted(pairs)


def _find_open(still_open: list[tuple[str, int, int]], kind: str, escapes: int) -> int | None:
    for level in range(len(still_open) - 1, -1, -1):
        if still_open[level][:2] == (kind, escapes):
            return level
    return None


def _is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"


def _introduces_speech(before: str, *, is_start: bool) -> bool:
    """Whether what stands before a quotation says that somebody speaks in it: ``"message": "…"``, ``Error('…')``."""
    before = _BYTES_PREFIX.sub("", before).rstrip(" \\")
    opened = before.rstrip("[{( ")
    if not opened:
        return is_start
    if opened[-1] in ":=":
        key = _last_word(opened[:-1].rstrip(" \"'`\\")).lower()
        return key != "keyerror" and (key in _SPEECH_KEYS or key.endswith(_SPEECH_KEY_ENDS))
    if _CODE_OF_TUPLE.search(opened):
        return True
    word = _last_word(opened)
    if before[len(opened) :].startswith("("):
        return bool(_CLASS_NAME.fullmatch(word)) and word != "KeyError"
    return before == opened and word.lower() in _SPEECH_WORDS


def _last_word(text: str) -> str:
    found = _LAST_WORD.search(text)
    return found[0] if found else ""


def _add_break(tokens: list[str], mark: str) -> None:
    if not mark:
        return
    if tokens[-1] not in _BREAKS:
        tokens.append(mark)
    elif mark == ".":
        tokens[-1] = mark


def _read_run(run: str, is_call: bool, words_of_art: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """Return the tokens of a run and the break behind it, which may be none."""
    core = run.strip(".:!?\"'`*-#\\")
    words: tuple[str, ...] = ()
    is_sign = False
    if _BLANK in run or "***" in run:
        words = ("*",)
    elif any(map(str.isalnum, core)):
        words = _classify(core, is_call, words_of_art)
    else:
        is_sign = run[-1] != "\\"
    if run[-1] in ".!?":
        return words, "."
    return words, "," if run[-1] in ":=" or is_sign else ""


def _classify(core: str, is_call: bool, words_of_art: frozenset[str]) -> tuple[str, ...]:
    if core in words_of_art:
        return (core,)
    if core.isalpha() or core.replace("-", "").replace("'", "").isalpha():
        is_word = not is_call and (core.islower() or core.isupper() or core.title() == core or _is_capitalized(core))
        return (core.lower(),) if is_word else ("*",)
    if number := _NUMBER.fullmatch(core):
        return ("#", number[1].lower()) if number[1] else ("#",)
    if rate := _RATE.fullmatch(core):
        return (rate[1].lower(), "per", rate[2])
    last = core.rpartition(".")[2]
    if last in words_of_art:
        return (last,)
    key, equals, word = core.partition("=")
    if equals and word.isalpha() and key.lower() in ("msg", "err", "error", "message", "reason", "desc"):
        return (",", word.lower())
    return ("*",)


def _is_capitalized(core: str) -> bool:
    return core[0].isupper() and core[1:].islower()
