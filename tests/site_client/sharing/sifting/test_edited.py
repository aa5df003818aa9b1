"""Notes that are known again by what they have in common, however they are written, and others that are not."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shared.generate import generate_notes
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import KnownNotes
from site_client.workspace import Workspace
from tests.site_client.sharing.sifting.encodings import new_site


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return new_site(tmp_path)


def _in_short_lines(write: Callable[[int, str], str]) -> Callable[[str], str]:
    """Every run of eight words has a line end in it."""
    return lambda text: "\n".join(write(*line) for line in enumerate(textwrap.wrap(text, 30), 1))


@pytest.mark.parametrize(
    "export",
    [
        lambda text: text.replace("\n", " <br> "),
        _in_short_lines(lambda number, line: f"<li class='x'>{line}</li>"),
        _in_short_lines(lambda number, line: f"<tr><td>{line}</td></tr>"),
        _in_short_lines(lambda number, line: f"<b>{line}</b>"),
        _in_short_lines(lambda number, line: f"{number}. {line}"),
        _in_short_lines(lambda number, line: f"  ({number}) {line}"),
        lambda text: re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "-\n", text),
        lambda text: re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "\u00ad<br/>", text),
    ],
    ids=["line ends", "list", "table", "bold", "numbers", "numbers in brackets", "cut words", "soft hyphens"],
)
def test_a_note_is_known_however_it_is_exported(export: Callable[[str], str], site: Workspace) -> None:
    key = DigestKey(site)
    learned, fresh = ([one.text for one in generate_notes("en_harbor", 10, seed)] for seed in (1, 2))
    known = KnownNotes.of(key, learned)
    assert all(known.has(key, export(text)) for text in learned)
    assert not any(known.has(key, export(text)) for text in fresh)
    exported = KnownNotes.of(key, [export(text) for text in learned])
    assert all(exported.has(key, text) for text in learned)
    assert not any(exported.has(key, text) for text in fresh)


def test_a_note_is_known_edited_and_new_notes_of_the_same_hospital_are_not(site: Workspace) -> None:
    key = DigestKey(site)
    learned, fresh = ([one.text for one in generate_notes("en_harbor", 30, seed)] for seed in (1, 2))
    known = KnownNotes.of(key, learned)
    assert all(known.has(key, f"{text}\nSigned in the afternoon.") for text in learned)
    assert not any(known.has(key, text) for text in fresh)
    # A head that an earlier version adapted knows its notes as they were.
    earlier = KnownNotes(known.notes, np.zeros(0, dtype=np.uint64))
    assert earlier.has(key, learned[0])
    assert not earlier.has(key, learned[0] + "Signed.")
