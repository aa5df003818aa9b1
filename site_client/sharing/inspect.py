"""`site-client inspect`: what a share would tell whoever gets it, in words, column by column.

The share is verified exactly as the provider will verify it. Then the payload is searched for the text of the notes, where
the notes are given: none may occur in it. The manifest holds nothing but what is checked field by field and shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import StorageError
from protocols.errors import ProtocolError
from protocols.payload.sentence_block import CODES, row_bytes
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import open_share
from shared.document import Document
from shared.errors import EmbeddingError, ModelError
from shared.labels import LabelScheme
from site_client.errors import PolicyError
from site_client.policy.enforcing import judge_release
from site_client.sharing.encode_report import EncodeReport, read_report
from site_client.sharing.protection import protection_lines
from site_client.sharing.search import STRETCH_BYTES, Search, search
from site_client.sharing.side_channels import Channels, channels
from site_client.workspace import Workspace


@dataclass(frozen=True)
class Column:
    """A column of the payload.

    Args:
        name: as the file has it.
        meaning: in words.
        bytes: its size.
    """

    name: str
    meaning: str
    bytes: int


@dataclass(frozen=True)
class Inspection:
    """What is in a share.

    Args:
        manifest: verified.
        columns: all columns of the payload.
        channels: counts of what travels beside the representation.
        report: what encode found about the protection of each category; None where its report is not beside the share.
        searched: for text of the notes; None where no notes were given.
        judged: what protects it and what the hospital's policy says to its release, in words.
    """

    manifest: ShareManifest
    columns: tuple[Column, ...]
    channels: Channels
    report: EncodeReport | None
    searched: Search | None
    judged: tuple[str, ...] = ()

    @property
    def format_bytes(self) -> int:
        """What the file holds beside its columns: names, sizes and checksums, every field of which was checked."""
        return self.manifest.payload_bytes - sum(column.bytes for column in self.columns)

    def as_json(self) -> dict[str, object]:
        """For other programs."""
        return {
            "manifest": self.manifest.to_json(),
            "manifest_sha256": self.manifest.sha256,
            "phi_tokens": {one.name: one.tokens for one in self.channels.categories},
            "columns": {column.name: column.bytes for column in self.columns},
            "sentences_alone": self.channels.alone,
            "white_box": None
            if self.report is None
            else {name: vars(one) for name, one in self.report.categories.items()},
            "searched": None if self.searched is None else vars(self.searched),
            "judged": list(self.judged),
        }


def inspect(workspace: Workspace, path: Path, scheme: LabelScheme, documents: Iterable[Document] | None) -> Inspection:
    """Verify a share of this site and say what is in it.

    Args:
        workspace: of the site.
        path: the payload, its manifest beside it.
        scheme: of the release.
        documents: the notes that it was made from, to search the share for their text.

    Raises:
        ProtocolError: the share is damaged or not this site's.
        SiteError: text of the notes occurs in it.
    """
    share = open_share(path, public_keys={workspace.site: workspace.public_keys})
    manifest = share.manifest
    with share.open() as reader:
        counted = channels(reader, scheme)
    searched = None if documents is None else search(path, documents)
    judged = _judged(workspace, manifest.release)
    return Inspection(manifest, _columns(manifest), counted, read_report(path, manifest), searched, judged)


def _judged(workspace: Workspace, release: str) -> tuple[str, ...]:
    """What protects shares of a release; looking at a share stays possible whatever became of its release."""
    try:
        return tuple(judge_release(workspace, release).lines())
    except (PolicyError, ProtocolError, StorageError, ModelError, EmbeddingError) as error:
        return (f"its release was NOT judged by the hospital's policy: {error}",)


def _columns(manifest: ShareManifest) -> tuple[Column, ...]:
    # Parquet keeps sentences one by one, each entry with its length; HDF5 the places where sentences begin.
    parquet = manifest.payload_format == "parquet"
    each = 4 * manifest.sentences if parquet else 0
    return (
        _shown(manifest, each),
        Column(
            "tags",
            "a label for each token: no PHI, begin or inside of a PHI category, or unknown; in clear",
            manifest.tokens + each,
        ),
        Column(
            "casing",
            "how each token is written, one of 7 classes such as 'all lower' or 'numeric'; in clear",
            manifest.tokens + each,
        ),
        Column(
            "tokens" if parquet else "offsets",
            "the number of tokens of each sentence; in clear",
            4 * manifest.sentences if parquet else 8 * (manifest.sentences + 1),
        ),
    )


def _shown(manifest: ShareManifest, each: int) -> Column:
    """What shows the words."""
    size = row_bytes(manifest.dim) * manifest.tokens + each
    if manifest.dim == CODES:
        return Column("codes", "a number for each token: a public word, or a group of words that look alike", size)
    return Column(
        "representation",
        f"{manifest.dim} numbers a token, of 16 bits each: what the released representer makes of the word and its sentence",
        size,
    )


def inspection_lines(inspection: Inspection) -> list[str]:
    """The inspection in words."""
    manifest, counted = inspection.manifest, inspection.channels
    lines = [
        f"share {manifest.sequence} of {manifest.site}, made {manifest.created} with release {manifest.release[:12]}",
        f"{manifest.sentences} sentences, {manifest.tokens} tokens, {manifest.payload_bytes} bytes of {manifest.payload_format}",
        "",
        "what leaves:",
        *(f"  {column.name:15} {column.meaning}; {column.bytes} bytes" for column in inspection.columns),
        f"  {'(the format)':15} names of these columns, sizes and checksums; {inspection.format_bytes} bytes",
        "  sentences are in random order over the whole share; no text, no ids, no file names, no offsets, no times",
        "",
        "PHI tokens by category, and how most of them are written:",
        *(f"  {one.name:35} {one.tokens:8}  {next(iter(one.casing))}" for one in counted.categories),
        f"  {counted.alone} of {manifest.sentences} sentences have a pattern of labels and casing that no other one has: who",
        "  already holds such a sentence can tell that it is in the share",
        "",
        "protection, as this hospital found it:",
        *(f"  {line}" for line in inspection.judged),
        "protection, as the share states it:",
        *(f"  {line}" for line in protection_lines(manifest.protection)),
        *attacker_lines(inspection.report),
    ]
    return lines if inspection.searched is None else [*lines, "", *search_lines(inspection.searched)]


def attacker_lines(report: EncodeReport | None) -> list[str]:
    """What the best possible attacker reaches for each PHI category; nothing where it is a guess for all."""
    if report is None or report.known_ahead:
        return []
    return [
        "",
        f"best possible attacker by category: {'mean':>14} {'95th':>7} {'99th percentile':>15} {'maximum':>8}",
        *(
            f"  {name:40} {one.mean:7.1%} {one.p95:7.1%} {one.p99:15.1%} {one.maximum:8.1%}"
            for name, one in report.categories.items()
            if one.tokens
        ),
    ]


def search_lines(searched: Search) -> list[str]:
    """What was searched for, how, and that nothing was found."""
    lines = [
        f"searched all {searched.file_bytes} bytes for the text of {searched.notes} notes: {searched.stretches} different stretches of "
        f"{STRETCH_BYTES} bytes that begin with a word, as written and in lower case: none stands in it as text; what codes "
        "or vectors tell of the words is said under protection"
    ]
    if searched.control:
        lines.append("as a test one of them was planted into a copy of the file's beginning: the search found it")
    return lines
