"""The search of a transformer's settings as it is typed: what it tries, where it goes on, and what it refuses."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from click.testing import Result

from shared.document import Document
from tests.loop import done, provider, refused, values
from tests.shared.taggers.transformer.made import make_checkpoint
from tests.tiny_notes import tiny_notes, write_notes


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A provider's workspace, with a checkpoint beside it."""
    done(provider("init", tmp_path / "provider"))
    make_checkpoint(tmp_path / "checkpoint")
    return tmp_path


def searched(at: Path, notes: list[Document], *options: object) -> Result:
    path = write_notes(at / f"notes-{len(list(at.iterdir()))}", notes)
    asked = ("--checkpoint", at / "checkpoint", "--most-epochs", 2, "--workspace", at / "provider", *options)
    return provider("search-settings", path, *asked)


def test_one_that_goes_on_keeps_its_trials_and_names_the_command_that_trains_so(
    at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = count(1)
    monkeypatch.setattr("shared.training.fine_tuning.recipe.strict_f1", lambda *asked: next(scores) / 100)
    notes = list(tiny_notes(10))
    first = values(searched(at, notes, "--trials", 2, "--json"))
    more = done(searched(at, notes, "--trials", 3))
    again = values(searched(at, notes, "--trials", 3, "--json"))
    assert (len(first["trials"]), len(again["trials"]), first["notes"]) == (2, 3, [8, 2])
    assert again["trials"][:2] == first["trials"]
    best = again["best"]["settings"]
    assert again["best"]["score"] == max(one["score"] for one in again["trials"] if not one["given_up"])
    # The checkpoint has positions for no more pieces.
    assert best["window"] == 40
    command = shlex.split(more.stdout.splitlines()[-1].removeprefix("next: "))
    asked = dict(zip(command[2::2], command[3::2], strict=True))
    assert {name: int(asked[f"--{name}"]) for name in best if name != "epochs"} == {
        name: best[name] for name in best if name != "epochs"
    }
    assert (asked["--tagger"], int(asked["--epochs"])) == ("transformer", best["epochs"])
    # The trials read all sentences in every pass.
    assert asked["--undersampling"] == "0"


def test_where_nothing_is_found_no_settings_are_called_the_best(at: Path) -> None:
    said = done(searched(at, list(tiny_notes(6)), "--trials", 2)).stdout
    assert "no trial found a whole span" in said
    assert "next:" not in said
    assert "best" not in said


def test_a_search_of_other_notes_or_settings_begins_in_another_file(at: Path) -> None:
    notes = list(tiny_notes(6))
    done(searched(at, notes, "--trials", 1))
    other = [replace(notes[0], annotations=notes[0].annotations[1:]), *notes[1:]]
    for options, given in (((), other), (("--crf",), notes), (("--seed", 1), notes)):
        refused(searched(at, given, "--trials", 1, *options), 2, "begin anew in another file")
        done(searched(at, given, "--trials", 1, *options, "--kept", at / f"kept-{len(list(at.iterdir()))}"))


def test_notes_that_can_judge_nothing_are_refused(at: Path) -> None:
    quiet = [Document(f"note-{number}", "Nothing was seen.\n") for number in range(5)]
    refused(searched(at, quiet, "--trials", 1), 3, "expected labels in the fifth of the notes that judges")
    refused(searched(at, list(tiny_notes(1)), "--trials", 1), 2, "two documents")
    assert not (at / "provider" / "settings-search.jsonl").exists()
