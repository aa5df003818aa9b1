"""Attacks by who holds a share and what left again of it, under another representer or because the first did not count."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from shared.document import Annotation
from site_client import ledger
from site_client.errors import PolicyError
from site_client.ledger import Event
from site_client.sharing.new_notes import require_not_left
from site_client.workspace import Workspace
from tests.site_client.sharing.sifting.encodings import (
    CHANGES,
    LATER,
    NOTES,
    A,
    B,
    encode,
    leave,
    manifest,
    new_site,
    share,
)
from tests.tiny_notes import long_notes


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return new_site(tmp_path)


def test_another_representer_lets_whole_shares_leave_again_and_nothing_new(site: Workspace) -> None:
    first = share(site, NOTES, 1)
    second = share(site, LATER, 2)
    # Unasked, they do not; and under the same representer they would count twice.
    for representer, again in ((B, False), (A, True)):
        with pytest.raises(PolicyError):
            encode(site, NOTES, representer=representer, again=again)
    new = long_notes(25, 3)
    shown, sifted = encode(site, [*new, *LATER, *NOTES], 3, B, again=True)
    assert Counter(shown) == Counter(first + second)
    assert (sifted.counted, sifted.left_out, sifted.shares) == (55, 25, (1, 2))
    require_not_left(site, 3, manifest(3), 1)
    leave(site, 3)
    with pytest.raises(PolicyError):
        encode(site, [*LATER, *NOTES], representer=B, again=True)
    assert encode(site, [*new, *NOTES], representer=B)[1].counted == 25


@pytest.mark.parametrize("change", ["a note is missing", *CHANGES])
def test_attack_part_of_a_share_under_another_representer(change: str, site: Workspace) -> None:
    """What is missing, or labelled otherwise, in the second of two shares of the same notes was corrected."""
    share(site, NOTES, 1)
    changed = [] if change == "a note is missing" else [CHANGES[change](NOTES[0])]
    with pytest.raises(PolicyError, match="with the labels that it left with"):
        encode(site, [*changed, *NOTES[1:]], representer=B, again=True)


def test_what_a_program_takes_for_phi_is_no_label_that_was_changed(site: Workspace) -> None:
    doubted = [replace(one, annotations=(*one.annotations, Annotation(0, 3, "DATE", doubtful=True))) for one in NOTES]
    first = share(site, NOTES, 1)
    assert Counter(encode(site, doubted, representer=B, again=True)[0]) == Counter(first)


@pytest.mark.parametrize("state", ["rejected", "withdrawn"])
def test_a_share_that_does_not_count_may_leave_again_as_it_was(state: str, site: Workspace) -> None:
    first = share(site, NOTES, 1)
    ledger.record(site, Event.RECEIPT, {"sequence": 1, "manifest_sha256": manifest(1), "state": state})
    shown, _ = encode(site, NOTES[::-1], 2, again=True)
    assert Counter(shown) == Counter(first)
    require_not_left(site, 2, manifest(2), 1)


@pytest.mark.parametrize("first", ["the note", "the other"])
@pytest.mark.parametrize("other", ["a copy", "a note that went on", "another print"])
def test_attack_what_leaves_twice_among_what_leaves_again_is_of_one_note(
    other: str, first: str, site: Workspace
) -> None:
    """Else counts that differ between two shares would join the sentences of that note."""
    left = Counter(share(site, NOTES, 1))
    texts = {"a copy": NOTES[0].text, "a note that went on": NOTES[0].text + "There was fever today and much else.\n"}
    also = replace(NOTES[0], identifier="other", text=texts.get(other, NOTES[0].text.replace(".\n", ".\n\n- ")))
    documents = [also, *NOTES] if first == "the other" else [*NOTES, also]
    shown, sifted = encode(site, documents, representer=B, again=True)
    assert Counter(shown) == left
    assert (sifted.copies, sifted.left_out) == ((1, 0) if other == "a copy" else (0, 1))
    assert sifted.counted == 30
