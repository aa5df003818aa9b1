"""An object store that answers, and does not do as it was asked: one line that says what to do, and nothing of what it quotes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aggregator.objects import S3Store, s3
from aggregator.objects.refusals import refusal
from foundation.errors import StorageError

KEY, SECRET = "AKIAHUNTER", "hunter2"
DIGEST = "0" * 64
QUOTED = f"<AWSAccessKeyId>{KEY}</AWSAccessKeyId><StringToSign>{SECRET}</StringToSign><Message>see http://inside.example</Message>"


@dataclass
class Answer:
    """What the store says to whatever it is asked."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def refuse(self, status: int, code: str) -> None:
        self.status, self.body = status, f"<?xml version='1.0'?><Error><Code>{code}</Code>{QUOTED}</Error>"


@pytest.fixture
def answer() -> Answer:
    return Answer()


@pytest.fixture
def store(answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Store]:
    class Refusing(BaseHTTPRequestHandler):
        def answered(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = b"" if self.command == "HEAD" else answer.body.encode()
            self.send_response(answer.status)
            for name, value in {**answer.headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answered

        def log_message(self, *ignored: object) -> None:
            """Says nothing."""

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    # A store that is busy is asked again for no longer than this.
    monkeypatch.setattr(s3, "_PIECE_RETRIED_S", 0.01)
    monkeypatch.setattr(s3, "_WORD_RETRIED_S", 0.01)
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield S3Store(f"s3://bucket/x?endpoint=http://127.0.0.1:{server.server_port}&region=eu", tmp_path / "scratch")
        server.shutdown()
        thread.join()


def told(store: S3Store, act: str, tmp_path: Path) -> str:
    """The line that says that it was not done."""
    acts: dict[str, Callable[[], object]] = {
        "put": lambda: store.put(tmp_path / "made", DIGEST),
        "open": lambda: store.open(DIGEST),
        "digests": lambda: list(store.digests()),
        "delete": lambda: store.delete(DIGEST),
    }
    (tmp_path / "made").write_bytes(b"bytes")
    with pytest.raises(StorageError) as raised:
        acts[act]()
    line = str(raised.value)
    assert "\n" not in line
    assert not any(quoted in line for quoted in (KEY, SECRET, "example", "127.0.0.1", "Error", "Message"))
    return line


ACTS = pytest.mark.parametrize("act", ["put", "open", "digests", "delete"])


@pytest.mark.parametrize(
    ("status", "code", "received", "advice"),
    [
        (403, "AccessDenied", "a refusal", "list the bucket, and read, write and delete"),
        (403, "InvalidAccessKeyId", "credentials that it does not take", "check the credentials in the environment"),
        (403, "SignatureDoesNotMatch", "credentials that it does not take", "check the credentials"),
        (400, "ExpiredToken", "expired", "renew the credentials"),
        (403, "RequestTimeTooSkewed", "another time of day", "set the clock"),
        (404, "NoSuchBucket", "no such bucket", "make it, or check the setting `objects`"),
        (400, "AuthorizationHeaderMalformed", "another region", "check the setting `objects`: its region"),
        (507, "XMinioStorageFull", "without room", "make room"),
        (503, "SlowDown", "busy", "repeat later"),
        (409, "OperationAborted", "a refusal", "check the setting `objects`"),
    ],
)
@pytest.mark.parametrize("act", ["put", "digests", "delete"])
def test_the_code_of_an_answer_says_what_to_do(
    act: str, status: int, code: str, received: str, advice: str, store: S3Store, answer: Answer, tmp_path: Path
) -> None:
    answer.refuse(status, code)
    line = told(store, act, tmp_path)
    assert received in line
    assert f"({status} {code})" in line
    assert advice in line


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "check the setting `objects`, its region above all"),
        (401, "check the credentials"),
        (403, "list the bucket, and read, write and delete"),
        (500, "repeat later"),
    ],
)
def test_where_an_answer_has_no_code_its_status_does(
    status: int, advice: str, store: S3Store, answer: Answer, tmp_path: Path
) -> None:
    answer.refuse(status, "Unheard")
    line = told(store, "open", tmp_path)
    assert f"({status})" in line
    assert advice in line


def test_of_a_missing_bucket_no_object_is_asked_back(store: S3Store, answer: Answer, tmp_path: Path) -> None:
    answer.refuse(404, "NoSuchBucket")
    line = told(store, "open", tmp_path)
    assert "no such bucket" in line
    assert "backup" not in line
    answer.refuse(404, "NoSuchKey")
    assert "restore it from a backup" in told(store, "open", tmp_path)


@ACTS
def test_a_store_that_sends_us_elsewhere_is_of_another_region(
    act: str, store: S3Store, answer: Answer, tmp_path: Path
) -> None:
    answer.refuse(301, "PermanentRedirect")
    assert "check the setting `objects`: its region" in told(store, act, tmp_path)


@pytest.mark.parametrize("act", ["put", "delete"])
def test_another_program_at_the_address_is_told(act: str, store: S3Store, answer: Answer, tmp_path: Path) -> None:
    answer.body = "<html>hunter2</html>"
    assert "another program may answer" in told(store, act, tmp_path)


@pytest.mark.parametrize(
    ("key", "said"), [(f"x/00/{DIGEST}", "(AccessDenied)"), ("another", "what no such store answers")]
)
def test_an_object_that_is_not_deleted_is_told_where_the_answer_as_a_whole_is_no_refusal(
    key: str, said: str, store: S3Store, answer: Answer, tmp_path: Path
) -> None:
    """Its library stumbles over a key that it has not asked for."""
    answer.body = (
        f"<DeleteResult><Error><Key>{key}</Key><Code>AccessDenied</Code><Message>m</Message></Error></DeleteResult>"
    )
    assert said in told(store, "delete", tmp_path)


@pytest.mark.parametrize(
    ("words", "received"),
    [
        ("Error performing PUT http://169.254.169.254/latest/api/token - status code: 403 Forbidden", "no credentials"),
        ("HTTP error: error sending request ... InvalidCertificate(UnknownIssuer)", "a certificate"),
        ("HTTP error: error sending request", "no answer"),
        ("status code: 403 Forbidden: <Code>AKIAHUNTER7</Code>", "a refusal (403);"),
        ("status code: 503 Slow: <Code>Too\nlong</Code>", "busy, or has a fault (503);"),
    ],
)
def test_what_the_library_says_of_itself_is_told_in_our_words(words: str, received: str) -> None:
    assert received in str(refusal(Exception(words), "object"))
