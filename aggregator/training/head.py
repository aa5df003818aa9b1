"""`aggregator train-head`: the head, trained on the pool, with a score for each site.

The score of a site is taken on the tenth of its sentences that the training never saw. It tells whether the pool serves
that site, not how the head does at a hospital that shared nothing. Beside it stands what sharing is worth: the score
that a head trained on the provider's own notes alone reaches on the same sentences. What a site does to the OTHERS says
`influence`, and what the head finds against that of the last release is compared here, for the gate of `release` to read.
Where public text is distilled, all of this is measured of the student.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aggregator.enrolled.shares import Share, accepted_shares
from aggregator.errors import RegistryError
from aggregator.publishing.head_record import RECORD, HeadOrigin, PooledShare
from aggregator.publishing.releases import last_pipeline, release_representer, releases, representer_digest
from aggregator.training.augmenting import AugmentOptions, augmented_reading
from aggregator.training.defences.defence import Defence, Defended, PoolMaterial
from aggregator.training.defences.distilling import Distillation, digest_of_text, encode_text
from aggregator.training.defences.everything import Everything
from aggregator.training.defences.registry import DEFAULT, find_defence
from aggregator.training.defences.self_distilling import SelfDistillation
from aggregator.training.judging.comparison import Comparison, Distilled, compare_with_last
from aggregator.training.judging.influence import Influence, InfluenceMode, measure_influence, raise_alarms
from aggregator.training.judging.operating_points import can_be_measured, measure_points, why_none
from aggregator.training.judging.site_scores import SiteScore, score_sites
from aggregator.training.kinds import HeadKind, TaggerOptions, head_kind
from aggregator.training.part import PoolPart
from aggregator.training.plan import ALONE, ALONE_STEPS, HEAD, LAST, SCORES, has_alone, plan_head
from aggregator.training.pool import PUBLIC
from aggregator.training.unfinished import keep_together
from aggregator.training.way import Way
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.folders import new_folder
from foundation.reading import file_sha256
from shared.constructions.augmented import AugmentedReading
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.errors import ConfigurationError
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import OperatingPoints
from shared.progress import Phases, Watch, unwatched
from shared.taggers.registry import save_head
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.text.language import guess_vocabulary
from shared.training.tagging import TaggingConfig, train_tagger
from shared.training.together import Together


@dataclass(frozen=True)
class HeadTraining:
    """What a head was trained on and what it is worth; its record lies beside the weights.

    Args:
        recipe: of the training.
        sentences: that it saw in a pass, on average.
        tokens: of them.
        origin: representer and shares.
        left_out: accepted shares of another representer.
        public: whether the provider's own notes were in the pool.
        redrawn: whether surrogates were drawn anew in each pass.
        undersampling: chance of a sentence without PHI to sit out a pass.
        scores: of each site; empty where nothing was held out.
        augment: by what copies of sentences were made for it, and how many.
        tagger: of which kind it is, digests of what it began with, and settings that are not the paper's.
        defence: name of what kept a lying site from bending it.
        not_counted: tokens of each site whose label the defence did not count.
        rates: chance of a sentence to take part in a pass, of each site that the defence lets weigh less than it shared.
        influence: of each site on the others; None where it was not measured.
        compared: with the last release; None where there is none, or nothing was held out.
        points: what a hospital that nobody has seen is promised; None where that was not measured, or nothing can be promised.
        no_points: why they are None, for people.
        distilled: public text that the head learned from in the place of the pool; None where it learned from the pool.
        self_distilled: how many teachers labelled the pool, each what it had not seen; 0 where it learned the labels of the shares.
        federated: how sites learned together; empty where the pool was learned from in one place.
    """

    recipe: TaggingConfig
    sentences: int
    tokens: int
    origin: HeadOrigin
    left_out: int
    public: bool
    redrawn: bool
    undersampling: float = 0.0
    scores: tuple[SiteScore, ...] = ()
    augment: Mapping[str, Any] = field(default_factory=dict)
    tagger: Mapping[str, str | int | None] = field(default_factory=dict)
    defence: str = Everything.name
    not_counted: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    influence: Influence | None = None
    compared: Comparison | None = None
    points: OperatingPoints | None = None
    no_points: str = ""
    distilled: Distilled | None = None
    self_distilled: int = 0
    federated: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The record."""
        more: dict[str, object] = {"federated": dict(self.federated)} if self.federated else {}
        more |= {} if self.distilled is None else {"distilled": self.distilled.as_json()}
        more |= {"self_distilled": self.self_distilled} if self.self_distilled else {}
        more |= {"no_operating_points": self.no_points} if self.no_points else {}
        return more | {
            "recipe": asdict(self.recipe),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "shares": [asdict(share) for share in self.origin.shares],
            "left_out": self.left_out,
            "public": self.public,
            "redrawn": self.redrawn,
            "undersampling": self.undersampling,
            "augment": dict(self.augment),
            "tagger": dict(self.tagger),
            "representer": self.origin.representer,
            "sites": [score.as_json() for score in self.scores],
            "defence": {"name": self.defence, "not_counted": dict(self.not_counted), "rates": dict(self.rates)},
            "influence": None if self.influence is None else self.influence.as_json(),
            "compared": None if self.compared is None else self.compared.as_json(),
            "operating_points": None if self.points is None else asdict(self.points),
        }


UNDERSAMPLING = 0.5
"""Most sentences of notes hold no PHI: a head learns more in as many steps where half of them sit out each pass."""


@dataclass(frozen=True)
class HeadOptions:
    """What goes into a head, and what is measured of it.

    Args:
        with_public: let the provider's own encoded notes join the pool.
        hold_out: keep a tenth of every share back to score and compare; without it there are no scores.
        sites: only these sites' shares; None for all.
        defence: name of a defence.
        influence: how the influence of sites is measured, where a tenth is held out.
        last_word: whether patterns, whole entities and further mentions follow the tagger in the release.
        operating_points: whether each hospital is left out once, to know what an unseen one is promised.
        undersampling: chance that a sentence without PHI sits out a pass, drawn anew in each, in [0, 1).
        augment: what copies of sentences it learns from beside them; by default recased ones, where shares hold codes.
        tagger: of which kind it is, and what it begins with.
        distil: public notes, which the head learns from as that of the pool labels them; without any it learns from the pool itself.
        self_distil: teachers, each of which labels the part of the pool that it has not seen, for the head to learn; 0 for the labels of the shares.
        shape: of the network; None for that of its kind, with all that there is for a token.

    Raises:
        ConfigurationError: an undersampling that would leave none of them, or is no chance; one teacher, or public text beside teachers.
    """

    with_public: bool = True
    hold_out: bool = True
    sites: frozenset[str] | None = None
    defence: str = DEFAULT
    influence: InfluenceMode = InfluenceMode.FAST
    last_word: bool = True
    operating_points: bool = True
    undersampling: float = UNDERSAMPLING
    augment: AugmentOptions = field(default_factory=AugmentOptions)
    tagger: TaggerOptions = field(default_factory=TaggerOptions)
    distil: tuple[Path, ...] = ()
    self_distil: int = 0
    shape: TaggerConfig | None = None

    def __post_init__(self) -> None:
        # A number that is none compares as neither.
        if not 0 <= self.undersampling < 1:
            raise ConfigurationError(
                f"--undersampling: expected a chance from 0 to below 1, got {self.undersampling}; 0 has all sentences in every pass"
            )
        if self.self_distil == 1 or (self.self_distil and self.distil):
            raise ConfigurationError("--self-distil: expected 2 or more, no --distil beside it; leave one of them out")


def train(
    workspace: Workspace,
    config: TaggingConfig,
    options: HeadOptions = HeadOptions(),
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    way: Way | None = None,
    group: Together | None = None,
) -> HeadTraining:
    """Train a head on the accepted shares and put it into the workspace.

    Args:
        workspace: with accepted shares.
        config: the recipe.
        options: what goes into it, and what is measured.
        watch: is told how far all of it is.
        resume: go on with a training that was cut; it ends in the same head.
        tell: is told where one that was cut is given up.
        way: how it is trained; None for the defence of the options, in one place.
        group: the processes that train it together, each of which calls this; only the first one writes.

    Returns:
        sizes, settings, the score of each site and what it does to the others; also written beside the weights.

    Raises:
        WorkspaceError: there is nothing to train on.
        RegistryError: a site that was asked for has no share of this representer.
        ConfigurationError: no such defence, sentences can't be augmented or distilled as asked, or what was cut had other inputs.
        TrainingError: the loss is not finite any more, or a process is lost.
    """
    defence = find_defence(options.defence) if way is None else way.defence
    shares, left_out = _usable_shares(workspace, options.sites)
    construction = load_construction(workspace.representer)
    kind = head_kind(
        options.tagger, construction, train_tagger if group is None else partial(train_tagger, group=group)
    )
    augmented, told = augmented_reading(options.augment, construction, kind.drawn)
    text = digest_of_text(options.distil)
    inputs = _inputs(workspace, config, options, shares, text) | {"augment": told} | dict(way.inputs if way else {})
    command = "train-head" if way is None else way.command
    with ExitStack() as objects:
        learning = defence
        if text is not None:
            folder = Path(objects.enter_context(TemporaryDirectory()))
            learning = Distillation(defence, encode_text(options.distil, construction, folder))
        elif options.self_distil:
            learning = SelfDistillation(defence, options.self_distil)
        kept = objects.enter_context(keep_together(workspace, command, inputs, group, resume=resume, tell=tell))
        payloads: dict[str, tuple[Path, ...]] = {}
        local = objects.enter_context(workspace.objects().all_local([str(share.digest) for share in shares]))
        for share, payload in zip(shares, local, strict=True):
            payloads[share.site] = (*payloads.get(share.site, ()), payload)
        if options.with_public and workspace.public_share.exists():
            payloads[PUBLIC] = (workspace.public_share,)
        material = _material(construction, config, payloads, options, kept, kind, augmented, group)
        compared = last_pipeline(workspace) is not None
        elsewhere = None if way is None or not options.operating_points else way.points
        promises = options.operating_points and elsewhere is None and can_be_measured(material)
        planned = plan_head(
            material, learning, options.influence, measured=options.hold_out, compared=compared, points=promises
        )
        phases = Phases(planned, watch)
        defended = learning.train(material.in_phase(phases.begin(HEAD), "head"))
        trained = HeadTraining(
            config,
            defended.sentences,
            defended.tokens,
            HeadOrigin(representer_digest(workspace), tuple(map(_pooled, shares))),
            left_out,
            public=PUBLIC in payloads,
            redrawn=material.redraws,
            undersampling=options.undersampling,
            augment=told,
            tagger=options.tagger.facts(),
            defence=defence.name,
            not_counted=defended.left_out,
            rates=defended.rates,
            distilled=Distilled.of(text, defended.lesson) if text and defended.lesson else None,
            self_distilled=options.self_distil,
            federated={} if way is None else way.told(),
        )
        settings = LastWordSettings(guess_vocabulary(construction.vectors.words)) if options.last_word else None
        points = None if elsewhere is None else elsewhere(material, construction, settings)
        if promises:
            points = measure_points(material, learning, construction, settings, phases.begin)
        why = why_none(asked=options.operating_points, tried=promises, together=elsewhere is not None)
        trained = replace(trained, points=points, no_points="" if points else why)
        if options.hold_out:
            trained = _measure(workspace, material, learning, defended, trained, options, phases, way)
        if group is not None and group.index:
            return trained
        with new_folder(workspace.head) as folder:
            save_head(defended.head, folder)
            if settings is not None:
                settings.save(folder)
            if trained.points is not None:
                trained.points.save(folder)
            write_text(folder / RECORD, json.dumps(trained.as_json(), indent=1), private=False)
    if trained.influence is not None:
        raise_alarms(workspace, trained.influence)
    return trained


def planned_inputs(workspace: Workspace, config: TaggingConfig, options: HeadOptions) -> dict[str, object]:
    """All that decides the head that `train` would make here and now; raises as it does."""
    shares, _ = _usable_shares(workspace, options.sites)
    _, told = augmented_reading(options.augment, load_construction(workspace.representer))
    return _inputs(workspace, config, options, shares, digest_of_text(options.distil)) | {"augment": told}


def _inputs(
    workspace: Workspace, config: TaggingConfig, options: HeadOptions, shares: Sequence[Share], text: str | None
) -> dict[str, object]:
    """All that decides a head."""
    public = options.with_public and workspace.public_share.exists()
    return {
        "representer": representer_digest(workspace),
        "shares": [share.digest for share in shares],
        "own notes": file_sha256(workspace.public_share) if public else None,
        **asdict(config),
        **{
            name: value
            for name, value in asdict(options).items()
            if name not in ("sites", "augment", "tagger", "distil")
        },
        "tagger": options.tagger.facts(),
        "public text": text,
    }


def _material(
    construction: Construction,
    config: TaggingConfig,
    payloads: Mapping[str, tuple[Path, ...]],
    options: HeadOptions,
    kept: Path | None,
    kind: HeadKind,
    augmented: AugmentedReading | None,
    group: Together | None,
) -> PoolMaterial:
    return PoolMaterial(
        payloads,
        len(construction.scheme.tags),
        config,
        False if options.hold_out else None,
        construction.redrawing(),
        construction.token_local,
        kind.learn,
        options.shape,
        undersampling=options.undersampling,
        decoder=kind.drawn or construction.decoding(),
        augmented=augmented,
        kept=kept,
        part=None if group is None else PoolPart(group.index, group.count),
    )


def _measure(
    workspace: Workspace,
    material: PoolMaterial,
    defence: Defence,
    defended: Defended,
    trained: HeadTraining,
    options: HeadOptions,
    phases: Phases,
    way: Way | None,
) -> HeadTraining:
    """The head's scores on what was held out, and what it is compared with."""
    head, config = defended.head, material.config
    budget = min(config.epochs * (defended.sentences // material.batch), ALONE_STEPS)
    alone = _alone(material, replace(config, least_steps=budget), phases)
    scores = score_sites(head, alone, material, workspace.scheme, phases.begin(SCORES))
    distilled = trained.distilled and trained.distilled.compare_with_teacher(defended, material, workspace.scheme)
    influence = None
    if way is not None and way.influence is not None:
        influence = way.influence(material, head, workspace.scheme)
    elif options.influence is not InfluenceMode.NONE:
        influence = measure_influence(material, defence, workspace.scheme, options.influence, head, phases.begin)
    if last_pipeline(workspace) is not None:
        phases.begin(LAST)
    compared = compare_with_last(workspace, head, material)
    phases.end()
    return replace(trained, scores=scores, influence=influence, compared=compared, distilled=distilled)


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


def _alone(material: PoolMaterial, config: TaggingConfig, phases: Phases) -> Tagger | None:
    """A head trained on the provider's own notes; None where they are not in the pool, or nothing else is."""
    if not has_alone(material):
        return None
    material = material.in_phase(phases.begin(ALONE), "alone")
    with replace(material, held_out=False).pool(paths=material.payloads[PUBLIC]) as pool:
        return material.learn_from(pool, "head", config)
