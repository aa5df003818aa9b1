"""Objects in an S3-compatible store.

An object is read in pieces, each within a time of its own: the time for one answer must not end what is merely large. What is
asked without bytes (is it there, delete it) is given up sooner, since somebody waits for it.

Its credentials come from the environment (AWS_ACCESS_KEY_ID and its kin, or a file that it names), never from a URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO
from urllib.parse import SplitResult, parse_qsl, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store as Bucket

from aggregator.objects.credentials import credentials_of_file
from aggregator.objects.private_copies import PrivateCopies
from aggregator.objects.refusals import is_without_bucket, refusal
from aggregator.objects.store import digest_in, file_chunks, missing_object, object_name, verify_chunks
from foundation.os_errors import map_os_errors
from shared.errors import ConfigurationError

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# Of 5 MB each.
_CHUNKS_IN_MEMORY = 4
# In memory, one at a time; within the time below a line of 140 kB a second brings one.
_PIECE_BYTES = 16 << 20
# Of one answer with all its bytes, and of all attempts at it: beyond the first, or what took too long once is not asked again.
_PIECE_S, _PIECE_RETRIED_S = 120.0, 300.0
_WORD_S, _WORD_RETRIED_S = 10.0, 30.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class S3Store(PrivateCopies):
    """A store in a bucket.

    Args:
        url: s3://BUCKET/PREFIX?endpoint=URL&region=NAME; the endpoint speaks HTTPS unless it is on this machine, or
            `&allow_http=true` says that the network to it is the provider's alone.
        scratch: as for `PrivateCopies`.

    Raises:
        ConfigurationError: not such a URL, or a file of credentials without any.
        StorageError: that file can't be read.
    """

    def __init__(self, url: str, scratch: Path) -> None:
        super().__init__(scratch)
        parts = _split(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        endpoint, allow_http = query.get("endpoint"), query.pop("allow_http", None)
        if (
            parts.scheme != "s3"
            or not _BUCKET.fullmatch(parts.netloc)
            or not query.keys() <= {"endpoint", "region"}
            or allow_http not in (None, "true")
            or not (allow_http is None if endpoint is None else _is_safe(endpoint, bool(allow_http)))
        ):
            raise ConfigurationError(
                "objects: expected s3://BUCKET/PREFIX?endpoint=URL&region=NAME, with &allow_http=true where the endpoint is plain HTTP on "
                "another machine, got something else; correct the setting"
            )
        prefix = parts.path.strip("/") or None
        in_clear = (endpoint or "").startswith("http:")
        self._bucket, self._asked = (
            Bucket(
                parts.netloc,
                prefix=prefix,
                client_options={"allow_http": in_clear, "timeout": timedelta(seconds=answer_s)},
                retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=retried_s)},
                **query,  # type: ignore[arg-type]
                **credentials_of_file(),  # type: ignore[arg-type]
            )
            for answer_s, retried_s in ((_PIECE_S, _PIECE_RETRIED_S), (_WORD_S, _WORD_RETRIED_S))
        )

    def put(self, path: Path, sha256: str) -> None:
        """Keeps the bytes of a file; see ObjectStore."""
        name = object_name(sha256)
        with map_os_errors(path), path.open("rb") as source:
            chunks = verify_chunks(file_chunks(source, path), sha256)
            # The store shows an object when its last chunk is there; a wrong digest ends the upload before that.
            with _answered(sha256):
                obstore.put(self._bucket, name, chunks, max_concurrency=_CHUNKS_IN_MEMORY)

    def exists(self, sha256: str) -> bool:
        """Whether it is there."""
        name = object_name(sha256)
        with _answered(sha256):
            try:
                obstore.head(self._asked, name)
            except FileNotFoundError:
                return False
        return True

    def digests(self) -> Iterator[str]:
        """Of all objects that are there."""
        with _answered("list"):
            for batch in obstore.list(self._bucket):
                yield from filter(None, (digest_in(one["path"]) for one in batch))

    def delete(self, sha256: str) -> None:
        """Removes it; one that is not there stays so."""
        with _answered(sha256):
            obstore.delete(self._asked, object_name(sha256))

    def tidy(self) -> int:
        """Removes what an interrupted writing left; see ObjectStore."""
        # Parts of uploads that were cut are removed by a lifecycle rule of the bucket: docs/operation.md.
        return 0

    def _copy(self, sha256: str, file: IO[bytes]) -> None:
        with map_os_errors(Path(sha256[:12])):
            file.writelines(verify_chunks(self._chunks(sha256), sha256))
            file.flush()

    def _chunks(self, sha256: str) -> Iterator[bytes]:
        name = object_name(sha256)
        with _answered(sha256):
            try:
                size = obstore.head(self._asked, name)["size"]
                for start in range(0, size, _PIECE_BYTES):
                    end = min(start + _PIECE_BYTES, size)
                    yield bytes(obstore.get_range(self._bucket, name, start=start, end=end))
            except FileNotFoundError as error:
                self._require_bucket(name)
                raise missing_object(sha256) from error

    def _require_bucket(self, name: str) -> None:
        """Raises the library's error where it is the bucket that is missing: what is said of an object alone does not tell, and a backup would not help."""
        try:
            obstore.get_range(self._asked, name, start=0, end=1)
        except FileNotFoundError as error:
            if is_without_bucket(error):
                raise


@contextmanager
def _answered(sha256: str) -> Iterator[None]:
    """Turns what the store says into our error."""
    try:
        yield
    except (BaseError, OSError) as error:
        raise refusal(error, f"object {sha256[:12]}") from error
    except BaseException as error:
        # Where the library itself stumbles over an answer; what it raises then has no name that can be imported, and is no Exception.
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise refusal(error, f"object {sha256[:12]}") from error


def _is_safe(endpoint: str, allow_http: bool) -> bool:
    """Whether nobody reads along on the way, or the provider answers for it: payloads lie in the store as they were opened."""
    parts = _split(endpoint)
    in_clear = parts.scheme == "http" and (allow_http or parts.hostname in _LOOPBACK)
    return bool(parts.hostname) and "@" not in parts.netloc and (parts.scheme == "https" or in_clear)


def _split(url: str) -> SplitResult:
    """The parts of a URL; none of what is no URL."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
