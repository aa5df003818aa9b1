"""`site-client inspect`: what a share would tell whoever gets it: its sentences as anybody reads them, then column by column.

The share is verified exactly as the provider will verify it. Where the notes are given, its sentences stand beside the hospital's own, for
its own eyes, and the payload is searched for their text: none may occur in it. The manifest holds nothing but what is checked
field by field and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from foundation.errors import StorageError
from foundation.feature_columns import FeatureColumn
from protocols.errors import OtherReleaseError, ProtocolError
from protocols.features import stored_name
from protocols.payload.sentence_block import CODES, row_bytes
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import open_share
from shared.constructions.procedures.coded import Coded
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.errors import EmbeddingError, ModelError
from shared.labels import LabelScheme, load_scheme_file
from site_client.errors import PolicyError
from site_client.policy.enforcing import find_release, judge_release
from site_client.sharing.approval import signed_manifest
from site_client.sharing.drafts import require_whole
from site_client.sharing.encode_report import EncodeReport, Looked, looked_lines, read_report, warnings
from site_client.sharing.protection import protection_lines
from site_client.sharing.readable.chance import Chance
from site_client.sharing.readable.figures import KEYS
from site_client.sharing.readable.reading import Reader, Reading, count_lines, sentence_lines
from site_client.sharing.readable.recorded import Given, RecordedNotes
from site_client.sharing.readable.side_channels import Channels, channels
from site_client.sharing.search import STRETCH_BYTES, Search, search
from site_client.workspace import Workspace

SAMPLE, ON_PAGE = 10, 1000
"""So many sentences are shown on a terminal and on a page, unless it is asked for others."""


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
        reading: its sentences as anybody reads them; None where they can't be listed.
        unread: why not, in words.
        features: the feature columns among the columns.
        given: how far the notes that were given are its own; None where none were, or nothing tells.
    """

    manifest: ShareManifest
    columns: tuple[Column, ...]
    channels: Channels
    report: EncodeReport | None
    searched: Search | None
    judged: tuple[str, ...] = ()
    reading: Reading | None = None
    unread: str = ""
    features: tuple[FeatureColumn, ...] = ()
    given: Given | None = None

    @property
    def warnings(self) -> list[str]:
        """What who reads on has to know ahead of all else; most often nothing."""
        of_notes = "" if self.given is None else self.given.warning
        return [
            *([of_notes] if of_notes else []),
            *warnings(self.report),
        ]

    @property
    def format_bytes(self) -> int:
        """What the file holds beside its columns: names, sizes and checksums, every field of which was checked."""
        return self.manifest.payload_bytes - sum(column.bytes for column in self.columns)

    @property
    def looked(self) -> Looked | None:
        """What looked for PHI that nobody labelled; None where no report says it."""
        return None if self.report is None else self.report.looked

    def as_json(self) -> dict[str, object]:
        """For other programs: counts, and no sentence."""
        return {
            "manifest": self.manifest.to_json(),
            "manifest_sha256": self.manifest.sha256,
            "phi_tokens": {one.name: one.tokens for one in self.channels.categories},
            "columns": {column.name: column.bytes for column in self.columns},
            "sentences_alone": self.channels.alone,
            "sentences_alone_in_words": self.channels.alone_in_words,
            "read": None if self.reading is None else self.reading.counts.as_json(),
            **dict.fromkeys(KEYS),
            **({} if self.reading is None else {one.key: one.as_json() for one in self.reading.figures}),
            "white_box": None
            if self.report is None
            else {name: vars(one) for name, one in self.report.categories.items()},
            "looked": None if self.looked is None else asdict(self.looked),
            "searched": None if self.searched is None else vars(self.searched),
            "notes_missing": None if self.given is None or self.given.notes is None else self.given.missing,
            "judged": list(self.judged),
        }


def scheme_of(workspace: Workspace, share: Path) -> LabelScheme:
    """The labels of a share: those of the release that it was made with, whatever was pulled since.

    Where that release is not here any more it is the one in use, if it has a scheme of this name and size.

    Raises:
        OtherReleaseError: neither has.
        SiteError: `encode` was killed while it put the share in its place.
        ProtocolError, StorageError: the share, or the release, is damaged; or it is no share of this site.
    """
    require_whole(workspace, share)
    manifest = signed_manifest(workspace, share).manifest
    try:
        return load_scheme_file(find_release(workspace, manifest.release).folder)
    except OtherReleaseError:
        scheme = load_scheme_file(workspace.release().folder)
        if (scheme.name, len(scheme.tags)) != (manifest.label_scheme, manifest.tags):
            raise
        return scheme


def inspect(
    workspace: Workspace,
    path: Path,
    scheme: LabelScheme,
    documents: Iterable[Document] | None,
    sentences: int = SAMPLE,
) -> Inspection:
    """Verify a share of this site and say what is in it.

    Args:
        workspace: of the site.
        path: the payload, its manifest beside it.
        scheme: its labels, see `scheme_of`.
        documents: the notes that it was made from, labelled in the words of the scheme: the share is searched for their text, and its
            sentences are found again in them.
        sentences: how many of its sentences are read.

    Raises:
        ProtocolError: the share is damaged or not this site's.
        SiteError: text of the notes occurs in it.
    """
    # Says in a hospital's words what is no share, or another hospital's.
    require_whole(workspace, path)
    signed_manifest(workspace, path)
    share = open_share(path, public_keys={workspace.site: workspace.public_keys})
    manifest = share.manifest
    construction, unread = _construction(workspace, manifest)
    chance = Chance.stated(scheme, manifest.protection) if construction is None else Chance.of(construction)
    report = read_report(path, manifest, workspace.public_keys)
    recorded = RecordedNotes.of(workspace, manifest.sequence)
    read = (
        None
        if construction is None
        else Reader(
            share,
            construction,
            sentences,
            recorded,
            None if report is None else report.hidden_words,
        )
    )
    watch = read or recorded
    passing = documents if documents is None or watch is None else watch.watch(documents)
    searched = None if passing is None else search(path, passing)
    with share.open() as reader:
        counted, features = channels(reader, scheme, chance, None if read is None else read.hidden), reader.features
    reading = None if read is None else read.result()
    return Inspection(
        manifest,
        (*_columns(manifest), *_feature_columns(manifest, features)),
        counted,
        report,
        searched,
        _judged(workspace, manifest.release),
        reading,
        unread,
        features,
        None if documents is None else _given(recorded, reading),
    )


def _given(recorded: RecordedNotes | None, reading: Reading | None) -> Given | None:
    """How far the notes that have passed are those of a share; None where neither a record nor a sentence tells."""
    if recorded is None and reading is None:
        return None
    notes, missing = (None, 0) if recorded is None else (recorded.notes, recorded.missing)
    sentences, found = (0, 0) if reading is None else (reading.counts.sentences, reading.counts.with_original)
    return Given(notes, missing, sentences, found)


def _construction(workspace: Workspace, manifest: ShareManifest) -> tuple[Coded | None, str]:
    """What reads the codes of a share; None where nothing does, and why."""
    if manifest.dim != CODES:
        return None, (
            "its sentences are not listed here: it holds vectors, not codes. How many of its words can be read, the audit of its release "
            "says: `readability` for words that are no PHI, `token inversion` and `match` for PHI"
        )
    try:
        construction = load_construction(find_release(workspace, manifest.release).folder)
    except (ProtocolError, StorageError, ModelError, EmbeddingError) as error:
        return None, f"its sentences can NOT be listed here without its release: {error}"
    if not isinstance(construction, Coded):
        return None, "its sentences can NOT be listed here: it holds codes, and its release has none"
    return construction, ""


def _judged(workspace: Workspace, release: str) -> tuple[str, ...]:
    """What protects shares of a release; looking at a share stays possible whatever became of its release."""
    try:
        return tuple(judge_release(workspace, release).lines())
    except (PolicyError, ProtocolError, StorageError, ModelError, EmbeddingError) as error:
        return (f"its release was NOT judged by the hospital's policy: {error}",)


def _entries(manifest: ShareManifest) -> int:
    """Bytes of a column beside its values: Parquet keeps sentences one by one, each entry with its length."""
    return 4 * manifest.sentences if manifest.payload_format == "parquet" else 0


def _columns(manifest: ShareManifest) -> tuple[Column, ...]:
    # HDF5 has in the place of lengths where sentences begin.
    parquet, each = manifest.payload_format == "parquet", _entries(manifest)
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


def _feature_columns(manifest: ShareManifest, features: Iterable[FeatureColumn]) -> Iterator[Column]:
    """What a share tells beside codes, tags and casing classes."""
    for column in features:
        meaning = f"a class for each token, one of {column.classes}, as the release declares; in clear"
        yield Column(stored_name(column), meaning, manifest.tokens + _entries(manifest))


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


def inspection_lines(inspection: Inspection, most: int = SAMPLE, *, originals: bool = False) -> list[str]:
    """The inspection in words.

    Args:
        inspection: of a share.
        most: so many of the sentences that were read.
        originals: whether the hospital's own sentences stand beside them. They hold PHI: for its own screen only.
    """
    manifest, counted = inspection.manifest, inspection.channels
    lines = [
        f"share {manifest.sequence} of {manifest.site}, made {manifest.created} with release {manifest.release[:12]}",
        f"{manifest.sentences} sentences, {manifest.tokens} tokens, {manifest.payload_bytes} bytes of {manifest.payload_format}",
        *(f"WARNING: {line}" for line in inspection.warnings),
        "",
        *_reading_lines(inspection, most, originals=originals),
        "",
        "what leaves:",
        *(f"  {column.name:15} {column.meaning}; {column.bytes} bytes" for column in inspection.columns),
        *feature_lines(inspection.features),
        f"  {'(the format)':15} names of these columns, sizes and checksums; {inspection.format_bytes} bytes",
        "  sentences are in random order over the whole share; no text, no ids, no file names, no offsets, no times",
        "",
        "PHI tokens by category, and how most of them are written:",
        *(f"  {one.name:35} {one.tokens:8}  {next(iter(one.casing))}" for one in counted.categories),
        "",
        "how the notes were looked at before:",
        *(f"  {line}" for line in looked_lines(inspection.looked)),
        "",
        "protection, as this hospital found it:",
        *(f"  {line}" for line in inspection.judged),
        "protection, as the share states it:",
        *(f"  {line}" for line in protection_lines(manifest.protection)),
        *attacker_lines(inspection.report),
    ]
    return lines if inspection.searched is None else [*lines, "", *search_lines(inspection.searched)]


def _reading_lines(inspection: Inspection, most: int, *, originals: bool) -> list[str]:
    """What anybody reads who has the release."""
    reading, alone = inspection.reading, alone_line(inspection.channels, inspection.manifest.sentences)
    if reading is None:
        return [inspection.unread, alone]
    found = reading.counts.with_original
    beside = f"{found} of {reading.counts.sentences} sentences were found again in these notes"
    return [
        f"what it is: {reading.is_a}",
        "what anybody reads of it who has the release:",
        *(f"  {line}" for line in count_lines(reading)),
        f"  {alone}",
        "",
        *sentence_lines(reading, most, originals=originals),
        *([] if inspection.searched is None else [beside]),
    ]


def feature_lines(features: Sequence[FeatureColumn]) -> list[str]:
    """How many columns tell more than codes, tags and casing, and which; nothing where none does."""
    names = ", ".join(column.name for column in features)
    return [f"  {len(features)} of these tell more than codes, labels and casing: {names}"] if features else []


def alone_line(counted: Channels, sentences: int) -> str:
    """How many sentences are recognised by who already holds them."""
    known = "who already holds the text of such a sentence can tell that it is here"
    if counted.alone_in_words is None:
        return (
            f"{counted.alone} of {sentences} sentences have a pattern of length, labels and casing that no other has, without what was drawn in the "
            f"place of PHI: {known}. Of how many more the vectors tell it is not counted"
        )
    return (
        f"{counted.alone_in_words} of {sentences} sentences stand alone, {counted.alone} of them by length, labels and casing, the others by these "
        f"and what is shown of their words, all without what was drawn in the place of PHI: {known}"
    )


def attacker_lines(report: EncodeReport | None) -> list[str]:
    """What the best possible attacker reaches for each PHI category; nothing where it is a guess for all."""
    if report is None or report.known_ahead:
        return []
    return [
        "",
        f"best possible attacker by category: {'mean':>14} {'95th':>7} {'99th percentile':>15} {'maximum':>8} {'mean with casing':>17}",
        *(
            f"  {name:40} {one.mean:7.1%} {one.p95:7.1%} {one.p99:15.1%} {one.maximum:8.1%} "
            + ("-" if one.with_casing is None else f"{one.with_casing:.1%}").rjust(17)
            for name, one in report.categories.items()
            if one.tokens
        ),
    ]


def search_lines(searched: Search) -> list[str]:
    """What was searched for, how, and that nothing was found."""
    lines = [
        f"searched all {searched.file_bytes} bytes for the text of {searched.notes} notes: {searched.stretches} different stretches of "
        f"{STRETCH_BYTES} bytes that begin with a word, as written and in lower case: none stands in it as text, which says nothing of what "
        "is read from its numbers"
    ]
    if searched.control:
        lines.append("as a test one of them was planted into a copy of the file's beginning: the search found it")
    return lines
