"""`site-client fragment`, `inspect` and `approve-fragments` as a person types them, on a whole small loop."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from protocols.canonical import Json
from protocols.share.fragments import fragment_bytes, open_fragments
from shared.document import Document
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.fragments.sifting import Tally
from site_client.fragments.store import read_gone
from site_client.ledger import Event, entries
from site_client.workspace import Workspace, open_workspace
from tests.loop import Loop, done, hospital, provider, refused, snapshot, values
from tests.tiny_notes import phi_strings, tiny_notes, write_notes

pytestmark = pytest.mark.skipif(find_spec("textblob") is None, reason="the extra [fragments] is not installed")

NOTES = 80


class House:
    """A hospital with a pipeline, whose policy lets text leave, and its notes."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.root, self.out = loop, loop.site("fourth"), loop.root / "phrases.fragments"
        self.at = ("--workspace", self.root)
        self.documents = list(tiny_notes(NOTES, 7, "more"))
        self.notes = loop.root / "more"
        if not self.notes.exists():
            write_notes(self.notes, self.documents)

    def allow(self) -> None:
        done(hospital("policy", "set", "--text-fragments", *self.at))

    def fragment(self, *more: object, notes: Path | None = None, out: Path | None = None) -> Result:
        return hospital("fragment", notes or self.notes, "--out", out or self.out, *more, *self.at)

    def shown(self, out: Path | None = None) -> str:
        """The digest that whoever reads a draft is shown."""
        told = hospital("inspect", out or self.out, *self.at)
        found = re.search("--digest ([0-9a-f]{16})`", told.stdout)
        # What can't be shown has none; approving it is to say why.
        return found[1] if found else "0" * 16

    def approve(self, out: Path | None = None, digest: str | None = None) -> Result:
        digest = self.shown(out) if digest is None else digest
        return hospital("approve-fragments", out or self.out, "--approver", "Dr Ünal", "--digest", digest, *self.at)

    def read(self, out: Path | None = None) -> Any:
        site = open_workspace(self.root)
        return open_fragments(out or self.out, {site.site: site.public_keys}, drafts=True)[0]


@pytest.fixture
def house(loop: Loop) -> House:
    return House(loop)


@pytest.fixture
def open_house(house: House) -> House:
    house.allow()
    return house


@pytest.fixture(scope="module")
def first_draft(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A loop whose fourth hospital has cut a draft: most tests begin there."""
    made = House(Loop(Path(shutil.copytree(built_loop.root, tmp_path_factory.mktemp("draft") / "loop"))))
    made.allow()
    done(made.fragment())
    return made.loop.root


@pytest.fixture
def drafted(first_draft: Path, tmp_path: Path) -> House:
    """A copy of it that the test may change."""
    return House(Loop(Path(shutil.copytree(first_draft, tmp_path / "draft" / "loop"))))


def test_the_usual_policy_lets_no_text_leave(house: House) -> None:
    before = snapshot(house.root)
    refused(house.fragment(), 35, "text", "--text-fragments")
    assert not house.out.exists()
    assert snapshot(house.root) == before


def test_a_draft_holds_common_phrases_and_no_phi(open_house: House) -> None:
    made = values(open_house.fragment("--json"))
    found = open_house.read()
    assert made["counted"] == NOTES
    # What is compared of so short notes of one form is drawn: in one of forty draws, one or two seem to be copies.
    assert NOTES - 5 < made["owners"] <= NOTES
    assert len(found.lines) == made["manifest"]["lines"] > 0
    assert found.key is None
    known = {word.lower() for text in phi_strings(open_house.documents) for word in text.split()}
    for phrase in found.phrases:
        assert not known.intersection(phrase.split())
        # An oracle that knows no parser: the words stand there, in that order, in so many notes.
        holding = [one for one in open_house.documents if phrase in " ".join(one.text.lower().split())]
        assert len(holding) >= 10
    assert open_house.out.stat().st_mode & 0o077 == 0


def test_nothing_is_said_of_notes_that_hold_nothing_else_in_common(open_house: House) -> None:
    told = open_house.fragment()
    for document in open_house.documents:
        for text in phi_strings([document]):
            assert text not in told.output


def test_a_draft_is_shown_whole_and_counted_again(drafted: House) -> None:
    found = drafted.read()
    shown = done(hospital("inspect", drafted.out, "--notes", drafted.notes, *drafted.at)).stdout
    assert "DRAFT" in shown
    assert "counted again in 80 notes" in shown
    for line in found.lines:
        assert ", ".join(line) in shown
    page = drafted.loop.root / "phrases.html"
    told = values(hospital("inspect", drafted.out, "--page", page, "--json", *drafted.at))
    assert told["approved"] is False
    assert told["manifest_sha256"] == found.manifest.sha256
    assert drafted.shown() in page.read_text()
    text = page.read_text()
    assert all(f"<td>{phrase}</td>" in text for phrase in found.phrases)
    assert page.stat().st_mode & 0o077 == 0


def test_a_count_in_other_notes_is_told_in_capitals(drafted: House) -> None:
    few = write_notes(drafted.loop.root / "few", drafted.documents[:5])
    assert "COUNTED AGAIN in 5 notes" in done(hospital("inspect", drafted.out, "--notes", few, *drafted.at)).stdout


def test_who_approves_stands_in_the_ledger_and_the_file_is_signed(drafted: House) -> None:
    digest = drafted.shown()
    done(drafted.approve())
    site = open_workspace(drafted.root)
    last = list(entries(site))[-1]
    assert last.event == Event.FRAGMENTS_APPROVED
    assert last.details["approver"] == "Dr Ünal"
    found, _ = open_fragments(drafted.out, {site.site: site.public_keys})
    assert found.key == site.key_in_use.public_key
    assert last.details["manifest_sha256"] == found.manifest.sha256
    assert (drafted.root / "fragments" / "0001.fragments").read_bytes() == drafted.out.read_bytes()
    # Once more changes nothing.
    before = snapshot(drafted.root)
    assert "before" in done(drafted.approve(digest=digest)).stdout
    assert snapshot(drafted.root) == before


def test_attack_another_draft_takes_the_place_of_the_one_that_was_read(drafted: House) -> None:
    read = drafted.shown()
    done(drafted.fragment("--least-notes", "11"))
    told = refused(drafted.approve(digest=read), 32, "another", "site-client inspect")
    assert drafted.read().manifest.sha256[:16] not in told
    assert drafted.read().key is None
    assert not any(entry.event == Event.FRAGMENTS_APPROVED for entry in entries(open_workspace(drafted.root)))
    done(drafted.approve())


@pytest.mark.parametrize("short", ["", "0", "Ünal", "the digest that I read"])
def test_part_of_a_digest_says_too_little(drafted: House, short: str) -> None:
    digest = drafted.read().manifest.sha256
    for said in (short, digest[:15], digest[:-1] + "x"):
        refused(drafted.approve(digest=said), 32, "digest")
    done(drafted.approve(digest=digest.upper()))


def test_a_crash_behind_the_ledger_is_mended_by_approving_again(drafted: House) -> None:
    draft, digest = drafted.out.read_bytes(), drafted.shown()
    done(drafted.approve())
    signed = drafted.out.read_bytes()
    drafted.out.write_bytes(draft)
    done(drafted.approve(digest=digest))
    assert drafted.out.read_bytes() == signed


def test_what_has_left_does_not_leave_again(drafted: House) -> None:
    done(drafted.approve())
    first = drafted.read().phrases
    second = drafted.loop.root / "second.fragments"
    refused(drafted.fragment(out=second), 35, "80 others left as fragments in file 1", "got 0")
    # New notes beside the old: the old are not counted, and no phrase comes twice.
    more = write_notes(drafted.loop.root / "all", [*drafted.documents, *tiny_notes(60, 9, "new")])
    told = drafted.fragment("--json", notes=more, out=second)
    if told.exit_code == 0:
        assert values(told)["gone"] == NOTES
        assert not drafted.read(second).phrases & first
    else:
        refused(told, 3, "new ones")


def test_of_two_drafts_of_the_same_notes_the_first_leaves(open_house: House) -> None:
    other = open_house.loop.root / "other.fragments"
    done(open_house.fragment())
    done(open_house.fragment(out=other))
    assert open_house.read(other).manifest.number == 2
    done(open_house.approve(other))
    refused(open_house.approve(), 35, "80 of its notes")
    assert open_house.read().key is None


def printed_again(house: House) -> Path:
    """Its notes, each with a header, as another export has them."""
    header = "Printed again on the ward.\n\n"
    again = [Document(f"p{note.identifier}", header + note.text) for note in house.documents]
    return write_notes(house.loop.root / "again", again)


def test_attack_old_notes_are_exported_anew(drafted: House) -> None:
    second = drafted.loop.root / "second.fragments"
    again = printed_again(drafted)
    done(drafted.fragment(notes=again, out=second))
    done(drafted.approve())
    refused(drafted.approve(second), 35, "of its sentences")
    refused(drafted.fragment(notes=again, out=second), 35, "80 others left as fragments in file 1", "got 0")


def test_attack_a_draft_of_notes_with_other_lines_is_approved_behind_theirs(open_house: House) -> None:
    again = [replace(note, text=" ".join(note.text.replace(".", ";").split())) for note in open_house.documents]
    folder, second = write_notes(open_house.loop.root / "again", again), open_house.loop.root / "second.fragments"
    done(open_house.fragment())
    done(open_house.fragment(notes=folder, out=second))
    done(open_house.approve())
    refused(open_house.approve(second), 35, "of its runs of words")


def whose(house: House, *documents: Document, first: int = 0) -> Path:
    """A table in which every note is of another patient."""
    table = house.loop.root / f"whose-{first}.csv"
    rows = [f"{one.identifier},P{number}" for number, one in enumerate(documents, first)]
    table.write_text("\n".join(["note,patient", *rows]) + "\n")
    return table


def test_patients_who_come_back_are_not_new(open_house: House) -> None:
    """Eighty of them, with new notes, and one who is new: nothing is written."""
    done(open_house.fragment("--patients", whose(open_house, *open_house.documents)))
    done(open_house.approve())
    back = list(tiny_notes(NOTES + 1, 9, "back"))
    folder = write_notes(open_house.loop.root / "back", back)
    second = open_house.loop.root / "second.fragments"
    told = open_house.fragment("--patients", whose(open_house, *back, first=0), notes=folder, out=second)
    refused(told, 35, "patients of whom fragments have left", "got 1")
    # Without the table nobody would know who came back.
    refused(open_house.fragment(notes=folder, out=second), 2, "--patients", "file 1")
    assert not second.exists()


def test_who_came_back_and_of_whom_nobody_knows_is_told(drafted: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from site_client.fragments import fragment

    made = fragment.Made(drafted.read().manifest, Tally(returned=3), (1,))
    monkeypatch.setattr(fragment, "make_fragments", lambda *_: made)
    told = done(drafted.fragment("--patients", whose(drafted, *drafted.documents))).stdout
    assert "3 of patients of whom fragments have left before, who do not count as new" in told
    assert "NOBODY KNOWS whose notes file 1 held" in told
    assert "NOBODY" not in done(drafted.fragment()).stdout


def test_of_two_drafts_of_the_same_patients_the_first_leaves(open_house: House) -> None:
    others = list(tiny_notes(NOTES, 9, "others"))
    folder, second = write_notes(open_house.loop.root / "others", others), open_house.loop.root / "second.fragments"
    done(open_house.fragment("--patients", whose(open_house, *open_house.documents)))
    done(open_house.fragment("--patients", whose(open_house, *others), notes=folder, out=second))
    third = open_house.loop.root / "third.fragments"
    done(open_house.fragment(notes=folder, out=third))
    done(open_house.approve())
    refused(open_house.approve(second), 35, "80 of its patients")
    refused(open_house.approve(third), 35, "make the fragments again")


def test_after_what_an_earlier_version_let_leave_nothing_is_cut(drafted: House) -> None:
    done(drafted.approve())
    keep_as_before(drafted)
    refused(
        drafted.fragment(out=drafted.loop.root / "b.fragments"), 30, "0001.notes", "an earlier version", "new workspace"
    )


def _emptied(notes: Path) -> bytes:
    stated = json.loads(notes.read_bytes().partition(b"\n")[0])
    return json.dumps(stated | {"notes": 0, "patients": 0, "sentences": 0, "runs": 0}).encode() + b"\n"


def _of_another_file(notes: Path) -> bytes:
    stated, _, body = notes.read_bytes().partition(b"\n")
    return json.dumps(json.loads(stated) | {"manifest_sha256": "ab" * 32}).encode() + b"\n" + body


EXCHANGED: dict[str, Callable[[Path], bytes]] = {"emptied": _emptied, "that of another file": _of_another_file}


@pytest.mark.parametrize("change", EXCHANGED)
@pytest.mark.parametrize("earlier", [False, True])
def test_attack_what_is_kept_of_notes_that_left_is_exchanged(
    change: str, earlier: bool, drafted: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger of before it held the digest of what is kept can still tell which file that is of."""
    if earlier:
        record = ledger.record

        def as_before(site: Workspace, event: str, details: Mapping[str, Json]) -> object:
            return record(site, event, {name: value for name, value in details.items() if name != "notes_sha256"})

        monkeypatch.setattr(ledger, "record", as_before)
    done(drafted.approve())
    notes = drafted.root / "fragments" / "0001.notes"
    notes.write_bytes(EXCHANGED[change](notes))
    site = open_workspace(drafted.root)
    if earlier and change == "emptied":
        # Nobody can tell.
        assert not read_gone(site).notes
        return
    with pytest.raises(WorkspaceError, match=r"0001\.notes.*backup"):
        read_gone(site)


def test_a_draft_that_was_changed_is_not_approved(drafted: House) -> None:
    out = drafted.out
    out.write_bytes(
        out.read_bytes().replace(b"rest", b"ruse") if b"rest" in out.read_bytes() else out.read_bytes()[:-4]
    )
    refused(drafted.approve(), 13)


@pytest.mark.parametrize(
    "change",
    [
        {"least_notes": 500},
        {"software": "John Smith MRN 4711"},
        {"parser": "a better one"},
        {"created": datetime.date(2001, 2, 3)},
    ],
    ids=str,
)
def test_attack_what_a_draft_states_is_edited(drafted: House, change: dict[str, Any]) -> None:
    site = open_workspace(drafted.root)
    found, body = open_fragments(drafted.out, {site.site: site.public_keys}, drafts=True)
    drafted.out.write_bytes(fragment_bytes(replace(found.manifest, **change), body, None))
    refused(drafted.approve(), 32, "found it changed")
    assert drafted.read().key is None


def test_all_that_a_draft_states_is_shown(drafted: House) -> None:
    stated = drafted.read().manifest
    shown = done(hospital("inspect", drafted.out, *drafted.at)).stdout
    for value in (stated.parser, stated.software, stated.language, stated.recipient, stated.created.isoformat()):
        assert value in shown
    assert stated.release[:12] in shown


def keep_as_before(house: House) -> None:
    """The store as versions kept it that knew the lines alone."""
    path = house.root / "fragments" / "0001.notes"
    stated, _, body = path.read_bytes().partition(b"\n")
    count = json.loads(stated)["notes"]
    head = {"format": 1, "notes": count, "body_sha256": house.read().manifest.body_sha256}
    path.write_bytes(json.dumps(head).encode() + b"\n" + body[: 16 * count])


def keep_without_runs(house: House) -> None:
    """The store as versions kept it that knew no runs of words."""
    path = house.root / "fragments" / "0001.notes"
    stated, _, body = path.read_bytes().partition(b"\n")
    head = json.loads(stated)
    path.write_bytes(json.dumps(head | {"format": 2}).encode() + b"\n" + body[: len(body) - 8 * head.get("runs", 0)])


@pytest.mark.parametrize("keep", [keep_as_before, keep_without_runs])
def test_a_draft_of_an_earlier_version_is_made_again(keep: Callable[[House], None], drafted: House) -> None:
    keep(drafted)
    refused(drafted.approve(), 32, "an earlier version", "make the fragments again")
    done(drafted.fragment())
    done(drafted.approve())


def test_a_policy_that_was_closed_again_lets_no_draft_leave(drafted: House) -> None:
    done(hospital("policy", "set", "--no-text-fragments", *drafted.at))
    refused(drafted.approve(), 35, "lets none leave")
    assert drafted.read().key is None


def test_what_a_person_leaves_out_stays(drafted: House) -> None:
    phrase = sorted(drafted.read().phrases)[0]
    words = drafted.loop.root / "ours.txt"
    words.write_text(f"{phrase.upper()}\n\nworse\n")
    told = drafted.fragment("--leave-out", words)
    if told.exit_code == 0:
        found = drafted.read().phrases
        assert phrase not in found
        assert not any("worse" in one.split() for one in found)
    else:
        refused(told, 3, "too few for a line")


def test_a_line_that_keeps_nothing_here_is_told(drafted: House) -> None:
    words = drafted.loop.root / "ours.txt"
    words.write_bytes("\ufeffzebra crossing\n\nzebra\n".encode())
    told = done(drafted.fragment("--leave-out", words)).stdout
    assert "NO phrase that would leave holds --leave-out line 1, 3" in told
    assert "zebra" not in told
    words.write_text("worse\nlung-infection\n")
    before = drafted.out.read_bytes()
    refused(drafted.fragment("--leave-out", words), 2, "ours.txt", "line 2")
    assert drafted.out.read_bytes() == before


def test_patients_are_counted_where_they_are_known(open_house: House) -> None:
    table = open_house.loop.root / "whose.csv"
    rows = [f"{one.identifier},P{number % 9}" for number, one in enumerate(open_house.documents)]
    table.write_text("\n".join(["note,patient", *rows]) + "\n")
    refused(open_house.fragment("--patients", table), 35, "at least 10 patients", "got 9")
    table.write_text("note,patient\n")
    refused(open_house.fragment("--patients", table), 2, "every note")
    table.write_text("a,b\n")
    refused(open_house.fragment("--patients", table), 2, "columns note")


def test_text_goes_no_way_that_shares_go(drafted: House) -> None:
    done(drafted.approve())
    loop, out = drafted.loop, drafted.out
    stick = loop.root / "another-stick"
    refused(hospital("submit", out, "--to-folder", stick, "--approver", "A", *drafted.at), 10, "text fragments")
    refused(hospital("withdraw", out, "--to-folder", stick, *drafted.at), 10, "text fragments")
    # However it is called.
    disguised = loop.root / "fourth-0001.share"
    disguised.write_bytes(out.read_bytes())
    before = snapshot(loop.provider)
    told = provider("ingest", disguised, "--workspace", loop.provider)
    assert told.exit_code == 10
    assert "text fragments" in told.stderr
    assert {name: one for name, one in snapshot(loop.provider).items() if "audit" not in name} == {
        name: one for name, one in before.items() if "audit" not in name
    }


def test_notes_are_not_overwritten(open_house: House) -> None:
    kept = open_house.loop.root / "notes.txt"
    kept.write_text("a note")
    refused(open_house.fragment(out=kept), 2, "no draft of fragments")
    assert kept.read_text() == "a note"


def test_what_was_approved_is_not_overwritten(drafted: House) -> None:
    done(drafted.fragment())
    done(drafted.approve())
    more = write_notes(drafted.loop.root / "others", list(tiny_notes(60, 11, "others")))
    stored = drafted.root / "fragments" / "0002.fragments"
    for taken in (drafted.out, stored):
        before = taken.read_bytes()
        refused(drafted.fragment(notes=more, out=taken), 2, "no draft")
        assert taken.read_bytes() == before


def test_other_languages_are_refused(open_house: House) -> None:
    spanish = "La paciente acude por dolor en el pecho y fiebre desde hace unos días, sin otros síntomas que los de la gripe. "
    notes = open_house.loop.root / "es.jsonl"
    notes.write_text("".join(json.dumps({"id": str(one), "text": spanish * 3 + str(one)}) + "\n" for one in range(20)))
    refused(open_house.fragment(notes=notes), 2, "English", "Spanish")
    assert not open_house.out.exists()


def test_without_its_packages_it_says_what_to_install(open_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from site_client.fragments import parser

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(parser, "version", missing)
    refused(open_house.fragment(), 2, ".[fragments]")
    monkeypatch.setattr(parser, "version", lambda name: "0.1")
    refused(open_house.fragment(), 2, "textblob 0.20.1", "0.1")


def test_without_the_key_of_its_digests_nothing_is_cut(drafted: House) -> None:
    (drafted.root / "keys" / "notes.key").unlink()
    refused(drafted.fragment(), 30, "notes.key")


def test_by_another_key_than_that_of_what_left_nothing_is_cut(drafted: House) -> None:
    done(drafted.approve())
    again = drafted.loop.root / "b.fragments"
    kept = (drafted.root / "keys" / "notes.key").read_bytes()
    (drafted.root / "keys" / "notes.key").write_bytes(b"k" * 32)
    refused(drafted.fragment(out=again), 30, "notes.key", "fragments 1", "new workspace")
    (drafted.root / "keys" / "notes.key").write_bytes(kept)
    refused(drafted.fragment(out=again), 35)


def test_without_what_left_before_nothing_is_cut(drafted: House) -> None:
    done(drafted.approve())
    kept = drafted.root / "fragments" / "0001.fragments"
    kept.write_bytes(kept.read_bytes()[:-30])
    refused(drafted.fragment(out=drafted.loop.root / "b.fragments"), 30, "backup")


def test_without_what_is_known_of_a_draft_it_is_not_approved(drafted: House) -> None:
    shown = drafted.shown()
    shutil.rmtree(drafted.root / "fragments")
    refused(drafted.approve(digest=shown), 30, "0001.notes", "from a backup")
