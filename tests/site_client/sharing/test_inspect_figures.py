"""What an inspection counts of a share by itself: rare words, nearest sentences, the form of PHI."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from protocols.payload.sentence_block import SentenceBlock
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.labels import load_scheme
from shared.models.noise_source import PrivateNoise
from shared.sentences.tokenised import tokenised_chunks, tokenised_corpus
from site_client.sharing.digest_files import known_notes_folder
from site_client.sharing.encode import block_of
from site_client.sharing.inspect import Inspection, inspect, inspection_lines
from site_client.sharing.inspect_page import write_page
from site_client.sharing.readable import counts, same_note
from site_client.sharing.readable.counts import Tally
from site_client.sharing.readable.figures import ALONE_BY_PHI, KEYS, NEAREST_SENTENCES, RARE_WORDS, Figure
from site_client.sharing.readable.lexicon import Lexicon
from site_client.sharing.readable.originals import Originals
from site_client.sharing.readable.phi_forms import PhiForms
from site_client.sharing.readable.recorded import RecordedNotes
from site_client.sharing.readable.same_note import SameNote, drawn_notes
from site_client.workspace import Workspace
from tests.loop import done, hospital, values
from tests.site_client import sites
from tests.site_client.sharing.sifting.encodings import leave
from tests.site_client.sharing.test_inspect_reading import MADE, NAMES, alone, share_of
from tests.tiny_notes import long_notes, note, phi_strings, tiny_notes, write_notes

SCHEME = load_scheme("i2b2_2014")
# Sentences of 18 tokens, two of them PHI, three in each note; and as many notes of short sentences.
LONG = long_notes(12, 1)
SHORT = list(tiny_notes(12, 3, "own"))
NOTES = [*LONG, *SHORT]
CLINICAL = 40
"""Their sentences of 10 tokens and more: some of the short notes', too."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A hospital whose share of NOTES is `share.parquet`."""
    root = tmp_path_factory.mktemp("figures")
    workspace = sites.site(root, MADE)
    notes = write_notes(root / "notes", NOTES)
    done(hospital("encode", notes, "--out", root / "share.parquet", "--workspace", workspace.root))
    return workspace


def inspected(site: Workspace, notes: list[Document] | None) -> Inspection:
    return inspect(site, share_of(site), SCHEME, notes)


def figure(found: Inspection, key: str) -> Figure:
    assert found.reading is not None
    return {one.key: one for one in found.reading.figures}[key]


def shared(documents: list[Document], made: CodedSurrogates = MADE) -> SentenceBlock:
    return block_of(made.share_sentences(tokenised_corpus(documents, SCHEME), PrivateNoise()))


def test_rare_words_are_those_behind_the_first_of_the_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    first = 25
    monkeypatch.setattr(counts, "RARE_FROM", first)
    monkeypatch.setattr("site_client.sharing.readable.lexicon.COMMONEST", 10)
    block, chunk = shared(SHORT), tokenised_corpus(SHORT, SCHEME)
    tally = Tally(Lexicon(MADE), block.sentences)
    tally.add(block)
    commonest = [word for word in MADE.vectors.words if word not in NAMES][:10]
    content = [
        (word, code)
        for word, tag, code in zip(chunk.words, chunk.tags.tolist(), block.values.tolist(), strict=True)
        if tag == 0 and sum(map(str.isalpha, word)) >= 4 and word.lower() not in commonest
    ]
    exact = [
        MADE.vectors.words.index(word.lower()) for word, code in content if code < len(MADE.vectors) or alone(word)
    ]
    found = tally.rare_words()
    assert found.counts == {"rare_exact": sum(code >= first for code in exact), "content_exact": len(exact)}
    assert 0 < found.counts["rare_exact"] < found.counts["content_exact"]
    assert f"{found.counts['rare_exact']} of {len(exact)} (" in found.line
    assert "a release does not tell" in found.line


def test_rare_words_are_not_counted_where_the_release_knows_few() -> None:
    block = shared(SHORT)
    tally = Tally(Lexicon(MADE), block.sentences)
    tally.add(block)
    assert not tally.rare_words().counts
    assert "not counted, for the release knows" in tally.rare_words().line


def coded(*sentences: list[int], phi: int = 0) -> SentenceBlock:
    """Sentences of codes, the first so many tokens of each labelled."""
    tags = [[1] * phi + [0] * (len(one) - phi) for one in sentences]
    return SentenceBlock(
        np.array([code for one in sentences for code in one], dtype="<u4"),
        np.array([tag for one in tags for tag in one], dtype=np.uint8),
        np.zeros(sum(map(len, sentences)), dtype=np.uint8),
        np.array([len(one) for one in sentences], dtype="<i4"),
    )


def compared(blocks: list[SentenceBlock], owners: dict[int, int]) -> Figure:
    own = SameNote()
    for block in blocks:
        own.add(block)
    return own.figure(owners, blocks)


A, B, C, D = (list(range(10 * n, 10 * n + 10)) for n in range(4))


@pytest.mark.parametrize(
    ("notes", "same"),
    [((0, 0, 1, 1), 1.0), ((0, 1, 0, 1), 0.0), ((0, 0, 0, 1), 0.5)],
)
def test_the_nearest_sentence_is_the_one_with_most_words_in_common(notes: tuple[int, ...], same: float) -> None:
    blocks = [coded([*A, 1, 2], [*A, 3, 4]), coded([*C, 1, 2], [*C, 3, 4])]
    found = compared(blocks, dict(enumerate(notes)))
    together = [sum(one == other for other in notes) - 1 for one in notes]
    assert found.counts["of_same_note"] == same
    assert found.counts["by_chance"] == pytest.approx(sum(together) / 12, abs=1e-4)
    assert f"{same:.1%}, by chance" in found.line


def test_only_clinical_sentences_are_compared_and_those_that_were_not_found_are_told() -> None:
    blocks = [coded([*A, 1], [*A, 2], B, [1, 2, 3], D), coded([5] * 12, phi=4)]
    found = compared(blocks, {0: 0, 1: 0, 2: 1, 3: 1, 5: 1})
    # Neither three tokens nor four of PHI among twelve; the last one of the first block was not found.
    assert {name: found.counts[name] for name in ("sentences", "clinical_sentences", "found", "notes")} == {
        "sentences": 3,
        "clinical_sentences": 4,
        "found": 3,
        "notes": 2,
    }
    assert "1 were not found in these notes" in found.line


@pytest.mark.parametrize("owners", [{}, {0: 0}, {0: 0, 1: 0}, {0: 0, 1: 1}])
def test_no_two_notes_no_figure(owners: dict[int, int]) -> None:
    found = compared([coded(A, B)], owners)
    assert not found.counts
    assert "not counted, for that takes two notes" in found.line


def test_of_many_sentences_whole_notes_are_drawn_the_same_ones_each_time() -> None:
    owners = np.random.default_rng(0).permutation(np.repeat(np.arange(100), 7))
    drawn = drawn_notes(owners, 60)
    assert np.bincount(owners[drawn])[np.unique(owners[drawn])].tolist() == [7] * 8
    assert np.array_equal(drawn, drawn_notes(owners, 60))
    assert len(drawn_notes(owners, 700)) == 700
    # One long note does not leave the others out.
    assert drawn_notes(np.array([0] * 50 + [1] * 3), 10).tolist() == [50, 51, 52]


def test_that_notes_were_drawn_is_said(site: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_note, "MOST_SENTENCES", 20)
    found = figure(inspected(site, NOTES), NEAREST_SENTENCES)
    assert 15 < found.counts["sentences"] <= 20
    assert f"{found.counts['sentences']} of {CLINICAL} clinical sentences" in found.line
    assert "those of whole notes were drawn with a fixed seed" in found.line


@pytest.mark.parametrize("chunk_tokens", [100, 1 << 16])
def test_each_sentence_is_given_to_its_own_note(chunk_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "site_client.sharing.readable.originals.tokenised_chunks", partial(tokenised_chunks, chunk_tokens=chunk_tokens)
    )
    chunk = tokenised_corpus(LONG, SCHEME)
    owners = np.repeat(np.arange(len(LONG)), [tokenised_corpus([one], SCHEME).sentences for one in LONG])
    order = np.random.default_rng(0).permutation(chunk.sentences)
    mixed = block_of(MADE.share_sentences(chunk.select(order), PrivateNoise()))
    originals = Originals(MADE, Lexicon(MADE), ())
    originals.add_share(mixed)
    assert list(originals.watch(LONG)) == LONG
    assert [originals.notes[place] for place in range(chunk.sentences)] == owners[order].tolist()


def test_sentences_of_notes_that_left_otherwise_are_neither_found_nor_compared(site: Workspace) -> None:
    others = [note("x", *pieces(one)) for one in tiny_notes(8, 5, "other")]
    alone, among = (inspected(site, given) for given in (NOTES, [*others, *NOTES, *SHORT[:3]]))
    for key in (NEAREST_SENTENCES, ALONE_BY_PHI):
        assert figure(alone, key) == figure(among, key)
    assert figure(among, ALONE_BY_PHI).counts["notes"] == len(NOTES)
    assert figure(among, NEAREST_SENTENCES).counts["found"] == CLINICAL
    assert among.reading is not None
    assert among.reading.counts.with_original == among.reading.counts.sentences


def pieces(one: Document) -> list[str | tuple[str, str]]:
    """The same labelled text under another beginning."""
    found: list[str | tuple[str, str]] = ["Letter.\n"]
    done_until = 0
    for span in one.annotations:
        found += [one.text[done_until : span.start], (one.covered_text(span), span.category)]
        done_until = span.end
    return [*found, one.text[done_until:]]


def forms(*notes: Document, left_out: str = "") -> dict[str, float]:
    """Of the notes, a share of which lacks the sentences with a word."""
    return dict(phi_forms(*notes, left_out=left_out).figure().counts)


def phi_forms(*notes: Document, left_out: str = "") -> PhiForms:
    chunk, found = tokenised_corpus(notes, SCHEME), PhiForms(MADE)
    chunk = chunk.leave_out(np.array([left_out in words for words, _ in chunk.split()], dtype=np.bool_))
    block = block_of(MADE.share_sentences(chunk, PrivateNoise()))
    originals = Originals(MADE, Lexicon(MADE), (), read=found.add)
    originals.add_share(block)
    assert list(originals.watch(notes)) == list(notes)
    originals.find_open([block])
    return found


def labelled(*spans: tuple[str, str]) -> Document:
    return note("one", *[piece for span in spans for piece in ("seen by ", span, " today.\n")])


def test_notes_are_alone_whose_phi_is_written_as_in_no_other() -> None:
    plain = labelled(("Anna", "PATIENT"), ("Berlin", "CITY"))
    like = labelled(("Otto", "PATIENT"), ("London", "CITY"))
    shouted = labelled(("OTTO", "PATIENT"), ("London", "CITY"))
    assert forms(plain, like, shouted) == {"notes": 3, "alone": 1, "alone_by_what_people_know": 1}
    # How often it stands there does not count, nor does a note of which nothing is labelled.
    often = labelled(("Otto", "PATIENT"), ("London", "CITY"), ("Anna", "PATIENT"))
    assert forms(plain, often, shouted, note("none", "nothing here")) == forms(plain, like, shouted)


def test_the_form_of_what_people_do_not_know_is_counted_apart() -> None:
    one, other = (labelled(("Anna", "PATIENT"), (doctor, "DOCTOR")) for doctor in ("Otto", "OTTO"))
    assert forms(one, other) == {"notes": 2, "alone": 2, "alone_by_what_people_know": 0}
    nobody = labelled(("Otto", "DOCTOR"))
    # Of the last nothing is known: that it looks like nobody tells nothing.
    assert forms(one, other, nobody)["alone_by_what_people_know"] == 0


def test_phi_of_a_sentence_that_is_not_in_the_share_does_not_count() -> None:
    one = note("one", "seen by ", ("Anna", "PATIENT"), " today.\n\n", "advised by ", ("EVA", "DOCTOR"), " in a note.\n")
    other = note("other", "seen by ", ("Otto", "PATIENT"), " today.\n\n", "Dr ", ("IDA", "DOCTOR"), " of chest pain.\n")
    assert forms(one, other) == {"notes": 2, "alone": 0, "alone_by_what_people_know": 0}
    # As the guard drops it: only one of the two doctors leaves.
    assert forms(one, other, left_out="advised") == {"notes": 2, "alone": 2, "alone_by_what_people_know": 0}


def test_phi_that_left_with_an_earlier_share_does_not_count(tmp_path: Path) -> None:
    def doctor(name: str, end: str = "of chest pain") -> list[str | tuple[str, str]]:
        return ["\n\nPlease call Dr ", (name, "DOCTOR"), f" {end} today.\n"]

    later = [
        # Outside of PHI the sentence that left is like one that leaves now, and comes before it.
        note("one", *pieces(LONG[0]), *doctor("EVA KOCH")),
        note("other", *pieces(LONG[1]), *doctor("Ida")),
        note("third", *pieces(LONG[2]), *doctor("Uma", "of fever")),
        LONG[3],
    ]
    workspace = sites.site(tmp_path, MADE)
    at = ("--workspace", workspace.root)
    first = write_notes(tmp_path / "first", [note("first", *doctor("EVA KOCH"))])
    done(hospital("encode", first, "--out", tmp_path / "first.parquet", *at))
    leave(workspace, 1)
    done(hospital("encode", write_notes(tmp_path / "later", later), "--out", tmp_path / "later.parquet", *at))
    found = inspect(workspace, tmp_path / "later.parquet", SCHEME, later, 100)
    assert found.reading is not None
    assert found.reading.counts.with_original == found.manifest.sentences
    # The first looks like the last, and the two others like one another.
    assert figure(found, ALONE_BY_PHI).counts == {"notes": 4, "alone": 0, "alone_by_what_people_know": 0}
    beside = {token.text for one in found.reading.sentences for part in one.original or () for token in part.tokens}
    assert {"Ida", "Uma"} <= beside
    assert "EVA" not in beside


def test_one_note_is_compared_with_none() -> None:
    found = phi_forms(LONG[0])
    assert "not counted, for fewer than two of these notes" in found.figure().line
    assert "Quill" not in repr(found)


def test_what_was_recorded_of_a_share_knows_each_of_its_notes_once(site: Workspace) -> None:
    recorded = RecordedNotes.of(site, 1)
    assert recorded is not None
    assert [recorded.take(one) for one in (*NOTES, NOTES[0])] == [True] * len(NOTES) + [False]
    assert not recorded.take(note("other", "Nobody wrote this.\n"))
    assert RecordedNotes.of(site, 2) is None


def test_where_nothing_was_recorded_the_share_is_shown_all_the_same(site: Workspace) -> None:
    for path in known_notes_folder(site).iterdir():
        path.rename(path.with_suffix(f"{path.suffix}.away"))
    try:
        found = inspected(site, NOTES)
    finally:
        for path in known_notes_folder(site).iterdir():
            path.rename(path.with_suffix(""))
    assert "known-notes/ of this workspace does not tell" in figure(found, ALONE_BY_PHI).line
    assert figure(found, NEAREST_SENTENCES) == figure(inspected(site, NOTES), NEAREST_SENTENCES)


def test_without_notes_the_figures_say_what_they_need(site: Workspace) -> None:
    found = inspected(site, None)
    for key in (NEAREST_SENTENCES, ALONE_BY_PHI):
        assert not figure(found, key).counts
        assert figure(found, key).line.endswith(
            "not counted, that takes --notes NOTES, the notes that it was made from"
        )


def test_each_figure_is_a_line_a_row_and_a_key_and_holds_no_phi(site: Workspace, tmp_path: Path) -> None:
    found = inspected(site, NOTES)
    lines = inspection_lines(found)
    page = write_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    command = ("inspect", share_of(site), "--notes", site.root.parent / "notes", "--workspace", site.root, "--json")
    told = values(hospital(*command))
    assert found.reading is not None
    assert tuple(one.key for one in found.reading.figures) == KEYS
    for one in found.reading.figures:
        assert f"  {one.line}" in lines
        assert f'<tr><td class="words">{one.what}</td>' in page
        assert told[one.key] == one.as_json()
        assert not [word for word in phi_strings(NOTES) if len(word) >= 4 and word in one.line]
    assert told[RARE_WORDS]["counts"] is None
    assert told[NEAREST_SENTENCES]["counts"]["found"] == CLINICAL
    assert told[ALONE_BY_PHI]["counts"]["notes"] == 24
    assert "of this share alone: the fewer notes, the more look like no other" in "\n".join(lines)
