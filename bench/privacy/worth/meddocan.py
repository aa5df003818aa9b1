"""What shares of codes are worth beside what anybody reads in them: MEDDOCAN, a provider of 50 notes and hospitals of 450.

All three sides get the same inputs, both views of a word, and equally many steps, and learn as a provider's head does by default: from recased
copies too, half of the sentences without PHI sitting out each pass. What is read is counted over the words of the development notes that are no PHI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from aggregator.training.representer import PublicMaterial
from bench import corpora
from bench.outcomes import Comparison, Outcome, load_or_measure, score_pipeline
from bench.privacy.material import PROVIDER_NOTES, background, public_documents, spanish, spanish_names
from bench.privacy.worth.pool import ALONE, RAW, SHARES, STEPS, trained_as_provider
from bench.privacy.worth.sides import Sides
from bench.results import Entry
from shared.augment.augmentation import Augmentation
from shared.augment.recasing import Recasing
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus

COMMAND = "python -m bench.results_privacy worth"
DATA = "meddocan/dev"
SEEDS = (1, 2, 3)
RECASED = Augmentation((Recasing(),))
"""Copies of sentences that are not English, as `train-head` makes them by default."""
# A content word has so many letters, and is not among so many commonest words of the notes.
_LETTERS, _COMMONEST = 4, 200
_FEW_DOCUMENTS = 20
_NOTE = (
    f"50 provider and 450 hospital notes, fastText of public text, {STEPS:,} steps for every side, all with both views, the last weights of each, half of the "
    "sentences without PHI sitting out each pass, recased copies; what is shown was chosen by the joining of sentences of training notes"
)


def measure() -> list[Entry]:
    """Worth and what is read, as entries."""
    found = [[_outcome(side, seed) for seed in SEEDS] for side in (ALONE, RAW, SHARES)]
    compared = Comparison(*found)
    commits = ", ".join(sorted({one.commit for side in found for one in side}))
    entries = []
    for kind, name, target in (("entities", "strict", 0.75), ("tokens", "token-binary", 0.65)):
        value, interval = compared.gain(kind)
        means = [
            float(np.mean([getattr(one, f"{kind[:-1] if kind == 'tokens' else 'entity'}_f1") for one in side]))
            for side in found
        ]
        note = f"F1 alone {means[0]:.4f}, raw {means[1]:.4f}, shares {means[2]:.4f}; {_NOTE}"
        entries.append(
            _entry(
                f"worth of a share of codes, {name}",
                value,
                target,
                ">=",
                interval,
                len(SEEDS),
                note,
                "of what raw notes add",
                commits,
            )
        )
    return entries + _read_entries()


def _outcome(side: str, seed: int) -> Outcome:
    found = load_or_measure(
        f"worth-{STEPS}-{side}-{seed}",
        lambda: asdict(score_pipeline(trained_as_provider(sides(), side, seed, RECASED), corpora.meddocan("dev"))),
    )
    return Outcome.of(found)


@cache
def sides() -> Sides:
    """MEDDOCAN's training notes, 50 of them the provider's."""
    notes = corpora.meddocan("train")
    provider, hospital = notes[:PROVIDER_NOTES], notes[PROVIDER_NOTES:]
    return Sides(provider, {"hospital": hospital}, spanish(), list(background()), spanish_names(), "meddocan")


def public_material() -> PublicMaterial:
    """What the provider has."""
    return sides().material()


def construction() -> CodedSurrogates:
    """The default construction of the provider."""
    return sides().construction


@dataclass(frozen=True)
class Reading:
    """Words outside PHI that anybody reads exactly in a share, and how many there are.

    Args:
        words: all of them.
        content: content words.
        rare: content words that few public documents hold.
    """

    words: tuple[int, int]
    content: tuple[int, int]
    rare: tuple[int, int]

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Reading:
        """As it was kept."""
        return cls(*(tuple(kept[name]) for name in ("words", "content", "rare")))


def read_exactly(made: CodedSurrogates, notes: list[Document], kept: NDArray[np.bool_] | None = None) -> Reading:
    """What is read of a share of these notes.

    Args:
        made: the construction.
        notes: labelled.
        kept: which of their tokens are in the share, bool `[tokens]`; None for all.
    """
    sentences = tokenised_corpus(notes, made.scheme)
    codes = made.codes(made.replaced(sentences, torch.Generator().manual_seed(0)))
    outside, exact = sentences.tags == 0, codes < len(made.vectors)
    if kept is not None:
        exact &= kept
    content = outside & _is_content(sentences)
    rare = content & _is_rare(sentences)

    def counts(chosen: NDArray[np.bool_]) -> tuple[int, int]:
        return int((exact & chosen).sum()), int(chosen.sum())

    return Reading(counts(outside), counts(content), counts(rare))


def _is_content(sentences: TokenisedSentences) -> NDArray[np.bool_]:
    lowered = [word.lower() for word in sentences.words]
    commonest = {word for word, _ in Counter(filter(str.isalpha, lowered)).most_common(_COMMONEST)}
    return np.array([len(word) >= _LETTERS and word.isalpha() and word not in commonest for word in lowered])


def _is_rare(sentences: TokenisedSentences) -> NDArray[np.bool_]:
    documents = public_documents()
    return np.array([documents[word.lower()] < _FEW_DOCUMENTS for word in sentences.words])


def _read_entries() -> list[Entry]:
    kept = load_or_measure("worth-read", lambda: asdict(read_exactly(construction(), corpora.meddocan("dev"))))
    read, entries = Reading.of(kept), []
    for name, (hits, total), target in (
        ("words that are no PHI", read.words, None),
        ("content words", read.content, 0.10),
        (f"content words in fewer than {_FEW_DOCUMENTS} public documents", read.rare, 0.02),
    ):
        note = f"{hits} of {total}; the code of a public word is the word; content words have {_LETTERS} letters and are not among the {_COMMONEST} commonest of the notes"
        entries.append(
            _entry(
                f"read exactly in a share of codes: {name}",
                hits / total,
                target,
                "<=",
                None,
                1,
                note,
                "of these words",
                kept["commit"],
            )
        )
    return entries


def _entry(
    measure: str,
    value: float,
    target: float | None,
    direction: str,
    interval: tuple[float, float] | None,
    seeds: int,
    note: str,
    unit: str,
    commit: str,
) -> Entry:
    rounded = None if interval is None else (round(interval[0], 4), round(interval[1], 4))
    return Entry(
        measure,
        round(value, 4),
        target,
        direction if target is not None else "",
        unit,
        rounded,
        seeds,
        DATA,
        COMMAND,
        note,
        commit,
    )
