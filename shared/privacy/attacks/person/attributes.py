"""Attribute inference: does a fact that is known of a patient find another one? After Xin et al. 2025, "A False Sense of Privacy".

The attacker knows a few words of a clinical sentence and all of its PHI, looks in a share for the sentence that they are of, and takes from
there another word of a list. An attacker without the share has the list, the known words, and which words stand together in
public notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.person.searched_share import Kind, SearchedShare
from shared.privacy.attacks.person.told import AttributeSettings, Floats, PublicFacts, Told
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.statistics.finding import Finding, proportion
from shared.sentences.tokenised import TokenisedSentences

_FINDS = "attribute inference"
# Of the attacker's notes, what words stand together is learned from so many; on the others, how far to trust a share.
_LEARNT = 0.7
_TRUSTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
# Of fewer sentences a tenth tells nothing.
_LEAST_SUREST = 50
# Ties are broken by chance.
_TIE = 1e-9


def attribute_inference(
    encoder: SharingEncoder, known: TokenisedSentences, attacked: TokenisedSentences, settings: AttributeSettings
) -> list[Finding]:
    """Find sentences by some of their words and their PHI, and guess another word.

    Args:
        encoder: the release.
        known: the attacker's public sentences.
        attacked: the sentences of the share, all of which are looked through.
        settings: how many of everything.

    Returns:
        How often the true word is guessed, how often the sentence is found, and, of 500 sentences on, how often the word is guessed in
        the tenth of them that the attacker is surest to have found.

    Raises:
        ConfigurationError: no sentence has so many words that are facts, or the attacker's notes have too few.
    """
    # Which sentences are asked for does not hang on the release, nor does chance between equals.
    generator, ties = (np.random.default_rng((settings.seed, use)) for use in range(2))
    first = int(known.sentences * _LEARNT)
    facts = PublicFacts(known.select(np.arange(first)), settings)
    own = known.select(np.arange(first, known.sentences))
    rehearsed = SearchedShare(encoder, own, settings.seed)
    told = facts.draw(own, generator)
    reliable = _reliability(rehearsed, told)
    tried = _tried(rehearsed, facts, told, reliable, ties)
    trust = max(_TRUSTS, key=lambda one: float(tried.right(one).mean()))
    share = SearchedShare(encoder, attacked, settings.seed + 1, rehearsed.alike)
    found = _tried(share, facts, facts.draw(attacked, generator), reliable, ties)
    return _findings(found, trust, share.sentences, settings)


@dataclass(frozen=True)
class _Tried:
    """What was found for each target.

    Args:
        seen: how much likelier the share makes each word of the list, in logarithms, float64 `[targets, candidates]`.
        together: likewise of public notes.
        truth: place of the true word in the list, int64 `[targets]`.
        sure: chance that the likeliest sentence is the true one, in the attacker's eyes, float64 `[targets]`.
        linked: whether it is, bool `[targets]`.
    """

    seen: Floats
    together: Floats
    truth: NDArray[np.int64]
    sure: Floats
    linked: NDArray[np.bool_]

    def right(self, trust: float) -> NDArray[np.bool_]:
        """Whether the true word comes first, bool `[targets]`; with no trust in the share, by public notes alone."""
        best: NDArray[np.bool_] = (trust * self.seen + self.together).argmax(1) == self.truth
        return best


def _reliability(share: SearchedShare, told: Sequence[Told]) -> Floats:
    """How often a fact fits the sentence that it is of, by kind."""
    hits, trials = np.ones(len(Kind)), np.full(len(Kind), 2.0)
    for one in told:
        for kind, fitting in share.fits(one):
            hits[kind] += bool(np.isin(one.sentence, fitting))
            trials[kind] += 1
    result: Floats = hits / trials
    return result


def _tried(
    share: SearchedShare,
    facts: PublicFacts,
    told: Sequence[Told],
    reliable: Floats,
    ties: np.random.Generator,
) -> _Tried:
    seen, together, sure, linked = [], [], [], []
    for one in told:
        likely = share.weigh(share.fits(one), reliable)
        best = np.flatnonzero(likely >= likely.max() - _TIE)
        seen.append(share.read(one, likely, float(reliable[Kind.WORD])))
        # As many draws for every target, whatever was found.
        chance, *small = ties.random(1 + len(one.listed)).tolist()
        together.append(facts.together(one) + _TIE * np.array(small))
        sure.append(float(np.exp(likely.max())))
        linked.append(int(best[int(chance * len(best))]) == one.sentence)
    truth = np.array([one.truth for one in told])
    return _Tried(np.stack(seen), np.stack(together), truth, np.array(sure), np.array(linked))


def _findings(found: _Tried, trust: float, sentences: int, settings: AttributeSettings) -> list[Finding]:
    knowledge = (
        f"a share of {sentences} sentences, the release, {settings.known} words and the PHI of a sentence, public notes"
    )
    guessed, public = found.right(trust), found.right(0.0)
    surest = np.argsort(-found.sure, kind="stable")[: len(guessed) // 10]
    asked = f"of {found.seen.shape[1]}"

    def counted(measure: str, hits: NDArray[np.bool_], baseline: float) -> Finding:
        return proportion(_FINDS, measure, int(hits.sum()), len(hits), baseline, knowledge, settings.seed)

    told = [
        counted(f"another word of the sentence, {asked}", guessed, float(public.mean())),
        counted("the sentence is found", found.linked, 1 / sentences),
    ]
    if len(surest) >= _LEAST_SUREST:
        told.append(counted(f"the same of the surest tenth, {asked}", guessed[surest], float(public[surest].mean())))
    return told


class AttributeInference(Attack[AttributeSettings]):
    """Whether a known fact finds another."""

    name = _FINDS
    key = "attributes"
    quick = (AttributeSettings(targets=300),)
    full = (AttributeSettings(),)
    finds = (_FINDS,)

    def run(self, scene: Scene, settings: AttributeSettings) -> list[Finding]:
        """See `attribute_inference`."""
        return attribute_inference(scene.encoder, scene.known, scene.target, settings)


ATTRIBUTE_INFERENCE = AttributeInference()
