"""`surrogates-centres`: labelled PHI is replaced by public PHI before anything is computed, over a k-anonymous vocabulary.

Given labels and patterns, a share is independent of labelled PHI; see `shared.anonymity.surrogates`
and docs/adr/0007. All other words are shown as in `k_anonymous`. Shares of version 0.1 are of these, and hold vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.bank_files import save_bank
from shared.anonymity.public_words import PublicRule
from shared.anonymity.redrawing import Redrawing
from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.accounting import Accounting, independence_accounting
from shared.constructions.construction import OwnSet, Parts, Protection, Trials, WordChanges
from shared.constructions.procedures.k_anonymous import Clustered, KAnonymous, cluster_words, project
from shared.constructions.training import Procedure, Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors, fold_casing
from shared.labels import categories_of_any_form
from shared.models.noise import RehearsalNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.progress import Progress
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import cased_like, casing_class

# A number stands among so many others at the most.
_NUMBERS = 1000


@dataclass(frozen=True)
class Replacing(Clustered):
    """Public PHI in the place of a hospital's own, whatever is computed of the sentence then.

    Args:
        bank: the public PHI.
    """

    bank: SurrogateBank

    protection = Protection.SURROGATES
    replaces_phi = True

    @classmethod
    def assemble(cls, parts: Parts) -> Self:
        """See Construction."""
        return cls(parts.vectors, parts.representer, parts.scheme, parts.bank)  # type: ignore[arg-type]

    def _parts(self) -> Parts:
        return Parts(self.vectors, self.representer, self.scheme, self.bank)

    @property
    def hides_casing(self) -> bool:
        """See Construction."""
        return self.bank.hides_casing

    def with_public_lengths(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> TokenisedSentences:
        """See Construction."""
        return self.bank.draw_lengths(chunk, PrivateNoise() if isinstance(noise, MemoisedNoise) else noise)

    def replaced(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> TokenisedSentences:
        """The sentences with public PHI in the place of what is labelled."""
        # Draws that were the same for equal sentences would tell which of them are equal.
        return self.bank.replace_spans(chunk, PrivateNoise() if isinstance(noise, MemoisedNoise) else noise)

    def own_set(self) -> OwnSet | None:
        """All words that can be written like a word."""
        return SameCasing(self.vectors.words)

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """See Construction."""
        return independence_accounting(self.hides_casing)

    def divergences(self, chunk: TokenisedSentences, changes: WordChanges, trials: Trials) -> NDArray[np.float64]:
        """0 by construction. That is tried, too: infinite where a token looks otherwise once others were encoded in the place
        of all changed ones, under the same draw.
        """
        seeds = range(trials.seed, trials.seed + trials.draws)
        looks = [self._look_otherwise(chunk, changes, seed) for seed in seeds]
        return np.where(np.any(looks, axis=0)[changes.tokens], np.inf, 0.0)[None]

    def _look_otherwise(self, chunk: TokenisedSentences, changes: WordChanges, seed: int) -> NDArray[np.bool_]:
        """Whether a token looks otherwise when each attacked one is one of its neighbours, bool `[tokens of the chunk]`."""
        tokens, places = changes.tokens[changes.alike], changes.places[changes.alike]
        firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
        counts = np.diff(firsts, append=len(tokens))
        chosen = firsts + np.random.default_rng(seed).integers(counts)
        twin = list(chunk.words)
        for token, place in zip(tokens[chosen].tolist(), places[chosen].tolist(), strict=True):
            other = cased_like(changes.words[place], twin[token])
            # Casing and punctuation travel unless they are hidden, and are counted elsewhere.
            if self.hides_casing or (casing_class(other) == casing_class(twin[token]) and not is_punctuation(other)):
                twin[token] = other
        true, false = (
            self.rehearse_share(sentences, torch.Generator().manual_seed(seed))
            for sentences in (chunk, chunk.with_words(twin))
        )
        otherwise: NDArray[np.bool_] = (true.values != false.values).any(1) | (true.casing != false.casing)
        return otherwise

    def promises(self) -> dict[str, float]:
        """That PHI is replaced, and what words look like that are none."""
        hidden = {"casing_hidden": 1.0} if self.hides_casing else {}
        return {"surrogates": 1.0, **hidden, "cluster_size": float(self.vectors.k)}

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """See Construction."""
        lines = []
        if stated.get("surrogates"):
            lines.append(
                "every word labelled PHI was replaced by public PHI, of its category where the release has one, before anything "
                "was computed: the share does not depend on it; PHI that nobody labelled and nothing found before encoding is shown as "
                "any other word"
            )
        if stated.get("casing_hidden"):
            lines.append(
                "number, casing and punctuation of these words are those of the replacements, and tell nothing either"
            )
        return lines + Clustered.explain(stated)

    def facts(self) -> dict[str, object]:
        """See Construction."""
        return super().facts() | {"surrogate_spans": len(self.bank.spans)}

    def save(self, folder: Path) -> None:
        """See Construction."""
        super().save(folder)
        save_bank(self.bank, folder)


@dataclass(frozen=True)
class Surrogates(Replacing, KAnonymous):
    """The same, token by token."""

    made_by: ClassVar[tuple[str, ...]] = ("surrogates-centres",)
    formerly: ClassVar[tuple[str, ...]] = ("surrogates",)

    def redrawing(self) -> Redrawing | None:
        """See Construction: category, casing and punctuation stand in the share, and the spans are public."""
        return Redrawing(self.bank, self.vectors.words, self.shown)


class SameCasing:
    """All words that can be written in the casing class of a word, which travels; numbers of as many digits for a number.

    Args:
        words: of the vocabulary.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [word for word in words if not is_punctuation(word)]
        self._known: dict[tuple[object, ...], list[str]] = {}

    def __call__(self, word: str) -> Sequence[str]:
        """The words of the same casing class as a word; for a number, numbers of as many digits."""
        if word.isdecimal():
            return _numbers(len(word))
        kind = (casing_class(word), word.islower(), word.isupper(), word[0].isupper())
        if kind not in self._known:
            cased = dict.fromkeys(cased_like(other, word) for other in self._words)
            self._known[kind] = [other for other in cased if casing_class(other) == kind[0]]
        return self._known[kind]


@cache
def _numbers(digits: int) -> tuple[str, ...]:
    """Numbers of so many digits, all of them or some that lie evenly."""
    step = max(1, 10**digits // _NUMBERS)
    return tuple(f"{number:0{digits}}" for number in range(0, 10**digits, step))


def hidden_names(lists: tuple[tuple[str, ...], ...], vectors: GeneralisedVectors) -> tuple[tuple[str, ...], ...]:
    """The lists without public words: "Calle" is a surname too, but in an address it is a cue that must stay."""
    kept = (
        tuple(word for word, own in zip(words, vectors.cluster(words).tolist(), strict=True) if own != PUBLIC)
        for words in lists
    )
    return tuple(words for words in kept if words)


def draw_bank(material: TrainingMaterial, options: TrainingOptions, vectors: GeneralisedVectors) -> SurrogateBank:
    """The bank of such a construction; see `surrogate_bank`.

    Args:
        material: labelled notes and lists.
        options: whether casing is hidden.
        vectors: which words are public.

    Raises:
        TrainingError: nothing is labelled.
    """
    return surrogate_bank(
        material.with_copies,
        hidden_names(material.names, vectors),
        hides_casing=options.hide_casing,
        public_lists=material.public_lists,
        any_form=categories_of_any_form(material.scheme),
    )


def _train(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    vectors = cluster_words(fold_casing(material.vectors, material.names), material, options, SURROGATES_CENTRES.rule)
    bank = draw_bank(material, options, vectors)
    return Trained(Surrogates(vectors, project(vectors, options), material.scheme, bank))


# Surrogates take the place of labelled PHI ahead of the vocabulary, so a word is not asked how often it is PHI.
SURROGATES_CENTRES = Procedure(
    "surrogates-centres", Surrogates, _train, clusters=True, rule=PublicRule(), augments=("phi",)
)
