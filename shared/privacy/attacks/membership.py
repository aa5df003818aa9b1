"""Was this note in the pool that a head was trained on? Carlini et al. 2022, "Membership Inference Attacks From
First Principles" (LiRA), section V, with the variances of all notes together, as they advise for few shadow models.

The attacker holds the head, the note and notes like it, and trains heads of his own, each on a random half of them. A
note's score is the log-odds of the probability a token that a head gives its true tags. The scores under heads that saw
the note and under heads that did not are two Gaussians; the attacked head's score is judged by their likelihood ratio.

An audit comes before any pool, so it attacks a head of its own, trained on half of the notes as the provider would. What
it finds holds for heads of that recipe, not for the one that is released later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.statistics.finding import Finding, proportion
from shared.privacy.statistics.resampling import auc_interval
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.taggers.registry import default_config
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FINDS = "membership of a note"
# Below it, scores of a note hardly differ between heads, and their Gaussian would be a spike.
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True)
class MembershipSettings:
    """How the attack is run.

    Args:
        shadows: heads that the attacker trains, an even number; each note is in half of them.
        recipe: of every head, the attacked one included where it is trained here.
        hidden: units a direction of every head; the shadows must be like the released head.
        false_positive_rates: at which the true positive rate is given.
        seed: of halves, trainings and resampling.
    """

    shadows: int = 8
    recipe: TaggingConfig = field(default_factory=TaggingConfig)
    hidden: int = 128
    false_positive_rates: tuple[float, ...] = (0.01, 0.001)
    seed: int = 0

    def __post_init__(self) -> None:
        rates = self.false_positive_rates
        if self.shadows < 2 or self.shadows % 2 or self.hidden < 1 or not all(0 < rate < 1 for rate in rates):
            raise ConfigurationError(
                "membership: expected an even number of shadows from 2, hidden units from 1, rates in (0, 1)"
            )


@dataclass(frozen=True)
class ReleasedHead:
    """A head, and which notes it was trained on.

    Args:
        head: the released tagger.
        inside: bool `[notes]`.
    """

    head: Tagger
    inside: Bools


def membership(
    pool: Sequence[RaggedSentences],
    asked: Sequence[RaggedSentences],
    tags: int,
    settings: MembershipSettings,
    released: ReleasedHead | None = None,
) -> list[Finding]:
    """Attack a head, note by note.

    Args:
        pool: each note as hospitals share it, see `encode_notes`.
        asked: the same notes in the attacker's own encoding, which for a noisy release is another draw.
        tags: number of tags of the label scheme.
        settings: of shadows and recipe.
        released: the attacked head; by default one is trained on a random half of the notes.

    Returns:
        The area under the ROC curve, and the true positive rate at each false positive rate: without a trial where so few
        notes are outside that the rate allows for none of them. The baseline is what a worthless score reaches at the same
        threshold.

    Raises:
        ConfigurationError: the notes do not fit each other, or all or none of them are inside.
    """
    count = len(pool)
    rng = np.random.default_rng(settings.seed)
    if len(asked) != count or (released is not None and len(released.inside) != count) or count < 4:
        raise ConfigurationError(f"membership: expected at least 4 notes in both encodings, got {count}, {len(asked)}")
    attacked = "the released head"
    if released is None:
        attacked = "a head that the audit trained on half of the attacked notes, as the provider would"
        inside = rng.permutation(count) < count // 2
        released = ReleasedHead(_trained(pool, inside, tags, settings, 0), inside)
    if released.inside.all() or not released.inside.any():
        raise ConfigurationError("membership: expected notes inside and outside the pool, got one kind only")
    halves = balanced_halves(settings.shadows, count, rng)
    scores = np.stack(
        [note_scores(_trained(pool, half, tags, settings, 1 + index), asked) for index, half in enumerate(halves)]
    )
    ratios = likelihood_ratios(note_scores(released.head, asked), scores, halves)
    return _findings(ratios, released.inside, attacked, settings)


def encode_notes(encoder: SharingEncoder, documents: Iterable[Document], seed: int) -> list[RaggedSentences]:
    """One draw of each note as a share holds it."""
    noise = torch.Generator().manual_seed(seed)
    notes = []
    for pair in tokenise_documents(documents):
        pieces = [draw_share(encoder, chunk, noise) for chunk in tokenised_chunks([pair], encoder.scheme)]
        if pieces:
            notes.append(RaggedSentences.concatenate(pieces))
    return notes


def balanced_halves(heads: int, notes: int, generator: np.random.Generator) -> Bools:
    """Which notes each head is trained on: every note in just half of the heads, bool `[heads, notes]`."""
    order = np.argsort(generator.random((heads, notes)), axis=0)
    return order < heads // 2


@torch.no_grad()
def note_scores(head: Tagger, notes: Sequence[RaggedSentences]) -> Floats:
    """Log-odds of the probability that the head gives a note's tags, a token (geometric mean), `[notes]`."""
    head.eval()
    lengths = [note.sentences for note in notes]
    together = RaggedSentences.concatenate(notes)
    losses = np.empty(together.sentences)
    for batch in together.batches(128):
        losses[batch.rows] = head.loss(batch).double().numpy()
    starts = np.cumsum([0, *lengths])[:-1]
    tokens = np.array([note.tokens for note in notes])
    loss = np.maximum(np.add.reduceat(losses, starts) / tokens, 1e-9)
    odds: Floats = -loss - np.log(-np.expm1(-loss))
    return odds


def likelihood_ratios(score: Floats, shadows: Floats, inside: Bools) -> Floats:
    """Log-likelihood ratio of membership of each note, `[notes]`.

    Args:
        score: of the attacked head, `[notes]`.
        shadows: scores of the shadow heads, `[heads, notes]`.
        inside: which notes each shadow saw, `[heads, notes]`, every note in some and not in others.
    """
    density = []
    for seen in (inside, ~inside):
        count = seen.sum(0)
        mean = (shadows * seen).sum(0) / count
        # One variance for all notes; unbiased, so that two shadows a side are enough.
        spare = max(int((count - 1).sum()), 1)
        variance = max(float((((shadows - mean) * seen) ** 2).sum()) / spare, _LEAST_DEVIATION**2)
        # The mean itself is estimated, which widens what a new head's score may be.
        wide = variance * (1 + 1 / count)
        density.append(-0.5 * (score - mean) ** 2 / wide - 0.5 * np.log(wide))
    result: Floats = density[0] - density[1]
    return result


def _trained(
    pool: Sequence[RaggedSentences], inside: Bools, tags: int, settings: MembershipSettings, index: int
) -> Tagger:
    source = RaggedSentences.concatenate([note for note, member in zip(pool, inside.tolist(), strict=True) if member])
    recipe = replace(settings.recipe, seed=settings.recipe.seed + 1000 * settings.seed + index)
    return train_tagger(source, tags, recipe, shape=default_config(source.dim, tags, hidden=settings.hidden))


def _findings(ratios: Floats, inside: Bools, attacked: str, settings: MembershipSettings) -> list[Finding]:
    knowledge = f"representer, {attacked}, the note and its labels, notes like it, {settings.shadows} shadow heads"
    area, interval = auc_interval(ratios, inside, np.random.default_rng((settings.seed, 1)))
    found = [Finding(_FINDS, "ROC AUC", area, 0.5, interval, len(inside), knowledge, settings.seed)]
    members, others = ratios[inside], np.sort(ratios[~inside])[::-1]
    for rate in settings.false_positive_rates:
        allowed = int(rate * len(others))
        measure = f"true positive rate at {rate:.1%} false positives"
        hits = trials = 0
        chance = None
        if allowed:
            measure += f" ({allowed} of {len(others)} notes)"
            hits, trials = int((members > others[allowed]).sum()), len(members)
            chance = (allowed + 1) / (len(others) + 1)
        else:
            measure += f": not resolvable with {len(others)} notes outside"
        found.append(proportion(_FINDS, measure, hits, trials, chance, knowledge, settings.seed))
    return found


class Membership(Attack[MembershipSettings]):
    """Which notes trained a head."""

    name = "membership"
    key = "membership"
    full = (MembershipSettings(recipe=TaggingConfig(epochs=6)),)
    finds = (_FINDS,)
    unlimited = "an audit comes before any pool, so it judges a recipe and not the head that is released"

    def run(self, scene: Scene, settings: MembershipSettings) -> list[Finding]:
        """A head of the attacked notes; see `membership`."""
        encoder, notes = scene.encoder, scene.material.target
        pool, asked = (encode_notes(encoder, notes, settings.seed + draw) for draw in (0, 1))
        return membership(pool, asked, len(encoder.scheme.tags), settings)


MEMBERSHIP = Membership()
