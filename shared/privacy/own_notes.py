"""What a hospital's own labelled notes show of a release, before anything is encoded from them.

One pass over the notes: every token is compared with the bank, and a sample of the sentences with labelled PHI, drawn by chance that nobody
else knows, is put to two tests. The words outside labels are counted, for a release shows some by themselves wherever they stand. Nothing of the
result names a word of the notes, or a note.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.telling_spans import SpanSearch
from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.constructions.construction import Construction
from shared.constructions.promised import PublicList, RecomputedOnNotes
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError
from shared.labels import HIDDEN_TAG
from shared.privacy.noninterference import find_interfering
from shared.privacy.white_box import pair_accuracies
from shared.privacy.word_pairs import WhiteBoxSettings, WordPairs
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.language import every_function_word
from shared.text.tokens import Tokens

_QUANTILE = 0.95
COMMONEST = 500
"""Words of the notes that are common there; of notes with fewer nothing is said."""


@dataclass(frozen=True)
class NotesSample:
    """How much is looked at; the default takes a few seconds beyond the reading of the notes.

    Args:
        sentences: with labelled PHI, at most.
        neighbours: N, words that an attacker holds against a PHI word, itself included; no more than are shown differently.
        pairs: of these for each PHI word, at most.
        seed: of what is drawn; None for one that nobody can know ahead.

    Raises:
        ConfigurationError: a value out of range.
    """

    sentences: int = 200
    neighbours: int = 100
    pairs: int = 4
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.sentences < 1 or self.neighbours < 2 or self.pairs < 1:
            raise ConfigurationError(
                f"own notes: expected at least 1 sentence, 2 neighbours and 1 pair, got {self.sentences}, {self.neighbours} and "
                f"{self.pairs}; choose others"
            )


def recompute_on_notes(
    construction: Construction,
    documents: Iterable[Document],
    lists: Sequence[PublicList],
    sample: NotesSample | None = None,
) -> RecomputedOnNotes:
    """What labelled notes show of a construction; the notes are read once, as a stream.

    Args:
        construction: of the release.
        documents: labelled notes, their labels those of the release or HIDDEN.
        lists: public words, as in `Construction.recompute`.
        sample: how much is looked at; None for the default.

    Raises:
        LabelError: a label is not in the scheme of the release.
    """
    sample = sample or NotesSample()
    generator = np.random.default_rng(secrets.randbits(128) if sample.seed is None else sample.seed)
    bank = construction.surrogate_bank
    spans = () if bank is None else tuple(words for _, words in (*bank.spans, *bank.later))
    search, drawn, used = SpanSearch(spans, lists), _Drawn(sample.sentences, generator), Counter[str]()
    for chunk in tokenised_chunks(_searched(documents, search), construction.scheme):
        used.update(chunk.words[token].lower() for token in np.flatnonzero(chunk.tags == 0).tolist())
        # What is labelled and has no category leaves as a surrogate, or not at all.
        kept = chunk if construction.replaces_phi else chunk.leave_out(chunk.sentences_with(chunk.tags == HIDDEN_TAG))
        drawn.add(kept)
    chosen = drawn.chunk()
    tried = find_interfering(construction, chosen, generator) if chosen.sentences else None
    narrowed = construction.narrowed
    asked, uncommon = _uncommon(() if narrowed is None else narrowed.words, used)
    return RecomputedOnNotes(
        sentences=chosen.sentences,
        interfering=0 if tried is None else int(tried.interfering.sum()),
        bank_spans_in_notes=search.found,
        advantage=None if construction.gaussian_noise is None else _advantage(construction, chosen, sample, generator),
        compared=0 if tried is None else len(np.unique(chosen.sentence_of_token[tried.changed])),
        labelled=0 if tried is None else int(tried.could_change.sum()),
        changed=0 if tried is None else int(tried.changed.sum()),
        asked=asked,
        uncommon=uncommon,
    )


def _uncommon(common: Sequence[str], used: Counter[str]) -> tuple[int, tuple[str, ...]]:
    """How many common words of a release tell something, and those of them that are not common in the notes.

    Punctuation and short words that hold sentences together are common everywhere, and tell nothing.

    Args:
        common: words that a release shows wherever they stand.
        used: how often the notes have each word outside labels, in small letters.
    """
    words = Counter({word: count for word, count in used.items() if not is_punctuation(word)})
    if len(words) < COMMONEST:
        return 0, ()
    usual = every_function_word().union(word for word, _ in words.most_common(COMMONEST))
    asked = [word for word in common if not is_punctuation(word) and word not in every_function_word()]
    return len(asked), tuple(word for word in asked if word not in usual)


def _searched(documents: Iterable[Document], search: SpanSearch) -> Iterator[tuple[Document, Tokens]]:
    """The documents with their tokens, once these were compared with the bank."""
    for document, tokens in tokenise_documents(documents):
        search.add(tokens.words)
        yield document, tokens


def _advantage(
    construction: Construction, chunk: TokenisedSentences, sample: NotesSample, generator: np.random.Generator
) -> float:
    """Of the best attacker who holds each PHI word against some of its neighbours."""
    vectors = construction.distinct_vectors()
    settings = WhiteBoxSettings(draws=1, neighbours=sample.pairs, seed=int(generator.integers(2**31)))
    pseudonyms = Pseudonymiser(Neighbours(vectors), min(sample.neighbours, len(vectors)))
    noise = torch.Generator().manual_seed(settings.seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = pair_accuracies(construction, chunk, WordPairs(pseudonyms, settings), noise).accuracy
    if not len(found):
        return 0.0
    # Without noise nothing divided by nothing is no number, and no protection either.
    return float(np.quantile(np.nan_to_num(2 * found - 1, nan=1.0), _QUANTILE, method="higher"))


class _Drawn:
    """Sentences with labelled PHI, each as likely as any other, whatever the number of notes.

    Args:
        most: so many are kept.
        generator: of the choice.
    """

    def __init__(self, most: int, generator: np.random.Generator) -> None:
        self._most, self._generator = most, generator
        self._kept: list[tuple[float, tuple[str, ...], NDArray[np.uint8]]] = []

    def add(self, chunk: TokenisedSentences) -> None:
        """Each sentence draws a number; those with the lowest stay."""
        rows = np.asarray(chunk.rows_with_phi(), dtype=np.int64)
        numbers = self._generator.random(len(rows))
        lowest = np.argsort(numbers)[: self._most]
        sentences = chunk.select(rows[lowest]).split()
        both = [(number, *one) for number, one in zip(numbers[lowest].tolist(), sentences, strict=True)]
        self._kept = sorted([*self._kept, *both], key=lambda one: one[0])[: self._most]

    def chunk(self) -> TokenisedSentences:
        """Those that stayed."""
        words = [word for _, sentence, _ in self._kept for word in sentence]
        tags = np.concatenate([np.zeros(0, dtype=np.uint8), *(tags for _, _, tags in self._kept)])
        lengths = np.array([len(sentence) for _, sentence, _ in self._kept], dtype=np.int64)
        return TokenisedSentences(words, tags, lengths)
