"""What is fetched from a server: from its own disk, but for what its content names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from site_client.exchange.transport import Transport
from site_client.releases.source import Network, open_source


@pytest.mark.parametrize(
    ("name", "anew"),
    [
        ("metadata/timestamp.json", True),
        ("log/checkpoint", True),
        ("log/tile/0/x001/067", True),
        ("targets/0001-pipeline/0123abcd.head.safetensors", False),
    ],
)
def test_a_copy_on_the_way_is_good_enough_where_the_name_tells_the_content(
    name: str, anew: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def fetch(transport: Transport, url: str, max_bytes: int, *, anew: bool) -> Iterator[bytes]:
        asked.append((url, max_bytes, anew))
        yield b"content"

    monkeypatch.setattr(Transport, "fetch", fetch)
    with closing(open_source("https://provider.test/releases", tmp_path, Network())) as source:
        assert b"".join(source.chunks(name, 100)) == b"content"
    assert asked == [(f"https://provider.test/releases/{name}", 100, anew)]
