"""Rows of the codebook on which a site says something else than the others do, counted; see `codebook_rows` for what a row is.

The test, row by row: given how often the others label the row, would a site that labels it half as often (or, the other way, four
times as often) have so few (or so many) labels? Tokens of one note resemble each other, so CLUSTER of them count as one; and all
rows of a kind together find something by chance in one pool of a hundred (Bonferroni). Sites have words of their own, so each
honest one has some such rows. What tells a liar is how many tokens stand on them, beside the other sites.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median_low

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from aggregator.training.codebook_rows import LEAST_TOKENS, OTHER_SHARE, RowCounts
from aggregator.training.pool import PUBLIC

ALPHA = 0.01
CLUSTER = 2
HALF = 0.5
FACTOR = 4.0
STANDS_OUT = 3.0
"""So many times the tokens that the median site has on such rows, and at least LEAST_SHARE of its PHI. Of two sites the median is the
lower: their mean would grow with what one of them says against the other, and nobody could be three times as far off."""
LEAST_SHARE = 0.02


@dataclass(frozen=True)
class RowFindings:
    """Where a site contradicts the others.

    Args:
        site: its name.
        phi_tokens: that it labels in all.
        hidden_rows: rows that the others call PHI and it does not.
        hidden_tokens: labels that are missing there, against the others' share.
        over_rows: rows that the others do not call PHI and it does.
        over_tokens: labels that it has there beyond the others' share.
    """

    site: str
    phi_tokens: int
    hidden_rows: int
    hidden_tokens: int
    over_rows: int
    over_tokens: int

    def as_json(self) -> dict[str, object]:
        """All figures, for the record."""
        return asdict(self)


def find_contradictions(counts: RowCounts) -> tuple[RowFindings, ...]:
    """What each site says against all others, the provider's own notes among those."""
    return tuple(_of_site(counts, index) for index, site in enumerate(counts.sites) if site != PUBLIC)


def describe_contradictions(found: tuple[RowFindings, ...]) -> dict[str, list[str]]:
    """The sites that stand out among the others, and why, in words."""
    told: dict[str, list[str]] = {}
    for what, tokens, rows in (
        ("unlabelled", "hidden_tokens", "hidden_rows"),
        ("labelled", "over_tokens", "over_rows"),
    ):
        shares = {one.site: getattr(one, tokens) / max(one.phi_tokens, 1) for one in found}
        bound = max(STANDS_OUT * median_low(shares.values()), LEAST_SHARE) if shares else 0.0
        for one in found:
            if shares[one.site] > bound:
                told.setdefault(one.site, []).append(
                    f"{getattr(one, tokens)} tokens are {what} against the other sites, on {getattr(one, rows)} rows "
                    f"of the codebook: {shares[one.site]:.1%} of its PHI"
                )
    return told


def _of_site(counts: RowCounts, index: int) -> RowFindings:
    tokens, phi = counts.tokens[index], counts.phi[index]
    others, theirs = counts.tokens.sum(0) - tokens, counts.phi.sum(0) - phi
    heard = (np.delete(counts.tokens, index, axis=0) >= LEAST_TOKENS).sum(0) >= 2
    share = (theirs + 0.5) / (others + 1)
    asked = heard & (tokens > 0)
    hidden, over = asked & (share >= HALF), asked & (share <= OTHER_SHARE)
    # Each kind of row is a family of its own: there are few that all call PHI, and thousands that nobody does.
    few, many = (ALPHA / max(int(family.sum()), 1) for family in (hidden, over))
    hidden[hidden] = _few(phi[hidden], tokens[hidden], HALF * share[hidden]) < few
    over[over] = _few((tokens - phi)[over], tokens[over], 1 - FACTOR * np.maximum(share[over], OTHER_SHARE)) < many
    return RowFindings(
        counts.sites[index],
        int(phi.sum()),
        int(hidden.sum()),
        round(float((tokens * share - phi)[hidden].sum())),
        int(over.sum()),
        round(float((phi - tokens * share)[over].sum())),
    )


def _few(some: NDArray[np.int64], of: NDArray[np.int64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance of at most `some` hits among `of` trials, by the incomplete beta function, which continues the binomial."""
    few: NDArray[np.float64] = betainc((of - some) / CLUSTER + 1e-9, some / CLUSTER + 1, 1 - chance)
    return few
