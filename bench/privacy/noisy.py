"""`noisy-surrogates` beside the default: what a head is worth, and what is read of words that are no PHI, and of which note they are.

MEDDOCAN, a provider of 50 notes and a hospital of 450. Both shares go the whole way: representer, release, `encode`, ingest, pool, head,
release. Both are attacked by the same attackers, who learn on public notes and attack the development notes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import Outcome, f1_entry, load_or_measure, score_pipeline
from bench.privacy.material import PROVIDER_NOTES, background, spanish, spanish_names
from bench.results import Entry
from bench.results_loop import private_pipeline
from shared.constructions.construction import Construction
from shared.document import Document
from shared.privacy.attacks.joining.reassembly import ReassemblySettings, reassembly
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import TaggingConfig

COMMAND = "python -m bench.results_privacy noisy"
DATA = "meddocan/dev"
NAMES = ("surrogates", "noisy-surrogates")
# Public notes that are not the provider's: the attacker's own.
_KNOWN = slice(100, 400)


@dataclass(frozen=True)
class Budget:
    """How much is tried.

    Args:
        preset: of the representer's training.
        head: recipe of the head.
        shared: notes of the hospital.
        known: notes of the attacker.
        readability, reassembly: settings of the attacks.
    """

    preset: str = "standard"
    head: TaggingConfig = field(default_factory=lambda: TaggingConfig(epochs=6, seed=1))
    shared: slice = field(default_factory=lambda: slice(PROVIDER_NOTES, None))
    known: slice = field(default_factory=lambda: _KNOWN)
    readability: ReadabilitySettings = field(default_factory=ReadabilitySettings)
    reassembly: ReassemblySettings = field(default_factory=ReassemblySettings)


def measure() -> list[Entry]:
    """Both constructions, as entries."""
    entries = []
    for name in NAMES:
        found = load_or_measure(
            f"noisy-{name}",
            lambda name=name: compare(name, corpora.meddocan("dev"), Budget()),  # type: ignore[misc]
        )
        entries += _entries(name, Outcome.of(found), [Finding(**_finding(one)) for one in found["attacks"]])
    return entries


def compare(name: str, judged: list[Document], budget: Budget) -> dict[str, object]:
    """A head and two attacks on the shares of one construction.

    Args:
        name: of the procedure.
        judged: notes that are tagged and attacked.
        budget: how much is tried.
    """
    notes = corpora.meddocan("train")
    material = PublicMaterial(notes[:PROVIDER_NOTES], spanish(), background(), spanish_names())
    options = RepresenterOptions(name, preset=budget.preset)
    pipeline = private_pipeline(material, {"hospital": notes[budget.shared]}, "meddocan", options, budget.head)
    encoder = pipeline.encoder
    assert isinstance(encoder, Construction)
    known, target = (tokenised_corpus(part, encoder.scheme) for part in (notes[budget.known], judged))
    attacks = [
        *readability(encoder, spanish(), known, target, budget.readability),
        *reassembly(encoder, notes[budget.known], judged, budget.reassembly),
    ]
    return asdict(score_pipeline(pipeline, judged)) | {"attacks": list(map(asdict, attacks))}


def _entries(name: str, outcome: Outcome, attacks: list[Finding]) -> list[Entry]:
    note = "one seed, 6 epochs of the head, preset standard"
    scores = [
        f1_entry(f"noise over surrogates, {name}: {said}", [outcome], kind, None, DATA, note, COMMAND)
        for kind, said in (("tokens", "token-binary F1"), ("entities", "strict entity F1"))
    ]
    return scores + [_attack_entry(name, outcome, one) for one in attacks]


def _attack_entry(name: str, outcome: Outcome, found: Finding) -> Entry:
    without = "" if found.baseline is None else f"; without the share {found.baseline:.4f}"
    return Entry(
        f"noise over surrogates, {name}: {found.attack}, {found.measure}",
        round(found.value, 4),
        None,
        "",
        found.unit or "share",
        (round(found.interval[0], 4), round(found.interval[1], 4)),
        1,
        DATA,
        COMMAND,
        f"{found.trials} trials{without}",
        outcome.commit,
    )


def _finding(kept: dict[str, Any]) -> dict[str, Any]:
    return {**kept, "interval": tuple(kept["interval"])}
