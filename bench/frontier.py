"""`make frontier`: worth of sharing against the strongest attack, for every construction; docs/results/frontier.{svg,md}.

Each point is one representer made from 50 public notes of MEDDOCAN, a pool with the 450 others, a head of short training, and two
attacks on the representer: the best of a list of 100 neighbours after averaging 100 shares, and the white-box bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from aggregator.train_repr import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.frontier_figure import Point, frontier_figure
from bench.outcomes import Comparison, Outcome, f1_entry, judged, kept
from bench.privacy_material import PROVIDER_NOTES, background, spanish, spanish_names
from bench.results import RESULTS, Entry, record
from bench.results_loop import private_pipeline
from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.generalised import folded
from shared.embeddings.neighbours import Neighbours
from shared.encoding import tokenised, tokenised_chunks
from shared.evaluation import clopper_pearson
from shared.files import write_text
from shared.labels import load_scheme
from shared.pipeline import Encoder
from shared.privacy.attacks.matching import MatchingSettings, matching
from shared.privacy.attacks.sharing import ClearEncoder
from shared.privacy.audit import own_set
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig

COMMAND = "make frontier"
DATA = "meddocan/dev"
_ENTRY = "frontier, "
RAW, ALONE = "raw notes pooled", "provider alone"
HEAD = TaggingConfig(epochs=6, seed=1)
HEAD_ALONE = replace(HEAD, epochs=18)
# By construction and setting.
POINTS: dict[tuple[str, str], RepresenterOptions] = {
    ("surrogates", "K=1000"): RepresenterOptions(cluster_size=1000),
    ("surrogates", "K=100"): RepresenterOptions(cluster_size=100),
    ("surrogates", "K=1000, casing hidden"): RepresenterOptions(cluster_size=1000, hide_casing=True),
    ("k-anonymous", "K=1000"): RepresenterOptions("k-anonymous", cluster_size=1000),
    ("k-anonymous", "K=100"): RepresenterOptions("k-anonymous", cluster_size=100),
    ("invariance", "N=100"): RepresenterOptions("invariance", neighbours=100),
    ("invariance", "N=1000"): RepresenterOptions("invariance", neighbours=1000),
    ("three-part", "N=100"): RepresenterOptions("three-part", neighbours=100),
    ("three-part", "N=1000"): RepresenterOptions("three-part", neighbours=1000),
    ("k-anonymous-invariance", "K=1000, N=100"): RepresenterOptions("k-anonymous-invariance", neighbours=100),
    ("dann", "N=100"): RepresenterOptions("dann", neighbours=100),
}
_ATTACKED = 60
_TARGETS = 2000


def _material() -> PublicMaterial:
    return PublicMaterial(corpora.meddocan("train")[:PROVIDER_NOTES], spanish(), background(), spanish_names())


def _point(options: RepresenterOptions) -> dict[str, object]:
    hospital = {"hospital": corpora.meddocan("train")[PROVIDER_NOTES:]}
    pipeline = private_pipeline(_material(), hospital, "meddocan", options, HEAD)
    assert isinstance(pipeline.encoder, Encoder)
    found = _match(pipeline.encoder) | {"bayes": _bayes(pipeline.encoder)}
    return asdict(judged(pipeline, corpora.meddocan("dev"))) | found


def _match(encoder: Encoder | ClearEncoder) -> dict[str, object]:
    """Top-1 among 100 candidates after 100 shares, the worse of neighbours and own set."""
    settings = MatchingSettings(targets=_TARGETS, shares=(100,))
    own = own_set(encoder) if isinstance(encoder, Encoder) else None
    found = matching(encoder, corpora.meddocan("dev")[:_ATTACKED], Neighbours(spanish()), settings, own)
    every = (one for one in found if one.measure.startswith("top-1 of") and one.measure.endswith("shares"))
    worst = max(every, key=lambda one: one.value)
    return {"match": worst.value, "trials": worst.trials}


def _bayes(encoder: Encoder) -> float:
    """Mean accuracy of the best attacker over pairs of neighbours; a sample of neighbours and sentences."""
    chunks = tokenised_chunks(tokenised(corpora.meddocan("dev")[:_ATTACKED]), encoder.scheme)
    settings = WhiteBoxSettings(draws=1, neighbours=20, sentences=0.2)
    return white_box(encoder, chunks, Pseudonymiser(Neighbours(spanish()), 1000), settings).representation[""].mean


def _raw(provider_only: bool) -> dict[str, object]:
    notes = corpora.meddocan("train")
    if provider_only:
        notes = notes[:PROVIDER_NOTES]
    words = folded(spanish(), spanish_names())
    model = train_raw_model(notes, words, load_scheme("meddocan"), HEAD_ALONE if provider_only else HEAD)
    scheme = load_scheme("meddocan")
    # The two ends need no attack but the match on clear vectors, which shows that it works.
    attacked = {"match": 0.01, "trials": 0} if provider_only else _match(ClearEncoder(spanish(), scheme))
    return asdict(judged(model, corpora.meddocan("dev"))) | attacked | {"bayes": 0.5 if provider_only else 1.0}


def main() -> None:
    torch.set_num_threads(1)
    builds: dict[tuple[str, str], Callable[[], dict[str, object]]] = {
        (RAW, ""): lambda: _raw(False),
        (ALONE, ""): lambda: _raw(True),
    }
    for name, options in POINTS.items():
        builds[name] = lambda options=options: _point(options)  # type: ignore[misc]
    rows: list[Row] = []
    for (family, setting), build in builds.items():
        file = f"frontier-{family} {setting}".strip().replace(" ", "_").replace(",", "")
        rows.append(Row.of(family, setting, kept(file, build)))
        if len(rows) >= 2:
            _report(rows)


@dataclass(frozen=True)
class Row:
    """One construction with its scores.

    Args:
        family: name of the construction.
        setting: its parameter in short; "" for the two ends that share nothing or everything.
        outcome: scores on dev.
        match: how often the true word comes first among 100 candidates, in (0, 1].
        trials: PHI words that were matched; 0 where nothing was attacked.
        bayes: mean accuracy of the best attacker at a pair of words, in [0.5, 1].
    """

    family: str
    setting: str
    outcome: Outcome
    match: float
    trials: int
    bayes: float

    @classmethod
    def of(cls, family: str, setting: str, found: dict[str, Any]) -> Row:
        """From a kept run."""
        return cls(family, setting, Outcome.of(found), found["match"], found["trials"], found["bayes"])

    @property
    def name(self) -> str:
        """Construction and setting."""
        return f"{self.family}, {self.setting}" if self.setting else self.family

    def entries(self, raw: Outcome, alone: Outcome) -> list[Entry]:
        """Token-binary and strict F1, worth of sharing, match, white box.

        Args:
            raw: raw notes pooled, worth everything.
            alone: the provider alone, worth nothing.
        """
        note = f"{HEAD.epochs} epochs"
        matched = clopper_pearson(round(self.match * self.trials), self.trials) if self.trials else None

        def score(measure: str, kind: str) -> Entry:
            return f1_entry(f"{_ENTRY}{self.name}: {measure}", [self.outcome], kind, None, DATA, note, COMMAND)

        def entry(measure: str, value: float, unit: str, interval: tuple[float, float] | None) -> Entry:
            name, commit = f"{_ENTRY}{self.name}: {measure}", self.outcome.commit
            ends = interval and (round(interval[0], 4), round(interval[1], 4))
            return Entry(name, round(value, 4), None, "", unit, ends, 1, DATA, COMMAND, note, commit)

        gain, interval = Comparison([alone], [raw], [self.outcome]).gain("entities")
        return [
            score("token-binary F1", "tokens"),
            score("strict entity F1", "entities"),
            entry("worth of sharing, strict entity F1", gain, "of the ideal gain", interval),
            entry("match top-1 of 100 after 100 shares", self.match, "share", matched),
            entry("white box, mean Bayes accuracy", self.bayes, "share", None),
        ]


def _report(rows: list[Row]) -> None:
    """Plot, table and entries of what is there; the two ends first."""
    raw, alone = rows[0].outcome, rows[1].outcome
    points = [Point(row.family, row.setting, row.outcome.entity_f1, row.match, row.bayes) for row in rows]
    write_text(RESULTS / "frontier.svg", frontier_figure(points, alone.entity_f1, raw.entity_f1))
    entries = {row.name: row.entries(raw, alone) for row in rows}
    lines = [
        "# The frontier",
        "",
        f"Written by `{COMMAND}`; do not edit. One seed, heads of {HEAD.epochs} epochs, the points compare with one another, "
        "not with other tables. Worth: share of the ideal gain in strict F1. Match: the worse of two lists of candidates, nearest neighbours and "
        "the construction's own set. Chance is 0.01; whoever guesses by casing, which travels, is right in 0.012; of a construction at "
        "chance the larger of two draws is shown (the default on 2,000 words a list: privacy.md). Intervals, 95%: bootstrap "
        "over documents, the same ones on all sides of a worth; exact for the match.",
        "",
        "![frontier](frontier.svg)",
        "",
        "| construction | token-binary F1 | strict F1 | worth of sharing | match top-1 of 100, 100 shares | white box, mean Bayes accuracy |",
        "|---|---|---|---|---|---|",
        *(f"| {name} | {' | '.join(map(_cell, found))} |" for name, found in entries.items()),
        "",
    ]
    write_text(RESULTS / "frontier.md", "\n".join(lines))
    record("privacy", [entry for found in entries.values() for entry in found])


def _cell(entry: Entry) -> str:
    if entry.interval is None:
        return f"{entry.value:.4f}"
    return f"{entry.value:.4f} ({entry.interval[0]:.4f} to {entry.interval[1]:.4f})"


if __name__ == "__main__":
    main()
