"""`deid --part`: the parts make what one run writes, byte for byte; what is missing, comes twice or has changed is refused."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

from shared.corpus import read_corpus, rewrite_corpus
from shared.corpus.parts import Part
from shared.errors import ConfigurationError
from site_client.deid.parts.merging import merge_parts
from site_client.deid.parts.receipt import NAME, PartReceipt, digest_files
from site_client.own_head.in_use import InUse
from tests.loop import Loop, done, hospital, refused, snapshot

TEXTS = [f'Dr Chen saw {name}\n\n"quoted; \u00fc"' for name in "ABCDEFGHIJK"]


def as_csv(folder: Path) -> str:
    for name, texts in (("a.csv", TEXTS[:4]), ("b.csv.gz", TEXTS[4:])):
        import gzip

        opened = gzip.open if name.endswith(".gz") else open
        with opened(folder / name, "wt", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter=";")
            writer.writerow(["ward", "text"])
            writer.writerows([str(number), text] for number, text in enumerate(texts))
    return "csv"


def as_parquet(folder: Path) -> str:
    pq.write_table(pa.table({"id": list("ABCDEFGHIJK"), "text": TEXTS, "beds": range(11)}), folder / "all.parquet")
    return "parquet"


def as_fhir(folder: Path) -> str:
    import base64

    lines = [
        {
            "resourceType": "DocumentReference",
            "id": f"n{number}",
            "content": [
                {"attachment": {"contentType": "text/plain", "data": base64.b64encode(text.encode()).decode()}}
            ],
        }
        for number, text in enumerate(TEXTS)
    ]
    (folder / "all.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "fhir"


def write_part(corpus: Path, out: Path, part: Part, format: str) -> PartReceipt:
    """As `deid` writes a part, of a pipeline that finds nothing."""
    read = read_corpus(corpus, part=part)
    assert read.format == format
    written = rewrite_corpus(read, read.reader, out)
    files, digest = digest_files(out)
    receipt = PartReceipt(
        part.number, part.of, {}, read.seen, written, read.set_aside, {}, format, "text", files, digest
    )
    receipt.write(out)
    return receipt


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_fhir])
@pytest.mark.parametrize("count", [1, 3, 13])
def test_the_parts_of_tables_make_the_bytes_of_one_run(
    write: Callable[[Path], str], count: int, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    format = write(tmp_path / "notes")
    whole = read_corpus(tmp_path / "notes")
    rewrite_corpus(whole, whole.reader, tmp_path / "whole")
    folders = [tmp_path / f"part-{number}" for number in range(1, count + 1)]
    for number, folder in enumerate(folders, start=1):
        write_part(tmp_path / "notes", folder, Part(number, count), format)
    merged = merge_parts(folders[::-1], tmp_path / "merged")
    assert (merged.parts, merged.documents, merged.set_aside) == (count, len(TEXTS), 0)
    assert bytes_of(tmp_path / "merged") == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize(
    "rows", ["A,one\nB2,two\nD,three\nC,four\n", "b c,one\nB,two\nD,three\nC d,four\n"], ids=["digits", "blanks"]
)
def test_the_ids_of_a_part_need_not_be_like_its_first_one(rows: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "t.csv").write_text("id,text\n" + rows)
    parts = [tmp_path / str(number) for number in (1, 2)]
    for number, folder in enumerate(parts, start=1):
        write_part(tmp_path / "notes", folder, Part(number, 2), "csv")
    assert merge_parts(parts, tmp_path / "whole").documents == 4
    corpus = read_corpus(tmp_path / "notes")
    rewrite_corpus(corpus, corpus.reader, tmp_path / "once")
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "once")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@given(some.integers(1, 9), some.lists(some.sampled_from(["good", "bad"]), min_size=1, max_size=20))
def test_every_note_is_in_one_part_whatever_is_set_aside(count: int, notes: list[str]) -> None:
    receipts = []
    for number in range(1, count + 1):
        part = Part(number, count)
        aside = [note for note, kind in enumerate(notes) if kind == "bad" and part.holds(note)]
        receipts.append(PartReceipt(number, count, {}, len(notes), 0, aside, {}, "", "text", 0, ""))
    listed = sorted(note for receipt in receipts for note in receipt.notes())
    assert listed == [note for note, kind in enumerate(notes) if kind == "good"]


def test_a_note_that_is_set_aside_leaves_its_place_in_the_whole(tmp_path: Path) -> None:
    lines = [
        json.dumps({"resourceType": "DiagnosticReport", "id": str(one), "conclusion": f"text {one}"})
        for one in range(7)
    ]
    lines[3] = '{"resourceType": "DiagnosticReport", "id": "no text"}'
    # The same id a second time, in another part than the first.
    lines[5] = lines[0]
    (tmp_path / "all.ndjson").write_text("\n".join(lines))

    def read(name: str, part: Part | None) -> tuple[int, list[int]]:
        corpus = read_corpus(tmp_path / "all.ndjson", quarantine=tmp_path / f"aside-{name}", part=part)
        written = rewrite_corpus(corpus, corpus.reader, tmp_path / name)
        if part is not None:
            files, digest = digest_files(tmp_path / name)
            told = (corpus.seen, written, corpus.set_aside)
            PartReceipt(part.number, part.of, {}, *told, {}, "fhir", "text", files, digest).write(tmp_path / name)
        return corpus.seen, corpus.set_aside

    assert read("whole", None) == (7, [3, 5])
    assert [read(str(number), Part(number, 3)) for number in (1, 2, 3)] == [(7, [3]), (7, []), (7, [5])]
    merged = merge_parts([tmp_path / str(number) for number in (1, 2, 3)], tmp_path / "merged")
    assert (merged.documents, merged.set_aside) == (5, 2)
    assert bytes_of(tmp_path / "merged") == bytes_of(tmp_path / "whole")


def test_a_part_of_a_folder_reads_no_file_of_another_part(tmp_path: Path) -> None:
    # Names of one note that do not lie side by side, and folders.
    for stem in ("a", "a-1", "a.b", "c", "d"):
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / f"{stem}.txt").write_text(f"text {stem}")
        (tmp_path / "x" / f"{stem}.ann").write_text("")
    parts = [[one.text for one in read_corpus(tmp_path, part=Part(number, 2))] for number in (1, 2)]
    assert sorted(text for part in parts for text in part) == [f"text {stem}" for stem in ("a", "a-1", "a.b", "c", "d")]
    assert sorted(map(len, parts)) == [2, 3]
    first = next(iter(read_corpus(tmp_path, part=Part(1, 2)))).text.removeprefix("text ")
    other = next(stem for stem in ("a", "a-1", "a.b", "c", "d") if f"text {stem}" in parts[1])
    assert first != other
    (tmp_path / "x" / f"{other}.txt").write_bytes(b"\xff")
    assert [one.text for one in read_corpus(tmp_path, part=Part(1, 2))] == parts[0]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "-1/3", "1/3/5", "a/b", "1/200000", " 1/3"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a part"):
        Part.parse(text)


def test_parts_of_deid_are_the_notes_of_one_run(loop: Loop) -> None:
    at, root = ("--workspace", loop.site("fourth")), loop.root
    done(hospital("deid", loop.notes("north"), "--out", root / "whole", *at))
    parts = [root / "part-1", root / "part-2"]
    for number, folder in enumerate(parts, start=1):
        said = done(hospital("deid", loop.notes("north"), "--out", folder, "--part", f"{number}/2", *at)).stdout
        assert f"part {number}/2 of 24 notes" in said
    done(hospital("deid-merge", *parts, "--out", root / "merged"))
    assert bytes_of(root / "merged") == bytes_of(root / "whole")
    assert len(bytes_of(root / "merged")) == 24
    assert "north" not in (parts[0] / NAME).read_text()
    before = snapshot(root / "merged")

    refused(hospital("deid-merge", *parts, "--out", root / "merged"), 2, "expected a new folder")
    refused(hospital("deid-merge", parts[0], "--out", root / "no"), 2, "expected all 2 parts, got none of 2;")
    refused(hospital("deid-merge", *parts, parts[0], "--out", root / "no"), 2, "got one a second time")
    refused(hospital("deid-merge", root / "whole", "--out", root / "no"), 2, "has written to its end")
    done(hospital("deid", loop.notes("north"), "--out", root / "block", "--part", "2/2", "--mode", "block", *at))
    refused(hospital("deid-merge", parts[0], root / "block", "--out", root / "no"), 2, "with other mode;")
    (loop.notes("north") / "north-000.txt").rename(loop.notes("north") / "north-999.txt")
    (loop.notes("north") / "north-000.ann").rename(loop.notes("north") / "north-999.ann")
    done(hospital("deid", loop.notes("north"), "--out", root / "later", "--part", "2/2", *at))
    refused(hospital("deid-merge", parts[0], root / "later", "--out", root / "no"), 2, "with other files;")
    next(parts[1].glob("*.txt")).unlink()
    refused(hospital("deid-merge", *parts, "--out", root / "no"), 8, "received other files, or fewer;")
    shutil.rmtree(parts[1])
    assert not (root / "no").exists()
    assert snapshot(root / "merged") == before


@pytest.mark.parametrize("named", ["id", "note_id"])
def test_parts_of_a_table_that_was_exported_anew_between_them_are_refused(named: str, loop: Loop) -> None:
    """At the same size: in another order, rows would be lost and others written twice; also where no column is taken for the id."""
    folder = loop.root / "table"
    folder.mkdir()
    rows = [f"{number},Seen today {number}\n" for number in range(4)]
    for number, shown in ((1, rows), (2, [rows[1], rows[0], *rows[2:]])):
        (folder / "notes.csv").write_text(f"{named},text\n" + "".join(shown))
        out = loop.root / f"part-{number}"
        done(hospital("deid", folder, "--out", out, "--part", f"{number}/2", "--workspace", loop.site("fourth")))
    parts = (loop.root / "part-1", loop.root / "part-2")
    refused(hospital("deid-merge", *parts, "--out", loop.root / "whole"), 2, "order of notes")
    assert not (loop.root / "whole").exists()


def test_a_note_in_two_parts_is_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "same.txt").write_text(str(number))
        PartReceipt(number, 2, {}, 2, 1, [], {}, "", "text", *digest_files(folder)).write(folder)
    with pytest.raises(ConfigurationError, match="expected each note in one part, got it in two"):
        merge_parts([tmp_path / "1", tmp_path / "2"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize("mode", ["--mode hash", "--mode surrogate --link-key"])
def test_parts_under_two_secrets_are_no_parts_of_one_run(mode: str, loop: Loop) -> None:
    at, root = ("--workspace", loop.site("fourth")), loop.root
    parts = [root / "part-1", root / "part-2", root / "part-2-again"]
    secret = loop.site("fourth") / "keys" / "surrogates.key"
    for number, folder in zip((1, 2, 2), parts, strict=True):
        done(hospital("deid", loop.notes("north"), "--out", folder, "--part", f"{number}/2", *mode.split(), *at))
        if number == 1:
            first = secret.read_bytes()
            secret.write_bytes(bytes(32))
        else:
            secret.write_bytes(first)
    assert all(first.hex() not in (folder / NAME).read_text() for folder in parts)
    said = hospital("deid-merge", *parts[:2], "--out", root / "no")
    refused(said, 2, "with other keys/surrogates.key;")
    assert not (root / "no").exists()
    done(hospital("deid-merge", parts[0], parts[2], "--out", root / "merged"))


def test_no_secret_is_made_for_a_part_that_needs_none(loop: Loop) -> None:
    for mode in ("redact", "surrogate"):
        given = ("--out", loop.root / mode, "--part", "1/2", "--mode", mode)
        done(hospital("deid", loop.notes("north"), *given, "--workspace", loop.site("fourth")))
    assert not (loop.site("fourth") / "keys" / "surrogates.key").exists()


def test_parts_with_two_lists_of_places_are_no_parts_of_one_run(loop: Loop) -> None:
    at, root = ("--workspace", loop.site("fourth")), loop.root
    (root / "ours.toml").write_text('[places]\nfile = "ours.csv"\n')
    for number, town in ((1, "Alba"), (2, "Gamma")):
        (root / "ours.csv").write_text(f"name,latitude,longitude\n{town},40,1\nBeta,41,2\n")
        given = ("--mode", "surrogate", "--config", root / "ours.toml", "--part", f"{number}/2")
        done(hospital("deid", loop.notes("north"), "--out", root / f"part-{number}", *given, *at))
    said = hospital("deid-merge", root / "part-1", root / "part-2", "--out", root / "no")
    refused(said, 2, "with other [places] file;")


def test_parts_by_two_heads_are_no_parts_of_one_run(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    at, root = ("--workspace", loop.site("fourth")), loop.root
    done(hospital("deid", loop.notes("north"), "--out", root / "part-1", "--part", "1/2", *at))
    monkeypatch.setattr(InUse, "key", property(lambda used: "ab" * 32))
    done(hospital("deid", loop.notes("north"), "--out", root / "part-2", "--part", "2/2", *at))
    said = hospital("deid-merge", root / "part-1", root / "part-2", "--out", root / "no")
    refused(said, 2, "with other head in use;")


def test_parts_by_two_versions_are_no_parts_of_one_run(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    at, root = ("--workspace", loop.site("fourth")), loop.root
    done(hospital("deid", loop.notes("north"), "--out", root / "part-1", "--part", "1/2", *at))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0")
    done(hospital("deid", loop.notes("north"), "--out", root / "part-2", "--part", "2/2", *at))
    said = hospital("deid-merge", root / "part-1", root / "part-2", "--out", root / "no")
    refused(said, 2, "with other version of the program;")


@pytest.mark.parametrize("linked", [(), ("--link-key",)])
def test_a_patient_does_not_spend_the_budget_once_in_every_part(linked: tuple[str, ...], loop: Loop) -> None:
    patients, out = loop.root / "patients.csv", loop.root / "out"
    patients.write_text("note,patient\nnorth-000,1\nnorth-001,1\n")
    given = ("--out", out, "--mode", "surrogate", "--patients", patients, *linked, "--part", "1/2")
    said = hospital("deid", loop.notes("north"), *given, "--workspace", loop.site("fourth"))
    refused(said, 2, "--part: expected no --patients beside it, got both;", "in one run, without --part")
    assert not out.exists()
