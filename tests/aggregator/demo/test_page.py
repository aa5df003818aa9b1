"""The page of the demonstration says what protects the shares of each construction, and of no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aggregator.demo.demonstration import Scale
from aggregator.demo.page import DemoResult, Score, Shown, write_page
from shared.report import plots

CLUSTERS: dict[str, Any] = {
    "surrogate_spans": 41,
    "public_words": 503,
    "common_words": 200,
    "exact_window": 3,
    "clusters": 7,
    "smallest_cluster": 103,
}
NOISE: dict[str, Any] = {"noise": {"input": [0.02], "output": [0.047, 0.061]}}
REPLACED, NARROWED, NOISY = (
    "replaced by a span",
    "The 200 commonest",
    "under noise of standard deviation 0.047 at least",
)
CLINICAL, ASKED = "which clinical words stood there", "which PHI words stood there"


def page(folder: Path, training: dict[str, Any], shown: tuple[Shown, ...]) -> str:
    score = {
        label: Score(label, 0.7, (0.6, 0.8), 40, 12, 0.9, 0.8, 0.85, 0.7, {"PATIENT": 0.9})
        for label in ("(a) x alone", "(b) y", "(c) z")
    }
    audit = {
        "passed": True,
        "verdict": "Every limit is kept.",
        "verdicts": [{"attack": "match", "why": "none is found", "skipped": False, "passed": True, "reason": ""}],
        "left_out": [],
        "findings": [],
        "accounting": {"statement": "What can be proved."},
    }
    rows = tuple(score.values())
    result = DemoResult(("north",), "fourth", rows, training, audit, shown, {"sites": []}, 60.0, 90.0)
    return write_page(result, folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("training", "said"),
    [
        (CLUSTERS, {REPLACED, NARROWED, "a code", "the replacement above"}),
        (CLUSTERS | NOISE, {REPLACED, NARROWED, NOISY, CLINICAL, "a vector", "the replacement above"}),
        (
            {"surrogate_spans": 0} | NOISE,
            {NOISY, ASKED, "a vector", "what the network leaves out, with its noise, above"},
        ),
    ],
)
def test_it_says_what_protects_and_nothing_else(
    training: dict[str, Any], said: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "svg", lambda width, height, draw: "<svg></svg>")
    shown = (Shown("north", 0.2, 0.3, 0.5),) if "public_words" in training else ()
    text = page(tmp_path, training, shown)
    possible = {REPLACED, NARROWED, NOISY, CLINICAL, ASKED, "the replacement above"}
    assert {one for one in possible if one in text} == said & possible
    assert all(one in text for one in said)
    assert text.count("<svg>") == 3 + bool(shown)


def test_what_only_attacks_vouch_for_may_have_failed_the_audit() -> None:
    assert [Scale("en", 10, 0, name).proved for name in ("surrogates", "noisy-surrogates", "three-part")] == [
        True,
        True,
        False,
    ]
