"""`aggregator train-head`: the head, trained on the pool, with a score for each site.

The score of a site is taken on the tenth of its sentences that the training never saw. It tells whether the pool serves
that site, not how the head does at a hospital that shared nothing. Beside it stands what sharing is worth: the score
that a head trained on the provider's own notes alone reaches on the same sentences.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from aggregator.enrolled.shares import Share, accepted_shares
from aggregator.errors import RegistryError
from aggregator.publishing.head_record import RECORD, HeadOrigin, PooledShare
from aggregator.publishing.releases import release_representer, releases, representer_digest
from aggregator.training.pool import Change, Pool
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.folders import new_folder
from shared.constructions.registry import load_construction
from shared.progress import Progress, silent
from shared.taggers.registry import save_head
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger

PUBLIC = "(public notes)"
# Few notes want more passes: as many steps as the pool took, up to what a tagger needs to learn its notes by heart.
_ALONE_STEPS = 600


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
    """

    site: str
    tokens: int
    phi_tokens: int
    precision: float
    recall: float
    alone_f1: float | None = None

    @property
    def f1(self) -> float:
        """Of precision and recall; 0 of nothing."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def as_json(self) -> dict[str, object]:
        """All figures, for the record."""
        return asdict(self) | {"f1": self.f1}


@dataclass(frozen=True)
class HeadTraining:
    """What a head was trained on and what it is worth; its record lies beside the weights.

    Args:
        recipe: of the training.
        sentences: that it saw.
        tokens: of them.
        origin: representer and shares.
        left_out: accepted shares of another representer.
        public: whether the provider's own notes were in the pool.
        redrawn: whether surrogates were drawn anew in each pass.
        scores: of each site; empty where nothing was held out.
    """

    recipe: TaggingConfig
    sentences: int
    tokens: int
    origin: HeadOrigin
    left_out: int
    public: bool
    redrawn: bool
    scores: tuple[SiteScore, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The record."""
        return {
            "recipe": asdict(self.recipe),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "shares": [asdict(share) for share in self.origin.shares],
            "left_out": self.left_out,
            "public": self.public,
            "redrawn": self.redrawn,
            "representer": self.origin.representer,
            "sites": [score.as_json() for score in self.scores],
        }


def train(
    workspace: Workspace,
    config: TaggingConfig,
    *,
    with_public: bool = True,
    hold_out: bool = True,
    sites: frozenset[str] | None = None,
    progress: Progress = silent,
) -> HeadTraining:
    """Train a head on the accepted shares and put it into the workspace.

    Args:
        workspace: with accepted shares.
        config: the recipe.
        with_public: let the provider's own encoded notes join the pool.
        hold_out: keep a tenth of every share back to score the sites; without it there are no scores.
        sites: only these sites' shares; None for all.
        progress: called after every step.

    Returns:
        sizes, settings and the score of each site; also written beside the weights.

    Raises:
        WorkspaceError: there is nothing to train on.
        RegistryError: a site that was asked for has no share of this representer.
    """
    shares, left_out = _usable_shares(workspace, sites)
    change = load_construction(workspace.representer).redrawing()
    with ExitStack() as objects:
        payloads: dict[str, list[Path]] = {}
        for share in shares:
            payload = objects.enter_context(workspace.objects().local(str(share.digest)))
            payloads.setdefault(share.site, []).append(payload)
        if with_public and workspace.public_share.exists():
            payloads[PUBLIC] = [workspace.public_share]
        with Pool(
            [path for paths in payloads.values() for path in paths], held_out=False if hold_out else None, change=change
        ) as pool:
            head = train_tagger(pool, len(workspace.scheme.tags), config, progress=progress)
            trained = HeadTraining(
                config,
                pool.sentences,
                pool.tokens,
                HeadOrigin(representer_digest(workspace), tuple(map(_pooled, shares))),
                left_out,
                public=PUBLIC in payloads,
                redrawn=change is not None,
            )
        scores: list[SiteScore] = []
        if hold_out:
            budget = min(config.epochs * (pool.sentences // config.batch), _ALONE_STEPS)
            alone = _alone(payloads, len(workspace.scheme.tags), replace(config, least_steps=budget), change, progress)
            scores = [score_site(head, site, paths, alone) for site, paths in sorted(payloads.items())]
    trained = replace(trained, scores=tuple(scores))
    with new_folder(workspace.head) as folder:
        save_head(head, folder)
        write_text(folder / RECORD, json.dumps(trained.as_json(), indent=1), private=False)
    return trained


def _pooled(share: Share) -> PooledShare:
    return PooledShare(share.site, share.sequence, share.digest, share.manifest)


def _usable_shares(workspace: Workspace, sites: frozenset[str] | None) -> tuple[list[Share], int]:
    """The shares of some sites that were made with the representer here, and how many were not.

    The representations of two representers have nothing in common, even where their sizes agree.
    """
    digest = representer_digest(workspace)
    fitting = {release.digest for release in releases(workspace) if release_representer(release) == digest}
    accepted = [share for share in accepted_shares(workspace) if sites is None or share.site in sites]
    usable = [share for share in accepted if share.release in fitting]
    missing = sorted((sites or frozenset()) - {share.site for share in usable})
    if missing:
        raise RegistryError(
            f"{missing[0]}: expected an accepted share of this representer, found none; see `aggregator shares list`"
        )
    return usable, len(accepted) - len(usable)


def _alone(
    payloads: dict[str, list[Path]], tags: int, config: TaggingConfig, change: Change | None, progress: Progress
) -> Tagger | None:
    """A head trained on the provider's own notes; None where they are not in the pool, or nothing else is."""
    if set(payloads) <= {PUBLIC} or PUBLIC not in payloads:
        return None
    with Pool(payloads[PUBLIC], held_out=False, change=change) as pool:
        return train_tagger(pool, tags, config, progress=progress)


def score_site(head: Tagger, site: str, paths: list[Path], alone: Tagger | None = None) -> SiteScore:
    """Token-binary scores on the held-out sentences of one site.

    Args:
        head: trained on the pool.
        site: its name.
        paths: its payloads.
        alone: trained on the provider's own notes.
    """
    with Pool(paths, held_out=True) as pool:
        score = _score(head, site, pool)
        return score if alone is None else replace(score, alone_f1=_score(alone, site, pool).f1)


def _score(head: Tagger, site: str, pool: Pool) -> SiteScore:
    hits, found, true, tokens = _counts(head, pool)
    return SiteScore(site, tokens, true, hits / found if found else 0.0, hits / true if true else 0.0)


def _counts(head: Tagger, pool: Pool) -> tuple[int, int, int, int]:
    """Tokens that both call PHI, that the head does, that are, and all."""
    hits = found = true = tokens = 0
    for batch in pool.batches(256):
        said = head.decode(batch) > 0
        gold = batch.tags > 0
        hits += int((said & gold).sum())
        found += int(said.sum())
        true += int(gold.sum())
        tokens += int(batch.lengths.sum())
    return hits, found, true, tokens
