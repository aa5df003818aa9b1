"""`deid --mode surrogate` and `vault`, as people type them."""

from __future__ import annotations

import csv
import datetime
import errno
import json
import os
import stat
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from shared.corpus import read_corpus
from shared.document import Annotation, Document
from shared.surrogates.settings import SurrogateSettings
from site_client.deid.mode import Setting
from site_client.deid.surrogate import Surrogate
from site_client.ledger import entries
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, refused, snapshot, values


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def deid(loop: Loop, out: Path, *more: object) -> tuple[object, ...]:
    return (
        "deid",
        loop.notes("fourth"),
        "--out",
        out,
        "--workspace",
        loop.site("fourth"),
        "--mode",
        "surrogate",
        *more,
    )


def test_notes_come_out_with_surrogates_and_what_each_has_spent(built_loop: Loop, tmp_path: Path) -> None:
    told = values(hospital(*deid(built_loop, tmp_path / "safe"), "--json"))
    budget = told["budget"]
    assert (budget["epsilon"], budget["of"], budget["intervals_public"]) == (1.0, "note", False)
    assert budget["replaced"] + budget["redacted"] == sum(told["spans"].values())
    assert set(budget["notes"]) <= {note.identifier for note in read_corpus(built_loop.notes("fourth"))}
    assert all(one["spent"] <= 1 for one in budget["notes"].values())
    assert "unmoved" not in str(told)
    assert "stood there" not in str(told)
    said = done(hospital(*deid(built_loop, tmp_path / "again"))).stdout
    assert "a note spends at most epsilon 1" in said
    assert "another run draws anew" in said
    assert texts(tmp_path / "safe") != texts(tmp_path / "again")


def test_under_the_key_of_the_site_the_next_run_makes_the_same(loop: Loop, tmp_path: Path) -> None:
    notes = [note.identifier for note in read_corpus(loop.notes("fourth"))]
    (tmp_path / "p.csv").write_text(
        "note,patient\n" + "".join(f"{name},p{at // 3}\n" for at, name in enumerate(notes[1:]))
    )
    linked = ("--link-key", "--patients", tmp_path / "p.csv")
    said = done(hospital(*deid(loop, tmp_path / "one", *linked))).stdout
    done(hospital(*deid(loop, tmp_path / "two", *linked)))
    assert texts(tmp_path / "one") == texts(tmp_path / "two")
    assert "the days between them are public" in said
    assert "1 note is of no patient" in said
    key = loop.site("fourth") / "keys" / "surrogates.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.unlink()
    # A workspace that was restored without it.
    for mode in (linked, ("--mode", "hash"), ("--vault", tmp_path / "v")):
        refused(hospital(*deid(loop, tmp_path / "lost", *mode)), 30, "give deid --new-link-key")
        assert not key.exists()
    done(hospital(*deid(loop, tmp_path / "three", *linked, "--new-link-key")))
    assert texts(tmp_path / "one") != texts(tmp_path / "three")
    assert [one.event for one in entries(open_workspace(loop.site("fourth")))][-1] == "surrogates secret made anew"
    done(hospital(*deid(loop, tmp_path / "four", *linked, "--new-link-key")))
    assert texts(tmp_path / "three") == texts(tmp_path / "four")


def test_the_vault_says_who_was_what_and_only_to_its_owner(
    loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "who.vault"
    done(hospital(*deid(loop, tmp_path / "safe", "--vault", kept)))
    originals = {note.identifier: note for note in read_corpus(loop.notes("fourth"))}
    opening = ("vault", kept, "--workspace", loop.site("fourth"))
    said = hospital(*opening)
    assert "shown on a terminal only" in said.stdout
    out = tmp_path / "who.jsonl"
    done(hospital(*opening, "--out", out))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    for line in map(json.loads, out.read_text().splitlines()):
        written = (tmp_path / "safe" / f"{line['note']}.txt").read_bytes().decode()
        for one in line["replaced"]:
            assert one["original"] in originals[line["note"]].text
            assert written[one["start"] : one["end"]] == one["written"]
            assert one["original"] not in said.stdout
    name = next(iter(originals))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert values(hospital(*opening, "--note", name, "--json"))["notes"] == 1
    refused(hospital(*opening, "--note", "nobody"), 2, "a note that is in this vault")
    refused(hospital(*opening, "--out", out), 2, "expected a new file")
    refused(hospital("vault", kept, "--workspace", loop.site("north")), 30, "restore it from a backup")
    assert not (loop.site("north") / "keys" / "surrogates.key").exists()
    open_workspace(loop.site("north")).surrogates_secret()
    refused(hospital("vault", kept, "--workspace", loop.site("north")), 15, "another site")
    refused(hospital("vault", out, "--workspace", loop.site("north")), 2, "expected a vault")


@pytest.mark.parametrize("loses", ["vault", "notes"])
def test_notes_are_never_in_place_without_their_vault_and_the_run_can_be_repeated(
    loses: str, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full, or the stick pulled, when the one or the other gets its name."""
    stick = tmp_path / "stick"
    stick.mkdir()
    kept, safe = stick / "who.vault", stick / "safe"
    replace, rename = os.replace, os.rename

    def named(function: Callable[..., None], fails: bool, old: Path, new: Path) -> None:
        if new in (kept, safe):
            assert not safe.exists()
            if fails:
                raise OSError(errno.ENOSPC, "No space left on device")
        if new == safe:
            assert kept.stat().st_size
        function(old, new)

    monkeypatch.setattr(os, "replace", partial(named, replace, loses == "vault"))
    monkeypatch.setattr(os, "rename", partial(named, rename, loses == "notes"))
    refused(hospital(*deid(loop, safe, "--vault", kept)), 8, "full disk")
    assert list(stick.iterdir()) == []
    monkeypatch.setattr(os, "replace", partial(named, replace, False))
    monkeypatch.setattr(os, "rename", partial(named, rename, False))
    done(hospital(*deid(loop, safe, "--vault", kept)))
    assert {path.name for path in stick.iterdir()} == {"who.vault", "safe"}


@pytest.mark.parametrize("table", [False, True])
def test_attack_a_vault_of_another_run_names_the_wrong_person(table: bool, loop: Loop, tmp_path: Path) -> None:
    """Ids come again: the note n-0017 of February is not that of January."""
    notes, site = tmp_path / ("notes.csv" if table else "notes"), loop.site("fourth")
    safe, kept, sample = tmp_path / "safe", tmp_path / "january.vault", tmp_path / "note.txt"
    text = "Seen by Ana Marchbanks\r\non 03/04/2019."
    if table:
        notes.write_bytes(f'id,text\nn-0017,"{text}"\n'.encode())
    else:
        notes.mkdir()
        (notes / "n-0017.txt").write_bytes(text.encode())
    more = ("--mode", "surrogate", "--workspace", site, "--vault", kept)
    done(hospital("deid", notes, "--out", safe, *more))
    if table:
        # Copied from a table, by an editor that ends a line.
        with (safe / "notes.csv").open(encoding="utf-8", newline="") as rows:
            sample.write_text(next(csv.DictReader(rows))["text"] + "\n", encoding="utf-8")
    else:
        sample.write_bytes((safe / "n-0017.txt").read_bytes())
    asking = ("vault", kept, "--workspace", site, "--note", "n-0017")
    told = values(hospital(*asking, "--text", sample, "--json"))
    assert told["day"] == str(datetime.date.today())
    assert told["of_this_run"] is True
    assert "the text is the one that this run wrote" in done(hospital(*asking, "--text", sample)).stdout
    said = done(hospital(*asking)).stdout
    assert f"of the run that began on {told['day']}" in said
    assert "a note of another run may have this id; --text FILE" in said
    out = tmp_path / "out.jsonl"
    sample.write_text("Seen by Bob Ober on 01/02/2019.")
    refused(hospital(*asking, "--text", sample, "--out", out), 13, "january.vault", "another text")
    refused(hospital("vault", kept, "--workspace", site, "--text", sample), 2, "expected --note")
    assert not out.exists()


def test_a_vault_under_a_passphrase_opens_with_it_alone(loop: Loop, tmp_path: Path) -> None:
    for name, words in (
        ("p", "five words that nobody guesses"),
        ("q", "five other words that you guess"),
        ("short", "abc"),
    ):
        (tmp_path / name).write_text(words)
        (tmp_path / name).chmod(0o400)
    kept = tmp_path / "who.vault"
    refused(
        hospital(*deid(loop, tmp_path / "a", "--vault", kept, "--vault-passphrase", tmp_path / "short")),
        2,
        "12 characters",
    )
    done(hospital(*deid(loop, tmp_path / "safe", "--vault", kept, "--vault-passphrase", tmp_path / "p")))
    opening = ("vault", kept, "--workspace", loop.site("north"))
    done(hospital(*opening, "--passphrase", tmp_path / "p"))
    refused(hospital(*opening, "--passphrase", tmp_path / "q"), 17, "another one")
    # Of sites that have a key of their own, have none yet, and have lost it.
    before = snapshot(tmp_path)
    for site in ("fourth", "north"):
        refused(hospital("vault", kept, "--workspace", loop.site(site)), 17, "give --passphrase")
    assert snapshot(tmp_path) == before
    open_workspace(loop.site("north")).surrogates_secret()
    open_workspace(loop.site("north")).surrogates_key.unlink()
    assert "--new-link-key" not in refused(hospital(*opening), 17, "give --passphrase")
    done(hospital(*opening, "--passphrase", tmp_path / "p"))


def test_reading_a_vault_makes_no_key_and_advises_none(loop: Loop, tmp_path: Path) -> None:
    kept, words = tmp_path / "who.vault", tmp_path / "p"
    words.write_text("five words that nobody guesses")
    words.chmod(0o400)
    done(hospital(*deid(loop, tmp_path / "safe", "--vault", kept)))
    opening = ("vault", kept, "--workspace", loop.site("fourth"))
    refused(hospital(*opening, "--passphrase", words), 17, "under keys/surrogates.key", "leave --passphrase out")
    open_workspace(loop.site("fourth")).surrogates_key.unlink()
    before = snapshot(tmp_path)
    refused(hospital(*opening, "--passphrase", words), 17, "leave --passphrase out")
    assert "--new-link-key" not in refused(hospital(*opening), 30, "restore it from a backup")
    assert snapshot(tmp_path) == before


def test_settings_by_category_and_lists_are_heard(built_loop: Loop, tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text('[categories.DATE]\nmode = "fixed"\n[deny]\nHOSPITAL = ["the"]\n')
    command = ("deid", built_loop.notes("fourth"), "--out", tmp_path / "safe", "--workspace", built_loop.site("fourth"))
    told = values(hospital(*command, "--config", tmp_path / "ours.toml", "--json"))
    written = "".join(texts(tmp_path / "safe").values())
    assert told["spans"]["DATE"] == written.count("████████")
    assert "[DATE]" not in written
    assert "budget" not in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--mode tag --vault {new}", "a mode that hides"),
        ("--mode redact --link-key", "add --mode surrogate"),
        ("--mode surrogate --vault-passphrase {file}", "expected --vault"),
        ("--mode surrogate --vault {file}", "not written over"),
        ("--mode surrogate --config {file}", "expected TOML"),
        ("--mode surrogate --patients {file}", "the columns note (the id of a note) and patient"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_anything_is_written(
    options: str, said: str, loop: Loop, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("what is this?")
    places = {"new": tmp_path / "new", "file": tmp_path / "file"}
    command = ("deid", loop.notes("fourth"), "--out", tmp_path / "safe", "--workspace", loop.site("fourth"))
    refused(hospital(*command, *options.format(**places).split()), 2, said)
    assert not (tmp_path / "safe").exists()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("more", [(), ("--link-key",)])
def test_a_vault_that_is_there_is_refused_before_a_secret_is_made(
    more: tuple[str, ...], loop: Loop, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("an earlier vault")
    before = snapshot(loop.site("fourth"), tmp_path / "kept")
    refused(hospital(*deid(loop, tmp_path / "safe", "--vault", tmp_path / "kept", *more)), 2, "not written over")
    assert not (loop.site("fourth") / "keys" / "surrogates.key").exists()
    assert snapshot(loop.site("fourth"), tmp_path / "kept") == before


def test_patients_go_with_surrogates_though_a_category_has_another_mode(loop: Loop, tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text('[categories.ZIP]\nmode = "redact"\n')
    (tmp_path / "p.csv").write_text("note,patient\nfourth-000,1\n")
    given = ("--config", tmp_path / "ours.toml", "--patients", tmp_path / "p.csv")
    said = done(hospital(*deid(loop, tmp_path / "safe", *given))).stdout
    assert "a patient spends at most epsilon 1" in said


def test_what_one_note_of_a_patient_says_is_redacted_in_another(loop: Loop, tmp_path: Path) -> None:
    labelled = {"text": "Number A-7715-Q here.", "annotations": [{"start": 7, "end": 15, "category": "IDNUM"}]}
    notes = [{"id": "a"} | labelled, {"id": "b", "text": "As A-7715-Q says."}, {"id": "c", "text": "As A-7715-Q says."}]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    (tmp_path / "p.csv").write_text("note,patient\na,1\nb,1\n")
    command = ("deid", tmp_path / "notes.jsonl", "--workspace", loop.site("fourth"))
    said = done(hospital(*command, "--out", tmp_path / "safe", "--patients", tmp_path / "p.csv")).stdout
    assert "1 note is of no patient that --patients names: it stands alone" in said
    done(hospital(*command, "--out", tmp_path / "alone"))
    together, alone = texts(tmp_path / "safe"), texts(tmp_path / "alone")
    assert "A-" not in together["b.txt"]
    assert "7715" not in together["b.txt"]
    # Two notes that say the same, of which nobody knows whose they are, are read alike.
    assert together["c.txt"] == alone["c.txt"] == alone["b.txt"] != together["b.txt"]


@pytest.mark.parametrize("mode", ["redact", "hash", "surrogate"])
def test_a_label_that_is_itself_a_name_is_written_nowhere(mode: str, loop: Loop, tmp_path: Path) -> None:
    """Exporters and people write anything into the field of the label; only known categories, and those of the settings, are written."""
    text = "Quintus Marchbanks, of Ward Seven, was seen."
    labels = [
        {"start": 0, "end": 18, "category": "Quintus Marchbanks"},
        {"start": 23, "end": 33, "category": "OUR_WARD"},
    ]
    (tmp_path / "notes.jsonl").write_text(json.dumps({"id": "n", "text": text, "annotations": labels}))
    (tmp_path / "ours.toml").write_text('[categories.OUR_WARD]\nmode = "redact"\n')
    command = ("deid", tmp_path / "notes.jsonl", "--out", tmp_path / "safe", "--workspace", loop.site("fourth"))
    said = done(hospital(*command, "--mode", mode, "--config", tmp_path / "ours.toml", "--json")).stdout
    written = "".join(texts(tmp_path / "safe").values())
    assert "Marchbanks" not in said + written
    assert "OTHER" in said + written
    assert "[OUR_WARD]" in written


def aged(numbers: int, patients: dict[str, str] | None) -> Mapping[str, Any]:
    """What a run reports of notes of one age each."""
    mode = Surrogate(Setting(SurrogateSettings(language="English"), patients=patients))
    for number in range(numbers):
        mode.turn(Document(f"n{number}", f"Aged {20 + number}.", (Annotation(5, 7, "AGE"),)))
    return cast(Mapping[str, Any], mode.report().values["budget"])


def test_the_mean_is_of_patients_and_of_what_each_has_spent_in_the_end() -> None:
    one = aged(10, {f"n{number}": "p" for number in range(10)})
    assert one["mean"] == pytest.approx(one["largest"])
    assert one["mean"] == pytest.approx(one["notes"]["n9"]["spent"])
    two = aged(10, {f"n{number}": "p" for number in range(9)})
    assert two["mean"] == pytest.approx((two["notes"]["n8"]["spent"] + two["notes"]["n9"]["spent"]) / 2)
    alone = aged(10, None)
    assert alone["mean"] == pytest.approx(sum(one["spent"] for one in alone["notes"].values()) / 10)


def test_how_many_draws_said_what_stood_there_is_told_on_a_terminal_only(
    built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "what stood there" not in done(hospital(*deid(built_loop, tmp_path / "logged"))).stdout
    # The name itself: who runs the command here puts another stream in the place of the true one.
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("site_client.commands.workbench.deid.sys", terminal)
    assert "what stood there" in done(hospital(*deid(built_loop, tmp_path / "seen"))).stdout
    assert "stood there" not in str(values(hospital(*deid(built_loop, tmp_path / "read"), "--json")))
