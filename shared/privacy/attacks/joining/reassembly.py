"""Document reassembly: which of the shuffled sentences of a share come from one note?

The attacker learns on public notes, of which he knows the sentences, how likely two sentences are of one note by what
they have in common, and scores all pairs of the share. The same attack on tags and lengths alone, which every share shows,
tells what the representation and the casing add.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.pair_features import Floats, PairFeatures, pair_features
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.statistics.finding import Finding
from shared.privacy.statistics.logistic_regression import LogisticRegression
from shared.privacy.statistics.resampling import WeightedAUC, resample_pairs
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks


@dataclass(frozen=True)
class ReassemblySettings:
    """How the attack is run.

    Args:
        notes: in the attacked share; all pairs of their sentences are scored, so that cost grows with the square.
        public_groups: as many times as many public notes are learnt from, in groups of that size.
        sentences: the most that are taken of a note, by chance.
        shortest: sentences of fewer tokens are left out.
        resamples: of the bootstrap over notes.
        seed: of notes, sentences, noise and resampling.
    """

    notes: int = 25
    public_groups: int = 4
    sentences: int = 30
    shortest: int = 3
    resamples: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.notes < 2 or self.sentences < 2 or self.public_groups < 1 or self.shortest < 1 or self.resamples < 1:
            raise ConfigurationError(
                "reassembly: expected at least 2 notes of 2 sentences, lengths and resamples from 1"
            )


def reassembly(
    encoder: SharingEncoder, public: Iterable[Document], attacked: Iterable[Document], settings: ReassemblySettings
) -> list[Finding]:
    """Score pairs of sentences of the attacked notes for coming from one note.

    Args:
        encoder: the release.
        public: labelled notes that the attacker has, to learn on.
        attacked: notes of the share; none of them public.
        settings: how many of everything.

    Returns:
        For all that a share shows, and for tags and lengths alone: ROC AUC over all pairs, and the precision among as
        many best pairs as there are true ones.

    Raises:
        ConfigurationError: either side has fewer than two notes with sentences to pair.
    """
    rng = np.random.default_rng(settings.seed)
    share, notes = _share(encoder, attacked, settings, rng)
    asked = pair_features(share)
    listed = list(public)
    groups = min(settings.public_groups, max(1, len(listed) // settings.notes))
    known: list[PairFeatures] = []
    truths: list[NDArray[np.bool_]] = []
    for order in np.array_split(rng.permutation(len(listed)), groups):
        learning, owners = _share(encoder, [listed[index] for index in order.tolist()], settings, rng)
        known.append(pair_features(learning))
        truths.append(owners[known[-1].first] == owners[known[-1].second])
    truth = np.concatenate(truths)
    found: list[Finding] = []
    for name, learnt, scored in (
        ("all that a share shows", np.concatenate([pairs.everything for pairs in known]), asked.everything),
        ("tags and lengths alone", np.concatenate([pairs.labels for pairs in known]), asked.labels),
    ):
        # Rounded, so that pairs without any difference are tied.
        scores = np.round(LogisticRegression(learnt, truth).scores(scored), 6)
        found += _findings(name, scores, asked, notes, settings)
    return found


def _share(
    encoder: SharingEncoder, documents: Iterable[Document], settings: ReassemblySettings, rng: np.random.Generator
) -> tuple[RaggedSentences, NDArray[np.int64]]:
    """A share of some sentences of some notes, and the note of each."""
    noise = torch.Generator().manual_seed(int(rng.integers(2**31)))
    listed = list(documents)
    pieces: list[RaggedSentences] = []
    for index in rng.permutation(len(listed)).tolist():
        for chunk in tokenised_chunks(tokenise_documents([listed[index]]), encoder.scheme):
            rows = np.flatnonzero(chunk.lengths >= settings.shortest)
            rows = np.sort(rng.permutation(rows)[: settings.sentences])
            if len(rows) > 1:
                pieces.append(draw_share(encoder, chunk, noise).select(rows))
        if len(pieces) >= settings.notes:
            break
    if len(pieces) < 2:
        raise ConfigurationError("reassembly: expected at least two notes of two sentences, got fewer")
    owners = np.repeat(np.arange(len(pieces)), [piece.sentences for piece in pieces])
    return RaggedSentences.concatenate(pieces), owners


def _findings(
    name: str, scores: Floats, pairs: PairFeatures, notes: NDArray[np.int64], settings: ReassemblySettings
) -> list[Finding]:
    rng = np.random.default_rng((settings.seed, 1))
    one, other = notes[pairs.first], notes[pairs.second]
    same = one == other
    area = WeightedAUC(scores, same)
    # Among equals by chance.
    order = np.lexsort((rng.random(len(scores)), -scores))
    best = order[: int(same.sum())]
    areas, precisions = [], []
    count = int(notes.max()) + 1
    for _ in range(settings.resamples):
        weights = resample_pairs(one, other, rng)
        areas.append(area(weights))
        precisions.append(float((weights * same)[best].sum() / max(weights[best].sum(), 1e-12)))
    knowledge = f"a share of {count} notes with its sentences shuffled, release, public labelled notes; {name}"
    return [
        Finding("reassembly", measure, value, chance, _bounds(drawn), len(scores), knowledge, settings.seed)
        for measure, value, chance, drawn in (
            (f"ROC AUC of pairs, {name}", area(), 0.5, areas),
            (f"precision of the best pairs, {name}", float(same[best].mean()), float(same.mean()), precisions),
        )
    ]


def _bounds(values: list[float]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


class Reassembly(Attack[ReassemblySettings]):
    """Which sentences of a share come from one note."""

    name = "reassembly"
    key = "reassembly"
    quick = (ReassemblySettings(notes=12, resamples=100),)
    full = (ReassemblySettings(),)
    finds = ("reassembly",)
    unlimited = "it averages over header lines; clinical reassembly is limited"

    def run(self, scene: Scene, settings: ReassemblySettings) -> list[Finding]:
        """See `reassembly`."""
        return reassembly(scene.encoder, scene.material.known, scene.material.target, settings)


REASSEMBLY = Reassembly()
