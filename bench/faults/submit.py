"""What may be disturbed at a hospital that writes a share to a stick, and what must be true of both afterwards.

- lost: the command said that the share lies on the stick, and it does not, or the ledger does not know of it;
- unverified: a file on the stick has the name of a bundle and is none, or a bundle left without standing in the ledger;
- stuck: the same command, given again, does not end well, or the ledger does not verify.
"""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from aggregator import workspace as central
from aggregator.enrolled import sites
from aggregator.publishing import releases
from bench.exchange.world import SCHEME, Sentences
from bench.faults.intake import Damage, Subject
from bench.faults.interruptions import Outcome, run_undisturbed
from foundation.errors import DeidError, StorageError
from foundation.files import write_text
from protocols.errors import ProtocolError
from protocols.payload.opening import create_payload
from protocols.share.bundle import verify_bundle
from protocols.share.manifest import ShareFields
from protocols.share.sealing import seal_share
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.labels import load_scheme
from shared.models.representer import Representer, RepresenterConfig
from site_client import ledger
from site_client import workspace as hospital
from site_client.exchange.departures import departures
from site_client.exchange.submit import require_policy, submit_to_folder
from site_client.keys import request_enrolment
from site_client.policy.enforcing import Acceptance
from site_client.releases.pull import pull
from site_client.sharing.digest_files import ShareDigests, save_digests

_DIM = 8
# Its release is not audited.
_ACCEPTED = Acceptance("a measurement")


def subject(folder: Path) -> Subject[Path]:
    """The work at a hospital that was made ready below a folder."""
    template = build(folder / "submit")
    return Subject("submit to a folder", partial(copy_hospital, template, folder), submit, examine_hospital)


def build(root: Path) -> Path:
    """A hospital that has pulled a release and encoded a share; returns the folder with both."""
    encode(build_hospital(root), root / "share.parquet", 1, Sentences(0, sentences=300))
    return root


def build_hospital(root: Path, database: str | None = None) -> hospital.Workspace:
    """A hospital that has enrolled and pulled a release, beside its provider."""
    scheme = load_scheme(SCHEME)
    provider = central.create(root / "provider", "provider", SCHEME, database=database)
    provider.representer.mkdir()
    words = WordVectors(("one", "two"), unit_rows(np.eye(2, _DIM, dtype=np.float32)))
    representer = Representer(RepresenterConfig(_DIM, dim=_DIM, hidden=4)).eval()
    NoisyRecurrent(words, representer, scheme).save(provider.representer)
    write_text(provider.representer / "training.json", "{}", private=False)
    releases.publish_representer(provider, releases.Publishing(audited=False))
    fingerprint = provider.repository().fingerprint.key_id
    site, _ = pull(hospital.create(root / "site", "north"), str(provider.releases), fingerprint, acceptance=_ACCEPTED)
    request_enrolment(site, root / "request.json", "", sites.today())
    sites.enrol(provider, root / "request.json", site.key_in_use.key_id)
    provider.registry().close()
    return site


def encode(site: hospital.Workspace, path: Path, sequence: int, sentences: Sentences) -> None:
    """Writes a share of a hospital, its manifest beside it; it may leave."""
    with create_payload(path, dim=_DIM) as writer:
        writer.append(sentences.block(0))
    fields = ShareFields(
        site=site.site,
        sequence=sequence,
        recipient=site.pinned_provider().signing_key.key_id,
        release=site.release().digest,
        label_scheme=SCHEME,
        tags=len(load_scheme(SCHEME).tags),
        value_bound=8.0,
        created=datetime.date(2026, 1, 31),
        software="deid-commons",
        protection={},
    )
    seal_share(path, fields, site.key())
    save_digests(site, sequence, ShareDigests(frozenset()))
    require_policy(site, path, _ACCEPTED)


def submit(root: Path) -> bytes:
    """Writes the share to the stick; says the digest of what lies there."""
    site = hospital.open_workspace(root / "site")
    return _checked(site, submit_to_folder(site, root / "share.parquet", root / "stick", "A. Weiss"))


@contextmanager
def copy_hospital(template: Path, folder: Path) -> Iterator[Path]:
    """A hospital that may be disturbed."""
    root = folder / "disturbed-site"
    shutil.copytree(template, root, ignore=shutil.ignore_patterns("provider"))
    try:
        yield root
    finally:
        shutil.rmtree(root)


def examine_hospital(root: Path, outcome: Outcome) -> Damage:
    """Examines hospital and stick after a disturbance, in a process of its own."""
    found = run_undisturbed(lambda: json.dumps(vars(_examined(root, outcome.said))).encode())
    return Damage(stuck=1) if found.said is None else Damage(**json.loads(found.said))


def _examined(root: Path, acknowledged: bytes | None) -> Damage:
    site = hospital.open_workspace(root / "site")
    unverified = _unverified(site, root / "stick")
    lost = acknowledged is not None and acknowledged not in _bundles(site, root / "stick")
    try:
        again = submit(root)
        ledger.verify(site)
    except DeidError:
        return Damage(int(lost), unverified, 1)
    lost = lost or (acknowledged is not None and acknowledged != again)
    return Damage(int(lost), unverified + _unverified(site, root / "stick"), 0)


def _unverified(site: hospital.Workspace, stick: Path) -> int:
    """Files on the stick that are no bundles, or left without a word."""
    files = list(stick.glob("*.share")) if stick.exists() else []
    told = {departure.bundle_sha256 for departure in departures(site)}
    good = [digest for digest in _bundles(site, stick) if digest.decode() in told]
    return len(files) - len(good)


def _bundles(site: hospital.Workspace, stick: Path) -> list[bytes]:
    found = []
    for path in stick.glob("*.share") if stick.exists() else ():
        try:
            found.append(_checked(site, path))
        except (ProtocolError, StorageError):
            continue
    return found


def _checked(site: hospital.Workspace, path: Path) -> bytes:
    """The digest of a bundle, verified as the provider verifies it."""
    recipient = site.pinned_provider().recipient.key_id
    return verify_bundle(path, public_keys={site.site: site.public_keys}, recipient_id=recipient).sha256.encode()
