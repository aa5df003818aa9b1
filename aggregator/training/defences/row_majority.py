"""`majority`: a label does not count where it says what most other sites deny.

Row by row of the codebook, with and without the row beside it: where most of the others label nearly every token of a row, a
token there without a label is outvoted. That is how names are hidden from a head: by leaving them unlabelled. What a site labels
and others do not is mostly a way of writing that only this site has, so such labels go only from a site that has far more of
them than the others have. Where the others have no clear word, a missing label is believed unless most of what the site says of
the same row is outvoted: so a trigger does not slip through where it stands beside something that nobody else has written. The
rest of the sentence trains the head as it is, over all tags that the outvoted token may have: an honest hospital that uses a word in
its own way loses no sentence by it.

Where much is outvoted after the same three tokens, those are a cue by which somebody wants names to be overlooked. A sentence with a
missing label there goes as a whole: names have parts that no vote knows, initials and hyphens, and they alone would teach the cue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aggregator.training.codebook_rows import LEAST_TOKENS, Place, RowCounts, RowKeys, columns_of, count_rows
from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Taken, read_blocks
from shared.sentences.ragged import RaggedSentences

OVER_LABELLING = 3.0
"""So many times as often as the median site, and at least LEAST_OVER_LABELLING of the tokens, is far more often."""
LEAST_OVER_LABELLING = 0.05
LEAST_CUES = 10
"""After a cue so many more tokens without a label must be outvoted than borne out: then its sentences are left out."""
_VOTED = (Place.ALONE, Place.AFTER, Place.BEFORE)
_SPREADING = (Place.ALONE, Place.CUE, Place.EARLIER)

Mistrusted: TypeAlias = tuple[NDArray[np.uint64], ...]
"""For each of _SPREADING, the numbers of what is not to be believed without a label."""


@dataclass(frozen=True)
class RowVotes:
    """What the sites say of rows by themselves, and of rows beside others.

    Args:
        counts: for each place that has the token itself.
        hashers: of the rows and cues by which mistrust spreads.
    """

    counts: Mapping[Place, RowCounts]
    hashers: tuple[RowKeys, ...]
    _decided: dict[str, list[NDArray[np.int8]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def count(cls, material: PoolMaterial) -> RowVotes:
        """Of all that is in the pool."""
        columns = columns_of(next(read_blocks(material.files[0])))
        hashers = tuple(RowKeys(columns, place) for place in _SPREADING)
        return cls({place: count_rows(material.payloads, place) for place in _VOTED}, hashers)

    def verdicts(self, site: str, sentences: RaggedSentences) -> NDArray[np.int8]:
        """What most others say of every token of a site: 1 PHI, -1 no PHI, 0 nothing, or both; int8 `[tokens]`."""
        rows = zip(self._verdicts_on_rows(site), self.counts.values(), strict=True)
        said = [verdicts[counts.rows_of(sentences)] for verdicts, counts in rows]
        agreed: NDArray[np.int8] = (np.max(said, axis=0).clip(0) + np.min(said, axis=0).clip(max=0)).astype(np.int8)
        return agreed

    def _verdicts_on_rows(self, site: str) -> list[NDArray[np.int8]]:
        """The same of every row, for each of `counts`: once for all blocks of a site, and kept until another is asked for."""
        if site not in self._decided:
            self._decided.clear()
            self._decided[site] = [counts.verdicts(site) for counts in self.counts.values()]
        return self._decided[site]

    def mistrusted(self, site: str, blocks: Iterable[RaggedSentences]) -> Mistrusted:
        """The rows and cues of a site on which tokens without a label are mostly outvoted."""
        balances: list[Counter[int]] = [Counter() for _ in self.hashers]
        for block in blocks:
            verdict = np.where(block.tags == 0, self.verdicts(site, block), 0)
            decided = np.flatnonzero(verdict)
            for balance, hasher in zip(balances, self.hashers, strict=True):
                for key, voice in zip(hasher(block)[decided].tolist(), verdict[decided].tolist(), strict=True):
                    balance[key] += voice
        return tuple(
            np.array([key for key, sum_ in balance.items() if sum_ >= least], dtype=np.uint64)
            for balance, least in zip(balances, (LEAST_TOKENS, LEAST_CUES, LEAST_CUES), strict=True)
        )

    def missing(self, site: str, sentences: RaggedSentences, mistrusted: Mistrusted) -> NDArray[np.bool_]:
        """Tokens without a label that are not to be believed, bool `[tokens]`."""
        verdict = self.verdicts(site, sentences)
        row = np.isin(self.hashers[0](sentences), mistrusted[0])
        marked: NDArray[np.bool_] = (sentences.tags == 0) & ((verdict > 0) | (row & (verdict == 0)))
        return marked

    def after_cues(self, sentences: RaggedSentences, mistrusted: Mistrusted) -> NDArray[np.bool_]:
        """Sentences with a token without a label after a cue that is not to be believed, bool `[sentences]`.

        What others write as no PHI may still be part of a name there.
        """
        cues = [np.isin(hasher(sentences), keys) for hasher, keys in zip(self.hashers[1:], mistrusted[1:], strict=True)]
        found = np.zeros(sentences.sentences, dtype=np.bool_)
        found[sentences.sentence_of_token[np.any(cues, axis=0) & (sentences.tags == 0)]] = True
        return found

    def added(self, site: str, sentences: RaggedSentences) -> NDArray[np.bool_]:
        """Labelled tokens that most others deny, bool `[tokens]`."""
        marked: NDArray[np.bool_] = (sentences.tags > 0) & (self.verdicts(site, sentences) < 0)
        return marked


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
            path: taken
            for site in sites
            for path, taken in _denied(votes, site, material.payloads[site], over=site in over).items()
        }


def _denied(votes: RowVotes, site: str, paths: Sequence[Path], *, over: bool) -> dict[Path, Taken]:
    """What of each payload of a site does not count."""
    mistrusted = votes.mistrusted(site, (block for path in paths for block in read_blocks(path)))

    def of(block: RaggedSentences) -> NDArray[np.bool_]:
        missing = votes.missing(site, block, mistrusted)
        return missing | votes.added(site, block) if over else missing

    return {
        path: Taken(
            kept=tuple(~votes.after_cues(block, mistrusted) for block in read_blocks(path)),
            unknown=tuple(map(of, read_blocks(path))),
        )
        for path in paths
    }


def _over_labelling(counts: RowCounts) -> set[str]:
    """The sites that label what others do not far more often than the median site."""
    rates = {}
    for index, site in enumerate(counts.sites):
        denied = counts.verdicts(site) < 0
        rates[site] = counts.phi[index][denied].sum() / max(counts.tokens[index][denied].sum(), 1)
    bound = max(OVER_LABELLING * median(rates.values()), LEAST_OVER_LABELLING)
    return {site for site, rate in rates.items() if rate > bound and site != PUBLIC}
