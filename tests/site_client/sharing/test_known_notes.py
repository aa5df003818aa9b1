"""Notes are known again by digests that never leave and tell nothing; what the ledger says decides which shares count."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from protocols.canonical import Json
from site_client import ledger
from site_client.ledger import Event
from site_client.sharing.known_notes import KnownNotes, NoteDigests
from site_client.workspace import Workspace, create

TEXTS = ["Brunhilda was seen.\n", "Quintus was not.\n", "Nobody came."]


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return create(tmp_path / "site", "north")


def digest(site: Workspace, texts: list[str]) -> NoteDigests:
    made = NoteDigests(site)
    for text in texts:
        made.add(text)
    return made


def leave(site: Workspace, sequence: int) -> None:
    details: dict[str, Json] = {
        "sequence": sequence,
        "manifest_sha256": "ab" * 32,
        "bundle_sha256": "cd" * 32,
        "to": "folder",
    }
    ledger.record(site, Event.SUBMITTED, details)


def receipt(site: Workspace, sequence: int, state: str) -> None:
    ledger.record(site, Event.RECEIPT, {"sequence": sequence, "state": state})


def test_notes_of_shares_that_left_are_known_again(site: Workspace) -> None:
    for sequence, texts in ((1, TEXTS[:2]), (2, TEXTS[1:]), (3, TEXTS)):
        digest(site, texts).save(sequence)
    assert digest(site, TEXTS).known() == KnownNotes(0, 3, ())
    leave(site, 1)
    assert digest(site, [*TEXTS, "Another."]).known() == KnownNotes(2, 4, (1,))
    leave(site, 2)
    assert digest(site, TEXTS[::-1]).known() == KnownNotes(3, 3, (1, 2))


@pytest.mark.parametrize(("state", "known"), [("accepted", 3), ("quarantined", 3), ("rejected", 0), ("withdrawn", 0)])
def test_shares_that_were_refused_or_taken_back_do_not_count(state: str, known: int, site: Workspace) -> None:
    digest(site, TEXTS).save(1)
    leave(site, 1)
    receipt(site, 1, state)
    assert digest(site, TEXTS).known().known == known


def test_white_space_makes_no_other_note_and_a_word_does(site: Workspace) -> None:
    digest(site, TEXTS[:1]).save(1)
    leave(site, 1)
    assert digest(site, ["\r\n Brunhilda  was seen. "]).known().known == 1
    assert digest(site, ["Brunhilda was seen"]).known().known == 0


def test_a_share_of_an_earlier_version_is_not_known(site: Workspace) -> None:
    leave(site, 1)
    assert digest(site, TEXTS).known().known == 0


def test_what_is_kept_is_its_owners_alone_and_tells_no_order_and_no_text(site: Workspace) -> None:
    digest(site, TEXTS).save(1)
    digest(site, TEXTS[::-1]).save(2)
    first, second = sorted((site.root / "known-notes").iterdir())
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) == 16 * len(TEXTS)
    for path, rights in ((first, 0o600), (first.parent, 0o700), (site.notes_key, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == rights
    other = create(site.root.parent / "other", "north")
    digest(other, TEXTS).save(1)
    assert (other.root / "known-notes" / first.name).read_bytes() != first.read_bytes()


def test_the_line_names_notes_and_shares() -> None:
    assert KnownNotes(37, 40, (3,)).lines()[0].startswith("37 of 40 notes were shared before (share 3)")
    assert "(shares 3, 5)" in KnownNotes(37, 40, (3, 5)).lines()[0]
    assert KnownNotes(0, 40, ()).lines() == []
