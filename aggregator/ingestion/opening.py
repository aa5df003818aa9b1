"""Opens a bundle that was received, and checks all of it that can be checked without knowing other shares.

Nothing is used before what vouches for it: the outside, then the encryption, the signed manifest, the digest of the payload,
the terms, and at last the payload itself, which is parsed in a child process (`aggregator.sandbox.parent`) only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import KilledError, SandboxError, UnconfinedError
from aggregator.ingestion.payload_check import PayloadFindings, PayloadQuestion, check_payload, stated_counts
from aggregator.ingestion.sentence_digests import MOST
from aggregator.ingestion.share_terms import ShareTerms
from aggregator.sandbox import parent as sandbox
from foundation.errors import StorageError
from foundation.reading import regular_size
from protocols.canonical import Json
from protocols.errors import ProtocolError
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PublicKey
from protocols.payload.opening import PayloadLimits
from protocols.share.bundle import VerifiedBundle, open_bundle, verify_bundle
from protocols.share.manifest_envelope import parse_manifest
from protocols.share.sealing import read_envelope

LIMITS = PayloadLimits()
# The slowest machine that we know reads ten times as fast.
_CHECKED_BYTES_PER_S = 5_000_000
# What a digest of a sentence takes as text.
_DIGEST_CHARACTERS = 12


@dataclass(frozen=True)
class OpenedShare:
    """A share as far as it could be opened.

    Args:
        key: that signed the bundle; None if that could not be verified.
        envelope: its signed manifest; b"" if that could not be verified.
        payload: the file, verified; None if the share is refused.
        error: why it is refused.
        findings: about its sentences; None if the share is refused.
    """

    key: PublicKey | None = None
    envelope: bytes = b""
    payload: Path | None = None
    error: Exception | None = None
    findings: PayloadFindings | None = None


def open_received(
    path: Path,
    folder: Path,
    keys: Mapping[str, Sequence[PublicKey]],
    recipient: RecipientPrivateKey,
    terms: ShareTerms,
    patient: bool = True,
) -> OpenedShare:
    """Opens and checks a share as far as it is sound.

    Args:
        path: the bundle.
        folder: where it is decrypted.
        keys: the keys that each site could sign with when it came.
        recipient: the key that it is encrypted to.
        terms: what it must fit.
        patient: whether a check that somebody killed is repeated later; else the share is refused: it may be its bytes that take the
            memory.

    Raises:
        StorageError, UnconfinedError: it can't be done here and now, which says nothing about the share.
    """
    key, envelope = None, b""
    try:
        bundle = verify_bundle(path, public_keys=keys, recipient_id=recipient.public_key.key_id)
        key = bundle.key
        payload = open_bundle(bundle, recipient, folder)
        envelope = read_envelope(payload)
        terms.check(parse_manifest(envelope))
        findings = _check_payload(payload, bundle, terms)
    except UnconfinedError as error:
        if patient or not isinstance(error, KilledError):
            raise
        killed = SandboxError(
            "the check of the payload: expected an end within a day, got one that was killed each time; refuse the share and ask its site about it"
        )
        return OpenedShare(key, envelope, error=killed)
    except (ProtocolError, SandboxError) as error:
        return OpenedShare(key, envelope, error=error)
    return OpenedShare(key, envelope, payload, findings=findings)


def _check_payload(payload: Path, bundle: VerifiedBundle, terms: ShareTerms) -> PayloadFindings:
    """Lets a child process parse the payload."""
    seconds = 120 + regular_size(payload) // _CHECKED_BYTES_PER_S
    manifest = parse_manifest(read_envelope(payload))
    # It keeps up to twice as many digests as it says, as numbers of Python.
    digests = min(manifest.sentences, MOST)
    limits = sandbox.SandboxLimits(
        memory_bytes=(2 << 30) + 256 * digests,
        cpu_s=seconds,
        wall_s=5 * seconds,
        answer_bytes=(64 << 10) + _DIGEST_CHARACTERS * digests,
    )
    question = PayloadQuestion(
        payload,
        bundle.header.site,
        bundle.key,
        terms.expected_of(manifest),
        LIMITS,
        terms.overlap_key.hex(),
        terms.codebook,
        terms.exact,
        terms.codes,
    )
    try:
        findings = PayloadFindings.from_json(_answer(question, limits))
    except StorageError as error:
        # The bytes were written here a moment ago: that they can't be read, twice, says something about them.
        raise SandboxError(f"the check of the payload: {error}") from error
    if findings is None or findings.counts != stated_counts(manifest):
        raise SandboxError(
            "the check of the payload: expected the counts of the manifest, got others; refuse the share"
        )
    return findings


def _answer(question: PayloadQuestion, limits: sandbox.SandboxLimits) -> Json:
    """What the child found; asked once more if it died or could not read, which a machine in trouble does to it too."""
    values, readable = question.to_json(), [question.payload.parent]
    if question.codebook is not None:
        readable.append(question.codebook)
    if question.codes is not None:
        readable.append(question.codes.places)
    with suppress(StorageError, SandboxError):
        return sandbox.run(check_payload, values, limits, readable).result
    return sandbox.run(check_payload, values, limits, readable).result
