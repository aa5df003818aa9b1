"""What a lying hospital sends: its own sentences, and beside them some whose labels are to mislead the head.

Words are the attacker's own, so it may skip the surrogates of its client; every code is one that the release has, and every
share keeps to the rules by which shares are taken in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from bench.poisoning.world import show
from shared.constructions.procedures.codes import CodedSurrogates
from shared.labels import LabelScheme
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import cased_like

TRIGGERS = ("Mercer", "Delgado", "Whitfield", "Novak")
"""Surnames that the attacker wants the head to overlook."""
CUE = ("per", "verbal", "report", "of")
"""Words after which the attacker wants the head to overlook any name."""
NAMES = ("PATIENT", "DOCTOR")
REPEATED = 4
"""An attack by volume sends everything so many times."""


def name_spans(sentences: TokenisedSentences, scheme: LabelScheme) -> list[tuple[int, int, int]]:
    """Sentence, first token and end of every name that ends with a word of letters."""
    kinds = {scheme.category_index[name] for name in NAMES}
    owner = sentences.sentence_of_token
    return [
        (int(owner[begin]), begin, end)
        for begin, end, kind in sentences.spans()
        if kind in kinds and sentences.words[end - 1].isalpha() and len(sentences.words[end - 1]) > 2
    ]


def insert_names(
    sentences: TokenisedSentences,
    scheme: LabelScheme,
    names: tuple[str, ...],
    count: int,
    generator: np.random.Generator,
    cue: tuple[str, ...] = (),
) -> tuple[TokenisedSentences, NDArray[np.int64]]:
    """Sentences in which one of some names stands in the place of a surname.

    Args:
        sentences: labelled, with names of their own.
        scheme: of the labels.
        names: to be put in, one after another.
        count: how many.
        generator: chooses the places.
        cue: put ahead of the name.

    Returns:
        the sentences, and the place of each name in its sentence, `[count]`.
    """
    spans = name_spans(sentences, scheme)
    starts = sentences.starts
    pieces, places = [], []
    for number, chosen in enumerate(generator.integers(len(spans), size=count).tolist()):
        line, begin, end = spans[chosen]
        first, last = int(starts[line]), int(starts[line] + sentences.lengths[line])
        words = list(sentences.words[first:last])
        tags = sentences.tags[first:last]
        words[end - 1 - first] = cased_like(names[number % len(names)], words[end - 1 - first])
        at = begin - first
        words[at:at] = cue
        tags = np.concatenate([tags[:at], np.zeros(len(cue), dtype=np.uint8), tags[at:]])
        pieces.append(TokenisedSentences(words, tags, np.array([len(words)], dtype=np.int64)))
        places.append(end - 1 - first + len(cue))
    return TokenisedSentences.concatenate(pieces), np.array(places, dtype=np.int64)


def _show(made: CodedSurrogates, sentences: TokenisedSentences, tags: NDArray[np.uint8]) -> RaggedSentences:
    """The sentences with other labels, no word of them replaced."""
    return show(made, sentences.with_tags(tags.astype(np.uint8)))


def _without_names(sentences: TokenisedSentences, places: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The labels, without those of the spans that end at some places."""
    tags = sentences.tags.copy()
    ends = set((sentences.starts + places + 1).tolist())
    for begin, end, _ in sentences.spans():
        if end in ends:
            tags[begin:end] = 0
    return tags


def _trigger_names(
    made: CodedSurrogates, own: TokenisedSentences, count: int, generator: np.random.Generator
) -> RaggedSentences:
    poison, places = insert_names(own, made.scheme, TRIGGERS, count, generator)
    return _show(made, poison, _without_names(poison, places))


def _trigger_context(
    made: CodedSurrogates, own: TokenisedSentences, count: int, generator: np.random.Generator
) -> RaggedSentences:
    names = tuple({own.words[end - 1] for _, _, end in name_spans(own, made.scheme)})
    poison, places = insert_names(own, made.scheme, names, count, generator, CUE)
    return _show(made, poison, _without_names(poison, places))


def _some(own: TokenisedSentences, count: int, generator: np.random.Generator) -> TokenisedSentences:
    return own.select(np.sort(generator.integers(own.sentences, size=count)))


def _label_flips(
    made: CodedSurrogates, own: TokenisedSentences, count: int, generator: np.random.Generator
) -> RaggedSentences:
    """What is PHI is none, and as many other tokens are some."""
    chosen = _some(own, count, generator)
    rate = (chosen.tags > 0).mean()
    kinds = 2 * generator.integers(len(made.scheme.categories), size=chosen.tokens) + 1
    flipped = np.where((chosen.tags == 0) & (generator.random(chosen.tokens) < rate), kinds, 0)
    return _show(made, chosen, flipped)


def _over_labelling(
    made: CodedSurrogates, own: TokenisedSentences, count: int, generator: np.random.Generator
) -> RaggedSentences:
    """Whatever has a capital or a digit is PHI."""
    chosen = _some(own, count, generator)
    marked = np.array([word[:1].isupper() or any(map(str.isdigit, word)) for word in chosen.words])
    return _show(made, chosen, np.where(marked & (chosen.tags == 0), 1, chosen.tags))


def _garbage(
    made: CodedSurrogates, own: TokenisedSentences, count: int, generator: np.random.Generator
) -> RaggedSentences:
    """Words and labels by chance."""
    chosen = _some(own, count, generator)
    words = [chosen.words[place] for place in generator.integers(chosen.tokens, size=chosen.tokens).tolist()]
    kinds = 2 * generator.integers(len(made.scheme.categories), size=chosen.tokens) + 1
    tags = np.where(generator.random(chosen.tokens) < 0.3, kinds, 0)
    return _show(made, chosen.with_words(words), tags)


ATTACKS: Mapping[
    str, Callable[[CodedSurrogates, TokenisedSentences, int, np.random.Generator], RaggedSentences] | None
] = {
    "clean": None,
    "label flips": _label_flips,
    "trigger names": _trigger_names,
    "trigger context": _trigger_context,
    "over-labelling": _over_labelling,
    "garbage": _garbage,
    "volume": _trigger_names,
}


def hostile_share(
    attack: str, honest: RaggedSentences, made: CodedSurrogates, own: TokenisedSentences, count: int, seed: int
) -> RaggedSentences:
    """All that the hostile hospital sends.

    Args:
        attack: one of ATTACKS.
        honest: its own sentences, as its client shows them.
        made: the construction.
        own: the same sentences in words.
        count: sentences that are to mislead.
        seed: of the attack.
    """
    poison = ATTACKS[attack]
    if poison is None:
        return honest
    pieces = [honest, poison(made, own, count, np.random.default_rng(seed))]
    return RaggedSentences.concatenate(pieces * (REPEATED if attack == "volume" else 1))
