"""Of a message stays what says which failure it is, and nothing of what it met this time."""

from __future__ import annotations

import pytest

from airflow_common_ai.evidence.wording import normalise

SAME = {
    "numbers": ("read 12 of 300 rows", "read 1,204 of 88 rows", "read <*> of <*> rows"),
    "fractions": ("score 0.5 is below 1e-05", "score 12.75 is below 3E+2", "score <*> is below <*>"),
    "sizes": ("got 12 bytes, need 4.5MB", "got 1 byte, need 1 GiB", "got <*>B, need <*>B"),
    "durations": ("gave up after 1m30s", "gave up after 45 seconds", "gave up after <*>s"),
    "moments": ("stale since 2026-01-05T06:07:08.123Z", "stale since 2025-12-31 23:59:59+01:00", "stale since <*>"),
    "dates in words": (
        "at Mon, 05 Jan 2026 06:07:08 GMT: closed",
        "at Sun, 1 Nov 2026 10:00:00 GMT: closed",
        "at <*>: closed",
    ),
    "times of day": ("closed at 10:15", "closed at 9:15:07 PM", "closed at <*>"),
    "UUIDs": (
        "job 7f3a9c1b-52d4-4e8f-9a01-0c5de8b7f311 died",
        "job 0be41d77-c3a9-4b16-8d5e-91f2a6c0d4e8 died",
        "job <*> died",
    ),
    "hashes": ("blob 9f86d081884c7d65 is gone", "blob 60303ae22b998861bce3 is gone", "blob <*> is gone"),
    "an id of digits only": ("job 7f3a9c1b died", "job 73291846 died", "job <*> died"),
    "request ids": (
        "(request req_011CSHoEeqs5C35K2UUqR7Fy)",
        "(request req_9Zk2LmQpX7vB4nTcR8sWfYdE)",
        "(request <*>)",
    ),
    "base64": ("host id 9Y+abcDEF012345678/xyz=", "host id Qr7TTuvWXyz+98765abcd/4=", "host id <*>="),
    "memory addresses": ("<Conn object at 0x7f3a2b1c0d10>", "<Conn object at 0x55d0a8>", "<Conn object at <*>>"),
    "IPv4 or IPv6": (
        "dial tcp 10.0.0.7:5432: refused",
        "dial tcp [2001:db8::7]:5432: refused",
        "dial tcp <*>: refused",
    ),
    "host names": ("cannot reach db-1.example.com:443", "cannot reach localhost:8080", "cannot reach <*>"),
    "host or address": ("cannot reach 192.168.0.1", "cannot reach api.eu.example.org", "cannot reach <*>"),
    "names of nodes": (
        "node ip-10-0-12-3.ec2.internal left",
        "node ip-172-31-4-200.ec2.internal left",
        "node <*> left",
    ),
    "URLs": ("GET https://a.example/v1?id=7 failed", "GET http://127.0.0.1:81/x/y failed", "GET <*> failed"),
    "keys in buckets": ("no object s3://raw/a/b.csv", "no object gs://landing/2026/01/c.json.gz", "no object <*>"),
    "ARNs": (
        "User: arn:aws:sts::123456789012:assumed-role/a/b may not",
        "User: arn:aws:iam::999999999999:user/ci may not",
        "User: <*> may not",
    ),
    "paths": ("cannot open /data/in/1.csv", "cannot open /tmp/x", "cannot open <*>"),
    "quoted paths with blanks": ("cannot open '/data/my file.csv'", 'cannot open "/x"', "cannot open <*>"),
    "paths of Windows": (r"cannot open C:\Data\1.csv", r"cannot open D:\x", "cannot open <*>"),
    "relative paths": ("cannot open data/in/1.csv", "cannot open part-00012.parquet", "cannot open <*>"),
    "lines of a source": (
        'File "/a/b.py", line 12, in run',
        'File "/c.py", line 7, in run',
        "File <*>, line <*>, in run",
    ),
    "quoted values": ("user 'anna' is unknown", 'user "bert" is unknown', "user <*> is unknown"),
    "values of settings": ("cannot use mode='a b c'", "cannot use mode='d'", "cannot use mode=<*>"),
    "lists": ("columns ['a', 'b'] are missing", "columns ['c'] are missing", "columns [<*>] are missing"),
    "mail addresses": ("cannot write to <anna@example.com>", "cannot write to <***>", "cannot write to <<*>>"),
    "masked secrets": ("token *** is expired", "token abcd1234 is expired", "token <*> is expired"),
    "masked URLs": ("to postgresql://u:***@h/d failed", "to postgresql://h:1/d failed", "to <*> failed"),
    "pods of a deployment": ("pod etl-7d9f8b6c5-x7k2p died", "pod etl-6bd4c9fdf7-bcdfg died", "pod etl-<*> died"),
    "pods of an operator": ("pod etl-a1b2c3d4 died", "pod etl-0k9j8h7g died", "pod etl-<*> died"),
    "numbered workers": ("worker12 left", "worker3 left", "worker<*> left"),
    "runs": (
        "in run scheduled__2026-01-05T00:00:00+00:00",
        "in run manual__2026-01-05T06:07:08.123456+00:00_Ab3dE6gH",
        "in run <*>",
    ),
    "lines that repeat": ("try 1 failed\ntry 2 failed\ntry 3 failed", "try 1 failed", "try <*> failed"),
    "blanks": ("one\n\t two", "one two", "one two"),
    "bound values": (
        "[SQL: DELETE FROM t WHERE a = ?]\n[parameters: (1, 'x y')]\n(see below)",
        "[SQL: DELETE FROM t WHERE a = ?]\n[parameters: (2, 'z')]\n(see below)",
        "[SQL: DELETE FROM t WHERE a = ?] <*> (see below)",
    ),
    "JSON": (
        '{"error": {"code": "quota", "id": "a7"}, "at": 12}',
        '{"error": {"code": "quota", "id": "b99"}, "at": 3}',
        '{"error": {"code": "quota", "id": <*>}, "at": <*>}',
    ),
}


@pytest.mark.parametrize(("first", "second", "normalised"), SAME.values(), ids=SAME)
def test_a_message_is_the_same_whatever_it_names(first: str, second: str, normalised: str) -> None:
    assert normalise(first) == normalised
    assert normalise(second) == normalised


CODES = [
    ("[Errno 111] refused", "[Errno 113] refused"),
    ("[Errno -2] not known", "[Errno -3] not known"),
    ("[WinError 10054] closed", "[WinError 10061] closed"),
    ("ConnectionResetError(104, 'closed')", "ConnectionResetError(103, 'closed')"),
    ("404 Client Error: x for url: http://h/1", "410 Client Error: x for url: http://h/2"),
    ("HTTP Error 502: Bad Gateway", "HTTP Error 504: Bad Gateway"),
    ("HTTP 429 from 10.0.0.1", "HTTP 503 from 10.0.0.1"),
    ("answered HTTP/1.1 502 after 3 s", "answered HTTP/1.1 503 after 3 s"),
    ("status code 503", "status code 500"),
    ("status=401 for 'x'", "status=403 for 'x'"),
    ('{"status": 409, "id": 1}', '{"status": 412, "id": 1}'),
    ("<Response [404]>", "<Response [403]>"),
    ("404:Not Found", "403:Not Found"),
    ("(403)\nReason: x", "(409)\nReason: x"),
    ("too many 429 error responses", "too many 503 error responses"),
    ("the API returned 404", "the API returned 500"),
    ("grpc_status:14, at 12", "grpc_status:8, at 12"),
    ("exit code 137", "exit code 143"),
    ("exit status 1", "exit status 2"),
    ("The command returned a non-zero exit code 2.", "The command returned a non-zero exit code 99."),
    ("exited with 3", "exited with 4"),
    ("died with <Signals.SIGKILL: 9>.", "died with <Signals.SIGTERM: 15>."),
    ('(1045, "no")', '(1049, "no")'),
    ("(20009, b'no')", "(20002, b'no')"),
    ("1045 (28000): no", "1049 (42000): no"),
    ("250001 (08001): no", "250003 (08001): no"),
    ("SQLSTATE 40P01", "SQLSTATE 40001"),
    ("SQLSTATE[HY000] no", "SQLSTATE[28000] no"),
    ("('HYT00', '[HYT00] [Microsoft][ODBC] no')", "('08001', '[08001] [Microsoft][ODBC] no')"),
    ("ORA-00060: no", "ORA-01017: no"),
    ("DPY-4011: no", "DPY-6005: no"),
    ("AADSTS7000215: no", "AADSTS7000222: no"),
    ("SQL0911N no", "SQL0204N no"),
    ("Error code: 400 - no", "Error code: 429 - no"),
    ("Error 111 connecting to h:1", "Error 113 connecting to h:1"),
    ("failed with code 0x80070005", "failed with code 0x80004005"),
    ("An error occurred (Throttling) when", "An error occurred (AccessDenied) when"),
    ("EC2ThrottledException: no", "EC2QuotaException: no"),
    ('{"reason":"NotFound"}', '{"reason":"Conflict"}'),
    ('{"error": "invalid_grant"}', '{"error": "invalid_scope"}'),
    ("ApiError(429, 'queue_exception')", "ApiError(429, 'memory_exception')"),
    ("invalid status 'Forbidden'", "invalid status 'Unauthorized'"),
    ("401, message='Unauthorized'", "401, message='Expired'"),
    ("failed with 'RESOURCE_EXHAUSTED'", "failed with 'DEADLINE_EXCEEDED'"),
    ("failed with 'AccessDenied'", "failed with 'NoSuchKey'"),
    ("job ended in state 'FAILED'", "job ended in state 'KILLED'"),
    ("failed rc=3", "failed rc=4"),
    ("(sqlite3.OperationalError) no", "(psycopg2.OperationalError) no"),
    ("limit of 10 MB", "limit of 10 s"),
    ("the disk is full", "the disk is gone"),
    ("Die Datei fehlt", "Die Datei ist leer"),
    ("接続が拒否されました。", "接続が切断されました。"),
]


@pytest.mark.parametrize(("first", "second"), CODES)
def test_a_message_differs_with_its_words_and_codes(first: str, second: str) -> None:
    assert normalise(first) != normalise(second)


def test_only_head_and_tail_of_a_huge_message_are_read() -> None:
    head, tail = "The job failed because of 'x': " + "some words " * 400, " and more" * 100 + " the last word is: quota"

    message = normalise(head + "a1 ( " * 200_000 + tail)

    assert message == normalise(head + "é = '" * 150_000 + tail)
    assert message.startswith("The job failed because of <*>")
    assert message.endswith("the last word is: quota")
    assert len(message) < 10_000


@pytest.mark.parametrize("words", ["is bad;", "was not found in the list of those that had been read before;"])
def test_ids_of_another_length_do_not_move_where_reading_stops(words: str) -> None:
    def dump(id_: str) -> str:
        return " ".join(f"{name} {id_} {words}" for name in ("row", "cell") * 200) + " end"

    assert normalise(dump("7")) == normalise(dump("1234567890"))
    assert normalise(dump("7")).endswith(" end")
