"""The head's record: what sharing is worth, site by site."""

from __future__ import annotations

import json

from tests.loop import Loop, provider, values


def test_each_site_is_scored_beside_the_providers_notes_alone(built_loop: Loop) -> None:
    record = json.loads((built_loop.provider / "head" / "training.json").read_text())
    rows = {row["site"]: row for row in record["sites"]}
    assert set(rows) == {"(public notes)", "north", "south"}
    assert all(0 <= row["alone_f1"] <= 1 for row in rows.values())
    assert record["redrawn"] is True


def test_without_the_providers_notes_there_is_nothing_to_compare_with(loop: Loop) -> None:
    summary = values(provider("train-head", "--epochs", 1, "--no-public", "--json", "--workspace", loop.provider))
    assert [row["alone_f1"] for row in summary["sites"]] == [None, None]
    shown = provider("train-head", "--epochs", 1, "--workspace", loop.provider).stdout
    assert "in brackets what the provider's own notes alone reach" in shown
    assert shown.count("(0.") + shown.count("(1.") == 3
    rows = {row["site"]: row for row in json.loads((loop.provider / "head" / "training.json").read_text())["sites"]}
    gain = sum(rows[site]["f1"] - rows[site]["alone_f1"] for site in ("north", "south")) / 2
    assert f"worth of sharing: {100 * gain:+.1f} points of F1, mean of 2 sites" in shown
