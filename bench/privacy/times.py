"""How long the audit takes, and what the bound costs beside an encoding: parts of `bench.results_privacy`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aggregator import workspace
from aggregator.auditing import audit as audits
from aggregator.training import representer as train_repr
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.material import COMMAND, PROVIDER_NOTES, background, spanish, spanish_names
from bench.results import Entry, record
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Construction, Protection
from shared.constructions.registry import load_construction
from shared.embeddings.neighbours import Neighbours
from shared.models.noise_source import PrivateNoise
from shared.privacy.policy import load_policy
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from site_client.sharing.guard import Guard

_EVERY_PAIR_NOTES = 10
_TURNS = 5


def times() -> None:
    """Wall clock on MEDDOCAN's 500 training notes, one thread; then what the white-box bound costs, in CPU time.

    Of the procedures that train a network the slowest is measured, too.
    """
    notes = corpora.meddocan("train")
    note = "one thread, other processes on the machine"

    def entry(measure: str, file: str, target: float, run: Callable[[], str]) -> Entry:
        def timed() -> dict[str, object]:
            began = time.monotonic()
            remark = run()
            return {"minutes": (time.monotonic() - began) / 60, "remark": remark}

        found = load_or_measure(f"privacy-times-{file}", timed)
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
    entries += [
        entry for procedure in ("surrogates", "k-anonymous", "three-part") for entry in _guard_entries(procedure)
    ]
    record("privacy", entries)


def _guard_entries(procedure: str) -> list[Entry]:
    """What `site-client encode` does for the bound, as a ratio to the encoding itself, on all 500 notes.

    Where noise is all that hides a word, also what every pair of a PHI word and a neighbour would cost, on a part of them.
    """
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        material = PublicMaterial(provider, spanish(), background(), spanish_names())
        train_repr.train(place, material, RepresenterOptions(procedure, preset="quick"))
        encoder = load_construction(place.representer)
    chunks = list(tokenised_chunks(tokenise_documents(corpora.meddocan("train")), encoder.scheme))

    def sampled() -> None:
        guard = Guard(encoder, 100, None, PrivateNoise())
        for chunk in chunks:
            guard.admit_sentences(chunk)
        guard.result()

    def entry(measure: str, ratio: float, looked: str) -> Entry:
        return Entry(
            f"{measure}, 100 neighbours, against encoding, {procedure}",
            round(ratio, 3),
            1,
            "<=",
            "times",
            None,
            1,
            "meddocan/train",
            COMMAND,
            f"{looked}; CPU time of one thread, in {_TURNS} turns",
        )

    looked = f"a sample: {WHILE_ENCODING.sentences:.0%} of the sentences, {WHILE_ENCODING.neighbours} neighbours drawn of 100"
    if encoder.replaces_phi:
        looked = "known ahead, no pair is looked at"
    entries = [entry("white-box bound during encode", _against_encoding(encoder, chunks, sampled), looked)]
    if encoder.protection is Protection.NOISE:
        few = list(tokenised_chunks(tokenise_documents(corpora.meddocan("train")[:_EVERY_PAIR_NOTES]), encoder.scheme))
        pseudonyms = Pseudonymiser(Neighbours(encoder.vectors), 100)
        ratio = _against_encoding(encoder, few, lambda: white_box(encoder, few, pseudonyms, WhiteBoxSettings(draws=1)))
        looked = f"every PHI word and neighbour of {_EVERY_PAIR_NOTES} notes, one draw of the input noise"
        entries.append(entry("white-box bound over every pair", ratio, looked))
    return entries


def _against_encoding(encoder: Construction, chunks: list[TokenisedSentences], action: Callable[[], object]) -> float:
    """CPU time of an action over that of encoding the chunks; in turns, since the machine's speed drifts."""
    seconds = {"encoded": 0.0, "bounded": 0.0}
    for _ in range(_TURNS):
        began = time.process_time()
        for chunk in chunks:
            encoder.share_sentences(chunk, PrivateNoise())
        seconds["encoded"] += time.process_time() - began
        began = time.process_time()
        action()
        seconds["bounded"] += time.process_time() - began
    return seconds["bounded"] / seconds["encoded"]
