"""`make frontier`: worth of sharing against the strongest attack, for every construction; docs/results/frontier.{svg,md}.

Each point is one representer made from 50 public notes of MEDDOCAN, a pool with the 450 others, a head of short training, and two
attacks on the representer: the best of a list of 100 neighbours after averaging 100 shares, and the white-box bound.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import torch

from aggregator import train_repr, workspace
from aggregator.train_repr import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.results import RESULTS, Entry, record
from bench.results_loop import Outcome, f1, judged, kept, private_pipeline
from bench.results_privacy import PROVIDER_NOTES, background, spanish, spanish_names
from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.generalised import folded
from shared.embeddings.neighbours import Neighbours
from shared.encoding import tokenised, tokenised_chunks
from shared.files import write_text
from shared.labels import load_scheme
from shared.pipeline import Encoder, load_encoder
from shared.privacy.attacks.matching import MatchingSettings, matching
from shared.privacy.attacks.sharing import ClearEncoder
from shared.privacy.audit import own_set
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.raw_model import train_raw_model
from shared.report import plots
from shared.training.tagging import TaggingConfig

COMMAND = "make frontier"
HEAD = TaggingConfig(epochs=6, seed=1)
ALONE = replace(HEAD, epochs=18)
POINTS: dict[str, RepresenterOptions] = {
    "surrogates, K=1000": RepresenterOptions(cluster_size=1000),
    "surrogates, K=100": RepresenterOptions(cluster_size=100),
    "k-anonymous, K=1000": RepresenterOptions("k-anonymous", cluster_size=1000),
    "k-anonymous, K=100": RepresenterOptions("k-anonymous", cluster_size=100),
    "invariance, N=100": RepresenterOptions("invariance", neighbours=100, preset="quick"),
    "three-part, N=100": RepresenterOptions("three-part", neighbours=100, preset="quick"),
    "invariance over K=1000": RepresenterOptions("k-anonymous-invariance", neighbours=100, preset="quick"),
    "dann, N=100": RepresenterOptions("dann", neighbours=100, preset="quick"),
}
_ATTACKED = 60


def _material() -> PublicMaterial:
    return PublicMaterial(corpora.meddocan("train")[:PROVIDER_NOTES], spanish(), background(), spanish_names())


def _point(options: RepresenterOptions) -> dict[str, object]:
    hospital = {"hospital": corpora.meddocan("train")[PROVIDER_NOTES:]}
    outcome = judged(private_pipeline(_material(), hospital, "meddocan", options, HEAD), corpora.meddocan("dev"))
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        train_repr.train(place, _material(), options)
        encoder = load_encoder(place.representer)
    return asdict(outcome) | {"match": _match(encoder), "bayes": _bayes(encoder)}


def _match(encoder: Encoder | ClearEncoder) -> float:
    """Top-1 among 100 candidates after 100 shares, the worse of neighbours and own set."""
    settings = MatchingSettings(targets=400, shares=(100,))
    own = own_set(encoder) if isinstance(encoder, Encoder) else None
    found = matching(encoder, corpora.meddocan("dev")[:_ATTACKED], Neighbours(spanish()), settings, own)
    return max(one.value for one in found if one.measure.startswith("top-1 of") and one.measure.endswith("shares"))


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
    model = train_raw_model(notes, words, load_scheme("meddocan"), ALONE if provider_only else HEAD)
    scheme = load_scheme("meddocan")
    match = 0.01 if provider_only else _match(ClearEncoder(spanish(), scheme))
    return asdict(judged(model, corpora.meddocan("dev"))) | {"match": match, "bayes": 0.5 if provider_only else 1.0}


def main() -> None:
    torch.set_num_threads(1)
    measured: dict[str, dict[str, object]] = {}
    builds: dict[str, Callable[[], dict[str, object]]] = {
        "raw notes pooled": lambda: _raw(False),
        "provider alone": lambda: _raw(True),
    }
    for name, options in POINTS.items():
        builds[name] = lambda options=options: _point(options)  # type: ignore[misc]
    for name, build in builds.items():
        measured[name] = kept(f"frontier-{name.replace(' ', '_').replace(',', '')}", build)
        _report(measured)


def _rows(measured: dict[str, dict[str, object]]) -> Iterator[tuple[str, float, float, float, float, str]]:
    for name, found in measured.items():
        counts = {field: found[field] for field in ("tokens", "entities", "commit")}
        outcome = Outcome(**counts)  # type: ignore[arg-type]
        yield (
            name, f1(outcome.tokens), f1(outcome.entities), float(str(found["match"])), float(str(found["bayes"])),
            outcome.commit,
        )  # fmt: skip


def _report(measured: dict[str, dict[str, object]]) -> None:
    """Plot, table and entries of what is there."""
    rows = list(_rows(measured))
    drawn = plots.scatter(
        [(name, 100 * match, 100 * strict) for name, _, strict, match, _, _ in rows],
        title="MEDDOCAN 50 + 450 notes: F1 against the strongest attack",
        x="true word first among 100 candidates after 100 shares, % (chance 1)",
        y="strict entity F1, %",
    )
    write_text(RESULTS / "frontier.svg", drawn)
    lines = [
        "# The frontier",
        "",
        f"Written by `{COMMAND}`; do not edit. One seed, {HEAD.epochs} epochs: the points compare with one another, not with other tables.",
        "",
        "![frontier](frontier.svg)",
        "",
        "| construction | token-binary F1 | strict F1 | match top-1 of 100, 100 shares | white box, mean Bayes accuracy |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {token:.4f} | {strict:.4f} | {match:.4f} | {bayes:.4f} |"
            for name, token, strict, match, bayes, _ in rows
        ),
        "",
    ]
    write_text(RESULTS / "frontier.md", "\n".join(lines))
    record("privacy", [
        Entry(f"frontier, {name}: {measure}", round(value, 4), None, "", unit, None, 1, "meddocan/dev", COMMAND,
              f"{HEAD.epochs} epochs", commit)
        for name, token, strict, match, bayes, commit in rows
        for measure, value, unit in (("strict entity F1", strict, "F1"), ("token-binary F1", token, "F1"),
                                     ("match top-1 of 100 after 100 shares", match, "share"),
                                     ("white box, mean Bayes accuracy", bayes, "share"))
    ])  # fmt: skip


if __name__ == "__main__":
    main()
