"""Looks at the files of a release, whatever it says of itself, and judges its audit anew. Loads what a release is made of."""

from __future__ import annotations

from collections.abc import Sequence

from foundation.errors import StorageError
from protocols.errors import ProtocolError
from protocols.release.verification import VerifiedRelease
from shared.anonymity.public_lists import PublicList, read_public_list
from shared.anonymity.shipped_lists import shipped_lists
from shared.constructions.construction import Construction
from shared.constructions.files import FILES, FURTHER_FILES, digest_of
from shared.constructions.registry import load_construction
from shared.errors import ModelError
from shared.privacy.audit_record import MAX_RECORD_BYTES, RECORD, parse_audit
from shared.privacy.policy import Verdict, load_policy
from site_client.policy.facts import AuditFacts, ReleaseFacts
from site_client.policy.site_policy import SitePolicy
from site_client.policy.stored import words_path
from site_client.workspace import Workspace


def public_lists(workspace: Workspace, policy: SitePolicy) -> list[PublicList]:
    """The lists by which a word is public at this hospital: those of the program, and its own; none is the provider's.

    Raises:
        StorageError: the hospital's own can't be read.
    """
    own = words_path(workspace, policy)
    return [*shipped_lists(), *([] if own is None else [read_public_list(own)])]


def examine(
    release: VerifiedRelease, lists: Sequence[PublicList], construction: Construction | None = None
) -> ReleaseFacts:
    """What the files of a release show.

    Args:
        release: verified.
        lists: public words, none of them the provider's.
        construction: loaded from it, where that is done already.

    Raises:
        EmbeddingError, ModelError: it does not load, no construction writes such files, or they are of other labels than it states.
    """
    loaded = load_construction(release.folder) if construction is None else construction
    if loaded.scheme.name != release.manifest.label_scheme:
        raise ModelError(
            f"expected files of the label scheme {release.manifest.label_scheme} that the release states, got those of "
            f"{loaded.scheme.name}; tell the provider"
        )
    figures = loaded.recompute(lists, release.folder)
    audit = _audit(release, own_set=loaded.own_set() is not None)
    return ReleaseFacts(release.digest, release.manifest.sequence, release.manifest.created, figures, audit)


def digest_of_representer(release: VerifiedRelease) -> str:
    """SHA-256 over the files of a release that decide what a word is shown as; a pipeline has that of its representer."""
    files = release.manifest.files
    return digest_of(files[name].sha256 for name in (*FILES, *FURTHER_FILES) if name in files)


def _audit(release: VerifiedRelease, *, own_set: bool) -> AuditFacts | None:
    """The audit of a release under the limits that ship with this program, whatever limits and verdict the record states."""
    files = release.manifest.files
    if RECORD not in files or files[RECORD].bytes > MAX_RECORD_BYTES:
        return None
    try:
        record = parse_audit(release.read(RECORD))
    except (ModelError, ProtocolError, StorageError):
        return None
    here = digest_of_representer(release)
    verdicts = record.judged(load_policy(), own_set=own_set)
    failed = tuple(_failed(one) for one in verdicts if not one.passed)
    preset = record.preset if record.preset in ("full", "quick") else "unknown"
    asked = sum(not one.skipped for one in verdicts)
    return AuditFacts(record.representer == here, preset, record.made, asked, failed)


def _failed(verdict: Verdict) -> str:
    return f"{verdict.limit.attack}, {verdict.limit.measure}: {verdict.reason}"
