"""The JSON messages of the HTTP interface: their vectors, their round trips, and whatever else comes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.errors import ProtocolError, SchemaError
from protocols.http.messages import (
    MAX_BUNDLE_BYTES,
    MIN_BUNDLE_BYTES,
    PROBLEMS,
    Problem,
    ServerTime,
    UploadRequest,
    server_address,
)
from tests.protocols.http.test_http_signatures import vector

DIGEST = "ab" * 32


def test_the_vectors_of_the_documentation() -> None:
    problem = Problem("offset", "expected bytes from 4096 on, got others; go on from there")
    for name, message in (
        ("upload", UploadRequest(DIGEST, 20_000_000)),
        ("time", ServerTime(1_800_000_000)),
        ("problem", problem),
    ):
        assert message.to_bytes().decode() == vector(name)
        assert type(message).from_bytes(vector(name).encode()) == message


@given(st.integers(MIN_BUNDLE_BYTES, MAX_BUNDLE_BYTES), st.integers(0, 10**11))
def test_messages_survive_the_round_trip(size: int, seconds: int) -> None:
    assert UploadRequest.from_bytes(UploadRequest(DIGEST, size).to_bytes()) == UploadRequest(DIGEST, size)
    assert ServerTime.from_bytes(ServerTime(seconds).to_bytes()) == ServerTime(seconds)


@given(st.sampled_from(PROBLEMS), st.text(max_size=1000))
@example("stale", "\uf900")
@example("stale", "e\u0301" * 300)
@example("stale", "\ud800")
def test_any_error_becomes_a_problem_of_one_line(code: str, message: str) -> None:
    problem = Problem.about(code, message)
    assert Problem.from_bytes(problem.to_bytes()) == problem
    assert len(problem.message) <= 200
    assert not set(problem.message) & set("\r\n\x00")


@pytest.mark.parametrize("kind", [UploadRequest, ServerTime, Problem])
@given(
    data=st.binary(max_size=100)
    | st.sampled_from([b"{}", b"[]", b"null", b'{"time":1.5}', b'{"time":-1}', b'{"bytes":1}'])
)
def test_whatever_comes_is_refused_in_our_words(kind: type[ServerTime], data: bytes) -> None:
    with pytest.raises(ProtocolError):
        kind.from_bytes(data)


@pytest.mark.parametrize("size", [0, -1, MIN_BUNDLE_BYTES - 1, MAX_BUNDLE_BYTES + 1])
def test_a_bundle_of_an_impossible_size_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError):
        UploadRequest.from_bytes(UploadRequest(DIGEST, size).to_bytes())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://deid.example.org", "https://deid.example.org"),
        ("https://DEID.example.org/", "https://deid.example.org"),
        ("https://deid.example.org:443", "https://deid.example.org"),
        ("https://deid.example.org:8443/Hub/", "https://deid.example.org:8443/Hub"),
        ("https://127.0.0.1:1", "https://127.0.0.1:1"),
    ],
)
def test_an_address_has_one_spelling(text: str, address: str) -> None:
    assert server_address(text) == address
    assert server_address(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://a",
        "https://",
        "HTTPS://a",
        "https://a:0",
        "https://a:99999999",
        "https://a/../b",
        "https://a?b",
        "https://a#b",
        "https://user:secret@a",
        "https://a b",
        "https://a\n",
        "https://ä",
        "https://a//b",
        " https://a",
    ],
)
def test_attack_an_address_that_is_something_else(text: str) -> None:
    with pytest.raises(SchemaError):
        server_address(text)
