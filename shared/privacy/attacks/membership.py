"""Was this note in the pool that a head was trained on? Carlini et al. 2022, "Membership Inference Attacks From
First Principles" (LiRA), section V, with the variances of all notes together, as they advise for few shadow models.

The attacker holds the head as it is released, the note with its labels and notes like it, and trains heads of his own, each on a random half
of them. Heads learn from shares as the provider's do: codes are read anew in every pass, under other members and surrogates, and so is the
note under every look of the attacker. A note's score is the log-odds of the probability a token that a head gives its true tags, on average over
these looks. The scores under heads that saw the note and under heads that did not are two Gaussians; the attacked head's score is judged by
their likelihood ratio.

An audit comes before any pool, so it trains the head that it attacks itself, on half of the notes, and for a third of the time in fewer passes
than a provider makes. What it finds holds for heads of that recipe and fewer notes than a pool has, and more passes remember more;
`membership` takes a released head where the notes of its pool are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from shared.constructions.construction import Construction
from shared.constructions.decoding import Decoding
from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import draw_share
from shared.privacy.statistics.finding import Finding, proportion
from shared.privacy.statistics.resampling import auc_interval
from shared.sentences.codes import CodedSentences, no_features
from shared.sentences.ragged import Batch, RaggedSentences, SentenceSource
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.taggers.registry import default_config
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Read: TypeAlias = Callable[[RaggedSentences, np.random.Generator], RaggedSentences]
"""What a training gets of sentences as a pool holds them, under one draw."""
Learn: TypeAlias = Callable[[RaggedSentences, int], Tagger]
"""Trains a head on sentences as a pool holds them, under a seed."""

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
        looks: draws of a note under which the attacker takes its score.
        false_positive_rates: at which the true positive rate is given.
        seed: of halves, trainings and resampling.
    """

    shadows: int = 8
    recipe: TaggingConfig = field(default_factory=TaggingConfig)
    hidden: int = 128
    looks: int = 4
    false_positive_rates: tuple[float, ...] = (0.01, 0.001)
    seed: int = 0

    def __post_init__(self) -> None:
        rates = self.false_positive_rates
        if (
            self.shadows < 2
            or self.shadows % 2
            or min(self.looks, self.hidden) < 1
            or not all(0 < rate < 1 for rate in rates)
        ):
            raise ConfigurationError(
                "membership: expected an even number of shadows from 2, looks and hidden units from 1, rates in (0, 1)"
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
    read: Read | None = None,
    learn: Learn | None = None,
) -> list[Finding]:
    """Attack a head, note by note.

    Args:
        pool: each note as a pool holds it, see `encode_notes`.
        asked: the same notes in the attacker's own encoding, which for a noisy release is another draw.
        tags: number of tags of the label scheme.
        settings: of shadows and recipe.
        released: the attacked head; by default one is trained on a random half of the notes.
        read: see `reading`; None where all passes read the same.
        learn: trains attacked head and shadows; None for the recipe of the settings on what `read` gives.

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
    learn = learn or partial(_learn, tags=tags, settings=settings, read=read)
    attacked = "the released head"
    if released is None:
        passes = f"{settings.recipe.epochs} passes, of a provider's {TaggingConfig().epochs}"
        attacked = f"a head that the audit trained on half of the attacked notes, in {passes}"
        inside = rng.permutation(count) < count // 2
        released = ReleasedHead(learn(_of_notes(pool, inside), 0), inside)
    if released.inside.all() or not released.inside.any():
        raise ConfigurationError("membership: expected notes inside and outside the pool, got one kind only")
    halves = balanced_halves(settings.shadows, count, rng)
    looks = partial(_mean_scores, notes=asked, settings=settings, read=read)
    shadows = (learn(_of_notes(pool, half), 1 + index) for index, half in enumerate(halves))
    scores = np.stack([looks(shadow) for shadow in shadows])
    ratios = likelihood_ratios(looks(released.head), scores, halves)
    return _findings(ratios, released.inside, attacked, settings)


def encode_notes(encoder: Construction, documents: Iterable[Document], seed: int) -> list[RaggedSentences]:
    """One draw of each note as a pool holds it: codes as rows of one number, or the rows themselves."""
    noise = torch.Generator().manual_seed(seed)
    notes = []
    for pair in tokenise_documents(documents):
        pieces = []
        for chunk in tokenised_chunks([pair], encoder.scheme):
            coded = encoder.rehearse_codes(chunk, noise)
            pieces.append(draw_share(encoder, chunk, noise) if coded is None else _as_rows(coded))
        if pieces:
            notes.append(RaggedSentences.concatenate(pieces))
    return notes


def reading(encoder: Construction) -> Read | None:
    """What the trainings of a provider make of its pool, anew in every pass; None where all passes read the same."""
    decoding = encoder.decoding()
    return encoder.redrawing() if decoding is None else partial(_read_codes, decoding)


def _as_rows(coded: CodedSentences) -> RaggedSentences:
    # Exact: a code has 32 bits.
    return RaggedSentences(coded.codes[:, None].astype(np.float64), coded.casing, coded.tags, coded.lengths)


def _read_codes(decoding: Decoding, rows: RaggedSentences, generator: np.random.Generator) -> RaggedSentences:
    codes = rows.values[:, 0].astype(np.uint32)
    return decoding.read_codes(
        CodedSentences(codes, rows.casing, rows.tags, rows.lengths, no_features(len(codes))), generator
    )


@dataclass(frozen=True, repr=False)
class _ReadAnew:
    """Sentences of a pool, read anew in every pass; see SentenceSource."""

    stored: RaggedSentences
    read: Read

    @cached_property
    def dim(self) -> int:
        """Numbers of what a head gets for a token."""
        return self.read(self.stored.select(np.zeros(1, dtype=np.int64)), np.random.default_rng(0)).dim

    @property
    def sentences(self) -> int:
        """How many there are."""
        return self.stored.sentences

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource."""
        return self.read(self.stored, generator or np.random.default_rng(0)).batches(size, generator)


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


def _of_notes(pool: Sequence[RaggedSentences], chosen: Bools) -> RaggedSentences:
    return RaggedSentences.concatenate([note for note, member in zip(pool, chosen.tolist(), strict=True) if member])


def _learn(stored: RaggedSentences, seed: int, *, tags: int, settings: MembershipSettings, read: Read | None) -> Tagger:
    source: SentenceSource = stored if read is None else _ReadAnew(stored, read)
    recipe = replace(settings.recipe, seed=settings.recipe.seed + 1000 * settings.seed + seed)
    return train_tagger(source, tags, recipe, shape=default_config(source.dim, tags, hidden=settings.hidden))


def _mean_scores(
    head: Tagger, notes: Sequence[RaggedSentences], settings: MembershipSettings, read: Read | None
) -> Floats:
    """See `note_scores`; on average over several looks, the same for every head, `[notes]`."""
    if read is None:
        return note_scores(head, notes)
    generator = np.random.default_rng((settings.seed, 2))
    scores = [note_scores(head, [read(note, generator) for note in notes]) for _ in range(settings.looks)]
    result: Floats = np.mean(scores, axis=0)
    return result


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
    # A provider makes 20 passes; the finding says so.
    full = (MembershipSettings(recipe=TaggingConfig(epochs=6)),)
    finds = (_FINDS,)

    def run(self, scene: Scene, settings: MembershipSettings) -> list[Finding]:
        """A head of the attacked notes; see `membership`."""
        encoder, notes = scene.encoder, scene.material.target
        pool, asked = (encode_notes(encoder, notes, settings.seed + draw) for draw in (0, 1))
        return membership(pool, asked, len(encoder.scheme.tags), settings, read=reading(encoder))


MEMBERSHIP = Membership()
