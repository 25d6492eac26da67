"""A message as prose: its words stay, its names and values are blanked."""

from __future__ import annotations

import pytest

from airflow_common_ai.evidence.protocols.text.prose import both_ends, read_prose


def prose(message: str, *words_of_art: str) -> str:
    """The tokens without the break at the beginning."""
    return read_prose(message, frozenset(words_of_art)).strip().lstrip(",. ").rstrip(",. ")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Connection refused", "connection refused"),
        ("CONNECTION REFUSED!", "connection refused"),
        ("Failed: connection refused. Giving up", "failed , connection refused . giving up"),
        ("can't connect (111)", "can't connect , #"),
        ("it can’t connect", "it can't connect"),
        ("Gateway Time-Out", "gateway time-out"),
        ("5 requests/minute, 10MB, 2.5 s, 95%", "# requests per minute , # mb , # s , #"),
        ("5 row(s)", "# rows"),
        # Names are blanked, however they are written.
        ("the table timeout_events", "the table *"),
        ("the file connection_refused.log", "the file *"),
        ("GET /rate/limit?timeout=5", "get *"),
        ("https://corp/access-denied is slow", "* is slow"),
        ("TimeoutError and rateLimit", "* and *"),
        ("calling timeout() twice", "calling * , twice"),
        ("timeout = 30", "* , #"),
        ("timeout=30", "*"),
        ("10.0.0.1:5432", "#"),
        ("user *** said", "user * said"),
        # Quoted names are, what is quoted as speech is not.
        ('relation "rate limit" does not exist', "relation * does not exist"),
        ("near 'too many': syntax error", "near * , syntax error"),
        ("table `access denied` is there", "table * is there"),
        ("users' and customers' data", "users and customers data"),
        ('{"message": "Too many requests", "table": "access denied"}', "* , too many requests , * , *"),
        ("{'error': {'detail': 'No route'}}", "* , * , no route"),
        (r'{"error": "{\"message\": \"No route\", \"id\": \"x y\"}"}', "* , * , no route , * , *"),
        ("ConnectionError('no route to host')", "* , no route to host"),
        ("KeyError('no route to host')", "* , *"),
        ("(2003, \"Can't connect\")", "# , can't connect"),
        ("('Connection aborted.', OSError(5, 'no route'))", "connection aborted . * , # , no route"),
        ('failed with error "no route"', "failed with error no route"),
        ('reason="no route"', "* , no route"),
        ("reason=refused", "refused"),
        ("response b'{\"message\": \"no route\"}'", "response , * , no route"),
        ("an 'unclosed quote of words", "an unclosed quote of words"),
        # Markup, escapes and control sequences.
        ("<h1>502 Bad Gateway</h1><p>nginx</p>", "# bad gateway . nginx"),
        ("<style>p { timeout: 1 }</style><script>var refused = 1;</script><p>No route</p>", "no route"),
        ("Can&#39;t connect &amp; die", "can't connect , die"),
        ("\x1b[31mconnection refused\x1b[0m", "connection refused"),
        ("first\\nsecond", "first . second"),
        # Data, source and chatter are not speech.
        ("bad row\nDETAIL:  Key (note)=(connection refused) exists", "bad row . detail , key , note , * exists"),
        ("bad\nLINE 1: select timeout\n        ^", "bad"),
        ("SELECT timeout, refused FROM t WHERE x", "* where x"),
        ('Traceback:\n  File "/a.py", line 3, in timeout\n    raise refused\nOops', "traceback . oops"),
        ("Boom\n\tat corp.Timeout.run(Timeout.java:3)", "boom"),
        ("INFO all refused\nWARN timeout\nERROR it broke", "error it broke"),
        ("INFO nothing else was said", "info nothing else was said"),
        ("接続が拒否されました", "接続が拒否されました"),
    ],
)  # fmt: skip
def test_words_stay_and_names_are_blanked(message: str, words: str) -> None:
    assert prose(message) == words


def test_words_of_art_stay_as_they_are() -> None:
    message = 'FATAL: no pg_hba.conf entry; java.lang.OutOfMemoryError; "pg_hba.conf"; other_pg_hba.conf'
    words = "fatal , no pg_hba.conf entry . OutOfMemoryError . pg_hba.conf . *"
    assert prose(message, "pg_hba.conf", "OutOfMemoryError") == words


def test_short_messages_are_read_whole() -> None:
    assert both_ends("a b c") == "a b c"


def test_of_long_messages_both_ends_are_read_without_half_words() -> None:
    read = both_ends("first " + "x" * 5000 + " middle " + "y" * 5000 + " last")
    assert read.split() == ["first", "last"]


def test_the_statement_at_the_end_of_a_message_of_sqlalchemy_is_left_out() -> None:
    assert both_ends("broken\n[SQL: select 'timeout']\n[parameters: ('refused',)]") == "broken"
