"""What a message says once everything that changes from run to run is taken out of it.

A message is read as pieces, in one pass and without going back: runs of plain words, quoted values, dates, URLs,
chunks between blanks and brackets. Their number is bounded, and with it the time.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice

__all__ = ["MAX_PIECES", "PLACEHOLDER", "normalise"]

PLACEHOLDER = "<*>"
"""Stands for everything that varies, whatever it was: an id may be all digits today, a host may be an address."""
MAX_PIECES = 128
"""From the head of a message; a quarter more comes from its tail."""
_READ_CHARS, _KEPT_CHARS = 24, 8
_READ_TAIL_CHARS, _KEPT_TAIL_CHARS = 4, 2
"""For each of those pieces: so much is read of the message, and so much is kept of what it comes to. Less is kept
than is read, so that ids of another length do not move the place where the text ends."""
_LEFT_OUT = " … "

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*+"
_ZONE = r"(?:[ ]?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_CLOCK = rf"\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d++)?(?:[ ]?[AP]M)?{_ZONE}(?!\w|:\d)"
_THEN_CLOCK = rf"(?:(?:T|[ ,:]{{1,2}}){_CLOCK}|{_ZONE}(?!\w))"
_TIME_UNIT = "[nuµm]?s|m|h|d|(?:milli|micro|nano)?sec(?:ond)?s?|min(?:ute)?s?|hours?|days?"
_SIZE_UNIT = "(?:[kKMGTP]i?)?(?:[Bb]|[Bb]ytes?)"
_SAYING = (
    "cause", "code", "description", "detail", "details", "error", "exception", "message", "msg", "reason", "state",
    "status", "stderr", "title", "type",
)  # fmt: skip
"""What is set to one of these is no value that the failure met but what it says: ``message='…'``, ``"type": "…"``."""

_PIECE = re.compile(
    rf"""
      (?P<plain>(?:                                                  # most of a message, in a few bites
          [\s,;(){{}}<>|\]]++
        | [.:](?![\w:/\\])
        | =(?!['"(])
        | (?!localhost\b|[A-Z](?:on|ue|ed|hu|ri|at|un|an|eb|ar|pr|ay|ul|ug|ep|ct|ov|ec)\b)
          [A-Za-z_]++(?!\w|[-.:/@\\]\w|://|:\\)
      )++)
    | (?P<code>                                                     # SQLSTATE beside a driver's text or number
          '[0-9A-Z]{{5}}'(?=,)(?<=\(.......)
        | \[[0-9A-Z]{{5}}\](?=[ ]?\[)
        | \d{{4,6}}[ ]\([0-9A-Z]{{5}}\)
      )
    | (?P<quoted>                                                   # one word or one path; prose goes on as pieces
          "(?:(?![,;:=()\[\]{{}}])(?:[^\s"\\]++|\\[^"\s])*+|[/~][^"\n]*+)"
        | '(?:(?![,;:=()\[\]{{}}])(?:[^\s'\\]++|\\[^'\s])*+|[/~][^'\n]*+)'
        | \\"(?![,;:=()\[\]{{}}])[^\s"\\]*+\\"
        | `[^\s`]++`
      )
    | (?P<assigned>={"".join(f"(?<!{word}=)" for word in _SAYING)}
          (?:'[^'\n]*+'|"[^"\n]*+"|\([^()\n]*+\))
      )
    | (?P<varies>                                                   # [index-1], [::1]:5432, /path, dates and times
          \[(?:[a-z_][a-z0-9_./*:-]*+|(?=[0-9A-Fa-f]*+:)[0-9A-Fa-f:.]++(?:%\w++)?)\](?::\d++)?
        | \[parameters:[^\n]*+                                      # SQLAlchemy's dump of the bound values
        | ~?/[^\s"'<>|,;()\[\]{{}}]*+
        | (?=\d)(?:\d{{4}}-\d\d-\d\d{_THEN_CLOCK}|\d{{1,2}}[- /]{_MONTH}[- /]\d{{2,4}}{_THEN_CLOCK}|{_CLOCK}
            |\d++[ ]sub-exceptions?(?!\w))                          # in the message of every exception group
        | (?=[A-Z][a-z])(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*+,?[ ]++)?+
          (?:{_MONTH}[ ]{{1,2}}\d{{1,2}}(?:,?[ ]\d{{4}})?|\d{{1,2}}[- ]{_MONTH}[- ]\d{{2,4}}){_THEN_CLOCK}
      )
    | (?=\d)(?:
          (?P<duration>(?:\d++(?:\.\d++)?[ ]?(?:{_TIME_UNIT})(?![A-Za-z]))++(?!\w))
        | (?P<size>\d++(?:\.\d++)?[ ]?{_SIZE_UNIT}(?!\w))
      )
    | (?P<url>[A-Za-z][A-Za-z0-9+.-]*+://[^\s"'<>`)\]}},]*+)
    | (?P<chunk>[^\s"'`=,;()\[\]{{}}<>|]++)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_VALUE = re.compile(
    r"""
      [^*]*+\*{3}.*+                                                # a masked secret
    | [\w.+-]++@[\w.-]++
    | arn:.*+
    | [A-Za-z]:\\.*+
    | (?=[^.]*+\.\w)[a-z0-9_][a-z0-9_-]*+(?:[.:][a-z0-9_-]++)++(?<!error)(?<!timeout)   # host, file, table, number
    | (?!\w{0,40}(?:code|status|errno|error|exit|signal|type):)[A-Za-z_][\w.-]*+:\d{1,5}   # host and port
    | localhost
    | [+-]?\d++(?:\.\d++)?[eE][+-]?\d++
    | (?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:%\w++)?      # IPv6
    | [\w.%+@:-]++(?:/[\w.%+@:-]++){2,}+/?                          # relative path, key in a bucket, image
    | [\w-]++/[\w-]*+\.[\w.]++
    | [0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}
    | [a-z]++(?:_[a-z]++)*+__\d{4}-\d\d-\d\dT.*+                    # run id
    | (?=[A-Za-z+/_-]*+\d)(?=[A-Z\d+/_-]*+[a-z])(?=[a-z\d+/_-]*+[A-Z])[\w+/-]{20,}+   # base64
    """,
    re.VERBOSE,
)
_MAX_WORD_CHARS = 200
"""What is longer, in ASCII, is a value. Other scripts need no blanks between words."""
_MAX_SEGMENTS = 16
"""Of one chunk that are looked at one by one."""
_KEPT = frozenset({"plain", "code", "sign"})
_SHOWN_AS = {"assigned": f"={PLACEHOLDER}", "duration": f"{PLACEHOLDER}s", "size": f"{PLACEHOLDER}B"}

_POD = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names in Kubernetes (rand.SafeEncodeString in k8s.io/apimachinery)."""
_SEGMENT = re.compile(
    rf"(?P<suffix>(?<=[a-z0-9]-)(?:[{_POD}]{{8,10}}|[{_POD}]{{5}})(?![A-Za-z0-9]))"
    r"|(?<![A-Za-z0-9])[A-Za-z]*+\d[A-Za-z0-9]*+"
)
_ID = re.compile(r"(?=.{4})[A-Za-z]*\d+[A-Za-z].*|[0-9a-f]{7,}|[0-9A-F]{7,}")
"""Letters after digits: ``7f3a``, ``x7k2p``, not ``worker12`` or ``3rd``."""
_DIGITS = re.compile(r"\d+")
_NAMED_CODE = re.compile(
    r"[A-Z]{3,4}-\d{4,5}|AADSTS\d{4,8}|SQL\d{4,5}[NWC]"
    r"|(?:[a-z_]\w{0,40}\.){1,8}[A-Z]\w*|[A-Z][A-Za-z]*\d{1,3}(?:[A-Z][a-z]+)+"
)
"""``ORA-00060``, ``DPY-4011``; Entra's; Db2's; ``sqlite3.OperationalError``; ``EC2ThrottledException``."""

_CODE_FOLLOWS = (
    "code", "code is", "code was", "code of", "status", "status is", "status was", "errno", "sqlstate", "signal",
    "exit", "exited", "exited with", " rc", "msg", "http", "http/1.0", "http/1.1", "http/2",
    "sigabrt", "sigbus", "sighup", "sigint", "sigkill", "sigpipe", "sigsegv", "sigterm",
)  # fmt: skip
_STATUS_FOLLOWS = ("returned", "response", "responded", "got", "received", "with", "many", "by")
_AFTER_STATUS = re.compile(r":[ ]?[A-Za-z]|[ ](?:[A-Z]|error|response)")
_AFTER_NUMBER = re.compile(r",[ ]?b?[\"']")
_MAX_CODE_DIGITS = 6
_MAX_CODE_CHARS = 10
_CONTEXT_CHARS = 32

_QUOTED_CODE = re.compile(r"[A-Za-z_][\w.:#/-]{1,63}|\d{1,6}")
_SELF_EVIDENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?:[A-Z]++[a-z]++){2,}|\w*_(?:error|exception)")
"""``RESOURCE_EXHAUSTED``, ``AccessDenied``, ``index_not_found_exception``."""
_NAMES_A_CODE = ("code", "status", "reason", "errno", "state", "phase")

_REPEATED = re.compile(r"<\*>(?:[-.,:;/_+@ ]{0,3}(?:<\*>|\(<\*>\)))++")
"""A list, an address beside its host, a version: how many parts it has may change."""


def normalise(message: str, most_pieces: int = MAX_PIECES) -> str:
    """
    Return a message without what changes from run to run, on one line, each of its lines once.

    Quoted words, hosts, paths, URLs, ids, times and numbers become ``<*>``; durations ``<*>s`` and sizes ``<*>B``,
    because the unit tells a limit on time from one on memory. Kept are numbers that are codes, as the words around
    them tell (``[Errno 111]``, ``404 Client Error``, ``exit code 137``, ``(1045, "…")``), and quoted codes
    (``"reason":"NotFound"``).

    :param message: Any text; time does not grow with its length.
    :param most_pieces: How much to read from its head; a quarter of that is read from its tail.
    """
    lines = (" ".join(line.split()) for line in _read(message, most_pieces).splitlines())
    return _REPEATED.sub(PLACEHOLDER, " ".join(filter(None, dict.fromkeys(lines))))


def _read(message: str, most_pieces: int) -> str:
    end = _READ_CHARS * most_pieces
    if end < len(message):
        end = message.rfind(" ", 0, end) + 1 or end
    pieces = list(islice(_PIECE.finditer(message, 0, end), most_pieces))
    head = "".join(map(_shown, pieces))
    kept, kept_tail = _KEPT_CHARS * most_pieces, _KEPT_TAIL_CHARS * most_pieces
    position = pieces[-1].end() if pieces else 0
    if position == len(message):
        if len(head) <= kept + kept_tail:
            return head
        tail = head
    else:
        start = max(position, len(message) - _READ_TAIL_CHARS * most_pieces)
        last = deque(_PIECE.finditer(message, max(start, message.find(" ", start))), maxlen=most_pieces // 4)
        tail = "".join(map(_shown, last))
    return f"{head[:kept]}{_LEFT_OUT}{tail[-kept_tail:]}"


def _shown(piece: re.Match[str]) -> str:
    kind = piece.lastgroup
    if kind in _KEPT:
        return piece[0]
    if kind == "chunk":
        return _shown_chunk(piece)
    if kind == "quoted" and _is_quoted_code(piece):
        return piece[0]
    return _SHOWN_AS.get(kind or "", PLACEHOLDER)


def _shown_chunk(piece: re.Match[str]) -> str:
    chunk = piece[0].rstrip(".:!?")
    if chunk.isalpha():
        return piece[0]
    end = piece[0][len(chunk) :]
    if chunk.isdigit():
        return piece[0] if _is_code(chunk, piece.string, piece.start()) else PLACEHOLDER + end
    if _NAMED_CODE.fullmatch(chunk):
        return piece[0]
    if len(chunk) > _MAX_WORD_CHARS and not chunk.isascii():
        return _DIGITS.sub(PLACEHOLDER, piece[0])
    if len(chunk) > _MAX_WORD_CHARS or _VALUE.fullmatch(chunk):
        return PLACEHOLDER + end
    if len(chunk) > _MAX_SEGMENTS and len(_SEGMENT.findall(chunk)) > _MAX_SEGMENTS:
        return _DIGITS.sub(PLACEHOLDER, piece[0])
    return _SEGMENT.sub(lambda segment: _shown_segment(segment, piece), chunk) + end


def _shown_segment(segment: re.Match[str], piece: re.Match[str]) -> str:
    """Show a part of a chunk, letters and digits, at least one of these a digit unless it is a pod's suffix."""
    text = segment[0]
    start = piece.start() + segment.start()
    if _is_code(text, piece.string, start):
        return text
    if segment.lastgroup == "suffix" or text.isdigit() or _ID.fullmatch(text):
        return text if _NAMED_CODE.fullmatch(text) else PLACEHOLDER
    return _DIGITS.sub(PLACEHOLDER, text)


def _is_code(text: str, message: str, start: int) -> bool:
    """Whether the words around say that this is a code and not a number that happens to be there."""
    is_number = text.isdigit()
    if len(text) > (_MAX_CODE_DIGITS if is_number else _MAX_CODE_CHARS):
        return False
    before = message[max(0, start - _CONTEXT_CHARS) : start]
    words = before.rstrip(" :=#([<\\\"'-")
    said = words.lower()
    if said.endswith(_CODE_FOLLOWS) or (said.endswith("error") and ":" not in before[len(words) :]):
        return True
    if not is_number:
        return False
    after = message[start + len(text) : start + len(text) + 4]
    if before.endswith("(") and _AFTER_NUMBER.match(after):
        return True
    if len(text) != 3 or text[0] not in "345":
        return False
    is_bracketed = before[-1:] in ("(", "[") and after[:1] in (")", "]")
    return not words or is_bracketed or said.endswith(_STATUS_FOLLOWS) or _AFTER_STATUS.match(after) is not None


def _is_quoted_code(piece: re.Match[str]) -> bool:
    """Whether a quoted word is a key, or says which failure this is rather than whom it met."""
    quoted = piece[0].strip("\\\"'`")
    if not _QUOTED_CODE.fullmatch(quoted):
        return False
    message, start = piece.string, piece.start()
    before = message[max(0, start - _CONTEXT_CHARS) : start].rstrip()
    if message.startswith(":", piece.end()) and before.endswith(("{", ",")):
        return not any(character.isdigit() for character in quoted)
    if _SELF_EVIDENT.fullmatch(quoted):
        return True
    name = before.rstrip(":=([ \\")
    key = name.rstrip("\"'\\")
    is_key = key != name or before.endswith("=")
    return key.lower().endswith(_NAMES_A_CODE) or (is_key and key.lower().endswith(_SAYING))
