"""The report that `encode` leaves beside a share, for the hospital itself: how well each PHI category is protected.

It holds figures of these very notes, down to single words, so it stays in the house: no command sends it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_text
from protocols.bounded_reading import read_bounded
from protocols.share.manifest import ShareManifest
from shared.constructions.construction import Protection
from site_client.errors import SiteError
from site_client.sharing.guard import Guarded
from site_client.sharing.protection import guarded_json

FORMAT = 1
_MAX_BYTES = 1 << 20
_SUFFIX = ".report.json"


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
class EncodeReport:
    """What is known of a share from its encoding.

    Args:
        protection: of the construction.
        neighbours: words that each PHI word was held against; 0 where none had to be.
        sample: whether only some pairs were looked at.
        categories: by PHI category; "all" is all of them together.
    """

    protection: Protection
    neighbours: int
    sample: bool
    categories: dict[str, CategoryReport]

    @property
    def known_ahead(self) -> bool:
        """Whether the figures hold for any notes, so that there is nothing to tell of these."""
        return self.protection is Protection.SURROGATES


def report_path(share: Path) -> Path:
    """Where the report of a share lies: beside it."""
    return share.with_name(share.name + _SUFFIX)


def write_report(share: Path, manifest: ShareManifest, guarded: Guarded) -> None:
    """Write the report of a share that was just sealed.

    Raises:
        StorageError: no room, no permission.
    """
    stated = {"format": FORMAT, "payload_sha256": manifest.payload_sha256, **guarded_json(guarded)}
    write_text(report_path(share), json.dumps(stated, indent=1, sort_keys=True))


def read_report(share: Path, manifest: ShareManifest) -> EncodeReport | None:
    """The report of exactly this share; None where there is none.

    Raises:
        SiteError: it is damaged, or of another share.
    """
    path = report_path(share)
    if not path.exists():
        return None
    wrong = SiteError(
        f"{path.name}: expected the report of this share, got another file; encode the notes again or remove it"
    )
    try:
        stated = json.loads(read_bounded(path, _MAX_BYTES))
        if stated["format"] != FORMAT or stated["payload_sha256"] != manifest.payload_sha256:
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
        return EncodeReport(protection, int(found["neighbours"]), bool(found["sample"]), categories)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise wrong from error
