"""The report that `encode` leaves beside a share, for the hospital itself: how well each PHI category is protected, and what looked for more PHI.

It holds figures of these very notes, down to single words, so it stays in the house: no command sends it. It is signed by the site's key: who
approves a share goes by it, and it is copied with the share from machine to machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundation.files import write_text
from protocols.bounded_reading import read_bounded
from protocols.errors import ProtocolError, UnknownSignerError
from protocols.keys.signing import REPORT_CONTEXT, PrivateKey, PublicKey, Signature
from protocols.share.manifest import ShareManifest
from shared.constructions.construction import Protection
from shared.pipeline.forgotten.checker import HIDE_ABOVE
from site_client.errors import SiteError
from site_client.sharing.drafts import REPORT_SUFFIX, report_path
from site_client.sharing.guard import Guarded
from site_client.sharing.protection import guarded_json

FORMAT = 2
# Of versions that signed none.
_UNSIGNED = 1
_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class CategoryReport:
    """What the best possible attacker reaches for one PHI category.

    Args:
        mean: share of right decisions, on average.
        p95: 95th percentile.
        p99: 99th percentile.
        maximum: the worst word; of a sample where not all pairs were looked at.
        with_casing: the mean when casing is counted in; None where it was not computed.
        tokens: PHI words looked at.
    """

    mean: float
    p95: float
    p99: float
    maximum: float
    with_casing: float | None
    tokens: int


@dataclass(frozen=True)
class Looked:
    """What looked for PHI that nobody had labelled, and what else was asked of an encoding.

    Args:
        hide_above: how probable it had to be that something is PHI for it to be hidden; None where nothing looked, neither patterns
            nor lists nor a pipeline.
        pipeline: digest of the release whose pipeline looked; None where none did.
        hidden: stretches that nobody had labelled, and that were hidden; those of notes that were left out count, too.
        notes: that were given.
        without_labels: those of them in which nothing is labelled.
        again: whether earlier shares were to leave again.
        given_up: earlier shares of whose notes nobody knows any more.
        lists: whether lists of the hospital's own were looked for.
    """

    hide_above: float | None
    pipeline: str | None
    hidden: int
    notes: int
    without_labels: int
    again: bool = False
    given_up: tuple[int, ...] = ()
    lists: bool = False


@dataclass(frozen=True)
class EncodeReport:
    """What is known of a share from its encoding.

    Args:
        protection: of the construction.
        neighbours: words that each PHI word was held against; 0 where none had to be.
        sample: whether only some pairs were looked at.
        categories: by PHI category; "all" is all of them together.
        looked: for more PHI; None where an earlier version wrote the report, which signed none, so that anybody may have.
        hidden_words: labelled PHI of no category of the release that is in the share; None likewise.
    """

    protection: Protection
    neighbours: int
    sample: bool
    categories: dict[str, CategoryReport]
    looked: Looked | None
    hidden_words: int | None

    @property
    def known_ahead(self) -> bool:
        """Whether the figures hold for any notes, so that there is nothing to tell of these."""
        return self.protection is Protection.SURROGATES


def write_report(share: Path, manifest: ShareManifest, guarded: Guarded, looked: Looked, key: PrivateKey) -> None:
    """Write the report of a share that was just sealed.

    Args:
        share: the payload.
        manifest: of it.
        guarded: what the best attacker tells.
        looked: for more PHI.
        key: of the site.

    Raises:
        StorageError: no room, no permission.
    """
    stated = {
        "format": FORMAT,
        "payload_sha256": manifest.payload_sha256,
        "looked": asdict(looked),
        **guarded_json(guarded),
    }
    signature = key.sign(REPORT_CONTEXT, _signed_bytes(stated)).to_json()
    write_text(report_path(share), json.dumps({"report": stated, "signature": signature}, indent=1, sort_keys=True))


def read_report(share: Path, manifest: ShareManifest, keys: Sequence[PublicKey]) -> EncodeReport | None:
    """The report of exactly this share, as this site signed it, or as an earlier version wrote it; None where there is none.

    Args:
        share: the payload.
        manifest: of it, verified.
        keys: that the site has or had.

    Raises:
        SiteError: it is damaged, changed, or of another share.
    """
    path = report_path(share)
    if not path.exists():
        return None
    wrong = SiteError(
        f"{path.name}: expected the report of this share as this site signed it, got another file, or one that was changed; encode the notes "
        "again, or remove it"
    )
    try:
        read = json.loads(read_bounded(path, _MAX_BYTES))
        unsigned = read.get("format") == _UNSIGNED
        stated = read if unsigned else _signed_part(read, keys)
        if (
            stated["format"] != (_UNSIGNED if unsigned else FORMAT)
            or stated["payload_sha256"] != manifest.payload_sha256
        ):
            raise wrong
        found = stated["white_box"]
        casing = found["with_casing"]
        categories = {
            str(name): CategoryReport(
                float(one["mean"]),
                float(one["p95"]),
                float(one["p99"]),
                float(one["maximum"]),
                float(casing[name]["mean"]) if name in casing else None,
                int(one["tokens"]),
            )
            for name, one in found["representation"].items()
        }
        protection = Protection(found["construction"])
        looked, words = None, None
        if not unsigned:
            looked, hidden = _looked(stated["looked"]), stated["hidden"]
            # Where PHI is not replaced the sentences that hold it stay here.
            words = 0 if hidden["sentences_left_out"] else int(hidden["words"])
        return EncodeReport(protection, int(found["neighbours"]), bool(found["sample"]), categories, looked, words)
    except (ProtocolError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise wrong from error


def _signed_part(envelope: dict[str, Any], keys: Sequence[PublicKey]) -> dict[str, Any]:
    """What this site has signed.

    Raises:
        ProtocolError: it has not.
    """
    stated, signature = envelope["report"], Signature.from_json(envelope["signature"], REPORT_SUFFIX)
    key = next((key for key in keys if key.key_id == signature.key_id), None)
    if key is None:
        raise UnknownSignerError("a report that this site signed", received="one by another key")
    key.verify(REPORT_CONTEXT, _signed_bytes(stated), signature)
    return dict(stated)


def _signed_bytes(stated: dict[str, Any]) -> bytes:
    """A report as it is signed; with fractions, so no canonical JSON."""
    return json.dumps(stated, sort_keys=True).encode("ascii")


def _looked(stated: dict[str, Any]) -> Looked:
    above, pipeline = stated["hide_above"], stated["pipeline"]
    return Looked(
        None if above is None else float(above),
        None if pipeline is None else str(pipeline),
        int(stated["hidden"]),
        int(stated["notes"]),
        int(stated["without_labels"]),
        bool(stated["again"]),
        tuple(int(one) for one in stated["given_up"]),
        bool(stated["lists"]),
    )


def warnings(report: EncodeReport | None) -> list[str]:
    """What who approves has to know ahead of all else: that nothing looked for forgotten labels, or less than usual; most often none.

    Args:
        report: of the share; None where it is not there.
    """
    if report is None:
        # Otherwise a share that nothing looked at would pass for one that was, once it is copied.
        return [
            f"whether anything looked for PHI that nobody labelled is not known here: the report of the share (*{REPORT_SUFFIX}) is not beside it; copy it along "
            "from where the share was encoded"
        ]
    looked = report.looked
    if looked is None:
        return [
            f"whether anything looked for PHI that nobody labelled is not known: the report of the share (*{REPORT_SUFFIX}) is one of an earlier version, which signed "
            "none, so whoever could write it may have changed it; encode the notes again to know"
        ]
    if looked.hide_above is None:
        return ["nothing looked for PHI that nobody labelled: what annotators missed leaves as any other word"]
    found = []
    if looked.pipeline is None:
        found.append(
            "no pipeline looked for PHI that nobody labelled, patterns and lists of names alone: of what annotators missed they find less"
        )
    if looked.hide_above > HIDE_ABOVE:
        found.append(
            f"only what is at least {looked.hide_above:.0%} sure to be PHI that nobody labelled was hidden, not from the usual {HIDE_ABOVE:.0%} on"
        )
    return found


def looked_lines(looked: Looked | None) -> list[str]:
    """What looked for PHI that nobody labelled, in words."""
    if looked is None:
        return ["what looked for PHI that nobody labelled is not recorded"]
    lines = [f"{looked.without_labels} of {looked.notes} notes have no label"]
    if looked.hide_above is None:
        lines.append("for PHI that nobody labelled nothing looked")
    else:
        own = ", the hospital's own lists" if looked.lists else ""
        which = (
            f"patterns{own} and lists of names looked, and no pipeline"
            if looked.pipeline is None
            else f"patterns{own}, lists of names and the pipeline {looked.pipeline[:12]} looked"
        )
        lines.append(
            f"for PHI that nobody labelled {which}: {looked.hidden} stretches that are at least {looked.hide_above:.0%} sure were hidden"
        )
    if looked.again:
        lines.append("whole earlier shares leave again, as they were labelled then")
    if looked.given_up:
        lines.append(
            f"which notes left with earlier shares ({', '.join(map(str, looked.given_up))}) is not known any more: they may leave a second time"
        )
    return lines
