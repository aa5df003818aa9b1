"""`site-client evaluate` as a person types it, on a whole small loop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foundation.files import write_text
from shared.document import Annotation, Document
from shared.pipeline import pipeline as pipeline_module
from shared.pipeline.pipeline import Pipeline
from site_client.evaluating import acceptance
from site_client.evaluating.acceptance import Asked, accept
from site_client.evaluating.left_before import find_left_before
from site_client.evaluating.previous import find_previous
from site_client.evaluating.promise import LEAST_NOTES
from site_client.evaluating.sentences import cautions
from site_client.workspace import open_workspace
from tests.loop import Loop, done, forget, forget_shares, hospital, refused, share, snapshot, values
from tests.tiny_notes import long_notes, note, phi_strings, tiny_notes, write_notes


def evaluated(loop: Loop, notes: Path, *more: object, site: str = "fourth") -> Any:
    return values(hospital("evaluate", notes, "--json", *more, "--workspace", loop.site(site)))


@pytest.fixture
def outdated(another_release: Path, tmp_path: Path) -> Loop:
    """A copy of it that the test may change."""
    return Loop(Path(shutil.copytree(another_release, tmp_path / "another" / "loop")))


def pull(loop: Loop) -> None:
    """The hospital takes the other pipeline into use."""
    done(hospital("pull", loop.releases, "--workspace", loop.site("fourth")))


def test_every_point_is_held_against_what_was_promised(built_loop: Loop) -> None:
    found = evaluated(built_loop, built_loop.notes("fourth"))
    report, points = found["acceptance"], _points(built_loop)
    assert [one["promised"] for one in report["promises"]] == [one["hidden"] for one in points]
    assert [one["in_use"] for one in report["promises"]].count(True) == 1
    recall, spans = report["in_use"]["recall"], found["hospital"]["recall"]["spans"]
    assert (recall["hidden_whole"], recall["entities"]) == (spans["hits"], spans["total"])
    assert recall["interval"][0] < recall["value"]
    assert report["few_notes"]
    assert set(report["compared"]) == {"its tagger alone", "patterns alone"}
    patterns = report["compared"]["patterns alone"]
    assert patterns["recall"]["value"] < recall["value"]
    assert patterns["difference"]["shown"]
    assert patterns["hidden_words_that_are_phi"]["value"] > 0.9
    assert report["notes_for_one_point"] > report["notes"]


def test_check_tells_by_its_code_what_the_report_tells_in_words(built_loop: Loop, tmp_path: Path) -> None:
    """Few notes show nothing either way, which is no leave to rely on the release."""

    def verdict_and_code(notes: Path) -> tuple[str, int]:
        checked = hospital("evaluate", notes, "--json", "--check", "--workspace", built_loop.site("fourth"))
        promises = json.loads(checked.stdout)["acceptance"]["promises"]
        return next(one["verdict"] for one in promises if one["in_use"]), checked.exit_code

    few = write_notes(tmp_path / "few.jsonl", list(tiny_notes(LEAST_NOTES - 1, 4, "strange")), "jsonl")
    assert verdict_and_code(few) == ("not shown either way", 37)
    # What these show depends on the pipeline that the loop happened to train.
    verdict, code = verdict_and_code(built_loop.notes("fourth"))
    assert code == (0 if verdict == "holds" else 37)


def _points(loop: Loop) -> Any:
    return json.loads((loop.site("fourth") / "releases" / "0002-pipeline" / "operating_points.json").read_text())[
        "points"
    ]


def test_what_is_measured_at_a_point_is_what_the_point_finds(built_loop: Loop) -> None:
    """Each point by a reading of its own, against the one reading for all."""
    workspace = open_workspace(built_loop.site("fourth"))
    notes = list(tiny_notes(12, 5, "strange"))
    report, _ = accept(workspace, notes, Asked())
    for one in report.promises:
        alone, _ = accept(workspace, notes, Asked(min_recall=one.point.target))
        assert alone.in_use.as_json() == one.measure.as_json()
        assert alone.promise is not None
        assert alone.promise.point == one.point


def test_a_pipeline_reads_the_notes_once(built_loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    before = Pipeline.read

    def counted(self: Pipeline, documents: Any) -> Any:
        read.append(len(documents))
        return before(self, documents)

    monkeypatch.setattr(pipeline_module.Pipeline, "read", counted)
    accept(open_workspace(built_loop.site("fourth")), list(tiny_notes(30)), Asked())
    assert sum(read) == 30


def test_the_release_before_is_compared_while_it_is_here(outdated: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "n", list(tiny_notes(20, 6, "later")))
    first = evaluated(outdated, notes)["acceptance"]
    assert "the release before" not in first["compared"]
    assert "no pipeline from before" in first["remarks"][0]
    pull(outdated)
    second = evaluated(outdated, notes)["acceptance"]
    assert (first["release"], second["release"]) == (2, 3)
    assert not second["remarks"]
    # What was in use then is what is the one before now.
    assert second["compared"]["the release before"]["recall"] == first["in_use"]["recall"]
    # And at every point: what it hid there then, against what is hidden there now.
    for before, now in zip(first["promises"], second["promises"], strict=True):
        compared = second["compared"][f"the release before, both at --min-recall {now['target']:g}"]
        assert before["target"] == now["target"]
        assert compared["recall"] == before["measured"]["recall"]
        apart = now["measured"]["recall"]["value"] - before["measured"]["recall"]["value"]
        assert compared["difference"]["value"] == pytest.approx(apart)
    releases = outdated.site("fourth") / "releases"
    shutil.rmtree(releases / "0002-pipeline")
    assert find_previous(open_workspace(outdated.site("fourth"))) is None


def test_a_release_before_that_was_never_pulled_or_has_changed_is_not_believed(outdated: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "n", list(tiny_notes(12, 6, "later")))
    pull(outdated)
    folder = outdated.site("fourth") / "releases" / "0002-pipeline"
    head = folder / "head.safetensors"
    sound = head.read_bytes()
    head.write_bytes(sound[:-3] + b"\0\1\2")
    changed = evaluated(outdated, notes)["acceptance"]
    assert "the release before" not in changed["compared"]
    assert "could not be compared" in changed["remarks"][0]
    # Listed anew by whoever changed it: whole in itself, and not what the ledger says was pulled.
    head.write_bytes(sound)
    listed = json.loads((folder / "release.json").read_text())
    write_text(folder / "release.json", json.dumps(listed, indent=3), private=False)
    assert "the release before" not in evaluated(outdated, notes)["acceptance"]["compared"]


def test_notes_that_left_are_left_out_or_said_to_be_the_only_ones(loop: Loop, tmp_path: Path) -> None:
    forget_shares(loop.site("north"))
    share(loop, "north")
    done(hospital("pull", loop.releases, "--workspace", loop.site("north")))
    left = list(tiny_notes(24, 1, "north"))
    alone = evaluated(loop, loop.notes("north"), site="north")["acceptance"]
    assert (alone["notes"], alone["notes_that_left_before"]) == (24, 24)
    assert not alone["judged_by_notes_that_never_left"]
    assert "holds" not in [one["verdict"] for one in alone["promises"]]
    fresh = long_notes(15, 8)
    both = write_notes(tmp_path / "both", [*left[:5], *fresh])
    # Whose the notes were that left is told by these notes alone.
    whose = tmp_path / "whose.csv"
    whose.write_text("note,patient\n" + "".join(f"{one.identifier},{one.identifier}\n" for one in [*left, *fresh]))
    others = write_notes(tmp_path / "others", fresh)
    for notes, more, untold in ((both, whose, False), (others, whose, True), (others, None, False)):
        given = () if more is None else ("--patients", more)
        found = evaluated(loop, notes, *given, site="north")["acceptance"]
        assert found["patients_of_notes_that_left_untold"] is untold
        said = done(hospital("evaluate", notes, *given, "--workspace", loop.site("north"))).stdout
        assert ("give the notes that left too" in said) is untold
    found = evaluated(loop, both, site="north")
    assert found["acceptance"]["notes"] == 15
    assert found["acceptance"]["notes_that_left_before"] == 5
    assert found["hospital"]["documents_with_miss"]["total"] == 15
    # Who has learned a draft knows the names in what was signed, and in what was exported anew.
    printed = [replace(one, text=one.text.replace(". ", ".<br>"), annotations=()) for one in left[:5]]
    signed = replace(left[5], text=left[5].text + " Signed in the afternoon.")
    known = [*printed, signed]
    assert find_left_before(open_workspace(loop.site("north")), [*known, *fresh]) == frozenset(
        one.identifier for one in known
    )


LOSSES: dict[str, Callable[[Path], object]] = {
    "the key": lambda site: (site / "keys" / "notes.key").unlink(),
    "the digests": lambda site: shutil.rmtree(site / "known-notes"),
    "the digests, for good": forget,
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_it_is_said_where_nobody_knows_which_notes_left(lose: Callable[[Path], None], loop: Loop) -> None:
    forget_shares(loop.site("north"))
    share(loop, "north")
    done(hospital("pull", loop.releases, "--workspace", loop.site("north")))
    assert evaluated(loop, loop.notes("north"), site="north")["acceptance"]["notes_that_left_before"] == 24
    lose(loop.site("north"))
    found = evaluated(loop, loop.notes("north"), site="north")["acceptance"]
    assert found["notes_that_left_before"] is None
    assert "holds" not in [one["verdict"] for one in found["promises"]]


class TestWhoIsKnown:
    """Notes of which the release may know more than it would of others."""

    @pytest.fixture
    def notes(self, monkeypatch: pytest.MonkeyPatch) -> list[Document]:
        """Of which the first dozen left with a share."""
        notes = list(tiny_notes(24, 4, "known"))
        left = frozenset(one.identifier for one in notes[:12])
        monkeypatch.setattr(acceptance, "find_left_before", lambda workspace, given: left)
        return notes

    def test_other_notes_of_a_patient_whose_note_left_show_no_promise_to_hold(
        self, built_loop: Loop, notes: list[Document]
    ) -> None:
        """A head that has learned one note of a patient knows the name in the next."""
        workspace = open_workspace(built_loop.site("fourth"))
        whose = {note.identifier: f"patient {number % 12}" for number, note in enumerate(notes)}
        report, _ = accept(workspace, notes, Asked(patients=whose))
        assert not report.unseen
        assert report.notes == 24
        # All but two of the patients have no note that left.
        whose |= {note.identifier: f"new {number}" for number, note in enumerate(notes[14:])}
        report, _ = accept(workspace, notes, Asked(patients=whose))
        assert report.unseen
        assert (report.notes, report.left_before, report.of_the_same) == (10, 12, 2)
        assert any(line.startswith("2 notes of the same patients") for line in cautions(report))

    def test_notes_without_phi_are_not_enough_others(self, built_loop: Loop, notes: list[Document]) -> None:
        """They would be all that is left to judge by, and show nothing."""
        plain = [note(f"plain-{day}", f"Nothing to report on day {day}.\n") for day in range(12)]
        report, _ = accept(open_workspace(built_loop.site("fourth")), [*notes[:12], *plain], Asked())
        assert not report.unseen
        assert report.in_use.recall.notes == 12


def test_phi_that_the_release_has_no_category_for_is_told_and_not_passed_over(built_loop: Loop, tmp_path: Path) -> None:
    """The officer reads "hidden whole" and "notes with a miss": what these do not ask for stands beside them."""
    notes = []
    for one in tiny_notes(12, 4, "ward"):
        start = one.text.index("There was ") + len("There was ")
        spans = (*one.annotations, Annotation(start, one.text.index(" and ", start), "WARD"))
        notes.append(replace(one, annotations=tuple(sorted(spans))))
    known = sorted({span.category for one in notes for span in one.annotations} - {"WARD"})
    (tmp_path / "own.toml").write_text('[map]\nWARD = ""\n' + "".join(f'{name} = "{name}"\n' for name in known))
    path = write_notes(tmp_path / "notes.jsonl", notes, "jsonl")
    report = evaluated(built_loop, path, "--labels", tmp_path / "own.toml")["acceptance"]
    assert report["labelled_of_no_category"]["spans"] == 12
    clear = report["labelled_of_no_category"]["in_clear"]
    assert 8 <= clear <= 12
    page, way = tmp_path / "page.html", ("--labels", tmp_path / "own.toml", "--workspace", built_loop.site("fourth"))
    said = done(hospital("evaluate", path, "--page", page, *way)).stdout
    for shown in (said, page.read_text()):
        assert (
            f"12 labelled spans are of no category of the release and not asked for: {clear} of them stay in clear"
            in shown
        )
    # Nothing else is judged otherwise than without them.
    bare = write_notes(tmp_path / "bare.jsonl", list(tiny_notes(12, 4, "ward")), "jsonl")
    assert evaluated(built_loop, bare)["acceptance"]["in_use"] == report["in_use"]


def test_a_table_of_other_notes_makes_no_patients(built_loop: Loop, tmp_path: Path) -> None:
    notes = list(tiny_notes(20, 3, "p"))
    table = tmp_path / "whose.csv"
    table.write_text("note,patient\n" + "".join(f"{one.identifier}.txt,{at // 4}\n" for at, one in enumerate(notes)))
    way = (write_notes(tmp_path / "notes", notes), "--patients", table, "--workspace", built_loop.site("fourth"))
    refused(hospital("evaluate", *way), 2, "whose.csv", "none of the 20 notes")
    refused(hospital("adapt", *way), 2, "whose.csv", "none of the 20 notes")
    table.write_text("note,patient\n" + "".join(f"{one.identifier},{at // 4}\n" for at, one in enumerate(notes[3:])))
    assert "3 notes are of no patient that --patients names" in hospital("evaluate", *way).stderr


def test_the_page_and_nothing_else_holds_words(built_loop: Loop, tmp_path: Path) -> None:
    # Names that no tiny note has, in sentences that none has.
    notes = list(tiny_notes(12, 4, "page"))
    path = write_notes(tmp_path / "notes", notes)
    page, at = tmp_path / "page.html", ("--workspace", built_loop.site("fourth"))
    before = snapshot(built_loop.site("fourth"))
    told = done(hospital("evaluate", path, "--page", page, *at))
    assert snapshot(built_loop.site("fourth")) == before
    assert not [secret for secret in phi_strings(notes) if secret in told.stdout]
    assert "release 2: promised" in told.stdout
    assert page.stat().st_mode & 0o777 == 0o600
    assert evaluated(built_loop, path, "--page", page)["page"] == str(page)


def test_notes_of_one_patient_count_as_one(built_loop: Loop, tmp_path: Path) -> None:
    notes = list(tiny_notes(20, 3, "p"))
    path, table = write_notes(tmp_path / "notes", notes), tmp_path / "whose.csv"
    rows = [f"{note.identifier},{number // 4}" for number, note in enumerate(notes)]
    table.write_text("\n".join(["note,patient", *rows]) + "\n")
    single, grouped = (
        evaluated(built_loop, path)["acceptance"],
        evaluated(built_loop, path, "--patients", table)["acceptance"],
    )
    assert (grouped["notes"], grouped["independent"]) == (20, 5)
    assert grouped["in_use"]["recall"]["interval"][0] < single["in_use"]["recall"]["interval"][0]
    table.write_text("note;patient\n")
    refused(
        hospital("evaluate", path, "--patients", table, "--workspace", built_loop.site("fourth")), 2, "columns note"
    )


def test_a_page_that_can_not_be_written_is_told(built_loop: Loop, tmp_path: Path) -> None:
    way = ("--page", tmp_path / "none" / "page.html", "--workspace", built_loop.site("fourth"))
    refused(hospital("evaluate", built_loop.notes("fourth"), *way), 8)


def test_more_than_is_promised_is_refused(built_loop: Loop) -> None:
    way = ("--min-recall", "0.999", "--workspace", built_loop.site("fourth"))
    refused(hospital("evaluate", built_loop.notes("fourth"), *way), 2, "0.999")
