"""Residual pattern: how many people still look alike once a share shows how their PHI is written?

Surrogates hide which words PHI is made of; number of tokens, casing and punctuation of some categories remain, see `docs/privacy.md`. A
single one tells nobody, but who knows all of a patient may be left with one record. So the attacker knows everything of many patients, put
together from the PHI of notes, and asks how many of them look like no other.

What a share shows of a span is computed by the release itself, under chance that is the same for all spans: two spans look alike where all
that is shown of them is equal, in every draw. Where noise lies over the rows, lengths, casing and tags alone are compared.

The patients are many and the notes that they are put together from may be few: of few notes nobody has a look that only one in a
thousand has, so too few patients are alone. So what the figures rest on is the number of notes, their interval is over notes, and a
figure of its own tells that there were many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.constructions.construction import Construction
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import LabelScheme, categories_known_of_patients
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.statistics.finding import Finding, proportion
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus

_FINDS, _ALONE = "residual pattern", "patients who look like no other"
_RESAMPLES = 200
# Patients are put together anew for each, which takes longer.
_NOTE_RESAMPLES = 100
# Of generated notes whose addresses show their lengths 5% of patients are alone by 60 notes, 15% by 240 and 19% by 400.
_MANY_NOTES = 200
_MOST_NUMBERS = 2**62

Span: TypeAlias = tuple[str, ...]
"""The tokens of a labelled span. These may be PHI: never log them."""
Looks: TypeAlias = Mapping[int, Mapping[Span, int]]
"""For each category the look of each of its spans; two of the same number can't be told apart."""


@dataclass(frozen=True)
class PatternSettings:
    """How the attack is run.

    Args:
        patients: that are put together.
        spans: of a category, at most, that they are put together from; so many of a category are compared.
        draws: of the share, in each of which two spans must look alike.
        seed: of patients and spans.
    """

    patients: int = 10_000
    spans: int = 5000
    draws: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.patients - 1, self.spans, self.draws) < 1:
            raise ConfigurationError("residual pattern: expected every setting from 1, patients from 2")


def residual_pattern(
    encoder: Construction,
    known: Iterable[Document],
    attacked: Sequence[Document],
    settings: PatternSettings,
    also_known: Mapping[str, Iterable[str]] | None = None,
) -> list[Finding]:
    """How many patients, and how many attacked notes, look like no other patient.

    Args:
        encoder: the release.
        known: labelled public notes.
        attacked: labelled notes; patients have the spans of both.
        settings: how many of everything.
        also_known: other knowledge that is to be tried, by its name: categories that are known besides.

    Returns:
        The patients that look like no other, by what people know of them and by PHI of every category, the first once more where
        the notes are many; the attacked notes that look like at most one patient; and for each category the bits that the look of a
        span tells.

    Raises:
        ConfigurationError: the notes hold no PHI.
    """
    rng = np.random.default_rng(settings.seed)
    owned = _owned([*known, *attacked], encoder.scheme, settings.spans, rng)
    spans = {category: [span for _, span in listed] for category, listed in owned.items()}
    if not spans:
        raise ConfigurationError("residual pattern: expected labelled PHI to put patients together from, got none")
    firsts = [_firsts(note, encoder.scheme) for note in attacked]
    # Also spans that were not drawn need a look: without one a note fits everybody.
    asked = {
        category: [*drawn, *(own[category] for own in firsts if category in own)] for category, drawn in spans.items()
    }
    looks = looks_of(encoder, asked, settings.draws)
    every = sorted(spans)
    listed = categories_known_of_patients(encoder.scheme)
    known_of = [category for category in every if category in listed] or every
    drawn = {
        category: _Looks([looks[category][span] for span in spans[category]], [note for note, _ in owned[category]])
        for category in every
    }
    patients = {category: drawn[category].draw(settings.patients, rng) for category in every}
    tried = {"what people know of them": known_of}
    for name, categories in (also_known or {}).items():
        besides = {encoder.scheme.category_index[category] for category in categories}
        tried[name] = [category for category in every if category in besides.union(known_of)]
    tried["PHI of every category"] = every
    found = [
        _alone(f"by {name}, of {settings.patients}", patients, drawn, encoder.scheme, chosen, settings)
        for name, chosen in tried.items()
    ]
    if found[0].trials >= _MANY_NOTES:
        found.append(replace(found[0], measure=f"{_ALONE}, put together from at least {_MANY_NOTES} notes"))
    found.append(_notes_alone(firsts, looks, {one: patients[one] for one in known_of}, settings))
    return found + [_bits(encoder.scheme, category, looks, spans[category], settings, rng) for category in every]


def looks_of(encoder: Construction, spans: Mapping[int, Sequence[Span]], draws: int) -> dict[int, dict[Span, int]]:
    """What a share shows of each span, as numbers that are equal where nobody can tell two spans of a category apart.

    Args:
        encoder: the release.
        spans: of each category.
        draws: see PatternSettings.
    """
    looks: dict[int, dict[Span, int]] = {}
    for category, listed in spans.items():
        different = list(dict.fromkeys(listed))
        shown = [b""] * len(different)
        for draw in range(draws):
            pieces = _shown(encoder, category, different, _SameChance((draw + 0.5) / draws))
            shown = [before + piece for before, piece in zip(shown, pieces, strict=True)]
        number = {one: index for index, one in enumerate(dict.fromkeys(shown))}
        looks[category] = {span: number[one] for span, one in zip(different, shown, strict=True)}
    return looks


class _SameChance:
    """Draws the same number for every token, so that what differs between two spans is of the spans; and no noise."""

    def __init__(self, chance: float) -> None:
        self._chance = chance

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return np.zeros(shape, dtype=np.float32)

    def random(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return np.full(shape, self._chance)


def _shown(encoder: Construction, category: int, spans: Sequence[Span], chance: _SameChance) -> Iterator[bytes]:
    """All that a share shows of spans, each a sentence of its own."""
    lengths = np.array([len(span) for span in spans], dtype=np.int64)
    tags = np.full(int(lengths.sum()), 2 * category + 2, dtype=np.uint8)
    tags[np.cumsum(lengths) - lengths] = 2 * category + 1
    chunk = TokenisedSentences([word for span in spans for word in span], tags, lengths)
    chunk = encoder.with_public_lengths(chunk, chance)
    share, features = encoder.rehearse_share(chunk, chance), encoder.rehearse_features(chunk, chance)
    # Adding zero turns -0 into 0.
    rows = np.zeros((share.tokens, 0)) if encoder.gaussian_noise is not None else share.values + np.float16(0)
    for start, length in zip(share.starts.tolist(), share.lengths.tolist(), strict=True):
        own = slice(start, start + length)
        columns = (rows[own], share.casing[own], share.tags[own], features[own])
        yield b"".join(np.ascontiguousarray(column).tobytes() for column in columns) + length.to_bytes(4, "big")


def _spans(chunk: TokenisedSentences, scheme: LabelScheme) -> dict[int, list[Span]]:
    """The spans of each category, as often as they stand there."""
    found: dict[int, list[Span]] = {}
    for start, end, category in chunk.spans():
        if category < len(scheme.categories):
            found.setdefault(category, []).append(tuple(chunk.words[start:end]))
    return found


def _owned(
    notes: Sequence[Document], scheme: LabelScheme, most: int, rng: np.random.Generator
) -> dict[int, list[tuple[int, Span]]]:
    """At most so many spans of each category, by chance, each with the number of its note."""
    found: dict[int, list[tuple[int, Span]]] = {}
    for number, note in enumerate(notes):
        for category, spans in _spans(tokenised_corpus([note], scheme), scheme).items():
            found.setdefault(category, []).extend((number, span) for span in spans)
    return {
        category: [listed[index] for index in rng.permutation(len(listed))[:most].tolist()]
        for category, listed in sorted(found.items())
    }


class _Looks:
    """Looks of a category that patients are drawn from.

    Args:
        looks: of spans. notes: of the same.
    """

    def __init__(self, looks: Sequence[int], notes: Sequence[int]) -> None:
        self.looks, self.notes = np.array(looks, dtype=np.int64), np.array(notes, dtype=np.int64)

    def draw(
        self, patients: int, rng: np.random.Generator, weights: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """The look of each of so many patients, int64 `[patients]`, each span as likely as the weight of its note."""
        weight = None if weights is None else weights[self.notes]
        if weight is None or not weight.any():
            return rng.choice(self.looks, patients)
        return rng.choice(self.looks, patients, p=weight / weight.sum())


def _alone(
    known: str,
    patients: Mapping[int, NDArray[np.int64]],
    drawn: Mapping[int, _Looks],
    scheme: LabelScheme,
    categories: Sequence[int],
    settings: PatternSettings,
) -> Finding:
    """The patients that look like no other; the interval is a bootstrap over notes, laid around the value.

    Whole notes that are drawn again hold fewer looks than the notes, so that the figure falls; how far it spreads is what counts.
    """
    value = _share_alone([patients[category] for category in categories])
    rng = np.random.default_rng((settings.seed, 1))
    notes = np.unique(np.concatenate([drawn[category].notes for category in categories]))
    again = np.empty(_NOTE_RESAMPLES)
    for index in range(_NOTE_RESAMPLES):
        weights = np.bincount(rng.choice(notes, len(notes)), minlength=int(notes.max()) + 1)
        looks = [drawn[category].draw(settings.patients, rng, weights) for category in categories]
        again[index] = _share_alone(looks)
    low, high = np.clip(value + np.quantile(again, [0.025, 0.975]) - again.mean(), 0, 1)
    names = ", ".join(scheme.categories[category] for category in categories)
    return Finding(
        _FINDS,
        f"{_ALONE} {known}",
        value,
        0.0,
        (min(float(low), value), max(float(high), value)),
        len(notes),
        f"the release, and PHI of these categories of every patient: {names}",
        settings.seed,
    )


def _share_alone(looks: Sequence[NDArray[np.int64]]) -> float:
    """How many of the patients have looks that no other has, of each category int64 `[patients]`."""
    together, numbers = np.zeros(len(looks[0]), dtype=np.int64), 1
    for one in looks:
        size = int(one.max()) + 1
        if numbers * size > _MOST_NUMBERS:
            _, together = np.unique(together, return_inverse=True)
            numbers = int(together.max()) + 1
        together, numbers = together * size + one, numbers * size
    # Sorting once, where numbers suffice: by far the most that the figure costs.
    together.sort()
    other = np.concatenate([[True], together[1:] != together[:-1], [True]])
    return float((other[1:] & other[:-1]).sum() / len(together))


def _firsts(note: Document, scheme: LabelScheme) -> dict[int, Span]:
    """The first span of each category."""
    return {category: spans[0] for category, spans in _spans(tokenised_corpus([note], scheme), scheme).items()}


def _notes_alone(
    firsts: Sequence[Mapping[int, Span]],
    looks: Looks,
    patients: Mapping[int, NDArray[np.int64]],
    settings: PatternSettings,
) -> Finding:
    """The attacked notes whose first span of each category looks like that of no patient but, perhaps, the one it is of."""
    alone = 0
    for own in firsts:
        fits = np.ones(settings.patients, dtype=np.bool_)
        for category, listed in patients.items():
            if category in own:
                fits &= listed == looks[category][own[category]]
        alone += int(fits.sum()) <= 1
    knowledge = "a share whose sentences are put together to notes, the release, and what people know of every patient"
    measure = f"notes that look like at most one patient, of {settings.patients}"
    return proportion(_FINDS, measure, alone, len(firsts), 0.0, knowledge, settings.seed)


def _bits(
    scheme: LabelScheme,
    category: int,
    looks: Looks,
    spans: Sequence[Span],
    settings: PatternSettings,
    rng: np.random.Generator,
) -> Finding:
    """Entropy of the look of a category."""
    counts = np.bincount([looks[category][span] for span in spans])
    drawn = [_entropy(resampled) for resampled in rng.multinomial(len(spans), counts / len(spans), size=_RESAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    name = scheme.categories[category]
    # The entropy of a resample is too small: it has seen fewer looks.
    value = _entropy(counts)
    interval = (min(float(low), value), max(float(high), value))
    return Finding(
        _FINDS,
        f"what the look of a span tells, {name}",
        value,
        0.0,
        interval,
        len(spans),
        "the release",
        settings.seed,
        "bits",
        name,
    )


def _entropy(counts: NDArray[np.int64]) -> float:
    """In bits."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum() + 0.0)


class ResidualPattern(Attack[PatternSettings]):
    """How many people look alike by the pattern of their PHI."""

    name = _FINDS
    key = "pattern"
    quick = (PatternSettings(spans=500, draws=4),)
    full = (PatternSettings(),)
    finds = (_FINDS,)

    def run(self, scene: Scene, settings: PatternSettings) -> list[Finding]:
        """See `residual_pattern`."""
        return residual_pattern(scene.encoder, scene.material.known, scene.material.target, settings)


RESIDUAL_PATTERN = ResidualPattern()
