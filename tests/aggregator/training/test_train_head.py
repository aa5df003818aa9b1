"""The head's record: what sharing is worth, site by site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aggregator.commands.learning.heads import head_lines, train_pool_head
from aggregator.publishing.head_record import HeadOrigin, PooledShare, read_origin
from aggregator.training.head import UNDERSAMPLING, HeadOptions, HeadTraining
from aggregator.training.judging.influence import Influence, SiteInfluence
from aggregator.training.judging.recall import RecallChange
from aggregator.training.judging.site_scores import SiteScore
from shared.errors import ConfigurationError
from shared.pipeline.last_word import LastWordSettings, load_settings
from shared.training.tagging import TaggingConfig
from tests.loop import Loop, provider, values


def test_each_site_is_scored_beside_the_providers_notes_alone(built_loop: Loop) -> None:
    record = json.loads((built_loop.provider / "head" / "training.json").read_text())
    rows = {row["site"]: row for row in record["sites"]}
    assert set(rows) == {"(public notes)", "north", "south"}
    assert all(0 <= row["alone_f1"] <= 1 for row in rows.values())
    assert record["redrawn"] is True


def test_without_the_providers_notes_there_is_nothing_to_compare_with(loop: Loop) -> None:
    command = (
        "train-head",
        "--epochs",
        1,
        "--influence",
        "none",
        "--no-operating-points",
        "--workspace",
        loop.provider,
    )
    summary = values(provider(*command, "--no-public", "--no-last-word", "--json"))
    assert load_settings(loop.provider / "head") is None
    assert [row["alone_f1"] for row in summary["sites"]] == [None, None]
    shown = provider(*command).stdout
    # The generated notes are too few for anybody to say which language their words are of.
    assert load_settings(loop.provider / "head") == LastWordSettings(None)
    assert "in brackets what the provider's own notes alone reach" in shown
    assert shown.count("(0.") + shown.count("(1.") == 3
    rows = {row["site"]: row for row in json.loads((loop.provider / "head" / "training.json").read_text())["sites"]}
    gain = sum(rows[site]["f1"] - rows[site]["alone_f1"] for site in ("north", "south")) / 2
    assert f"worth of sharing: {100 * gain:+.1f} points of F1, mean of 2 sites" in shown


@pytest.mark.parametrize("chance", [1.0, -0.1, 2.0, float("nan")])
def test_an_undersampling_that_is_no_chance_below_one_is_refused(chance: float) -> None:
    with pytest.raises(ConfigurationError, match="expected a chance from 0 to below 1"):
        HeadOptions(undersampling=chance)


def test_the_command_line_has_the_default_of_the_training() -> None:
    (option,) = [one for one in train_pool_head.params if one.name == "undersampling"]
    assert option.default == UNDERSAMPLING == HeadOptions().undersampling


def test_a_record_keeps_its_layout_and_tells_where_the_head_is_from(tmp_path: Path) -> None:
    shares = (PooledShare("north", 1, "ab" * 32, "cd" * 32), PooledShare("south", 3, "ef" * 32))
    score = SiteScore("north", 90, 8, 0.5, 1.0, 0.25)
    trained = HeadTraining(
        TaggingConfig(epochs=2), 10, 100, HeadOrigin("aa" * 32, shares), 1, public=True, redrawn=False, scores=(score,)
    )
    record = trained.as_json()
    assert list(record) == [
        "recipe",
        "sentences",
        "tokens",
        "shares",
        "left_out",
        "public",
        "redrawn",
        "undersampling",
        "augment",
        "tagger",
        "representer",
        "sites",
        "defence",
        "influence",
        "compared",
        "operating_points",
    ]
    assert (record["defence"], record["influence"], record["compared"]) == (
        {"name": "none", "not_counted": {}, "rates": {}},
        None,
        None,
    )
    assert record["shares"] == [
        {"site": "north", "sequence": 1, "payload": "ab" * 32, "manifest": "cd" * 32},
        {"site": "south", "sequence": 3, "payload": "ef" * 32, "manifest": None},
    ]
    assert record["sites"] == [
        {
            "site": "north",
            "tokens": 90,
            "phi_tokens": 8,
            "precision": 0.5,
            "recall": 1.0,
            "alone_f1": 0.25,
            "alone_recall": None,
            "categories": {},
            "f1": 2 / 3,
        }
    ]
    (tmp_path / "training.json").write_text(json.dumps(record))
    found = read_origin(tmp_path)
    assert found.representer == "aa" * 32
    assert [(one.site, one.sequence, one.payload) for one in found.shares] == [
        (one.site, one.sequence, one.payload) for one in shares
    ]


@pytest.mark.parametrize(
    ("federated", "said"),
    [
        ({}, "recall at all others with each site and without it (fast); 95%"),
        ({"simulated": True}, "recall at all others with each site and without it (fast); 95%"),
        (
            {"simulated": False},
            "recall with each site and without it (fast, on the provider's own held-out notes; no hospital's); 95%",
        ),
    ],
)
def test_influence_is_of_the_others_only_where_their_notes_were_here(federated: dict[str, bool], said: str) -> None:
    change = RecallChange("all PHI", 400, 0.9, 0.9, -0.01, 0.01)
    trained = HeadTraining(
        TaggingConfig(),
        10,
        100,
        HeadOrigin("aa" * 32, ()),
        0,
        public=True,
        redrawn=False,
        influence=Influence("fast", (SiteInfluence("north", (change,)),), ()),
        federated=federated,
    )
    lines = head_lines(trained)
    (line,) = [one for one in lines if "with each site and without it" in one]
    assert line.startswith(said)
    assert any("at all others" in one for one in lines) == ("at all others" in said)


def test_what_was_not_measured_is_told_as_that() -> None:
    origin = HeadOrigin("aa" * 32, ())
    influence = Influence("fast", (SiteInfluence("north", ()),), ())
    scores = (SiteScore("north", 90, 0, 0.0, 0.0, 0.0), SiteScore("south", 90, 8, 0.5, 1.0, 0.25))
    trained = HeadTraining(
        TaggingConfig(), 10, 100, origin, 0, public=True, redrawn=False, influence=influence, scores=scores
    )
    lines = head_lines(trained)
    assert f"  {'north':20} not measured" in lines
    assert f"  {'north':20} not measured: no PHI among its 90 tokens" in lines
    # What sharing is worth is the mean of those of whom anything is known.
    assert any("+41.7 points of F1, mean of 1 sites" in line for line in lines)
