"""How far two people agree who labelled the same notes: Cohen's kappa on tokens, F1 on spans.

Kappa (Cohen, "A coefficient of agreement for nominal scales", 1960) is (o - e) / (1 - e): o the share of tokens to which both give the same
category, none being one of them, and e the share that chance alone would give, from how often each of them uses each category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from shared.document import Document
from shared.labels import LabelScheme, encode_tags, tag_categories
from shared.text.tokens import tokenise
from site_client.errors import ReviewError
from site_client.review.project import Project

Category = TypeVar("Category")
T = TypeVar("T")
_NONE = -1


@dataclass(frozen=True)
class Difference:
    """A span of one person that the other does not have so.

    Args:
        document: id of its note.
        start, end: of it.
        category: of it.
        whose: 1 or 2, who has it.
    """

    document: str
    start: int
    end: int
    category: str
    whose: int


@dataclass(frozen=True)
class Agreement:
    """Two people's work.

    Args:
        notes: that both have finished.
        tokens: of them.
        kappa: on tokens, with categories; None where both use one category alone, so that chance can't be beaten.
        kappa_phi: the same on whether a token is PHI.
        f1: of spans with the same ends and category; None where neither has a span.
        f1_ends: of spans with the same ends.
        by_category: the first of these for each category.
        differences: spans that only one has so.
    """

    notes: int
    tokens: int
    kappa: float | None
    kappa_phi: float | None
    f1: float | None
    f1_ends: float | None
    by_category: dict[str, float | None]
    differences: tuple[Difference, ...]

    def as_json(self) -> dict[str, object]:
        """For other programs."""
        return {
            **{name: getattr(self, name) for name in ("notes", "tokens", "kappa", "kappa_phi", "f1", "f1_ends")},
            "by_category": self.by_category,
            "differences": [vars(one) for one in self.differences],
        }


def compare(first: Project, second: Project) -> Agreement:
    """Compare what both have finished.

    Raises:
        ReviewError: they have no finished note in common, other categories, or other texts under one id.
    """
    if first.scheme.categories != second.scheme.categories:
        raise ReviewError(
            f"expected two reviews with the same categories, got those of {first.scheme.name} and {second.scheme.name}; compare others"
        )
    pairs = list(_pairs(first.labelled(), second.labelled()))
    if not pairs:
        raise ReviewError("expected a note that both have finished, got none; finish the same notes in both")
    tokens: Counter[tuple[int, int]] = Counter()
    spans: tuple[set[tuple[str, int, int, str]], set[tuple[str, int, int, str]]] = (set(), set())
    for pair in pairs:
        tokens.update(_token_pairs(*pair, first.scheme))
        for held, document in zip(spans, pair, strict=True):
            held.update((document.identifier, span.start, span.end, span.category) for span in document.annotations)
    phi: Counter[tuple[bool, bool]] = Counter()
    for (one, other), count in tokens.items():
        phi[one != _NONE, other != _NONE] += count
    return Agreement(
        len(pairs),
        sum(tokens.values()),
        kappa(tokens),
        kappa(phi),
        _f1(*spans),
        _f1(*({span[:3] for span in held} for held in spans)),
        {
            category: _f1(*({span for span in held if span[3] == category} for held in spans))
            for category in first.scheme.categories
            if any(span[3] == category for held in spans for span in held)
        },
        tuple(
            Difference(*span, whose)
            for whose, (own, other) in enumerate((spans, spans[::-1]), start=1)
            for span in sorted(own - other)
        ),
    )


def kappa(pairs: Counter[tuple[Category, Category]]) -> float | None:
    """Cohen's kappa of pairs of categories with their counts; None where it is 0 / 0."""
    total = sum(pairs.values())
    ones: Counter[Category] = Counter()
    others: Counter[Category] = Counter()
    for (one, other), count in pairs.items():
        ones[one] += count
        others[other] += count
    # In whole numbers, so that full agreement is exactly 1.
    chance = sum(count * others[category] for category, count in ones.items())
    same = sum(count for (one, other), count in pairs.items() if one == other)
    if chance == total * total:
        return None
    return (same * total - chance) / (total * total - chance)


def _pairs(first: Iterable[Document], second: Iterable[Document]) -> Iterator[tuple[Document, Document]]:
    others = {document.identifier: document for document in second}
    for one in first:
        other = others.get(one.identifier)
        if other is None:
            continue
        if other.text != one.text:
            raise ReviewError(f"{one.identifier}: expected the same text in both reviews, got two; compare others")
        yield one, other


def _token_pairs(one: Document, other: Document, scheme: LabelScheme) -> Iterator[tuple[int, int]]:
    spans = tokenise(one.text).spans
    first, second = (tag_categories(encode_tags(spans, document, scheme)).tolist() for document in (one, other))
    return zip(first, second, strict=True)


def _f1(one: AbstractSet[T], other: AbstractSet[T]) -> float | None:
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else None
