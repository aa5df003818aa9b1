"""What a head is worth at each site, on the tenth of its sentences that the training never saw; token-binary.

Beside it stands what the provider's own notes alone would reach there, and how much of each category of PHI is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from aggregator.training.defences.defence import PoolMaterial
from aggregator.training.judging.recall import CategoryRecall
from aggregator.training.pool import Pool
from shared.labels import UNKNOWN_TAG, LabelScheme
from shared.progress import Progress
from shared.taggers.tagger import Tagger


@dataclass(frozen=True)
class SiteScore:
    """Token-binary scores of the head on a site's held-out sentences.

    Args:
        site: name of the site, or PUBLIC.
        tokens: tokens scored.
        phi_tokens: how many of them are PHI.
        precision: in [0, 1].
        recall: in [0, 1].
        alone_f1: F1 of a head trained on the provider's own notes only; None where there is no such head.
        alone_recall: its recall.
        categories: tokens and recall of each category of PHI that has enough of them, by its name.
    """

    site: str
    tokens: int
    phi_tokens: int
    precision: float
    recall: float
    alone_f1: float | None = None
    alone_recall: float | None = None
    categories: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    @property
    def f1(self) -> float:
        """Of precision and recall; 0 of nothing."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def as_json(self) -> dict[str, object]:
        """All figures, for the record."""
        return asdict(self) | {"categories": dict(self.categories), "f1": self.f1}


def score_sites(
    head: Tagger, alone: Tagger | None, material: PoolMaterial, scheme: LabelScheme, progress: Progress
) -> tuple[SiteScore, ...]:
    """Those of every site of a pool, by name.

    Args:
        head, alone, scheme: as for `score_site`.
        material: of the pool, a tenth held out.
        progress: called after every site.
    """
    found = []
    for site, paths in sorted(material.payloads.items()):
        found.append(score_site(head, site, material.held_out_pool(paths), alone, scheme))
        progress("scores", len(found), len(material.payloads))
    return tuple(found)


def score_site(
    head: Tagger, site: str, held_out: Pool, alone: Tagger | None = None, scheme: LabelScheme | None = None
) -> SiteScore:
    """Token-binary scores on the held-out sentences of one site.

    Args:
        head: trained on the pool.
        site: its name.
        held_out: its held-out sentences; closed here.
        alone: trained on the provider's own notes.
        scheme: names the categories; None where their recalls are not asked for.
    """
    with held_out as pool:
        score = _score(head, site, pool, scheme)
        if alone is None:
            return score
        before = _score(alone, site, pool, None)
        return replace(score, alone_f1=before.f1, alone_recall=before.recall)


def _score(head: Tagger, site: str, pool: Pool, scheme: LabelScheme | None) -> SiteScore:
    recalls = CategoryRecall(scheme.categories if scheme is not None else ())
    hits, found, true, tokens = _counts(head, pool, recalls)
    return SiteScore(
        site,
        tokens,
        true,
        hits / found if found else 0.0,
        hits / true if true else 0.0,
        categories=recalls.found(),
    )


def _counts(head: Tagger, pool: Pool, recalls: CategoryRecall) -> tuple[int, int, int, int]:
    """Tokens that both call PHI, that the head does, that are, and all; but for those of which nobody knows."""
    hits = found = true = tokens = 0
    for batch in pool.batches(256):
        known = batch.tags != UNKNOWN_TAG
        said = (head.decode(batch) > 0) & known
        gold = (batch.tags > 0) & known
        recalls.add(batch.tags, said)
        hits += int((said & gold).sum())
        found += int(said.sum())
        true += int(gold.sum())
        tokens += int(batch.lengths.sum()) - int((~known).sum())
    return hits, found, true, tokens
