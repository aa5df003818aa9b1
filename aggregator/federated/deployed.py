"""`aggregator federate` with hospitals behind a connection: rounds in this process, carried by Flower in processes of its own.

The provider's own encoded notes take part like a hospital. What comes out is measured on their held-out tenth, since nothing else is here, and
passes the gate of `release` like any other head.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aggregator.enrolled.sites import site_keys
from aggregator.errors import FederatedError, WorkspaceError
from aggregator.federated.carrying import RelayCarrier
from aggregator.federated.connection import Connection
from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder, Sites, Tell
from aggregator.federated.promised import Measuring, own_curve, promised_points
from aggregator.federated.remote import SignedSites, Spending, Spent
from aggregator.federated.rounds import Course, Rounds
from aggregator.federated.simulated import NAME, SimulatedSites
from aggregator.publishing.releases import release_representer, releases, representer_digest
from aggregator.registry import audit_log
from aggregator.training.defences.defence import Defence, Defended, PoolMaterial
from aggregator.training.head import HeadOptions, HeadTraining, train
from aggregator.training.judging.influence import Influence, InfluenceMode, SiteInfluence
from aggregator.training.judging.recall import compare_recall
from aggregator.training.pool import PUBLIC
from aggregator.training.way import Way
from aggregator.workspace import Workspace, today
from protocols.canonical import decimal_text
from protocols.fields import SHA256, SITE, Fields
from protocols.keys.signing import PublicKey
from shared.constructions.construction import Construction
from shared.federated.weights import Vector, set_weights, weights_of
from shared.labels import LabelScheme
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import HospitalCurve, OperatingPoints
from shared.pipeline.promises.by_note import NUMBERS
from shared.progress import Watch, unwatched
from shared.taggers.registry import build_tagger, default_config
from shared.taggers.tagger import Tagger
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig

COMMAND = "federate"
FOLLOWED = "followed"
"""How influence was measured: the training was followed without each site; see `aggregator.federated.rounds`."""
_LINGER_S = 6.0
_ANSWERED = "federated-answered"
_ANSWER_KEYS = frozenset({"site", "run", "epsilon", "result_sha256"})


@dataclass(frozen=True)
class Joint:
    """Hospitals, and the provider's own notes beside them.

    Args:
        remote: hospitals.
        own: this process.
        tell: is told of every answer.
    """

    remote: Sites
    own: Sites
    tell: Tell

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        """See `Sites`."""
        for sites in (self.remote, self.own):
            for answer in sites.ask(order):
                noise = f", noise by {answer.unit}" if answer.noisy else ""
                came = f"{answer.sentences} sentences{noise}" if answer.weights is not None else answer.problem
                self.tell(f"round {order.number} of {order.rounds}: {answer.site}: {came}")
                yield answer


class DeployedTraining(Defence):
    """Trains a head by rounds among hospitals; stands where a defence stands.

    Args:
        plan: how sites learn together.
        sites: makes the hospitals, once the training begins, from its name.
        tell: is told what happens in each round.
    """

    name = NAME
    title = "hospitals learn in turn, and only what they learned is put together"

    def __init__(self, plan: FederatedPlan, sites: Callable[[str], Measuring], tell: Tell) -> None:
        self.plan, self._sites, self._tell = plan, sites, tell
        self.course: Course | None = None
        self._tagger: Callable[[Vector], Tagger] | None = None
        self._remote: Measuring | None = None

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence."""
        own = replace(material, payloads={PUBLIC: material.payloads[PUBLIC]})
        with own.pool() as pool:
            shape = material.shape or default_config(pool.dim, material.tags)
            sentences, tokens = pool.sentences, pool.tokens
        kept = material.kept
        if kept is not None:
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept /= "rounds.safetensors"
        rounds = Rounds(shape, material.config, self.plan, kept, material.progress, self._tell, follow=True)

        def tagger_of(weights: Vector) -> Tagger:
            with seed_training(material.config.seed):
                made = build_tagger(shape)
            set_weights(made, weights)
            return made.eval()

        with seed_training(material.config.seed):
            start = weights_of(build_tagger(shape))
        course = rounds.begin(start)
        self._remote = self._sites(course.run)
        self.course = rounds.go_on(course, Joint(self._remote, SimulatedSites(own), self._tell))
        self._tagger = tagger_of
        return Defended(tagger_of(self.course.weights), sentences, tokens, {})

    def influence(self, material: PoolMaterial, head: Tagger, scheme: LabelScheme) -> Influence:
        """What each hospital did, on the provider's held-out sentences."""
        assert self.course is not None
        assert self._tagger is not None
        sites = sorted(site for site in self.course.without if site != PUBLIC)
        found = []
        for site in sites:
            without = self._tagger(self.course.without[site][0])
            held_out = material.held_out_pool(material.payloads[PUBLIC])
            found.append(SiteInfluence(site, compare_recall(head, without, held_out, scheme, len(sites))))
        return Influence(FOLLOWED, tuple(found), ())

    def points(
        self, material: PoolMaterial, construction: Construction, settings: LastWordSettings | None
    ) -> OperatingPoints | None:
        """What a hospital that nobody has seen is promised: each that took part measures the head that was followed without it."""
        assert self.course is not None
        assert self._tagger is not None
        assert self._remote is not None
        tagger_of = self._tagger

        def own(weights: Vector) -> HospitalCurve | None:
            return own_curve(construction, tagger_of(weights), settings, material.payloads[PUBLIC])

        shape = tagger_of(self.course.weights).config
        kept = None if material.kept is None else material.kept / "measured.safetensors"
        return promised_points(self.course, shape, self._remote, own, self._tell, kept)

    def told(self) -> Mapping[str, Any]:
        """What the record says of the rounds."""
        assert self.course is not None
        rounds = [asdict(one) for one in self.course.history]
        # The weights again, and a few numbers back.
        measuring = 4 * (len(self.course.weights) + NUMBERS)
        return {
            "simulated": False,
            "plan": asdict(self.plan),
            "rounds": rounds,
            "measuring_bytes_each": measuring,
        }


def federate(
    workspace: Workspace,
    config: TaggingConfig,
    plan: FederatedPlan,
    connection: Connection,
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    operating_points: bool = True,
    tell: Tell = lambda line: None,
    round_told: Tell = lambda line: None,
) -> HeadTraining:
    """Train a head with hospitals.

    Args:
        workspace: with a published representer and enrolled hospitals.
        config: the recipe.
        plan: how sites learn together.
        connection: where they come in.
        watch: is told how far all of it is.
        resume: go on where it was cut.
        operating_points: whether each hospital measures the head that was followed without it.
        tell: is told where one that was cut is given up.
        round_told: is told what happens in each round.

    Raises:
        FederatedError: a round had too few results, or Flower did not start.
        WorkspaceError: no representer is published, or the provider has no encoded notes.
    """
    if not workspace.public_share.exists():
        raise WorkspaceError(
            "expected the provider's own encoded notes to measure on, found none; run `aggregator train-repr` first"
        )
    release = _newest(workspace)
    with ExitStack() as stack:

        def sites(run: str) -> SignedSites:
            with workspace.registry().transaction() as session:
                audit_log.append(session, "operator", "federated-begun", {"run": run, "release": release})
            return _begin(workspace, plan, connection, run, release, stack, round_told)

        training = DeployedTraining(plan, sites, round_told)
        way = Way(COMMAND, training, {"federated": plan.learning}, training.told, training.influence, training.points)
        # Hospitals learn from all their sentences in every pass, so the provider does too.
        options = HeadOptions(
            sites=frozenset(),
            defence=NAME,
            influence=InfluenceMode.FAST,
            operating_points=operating_points,
            undersampling=0.0,
        )
        try:
            return train(workspace, config, options, watch, resume=resume, tell=tell, way=way)
        except FederatedError as error:
            error.add_note(f"`aggregator {COMMAND} --resume`, with the same options, goes on where it was")
            raise


def _begin(
    workspace: Workspace,
    plan: FederatedPlan,
    connection: Connection,
    run: str,
    release: str,
    stack: ExitStack,
    tell: Tell,
) -> SignedSites:
    """Start the link and the run; both end with the stack, the run first, so that nodes can learn of it."""
    from aggregator.federated.flower.link import FlowerLink, LinkFiles

    spending = read_spending(workspace, run)
    folder = workspace.root / "federated"
    folder.mkdir(mode=0o700, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="deid-"))
    stack.callback(shutil.rmtree, place, ignore_errors=True)
    files = LinkFiles(folder, connection.authority, connection.certificate, connection.key, place / "relay")
    link = FlowerLink(files, connection.port)
    stack.callback(link.end)
    for public_key in connection.nodes:
        link.register(public_key)
    hospitals = max(plan.least - 1, 1)
    carrier = RelayCarrier(files.socket, hospitals, lambda: link.running)
    number = link.start_run()

    def stop() -> None:
        carrier.close()
        link.stop_run(number)
        # Nodes ask whether the run goes on; who finds nobody asks for longer.
        time.sleep(_LINGER_S)

    stack.callback(stop)
    tell(
        f"link on 127.0.0.1:{connection.port}, run {number}; {len(connection.nodes)} nodes may come, waiting for {hospitals}"
    )

    def keys() -> Mapping[str, Sequence[PublicKey]]:
        return site_keys(workspace, today())

    return SignedSites(carrier, workspace.key(), keys, run, release, plan.timeout_s, spending=spending)


def read_spending(workspace: Workspace, run: str) -> Spending:
    """What hospitals have signed that their notes have spent, in all trainings there ever were; more of it goes to where it is read from.

    That is the audit log, by which it outlives the training.

    Args:
        workspace: with the registry.
        run: name of the training that begins.

    Raises:
        RegistryError: the log was changed.
    """
    registry, last = workspace.registry(), dict[str, Spent]()
    with registry.reading() as session:
        for event in audit_log.events(session):
            if event.action == _ANSWERED:
                told = Fields(event.as_json()["details"], _ANSWER_KEYS, f"event {event.seq}")
                last[told.text("site", SITE)] = Spent.of(told.decimal("epsilon"), told.text("result_sha256", SHA256))

    def keep(site: str, spent: Spent) -> None:
        epsilon = 0.0 if math.isinf(spent.epsilon) else spent.epsilon
        details = {"epsilon": decimal_text(epsilon), "result_sha256": spent.result_sha256}
        with registry.transaction() as session:
            audit_log.append(session, "operator", _ANSWERED, {"site": site, "run": run, **details})

    return Spending(last, keep)


def _newest(workspace: Workspace) -> str:
    """Digest of the newest release, whose representer must be the one here: it is what hospitals have in use."""
    found = releases(workspace)
    if not found or release_representer(found[-1]) != representer_digest(workspace):
        raise WorkspaceError("expected the representer here in the newest release; run `aggregator publish` first")
    return found[-1].digest
