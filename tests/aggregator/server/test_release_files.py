"""Files of the releases: how long what keeps copies on the way may keep them, and how much of them one request asks for."""

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


@pytest.mark.parametrize("asked", ["bytes=" + ",".join(f"{2 * at}-{2 * at}" for at in range(5500)), "bytes=0-1,4-5"])
def test_attack_many_ranges_in_a_request_are_refused_and_read_nothing(asked: str, tmp_path: Path) -> None:
    """Each of thousands is a piece, a header and a turn of the loop, and nobody has signed that request."""
    central = provider(tmp_path)
    (central.setup.releases / "targets" / "big").write_bytes(bytes(20_000))

    async def work() -> None:
        async with site(central.app) as north:
            answer = await north.client.get("/releases/targets/big", headers={"range": asked})
            assert (answer.status_code, answer.headers["problem"]) == (416, "malformed")
            assert answer.headers["content-range"] == "bytes */20000"
            assert "ask for each" in answer.text
            # In two lines it is the same list, and a name that is not there has no ranges.
            twice = [("range", "bytes=0-1"), ("range", "bytes=4-5")]
            assert (await north.client.get("/releases/targets/big", headers=twice)).status_code == 416
            assert (await north.client.get("/releases/targets/none", headers=twice)).status_code == 404
            one = await north.client.get("/releases/targets/big", headers={"range": "bytes=19990-"})
            assert (one.status_code, len(one.content)) == (206, 10)

    run(work)
    central.registry.close()
