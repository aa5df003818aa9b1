"""`majority`: a label does not count where it says what most other sites deny.

Row by row of the codebook, with and without the row beside it: where most of the others label nearly every token of a row, a
token there without a label is outvoted. That is how names are hidden from a head: by leaving them unlabelled. What a site labels
and others do not is mostly a way of writing that only this site has, so such labels go only from a site that has far more of
them than the others have. The rest of the sentence trains the head as it is, over all tags that the outvoted token may have:
an honest hospital that uses a word in its own way loses no sentence by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from aggregator.training.codebook_rows import Place, RowCounts, count_rows
from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Taken, read_blocks
from shared.sentences.ragged import RaggedSentences

OVER_LABELLING = 3.0
"""So many times as often as the median site, and at least LEAST_OVER_LABELLING of the tokens, is far more often."""
LEAST_OVER_LABELLING = 0.05


@dataclass(frozen=True)
class RowVotes:
    """What the sites say of rows by themselves, and of rows beside others.

    Args:
        counts: for each Place.
    """

    counts: Mapping[Place, RowCounts]

    @classmethod
    def count(cls, material: PoolMaterial) -> RowVotes:
        """Of all that is in the pool."""
        return cls({place: count_rows(material.payloads, place) for place in Place})

    def outvoted(self, site: str, sentences: RaggedSentences) -> NDArray[np.int8]:
        """Which labels of a site most others deny: 1 for a label that is missing, -1 for one too many; int8 `[tokens]`."""
        verdicts = []
        for counts in self.counts.values():
            verdicts.append(counts.verdicts(site)[counts.rows_of(sentences)])
        phi, other = np.max(verdicts, axis=0) > 0, np.min(verdicts, axis=0) < 0
        labelled = sentences.tags > 0
        # A row by itself and beside its neighbours must not be said to be both.
        missing, extra = phi & ~other & ~labelled, other & ~phi & labelled
        return missing.astype(np.int8) - extra.astype(np.int8)


class RowMajority(Selection):
    """Most sites decide what a row is."""

    name = "majority"
    title = "labels that most other sites deny, row by row, do not count"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection. Where equal rows are no equal words, there is no vote, and all are taken."""
        sites = [site for site in material.payloads if site != PUBLIC]
        if not material.token_local:
            return {}
        votes = RowVotes.count(material)
        over = _over_labelling(votes.counts[Place.ALONE])
        return {
            path: Taken(unknown=tuple(_denied(votes, site, block, over=site in over) for block in read_blocks(path)))
            for site in sites
            for path in material.payloads[site]
        }


def _denied(votes: RowVotes, site: str, block: RaggedSentences, *, over: bool) -> NDArray[np.bool_]:
    outvoted = votes.outvoted(site, block)
    denied: NDArray[np.bool_] = (outvoted > 0) | ((outvoted < 0) & over)
    return denied


def _over_labelling(counts: RowCounts) -> set[str]:
    """The sites that label what others do not far more often than the median site."""
    rates = {}
    for index, site in enumerate(counts.sites):
        denied = counts.verdicts(site) < 0
        rates[site] = counts.phi[index][denied].sum() / max(counts.tokens[index][denied].sum(), 1)
    bound = max(OVER_LABELLING * median(rates.values()), LEAST_OVER_LABELLING)
    return {site for site, rate in rates.items() if rate > bound and site != PUBLIC}
