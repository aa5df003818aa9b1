"""The attacks on the default preset, and how long everything takes, for docs/results/privacy.json."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from aggregator import audit as audits
from aggregator import train_repr, workspace
from aggregator.train_repr import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import RUNS, kept
from bench.privacy_material import (
    COMMAND,
    PROVIDER_NOTES,
    background,
    spanish,
    spanish_names,
)
from bench.results import Entry, record
from shared.anonymity.names import full_names
from shared.augment.pseudonyms import Pseudonymiser
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.encoding import TokenisedSentences, tokenised, tokenised_chunks
from shared.evaluation import clopper_pearson
from shared.labels import load_scheme
from shared.models.noise_source import PrivateNoise
from shared.pipeline import Encoder, load_encoder
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.attacks.matching import MatchingSettings
from shared.privacy.attacks.sharing import joined
from shared.privacy.audit import FULL, AuditMaterial, run_audit
from shared.privacy.policy import load_policy
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings
from site_client.guard import Guard

# Smaller than the paper's 300 units and every pair an epoch, so that fifteen runs end within the hour; the positive
# control of the same size breaks clear vectors.
ADVERSARY_HIDDEN = 100
ADVERSARY_PAIRS = 500
_CASING = "candidates in the casing of the true word"
_TRIED = "representation alone; the words of every sentence were changed under the same draw, four times"
_TOLD = "a pair of another casing class, such as a number for a word, is told for sure"


def _encoder() -> Encoder:
    """The default preset, made by the provider of the MEDDOCAN comparison."""
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    material = PublicMaterial(provider, spanish(), background(), spanish_names())
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        began = time.monotonic()
        train_repr.train(place, material, RepresenterOptions())
        print(f"train-repr: {time.monotonic() - began:.0f} s", flush=True)
        return load_encoder(place.representer)


def adversaries() -> None:
    """The paper's criterion: fresh T1 and T2 after 50 epochs, N = 100, 500 and 1000, five seeds."""
    encoder = _encoder()
    known, target = (_sentences(corpora.meddocan("train")[200:300]), _sentences(corpora.meddocan("dev")))
    for candidates in (100, 500, 1000):
        for seed in range(1, 6):
            kept(f"privacy-adversaries-{candidates}-{seed}", lambda candidates=candidates, seed=seed: {  # type: ignore[misc]
                "findings": [asdict(one) for one in fresh_adversaries(
                    encoder, spanish(), known, target,
                    AdversarySettings(candidates, pairs=ADVERSARY_PAIRS, hidden=ADVERSARY_HIDDEN, seed=seed),
                )]
            })  # fmt: skip
    entries = []
    for candidates in (100, 500, 1000):
        runs = [json.loads((RUNS / f"privacy-adversaries-{candidates}-{seed}.json").read_text(encoding="utf-8"))
                for seed in range(1, 6)]  # fmt: skip
        for name in ("T1", "T2"):
            hits = trials = 0
            outside = 0
            for run in runs:
                one = next(one for one in run["findings"] if one["attack"] == f"fresh adversary {name}")
                hits, trials = hits + round(one["value"] * one["trials"]), trials + one["trials"]
                outside += one["interval"][0] > 0.5
            controls = [one["value"] for run in runs for one in run["findings"]
                        if "control" in one["attack"] and name in one["attack"]]  # fmt: skip
            low, high = clopper_pearson(hits, trials)
            entries.append(
                Entry(f"fresh adversary {name}, 50 epochs, N={candidates}: lower end of the 95% interval", round(low, 4), 0.5,
                      "<=", "decisions right", (round(low, 4), round(high, 4)), 5, "meddocan/dev", COMMAND,
                      f"accuracy {hits / trials:.4f} of {trials} decisions of five seeds, seeds whose own interval lies above chance: {outside}; "
                      f"positive control (clear vectors) {min(controls):.3f} to {max(controls):.3f}; {ADVERSARY_HIDDEN} units, {ADVERSARY_PAIRS} pairs an epoch; seeds of the adversaries, for the default representer has no trained network",
                      ", ".join(sorted({run["commit"] for run in runs})))
            )  # fmt: skip
    record("privacy", entries)


def _sentences(notes: list[Document]) -> TokenisedSentences:
    return joined(list(tokenised_chunks(tokenised(notes), load_scheme("meddocan"))))


def strong() -> None:
    """The strong criterion, for the default preset at N = K = 1000: the full audit on MEDDOCAN dev."""

    def measure() -> dict[str, object]:
        encoder = _encoder()
        material = AuditMaterial(
            spanish(), corpora.meddocan("train")[100:400], corpora.meddocan("dev"), full_names("meddocan", 12_000, 0),
            ["NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA"],
        )  # fmt: skip
        settings = replace(
            FULL,
            adversary=None,
            membership=None,
            matching=(MatchingSettings(targets=2000, shares=(1, 100)), FULL.matching[1]),
        )  # fmt: skip
        began = time.monotonic()

        def told(name: str, done: int, total: int) -> None:
            # Attacks that train report their own epochs, too.
            print(f"{time.monotonic() - began:.0f} s: {name} {done}/{total}", flush=True)

        found = run_audit(encoder, material, settings, told)
        return {"findings": [asdict(one) for one in found.findings], "seconds": time.monotonic() - began}

    def measure_white_box() -> dict[str, object]:
        target = [_sentences(corpora.meddocan("dev"))]
        found = white_box(_encoder(), target, Pseudonymiser(Neighbours(spanish()), FULL.neighbours), WhiteBoxSettings())
        return {"findings": [asdict(one) for one in found.findings()]}

    runs = [kept("privacy-strong", measure), kept("privacy-white-box", measure_white_box)]
    # Of the same figure the later run counts.
    by_measure = {(one["attack"], one["measure"]): (one, run["commit"]) for run in runs for one in run["findings"]}
    entries = []
    for attack, name, target, label, what in (
        ("match", "top-1 of 100, nearest neighbours, 1 share", 0.015, "match top-1 of 100 nearest neighbours", _CASING),
        ("match", "top-1 of 100, nearest neighbours, 100 shares", 0.015, "match top-1 of 100 nearest neighbours, 100 shares averaged", _CASING),
        ("match", "top-1 of 100, own set, 1 share", 0.015, "match top-1 of 100 of the own set", _CASING),
        ("match", "top-1 of 100, own set, 100 shares", 0.015, "match top-1 of 100 of the own set, 100 shares averaged", _CASING),
        ("white box", "Bayes accuracy, representation, all PHI, mean", 0.52, "white box, mean Bayes accuracy, N=1000", _TRIED),
        ("white box", "Bayes accuracy, representation, all PHI, 99th percentile", 0.60, "white box, 99th percentile of Bayes accuracy, N=1000", _TRIED),
        ("white box", "Bayes accuracy, with casing, all PHI, mean", None, "white box with casing, mean Bayes accuracy, N=1000", _TOLD),
        ("white box", "Bayes accuracy, with casing, all PHI, 99th percentile", None, "white box with casing, 99th percentile of Bayes accuracy, N=1000", _TOLD),
        ("token inversion", "categories in which top-1 lies above context-only, jointly at 95%", 0, "PHI categories whose inversion top-1 lies above context-only", "the baseline knows casing, too"),
        ("linkage", "top-1 of 10000 names, 1 share", None, "patient-list linkage, top-1 of 10,000 names", _CASING),
        ("token inversion", "top-1, all categories", None, "PHI inversion, top-1, all categories", "the baseline knows casing, too"),
        ("reassembly", "ROC AUC of pairs, all that a share shows", None, "reassembly of notes, ROC AUC of pairs of sentences", "all that a share shows"),
        ("reassembly", "ROC AUC of pairs, tags and lengths alone", None, "reassembly of notes by tags and lengths alone, ROC AUC of pairs of sentences", "what travels in clear"),
        ("readability", "top-1 by look-up and network, all words", None, "readability, words that are not PHI", "common words are shown as they are"),
        ("readability", "top-1 by look-up and network, rare words, public frequency below 5", None, "readability, rare words that are not PHI", "fewer than 5 times in public text"),
    ):  # fmt: skip
        one, state = by_measure[attack, name]
        without = "" if one["baseline"] is None else f"; without the share {one['baseline']:.4f}"
        entries.append(
            Entry(f"default preset, N=K=1000: {label}", round(one["value"], 4), target, "" if target is None else "<=",
                  one["unit"] or "share", (round(one["interval"][0], 4), round(one["interval"][1], 4)), 1, "meddocan/dev",
                  COMMAND, f"{one['trials']} trials{without}; {what}", state)
        )  # fmt: skip
    record("privacy", entries)


def times() -> None:
    """Wall clock on MEDDOCAN's 500 training notes, one thread; then the cost of the white-box bound.

    Of the procedures that train a network the slowest is measured, too.
    """
    notes = corpora.meddocan("train")
    note = "one thread, other processes on the machine"

    def entry(measure: str, file: str, target: float, run: Callable[[], str]) -> Entry:
        def timed() -> dict[str, object]:
            began = time.monotonic()
            remark = run()
            return {"minutes": (time.monotonic() - began) / 60, "remark": remark}

        found = kept(f"privacy-times-{file}", timed)
        value = round(float(str(found["minutes"])), 2)
        remarks = f"{note}{found['remark']}"
        return Entry(
            measure, value, target, "<=", "min", None, 1, "meddocan/train", COMMAND, remarks, str(found["commit"])
        )

    with tempfile.TemporaryDirectory() as name:

        def trained(procedure: str, preset: str) -> workspace.Workspace:
            place = workspace.create(Path(name) / f"{procedure}-{preset}", "bench", "meddocan")
            material = PublicMaterial(notes, spanish(), background(), spanish_names())
            train_repr.train(place, material, RepresenterOptions(procedure, preset=preset))
            return place

        def training(procedure: str, preset: str, target: float) -> Entry:
            def run() -> str:
                trained(procedure, preset)
                return ""

            measure = f"train-repr --procedure {procedure} --preset {preset}, MEDDOCAN train"
            return entry(measure, f"{procedure}-{preset}", target, run)

        def audit(preset: str, target: float) -> Entry:
            def run() -> str:
                result = audits.audit(place, notes, spanish(), load_policy(), preset)
                return f"; the verdict was {'pass' if result.passed else 'FAIL'}"

            return entry(f"audit --preset {preset}, default procedure, MEDDOCAN train", f"audit-{preset}", target, run)

        spanish()
        entries = [
            training("surrogates", "standard", 60),
            training("three-part", "quick", 5),
            training("three-part", "standard", 60),
        ]
        place = trained("surrogates", "quick")
        entries += [audit("quick", 5), audit("full", 60)]
    entries += [_guard_entry(procedure) for procedure in ("surrogates", "k-anonymous", "three-part")]
    record("privacy", entries)


def _guard_entry(procedure: str) -> Entry:
    """What `site-client encode` does for the bound, as a ratio to the encoding itself, on all 500 notes."""
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        material = PublicMaterial(provider, spanish(), background(), spanish_names())
        train_repr.train(place, material, RepresenterOptions(procedure, preset="quick"))
        encoder = load_encoder(place.representer)
    chunks = list(tokenised_chunks(tokenised(corpora.meddocan("train")), encoder.scheme))
    seconds = {"encoded": 0.0, "bounded": 0.0}
    # Side by side and three times, since the machine's speed drifts.
    for _ in range(3):
        began = time.monotonic()
        for chunk in chunks:
            encoder.shared(chunk, PrivateNoise())
        seconds["encoded"] += time.monotonic() - began
        began = time.monotonic()
        guard = Guard(encoder, 100, None, PrivateNoise())
        for chunk in chunks:
            guard.passed(chunk)
        guard.result()
        seconds["bounded"] += time.monotonic() - began
    looked = f"a sample: {WHILE_ENCODING.sentences:.0%} of the sentences, {WHILE_ENCODING.neighbours} neighbours drawn of 100"
    if encoder.surrogates is not None:
        looked = "known ahead, no pair is looked at"
    return Entry(
        f"white-box bound during encode, 100 neighbours, against encoding, {procedure}",
        round(seconds["bounded"] / seconds["encoded"], 3), 1, "<=", "times", None, 1, "meddocan/train", COMMAND,
        f"{looked}; one thread, other processes on the machine",
    )  # fmt: skip
