"""Attacks by who holds a share and what left again of it, under another representer or because the first did not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shared.document import Annotation, Document
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from site_client import ledger
from site_client.errors import PolicyError
from site_client.ledger import Event
from site_client.sharing.new_notes import Sieve, require_not_left
from site_client.workspace import Workspace
from tests.site_client.sharing.sifting.encodings import (
    CHANGES,
    LATER,
    NOTES,
    A,
    B,
    encode,
    leave,
    left_with_format,
    manifest,
    new_site,
    share,
)
from tests.site_client.sites import SCHEME
from tests.tiny_notes import long_notes, note


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


def test_attack_a_sentence_that_stayed_here_leaves_with_what_leaves_again(site: Workspace) -> None:
    """It left with another note; were it shown with both now, the two would be known to have it."""
    line = NOTES[0].text.splitlines()[0] + "\n"
    later = [replace(LATER[0], text=f"{LATER[0].text}\n{line}"), *LATER[1:]]
    left = Counter(share(site, NOTES, 1) + share(site, later, 2))
    assert Counter(encode(site, [*later, *NOTES], representer=B, again=True)[0]) == left


def test_attack_a_label_goes_from_one_note_to_another(site: Workspace) -> None:
    """The same sentence in two notes, labelled in one of them: each as it was."""
    names = [note("labelled", NOTES[0].text, "Seen was old ", ("Zorvath", "PATIENT"), ".\n")]
    names.append(note("forgotten", LATER[0].text, "Seen was old Zorvath.\n"))
    share(site, [*names, *NOTES[1:]], 1)
    swapped = [replace(names[0], annotations=()), replace(names[1], annotations=names[0].annotations)]
    moved = len(LATER[0].text) - len(NOTES[0].text)
    span = names[0].annotations[-1]
    swapped[1] = replace(names[1], annotations=(replace(span, start=span.start + moved, end=span.end + moved),))
    with pytest.raises(PolicyError, match="got 2 that are missing"):
        encode(site, [*swapped, *NOTES[1:]], representer=B, again=True)


def doubted(words: int) -> list[Document]:
    """NOTES, in each of which a program takes some words for PHI that nobody has labelled."""
    return [
        replace(one, annotations=(*one.annotations, Annotation(0, place, "DATE", doubtful=True)))
        for one in NOTES
        for place in [len(" ".join(one.text.split()[:words]))]
    ]


def hidden(site: Workspace, documents: Sequence[Document], sequence: int = 0, **options: bool) -> set[tuple[str, int]]:
    """Which words of an encoding stand hidden though nobody has labelled them."""
    sieve, found = Sieve(site, B if options else A, **options), set()
    for chunk in tokenised_chunks(sieve.notes(tokenise_documents(documents)), SCHEME, chunk_tokens=64):
        passed = sieve.sentences(chunk)
        sieve.admitted(np.ones(passed.sentences, dtype=np.bool_))
        ends = np.repeat(np.cumsum(passed.lengths), passed.lengths)
        rows = list(passed.split())
        of = np.repeat(np.arange(passed.sentences), passed.lengths)
        for token in np.flatnonzero(passed.are_doubtful).tolist():
            assert passed.tags[token]
            found.add((" ".join(rows[of[token]][0]), int(ends[token] - token)))
    sieve.finish(1)
    if sequence:
        sieve.save(sequence)
        leave(site, sequence)
    return found


@pytest.mark.parametrize("words", [0, 1, 2, 3])
def test_attack_what_leaves_again_shows_what_was_hidden(words: int, site: Workspace) -> None:
    """A pipeline that finds less, a higher --hide-above, or --no-check."""
    first = hidden(site, doubted(2), 1)
    assert len(first) == 60
    now = NOTES if not words else doubted(words)
    again = hidden(site, now, again=True)
    assert first <= again
    assert len(again) == 30 * max(words, 2)


def test_what_is_hidden_again_stays_hidden_ever_after(site: Workspace) -> None:
    first = hidden(site, doubted(1), 1)
    assert hidden(site, NOTES, 2, again=True) == first
    ledger.record(site, Event.RECEIPT, {"sequence": 1, "manifest_sha256": manifest(1), "state": "rejected"})
    ledger.record(site, Event.RECEIPT, {"sequence": 2, "manifest_sha256": manifest(2), "state": "rejected"})
    assert hidden(site, NOTES, again=True) == first


def test_what_was_hidden_then_is_told(site: Workspace) -> None:
    hidden(site, doubted(2), 1)
    sifted = encode(site, NOTES, representer=B, again=True)[1]
    assert sifted.hidden_again == 60
    assert "60 words" in sifted.lines()[1]


def test_what_an_earlier_version_hid_nobody_knows(site: Workspace) -> None:
    left_with_format(site, NOTES, 1, 3)
    with pytest.raises(PolicyError, match=r"share 1.*--no-check"):
        encode(site, NOTES, representer=B, again=True)
    assert encode(site, NOTES, representer=B, again=True, checked=True)[1].counted == 30


@pytest.mark.parametrize(("representer", "told"), [(B, True), (A, False)])
def test_under_another_representer_it_is_said_that_the_policy_holds_for_each_share_alone(
    representer: str, told: bool, site: Workspace
) -> None:
    encode(site, NOTES, 1)
    leave(site, 1, "rejected")
    sifted = encode(site, NOTES, representer=representer, again=True)[1]
    assert any("in both" in line and "either release shows" in line for line in sifted.lines()) is told
    assert sifted.as_json()["under_another_representer"] is told
