"""One contract for every store of objects: known by their digest, whole or absent, verified whenever they are read."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import obstore
import pytest

from aggregator.objects import FolderStore, ObjectStore, S3Store, open_store, s3
from foundation.errors import StorageError
from protocols.errors import DigestError, SchemaError
from shared.errors import ConfigurationError

# Empty, one chunk, and more than the parts in which an upload goes.
SIZES = [0, 1, 11 * 2**20 + 1]


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return FolderStore(tmp_path / "objects", tmp_path / "scratch")
    return S3Store(request.getfixturevalue("s3_url"), tmp_path / "scratch")


def made(folder: Path, content: bytes) -> tuple[Path, str]:
    path = folder / "made"
    path.write_bytes(content)
    return path, hashlib.sha256(content).hexdigest()


def replace(store: ObjectStore, sha256: str, content: bytes) -> None:
    """Exchange an object, as whoever holds the store can."""
    name = f"{sha256[:2]}/{sha256}"
    if isinstance(store, S3Store):
        obstore.put(store._bucket, name, content)
    else:
        assert isinstance(store, FolderStore)
        (store._root / name).write_bytes(content)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_put_comes_back(size: int, store: ObjectStore, tmp_path: Path) -> None:
    content = os.urandom(size)
    path, sha256 = made(tmp_path, content)
    assert not store.exists(sha256)
    store.put(path, sha256)
    path.unlink()
    assert store.exists(sha256)
    with store.open(sha256) as file:
        assert file.read() == content
    with store.local(sha256) as local:
        assert local.read_bytes() == content


def test_the_same_again_changes_nothing(store: ObjectStore, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"the same")
    for _ in range(3):
        store.put(path, sha256)
    with store.open(sha256) as file:
        assert file.read() == b"the same"


@pytest.mark.parametrize("size", SIZES)
def test_a_wrong_digest_is_refused_and_nothing_is_kept(size: int, store: ObjectStore, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, os.urandom(size))
    other = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(DigestError):
        store.put(path, other)
    assert not store.exists(other)
    assert not store.exists(sha256)
    # An object that is there already is not harmed either.
    store.put(path, sha256)
    path.write_bytes(b"other bytes")
    with pytest.raises(DigestError):
        store.put(path, sha256)
    store.open(sha256).close()


@pytest.mark.parametrize("content", [b"", b"another object", b"the objec"])
def test_an_object_that_was_exchanged_is_never_handed_out(content: bytes, store: ObjectStore, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"the object")
    store.put(path, sha256)
    replace(store, sha256, content)
    with pytest.raises(DigestError):
        store.open(sha256)
    with pytest.raises(DigestError), store.local(sha256):
        pytest.fail("handed out")
    # Whoever still has the right bytes can repair it.
    store.put(path, sha256)
    with store.open(sha256) as file:
        assert file.read() == b"the object"


def test_attack_an_object_that_is_exchanged_while_it_is_read_is_not_seen(store: ObjectStore, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"the object")
    store.put(path, sha256)
    with store.local(sha256) as local, store.open(sha256) as file:
        replace(store, sha256, b"the objec!")
        assert (local.read_bytes(), file.read()) == (b"the object", b"the object")
        assert local.parent.stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "scratch").iterdir())


def test_many_at_once_cost_one_open_file(store: ObjectStore, tmp_path: Path) -> None:
    contents = [b"%d" % number for number in range(20)]
    digests = []
    for content in contents:
        path, sha256 = made(tmp_path, content)
        store.put(path, sha256)
        digests.append(sha256)
    before = len(os.listdir("/proc/self/fd"))
    with store.all_local(digests) as paths:
        # The connections to a store are kept open, a few of them.
        assert len(os.listdir("/proc/self/fd")) < before + 10
        assert [path.read_bytes() for path in paths] == contents
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("content", [b"the object", b"another"])
def test_where_a_file_system_shares_blocks_a_copy_is_made_of_them_and_verified(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sha256 = made(tmp_path, b"the object")
    store = FolderStore(tmp_path / "objects", tmp_path / "scratch")
    store.put(path, sha256)
    replace(store, sha256, content)

    def clone(copy: IO[bytes], request: int, source: int) -> int:
        return os.pwrite(copy.fileno(), os.pread(source, 100, 0), 0)

    monkeypatch.setattr(fcntl, "ioctl", clone)
    with nullcontext() if content == b"the object" else pytest.raises(DigestError), store.local(sha256) as local:
        assert local.read_bytes() == b"the object"


def test_every_object_is_listed_and_nothing_else(store: ObjectStore, tmp_path: Path) -> None:
    assert list(store.digests()) == []
    put = set()
    for number in range(3):
        path, sha256 = made(tmp_path, bytes([number]))
        store.put(path, sha256)
        put.add(sha256)
    if isinstance(store, FolderStore):
        (tmp_path / "objects" / "ab").mkdir(exist_ok=True)
        for name in ("notes", f".{'ab' * 32}.0123456789abcdef.partial", "cd" * 32):
            (tmp_path / "objects" / "ab" / name).write_bytes(b"x")
    assert set(store.digests()) == put
    store.delete(put.pop())
    assert set(store.digests()) == put


def test_what_is_deleted_is_gone_and_may_be_deleted_again(store: ObjectStore, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"object")
    store.delete(sha256)
    store.put(path, sha256)
    for _ in range(2):
        store.delete(sha256)
        assert not store.exists(sha256)
    with pytest.raises(StorageError, match=f"object {sha256[:12]} in the store, received none; restore"):
        store.open(sha256)
    with pytest.raises(StorageError), store.local(sha256):
        pytest.fail("handed out")


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", "0" * 32 + "/" + "0" * 31]
)
def test_only_a_digest_names_an_object(name: str, store: ObjectStore, tmp_path: Path) -> None:
    path, _ = made(tmp_path, b"object")
    for act in (store.exists, store.delete, store.open, lambda name: store.put(path, name)):
        with pytest.raises(SchemaError):
            act(name)
    assert [one.name for one in tmp_path.rglob("*") if one.name != "scratch"] == ["made"]


def test_a_file_that_cannot_be_read_is_a_clear_line(store: ObjectStore, tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(StorageError):
            store.put(path, "0" * 64)
    assert not store.exists("0" * 64)


def test_writers_of_one_object_at_once_do_not_disturb_each_other(store: ObjectStore, tmp_path: Path) -> None:
    content = os.urandom(300_000)
    path, sha256 = made(tmp_path, content)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            store.put(path, sha256)
            with store.open(sha256) as file:
                assert file.read() == content
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


KILLED = """
import os, sys
from pathlib import Path
from aggregator.objects import FolderStore
os.replace = lambda *names: os._exit(9)
FolderStore(Path(sys.argv[1]), Path()).put(Path(sys.argv[2]), sys.argv[3])
"""


def test_a_crash_before_the_rename_leaves_nothing_that_counts(tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"object")
    root = tmp_path / "objects"
    assert subprocess.run([sys.executable, "-c", KILLED, root, path, sha256], check=False).returncode == 9
    store = FolderStore(root, tmp_path / "scratch")
    assert not store.exists(sha256)
    (left,) = root.rglob("*.partial")
    # It may still be another writer's, so it waits a day.
    assert store.tidy() == 0
    os.utime(left, (time.time() - 90_000,) * 2)
    assert store.tidy() == 1
    store.put(path, sha256)
    assert [one.name for one in root.rglob("*") if one.is_file()] == [sha256]


def test_a_folder_without_rights_or_room_is_a_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sha256 = made(tmp_path, b"object")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError):
        FolderStore(tmp_path / "file", tmp_path).put(path, sha256)
    store = FolderStore(tmp_path / "objects", tmp_path / "scratch")
    monkeypatch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StorageError, match="full disk"):
        store.put(path, sha256)
    assert not [one for one in store._root.rglob("*") if one.is_file()]


def test_a_store_that_does_not_answer_is_a_clear_line(s3_url: str, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"object")
    for url in (s3_url.replace("s3://test-", "s3://none-"), s3_url.partition("?")[0] + "?endpoint=http://127.0.0.1:9"):
        store = S3Store(url, tmp_path)
        with pytest.raises(StorageError, match="check the setting `objects`"):
            store.put(path, sha256)


class TestAStoreThatIsSlow:
    """A server that hands out a few bytes at a time; its object takes longer than any one answer may."""

    CONTENT = os.urandom(4000)

    @pytest.fixture
    def asked(self) -> list[tuple[str, str]]:
        return []

    @pytest.fixture
    def store(
        self, asked: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[ObjectStore]:
        content = self.CONTENT

        class Slow(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                asked.append(("HEAD", ""))
                self._begin(200, len(content))

            def do_GET(self) -> None:
                wanted = self.headers.get("range", "")
                asked.append(("GET", wanted))
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end = int(first or 0), int(last or len(content) - 1) + 1
                self._begin(206 if wanted else 200, end - start, f"bytes {start}-{end - 1}/{len(content)}")
                with suppress(OSError):
                    for at in range(start, end, 100):
                        time.sleep(0.05)
                        self.wfile.write(content[at : min(at + 100, end)])

            def _begin(self, status: int, size: int, piece: str = "") -> None:
                self.send_response(status)
                for name, text in (("etag", '"a"'), ("last-modified", "Tue, 21 Oct 2025 07:28:00 GMT")):
                    self.send_header(name, text)
                self.send_header("content-length", str(size))
                if piece:
                    self.send_header("content-range", piece)
                self.end_headers()

            def log_message(self, *ignored: object) -> None:
                """Says nothing."""

        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "test")
        monkeypatch.setattr(s3, "_PIECE_BYTES", 1000)
        # A piece takes half a second, the whole two: more than one answer and all attempts at it may.
        monkeypatch.setattr(s3, "_PIECE_S", 1.5)
        monkeypatch.setattr(s3, "_PIECE_RETRIED_S", 1.0)
        with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            yield S3Store(f"s3://bucket?endpoint=http://127.0.0.1:{server.server_port}&region=eu", tmp_path)
            server.shutdown()
            thread.join()

    def test_an_object_that_takes_longer_than_one_answer_may_is_read(
        self, store: ObjectStore, asked: list[tuple[str, str]]
    ) -> None:
        with store.open(hashlib.sha256(self.CONTENT).hexdigest()) as file:
            assert file.read() == self.CONTENT
        assert asked == [("HEAD", ""), *(("GET", f"bytes={at}-{at + 999}") for at in range(0, 4000, 1000))]


def test_both_stores_use_the_same_names(s3_url: str, tmp_path: Path) -> None:
    path, sha256 = made(tmp_path, b"object")
    for store in (FolderStore(tmp_path / "objects", tmp_path), bucket := S3Store(s3_url, tmp_path / "scratch")):
        store.put(path, sha256)
    (listed,) = obstore.list(bucket._bucket).collect()
    (kept,) = (one for one in (tmp_path / "objects").rglob("*") if one.is_file())
    assert listed["path"].endswith(str(kept.relative_to(tmp_path / "objects")))


def test_a_setting_names_its_store(tmp_path: Path) -> None:
    assert isinstance(open_store("objects", tmp_path), FolderStore)
    assert isinstance(open_store("s3://shares/north?region=eu-central-1"), S3Store)


def test_plain_http_beyond_this_machine_is_for_whoever_asks_for_it() -> None:
    assert isinstance(open_store("s3://bucket?endpoint=http://store:9000&allow_http=true"), S3Store)


class TestCredentialsInAFile:
    """The client of S3 reads the environment alone; containers are given files."""

    @pytest.fixture
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            monkeypatch.delenv(name, raising=False)
        path = tmp_path / "credentials"
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
        path.write_text(
            "[default]\naws_access_key_id = one\naws_secret_access_key = se%cret\n"
            "[other]\naws_access_key_id=two\naws_secret_access_key=three\naws_session_token=four\n"
        )
        return path

    @staticmethod
    def used() -> dict[str, Any]:
        store = open_store("s3://shares")
        assert isinstance(store, S3Store)
        return {name: value for name, value in store._bucket.config.items() if "key" in name or "token" in name}

    def test_they_are_read(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.used() == {"access_key_id": "one", "secret_access_key": "se%cret"}
        monkeypatch.setenv("AWS_PROFILE", "other")
        assert self.used() == {"access_key_id": "two", "secret_access_key": "three", "session_token": "four"}

    def test_those_of_the_environment_come_first(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "five")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "six")
        file.unlink()
        assert "two" not in self.used().values()

    @pytest.mark.parametrize(
        "content", ["", "hunter2", "[default]\nhunter2", "[default]\naws_access_key_id=hunter2", "[other]\n"]
    )
    def test_a_file_without_them_is_refused_and_not_repeated(self, file: Path, content: str) -> None:
        file.write_text(content)
        with pytest.raises(ConfigurationError, match=r"AWS_SHARED_CREDENTIALS_FILE: expected .*; correct") as raised:
            open_store("s3://shares")
        assert "hunter2" not in "".join(traceback.format_exception(raised.value))

    def test_a_file_that_is_gone_is_named(self, file: Path) -> None:
        file.unlink()
        with pytest.raises(StorageError, match="credentials"):
            open_store("s3://shares")


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "http://host/bucket",
        "s3://",
        "s3:///prefix",
        "s3://key:secret@bucket/x",
        "s3://bucket/x?secret=1",
        "s3://bucket?endpoint=http://elsewhere.example",
        "s3://bucket?endpoint=http://elsewhere.example&allow_http=false",
        "s3://bucket?endpoint=ftp://elsewhere.example&allow_http=true",
        "s3://bucket?allow_http=true",
        "s3://bucket?endpoint=ftp://127.0.0.1",
        "s3://bucket?endpoint=",
        "s3://bucket?endpoint=https://me:hunter2@elsewhere.example",
        "s3://bucket?endpoint=https://[::1",
        "s3://[bucket",
    ],
)
def test_a_setting_that_cannot_work_is_refused_and_not_repeated(setting: str) -> None:
    with pytest.raises(ConfigurationError, match="correct the setting") as raised:
        open_store(setting)
    assert "secret" not in str(raised.value)
    assert "hunter2" not in str(raised.value)
