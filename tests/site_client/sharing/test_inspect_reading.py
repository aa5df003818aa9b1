"""What an inspection reads of a share, against the notes that it was made from."""

from __future__ import annotations

import re
import stat
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from protocols.errors import CodebookError
from protocols.payload.sentence_block import UNKNOWN_TAG, SentenceBlock
from protocols.share.sealing import open_share
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.embeddings.generalised import fold_casing, generalise
from shared.embeddings.members import MemberVectors, keep_members
from shared.labels import HIDDEN, load_scheme, map_document
from shared.models.noise_source import PrivateNoise
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.casing import CASING_CLASSES, casing_class, writable_classes
from shared.text.tokens import tokenise
from site_client.sharing.encode import block_of
from site_client.sharing.inspect import Inspection, inspect, inspection_lines
from site_client.sharing.inspect_page import write_page
from site_client.sharing.readable import lexicon
from site_client.sharing.readable.counts import Tally
from site_client.sharing.readable.lexicon import Lexicon, Token
from site_client.sharing.readable.originals import Originals
from site_client.sharing.readable.reading import Reader, drawn_sentences
from site_client.sharing.readable.recorded import RecordedNotes
from site_client.sharing.readable.sentences import own_tokens, parted, read_tokens, sentence_line
from site_client.workspace import Workspace, open_workspace
from tests import constructions
from tests.loop import Loop, done, hospital, values
from tests.shared.embeddings.made import table
from tests.site_client import sites
from tests.tiny_notes import FIRST, LAST, note, phi_strings, tiny_notes, write_notes

SCHEME = load_scheme("i2b2_2014")
# Of one of them more than half stands in others, so that it stays here.
NOTES = list(tiny_notes(40, 3, "own"))
NAMES = {word.lower() for name in (*FIRST, *LAST) for word in name.split()}
COMMON = 20


WORDS = dict.fromkeys(word.lower() for one in (*NOTES, *tiny_notes(20)) for word in tokenise(one.text).words)
CLEAR = fold_casing(table([*dict.fromkeys([*WORDS, *sorted(NAMES)])], 8))


def made() -> CodedSurrogates:
    """Names are hidden in groups of at least 4, all other words public; far from PHI the 20 first of them are read."""
    shown = generalise(CLEAR, np.array([word not in NAMES for word in CLEAR.words]), 4)
    frequencies = np.arange(len(shown), 0, -1)
    members = keep_members(CLEAR, shown, frequencies, -frequencies.astype(np.float64), COMMON, 1, 4)
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(len(SCHEME.categories))])
    return CodedSurrogates(members, constructions.unchanged(members.dim), SCHEME, bank)


MADE = made()
LEXICON = Lexicon(MADE)


def shared(chunk: TokenisedSentences, seed: int = 0) -> tuple[SentenceBlock, NDArray[np.int64]]:
    """A share of some sentences, and which of them each of its sentences is."""
    order = np.random.default_rng(seed).permutation(chunk.sentences)
    return block_of(MADE.share_sentences(chunk.select(order), PrivateNoise())), order


def found_again(block: SentenceBlock, documents: list[Document], own: Lexicon = LEXICON) -> Originals:
    originals = Originals(MADE, own, range(block.sentences))
    originals.add_share(block)
    assert list(originals.watch(documents)) == documents
    originals.find_open([block])
    return originals


def sentences(chunk: TokenisedSentences) -> list[list[str]]:
    return [list(words) for words, _ in chunk.split()]


def outside(words: list[str], tags: NDArray[np.uint8]) -> list[str]:
    return [word.lower() for word, tag in zip(words, tags.tolist(), strict=True) if tag == 0]


def alone(word: str) -> bool:
    """Whether no other word that its group stands for can be written in the casing class of a word."""
    vectors = MADE.vectors
    group = vectors.clusters[vectors.words.index(word.lower())]
    meant = np.flatnonzero((vectors.clusters == group) & ~vectors.narrowing.common).tolist()
    return [vectors.words[row] for row in meant if casing_class(word) in writable_classes(vectors.words[row])] == [
        word.lower()
    ]


def test_a_word_is_read_exactly_where_the_release_shows_it_and_else_its_group() -> None:
    chunk = tokenised_corpus(NOTES[:3], SCHEME)
    block = block_of(MADE.share_sentences(chunk, PrivateNoise()))
    public = [word for word in MADE.vectors.words if word not in NAMES][:COMMON]
    read = read_tokens(block.values, block.casing, LEXICON)
    marked = np.flatnonzero(chunk.tags)
    kinds = set()
    for place, (word, tag, token) in enumerate(zip(chunk.words, chunk.tags.tolist(), read, strict=True)):
        if tag:
            continue
        same = marked[chunk.sentence_of_token[marked] == chunk.sentence_of_token[place]]
        near = bool((abs(same - place) <= 1).any())
        exact = word.lower() in public or near or alone(word)
        kinds.add(exact)
        if exact:
            assert (token.text, token.exact) == (word, True)
        else:
            assert not token.exact
    assert kinds == {True, False}


def test_a_group_is_of_the_words_that_it_can_mean_and_no_others() -> None:
    vectors = MADE.vectors
    public = [word for word in vectors.words if word not in NAMES]
    for word, casing, own in (("advised", 2, str.lower), ("advised", 3, str.upper), ("brunhilda", 4, str.title)):
        group = int(vectors.clusters[vectors.words.index(word)])
        token = LEXICON.read(len(vectors) + group, casing)
        members = [
            one for one, cluster in zip(vectors.words, vectors.clusters.tolist(), strict=True) if cluster == group
        ]
        # What is read wherever it stands is never shown as its group, and a number is not written in letters.
        meant = [own(one) for one in members if one not in public[:COMMON] and one.isalpha()]
        assert own(word) in meant
        assert (token.exact, token.size) == (False, len(meant))
        assert token.text == ", ".join(meant[:2])


def test_a_group_that_leaves_one_word_in_a_casing_class_is_that_word() -> None:
    vectors = MADE.vectors
    numbers = [word for word in vectors.words if word.isdecimal() and alone(word)]
    assert numbers
    for word in numbers:
        code = np.array([len(vectors) + vectors.clusters[vectors.words.index(word)]], dtype=np.uint32)
        assert LEXICON.read(int(code[0]), CASING_CLASSES.index("numeric")) == Token(word)
        tally = Tally(LEXICON, 1)
        casing = np.full(1, CASING_CLASSES.index("numeric"), np.uint8)
        tally.add(SentenceBlock(code, np.zeros(1, np.uint8), casing, np.ones(1, "<i4")))
        assert (tally.counts().words, tally.counts().words_exact) == (1, 1)


def test_a_word_as_no_word_of_its_group_is_written_is_none_that_the_release_knows() -> None:
    group = int(MADE.vectors.clusters[MADE.vectors.words.index("brunhilda")])
    token = LEXICON.read(len(MADE.vectors) + group, CASING_CLASSES.index("numeric"))
    assert (token.exact, token.size) == (False, 0)
    assert sentence_line(parted([token], np.zeros(1, np.uint8), SCHEME)) == f"⟨like {token.text}⟩"


def test_phi_is_marked_by_its_category_and_what_is_unknown_as_such() -> None:
    tags = np.array([0, 1, 2, 0, UNKNOWN_TAG], dtype=np.uint8)
    codes = np.array([0, 1, len(MADE.vectors), 2, 3], dtype=np.uint32)
    parts = parted(read_tokens(codes, np.full(5, 2, np.uint8), LEXICON), tags, SCHEME)
    assert [part.mark for part in parts] == ["", SCHEME.categories[0], "", "unknown"]
    assert [len(part.tokens) for part in parts] == [1, 2, 1, 1]
    words = MADE.vectors.words
    line = sentence_line(parts)
    assert line.startswith(f"{words[0]} [{SCHEME.categories[0]} {words[1]} ⟨")
    assert line.endswith(f"⟩] {words[2]} [unknown {words[3]}]")


def test_what_would_steer_a_terminal_is_not_printed() -> None:
    parts = parted(own_tokens(["a\x1b[2Jb\u202ec"]), np.zeros(1, np.uint8), SCHEME)
    assert sentence_line(parts) == "a\ufffd[2Jb\ufffdc"


def test_every_sentence_is_found_again_in_the_notes_whatever_their_order() -> None:
    chunk = tokenised_corpus(NOTES, SCHEME)
    block, order = shared(chunk)
    found = found_again(block, NOTES[::-1]).found
    assert sorted(found) == list(range(block.sentences))
    true = sentences(chunk.select(order))
    # Sentences that are shown alike can't be told apart by anybody; each is given out once.
    assert sorted(own.words for own in found.values()) == sorted(true)
    for place, own in found.items():
        begin, end = block.offsets[place : place + 2]
        shown = zip(block.values[begin:end].tolist(), block.tags[begin:end].tolist(), strict=True)
        codes = [code for code, tag in shown if tag == 0]
        for code, word in zip(codes, outside(own.words, own.tags), strict=True):
            if code < len(MADE.vectors):
                assert MADE.vectors.words[code] == word


def test_a_sentence_is_found_whose_labelled_spans_have_another_length() -> None:
    chunk = tokenised_corpus(NOTES, SCHEME)
    dates = [(SCHEME.category_index["DATE"], ("1",) * length) for length in (2, 7)]
    drawn = SurrogateBank([*MADE.bank.spans, *dates]).draw_lengths(chunk, torch.Generator().manual_seed(0))
    longer = TokenisedSentences(*lengthened(chunk))
    for other in (drawn, longer):
        block = block_of(MADE.share_sentences(other, PrivateNoise()))
        found = found_again(block, NOTES).found
        assert sorted(own.words for own in found.values()) == sorted(sentences(chunk))


def lengthened(chunk: TokenisedSentences) -> tuple[list[str], NDArray[np.uint8], NDArray[np.int64]]:
    """The sentences with one token more in every labelled span."""
    words, tags, lengths = list[str](), list[int](), list[int]()
    for own, marked in chunk.split():
        before = len(words)
        for word, tag in zip(own, marked.tolist(), strict=True):
            words.append(word)
            tags.append(tag)
            if tag % 2:
                words.append(word)
                tags.append(tag + 1)
        lengths.append(len(words) - before)
    return words, np.array(tags, dtype=np.uint8), np.array(lengths, dtype=np.int64)


def test_a_sentence_of_other_notes_is_not_found() -> None:
    block, _ = shared(tokenised_corpus(NOTES, SCHEME))
    other = [note("other", "Nobody wrote this sentence about chest pain in a note of ours.\n")]
    assert not found_again(block, other).found


def test_a_sentence_is_found_where_the_share_leaves_labels_open() -> None:
    chunk = tokenised_corpus(NOTES[:6], SCHEME)
    dice = np.random.default_rng(1)
    opened = chunk.tags.copy()
    # As if a word in ten had looked like PHI that nobody labelled: what is near it is shown otherwise, too.
    opened[(chunk.tags == 0) & (dice.random(chunk.tokens) < 0.1)] = UNKNOWN_TAG
    assert (opened == UNKNOWN_TAG).sum() > 10
    shown = chunk.with_tags(opened)
    codes = MADE.codes(shown)
    block = SentenceBlock(
        np.where(opened == UNKNOWN_TAG, 0, codes).astype("<u4"),
        opened,
        block_of(MADE.share_sentences(chunk, PrivateNoise())).casing,
        chunk.lengths.astype("<i4"),
    )
    found = found_again(block, NOTES[:6]).found
    assert sorted(found) == list(range(chunk.sentences))
    assert sorted(own.words for own in found.values()) == sorted(sentences(chunk))


def test_a_sentence_is_found_where_the_release_has_no_category_for_its_phi() -> None:
    scheme = {category: category for category in SCHEME.categories} | {"DOCTOR": HIDDEN}
    hidden = [map_document(one, scheme, to_share=True) for one in NOTES[:6]]
    chunk = tokenised_corpus(hidden, SCHEME)
    assert (chunk.tags == UNKNOWN_TAG).any()
    block, _ = shared(chunk)
    assert not (block.tags == UNKNOWN_TAG).any()
    assert sorted(own.words for own in found_again(block, hidden).found.values()) == sorted(sentences(chunk))


def test_the_commonest_words_are_those_that_the_release_calls_common_and_then_the_first_of_its_vocabulary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lexicon, "COMMONEST", COMMON + 5)
    often = np.arange(len(CLEAR))
    backwards = keep_members(CLEAR, MADE.vectors, often, -often.astype(np.float64), COMMON, 1, 4)
    public = [word for word in CLEAR.words if word not in NAMES]
    assert Lexicon(replace(MADE, vectors=backwards)).common == {*public[-COMMON:], *public[:5]}


def test_the_counts_are_those_of_reading_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "COMMONEST", 10)
    chunk = tokenised_corpus(NOTES, SCHEME)
    block, order = shared(chunk)
    chunk = chunk.select(order)
    own = Lexicon(MADE)
    tally = Tally(own, block.sentences)
    tally.add(block)
    originals = found_again(block, NOTES, own)
    found = np.array(list(originals.content.items()))
    tally.tell(found[:, 0], found[:, 1])
    counts = tally.counts()

    public = [word for word in MADE.vectors.words if word not in NAMES]
    commonest = set(public[:10])
    words = [
        (word, code < len(MADE.vectors) or alone(word))
        for word, tag, code in zip(chunk.words, chunk.tags.tolist(), block.values.tolist(), strict=True)
        if tag == 0 and re.search(r"\w", word)
    ]
    content = [
        (word, exact) for word, exact in words if sum(map(str.isalpha, word)) >= 4 and word.lower() not in commonest
    ]
    assert (counts.words, counts.words_exact) == (len(words), sum(exact for _, exact in words))
    assert (counts.content, counts.content_exact) == (len(content), sum(exact for _, exact in content))
    assert 0 < counts.content_exact < counts.content
    assert (counts.phi, counts.unknown) == (int((chunk.tags > 0).sum()), 0)
    assert counts.with_original == counts.sentences == chunk.sentences


def test_unknown_labels_are_counted_apart() -> None:
    block, _ = shared(tokenised_corpus(NOTES[:2], SCHEME))
    tags = block.tags.copy()
    places = np.flatnonzero(tags == 0)[:3]
    tags[places] = UNKNOWN_TAG
    before, after = Tally(LEXICON, block.sentences), Tally(LEXICON, block.sentences)
    before.add(block)
    after.add(SentenceBlock(block.values, tags, block.casing, block.lengths))
    assert after.counts().unknown == 3
    assert after.counts().phi == before.counts().phi
    spelled = int(LEXICON.spelled[block.values[places]].sum())
    assert after.counts().words == before.counts().words - spelled


def test_the_same_share_shows_the_same_sentences_and_more_of_them_go_on() -> None:
    few, many = (drawn_sentences("ab" * 32, 500, most) for most in (10, 400))
    assert many[:10] == few == drawn_sentences("ab" * 32, 500, 10)
    assert len(set(many)) == 400
    assert drawn_sentences("cd" * 32, 500, 10) != few
    assert sorted(drawn_sentences("ab" * 32, 7, 10)) == list(range(7))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A hospital whose share of NOTES is `share.parquet`."""
    root = tmp_path_factory.mktemp("reading")
    workspace = sites.site(root, MADE)
    notes = write_notes(root / "notes", NOTES)
    done(hospital("encode", notes, "--out", root / "share.parquet", "--workspace", workspace.root))
    return workspace


def share_of(site: Workspace) -> Path:
    return site.root.parent / "share.parquet"


def test_a_share_with_a_code_that_its_release_does_not_allow_is_refused(site: Workspace) -> None:
    share = open_share(share_of(site), public_keys={site.site: site.public_keys})
    vectors = MADE.vectors
    # A release that is narrower than the one in use: nothing is common in it.
    none = replace(vectors.narrowing, common=np.zeros(len(vectors), dtype=np.bool_))
    shown = MemberVectors(generalise(CLEAR, vectors.public, 4), vectors.hidden, none)
    with pytest.raises(CodebookError):
        Reader(share, replace(MADE, vectors=shown), 10)


def without_groups(text: str) -> str:
    """The text without what is said of groups: their common words are public."""
    return re.sub("⟨[^⟩]*⟩", "", text)


def inspected(site: Workspace, most: int = 10, *, notes: bool = True) -> Inspection:
    return inspect(site, share_of(site), SCHEME, NOTES if notes else None, most)


def test_the_hospitals_own_sentences_stand_on_its_screen_only(site: Workspace) -> None:
    found = inspected(site)
    # Longer ones only: a number of two digits stands in any message.
    phi = [word for word in phi_strings(NOTES) if len(word) >= 4]
    screen = "\n".join(inspection_lines(found, originals=True))
    assert [word for word in phi if word in without_groups(screen)]
    command = ("inspect", share_of(site), "--notes", site.root.parent / "notes", "--workspace", site.root)
    elsewhere = [
        "\n".join(inspection_lines(found)),
        done(hospital(*command)).stdout,
        done(hospital(*command, "--json")).stdout,
        repr(found),
        *map(repr, found.reading.sentences if found.reading else ()),
    ]
    for text in elsewhere:
        assert not [word for word in phi if word in without_groups(text)]
    assert "on a screen or with --page only" in elsewhere[1]


def test_what_is_printed_for_programs_are_counts(site: Workspace) -> None:
    command = ("inspect", share_of(site), "--notes", site.root.parent / "notes", "--workspace", site.root)
    read = values(hospital(*command, "--json"))["read"]
    assert read
    assert all(isinstance(value, int) for value in read.values())
    reading = inspected(site).reading
    assert reading is not None
    assert read == reading.counts.as_json()
    assert read["with_original"] == read["sentences"]


@pytest.mark.parametrize(("asked", "shown"), [((), 10), (("--sentences", "3"), 3), (("--sentences", "all"), 156)])
def test_as_many_sentences_are_shown_as_are_asked_for(asked: tuple[str, ...], shown: int, site: Workspace) -> None:
    text = done(hospital("inspect", share_of(site), *asked, "--workspace", site.root)).stdout
    assert f"{shown} of 156 sentences as anybody reads them" in text
    assert len(re.findall(r"^ +\d+  \S", text, flags=re.MULTILINE)) == shown


@pytest.mark.parametrize("asked", ["0", "-1", "many", "1.5", ""])
def test_no_other_number_of_sentences_is_taken(asked: str, site: Workspace) -> None:
    result = hospital("inspect", share_of(site), "--sentences", asked, "--workspace", site.root)
    assert result.exit_code == 2
    assert "expected a number from 1 on, or 'all'" in result.stderr


class Page(HTMLParser):
    """The tags of a page, what they ask for, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self._silent = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.tags if attributes.get("class") == name]


def test_a_page_with_own_sentences_says_so_on_top_and_is_its_owners_alone(site: Workspace, tmp_path: Path) -> None:
    path = write_page(inspected(site, 1000), tmp_path / "page.html")
    page = Page(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert page.text.index("This page holds PHI") < page.text.index("What share 1 of test would tell")
    assert len(page.of_class("own")) == len(page.of_class("read")) == 156
    phi = [[one.text[span.start : span.end] for span in one.annotations] for one in NOTES]
    assert sum(all(word in page.text for one in spans for word in tokenise(one).words) for spans in phi) == 39
    assert "All 156 sentences." in page.text
    assert "156 of all 156 were found again" in page.text


def test_a_page_without_notes_holds_none(site: Workspace, tmp_path: Path) -> None:
    page = Page(write_page(inspected(site, 20, notes=False), tmp_path / "page.html"))
    assert "holds PHI" not in page.text
    assert not page.of_class("own")
    assert len(page.of_class("read")) == 20
    assert "20 of 156 sentences, drawn at random" in page.text


def test_the_page_says_first_what_a_share_is(site: Workspace, tmp_path: Path) -> None:
    text = Page(write_page(inspected(site), tmp_path / "page.html")).text
    order = [
        "a shuffled text with its PHI replaced, everything far from PHI generalised, given lengths, casing and punctuation",
        "words that are no PHI are read exactly",
        "The sentences, as anybody reads them who has the release",
        "Every column that leaves",
        "No text of the notes stands in the file as text",
    ]
    places = [text.index(line) for line in order]
    assert places == sorted(places)


def test_the_page_asks_for_nothing_from_elsewhere(site: Workspace, tmp_path: Path) -> None:
    page = Page(write_page(inspected(site), tmp_path / "page.html"))
    policy = next(
        attributes for _, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy["content"]).startswith("default-src 'none'")
    assert not {tag for tag, _ in page.tags} & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "form",
        "base",
        "audio",
        "video",
    }
    asked = [
        (tag, name)
        for tag, attributes in page.tags
        for name in attributes
        if name in ("src", "href") or name[:2] == "on"
    ]
    assert not asked
    assert "url(" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_markup_in_a_note_is_shown_as_text(site: Workspace, tmp_path: Path) -> None:
    found = inspected(site)
    assert found.reading is not None
    first = found.reading.sentences[0]
    assert first.original is not None
    token = replace(first.original[0].tokens[0], text="<script>alert(1)</script>")
    part = replace(first.original[0], tokens=(token,))
    sentence = replace(first, original=(part,))
    changed = replace(found, reading=replace(found.reading, sentences=(sentence,)))
    page = Page(write_page(changed, tmp_path / "page.html"))
    assert "<script>alert(1)</script>" in page.text
    assert "script" not in {tag for tag, _ in page.tags}


def test_a_share_of_vectors_says_why_it_is_not_listed(tmp_path: Path) -> None:
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)])
    older = constructions.surrogates_centres(sites.vocabulary(), SCHEME, bank)
    site = sites.site(tmp_path, older)
    share, at = tmp_path / "a.parquet", ("--workspace", site.root)
    done(hospital("encode", write_notes(tmp_path / "notes", NOTES[:4]), "--out", share, *at))
    text = done(hospital("inspect", share, "--page", tmp_path / "page.html", *at)).stdout
    for said in (text, Page(tmp_path / "page.html").text):
        assert "sentences are not listed here: it holds vectors" in said
        assert "`readability`" in said
    assert values(hospital("inspect", share, *at, "--json"))["read"] is None


def test_a_share_whose_release_is_gone_is_inspected_but_for_its_sentences(loop: Loop) -> None:
    opened = open_workspace(loop.site("north"))
    for path in opened.releases.glob("*/embeddings*"):
        path.unlink()
    found = inspect(opened, loop.root / "north.parquet", SCHEME, None)
    assert found.reading is None
    assert "can NOT be listed here without its release" in "\n".join(inspection_lines(found))


WRONG = "these are not the notes that this share was made from"


def warned(found: Inspection, page: Path) -> list[str]:
    """What an inspection warns of, in words and on its page alike."""
    lines = inspection_lines(found)
    # Ahead of all that the notes are held against.
    head = lines[: lines.index("")]
    warnings = [line.removeprefix("WARNING: ") for line in lines if line.startswith("WARNING")]
    assert [line.removeprefix("WARNING: ") for line in head if line.startswith("WARNING")] == warnings
    text = Page(write_page(found, page)).text
    assert all(f"{line[0].upper()}{line[1:]}." in text for line in warnings)
    return [line for line in warnings if "pipeline looked" not in line]


def test_other_notes_than_those_of_the_share_are_warned_of(site: Workspace, tmp_path: Path) -> None:
    other = list(tiny_notes(12, 77, "other"))
    found = inspect(site, share_of(site), SCHEME, other)
    assert found.as_json()["notes_missing"] == 39
    (line,) = warned(found, tmp_path / "page.html")
    assert line.startswith(f"{WRONG}: of its 39 notes and 156 sentences none was found in them")
    assert line.endswith("what follows is of the notes given, and says nothing of its own")


def test_a_part_of_the_notes_is_warned_of_with_what_was_not_found(site: Workspace, tmp_path: Path) -> None:
    found = inspect(site, share_of(site), SCHEME, NOTES[:30])
    assert found.reading is not None
    missing = found.as_json()["notes_missing"]
    assert missing in (9, 10)
    (line,) = warned(found, tmp_path / "page.html")
    left = 156 - found.reading.counts.with_original
    assert f"{missing} of the 39 notes that this share was made from are not among these" in line
    assert f"{left} of its 156 sentences were not found again" in line
    assert WRONG not in line


def test_the_notes_of_the_share_beside_others_are_not_warned_of(site: Workspace, tmp_path: Path) -> None:
    found = inspect(site, share_of(site), SCHEME, [*tiny_notes(12, 77, "other"), *NOTES])
    assert found.as_json()["notes_missing"] == 0
    assert not warned(found, tmp_path / "page.html")
    without = inspect(site, share_of(site), SCHEME, None)
    assert without.as_json()["notes_missing"] is None
    assert not warned(without, tmp_path / "page.html")


@pytest.mark.parametrize("notes", [39, 12, 0])
def test_where_no_notes_are_recorded_sentences_tell_whose_they_are(
    notes: int, site: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordedNotes, "of", lambda workspace, sequence: None)
    given = NOTES[:notes] or [note("other", "Nobody wrote this sentence about chest pain in a note of ours.\n")]
    found = inspect(site, share_of(site), SCHEME, given)
    assert found.as_json()["notes_missing"] is None
    said = warned(found, tmp_path / "page.html")
    if notes == 39:
        assert not said
    elif notes:
        assert "of its 156 sentences were not found again in these notes" in said[0]
        assert WRONG not in said[0]
    else:
        assert said[0].startswith(f"{WRONG}: of its 156 sentences none was found in them")


def test_other_notes_than_those_of_a_share_of_vectors_are_warned_of(tmp_path: Path) -> None:
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)])
    site = sites.site(tmp_path, constructions.surrogates_centres(sites.vocabulary(), SCHEME, bank))
    share = tmp_path / "a.parquet"
    done(hospital("encode", write_notes(tmp_path / "notes", NOTES[:4]), "--out", share, "--workspace", site.root))
    (line,) = warned(inspect(site, share, SCHEME, NOTES[4:8]), tmp_path / "page.html")
    assert line.startswith(f"{WRONG}: of its 4 notes none was found in them")
    (line,) = warned(inspect(site, share, SCHEME, NOTES[:3]), tmp_path / "page.html")
    assert line.startswith("1 of the 4 notes that this share was made from are not among these:")
    assert not warned(inspect(site, share, SCHEME, NOTES[:4]), tmp_path / "page.html")
