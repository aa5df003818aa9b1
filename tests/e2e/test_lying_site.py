"""An enrolled hospital that lies: shares that no honest client makes, or makes twice, sealed with a key that counts.

Each was accepted once. They are made from an honest share of the small loop, whose construction is that of a default release.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from aggregator.ingestion.ingest import Decision, ingest
from aggregator.sandbox import parent as confined
from aggregator.workspace import open_workspace as open_provider
from foundation.feature_columns import FeatureColumn
from protocols.payload import sentence_block
from protocols.payload.opening import open_payload
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import ShuffledWriter, join_blocks, permute_sentences
from protocols.share.bundle import seal_bundle
from protocols.share.manifest import ShareFields
from protocols.share.sealing import read_manifest, seal_share
from shared.constructions.procedures.coded import Coded
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.embeddings.members import MemberVectors
from site_client.workspace import open_workspace as open_site
from tests.loop import Loop, done, hospital, refused, values
from tests.tiny_notes import long_notes, write_notes

RUN = confined.run


@dataclass(frozen=True)
class Liar:
    """The hospital `north` of a loop, whose first share counts.

    Args:
        loop: its folders.
        honest: another share of it, encoded and not sent.
    """

    loop: Loop
    honest: Path

    def encode(self, notes: list[Document], name: str, site: str = "north") -> Path:
        folder = write_notes(self.loop.root / "notes" / name, notes)
        out = self.loop.root / f"{name}.parquet"
        done(hospital("encode", folder, "--out", out, "--workspace", self.loop.site(site)))
        return out

    def block(self) -> SentenceBlock:
        """All sentences of the honest share."""
        with open_payload(self.honest) as reader:
            return join_blocks(list(reader))

    def vectors(self) -> MemberVectors:
        """The vocabulary of the release, which is public."""
        construction = load_construction(open_site(self.loop.site("north")).release().folder)
        assert isinstance(construction, Coded)
        return construction.vectors

    def send(self, payload: Path, site: str = "north", sequence: int | None = None) -> Decision:
        """What becomes of a payload that is signed, under another number if one is given, sealed and taken in."""
        manifest = read_manifest(payload)
        stated: dict[str, Any] = {field.name: getattr(manifest, field.name) for field in fields(ShareFields)}
        key = open_site(self.loop.site(site)).key()
        stated |= {"site": site} | ({} if sequence is None else {"sequence": sequence})
        # A liar's own program does not mind.
        with mock.patch.object(sentence_block, "_check_tag_sequence", return_value=None):
            seal_share(payload, ShareFields(**stated), key)
        provider = open_provider(self.loop.provider)
        bundle = payload.with_suffix(".share")
        seal_bundle(payload, bundle, key=key, recipient=provider.recipient().public_key)
        return ingest(provider, bundle)

    def forged(self, block: SentenceBlock, sequence: int = 50, features: tuple[FeatureColumn, ...] = ()) -> Decision:
        """What becomes of these sentences in the place of the honest ones."""
        path = self.loop.root / f"forged-{sequence}.parquet"
        with ShuffledWriter(path, dim=block.dim, features=features) as writer:
            writer.append(block)
        manifest = self.honest.with_name(self.honest.name + ".manifest.json")
        path.with_name(path.name + ".manifest.json").write_bytes(manifest.read_bytes())
        return self.send(path, sequence=sequence)


@contextmanager
def quickly() -> Iterator[None]:
    """The payload is checked in this process: starting another takes longer than all the rest."""
    run = lambda function, values, limits, readable: confined.Answer(function(values), ())  # noqa: E731
    with mock.patch.object(confined, "run", run):
        yield


@pytest.fixture(scope="module")
def liar(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Liar]:
    loop = Loop(Path(shutil.copytree(built_loop.root, tmp_path_factory.mktemp("lying") / "loop")))
    with quickly():
        yield Liar(loop, Liar(loop, loop.root).encode(long_notes(20, 1), "honest"))


def some(array: np.ndarray[Any, Any], tokens: slice, rows: object) -> np.ndarray[Any, Any]:
    changed = array.copy()
    changed[tokens] = rows
    return changed


CODES: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "the largest code that there is": lambda codes: some(codes, slice(7, 8), 2**32 - 1),
    "random codes": lambda codes: np.random.default_rng(0).integers(0, 2**32, len(codes), dtype="<u4"),
    "one bit of one code": lambda codes: some(codes, slice(5, 6), codes[5] ^ np.uint32(1 << 20)),
    "codes in another byte order": lambda codes: codes.byteswap(),
}


def test_attack_a_hidden_word_by_its_own_code(liar: Liar) -> None:
    """As a client would send it that hides nothing."""
    block, vectors = liar.block(), liar.vectors()
    for row in np.flatnonzero(~vectors.public)[:3].tolist():
        forged = some(block.values, slice(7, 8), row)
        decision = liar.forged(SentenceBlock(forged, block.tags, block.casing, block.lengths), 54 + row)
        assert (decision.state, decision.reason_code) == ("rejected", "codebook")


@pytest.mark.parametrize("lie", CODES)
def test_attack_codes_that_no_word_has(lie: str, liar: Liar) -> None:
    block = liar.block()
    forged = SentenceBlock(CODES[lie](block.values), block.tags, block.casing, block.lengths)
    decision = liar.forged(forged)
    assert (decision.state, decision.reason_code) == ("rejected", "codebook")


def test_attack_a_feature_column_that_the_release_does_not_declare(liar: Liar) -> None:
    """Room for anything: a byte for every token."""
    hidden = np.resize(np.frombuffer(b"seen on the ward", np.uint8), (liar.block().tokens, 1))
    decision = liar.forged(replace(liar.block(), features=hidden), 60, (FeatureColumn("shape", 255),))
    assert (decision.state, decision.reason_code) == ("rejected", "mismatch")


def test_attack_tags_that_go_on_with_what_was_not_begun(liar: Liar) -> None:
    block = liar.block()
    tags = np.where(block.tags % 2 == 1, block.tags + 1, block.tags).astype(np.uint8)
    decision = liar.forged(SentenceBlock(block.values, tags, block.casing, block.lengths))
    assert (decision.state, decision.reason_code) == ("rejected", "tag-sequence")


def test_attack_one_word_again_and_again(liar: Liar) -> None:
    """Every code is one that there is, no sentence is one's own, and the labels come as often as they did."""
    block = liar.block()
    outside = int(np.flatnonzero(block.tags == 0)[0])
    alike = np.full_like(block.values, block.values[outside])
    decision = liar.forged(SentenceBlock(alike, block.tags, block.casing, block.lengths), 51)
    assert (decision.state, decision.reason_code) == ("quarantined", "row-frequency")


def test_attack_the_same_notes_count_twice(liar: Liar) -> None:
    """In another order, under new surrogates, under a new number, from another hospital; other notes are taken in."""
    notes = long_notes(12, 2)
    first = liar.send(liar.encode(notes, "first"))
    assert (first.state, first.reason) == ("accepted", "")
    with open_payload(liar.loop.root / "first.parquet") as reader:
        block = join_blocks(list(reader))
    turned = liar.forged(permute_sentences(block, np.arange(block.sentences)[::-1]), 52)
    again = liar.send(liar.encode(notes[::-1], "again"))
    # What others have counts from 60 sentences on, whatever is drawn.
    many = long_notes(48, 6)
    assert liar.send(liar.encode(many, "many", "south"), "south").state == "accepted"
    passed_on = liar.send(liar.encode(many, "passed-on"))
    mixed = liar.send(liar.encode(notes[:7] + long_notes(5, 3), "mixed"))
    for decision in (turned, again, passed_on, mixed):
        assert (decision.state, decision.reason_code) == ("quarantined", "overlap")
    other = liar.send(liar.encode(notes[:4] + long_notes(8, 4), "other"))
    assert (other.state, other.reason) == ("accepted", "")


def test_a_lie_is_found_by_the_child_process_too(liar: Liar) -> None:
    block = liar.block()
    forged = SentenceBlock(np.full_like(block.values, 2**32 - 1), block.tags, block.casing, block.lengths)
    with mock.patch.object(confined, "run", RUN):
        decision = liar.forged(forged, 53)
        honest = liar.send(liar.encode(long_notes(12, 5), "checked"))
    assert (decision.state, decision.reason_code) == ("rejected", "codebook")
    assert (honest.state, honest.reason) == ("accepted", "")


def test_what_was_shared_before_does_not_leave_again(liar: Liar) -> None:
    """The lines are for the hospital alone: nothing of them leaves, and nothing of them tells of a note."""
    notes, loop = long_notes(6, 6), liar.loop
    at = ("--workspace", loop.site("south"))
    share = liar.encode(notes[:5], "told", "south")
    sequence = read_manifest(share).sequence

    def again() -> Any:
        folder = loop.root / "notes" / "told-again"
        if not folder.exists():
            write_notes(folder, notes)
        return values(hospital("encode", folder, "--out", loop.root / "told-again.parquet", *at, "--json"))

    # Encoded is not shared.
    later = liar.encode(notes, "later", "south")
    assert (again()["notes_left_out"], again()["shared_before_in"]) == (0, [])
    done(hospital("submit", share, "--approver", "Dr Ünal", "--to-folder", loop.root / "sent", *at))
    said = again()
    assert (said["new_notes"], said["notes_left_out"], said["shared_before_in"]) == (1, 5, [sequence])
    told = done(hospital("encode", loop.root / "notes" / "told-again", "--out", loop.root / "t.parquet", *at)).stdout
    assert f"5 of 6 notes were left out: they have left before (share {sequence})" in told
    refused(
        hospital("submit", later, "--approver", "Dr Ünal", "--to-folder", loop.root / "sent", *at),
        35,
        f"share {sequence}",
    )
    done(hospital("policy", "set", "--least-new-notes", 2, *at))
    few = hospital("encode", loop.root / "notes" / "told-again", "--out", loop.root / "t.parquet", *at)
    refused(few, 35, f"at least 2 notes that have not left before, got 1 (5 others left with share {sequence})", "wait")
