"""Token inversion: which PHI words does an attacker read off a share?

The attacker has labelled notes of their own, sees the shares that the release makes of them, and learns to go back from
share to word. What they then read in the notes of others is held against two baselines:

- frequency: the commonest word of the category;
- casing: the commonest word at that place of spans of the category that are written like that;
- context-only: the SAME network with the same table of words, asked about the same tokens, with everything that PHI words left in
  the representation taken out. "Hospital Universitario" is half guessed from its surroundings alone, and no representation can change that;
- placebo: the same network before a share of other PHI, drawn without a look at the true words. A network that has not learned
  all of the context profits from any sample of a category, also from a surrogate that tells nothing.

Tags, lengths, casing and punctuation travel in clear beside any representation, so the context-only view has them; what
casing gives away is a figure of its own. The attacker has the table that this figure is read from, too, before the share, the context and
the placebo alike, and need not learn it. A category counts as read if the share beats its context and its placebo.
Of few sentences a bootstrap tells nothing: the categories that have too few are judged together, so that none goes unjudged.

For the context-only view every PHI word is replaced by one and the same word BEFORE the sentence is encoded, and its row
is blanked. Blanking alone would not do: an encoder that carries a word over to its neighbours would feed
its own leak to the baseline. Both views are learned by one network side by side, so that the difference between them
is what the PHI words added and not the luck of two trainings. The attacker then weighs the two and the table against each other, for
each category by the likelihood on notes of their own: an attacker who is misled by noise would do worse than one who
does not look, and would hide a small leak.

Punctuation inside a span is neither learned nor judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.labels import MAX_CATEGORIES
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.inversion.model import Candidates, GuesserSettings, Sight
from shared.privacy.inversion.outcome import Outcome
from shared.privacy.inversion.placebo import Placebo
from shared.privacy.inversion.ranking import likelihoods, ranks
from shared.privacy.inversion.table import Prior, WordTable, phi_words
from shared.privacy.inversion.training import fit
from shared.privacy.material.sharing import SharingEncoder, draw_share, spread
from shared.privacy.statistics.cluster_bootstrap import LEAST_CLUSTERS, cluster_interval
from shared.privacy.statistics.finding import Finding, proportion
from shared.progress import Progress, silent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences

ATTACK = "token inversion"
_KNOWLEDGE = "the release; labelled notes of the attacker's own; representation, casing and tags of the share"
_VALIDATION_SHARE = 0.1
_VALIDATION_SENTENCES = 400
# Weights of the share, of its context and of the table. The first wins a tie.
_WEIGHTINGS = np.array(
    [
        ((1 - table) * share, (1 - table) * (1 - share), table)
        for share in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
        for table in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
)
_BLIND = _WEIGHTINGS[_WEIGHTINGS[:, 0] == 0]
# From fewer words of a category its weights are those of all.
_ENOUGH_TARGETS = 30


@dataclass(frozen=True)
class InversionSettings:
    """How hard the attacker tries, and how sure the answer is.

    Args:
        guesser: of the network, with the seed of the attack.
        judged: sentences of the test, at most.
        resamples: of the bootstrap over sentences.
    """

    guesser: GuesserSettings = field(default_factory=GuesserSettings)
    judged: int = 8000
    resamples: int = 4000

    def __post_init__(self) -> None:
        if min(self.judged, self.resamples) < 1:
            raise ConfigurationError("token inversion: expected judged sentences and resamples of at least 1")


def token_inversion(
    encoder: SharingEncoder,
    vectors: WordVectors,
    known: TokenisedSentences,
    target: TokenisedSentences,
    settings: InversionSettings,
    *,
    progress: Progress = silent,
) -> list[Finding]:
    """Learn to read PHI words on the attacker's notes, and read those of others.

    Args:
        encoder: what is attacked.
        vectors: public word vectors; their words can be guessed too.
        known: the attacker's labelled sentences.
        target: sentences of other documents.
        settings: how hard to try.
        progress: called after every epoch.

    Returns:
        for all categories together and for each: top-1 and top-10, with the context-only figure as baseline; the
        difference between the two, with a bootstrap interval over sentences; the frequency and casing baselines; top-1 on seen and
        on unseen words; the difference from both context and casing over all categories; and in how many of them it lies above
        0 at a joint level of 95%, with the sentences that this rests on as trials: none where there are too few in all.

    Raises:
        TrainingError, EvaluationError: no PHI words to learn from, or to judge on.
    """
    generator = np.random.default_rng(settings.guesser.seed)
    learning, validation, judged = _parts(known, target, settings, generator)
    seen = [learning.words[place] for place in phi_words(learning).tolist()]
    candidates = Candidates.of(seen, vectors, settings.guesser.vocabulary)
    if not seen or not len(phi_words(judged)):
        raise EvaluationError("expected PHI words to learn from and to judge on, got none; give more labelled notes")
    views = _Views(encoder, vectors.words[0], candidates, settings.guesser.seed, learning)
    tags = len(encoder.scheme.tags)
    network = fit(lambda: views.of(learning), views.of(validation), tags, candidates, settings.guesser, progress)
    table = WordTable(learning)

    def prior(chunk: TokenisedSentences, sights: Sequence[Sight]) -> Prior:
        return table.prior(chunk, sights[0].share.casing, candidates)

    tried = views.of(validation)
    found = likelihoods(network, tried, candidates, _WEIGHTINGS, prior(validation, tried))
    category = validation.categories[tried[0].targets]
    weights, blind = _weights(found, category, _WEIGHTINGS), _weights(found[:, : len(_BLIND)], category, _BLIND)
    both = views.of(judged)
    outcome = Outcome.of(judged, seen, table, both[0].share.casing)
    counted = prior(judged, both)
    outcome.attack = ranks(network, both, candidates, weights=weights[outcome.category], prior=counted)
    outcome.context = ranks(network, both[1:], candidates, weights=blind[outcome.category][:, 1:], prior=counted)
    placebo = views.of(judged, Placebo(learning, phi_words(learning)).draw(judged, phi_words(judged), generator))
    outcome.placebo = ranks(
        network, placebo, candidates, weights=weights[outcome.category], prior=prior(judged, placebo)
    )
    return _findings(outcome, encoder.scheme.categories, settings, generator)


def _parts(
    known: TokenisedSentences, target: TokenisedSentences, settings: InversionSettings, generator: np.random.Generator
) -> tuple[TokenisedSentences, TokenisedSentences, TokenisedSentences]:
    """Sentences with PHI to learn from, to choose the epoch by and to judge on."""
    rows = known.rows_with_phi()
    held = max(1, min(int(len(rows) * _VALIDATION_SHARE), _VALIDATION_SENTENCES))
    if len(rows) < 2:
        raise TrainingError(f"expected sentences with PHI to learn from, got {len(rows)}; give more labelled notes")
    learning = np.sort(generator.permutation(rows[:-held])[: settings.guesser.sentences])
    judged = np.sort(generator.permutation(target.rows_with_phi())[: settings.judged])
    return known.select(learning), known.select(rows[-held:]), target.select(judged)


def _weights(
    found: NDArray[np.float64], category: NDArray[np.int64], choices: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of the views for each category, by what is likeliest on the validation, `[categories, views]`.

    Args:
        found: log-probability of each word of the validation under each choice.
        category: of each.
        choices: `[choices, views]`.
    """
    weights = np.tile(choices[found.sum(0).argmax()], (MAX_CATEGORIES, 1))
    for index in np.unique(category).tolist():
        if (category == index).sum() >= _ENOUGH_TARGETS:
            weights[index] = choices[found[category == index].sum(0).argmax()]
    return weights


class _Views:
    """A share as it is, and with all that PHI words left in it taken out."""

    def __init__(
        self, encoder: SharingEncoder, filler: str, candidates: Candidates, seed: int, sample: TokenisedSentences
    ) -> None:
        self.encoder, self.filler, self.candidates = encoder, filler, candidates
        self.noise = torch.Generator().manual_seed(seed)
        self.scale = spread(draw_share(encoder, sample, self.noise).values)

    def of(self, chunk: TokenisedSentences, shared: TokenisedSentences | None = None) -> list[Sight]:
        """Both.

        Args:
            chunk: whose words are asked for.
            shared: what is shared in its place: the same sentences with other PHI.
        """
        targets = phi_words(chunk)
        answers = self.candidates.ids([chunk.words[place] for place in targets.tolist()])
        phi = np.zeros(len(chunk.words), dtype=np.bool_)
        phi[targets] = True
        words = [self.filler if marked else word for word, marked in zip(chunk.words, phi.tolist(), strict=True)]
        full = self._seen(chunk if shared is None else shared)
        blank = self._seen(chunk.with_words(words))
        blank.values[phi] = 0
        blank.casing[phi] = full.casing[phi]
        return [Sight(full, targets, answers), Sight(blank, targets, answers)]

    def _seen(self, chunk: TokenisedSentences) -> RaggedSentences:
        share = draw_share(self.encoder, chunk, self.noise)
        values = share.values.astype(np.float32) / self.scale
        return RaggedSentences(values, share.casing.copy(), chunk.tags, share.lengths)


def _findings(
    outcome: Outcome, categories: Sequence[str], settings: InversionSettings, generator: np.random.Generator
) -> list[Finding]:
    every = np.ones(len(outcome.category), dtype=np.bool_)
    parts = {categories[index]: outcome.category == index for index in np.unique(outcome.category).tolist()}
    findings = []
    for name, part in {"all categories": every, **parts}.items():
        findings += _of_tokens(outcome, part, name, settings)
        measure, without = f"top-1 above context-only, {name}", outcome.context.chance_within(1)
        findings.append(_difference(outcome, part, without, measure, settings, generator, 0.95))
    findings.append(_above_all(outcome, every, settings, generator, 0.95))
    judged = _judged(outcome, list(parts.values()))
    # Several looks at 95% would find something in mere chance; the joint verdict divides the risk among them.
    joint = 1 - 0.05 / max(len(judged), 1)
    above = float(sum(_above_all(outcome, part, settings, generator, joint).interval[0] > 0 for part in judged))
    findings.append(
        Finding(
            ATTACK,
            "categories in which top-1 lies above context-only, jointly at 95%",
            above,
            0.0,
            (above, above),
            _sentences(outcome, np.any(judged, axis=0)) if judged else 0,
            _KNOWLEDGE,
            settings.guesser.seed,
            "categories",
        )
    )
    return findings


def _sentences(outcome: Outcome, part: NDArray[np.bool_]) -> int:
    return len(np.unique(outcome.sentence[part]))


def _judged(outcome: Outcome, parts: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """The categories; those of few sentences as one, with the smallest other where they are still too few together.

    Empty where all of them together are too few.
    """
    alone: list[NDArray[np.bool_]] = []
    together = np.zeros(len(outcome.category), dtype=np.bool_)
    for part in sorted(parts, key=lambda part: _sentences(outcome, part)):
        if _sentences(outcome, part) < LEAST_CLUSTERS or 0 < _sentences(outcome, together) < LEAST_CLUSTERS:
            together = together | part
        else:
            alone.append(part)
    return [part for part in (together, *alone) if _sentences(outcome, part) >= LEAST_CLUSTERS]


def _of_tokens(outcome: Outcome, part: NDArray[np.bool_], name: str, settings: InversionSettings) -> list[Finding]:
    found: list[Finding] = []

    def add(measure: str, hits: NDArray[np.generic], baseline: NDArray[np.generic] | None) -> None:
        reached = None if baseline is None else float(baseline.mean())
        # Among equals a hit is a chance of one.
        total = round(float(hits.sum()))
        found.append(proportion(ATTACK, measure, total, len(hits), reached, _KNOWLEDGE, settings.guesser.seed))

    for top in (1, 10):
        add(f"top-{top}, {name}", outcome.attack.chance_within(top)[part], outcome.context.chance_within(top)[part])
    add(f"top-1 by frequency alone, {name}", outcome.frequent[part], None)
    add(f"top-1 by casing alone, {name}", outcome.cased[part], outcome.frequent[part])
    add(f"top-1 by placebo, {name}", outcome.placebo.chance_within(1)[part], outcome.context.chance_within(1)[part])
    for label, subset in (("seen words", part & outcome.seen), ("unseen words", part & ~outcome.seen)):
        if subset.any():
            for top in (1, 10):
                hits, baseline = (ranks.chance_within(top)[subset] for ranks in (outcome.attack, outcome.context))
                add(f"top-{top}, {name}, {label}", hits, baseline)
    return found


def _above_all(
    outcome: Outcome,
    part: NDArray[np.bool_],
    settings: InversionSettings,
    generator: np.random.Generator,
    level: float,
) -> Finding:
    """The differences from context, which has the table by casing, and from placebo, whichever is less sure."""
    measure = "top-1 above context, casing and placebo, all categories"
    baselines = (outcome.context.chance_within(1), outcome.placebo.chance_within(1))
    differences = [_difference(outcome, part, without, measure, settings, generator, level) for without in baselines]
    return min(differences, key=lambda one: one.interval[0])


def _difference(
    outcome: Outcome,
    part: NDArray[np.bool_],
    without: NDArray[np.float64],
    measure: str,
    settings: InversionSettings,
    generator: np.random.Generator,
    level: float,
) -> Finding:
    """How much more is right with the share than without, with its bootstrap interval."""
    gain = (outcome.attack.chance_within(1) - without)[part]
    return Finding(
        ATTACK,
        measure,
        float(gain.mean()),
        0.0,
        cluster_interval(gain, outcome.sentence[part], generator, settings.resamples, level),
        len(gain),
        _KNOWLEDGE,
        settings.guesser.seed,
    )


class TokenInversion(Attack[InversionSettings]):
    """Which PHI words can be read."""

    name = ATTACK
    key = "inversion"
    quick = (InversionSettings(GuesserSettings(epochs=3, sentences=2000, hidden=64), judged=1500, resamples=1000),)
    full = (InversionSettings(),)
    finds = (ATTACK,)

    def run(self, scene: Scene, settings: InversionSettings) -> list[Finding]:
        """See `token_inversion`."""
        vectors, progress = scene.material.vectors, scene.progress
        return token_inversion(scene.encoder, vectors, scene.known, scene.target, settings, progress=progress)

    def with_seed(self, settings: InversionSettings, seed: int) -> InversionSettings:
        """The seed is that of the network."""
        return replace(settings, guesser=replace(settings.guesser, seed=seed))


TOKEN_INVERSION = TokenInversion()
