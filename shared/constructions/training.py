"""How constructions are made: what a provider chooses, what may be learned from, and what a procedure is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.public_lists import PublicList
from shared.anonymity.public_words import PublicRule
from shared.anonymity.shipped_lists import shipped_lists
from shared.constructions.construction import Construction
from shared.embeddings.members import MOST_WINDOW
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.labels import LabelScheme
from shared.progress import Progress
from shared.sentences.tokenised import TokenisedSentences

PRESETS = ("quick", "standard", "paper")
# Where labelled PHI reaches the vocabulary, a word that public notes label PHI more often than that is hidden.
_RULE = PublicRule(phi_share=0.02)


@dataclass(frozen=True)
class TrainingOptions:
    """What a provider chooses. Whether there is such a procedure, and can keep what is asked, says the registry.

    Args:
        procedure: name of one.
        neighbours: N, candidates among which an adversary should not find the true word, itself included; only for the
            procedures that are trained against adversaries: a PHI word, or, where PHI is replaced, a clinical one.
        cluster_size: K, words in a cluster; only for the procedures with a k-anonymous vocabulary.
        max_share: the most that a word may hold of its cluster's frequency in the public notes and texts, in (0, 1]; 1 bounds
            nothing. For the same procedures.
        common_words: so many of the commonest public words are shown wherever they stand, those that tell least what a text is about;
            other public words only near labelled PHI. Only for the procedures that narrow what they show: `surrogates`,
            `k-anonymous`, `noisy-surrogates`.
        exact_window: how many tokens away from labelled PHI is near. For the same procedures.
        group_size: least number of the other public words that are shown alike farther away, where there are as many; at least
            `cluster_size`. For the same procedures.
        hide_casing: whether surrogates have a casing and punctuation of their own, so that those of labelled PHI do not travel.
        dim: d, size of the representation; None for the paper's 50 where it is learned, else for that of the word vectors.
        normalise: whether what comes out of the noise is stretched to length 1, as the program of the paper's authors does. Only for the
            procedures that add noise, to which it changes nothing that they promise.
        preset: one of PRESETS: how long a procedure is trained, where it is.
        augment: how copies of the public notes are made that are learned from beside them, by methods of `shared.augment`; no word is
            counted in them. Only for procedures that learn from sentences, or draw PHI from them.
        alpha: so many copies of each sentence with PHI.
        public: when a word may be shown as it is; None for the rule of the procedure.
        seed: of the training.

    Raises:
        ConfigurationError: a value out of range.
    """

    procedure: str = "surrogates"
    neighbours: int = 100
    cluster_size: int = 1000
    max_share: float = 1.0
    common_words: int = 30
    exact_window: int = 3
    group_size: int = 2000
    hide_casing: bool = False
    dim: int | None = None
    normalise: bool = False
    preset: str = "standard"
    augment: tuple[str, ...] = ()
    alpha: int = 2
    public: PublicRule | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigurationError(f"expected a preset among {', '.join(PRESETS)}, got {self.preset!r}")
        if self.neighbours < 2:
            raise ConfigurationError(f"expected at least 2 neighbours, the word itself included, got {self.neighbours}")
        if self.group_size < 1:
            raise ConfigurationError(f"expected at least 1 word in a group of public words, got {self.group_size}")
        if self.common_words < 0 or not 0 <= self.exact_window <= MOST_WINDOW:
            raise ConfigurationError(
                f"expected at least 0 common words and a window of 0 to {MOST_WINDOW} tokens, got {self.common_words} and "
                f"{self.exact_window}"
            )
        if not 0 < self.max_share <= 1:
            raise ConfigurationError(f"expected a largest share in (0, 1], got {self.max_share}")


@dataclass(frozen=True, repr=False)
class TrainingMaterial:
    """All that may be learned from; none of it is secret.

    Args:
        chunks: the sentences of public notes, with their PHI labels.
        vectors: of words.
        scheme: of the labels.
        texts: further public text without labels, which tells what words are common; read once.
        names: lists of names of people and places, each of one kind.
        public_lists: a word is shown as it is only if one of these holds it; by default those that every hospital has.
        notes: which note each sentence of the chunks is of, int64 `[sentences]`; None where nobody knows.
        cache: folder that keeps searches for neighbours; None searches anew.
        checkpoint: file that keeps a training between epochs, and one that was cut goes on by; None keeps nothing.
        copies: augmented ones of sentences of the chunks, which PHI is drawn from and networks learn from, too.
        originals: which sentence of the chunks each sentence of the copies is of, int64 `[copies]`: who judges by a sentence must not have
            learned from its copies.

    Raises:
        ConfigurationError: nobody says of which sentences the copies are.
    """

    chunks: Sequence[TokenisedSentences]
    vectors: WordVectors
    scheme: LabelScheme
    texts: Iterable[str] = ()
    names: tuple[tuple[str, ...], ...] = ()
    cache: Path | None = None
    public_lists: Sequence[PublicList] = field(default_factory=shipped_lists)
    notes: NDArray[np.int64] | None = None
    checkpoint: Path | None = None
    copies: Sequence[TokenisedSentences] = ()
    originals: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        copies = sum(chunk.sentences for chunk in self.copies)
        if len(self.originals) != copies:
            raise ConfigurationError(
                f"expected the sentence of each of {copies} copies, got {len(self.originals)}; give copies and originals together"
            )

    @property
    def with_copies(self) -> list[TokenisedSentences]:
        """The sentences, then the copies."""
        return [*self.chunks, *self.copies]


@dataclass(frozen=True)
class Trained:
    """What a procedure made.

    Args:
        construction: frozen.
        record: what happened, in JSON's types; beside it stand the construction's `facts`.
    """

    construction: Construction
    record: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Procedure:
    """One way to make a construction.

    Args:
        name: of the command line and of the record.
        makes: the construction.
        train: makes one.
        clusters: whether it has a k-anonymous vocabulary, so that it can keep a size of clusters and a largest share.
        narrows: whether it shows public words far from labelled PHI in groups.
        blurs: whether what it shows has passed a trained network and noise.
        rule: when a word may be shown as it is, unless the provider says otherwise.
        augments: which methods of augmentation change what it makes.
    """

    name: str
    makes: type[Construction]
    train: Callable[[TrainingMaterial, TrainingOptions, Progress], Trained]
    clusters: bool = False
    narrows: bool = False
    blurs: bool = False
    rule: PublicRule = _RULE
    augments: tuple[str, ...] = ()

    def check(self, options: TrainingOptions) -> None:
        """Returns if this procedure can keep what the options ask.

        Raises:
            ConfigurationError: it can't.
        """
        if options.hide_casing and not self.makes.replaces_phi:
            raise ConfigurationError(
                f"only surrogates can hide the casing of PHI, got {self.name!r}; choose one of the two"
            )
        if idle := [method for method in options.augment if method not in self.augments]:
            raise ConfigurationError(
                f"--augment {idle[0]}: expected what {self.name} learns from"
                + (f" ({', '.join(self.augments)})" if self.augments else "")
                + ", got what would change nothing of it; leave it out"
            )
        # Who asks for what protects must not believe to have it.
        not_kept = [] if self.narrows else ["common_words", "exact_window", "group_size"]
        not_kept += [] if self.clusters else ["cluster_size"]
        not_kept += [] if self.blurs else ["normalise"]
        for name in not_kept:
            if getattr(options, name) != getattr(TrainingOptions, name):
                raise ConfigurationError(
                    f"--{name.replace('_', '-')}: expected a procedure that keeps it, got {self.name!r}, which shows words otherwise; leave it out, or "
                    "choose another procedure"
                )
        if options.max_share < 1 and not self.clusters:
            raise ConfigurationError(
                f"only a vocabulary of clusters can keep a largest share, got {self.name!r}; choose one of the two"
            )
