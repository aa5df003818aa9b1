"""Attacks by who holds two shares of a hospital, and what a share must hold so that nothing in it can be told to be of a certain note."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from protocols.canonical import Json
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from site_client import ledger
from site_client.errors import PolicyError, WorkspaceError
from site_client.ledger import Event
from site_client.sharing.digest_files import digest_of_known
from site_client.sharing.known_notes import give_up_lost
from site_client.sharing.new_notes import require_not_left
from site_client.sharing.sifting.sifted import Sifted
from site_client.workspace import Workspace
from tests.site_client.sharing.sifting.encodings import (
    CHANGES,
    EXPORTS,
    LATER,
    NOTES,
    B,
    accented,
    encode,
    exported,
    in_numbered_lines,
    leave,
    left_with_format,
    manifest,
    new_site,
    printed,
    relabelled,
    ruled,
    share,
)
from tests.site_client.sites import SCHEME
from tests.tiny_notes import long_notes, note


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return new_site(tmp_path)


def test_attack_the_difference_of_two_shares_shows_no_note_alone(site: Workspace) -> None:
    """One note was added and all were encoded: nothing leaves, and with it nothing to subtract the earlier share from."""
    earlier = Counter(share(site, NOTES, 1))
    with pytest.raises(PolicyError, match="expected at least 20 notes that have not left before, got 1 "):
        encode(site, [*NOTES, LATER[0]], least=20)
    later, sifted = encode(site, [*NOTES, *LATER], least=20)
    assert not earlier & Counter(later)
    assert (sifted.notes, sifted.counted, sifted.left_out, sifted.shares) == (55, 25, 30, (1,))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("state", ["accepted", "rejected", "withdrawn", "quarantined", ""])
def test_attack_a_corrected_label_points_to_its_sentence(change: str, state: str, site: Workspace) -> None:
    """Whatever became of the first share: corrected notes bring out nothing, not even that they are corrected."""
    encode(site, NOTES, 1)
    leave(site, 1, state)
    corrected = [CHANGES[change](document) for document in NOTES[:22]]
    with pytest.raises(PolicyError, match=r"got 0 \(22 others left with share 1\)"):
        encode(site, corrected)
    assert encode(site, [*corrected, *LATER]) == encode(site, [*NOTES[:22], *LATER])
    with pytest.raises(PolicyError):
        encode(site, corrected, again=True)


def test_attack_a_note_that_was_edited_shows_where(site: Workspace) -> None:
    share(site, NOTES, 1)
    text = NOTES[0].text
    edited = note("edited", text + "There was fever today.\n")
    shown, sifted = encode(site, [edited, *LATER])
    assert ("There", "was", "fever", "today", ".") not in shown
    assert sifted.left_out == 1
    # The same sentence at the end of another note is new.
    shown, _ = encode(site, [note("new", LATER[0].text + "There was fever today.\n"), *LATER[1:]])
    assert ("There", "was", "fever", "today", ".") in shown


@pytest.mark.parametrize("width", [30, 40, 100])
def test_attack_notes_are_exported_anew_with_other_lines(width: int, site: Workspace) -> None:
    share(site, NOTES, 1)
    again = [printed(document, width) for document in NOTES]
    with pytest.raises(PolicyError, match=r"got 0 \(30 others left with share 1\)"):
        encode(site, again)
    shown, sifted = encode(site, [*again, *LATER])
    assert (sifted.counted, sifted.left_out, sifted.shares) == (25, 30, (1,))
    assert Counter(shown) == Counter(encode(site, LATER)[0])


@pytest.mark.parametrize(("first", "second"), [("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("width", [None, 40])
def test_attack_notes_are_exported_anew_with_their_accents_apart(
    first: Literal["NFC", "NFD"], second: Literal["NFC", "NFD"], width: int | None, site: Workspace
) -> None:
    share(site, [accented(one, first) for one in NOTES], 1)
    again = [accented(one if width is None else printed(one, width), second) for one in NOTES]
    with pytest.raises(PolicyError, match=r"got 0 \(30 others left with share 1\)"):
        encode(site, again)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("change", EXPORTS)
def test_attack_notes_are_exported_anew_with_other_signs(change: str, backwards: bool, site: Workspace) -> None:
    """Lines of few words, a number in each: neither a sentence nor most runs of words are as they were."""
    first = [in_numbered_lines(document) for document in NOTES]
    again = [exported(document, EXPORTS[change]) for document in first]
    if backwards:
        first, again = again, first
    share(site, first, 1)
    with pytest.raises(PolicyError, match=r"got 0 \(30 others left with share 1\)"):
        encode(site, again)


def test_one_note_in_two_exports_leaves_once(site: Workspace) -> None:
    first = [in_numbered_lines(document) for document in NOTES]
    again = [exported(document, EXPORTS["wide signs"]) for document in first]
    assert encode(site, [*first, *again])[1].counted == 30


def test_ruled_lines_are_of_no_note(site: Workspace) -> None:
    """Most signs of these notes are rules, which all have: they count as different notes, before and after a share of others."""
    first, second = ([ruled(one) for one in some] for some in (NOTES, LATER))
    assert encode(site, first, 1, least=20)[1].counted == 30
    encode(site, second, 2, least=20)
    leave(site, 1)
    shown, sifted = encode(site, second, least=20)
    assert (sifted.counted, sifted.left_out) == (25, 0)
    assert "-" * 200 in {"".join(words) for words in shown}
    # "Signed." has left, so the share that waited has to be made anew.
    with pytest.raises(PolicyError, match="some of it has left with share 1"):
        require_not_left(site, 2, manifest(2), 1)
    encode(site, second, 3, least=20)
    require_not_left(site, 3, manifest(3), 1)
    with pytest.raises(PolicyError, match=r"got 0 \(30 others left with share 1\)"):
        encode(site, first, least=20)


@pytest.mark.parametrize("known_first", [True, False])
def test_attack_a_second_share_of_one_number_hides_the_first(known_first: bool, site: Workspace) -> None:
    """A ledger of an earlier version may tell of two shares of one number, of which the notes of one are given up as lost."""
    encode(site, NOTES, 5)
    real, lost = ("0" * 64, "f" * 64) if known_first else ("f" * 64, "0" * 64)
    for one, known in ((lost, "ab" * 32), (real, digest_of_known(site, 5))):
        stated: dict[str, Json] = {
            "sequence": 5,
            "manifest_sha256": one,
            "bundle_sha256": "cd" * 32,
            "known_notes": known,
        }
        ledger.record(site, Event.SUBMITTED, {"to": "folder", **stated})
    give_up_lost(site)
    with pytest.raises(PolicyError, match=r"got 0 \(30 others left with share 5\)"):
        encode(site, NOTES)


def test_of_two_shares_of_two_exports_of_the_same_notes_only_the_first_leaves(site: Workspace) -> None:
    encode(site, NOTES, 1)
    encode(site, [*LATER, printed(NOTES[0], 40)], 2)
    encode(site, LATER, 3)
    leave(site, 1)
    with pytest.raises(PolicyError, match=r"share 2.*some of it has left with share 1 since"):
        require_not_left(site, 2, manifest(2), 1)
    require_not_left(site, 3, manifest(3), 1)


def test_exports_of_one_note_with_other_lines_hide_it_not(site: Workspace) -> None:
    exports = [printed(NOTES[0], width) for width in range(30, 60)]
    with pytest.raises(PolicyError, match="at least 20 notes that have not left before, got 1:"):
        encode(site, exports, least=20)


def test_no_sentence_leaves_twice_whoever_wrote_it_again(site: Workspace) -> None:
    words = "rest and advised rest and call if it gets worse today .".split()
    boilerplate = " ".join(words[:-1]).capitalize() + ".\n"
    first, second = ([note(one.identifier, f"{one.text}\n{boilerplate}") for one in some] for some in (NOTES, LATER))
    assert tuple(words) in {tuple(word.lower() for word in one) for one in share(site, first, 1)}
    shown, sifted = encode(site, second)
    assert tuple(words) not in {tuple(word.lower() for word in one) for one in shown}
    assert (sifted.left_out, sifted.sentences, sifted.counted) == (0, 25, 25)


@pytest.mark.parametrize("name", ["Zorvath–Quillen", "Zorvath+Quillen", "*Zorvath*", "Zorvath £ Quillen"])
def test_attack_a_corrected_label_cuts_its_sentence_otherwise(name: str, site: Workspace) -> None:
    """A label changes which tokens a span has; the sentence is the same all the same, and does not leave again."""
    ahead, behind = "Seen today by old ", " who had brought all his papers along.\n"
    # In notes of their own: whole notes that have left would stay here anyhow.
    share(site, [*NOTES, note("forgotten", f"{NOTES[0].text}\n\n{ahead}{name}{behind}")], 1)
    shown, _ = encode(site, [*LATER, note("known", f"{LATER[0].text}\n\n", ahead, (name, "PATIENT"), behind)])
    assert not [words for words in shown if {"Zorvath", "papers"} & set(words)]


def test_a_sentence_is_missing_where_its_phi_has_left_in_the_same_one(site: Workspace) -> None:
    """What docs/privacy.md says a later share tells: by what is left out, whether a patient of before came again."""
    new = "\n".join(one.text for one in long_notes(3, 5))
    first, again, other = (
        note(name, f"{NOTES[0].text}\n\nName of the patient: ", (who, "PATIENT"), f" .\n\n{text}")
        for name, who, text in (
            ("first", "Oxenthorpe", "Came by bus in rain."),
            ("again", "Oxenthorpe", new),
            ("other", "Nettlecomb", new),
        )
    )
    share(site, [*NOTES[1:], first], 1)
    names = [[words for words in encode(site, [*LATER[1:], one])[0] if "Name" in words] for one in (again, other)]
    assert [len(found) for found in names] == [0, 1]


def test_what_left_with_an_earlier_version_is_known_after_an_upgrade(site: Workspace) -> None:
    known = "Rest, then call if it gets worse in the night.\n"
    first, second = ([note(one.identifier, f"{one.text}\n{known}") for one in some] for some in (NOTES, LATER))
    left_with_format(site, first, 1, 1, sent=False)
    # Encoded while the other one waited: of two that hold a sentence the first leaves.
    encode(site, second, 2)
    leave(site, 1)
    with pytest.raises(PolicyError, match="some of it has left with share 1"):
        require_not_left(site, 2, manifest(2), 1)
    shown, sifted = encode(site, second)
    assert not [words for words in shown if "worse" in words and "night" in words]
    assert (sifted.sentences, sifted.shares) == (25, (1,))
    edited = note("edited", f"{first[0].text}\nThere was fever today.\n")
    assert encode(site, [*second, edited])[1].left_out == 1


def test_a_share_of_an_earlier_version_leaves_again_as_it_was_or_not_at_all(site: Workspace) -> None:
    left_with_format(site, NOTES, 1, 1)
    shown, _ = encode(site, NOTES, 2, B, again=True, checked=True)
    assert len(shown) > len(NOTES)
    with pytest.raises(PolicyError, match="missing or have others"):
        encode(site, [relabelled(NOTES[0]), *NOTES[1:]], representer=B, again=True)
    leave(site, 2)
    # And the digests of today know it from then on.
    assert encode(site, NOTES, 3, "cc" * 32, again=True, checked=True)[0]


def test_what_was_never_submitted_stands_in_nobodys_way(site: Workspace) -> None:
    shown, _ = encode(site, NOTES, 1)
    assert encode(site, NOTES, 2)[0] == shown


def test_of_two_shares_of_the_same_notes_only_the_first_leaves(site: Workspace) -> None:
    for sequence, documents in ((1, NOTES), (2, [*NOTES, *LATER]), (3, LATER)):
        encode(site, documents, sequence)
    require_not_left(site, 2, manifest(2), 1)
    leave(site, 1)
    with pytest.raises(PolicyError, match="some of it has left with share 1 since"):
        require_not_left(site, 2, manifest(2), 1)
    require_not_left(site, 3, manifest(3), 1)
    # After a cut the same share goes on.
    require_not_left(site, 1, manifest(1), 1)


def test_attack_known_notes_are_taken_away_so_that_a_share_leaves_again(site: Workspace) -> None:
    share(site, NOTES, 1)
    encode(site, LATER, 2)
    kept = Path(shutil.copytree(site.root / "known-notes", site.root / "kept"))
    shutil.rmtree(site.root / "known-notes")
    with pytest.raises(WorkspaceError, match="share 1"):
        encode(site, NOTES)
    # Of the one that waits, too, nobody would know that it has left.
    with pytest.raises(WorkspaceError, match="share 2: expected what is known of its notes"):
        require_not_left(site, 2, manifest(2), 1)
    for path in kept.glob("0002.*"):
        (site.root / "known-notes").mkdir(exist_ok=True)
        shutil.copy(path, site.root / "known-notes")
    with pytest.raises(WorkspaceError, match="share 1"):
        require_not_left(site, 2, manifest(2), 1)
    # After a cut the same share goes on.
    require_not_left(site, 1, manifest(1), 1)
    shutil.rmtree(site.root / "known-notes")
    kept.rename(site.root / "known-notes")
    assert encode(site, [*NOTES, *LATER])[1].left_out == len(NOTES)


def test_another_share_of_the_number_of_one_that_left_is_looked_at(site: Workspace) -> None:
    """Settings that were restored alone gave its number a second time."""
    share(site, NOTES, 1)
    with pytest.raises(PolicyError, match="some of it has left with share 1"):
        require_not_left(site, 1, "ef" * 32, 1)


def test_a_share_that_was_encoded_with_a_lost_key_does_not_leave(site: Workspace) -> None:
    share(site, NOTES, 1)
    encode(site, LATER, 2)
    kept = site.notes_key.read_bytes()
    site.notes_key.unlink()
    give_up_lost(site)
    with pytest.raises(WorkspaceError, match=r"share 2.*another key"):
        require_not_left(site, 2, manifest(2), 1)
    site.notes_key.write_bytes(kept)
    require_not_left(site, 2, manifest(2), 1)


def test_a_share_is_held_to_the_number_of_notes_that_is_asked_for_when_it_leaves(site: Workspace) -> None:
    encode(site, NOTES, 1)
    require_not_left(site, 1, manifest(1), 30)
    with pytest.raises(PolicyError, match="at least 31 notes, got 30"):
        require_not_left(site, 1, manifest(1), 31)


def test_notes_without_text_and_copies_hide_no_other(site: Workspace) -> None:
    padding = [*(note(str(number), f"Patient {number}.") for number in range(30)), *[NOTES[0]] * 30]
    with pytest.raises(PolicyError, match="at least 20 notes that have not left before, got 1:"):
        encode(site, padding, least=20)
    assert encode(site, padding, least=0)[1].counted == 1


def test_attack_prints_of_one_note_hide_it_among_themselves(site: Workspace) -> None:
    prints = [note(f"{minute}", f"{NOTES[0].text}Printed at 12:{minute}.\n") for minute in range(10, 40)]
    with pytest.raises(PolicyError, match="at least 20 notes that have not left before, got 1:"):
        encode(site, prints, least=20)
    assert encode(site, [*prints, *LATER])[1].counted == 26
    # A part of a note may be what others say, too.
    first = NOTES[0].text.splitlines()[0]
    alike = [note(f"{number}", f"{first}\n{one.text}") for number, one in enumerate(LATER)]
    assert encode(site, alike)[1].counted == 25


def test_what_the_guard_drops_neither_counts_nor_has_left(site: Workspace) -> None:
    refused = [note(f"{number}", one.text.replace(".", " kwashiorkor .")) for number, one in enumerate(LATER)]
    with pytest.raises(PolicyError, match="at least 40 notes that have not left before, got 30:"):
        encode(site, [*NOTES, *refused], least=40, dropped="kwashiorkor")
    shown, sifted = encode(site, [*NOTES, *refused], 1, dropped="kwashiorkor")
    assert sifted.counted == 30
    leave(site, 1)
    later, sifted = encode(site, [*NOTES, *refused])
    assert (sifted.counted, sifted.left_out, len(later)) == (25, 30, 75)
    assert not set(later) & set(shown)


def test_the_sentences_of_notes_in_many_chunks_are_not_confused(site: Workspace) -> None:
    """Against the definition: a sentence leaves if its words have not."""
    mixed = [document for pair in zip(NOTES, LATER, strict=False) for document in pair]
    gone = set(share(site, NOTES[::2], 1))

    def sentences() -> Iterator[tuple[str, ...]]:
        for document in mixed:
            if document not in NOTES[::2]:
                for chunk in tokenised_chunks(tokenise_documents([document]), SCHEME):
                    yield from (words for words, _ in chunk.split() if words not in gone)

    assert encode(site, mixed)[0] == list(sentences())


def test_the_lines_name_notes_and_shares_and_no_more() -> None:
    lines = Sifted(60, 25, 30, 4, (3,)).lines()
    assert lines[0].startswith("30 of 60 notes were left out: they have left before (share 3)")
    assert lines[1].startswith("4 sentences of the other notes")
    assert "(shares 3, 5)" in Sifted(60, 25, 30, 0, (3, 5)).lines()[0]
    assert Sifted(25, 25, 0, 0, ()).lines() == []
    again = Sifted(60, 30, 30, 0, (3,), again=True).lines()
    assert again[0].startswith("30 notes leave again")
    assert again[1].startswith("30 notes wait")
    assert Sifted(60, 30, 30, 0, (3,), again=True).as_json()["new_notes"] == 0
