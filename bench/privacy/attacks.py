"""The attacks on the default preset, and how long everything takes, for docs/results/privacy.json."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aggregator import workspace
from aggregator.training import representer as train_repr
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.material import (
    COMMAND,
    PROVIDER_NOTES,
    background,
    spanish,
    spanish_names,
)
from bench.results import Entry, record
from shared.anonymity.names import full_names
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.evaluation import clopper_pearson
from shared.labels import load_scheme
from shared.privacy.attacks.adversary import FRESH_ADVERSARIES, AdversarySettings, fresh_adversaries
from shared.privacy.attacks.matching import MATCH, MatchingSettings
from shared.privacy.attacks.membership import MEMBERSHIP, encode_notes, membership, reading
from shared.privacy.attacks.scene import AuditMaterial
from shared.privacy.attacks.white_box import WHITE_BOX
from shared.privacy.audit import FULL, run_audit
from shared.privacy.white_box import white_box
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus

# Smaller than the paper's 300 units and every pair an epoch, so that fifteen runs end within the hour; the positive
# control of the same size breaks clear vectors.
ADVERSARY_HIDDEN = 100
ADVERSARY_PAIRS = 500
SEEDS_OF_ADVERSARIES = (1, 2, 3, 4, 5)
DEFAULT = RepresenterOptions()
_CASING = "candidates in the casing of the true word"
_TRIED = "representation alone; the words of every sentence were changed under the same draw, four times"
_OVER_SENTENCES = "interval: bootstrap over sentences"
_TOLD = "a pair of another casing class, such as a number for a word, is told for sure"


def train_encoder(options: RepresenterOptions = DEFAULT) -> Construction:
    """Made by the provider of the MEDDOCAN comparison; by default the default preset."""
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    material = PublicMaterial(provider, spanish(), background(), spanish_names())
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        began = time.monotonic()
        train_repr.train(place, material, options)
        print(f"train-repr: {time.monotonic() - began:.0f} s", flush=True)
        return load_construction(place.representer)


def adversaries() -> None:
    """The paper's criterion: fresh T1 and T2 after 50 epochs, N = 100, 500 and 1000, five seeds."""
    encoder = train_encoder()
    remark = "seeds of the adversaries, for the default representer has no trained network"
    _against_adversaries("", "privacy-adversaries", lambda candidates, seed: encoder, remark)


def adversaries_invariance() -> None:
    """The same for the best of the constructions that are trained: is its training stable?"""

    def trained(candidates: int, seed: int) -> Construction:
        return train_encoder(RepresenterOptions("invariance", neighbours=candidates, seed=seed))

    remark = "seeds of training and adversaries"
    _against_adversaries("invariance, five trainings, ", "privacy-adversaries-invariance", trained, remark)


def _against_adversaries(label: str, file: str, made: Callable[[int, int], Construction], remark: str) -> None:
    """Measure and record what is left to fresh adversaries.

    Args:
        label: ahead of the measure.
        file: of a run, ahead of N and seed.
        made: the encoder for an N and a seed.
        remark: what the seeds are of.
    """
    known, target = (_sentences(corpora.meddocan("train")[200:300]), _sentences(corpora.meddocan("dev")))

    def measure(candidates: int, seed: int) -> dict[str, object]:
        settings = AdversarySettings(candidates, pairs=ADVERSARY_PAIRS, hidden=ADVERSARY_HIDDEN, seed=seed)
        # Clear vectors are broken or not whatever else is attacked.
        clear = seed == SEEDS_OF_ADVERSARIES[0]
        found = fresh_adversaries(made(candidates, seed), spanish(), known, target, settings, clear=clear)
        return {"findings": [asdict(one) for one in found]}

    entries = []
    for candidates in (100, 500, 1000):
        runs = [
            load_or_measure(
                f"{file}-{candidates}-{seed}",
                lambda seed=seed, candidates=candidates: measure(candidates, seed),  # type: ignore[misc]
            )
            for seed in SEEDS_OF_ADVERSARIES
        ]
        for name in ("T1", "T2"):
            found = [next(one for one in run["findings"] if one["attack"] == f"fresh adversary {name}") for run in runs]
            trials = sum(one["trials"] for one in found)
            hits = sum(round(one["value"] * one["trials"]) for one in found)
            outside = sum(one["interval"][0] > 0.5 for one in found)
            controls = [
                one["value"]
                for run in runs
                for one in run["findings"]
                if "control" in one["attack"] and name in one["attack"]
            ]
            low, high = clopper_pearson(hits, trials)
            entries.append(
                Entry(
                    f"{label}fresh adversary {name}, 50 epochs, N={candidates}: lower end of the 95% interval",
                    round(low, 4),
                    0.5,
                    "<=",
                    "decisions right",
                    (round(low, 4), round(high, 4)),
                    len(runs),
                    "meddocan/dev",
                    COMMAND,
                    f"accuracy {hits / trials:.4f} of {trials} decisions of five seeds, seeds whose own interval lies above chance: {outside}; "
                    f"positive control (clear vectors) {min(controls):.3f} to {max(controls):.3f}; {ADVERSARY_HIDDEN} units, {ADVERSARY_PAIRS} pairs an epoch; {remark}",
                    ", ".join(sorted({run["commit"] for run in runs})),
                )
            )
        record("privacy", entries)


def _sentences(notes: list[Document]) -> TokenisedSentences:
    return tokenised_corpus(notes, load_scheme("meddocan"))


def strong() -> None:
    """The strong criterion, for the default preset at N = K = 1000: the full audit on MEDDOCAN dev."""

    def measure() -> dict[str, object]:
        encoder = train_encoder()
        material = AuditMaterial(
            spanish(),
            corpora.meddocan("train")[100:400],
            corpora.meddocan("dev"),
            full_names("meddocan", 12_000, 0),
            ["NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA"],
        )
        settings = FULL.without_attacks(FRESH_ADVERSARIES, MEMBERSHIP).with_rounds(
            MATCH, MatchingSettings(targets=4000), FULL.rounds_of(MATCH)[1]
        )
        began = time.monotonic()

        def told(name: str, done: int, total: int) -> None:
            # Attacks that train report their own epochs, too.
            print(f"{time.monotonic() - began:.0f} s: {name} {done}/{total}", flush=True)

        found = run_audit(encoder, material, settings, told)
        return {"findings": [asdict(one) for one in found.findings], "seconds": time.monotonic() - began}

    def measure_hidden() -> dict[str, object]:
        target = [_sentences(corpora.meddocan("dev"))]
        hidden = train_encoder(RepresenterOptions(hide_casing=True))
        (settings,) = FULL.rounds_of(WHITE_BOX)
        found = white_box(hidden, target, Pseudonymiser(Neighbours(spanish()), FULL.neighbours), settings)
        return {"findings": [asdict(one) for one in found.findings()]}

    run, hidden = (
        load_or_measure("privacy-strong", measure),
        load_or_measure("privacy-white-box-hidden", measure_hidden),
    )
    by_measure = {(one["attack"], one["measure"]): one for one in run["findings"]}
    above = "top-1 above context-only, "
    each = [
        (
            "token inversion",
            name,
            None,
            f"PHI inversion, {name}",
            f"{_placebo(by_measure, name, above)}; {_OVER_SENTENCES}",
        )
        for attack, name in by_measure
        if attack == "token inversion" and name.startswith(above)
    ]
    entries = []

    def add(label: str, one: dict[str, Any], target: float | None, what: str, state: str) -> None:
        without = "" if one["baseline"] is None else f"; without the share {one['baseline']:.4f}"
        entries.append(
            Entry(
                label,
                round(one["value"], 4),
                target,
                "" if target is None else "<=",
                one["unit"] or "share",
                (round(one["interval"][0], 4), round(one["interval"][1], 4)),
                1,
                "meddocan/dev",
                COMMAND,
                f"{one['trials']} trials{without}; {what}; attacker: {one['knowledge']}; seed {one['seed']}",
                state,
            )
        )

    for attack, name, target, label, what in (
        ("match", "top-1 of 100, nearest neighbours, 1 share", 0.015, "match top-1 of 100 nearest neighbours", _CASING),
        (
            "match",
            "top-1 of 100, nearest neighbours, 100 shares",
            0.015,
            "match top-1 of 100 nearest neighbours, 100 shares averaged",
            _CASING,
        ),
        (
            "match",
            "top-1 of 100, nearest neighbours, 10 shares",
            0.015,
            "match top-1 of 100 nearest neighbours, 10 shares averaged",
            _CASING,
        ),
        (
            "match",
            "top-1 of 10000, nearest neighbours, 1 share",
            None,
            "match top-1 of 10,000 nearest neighbours",
            _CASING,
        ),
        ("match", "top-1 of 100, own set, 1 share", 0.015, "match top-1 of 100 of the own set", _CASING),
        (
            "match",
            "top-1 of 100, own set, 100 shares",
            0.015,
            "match top-1 of 100 of the own set, 100 shares averaged",
            _CASING,
        ),
        (
            "white box",
            "Bayes accuracy, representation, all PHI, mean",
            0.52,
            "white box, mean Bayes accuracy, N=1000",
            _TRIED,
        ),
        (
            "white box",
            "Bayes accuracy, representation, all PHI, 99th percentile",
            0.60,
            "white box, 99th percentile of Bayes accuracy, N=1000",
            _TRIED,
        ),
        (
            "white box",
            "Bayes accuracy, with casing, all PHI, mean",
            0.52,
            "white box with casing, mean Bayes accuracy, N=1000",
            _TOLD,
        ),
        (
            "white box",
            "Bayes accuracy, with casing, all PHI, 99th percentile",
            0.60,
            "white box with casing, 99th percentile of Bayes accuracy, N=1000",
            _TOLD,
        ),
        (
            "token inversion",
            "categories in which top-1 lies above context-only, jointly at 95%",
            0,
            "PHI categories whose inversion top-1 lies above context-only",
            "the baseline knows casing, too",
        ),
        ("linkage", "top-1 of 10000 names, 1 share", None, "patient-list linkage, top-1 of 10,000 names", _CASING),
        (
            "token inversion",
            "top-1 above context, casing and placebo, all categories",
            None,
            "PHI inversion, top-1 above context and placebo, all categories",
            _OVER_SENTENCES,
        ),
        (
            "token inversion",
            "top-1, all categories",
            None,
            "PHI inversion, top-1, all categories",
            "the baseline knows casing, too",
        ),
        (
            "reassembly",
            "ROC AUC of pairs, all that a share shows",
            None,
            "reassembly of notes, ROC AUC of pairs of sentences",
            "all that a share shows",
        ),
        (
            "reassembly",
            "ROC AUC of pairs, tags and lengths alone",
            None,
            "reassembly of notes by tags and lengths alone, ROC AUC of pairs of sentences",
            "what travels in clear",
        ),
        (
            "readability",
            "top-1 by look-up and network, all words",
            None,
            "readability, words that are not PHI",
            "common words are shown as they are",
        ),
        (
            "readability",
            "top-1 by look-up and network, rare words, public frequency below 5",
            None,
            "readability, rare words that are not PHI",
            "fewer than 5 times in the 300 labelled notes of the attacker",
        ),
        *each,
    ):
        add(f"default preset, N=K=1000: {label}", by_measure[attack, name], target, what, run["commit"])
    for one in hidden["findings"]:
        for figure, target in (("mean", 0.52), ("99th percentile", 0.60)):
            if one["measure"] == f"Bayes accuracy, with casing, all PHI, {figure}":
                label = f"default preset with --hide-casing: white box with casing, {figure} of Bayes accuracy, N=1000"
                add(label, one, target, "the casing that travels is the surrogate's", hidden["commit"])
    record("privacy", entries)


def _placebo(by_measure: dict[tuple[str, str], dict[str, Any]], name: str, above: str) -> str:
    """How far a share of other PHI lies above the context, which tells nothing of what is true."""
    found = by_measure["token inversion", f"top-1 by placebo, {name.removeprefix(above)}"]
    return f"from a share of other PHI, which tells nothing, as much would be {found['value'] - found['baseline']:.4f}"


def memberships() -> None:
    """Which notes trained a head: on what the default preset shows of MEDDOCAN's notes that the provider has not."""

    def measure() -> dict[str, object]:
        encoder, notes = train_encoder(), corpora.meddocan("train")[PROVIDER_NOTES:] + corpora.meddocan("dev")
        (settings,) = FULL.rounds_of(MEMBERSHIP)
        pool, asked = (encode_notes(encoder, notes, draw) for draw in (0, 1))
        found = membership(pool, asked, len(encoder.scheme.tags), settings, read=reading(encoder))
        return {"findings": [asdict(one) for one in found]}

    run = load_or_measure("privacy-membership", measure)
    record(
        "privacy",
        [
            Entry(
                f"default preset: membership of a note in the training of a head, {one['measure']}",
                round(one["value"], 4),
                None,
                "",
                "AUC" if one["measure"] == "ROC AUC" else one["unit"] or "share",
                (round(one["interval"][0], 4), round(one["interval"][1], 4)),
                1,
                "meddocan/train+dev",
                COMMAND,
                f"{one['trials']} notes; a worthless score reaches {one['baseline']:.4f}; attacker: {one['knowledge']}; seed {one['seed']}",
                run["commit"],
            )
            for one in run["findings"]
            if one["trials"]
        ],
    )
