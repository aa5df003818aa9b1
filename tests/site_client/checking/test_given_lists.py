"""Lists of names that a hospital gives once: how files are read, what is kept, who looks in them, and that no name of them gets out."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import DeidError
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG, load_scheme
from shared.patterns.given_names import KINDS, GivenNames
from site_client.checking import given_lists
from site_client.checking.checker import make_checker
from site_client.checking.given_lists import change_lists, given_names
from site_client.checking.name_files import read_name_file
from site_client.errors import WorkspaceError
from site_client.federated.as_shared import read_as_shared
from site_client.policy.enforcing import judge_release
from site_client.review.prelabel import Finder
from site_client.workspace import Workspace, create, open_workspace
from tests.loop import Loop, done, hospital, refused, values
from tests.tiny_notes import note, tiny_notes, write_notes

PEOPLE = ("Zorvathia", "Quernbiter")
OWN = note(
    "own",
    "Seen with Zorvathia Quernbiter.\nLives in Lower Thrupp Vale, at Umberslade 7.\nSister of ",
    ("Anna", "PATIENT"),
    ".\n",
)


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return create(tmp_path / "site", "st-anne")


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("file", "text", "names", "column"),
    [
        ("a.txt", "Ana\n\n  María  José \nAna\n", ("Ana", "María José"), None),
        ("a.txt", "Coruña, A\nRozas de Madrid, Las\n", ("Coruña, A", "Rozas de Madrid, Las"), None),
        ("a.txt", "\ufeffNombre\r\nAna\r\nLuz", ("Ana", "Luz"), None),
        ("a.list", "Ana", ("Ana",), None),
        # As statistical offices publish them.
        ("a.csv", "apellido,frec_pri,frec_seg\nGARCIA,1,2\nSANZ,3,4\n", ("GARCIA", "SANZ"), "apellido"),
        ("a.csv", "Orden;Apellido;Total\n1;GARCIA;14\n2;SANZ;4\n", ("GARCIA", "SANZ"), "Apellido"),
        (
            "a.csv",
            "sexe;preusuel;annais;nombre\n1;_PRENOMS_RARES;1900;7\n2;ZOÉ;1900;4\n2;ZOÉ;1901;4\n",
            ("ZOÉ",),
            "preusuel",
        ),
        ("a.csv", '"name","rank","count"\n"SMITH","1","2"\n', ("SMITH",), "name"),
        ("a.CSV", "Apellido1,Apellido2,Nombre\nSanz,Rey,Ana\n", ("Sanz", "Rey", "Ana"), "Apellido1, Apellido2, Nombre"),
        # Without a header, and one of which nobody knows the words.
        ("a.csv", "Ana,3\nLuz,4\n", ("Ana", "Luz"), "1"),
        ("a.txt", "301\tKraków\tPL\n302\tŁódź\tPL\n", ("Kraków", "Łódź"), "2"),
        ("a.csv", "lopnr,antal,benämning\n1,3,Ahl\n2,4,Berg\n", ("Ahl", "Berg"), "benämning"),
        ("a.tsv", 'O"Hara\t1\nAna\t2\n', ('O"Hara', "Ana"), "1"),
        ("a.csv", "Ana\nLuz\n", ("Ana", "Luz"), "1"),
    ],
)
def test_files_are_read_as_people_have_them(
    tmp_path: Path, file: str, text: str, names: tuple[str, ...], column: str | None
) -> None:
    read = read_name_file(written(tmp_path / file, text), "people")
    assert (read.names, read.column) == (names, column)
    assert "Ana" not in repr(read)


def test_a_column_is_named_and_an_encoding_too(tmp_path: Path) -> None:
    table = written(tmp_path / "a.csv", "ID;Ort;Straße_Lang\n1;Köln;Große Gasse\n".encode("windows-1252"))
    assert read_name_file(table, "streets", "windows-1252", "straße lang").names == ("Große Gasse",)
    assert read_name_file(table, "places", "windows-1252").names == ("Köln",)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("a.txt", b"", "a name with a letter"),
        ("a.txt", b"\n \n12\n--\n", "a name with a letter"),
        ("a.csv", b"nombre,frec\n", "a name with a letter"),
        ("a.csv", b"nombre\n", "a name with a letter"),
        ("a.csv", b"a,b\n1,2\n3,4\n", "a name with a letter"),
        ("a.txt", b"Zorvathia\0", "without NUL bytes"),
        ("a.txt", "Zorvathia\n".encode("utf-16"), "UTF-16"),
        ("a.txt", "Zorvathia Peña\n".encode("latin-1"), "--encoding windows-1252"),
        ("a.txt", b"Ana\nZorv\x07athia\n", "a control character in line 2"),
        ("a.txt", b"Ana\n" + b"Zorvathia " * 10**6, "10000000 (line 2)"),
        ("a.txt", b"Ana\n" + b"Zorvathia " * 30, "at most 200 characters"),
        ("a.txt", b"Zorvathia\n" * 10**6, "fewer than 1000000 lines"),
        ("a.csv", b'Ana,"Zorvathia\nLuz,4\n', "whose cells do not end"),
    ],
    ids=range(13),
)
def test_a_broken_file_is_refused_in_one_line_and_nothing_changes(
    site: Workspace, tmp_path: Path, file: str, content: bytes, said: str
) -> None:
    change_lists(site, {"people": PEOPLE})
    before = (site.root / "lists.json").read_bytes()
    sound, path = written(tmp_path / "sound.txt", "Lower Thrupp\n"), written(tmp_path / file, content)
    line = refused(hospital("lists", "--places", sound, "--people", path, "--workspace", site.root), 2, file, said)
    assert "Zorv" not in line
    assert (site.root / "lists.json").read_bytes() == before


def test_what_is_no_file_or_contradicts_is_refused(site: Workspace, tmp_path: Path) -> None:
    sound, at = written(tmp_path / "sound.txt", "Lower Thrupp\n"), ("--workspace", site.root)
    refused(hospital("lists", "--people", tmp_path / "none", *at), 2, "does not exist")
    refused(hospital("lists", "--people", "/dev/zero", *at), 8, "a regular file")
    refused(hospital("lists", "--people", sound, "--remove", "people", *at), 2, "--remove")
    refused(hospital("lists", "--column", "name", *at), 2, "--column")
    refused(hospital("lists", "--people", sound, "--column", "name", *at), 2, "without columns")
    refused(hospital("lists", "--people", sound, "--workspace", tmp_path), 30, "site-client init")
    assert not (site.root / "lists.json").exists()


def test_a_list_has_so_many_names_at_the_most(site: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_lists, "MOST_NAMES", 2)
    change_lists(site, {"people": ("Ana", "Luz", "Ana")})
    with pytest.raises(ConfigurationError, match="at most 2 names, got 3"):
        change_lists(site, {"people": ("Ana", "Luz", "Eva")})
    assert given_names(site).people == ("Ana", "Luz")


def test_lists_are_given_shown_replaced_and_taken_out(site: Workspace, tmp_path: Path) -> None:
    at = ("--workspace", site.root)
    assert values(hospital("lists", *at, "--json")) == {"lists": dict.fromkeys(KINDS, 0), "files": []}
    first, last = (
        written(tmp_path / "first.txt", "Ana\nLuz\n"),
        written(tmp_path / "last.csv", "surname,n\nSanz,3\nLuz,1\n"),
    )
    said = values(hospital("lists", "--people", first, "--people", last, *at, "--json"))
    assert said["lists"] == {"people": 3, "places": 0, "streets": 0}
    assert [(one["names"], one["column"]) for one in said["files"]] == [(2, None), (2, "surname")]
    assert stat.S_IMODE((site.root / "lists.json").stat().st_mode) == 0o600
    done(hospital("lists", "--streets", first, *at))
    assert values(hospital("lists", *at, "--json"))["lists"] == {"people": 3, "places": 0, "streets": 2}
    assert "people: in the place of 3 names" in done(hospital("lists", "--people", last, *at)).stdout
    done(hospital("lists", "--remove", "streets", *at))
    assert given_names(site) == GivenNames(("Sanz", "Luz"))
    # A workspace is copied, by a program that lets others read it: the next change closes the file again.
    (site.root / "lists.json").chmod(0o644)
    done(hospital("lists", "--remove", "people", *at))
    assert stat.S_IMODE((site.root / "lists.json").stat().st_mode) == 0o600
    assert not given_names(site)
    assert "no lists were given" in done(hospital("lists", *at)).stdout


def _give(site: Workspace, name: str, kind: str) -> None:
    change_lists(site, {kind: (name,)})


def test_two_commands_that_give_lists_at_once_both_count(site: Workspace) -> None:
    with ThreadPoolExecutor(3) as pool:
        for name in ("Ana", "Luz", "Eva", "Zoe"):
            list(pool.map(partial(_give, site, name), KINDS))
            assert given_names(site) == GivenNames((name,), (name,), (name,))


@given(
    st.text(max_size=60)
    | st.sampled_from(
        [
            '{"format": 1}',
            '{"format": 2, "people": [], "places": [], "streets": []}',
            '{"format": 1, "people": [1], "places": [], "streets": []}',
            "[]",
            "null",
            '{"format": 1, "people": "ab", "places": [], "streets": []}',
        ]
    )
)
def test_a_damaged_file_of_lists_ends_the_search(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Notes are not encoded as if nothing had been given."""
    workspace = Workspace(tmp_path_factory.mktemp("site"), "st-anne", 0, ())
    written(workspace.root / "lists.json", text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DeidError) as raised:
        make_checker(workspace, load_scheme("i2b2_2014"))
    assert raised.value.exit_code in (8, 30)
    assert raised.value.__cause__ is None or not isinstance(raised.value, WorkspaceError)


@pytest.fixture
def listing(loop: Loop, tmp_path: Path) -> tuple[str, ...]:
    """How to give the names of OWN to the hospital north."""
    people = written(tmp_path / "people.csv", "name;count\n" + "".join(f"{name};4\n" for name in PEOPLE))
    towns = written(tmp_path / "towns.txt", "Lower Thrupp Vale\n")
    streets = written(tmp_path / "streets.txt", "Umberslade Row\n")
    files = ("--people", people, "--places", towns, "--streets", streets)
    return tuple(map(str, ("lists", *files, "--workspace", loop.site("north"))))


NAMES = ("Zorvathia", "Quernbiter", "Thrupp", "Umberslade")


def test_check_and_encode_look_in_the_lists_from_then_on(loop: Loop, listing: tuple[str, ...], tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", [*tiny_notes(5, 7), OWN])
    out, at = tmp_path / "a.parquet", ("--workspace", loop.site("north"))
    plain = values(hospital("check", folder, *at, "--json"))
    assert not any(plain["lists"].values())
    assert (
        values(hospital("encode", folder, "--out", out, *at, "--json"))["probable_phi_hidden"]
        == plain["hidden_by_encode"]
    )
    assert "own lists" not in done(hospital("inspect", out, *at)).stdout

    done(hospital(*listing))
    beside = values(hospital("check", folder, *at, "--json"))
    assert beside["lists"] == {"people": 2, "places": 1, "streets": 1}
    added = [one for one in beside["suspicions"] if one["certainty"] >= 0.5 and one not in plain["suspicions"]]
    assert sorted(one["category"] for one in added) == ["CITY", "PATIENT", "STREET"]
    encoded = values(hospital("encode", folder, "--out", out, *at, "--json"))
    assert encoded["probable_phi_hidden"] == beside["hidden_by_encode"] == plain["hidden_by_encode"] + 3
    assert "patterns, the hospital's own lists and lists of names looked" in done(hospital("inspect", out, *at)).stdout
    assert values(hospital("encode", folder, "--out", out, "--no-check", *at, "--json"))["probable_phi_hidden"] == 0

    done(hospital("lists", "--remove", "people", "--remove", "streets", *at))
    assert values(hospital("check", folder, *at, "--json"))["hidden_by_encode"] == plain["hidden_by_encode"] + 1


def test_attack_names_on_lists_stand_in_nothing_but_their_file(
    loop: Loop, listing: tuple[str, ...], tmp_path: Path
) -> None:
    """No command prints them, no share, report or ledger holds them, nor one of the digests by which they could be tried out."""
    folder, at = write_notes(tmp_path / "notes", [*tiny_notes(5, 7), OWN]), ("--workspace", loop.site("north"))
    out = tmp_path / "out" / "a.parquet"
    out.parent.mkdir()
    held = sorted(loop.site("north").rglob("*"))
    said = [done(hospital(*listing, *more)).output for more in ((), ("--json",))]
    assert [path.name for path in sorted(loop.site("north").rglob("*")) if path not in held] == ["lists.json"]
    for command in (
        ("lists",),
        ("check", folder),
        ("check", folder, "--json"),
        ("encode", folder, "--out", out),
        ("inspect", out),
        ("ledger", "show"),
        ("ledger", "verify"),
    ):
        said.append(done(hospital(*command, *at)).output)
    shared = [path for path in (*out.parent.rglob("*"), *loop.site("north").rglob("*")) if path.is_file()]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in shared if path.name != "lists.json"]
    assert not [name for name in NAMES for text in (*said, *texts) if name.lower() in text.lower()]
    # Other lists of as many names leave the same manifest, but for what is drawn anew.
    manifest = json.loads((out.parent / "a.parquet.manifest.json").read_text())
    assert "list" not in json.dumps(manifest)


def unknown(workspace: Workspace) -> int:
    """Tokens of OWN of which a training is told that nobody knows what they are."""
    release = workspace.release()
    construction, judgement = load_construction(release.folder), judge_release(workspace, release.digest)
    notes = read_as_shared(workspace, judgement, construction, [*tiny_notes(3, 7), OWN])
    return sum(int((one.tags == UNKNOWN_TAG).sum()) for one in notes.notes)


def test_trainings_over_a_connection_look_in_the_lists_too(loop: Loop, listing: tuple[str, ...]) -> None:
    workspace = open_workspace(loop.site("north"))
    assert not unknown(workspace)
    done(hospital(*listing))
    # Towns and streets get the lengths of public ones.
    assert unknown(workspace) >= len(["Zorvathia", "Quernbiter", "town", "street"])


def test_a_review_shows_what_lists_find(
    loop: Loop, listing: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(hospital(*listing))
    shown: set[str] = set()

    def run(project: object, load: Callable[[], Finder], port: int, announce: object) -> None:
        for one in load().find(Document("own", OWN.text)):
            if one.certainty is not None and one.certainty >= 0.5:
                shown.add(OWN.text[one.start : one.end])

    monkeypatch.setattr("site_client.review.running.run", run)
    folder = write_notes(tmp_path / "notes", [OWN])
    result = hospital("review", folder, "--project", tmp_path / "project", "--workspace", loop.site("north"))
    assert result.exit_code == 0
    assert shown >= {"Zorvathia Quernbiter", "Lower Thrupp Vale", "Umberslade 7"}


def test_how_files_are_written_is_asked_for_with_files_alone(site: Workspace) -> None:
    refused(hospital("lists", "--encoding", "windows-1252", "--workspace", site.root), 2, "--encoding")
