"""The card of a release says of a figure that nobody measured that nobody has."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

from aggregator.publishing.head_record import describe_needs
from aggregator.publishing.model_card import model_card
from aggregator.training.kinds import TaggerOptions
from protocols.release.manifest import ReleaseFields
from shared.taggers.registry import TAGGERS


def test_where_no_phi_was_held_out_no_recall_is_stated(tmp_path: Path) -> None:
    scores = [
        {"site": "north", "tokens": 40, "phi_tokens": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0},
        {"site": "south", "tokens": 50, "phi_tokens": 9, "precision": 0.5, "recall": 0.25, "f1": 1 / 3},
    ]
    (tmp_path / "training.json").write_text(json.dumps({"sites": scores}))
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    card = model_card(fields, tmp_path, tmp_path, None, "CC0")
    assert "| hospital 1 | 40 | no PHI held out | | | |" in card
    assert "| hospital 2 | 50 | 0.500 | 0.250 | 0.333 |  |" in card


def test_a_head_that_was_trained_with_hospitals_is_not_told_as_the_provider_s_alone(tmp_path: Path) -> None:
    norms = {"st-anne": 1.0, "harbour": 1.0, "(public notes)": 1.0}
    rounds = [
        {"number": 1, "norms": norms | {"east": 1.0}, "sentences": {"east": 90}},
        {"number": 2, "norms": norms, "sentences": {"st-anne": 1200, "harbour": 800, "(public notes)": 412}},
    ]
    together = {"simulated": False, "plan": {"strategy": "median"}, "rounds": rounds}
    scores = [{"site": "(public notes)", "tokens": 40, "phi_tokens": 9, "precision": 0.5, "recall": 0.25, "f1": 1 / 3}]
    record = {
        "sentences": 412,
        "tokens": 5100,
        "shares": [],
        "public": True,
        "federated": together,
        "sites": scores,
    }
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})

    def card() -> str:
        (tmp_path / "training.json").write_text(json.dumps(record))
        return model_card(fields, tmp_path, tmp_path, None, "CC0")

    said = "trained together by 3 hospitals in 2 rounds (median), and the provider's own notes"
    assert f"- head: {said}; 2,000 sentences of hospitals in the last round, by their own word;" in card()
    assert "412 sentences, 5,100 tokens of the provider's own" in card()
    assert "of 0 hospitals" not in card()
    assert "sat out" not in card()
    # What was measured is the provider's own, too.
    assert "On the tenth of the provider's own notes" in card()
    assert "Scores are of hospitals that shared" not in card()
    assert not [name for name in ("st-anne", "harbour", "east") if name in card()]
    # One that was tried out here has learned from shares.
    together["simulated"] = True
    record["undersampling"] = 0.5
    assert (
        "0 shares of 0 hospitals, and the public notes; 50% of the sentences without PHI sat out each pass, drawn anew, and are not counted"
        in card()
    )


def test_a_head_that_promises_nothing_says_why(tmp_path: Path) -> None:
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    for more, told in (({"no_operating_points": "they were not asked for"}, True), ({}, False)):
        record: dict[str, object] = {"sentences": 9, "tokens": 99, "shares": [], "public": True, **more}
        (tmp_path / "training.json").write_text(json.dumps(record))
        card = model_card(fields, tmp_path, tmp_path, None, "CC0")
        assert ("No operating points, so hospitals can't ask for a recall: they were not asked for." in card) == told
        assert "median of" not in card


def test_a_student_is_told_from_a_head_that_shares_trained(tmp_path: Path) -> None:
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    text = {"text": "ab" * 32, "tokens": 4000, "sure": 3900, "phi": 50, "changes": []}
    for distilled, public, told in ((None, True, 0), (text, True, 1), (text, False, 1)):
        record = {"sentences": 9, "tokens": 99, "shares": [], "public": public, "distilled": distilled}
        (tmp_path / "training.json").write_text(json.dumps(record))
        card = model_card(fields, tmp_path, tmp_path, None, "CC0")
        assert card.count("- no share trained the head itself") == told
        assert card.count("learned from that text and from the public notes") == (told and public)


def test_a_head_that_learned_no_label_of_a_share_says_so(tmp_path: Path) -> None:
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    record = {"sentences": 9, "tokens": 99, "shares": [], "public": True}
    for more, told in (({}, 0), ({"self_distilled": 3}, 1)):
        (tmp_path / "training.json").write_text(json.dumps(record | more))
        card = model_card(fields, tmp_path, tmp_path, None, "CC0")
        assert card.count("- no label of a share trained the head itself: 3 others labelled the shares") == told


def test_a_head_that_not_every_hospital_can_read_says_so(tmp_path: Path) -> None:
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    for kind in TAGGERS:
        # A checkpoint that is here, or none: what is told of it is not asked.
        asked = TaggerOptions(kind, checkpoint=tmp_path if kind == "transformer" else None)
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            (tmp_path / name).touch()
        (tmp_path / "training.json").write_text(json.dumps({"tagger": asked.facts()}))
        card = model_card(fields, tmp_path, tmp_path, None, "CC0")
        said = f"a hospital without the extra `{TAGGERS[kind].extra}` of deid-commons can't pull its release"
        assert (said in card) == (kind == "transformer") == bool(describe_needs({"tagger": asked.facts()}))
    # Heads of before kinds, and those that hospitals trained together, need nothing.
    assert describe_needs({}) == describe_needs({"tagger": {}}) == []
