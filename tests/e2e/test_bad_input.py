"""Whatever is given to the commands: one clear line and its exit code, or the work done; never something half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from foundation.errors import StorageError
from shared.corpus import read_corpus
from shared.document import Annotation, Document
from shared.embeddings.files.artefact import save_vectors
from tests.loop import Loop, begin, but_for_what_was_seen, done, hospital, provider, refused, share, snapshot, values
from tests.protocols.payload.blocks import full_disk
from tests.shared.embeddings.made import table
from tests.tiny_notes import note, tiny_notes, write_notes

DISK = 8


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def encode(loop: Loop, notes: Path, out: Path, *more: object) -> Result:
    return hospital("encode", notes, "--out", out, "--workspace", loop.site("north"), *more)


def deid(loop: Loop, notes: Path, out: Path, *more: object) -> Result:
    return hospital("deid", notes, "--out", out, "--workspace", loop.site("fourth"), *more)


def bad_notes(folder: Path) -> dict[str, Path]:
    """Notes that nothing can be made of."""
    (folder / "empty folder").mkdir(parents=True)
    good = next(tiny_notes(1))
    record = {"id": "a", "text": good.text, "label": [[0, 7, "PATIENT"]]}
    return {
        "empty folder": folder / "empty folder",
        "NUL bytes": written(folder / "nul" / "a.txt", good.text.encode().replace(b"seen", b"s\0en")),
        "not UTF-8": written(folder / "latin" / "a.txt", "Señora Quillfeather".encode("latin-1")),
        "UTF-16": written(folder / "wide" / "a.txt", "Señora Quillfeather".encode("utf-16")),
        "an empty file": written(folder / "a.jsonl", b""),
        "cut JSON": written(folder / "cut.jsonl", json.dumps(record).encode()[:-9]),
        "a span beyond its text": written(
            folder / "span.jsonl", json.dumps(record | {"label": [[0, 9999, "PATIENT"]]}).encode()
        ),
        "overlapping spans": written(
            folder / "overlap.jsonl", json.dumps(record | {"label": [[0, 9, "PATIENT"], [5, 12, "DOCTOR"]]}).encode()
        ),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "empty folder",
        "NUL bytes",
        "not UTF-8",
        "UTF-16",
        "an empty file",
        "cut JSON",
        "a span beyond its text",
        "overlapping spans",
    ],
)
class TestBadNotes:
    def test_they_are_not_deidentified(self, kind: str, built_loop: Loop, tmp_path: Path) -> None:
        notes = bad_notes(tmp_path / "notes")[kind]
        before = snapshot(tmp_path, built_loop.root)
        line = refused(deid(built_loop, notes, tmp_path / "out"), 3)
        assert "Quillfeather" not in line
        assert snapshot(tmp_path, built_loop.root) == before

    def test_they_are_not_encoded(self, kind: str, built_loop: Loop, tmp_path: Path) -> None:
        notes = bad_notes(tmp_path / "notes")[kind]
        before = snapshot(tmp_path, built_loop.root)
        refused(encode(built_loop, notes, tmp_path / "out.parquet"), 3)
        assert snapshot(tmp_path, built_loop.root) == before

    def test_nothing_is_trained_on_them(self, kind: str, built_loop: Loop, tmp_path: Path) -> None:
        notes = bad_notes(tmp_path / "notes")[kind]
        before = snapshot(tmp_path, built_loop.root)
        at = ("--workspace", built_loop.provider)
        refused(provider("train-repr", "--corpus", notes, "--preset", "quick", *at), 3)
        refused(provider("train-embeddings", notes, *at), 3)
        assert snapshot(tmp_path, built_loop.root) == before


class TestNotesThatAreStrangeButGood:
    def notes(self) -> list[Document]:
        doctor = ("Quillfeather", "DOCTOR")
        return [
            note("empty", ""),
            note("blank", " \r\n\t"),
            note("crlf", "Patient\r\n\r\nDr ", doctor, "\r\nadvised rest.\r\n"),
            note("accents", "Pie\u0301 y man\u0303ana, Dr ", doctor, " e\u0301"),
            note("emoji", "👩‍⚕️ Dr ", doctor, " 🙂🏥"),
            note("hebrew", "\u202bשלום\u202c Dr ", doctor, " مرحبا"),
            note("mark", "\ufeffDr ", doctor, " rests"),
        ]

    @pytest.mark.parametrize("form", ["brat", "jsonl"])
    def test_they_are_encoded_and_deidentified_with_exact_offsets(self, form: str, loop: Loop, tmp_path: Path) -> None:
        notes = self.notes()
        path = write_notes(tmp_path / ("in" if form == "brat" else "in.jsonl"), notes, form)
        done(deid(loop, path, tmp_path / "safe"))
        for document in read_corpus(tmp_path / "safe", format="txt"):
            assert "Quillfeather" not in document.text
        safe = {document.identifier: document.text for document in read_corpus(tmp_path / "safe", format="txt")}
        assert safe["empty"] == ""
        assert safe["blank"] == " \r\n\t"
        assert set(safe) == {document.identifier for document in notes}
        found = values(encode(loop, path, tmp_path / "a.parquet", "--json"))
        assert sum(found["tag_counts"][1:]) == 5
        done(deid(loop, path, tmp_path / "tagged", "--mode", "tag"))
        texts = {document.identifier: document.text for document in read_corpus(tmp_path / "tagged")}
        assert texts == {document.identifier: document.text for document in notes}

    def test_notes_without_a_word_have_nothing_to_share(self, built_loop: Loop, tmp_path: Path) -> None:
        path = write_notes(tmp_path / "in", [note("empty", ""), note("blank", " \r\n\t")])
        before = snapshot(tmp_path, built_loop.root)
        refused(encode(built_loop, path, tmp_path / "out.h5"), 3, "token")
        assert snapshot(tmp_path, built_loop.root) == before
        done(deid(built_loop, path, tmp_path / "safe"))

    def test_a_note_of_a_megabyte_in_one_line(self, loop: Loop, tmp_path: Path) -> None:
        filler = "pneumonoultramicroscopicsilicovolcanoconiosis-" * 12
        text = f"Dr Quillfeather advised {filler}, " * (1_000_000 // (len(filler) + 26))
        assert len(text) > 980_000
        words = text.count(" ")
        assert "\n" not in text
        spans = (Annotation(3, 15, "DOCTOR"),)
        path = write_notes(tmp_path / "long.jsonl", [Document("long", text, spans)], "jsonl")
        found = values(encode(loop, path, tmp_path / "a.parquet", "--json"))
        # All of it was read: a word of the filler is one token, and a comma another.
        assert found["tokens"] > words > 6_000
        done(deid(loop, path, tmp_path / "safe"))
        safe = (tmp_path / "safe" / "long.txt").read_text()
        assert safe.startswith(("Dr [DOCTOR]", "[DOCTOR]"))
        assert "Quillfeather" not in safe

    def test_a_corpus_with_one_label_only(self, loop: Loop, tmp_path: Path) -> None:
        only = [
            Document(one.identifier, one.text, tuple(span for span in one.annotations if span.category == "DATE"))
            for one in tiny_notes(8)
        ]
        path = write_notes(tmp_path / "in", only)
        at = ("--workspace", loop.provider)
        done(provider("train-repr", "--corpus", path, "--cluster-size", 8, "--dim", 8, *at))
        found = values(encode(loop, path, tmp_path / "a.parquet", "--json"))
        assert sum(count > 0 for count in found["tag_counts"]) == 3

    def test_a_corpus_without_labels_is_neither_shared_nor_learned_from(self, built_loop: Loop, tmp_path: Path) -> None:
        bare = [Document(one.identifier, one.text) for one in tiny_notes(8)]
        for form in ("brat", "txt"):
            path = write_notes(tmp_path / form, bare, form)
            before = snapshot(tmp_path, built_loop.root)
            refused(encode(built_loop, path, tmp_path / "a.parquet"), 3, "label")
            at = ("--workspace", built_loop.provider)
            refused(provider("train-repr", "--corpus", path, "--cluster-size", 8, *at), 6, "PHI")
            assert snapshot(tmp_path, built_loop.root) == before

    def test_a_label_that_the_release_does_not_know(self, built_loop: Loop, tmp_path: Path) -> None:
        path = write_notes(tmp_path / "in", [note("n-1", "Dr ", ("Quillfeather", "SPACESHIP"))])
        before = snapshot(tmp_path, built_loop.root)
        line = refused(encode(built_loop, path, tmp_path / "a.parquet"), 3, "n-1", "SPACESHIP")
        assert "Quillfeather" not in line
        assert snapshot(tmp_path, built_loop.root) == before

    def test_bad_notes_are_set_aside_and_counted(self, loop: Loop, tmp_path: Path) -> None:
        path = write_notes(tmp_path / "in", [*tiny_notes(3), note("n-1", "Dr ", ("Quillfeather", "SPACESHIP"))])
        aside = tmp_path / "aside"
        found = values(encode(loop, path, tmp_path / "a.parquet", "--quarantine", aside, "--json"))
        assert found["quarantined"] == 1
        assert (aside / "000001.txt").exists()
        seen = values(
            hospital("evaluate", path, "--quarantine", tmp_path / "again", "--json", "--workspace", loop.site("fourth"))
        )
        assert seen["quarantined"] == 1

    def test_labels_that_overlap_are_good_for_evaluation_alone(self, built_loop: Loop, tmp_path: Path) -> None:
        path = bad_notes(tmp_path / "notes")["overlapping spans"]
        found = values(hospital("evaluate", path, "--json", "--workspace", built_loop.site("fourth")))
        strict = found["blocks"]["i2b2 Strict"]
        assert strict["tp"] + strict["fn"] == 2


class TestOutputs:
    def test_notes_are_not_deidentified_into_a_folder_in_use(self, built_loop: Loop, tmp_path: Path) -> None:
        path, used = (write_notes(tmp_path / name, list(tiny_notes(2))) for name in ("in", "used"))
        before = snapshot(tmp_path)
        refused(deid(built_loop, path, used, "--mode", "tag"), 2, "new folder")
        refused(deid(built_loop, path, path, "--mode", "tag"), 2, "--out")
        assert snapshot(tmp_path) == before

    def test_a_share_of_another_kind_of_file_is_refused(self, built_loop: Loop, tmp_path: Path) -> None:
        before = snapshot(tmp_path, built_loop.root)
        refused(encode(built_loop, built_loop.notes("north"), tmp_path / "a.csv"), 10)
        assert snapshot(tmp_path, built_loop.root) == before

    def test_a_folder_that_is_not_there_is_a_storage_error(self, built_loop: Loop, tmp_path: Path) -> None:
        refused(encode(built_loop, built_loop.notes("north"), tmp_path / "no" / "a.h5"), DISK)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("site", ["Saint Anne", "", "ST", "-x", "a" * 64, "ä"])
    def test_a_site_has_a_name_that_its_shares_can_carry(self, site: str, tmp_path: Path) -> None:
        refused(hospital("init", tmp_path / "site", "--site", site), 2)
        assert not list(tmp_path.iterdir())

    def test_a_provider_has_a_name_that_its_releases_can_carry(self, tmp_path: Path) -> None:
        refused(provider("init", tmp_path / "provider", "--name", "two words"), 2)
        scheme = written(tmp_path / "ours.toml", b'name = "our labels"\ncategories = ["NAME"]\n')
        refused(provider("init", tmp_path / "provider", "--scheme", scheme), 2)
        refused(provider("init", tmp_path / "provider", "--scheme", "nothing"), 2)
        assert [path.name for path in tmp_path.iterdir()] == ["ours.toml"]

    def test_a_workspace_is_made_once(self, built_loop: Loop) -> None:
        before = snapshot(built_loop.root)
        refused(provider("init", built_loop.provider), 20)
        refused(hospital("init", built_loop.site("north"), "--site", "north"), 30)
        assert snapshot(built_loop.root) == before

    def test_a_folder_that_is_no_workspace(self, tmp_path: Path) -> None:
        for arguments in (("publish",), ("release",), ("site", "list"), ("shares", "list"), ("train-head",)):
            refused(provider(*arguments, "--workspace", tmp_path), 20, "aggregator init")
        refused(hospital("enrol", "--out", tmp_path / "a", "--workspace", tmp_path), 30, "site-client init")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', "null", '{"format": 1, "provider": 5}'])
    def test_settings_that_are_damaged(self, text: str, tmp_path: Path) -> None:
        for name in ("aggregator.json", "site.json"):
            (tmp_path / name).write_text(text)
        refused(provider("site", "list", "--workspace", tmp_path), 20)
        refused(hospital("enrol", "--out", tmp_path / "a", "--workspace", tmp_path), 30)

    def test_what_an_earlier_command_makes_is_named(self, tmp_path: Path) -> None:
        done(provider("init", tmp_path / "p"))
        at = ("--workspace", tmp_path / "p")
        corpus = write_notes(tmp_path / "notes", list(tiny_notes(1)))
        before = snapshot(tmp_path)
        refused(provider("publish", *at), 20, "train-repr")
        refused(provider("release", *at), 20, "train-head")
        refused(provider("train-repr", "--corpus", corpus, *at), 20, "train-embeddings")
        refused(provider("train-head", *at), 20)
        assert snapshot(tmp_path) == before
        done(hospital("init", tmp_path / "s", "--site", "s"))
        refused(encode_bare(tmp_path), 30, "pull")


def encode_bare(root: Path) -> Result:
    return hospital("encode", root / "notes", "--out", root / "a.h5", "--workspace", root / "s")


class TestEmbeddings:
    @pytest.fixture
    def vectors(self, tmp_path: Path) -> dict[str, Path]:
        lines = [f"word{number} " + " ".join(str(number + part) for part in range(1, 5)) for number in range(30)]
        short = "\n".join([*lines[:20], "word20 1 2 3", *lines[21:]])
        good = "\n".join(lines) + "\n"
        folder = tmp_path / "folder"
        folder.mkdir()
        save_vectors(table(("a", "b", "c"), dim=6), folder)
        tensors = folder / "embeddings.safetensors"
        tensors.write_bytes(tensors.read_bytes()[:-8])
        return {
            "wrong dimension": written(tmp_path / "wrong.txt", short.encode()),
            "header of another size": written(tmp_path / "header.vec", b"31 4\n" + good.encode()),
            "header of another dimension": written(tmp_path / "dim.vec", b"30 5\n" + good.encode()),
            "cut short": written(tmp_path / "cut.bin", (793712314).to_bytes(4, "little") + bytes(40)),
            "cut folder": folder,
            "empty": written(tmp_path / "empty.vec", b""),
            "not finite": written(tmp_path / "nan.txt", good.replace(" 7 ", " nan ").encode()),
            "zipped and cut": written(tmp_path / "cut.vec.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc"),
        }

    @pytest.mark.parametrize(
        "kind",
        [
            "wrong dimension",
            "header of another size",
            "header of another dimension",
            "cut short",
            "cut folder",
            "empty",
            "not finite",
            "zipped and cut",
        ],
    )
    def test_they_are_refused(self, kind: str, vectors: dict[str, Path], built_loop: Loop) -> None:
        before = snapshot(built_loop.root)
        result = provider(
            "train-repr",
            "--corpus",
            built_loop.notes("public"),
            "--embeddings",
            vectors[kind],
            "--workspace",
            built_loop.provider,
        )
        refused(result, 4)
        assert snapshot(built_loop.root) == before

    def test_more_neighbours_than_words_are_a_wrong_setting(self, built_loop: Loop) -> None:
        before = snapshot(built_loop.root)
        result = provider(
            "train-repr",
            "--corpus",
            built_loop.notes("public"),
            "--neighbours",
            100_000,
            "--procedure",
            "three-part",
            "--workspace",
            built_loop.provider,
        )
        refused(result, 2, "neighbours")
        assert snapshot(built_loop.root) == before


class TestFullDisk:
    """No file may grow beyond some bytes, as on a disk that fills up."""

    @pytest.mark.parametrize("max_bytes", [0, 500, 5000])
    @pytest.mark.parametrize("suffix", ["parquet", "h5"])
    def test_encode(self, max_bytes: int, suffix: str, loop: Loop, tmp_path: Path) -> None:
        before = snapshot(loop.root)
        with full_disk(max_bytes):
            refused(encode(loop, loop.notes("north"), tmp_path / f"a.{suffix}"), DISK)
        assert snapshot(loop.root) == before
        assert not list(tmp_path.glob("a.*")) + list(tmp_path.glob(".*"))

    def test_encode_when_there_is_no_room_for_the_manifest(
        self, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        number = values(encode(loop, loop.notes("north"), tmp_path / "a.h5", "--json"))["sequence"]
        before = {path.name: path.read_bytes() for path in tmp_path.glob("a.*")}

        def full(*arguments: object, **options: object) -> None:
            raise StorageError("room", received="a full disk")

        monkeypatch.setattr("protocols.share.sealing.write_bytes", full)
        refused(encode(loop, loop.notes("north"), tmp_path / "a.h5"), DISK)
        # The share that was there before stays whole until the new one is, and of that nothing is left.
        assert {path.name: path.read_bytes() for path in tmp_path.glob("a.*")} == before
        assert not list(tmp_path.glob(".*"))
        monkeypatch.undo()
        assert values(encode(loop, loop.notes("north"), tmp_path / "a.h5", "--json"))["sequence"] == number + 2

    def test_submit(self, loop: Loop, tmp_path: Path) -> None:
        done(encode(loop, loop.notes("north"), tmp_path / "a.h5"))
        stick = tmp_path / "stick"
        way = ("--approver", "Dr Ünal", "--to-folder", stick, "--workspace", loop.site("north"))
        for max_bytes in (0, 300, 5000):
            with full_disk(max_bytes):
                result = hospital("submit", tmp_path / "a.h5", *way)
            refused(result, DISK)
            assert not list(tmp_path.glob("stick/*"))
        done(hospital("submit", tmp_path / "a.h5", *way))

    @pytest.mark.parametrize("max_bytes", [0, 3000])
    def test_ingest(self, max_bytes: int, loop: Loop) -> None:
        fresh = share(loop, "north")
        with full_disk(max_bytes):
            result = provider("ingest", fresh, "--workspace", loop.provider)
        refused(result, DISK)
        assert len(values(provider("shares", "list", "--json", "--workspace", loop.provider))["shares"]) == 2
        done(provider("ingest", fresh, "--workspace", loop.provider))

    @pytest.mark.parametrize("mode", ["redact", "tag"])
    def test_deid(self, mode: str, built_loop: Loop, tmp_path: Path) -> None:
        with full_disk(100):
            refused(deid(built_loop, built_loop.notes("north"), tmp_path / "safe", "--mode", mode), 8)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("max_bytes", [0, 1000, 40_000])
    def test_pull(self, max_bytes: int, loop: Loop) -> None:
        before = but_for_what_was_seen(loop.site("north"))
        with full_disk(max_bytes):
            result = hospital("pull", loop.releases, "--workspace", loop.site("north"))
        refused(result, DISK)
        assert but_for_what_was_seen(loop.site("north")) == before
        done(hospital("pull", loop.releases, "--workspace", loop.site("north")))

    @pytest.mark.parametrize("max_bytes", [0, 1000, 40_000])
    def test_the_provider(self, max_bytes: int, loop: Loop) -> None:
        at = ("--workspace", loop.provider)
        before = snapshot(loop.provider)
        commands = [
            ("publish",),
            ("release",),
            ("train-head", "--epochs", 1, "--site", "north", "--no-public", "--influence", "none"),
            ("train-embeddings", loop.notes("public"), "--dim", 6, "--epochs", 1),
            ("train-repr", "--corpus", loop.notes("fourth"), "--cluster-size", 8, "--dim", 8),
        ]
        for command in commands[: 5 if max_bytes == 1000 else 4]:
            with full_disk(max_bytes):
                result = provider(*command, *at)
            refused(result, DISK)
            assert snapshot(loop.provider) == before, command

    def test_init_enrol_and_site_add(self, loop: Loop, tmp_path: Path) -> None:
        with full_disk(0):
            for result in (provider("init", tmp_path / "p"), hospital("init", tmp_path / "s", "--site", "s")):
                refused(result, DISK)
        assert not (tmp_path / "p").exists()
        assert not (tmp_path / "s").exists()
        done(hospital("init", tmp_path / "s", "--site", "s"))
        request = tmp_path / "request.json"
        before = snapshot(tmp_path)
        with full_disk(0):
            refused(hospital("enrol", "--out", request, "--workspace", tmp_path / "s"), DISK)
        assert snapshot(tmp_path) == before
        spoken = values(hospital("enrol", "--out", request, "--workspace", tmp_path / "s", "--json"))["spoken"]
        before = snapshot(loop.provider)
        with full_disk(20):
            for command in (("add", request, "--fingerprint", spoken), ("revoke", "north", "--reason", "key lost")):
                result = provider("site", *command, "--workspace", loop.provider)
                refused(result, DISK)
        assert snapshot(loop.provider) == before
        done(provider("site", "list", "--workspace", loop.provider))


def test_a_program_of_its_own_says_one_line_too(built_loop: Loop, tmp_path: Path) -> None:
    """As people run it: another process, whose libraries might print what they like."""
    (tmp_path / "empty").mkdir()
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "site_client",
            "deid",
            tmp_path / "empty",
            "--out",
            tmp_path / "out",
            "--workspace",
            built_loop.site("fourth"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert run.returncode == 3
    assert run.stdout == ""
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_workspace_whose_empty_folders_were_lost_on_the_way(loop: Loop) -> None:
    shutil.rmtree(loop.provider / "staging", ignore_errors=True)
    share(loop, "north")
    done(provider("ingest", loop.stick, "--workspace", loop.provider))
    begin(loop, "fifth")
    shutil.rmtree(loop.site("fifth") / "releases")
    done(hospital("pull", loop.releases, "--fingerprint", loop.fingerprint, "--workspace", loop.site("fifth")))


def test_a_share_whose_payload_was_lost_is_named(loop: Loop) -> None:
    for payload in (loop.provider / "objects").rglob("??/*"):
        payload.unlink()
    refused(provider("train-head", "--epochs", 1, "--influence", "none", "--workspace", loop.provider), DISK, "object")
