"""The page in a real browser: by keys alone, by mouse, by axe, with notes that attack it, and with a program that dies."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.workbench.reviewing.server import Forking, forking
from shared.document import Document
from shared.labels import load_scheme
from site_client.review.project import Project, begin
from site_client.review.spans import Source, Span

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCHEME = load_scheme("i2b2_2014")
TEXT = "Patient Ana Ruiz came on 03/04/2019.\nDr Berta Soto saw her in Larkspur.\nBerta Soto will call.\n"


@pytest.fixture(scope="module")
def reviews() -> Iterator[Forking]:
    with forking() as started:
        yield started


@dataclass
class Desk:
    """A page that shows a review, and what it said and asked for."""

    page: Page
    folder: Path
    kill: Callable[[], object]
    address: str
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answered: int = 0

    def press(self, *keys: str) -> None:
        """Press keys one after the other, and wait until what they asked for is done."""
        for key in keys:
            self.page.keyboard.press(key)
            # The handler has run once the page answers; what it asked of the program may ask for more.
            quiet = 0
            for _ in range(1_500):
                self.page.evaluate("0")
                self.page.wait_for_timeout(20)
                quiet = quiet + 1 if self.answered == len(self.asked) else 0
                if quiet == 3:
                    break
            else:
                pytest.fail(f"never answered: {self.asked}")

    def until(self, expression: str) -> None:
        """Wait until something holds; the page's policy lets nothing else than Python ask for it again and again."""
        for _ in range(200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never: {expression}")

    @property
    def status(self) -> str:
        return self.page.inner_text("#status")


def span(start: int, end: int, category: str, source: Source, certainty: float | None) -> Span:
    return Span(start, end, category, source, certainty, accepted=False)


FOUND = [
    span(8, 16, "PATIENT", Source.FOUND, 0.98),
    span(25, 35, "DATE", Source.FOUND, 0.9),
    span(40, 50, "DOCTOR", Source.FOUND, 0.55),
    span(62, 70, "HOSPITAL", Source.DOUBT, 0.3),
]


@contextmanager
def shown(
    browser: Browser,
    reviews: Forking,
    folder: Path,
    documents: list[Document],
    spans: dict[int, list[Span]],
    **context: Any,
) -> Iterator[Desk]:
    """A review, served by a process of its own, in a browser."""
    made = begin(folder, SCHEME, documents, "s")
    for number, known in spans.items():
        made.find(number, known)
    made.close()
    with reviews.served(folder) as (process, address):
        opened = browser.new_context(**context)
        page = opened.new_page()
        desk = Desk(page, folder, partial(os.kill, process, signal.SIGKILL), address)
        page.on("console", lambda message: desk.complaints.append(message.text))
        page.on("pageerror", lambda error: desk.complaints.append(str(error)))
        page.on("request", lambda request: desk.asked.append(request.url))

        def answered(request: object) -> None:
            desk.answered += 1

        page.on("requestfinished", answered)
        page.on("requestfailed", answered)
        page.goto(address)
        page.wait_for_selector("#text .block")
        yield desk
        opened.close()


@pytest.fixture
def desk(browser: Browser, reviews: Forking, tmp_path: Path) -> Iterator[Desk]:
    documents = [Document("note-a", TEXT), Document("note-b", TEXT)]
    with shown(browser, reviews, tmp_path / "p", documents, {0: FOUND}) as made:
        yield made


def said(desk: Desk) -> list[dict[str, Any]]:
    """What the journal says that a person did."""
    lines = [json.loads(line.partition(" ")[2]) for line in (desk.folder / "journal").read_text().splitlines()]
    return [line for line in lines if line["do"] not in ("begin", "notes", "found")]


def labels(desk: Desk, number: int = 0) -> list[tuple[int, int, str]]:
    """What is PHI by what is on the disk; the program that serves has the journal, so a copy is read."""
    copied = desk.folder.with_name("copied")
    shutil.rmtree(copied, ignore_errors=True)
    opened = Project(Path(shutil.copytree(desk.folder, copied)))
    found = [(one.start, one.end, one.category) for one in opened.state(number).labels()]
    opened.close()
    return found


def test_a_note_is_reviewed_by_keys_alone(desk: Desk) -> None:
    # The least certain comes first: the doctor.
    assert "Berta Soto" in desk.page.inner_text("#open button[aria-current=true]")
    desk.press("a")
    assert desk.status == "Accepted, saved"
    # Then the doubt, the date, the patient.
    assert "Larkspur" in desk.page.inner_text("#open button[aria-current=true]")
    desk.press("a", "d")
    assert desk.status == "Removed, saved"
    desk.press("u", "a", "a")
    assert desk.page.locator("#open button").count() == 0
    # The second Berta Soto: from the hospital on, word by word, then the category by its first letters.
    desk.press("j", "j", "j")
    assert desk.page.get_attribute("#text .current", "data-key") == "62-70"
    for _ in range(20):
        desk.press("ArrowRight")
        if desk.page.evaluate("getSelection().toString()") == "Berta":
            break
    desk.press("Shift+ArrowRight")
    assert desk.page.evaluate("getSelection().toString()") == "Berta Soto"
    desk.press("c", "D", "O", "Enter")
    assert desk.status == "Labelled, saved"
    desk.press("f")
    assert desk.page.inner_text("#title") == "note-b"
    expected = [(8, 16, "PATIENT"), (25, 35, "DATE"), (40, 50, "DOCTOR"), (62, 70, "HOSPITAL"), (72, 82, "DOCTOR")]
    assert labels(desk) == expected
    assert [TEXT[start:end] for start, end, _ in expected[2::2]] == ["Berta Soto", "Berta Soto"]
    assert [line["do"] for line in said(desk)] == ["edit", "edit", "edit", "undo", "edit", "edit", "edit", "finish"]
    assert not desk.complaints


def test_a_key_that_is_held_or_pressed_twice_finishes_no_note_that_nobody_saw(
    browser: Browser, reviews: Forking, tmp_path: Path
) -> None:
    documents = [Document(f"note-{number}", TEXT) for number in range(8)]
    with shown(browser, reviews, tmp_path / "p", documents, dict.fromkeys(range(8), FOUND)) as desk:
        desk.page.wait_for_timeout(500)
        # The page's clock stands still, however slow this machine is.
        desk.page.evaluate("() => { const now = performance.now(); performance.now = () => now; }")
        # The browser repeats a key that goes down again without having come up.
        for _ in range(6):
            desk.page.keyboard.down("f")
        desk.page.keyboard.up("f")
        desk.until("document.querySelector('#title').textContent === 'note-1'")
        desk.press("f", "f")
        assert desk.page.inner_text("#title") == "note-1"
        assert desk.status == "Shown only just now: press once more to finish it"
        assert [line["note"] for line in said(desk) if line["do"] == "finish"] == [0]
        for _ in range(4):
            desk.page.keyboard.down("a")
        desk.page.keyboard.up("a")
        desk.press("Escape")
        assert [line["note"] for line in said(desk) if line["do"] == "edit"] == [1]
        assert not desk.complaints


def test_a_span_is_moved_recategorised_and_all_of_it_taken_back(desk: Desk) -> None:
    desk.press("j")
    desk.page.click(".span[data-key='8-16']")
    desk.press("Shift+Comma", ".", ",", ",")
    assert labels(desk)[0] == (7, 15, "PATIENT")
    desk.press("2")
    assert labels(desk)[0] == (7, 15, "DOCTOR")
    desk.press("Control+z", "u", "u", "u", "u")
    assert labels(desk)[0] == (8, 16, "PATIENT")
    assert desk.page.is_disabled("#undo")
    desk.press("r", "Control+y")
    assert labels(desk)[0] == (7, 17, "PATIENT")
    desk.press("Shift+A")
    assert desk.page.locator("#open button").count() == 1  # The doubt is nobody's to accept unseen.


SELECT = """words => { const text = document.querySelector("#text"), from = text.textContent.indexOf(words);
const nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT), ends = [from, from + words.length], found = [];
let node, place = 0; while ((node = nodes.nextNode())) { for (const end of ends.slice(found.length)) {
if (end <= place + node.length) found.push([node, end - place]); } place += node.length; }
getSelection().setBaseAndExtent(...found[0], ...found[1]); return getSelection().toString(); }"""


def select(desk: Desk, words: str) -> None:
    """Select words of the text, as who drags the mouse over them."""
    assert desk.page.evaluate(SELECT, words) == words


def test_words_within_a_longer_span_take_its_place_and_the_rest_stays(
    browser: Browser, reviews: Forking, tmp_path: Path
) -> None:
    text = "\U0001f600 Seen: (Ana Mari\u0301a) Ruiz, Lopez. Ward: Larkspur Hill."
    places = [("(Ana Mari\u0301a) Ruiz, Lopez", "PATIENT", Source.FOUND), ("Larkspur Hill", "HOSPITAL", Source.DOUBT)]
    spans = [span(text.index(words), text.index(words) + len(words), kind, by, 0.6) for words, kind, by in places]
    with shown(browser, reviews, tmp_path / "p", [Document("n", text)], {0: spans}) as desk:

        def labelled() -> list[tuple[str, str]]:
            return [(text[start:end], category) for start, end, category in labels(desk)]

        select(desk, "Ruiz")
        desk.press("2")
        assert desk.status == "Labelled, and Ana Mari\u0301a stays PATIENT, Lopez stays PATIENT, saved"
        pieces = [("Ana Mari\u0301a", "PATIENT"), ("Ruiz", "DOCTOR"), ("Lopez", "PATIENT")]
        assert labelled() == pieces
        # What was made is chosen; what stays is as nobody has looked at it, as before.
        assert desk.page.inner_text("#text .current") == "Ruiz"
        assert desk.page.locator("#open button").count() == 3
        desk.press("u")
        assert labelled() == [(places[0][0], "PATIENT")]
        desk.press("r")
        assert labelled() == pieces
        assert desk.page.inner_text("#text .current") == "Ruiz"
        # The whole of a span and more: nothing is left of it.
        select(desk, "Ruiz, Lopez")
        desk.press("1")
        assert desk.status == "Labelled, saved"
        assert labelled() == [pieces[0], ("Ruiz, Lopez", "PATIENT")]
        # A doubt is no label: nothing of it stays.
        select(desk, "Hill")
        desk.press("m")
        assert desk.status == "Labelled, saved"
        assert [words for words, _ in labelled()] == ["Ana Mari\u0301a", "Ruiz, Lopez", "Hill"]
        assert not desk.complaints


def test_a_note_is_reviewed_by_mouse(desk: Desk) -> None:
    page = desk.page
    page.click("#open button >> nth=1")
    page.click("#accept")
    desk.until("document.querySelectorAll('#open button').length === 3")
    page.click(".span[data-key='25-35']")
    page.click("#remove")
    desk.until("document.querySelectorAll('#open button').length === 2")
    # The last line by a double click on its first word.
    line = page.evaluate(
        """() => { const walker = document.createTreeWalker(document.querySelector("#text"), NodeFilter.SHOW_TEXT);
        let node; while ((node = walker.nextNode())) { const at = node.data.indexOf("Berta Soto will"); if (at >= 0) {
        const range = document.createRange(); range.setStart(node, at); range.setEnd(node, at + 5);
        const box = range.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; } } }"""
    )
    page.mouse.dblclick(*line)
    page.select_option("#category", "DOCTOR")
    page.click("#label")
    desk.until("document.querySelector('#status').textContent === 'Labelled, saved'")
    assert (72, 77, "DOCTOR") in labels(desk)
    page.click("#undo")
    desk.until("document.querySelector('#status').textContent === 'Taken back, saved'")
    page.click("#finish")
    desk.until("document.querySelector('#title').textContent === 'note-b'")
    assert labels(desk) == [(8, 16, "PATIENT"), (40, 50, "DOCTOR"), (62, 70, "HOSPITAL")]


def violations(page: Page) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
# 320 by 256 is what a screen of 1280 by 1024 shows at 400% (WCAG 2.2, success criterion 1.4.10).
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 800), (320, 256)])
def test_it_is_accessible_in_light_and_dark_wide_and_narrow(
    browser: Browser, reviews: Forking, tmp_path: Path, scheme: str, width: int, height: int
) -> None:
    # Spans of every category, of every certainty.
    text = " ".join(f"word{number:02}" for number in range(31))
    spans = [
        span(7 * at, 7 * at + 6, category, Source.DOUBT if at % 7 == 0 else Source.FOUND, None if at == 5 else at / 30)
        for at, category in enumerate(SCHEME.categories)
    ]
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    with shown(browser, reviews, tmp_path / "p", [Document("a", text), Document("b", "")], {0: spans}, **look) as desk:
        assert violations(desk.page) == []
        desk.press("a")
        desk.page.click("#help-button")
        assert violations(desk.page) == []
        desk.press("Escape")
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= width
        assert not desk.complaints


def test_nothing_is_loaded_from_elsewhere_and_no_address_tells_of_a_note(desk: Desk) -> None:
    desk.page.wait_for_timeout(500)
    desk.press("a", "f")
    own = desk.address.partition("#")[0]
    assert desk.asked
    for asked in desk.asked:
        assert asked.startswith((own, desk.address))
        assert not re.search("note-a|note-b|Ana|Berta", asked)
    assert desk.page.url == own


def test_the_text_of_a_note_is_never_markup(browser: Browser, reviews: Forking, tmp_path: Path) -> None:
    attack = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>&amp;"
    spans = {0: [span(0, len(attack), "PATIENT", Source.FOUND, 0.5)]}
    with shown(browser, reviews, tmp_path / "p", [Document(attack, attack)], spans) as desk:
        assert desk.page.title() == "Review"
        assert desk.page.evaluate("document.querySelector('#text').textContent") == attack
        assert desk.page.inner_text("#title") == attack
        assert not desk.complaints
        # And if there were a hole: no script but our own files runs.
        desk.page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; } catch { document.title = 'held'; } }")
        assert desk.page.title() == "held"


def test_arrows_follow_what_is_seen_and_offsets_what_is_stored(
    browser: Browser, reviews: Forking, tmp_path: Path
) -> None:
    hebrew = "המטופל דוד כהן נבדק ביום.\n"
    smiles = "\U0001f600 \U0001f600 Ana e\u0301 \U0001f600 Ruiz\n"
    with shown(browser, reviews, tmp_path / "p", [Document("h", hebrew), Document("s", smiles)], {}) as desk:
        desk.page.focus("#text")
        desk.press("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "1")
        desk.page.wait_for_timeout(500)
        desk.press("f")
        desk.page.focus("#text")
        desk.press(*["ArrowRight"] * 6, "1")
        assert [hebrew[start:end] for start, end, _ in labels(desk, 0)] == ["דוד כהן"]
        assert [smiles[start:end] for start, end, _ in labels(desk, 1)] == ["Ruiz"]
        # Shown where it is stored.
        assert desk.page.inner_text(".span.accepted") == "Ruiz"


def test_a_note_of_a_megabyte_and_ten_thousand_notes(browser: Browser, reviews: Forking, tmp_path: Path) -> None:
    line = "Patient Ana Ruiz was seen and is well, without any complaint.\n"
    text = line * (1_000_000 // len(line))
    spans = [span(at + 8, at + 16, "PATIENT", Source.FOUND, 0.9) for at in range(0, len(text), len(line))]
    documents = [Document("long", text), *(Document(f"n{number}", TEXT) for number in range(9_999))]
    with shown(browser, reviews, tmp_path / "p", documents, {0: spans}) as desk:
        assert desk.page.locator("#list button").count() == 100
        assert desk.page.inner_text("#shown") == "1 to 100 of 10000"
        assert desk.page.evaluate("document.querySelector('#text').textContent.length") == len(text)
        desk.page.focus("#text")
        desk.press("j", "k", "k", "d")
        assert labels(desk)[-1][0] == spans[-2].start
        desk.press("k", ".")
        assert labels(desk)[-1][1] == spans[-2].end + 1
        desk.page.click("#behind")
        desk.until("document.querySelector('#shown').textContent === '101 to 200 of 10000'")
        assert not desk.complaints


def test_when_the_program_has_died_nothing_is_shown_as_saved(desk: Desk) -> None:
    desk.kill()
    desk.press("a")
    desk.page.wait_for_selector("#alarm:not([hidden])")
    assert "Not saved" in desk.page.inner_text("#alarm")
    assert desk.page.locator("#open button").count() == len(FOUND)
    assert said(desk) == []


def test_a_second_window_needs_an_address_of_its_own_and_a_reload_does_not(desk: Desk) -> None:
    desk.page.reload()
    desk.page.wait_for_selector("#text .block")
    other = desk.page.context.new_page()
    other.goto(desk.address)
    other.wait_for_selector("#alarm:not([hidden])")
    assert "terminal" in other.inner_text("#alarm")
    assert "Ana" not in other.content()


def test_what_was_changed_in_another_window_is_shown_before_anything_is_overwritten(desk: Desk) -> None:
    key, cookies = desk.page.evaluate("sessionStorage.getItem('key')"), desk.page.context.cookies()
    assert cookies[0]["httpOnly"]
    # The same person, elsewhere: the first span goes.
    desk.page.evaluate(
        """key => fetch("/api/notes/0/edit", {method: "POST", headers: {"x-review-key": key, "content-type": "application/json"},
        body: JSON.stringify({version: 1, out: [[8, 16, "PATIENT", "found", 0.98, false]], in: []})}).then(answer => answer.text())""",
        key,
    )
    desk.press("a")
    desk.until("document.querySelectorAll('#open button').length === 3")
    assert "another window" in desk.status
    assert len(said(desk)) == 1


def test_keys_that_were_pressed_ahead_do_nothing_to_a_note_that_is_shown_anew(desk: Desk) -> None:
    desk.page.evaluate(
        """key => fetch("/api/notes/0/edit", {method: "POST", headers: {"x-review-key": key, "content-type": "application/json"},
        body: JSON.stringify({version: 1, out: [[40, 50, "DOCTOR", "found", 0.55, false]], in: []})}).then(answer => answer.text())""",
        desk.page.evaluate("sessionStorage.getItem('key')"),
    )
    # The doctor is gone: these were meant for what stood behind it then, by one who has not seen that it stands elsewhere now.
    desk.page.evaluate(
        "() => { for (const key of ['a', 'a', 'd', 'f']) document.dispatchEvent(new KeyboardEvent('keydown', { key })); }"
    )
    desk.until("document.querySelectorAll('#open button').length === 3")
    desk.press("Escape")
    assert [line["do"] for line in said(desk)] == ["edit"]
    assert "another window" in desk.status
    desk.press("a")
    assert len(said(desk)) == 2
    assert not [one for one in desk.complaints if "409" not in one]


def test_nothing_is_finished_behind_a_correction_that_was_not_saved(desk: Desk) -> None:
    # As on a disk that is full for a moment.
    full = '{"error": "expected room for the file"}'
    desk.page.route(
        "**/edit", lambda route: route.fulfill(status=503, content_type="application/json", body=full), times=1
    )
    desk.page.wait_for_timeout(500)
    desk.page.evaluate(
        "() => { for (const key of ['d', 'f']) document.dispatchEvent(new KeyboardEvent('keydown', { key })); }"
    )
    desk.page.wait_for_selector("#alarm:not([hidden])")
    desk.press("Escape")
    assert desk.page.inner_text("#alarm") == "Not saved: expected room for the file"
    assert said(desk) == []
    desk.press("d")
    assert [line["do"] for line in said(desk)] == ["edit"]
    assert desk.page.is_hidden("#alarm")


def test_keys_can_be_kept_to_the_text(desk: Desk) -> None:
    desk.press("?")
    desk.page.uncheck("#keys")
    desk.press("Escape")
    desk.page.focus("#help-button")
    desk.press("a")
    assert said(desk) == []
    desk.page.focus("#text")
    desk.press("a")
    assert len(said(desk)) == 1
