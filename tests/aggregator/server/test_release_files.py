"""How long what keeps copies on the way may keep a file of the releases: those that are replaced under their names, not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aggregator.server.service import provider, run, site

FOR_EVER, ASK = "public, max-age=31536000, immutable", "no-cache"


@pytest.mark.parametrize("asked", [{}, {"range": "bytes=1-2"}], ids=["whole", "a part"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("metadata/timestamp.json", ASK),
        ("metadata/2.root.json", ASK),
        ("log/checkpoint", ASK),
        ("log/tile/0/x001/067", ASK),
        ("targets/0001-pipeline/0123abcd.head.safetensors", FOR_EVER),
    ],
)
def test_only_what_its_content_names_is_kept(name: str, said: str, asked: dict[str, str], tmp_path: Path) -> None:
    central = provider(tmp_path)
    path = central.setup.releases / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"content")

    async def work() -> None:
        async with site(central.app) as north:
            answer = await north.client.get(f"/releases/{name}", headers=asked)
            assert answer.status_code == (206 if asked else 200)
            assert answer.headers["cache-control"] == said
            assert answer.headers["x-content-type-options"] == "nosniff"

    run(work)
    central.registry.close()
