"""What an inspection counts where PHI was labelled that the release has no category for: a share shows it as words that are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shared.anonymity.surrogates import SurrogateBank
from shared.document import Document
from shared.labels import HIDDEN, load_scheme
from site_client.sharing.drafts import report_path
from site_client.sharing.encode import encode
from site_client.sharing.inspect import Inspection, inspect, inspection_lines
from site_client.sharing.inspect_page import write_page
from site_client.workspace import Workspace
from tests.site_client import sites
from tests.site_client.sharing.test_inspect_reading import MADE
from tests.tiny_notes import long_notes

SCHEME = load_scheme("i2b2_2014")
# Public words of which some are read exactly and some in a group; what is drawn is now this one, now that.
BANK = SurrogateBank([(0, (word,)) for word in ("Anna", "Rest", "Brunhilda", "Fever", "Theobald", "Call")])
LONG = long_notes(12, 1)
# In each note the first name of the first patient alone is of no category.
NOTES = [
    replace(
        one,
        annotations=(
            replace(one.annotations[0], category=HIDDEN, end=one.text.index(" ", one.annotations[0].start)),
            *one.annotations[1:],
        ),
    )
    for one in LONG
]
HIDDEN_WORDS = len(NOTES)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return sites.site(tmp_path_factory.mktemp("hidden"), replace(MADE, bank=BANK))


def inspected(site: Workspace, number: int, notes: list[Document] | None) -> Inspection:
    share = site.root.parent / f"{number}.parquet"
    if not share.exists():
        encode(site, NOTES, share)
    return inspect(site, share, SCHEME, notes)


def numbers(found: Inspection) -> tuple[object, ...]:
    assert found.reading is not None
    return found.reading.counts, found.channels.alone, found.channels.alone_in_words, found.reading.figures[0].counts


def test_with_the_notes_no_number_hangs_on_what_was_drawn(site: Workspace) -> None:
    found = [inspected(site, number, NOTES) for number in range(4)]
    assert all(numbers(one) == numbers(found[0]) for one in found)
    assert found[0].reading is not None
    counts = found[0].reading.counts
    assert (counts.hidden, counts.hidden_found, counts.with_original) == (HIDDEN_WORDS, HIDDEN_WORDS, counts.sentences)
    plain = sum(len(one.text.split()) for one in LONG)
    # The last names of the first patients of these notes have no label here.
    labelled = sum(len(one.covered_text(span).split()) for one in NOTES for span in one.annotations)
    assert (counts.words, counts.phi) == (plain - labelled, labelled - HIDDEN_WORDS)


def test_without_the_notes_they_are_no_words_that_are_no_phi_either(site: Workspace) -> None:
    whole, found = inspected(site, 0, NOTES).reading, inspected(site, 0, None).reading
    assert whole is not None
    assert found is not None
    assert (found.counts.words, found.counts.hidden, found.counts.hidden_found) == (whole.counts.words, HIDDEN_WORDS, 0)
    # What was drawn and is read exactly can't be told from their own words: never fewer are said to be read than are.
    assert whole.counts.words_exact <= found.counts.words_exact <= found.counts.words


def test_how_many_they_are_and_where_they_are_counted_is_said(site: Workspace, tmp_path: Path) -> None:
    said = f"{HIDDEN_WORDS} words are labelled PHI of no category of the release"
    for notes, only_notes in ((NOTES, False), (None, True)):
        found = inspected(site, 0, notes)
        page = write_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
        for shown in ("\n".join(inspection_lines(found)), page):
            assert said in shown
            assert ("only the notes tell" in shown) is only_notes
    inspected(site, 1, None)
    report_path(site.root.parent / "1.parquet").unlink()
    lines = "\n".join(inspection_lines(inspected(site, 1, None)))
    assert "how many words are labelled PHI of no category of the release is not known" in lines
    assert f"{HIDDEN_WORDS} words are labelled" in "\n".join(inspection_lines(inspected(site, 1, NOTES)))


def test_of_a_share_without_them_nothing_is_said(site: Workspace) -> None:
    share = site.root.parent / "plain.parquet"
    encode(site, long_notes(12, 2), share)
    found = inspect(site, share, SCHEME, None)
    assert "no category" not in "\n".join(inspection_lines(found))
