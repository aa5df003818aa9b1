"""Attacks by who holds a share for which a folder held the same notes twice: two annotators, or a copy whose labels were corrected."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shared.document import Annotation
from site_client.sharing.digest_files import join_digests
from site_client.sharing.sifting.copies import GrowingDigests
from site_client.sharing.sifting.sifted import Sifted
from site_client.workspace import Workspace
from tests.site_client.sharing.sifting.encodings import (
    CHANGES,
    LATER,
    NOTES,
    accented,
    encode,
    new_site,
    printed,
)
from tests.tiny_notes import note


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return new_site(tmp_path)


@pytest.mark.parametrize("change", [*CHANGES, "none"])
def test_attack_a_copy_with_corrected_labels_points_to_the_forgotten_name(change: str, site: Workspace) -> None:
    copies = [replace(CHANGES.get(change, replace)(one), identifier=f"copy of {one.identifier}") for one in NOTES]
    shown, sifted = encode(site, [*NOTES, *copies])
    assert Counter(shown) == Counter(encode(site, NOTES)[0])
    assert (sifted.counted, sifted.copies, sifted.left_out) == (30, 30, 0)
    expected = [] if change == "none" else [(one.identifier, one.identifier[8:]) for one in copies]
    assert list(sifted.labelled_otherwise) == expected


@pytest.mark.parametrize("change", CHANGES)
def test_attack_a_corrected_copy_has_other_lines(change: str, site: Workspace) -> None:
    """Every line break is another one: sentences are others, runs of words are not."""
    first = NOTES[0]
    with_a_line = note("printed", printed(first, 40).text)
    spaced = CHANGES[change](replace(first, identifier="spaced", text=first.text.replace(" ", "\n")))
    shown, sifted = encode(site, [first, with_a_line, spaced])
    assert shown == encode(site, [first])[0]
    assert (sifted.copies, sifted.labelled_otherwise) == (2, (("spaced", first.identifier),))


@pytest.mark.parametrize("change", [*CHANGES, "none"])
def test_attack_a_corrected_copy_has_its_accents_apart(change: str, site: Workspace) -> None:
    first = [accented(one, "NFC") for one in NOTES]
    copies = [CHANGES.get(change, replace)(accented(one, "NFD")) for one in NOTES]
    shown, sifted = encode(site, [*first, *copies])
    assert shown == encode(site, first)[0]
    assert (sifted.copies, len(sifted.labelled_otherwise)) == (30, 0 if change == "none" else 30)


def test_labels_that_differ_in_white_space_alone_are_the_same(site: Workspace) -> None:
    first = note("first", "Seen was ", ("Brunhilda Quillfeather", "PATIENT"), " who has a cough and no fever.")
    second = note("second", " Seen  was ", ("Brunhilda\nQuillfeather", "PATIENT"), " who has a cough and no fever.\n")
    assert encode(site, [first, second])[1].labelled_otherwise == ()
    # What a program takes for PHI nobody has labelled.
    third = replace(first, annotations=(*first.annotations, Annotation(0, 4, "PATIENT", doubtful=True)))
    assert encode(site, [first, third])[1].labelled_otherwise == ()


def test_other_notes_with_the_same_lines_are_no_copies(site: Workspace) -> None:
    line = NOTES[0].text.splitlines()[0]
    alike = [note(f"{number}", f"{line}\n{one.text}") for number, one in enumerate(LATER)]
    assert encode(site, alike)[1].copies == 0


def test_many_digests_are_known_again() -> None:
    dice, growing = np.random.default_rng(0), GrowingDigests()
    parts = [join_digests([dice.integers(0, 2**63, size, dtype=np.uint64)]) for size in dice.integers(0, 50, 200)]
    for part in parts:
        assert not growing.has(part).any()
        growing.add(part)
    assert all(growing.has(part).all() for part in parts)


def test_the_lines_say_which_copy_was_taken_and_what_to_do() -> None:
    lines = Sifted(60, 30, 0, 0, (), copies=30, labelled_otherwise=(("b", "a"), ("d", "c"))).lines()
    assert lines[0].startswith("30 of 60 notes were left out: they are in this folder twice")
    assert "labels of 2 of them" in lines[1]
    assert "b (taken: a), d (taken: c)" in lines[1]
    many = Sifted(60, 30, 0, 0, (), copies=30, labelled_otherwise=tuple((f"{n}", "a") for n in range(30))).lines()
    assert many[1].count("(taken: a)") == 10
    assert "and 20 more" in many[1]


def test_what_programs_are_told_has_no_ids() -> None:
    told = Sifted(60, 30, 0, 0, (), copies=30, labelled_otherwise=(("b", "a"),)).as_json()
    assert (told["copies_left_out"], told["copies_labelled_otherwise"]) == (30, 1)
