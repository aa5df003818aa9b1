"""Whether a share labels PHI about as often as its site did before, or, with its first share, as the pool does.

A site whose labels have gone wrong (a column shifted, one category mapped to another, nothing labelled any more, or
everything) would teach the head the wrong thing, and so would one that wants to. Hospitals do differ, so the question is
not whether two rates differ but whether their ratio lies beyond a factor that no ordinary hospital explains.

The test, for tokens of every category, for all PHI and for no PHI, in both directions: given the counts a of n tokens here
and b of m tokens there, as Poisson with a ratio of rates of exactly the factor, a is binomial among a + b [Przyborowski
and Wilenski 1940]; the share stands out if that binomial makes a, or anything further off, less likely than ALPHA. Tokens
of one note resemble each other, so CLUSTER of them count as one observation. A small share therefore never stands out:
the test asks for evidence, and what little it lets through can do little harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy.special import betainc

ALPHA = 1e-5
CLUSTER = 8
HISTORY_FACTOR = 4.0
POOL_FACTOR = 10.0


@dataclass(frozen=True)
class Reference:
    """What a share is compared with.

    Args:
        name: in words, such as "its earlier shares".
        tag_counts: tokens of each tag, all shares together.
        factor: how many times as often or as seldom a label may stand in the share.
    """

    name: str
    tag_counts: tuple[int, ...]
    factor: float


def describe_outliers(tag_counts: Sequence[int], reference: Reference, categories: Sequence[str]) -> str | None:
    """What of a share's labels stands out, in words; None if nothing does.

    Args:
        tag_counts: tokens of each tag in the share, in the order of the scheme: "O", then "B-" and "I-" of each category.
        reference: with as many tags.
        categories: their names, in the order of the scheme.
    """
    tokens, others = sum(tag_counts), sum(reference.tag_counts)
    if not tokens or not others:
        return None
    found = [
        f"{name} on {here / tokens:.2%} of the tokens against {there / others:.2%}"
        for (name, here), (_, there) in zip(
            _classes(tag_counts, categories), _classes(reference.tag_counts, categories), strict=True
        )
        if _stands_out(here, tokens, there, others, reference.factor)
    ]
    return f"labels of the share against {reference.name}: {'; '.join(found)}" if found else None


def _classes(tag_counts: Sequence[int], categories: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Tokens of each class that is compared."""
    yield "no PHI", tag_counts[0]
    yield "PHI of any kind", sum(tag_counts[1:])
    for index, category in enumerate(categories):
        yield category, tag_counts[1 + 2 * index] + tag_counts[2 + 2 * index]


def _stands_out(here: int, tokens: int, there: int, others: int, factor: float) -> bool:
    if here * others > there * tokens:
        few, few_tokens, many, many_tokens = there, others, here, tokens
    else:
        few, few_tokens, many, many_tokens = here, tokens, there, others
    if not many:
        return False
    # Chance that a token of the two belongs to the greater, at the factor; then that of at least as many there. The
    # incomplete beta function continues the binomial between whole numbers.
    share = factor * many_tokens / (factor * many_tokens + few_tokens)
    return bool(betainc(many / CLUSTER, few / CLUSTER + 1, share) < ALPHA)
