"""`site-client pull`: the newest release from a folder, a stick or a server, verified before it is used.

Where that is a representer only, the newest pipeline comes too, or stays: what finds PHI in the house must not go because
the provider has begun the next round of sharing.

The first pull pins the root of the provider's release repository: the person at the hospital gives the fingerprint that the
provider told them over another channel. Everything after that follows from this root. The new release and the provider's keys count
together or not at all: until the settings are replaced, the release in use stays as it is. Metadata that were verified stay,
as TUF's client workflow has it, also where the pull fails after them: older ones are refused from then on.

From a folder nothing is ever fetched, whatever address a release names. From a server, a file that lies elsewhere is fetched from there,
which tells whoever owns that address that somebody took the release.

A pipeline whose head needs an extra that is not installed is verified and judged as any other, and takes the place of none that can run: a workspace
that has a pipeline stays as it was; any other works with all of the release but the head, and what asks it for PHI is refused.

A signature says who made a release, not that it protects: the hospital looks at its files itself, and one that does not keep its
policy is not taken into use.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from foundation.errors import DeidError, StorageError
from foundation.files import flush, write_bytes
from foundation.locks import hold_scratch
from foundation.os_errors import map_os_errors
from foundation.reading import real_path
from protocols.canonical import canonical_bytes
from protocols.errors import ProtocolError, SchemaError
from protocols.log.checkpoint import log_origin
from protocols.release.manifest import MAX_RELEASE_BYTES, ReleaseManifest
from protocols.release.provider_record import MAX_RECORD_BYTES, ProviderRecord
from protocols.release.repository import (
    LATEST,
    MAX_DOCUMENT_BYTES,
    MAX_TOTAL_BYTES,
    PROVIDER,
    RELEASE_NAME,
    check_sizes,
    newest_pipeline,
    read_latest,
    release_name,
    release_sequence,
)
from protocols.release.verification import MANIFEST_NAME, VerifiedRelease, verify_release
from shared.constructions.construction import Construction
from shared.constructions.files import RECORD
from shared.constructions.registry import check_record, load_construction
from shared.errors import ConfigurationError, MissingExtraError
from shared.pipeline.last_word import load_settings
from shared.pipeline.operating_points import load_points
from shared.pipeline.pipeline import Pipeline
from shared.taggers.registry import load_head
from site_client.errors import SiteError
from site_client.policy.enforcing import (
    Acceptance,
    Judgement,
    Step,
    judge_facts,
    judge_release,
    record_facts,
    refusal,
    require_kept,
)
from site_client.policy.examining import examine, public_lists
from site_client.policy.judging import breach_of_size
from site_client.policy.site_policy import SitePolicy
from site_client.policy.stored import load_policy
from site_client.releases.client import ReleaseClient, first_trust
from site_client.releases.log import FollowedLog, follow_log
from site_client.releases.reception import KnownFiles, Reception
from site_client.releases.source import Network, ServerSource, open_source
from site_client.trust import Trust
from site_client.workspace import CurrentRelease, Workspace


def pull(
    workspace: Workspace,
    source: str | None = None,
    fingerprint: str | None = None,
    *,
    embeddings: Path | None = None,
    network: Network = Network(),  # noqa: B008, it is frozen
    max_bytes: int = MAX_TOTAL_BYTES,
    acceptance: Acceptance | None = None,
    tell: Callable[[str], object] = lambda line: None,
) -> tuple[Workspace, VerifiedRelease]:
    """Take the newest release into the workspace and work with it from now on.

    Args:
        workspace: of the site.
        source: folder or https address of the release repository; None for that of the last pull.
        fingerprint: of the first root, in digits or spoken; needed once.
        embeddings: the file that the release refers to, where the site can't download it; from a folder it has to be given.
        network: the way to servers.
        max_bytes: the most that the files of a release may have together; the policy may allow less.
        acceptance: who takes the responsibility for a release that does not keep the policy; recorded.
        tell: takes a line on releases that have no public log, on a log that is shorter than the provider has stated, on an extra that its pipeline needs, or on a pipeline that is older than the release and could not be
            brought; the release is in use all the same.

    Raises:
        ProtocolError: something is not what the provider signed, or too old, or too large.
        PolicyError: the release does not keep the hospital's policy; the release in use stays as it was.
        ForkError: the provider has shown other releases before, or the release is not the one in its public log.
        ConfigurationError: the release in a folder refers to a file elsewhere, which was not given.
        MissingExtraError: its pipeline can't run here, and the one in use can.
        SiteError: the fingerprint is missing or another one, or the release is older than the one in use.
        StorageError: another pull fills this workspace, or the disk is full.
        ModelError, EmbeddingError: its models do not load; the release in use stays as it was.
    """
    known = Trust.load(workspace.trust)
    place = _place(source, known)
    gate = _Gate(workspace, load_policy(workspace), acceptance)
    # A folder beside the releases, so that one rename takes a release in.
    with hold_scratch(workspace.root / ".incoming") as scratch, closing(open_source(place, scratch, network)) as origin:
        if known is not None and fingerprint not in (None, known.fingerprint.key_id, known.fingerprint.spoken):
            raise SiteError(
                "expected the fingerprint of the provider that this workspace knows, got another one; "
                "leave it out, or make a new workspace for another provider"
            )
        trust = known or first_trust(origin, place, fingerprint)
        client = ReleaseClient(trust, origin, scratch)
        with _keep_metadata(workspace, client, known):
            client.refresh()
            if known is not None:
                # At once: the power may go as well, and a first pull that fails pins nothing.
                client.trust(known.source).save(workspace.trust)
            provider = ProviderRecord.from_bytes(client.read(PROVIDER, MAX_RECORD_BYTES))
            name = read_latest(client.read(LATEST, MAX_DOCUMENT_BYTES))
            log = follow_log(workspace, client, log_origin(trust.fingerprint.key_id), provider, name, tell)
            if known is not None and log is not None:
                # Whatever becomes of this pull: what was seen must not be unseen.
                log.record()
            elsewhere = network if isinstance(origin, ServerSource) else None
            bringing = _Bringing(client, scratch, embeddings, elsewhere, max_bytes, gate, log)
            brought = bringing.bring(workspace, name, workspace.current)
        release, manifest = brought.release, brought.release.manifest
        client.trust(place).save(workspace.trust)

        def taken(now: Workspace) -> Workspace:
            # Another pull may have brought a later one meanwhile.
            _check_place(now.current, name, manifest)
            if brought.lacking and now.pipeline is not None:
                raise SiteError(
                    f"{brought.lacking}; another pull has brought one that does without meanwhile; it stays in use"
                )
            current = CurrentRelease(name, release.digest)
            pipeline = current if manifest.kind == "pipeline" and not brought.lacking else now.pipeline
            return replace(now, provider=provider, current=current, pipeline=pipeline)

        updated = workspace.update_settings(taken)
        if log is not None:
            log.record()
        record_facts(updated, brought.judged.facts, brought.judged.policy)
        if brought.lacking:
            tell(
                f"notes can be encoded and shared with this release, and not de-identified here: {brought.lacking}, and pull again"
            )
        if manifest.kind != "pipeline":
            updated = _keep_pipeline(updated, bringing, tell)
        _prune_releases(updated, workspace)
    return updated, release


def _keep_pipeline(workspace: Workspace, bringing: _Bringing, tell: Callable[[str], object]) -> Workspace:
    """Bring the newest pipeline where it is not here; whatever hinders that, the release is in use already."""
    name = newest_pipeline(bringing.client.release_names())
    if name is None or (workspace.pipeline is not None and release_sequence(name) < workspace.pipeline.sequence):
        return workspace
    try:
        brought = bringing.bring(workspace, name, workspace.pipeline)
        if brought.lacking:
            raise ConfigurationError(f"{brought.lacking}, and pull again")
    except DeidError as error:
        tell(f"pipeline {release_sequence(name)} could not be brought: {error}")
        return workspace
    record_facts(workspace, brought.judged.facts, brought.judged.policy)
    pipeline = CurrentRelease(name, brought.release.digest)
    return workspace.update_settings(lambda now: replace(now, pipeline=pipeline))


def _prune_releases(workspace: Workspace, before: Workspace) -> None:
    """Remove the releases that nothing uses any more; a command that began before this pull may still read its own."""
    releases = (workspace.current, workspace.pipeline, before.current, before.pipeline)
    if releases[:2] == releases[2:]:
        return
    used = {release.folder for release in releases if release is not None}
    with map_os_errors(workspace.releases):
        for folder in workspace.releases.iterdir():
            if RELEASE_NAME.fullmatch(folder.name) and folder.name not in used:
                shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Gate:
    """What the hospital's policy lets into its house."""

    workspace: Workspace
    policy: SitePolicy
    acceptance: Acceptance | None

    def check_size(self, manifest: ReleaseManifest) -> None:
        """Returns if a release is no larger than it may be, before anything of it is fetched."""
        broken = breach_of_size(self.policy, sum(entry.bytes for entry in manifest.files.values()))
        if broken and self.acceptance is None:
            raise refusal(manifest.sequence, broken, Step.PULL)

    def check_present(self, release: VerifiedRelease) -> Judgement:
        """Judges a release that an earlier pull has brought: the policy may have changed, and the release aged."""
        return self._kept(judge_release(self.workspace, release.digest))

    def check(self, release: VerifiedRelease, construction: Construction) -> Judgement:
        """Judges a release by its files."""
        facts = examine(release, public_lists(self.workspace, self.policy), construction)
        return self._kept(judge_facts(self.policy, facts))

    def _kept(self, judgement: Judgement) -> Judgement:
        require_kept(self.workspace, judgement, Step.PULL, self.acceptance)
        return judgement


@contextmanager
def _keep_metadata(workspace: Workspace, client: ReleaseClient, known: Trust | None) -> Iterator[None]:
    """Keeps the metadata that a pull has verified even where it fails: what was seen must not be unseen, nor a key come back."""
    try:
        yield
    except BaseException:
        # Also where a person or the machine ends it.
        # Before the first pull has succeeded nothing is pinned.
        if known is not None and (found := client.trust(known.source)) != known:
            found.save(workspace.trust)
        raise


def _place(source: str | None, known: Trust | None) -> str:
    if source is None:
        if known is None:
            raise SiteError("expected a folder or an address to pull from, got none; give it once, it is remembered")
        return known.source
    place = source if "://" in source else str(real_path(Path(source)))
    # It will be remembered: what the file of trust can't hold is refused before anything is fetched.
    canonical_bytes(place)
    return place


def _check_place(used: CurrentRelease | None, name: str, manifest: ReleaseManifest) -> None:
    """Returns if a release may follow the one that is used."""
    if name != release_name(manifest.sequence, manifest.kind):
        raise SchemaError("a release of its own name", received="another", advice="tell the provider", place=name)
    if used is None:
        return
    if manifest.sequence < used.sequence:
        raise SiteError(
            f"expected release {used.sequence} or a later one, got {manifest.sequence}; ask the provider for the latest"
        )
    if manifest.sequence == used.sequence and manifest.digest != used.digest:
        raise SiteError(f"expected one release {used.sequence}, got a second one of that number; tell the provider")


def _present(workspace: Workspace, name: str, digest: str) -> VerifiedRelease | None:
    """The release, if an earlier pull has brought it and it is sound; else there is room for it."""
    folder = workspace.releases / name
    if not folder.exists():
        return None
    try:
        return verify_release(folder, digest)
    except (ProtocolError, StorageError):
        with map_os_errors(folder):
            shutil.rmtree(folder)
        return None


@dataclass(frozen=True)
class _Brought:
    """A release in its place, verified and judged.

    Args:
        release: verified.
        judged: by the policy.
        lacking: what its pipeline needs and this machine has not, in words; "" where it can run, or there is none.
    """

    release: VerifiedRelease
    judged: Judgement
    lacking: str


@dataclass(frozen=True)
class _Bringing:
    """How releases come from a source into the workspace."""

    client: ReleaseClient
    scratch: Path
    embeddings: Path | None
    network: Network | None
    max_bytes: int
    gate: _Gate
    log: FollowedLog | None

    def bring(self, workspace: Workspace, name: str, used: CurrentRelease | None) -> _Brought:
        """A release in its place, verified and judged.

        Args:
            workspace: of the site.
            name: of the release.
            used: the release whose place it takes.

        Raises:
            MissingExtraError: its pipeline can't run here, and would take the place of one that does.
        """
        listed = self.client.read(f"{name}/{MANIFEST_NAME}", MAX_RELEASE_BYTES)
        manifest = ReleaseManifest.from_bytes(listed)
        _check_place(used, name, manifest)
        if self.log is not None:
            self.log.check_release(manifest)
        check_sizes(manifest.files, self.max_bytes)
        self.gate.check_size(manifest)
        release = _present(workspace, name, manifest.digest)
        if release is not None:
            known = workspace.pipeline == CurrentRelease(name, manifest.digest)
            lacking = "" if known else _lacking(release.folder, manifest, workspace.pipeline, load_construction)
            return _Brought(release, self.gate.check_present(release), lacking)
        incoming = self.scratch / name
        Reception(self.client, manifest, KnownFiles(workspace), self.embeddings, self.network).into(incoming)
        write_bytes(incoming / MANIFEST_NAME, listed)
        return _take(incoming, workspace, manifest, self.gate)


def _take(incoming: Path, workspace: Workspace, manifest: ReleaseManifest, gate: _Gate) -> _Brought:
    """Verify a folder as a whole, load it once, judge it, and put it in its place."""
    arrived, target = verify_release(incoming, manifest.digest), workspace.releases / incoming.name
    # Whatever does not load, or is not what it says of itself, must not become the release in use.
    construction = load_construction(incoming)
    check_record(construction, incoming / RECORD)
    lacking = _lacking(incoming, manifest, workspace.pipeline, lambda folder: construction)
    judged = gate.check(arrived, construction)
    with map_os_errors(target):
        for path in (*incoming.rglob("*"), incoming):
            flush(path)
        target.parent.mkdir(exist_ok=True)
        incoming.rename(target)
        flush(target.parent)
    return _Brought(verify_release(target, manifest.digest), judged, lacking)


def _lacking(
    folder: Path, manifest: ReleaseManifest, used: CurrentRelease | None, load: Callable[[Path], Construction]
) -> str:
    """What the pipeline of a release needs and this machine has not, in words; whatever else keeps it from loading raises."""
    if manifest.kind != "pipeline":
        return ""
    settings, points = load_settings(folder), load_points(folder)
    try:
        head = load_head(folder)
    except MissingExtraError as error:
        if used is None:
            return str(error)
        # What finds PHI in the house must not go.
        raise MissingExtraError(
            f"release {manifest.sequence}: {error}, and pull again; until then all goes on with what is here, pipeline {used.sequence} among it"
        ) from error
    Pipeline(load(folder), head, settings, points)
    return ""
