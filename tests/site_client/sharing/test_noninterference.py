"""Labelled PHI and the bytes of a share, through the whole of `encode`: what stays here counts, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from protocols.payload import shuffled_writer
from shared.anonymity.surrogates import SurrogateBank
from shared.document import Document
from shared.models import noise_source
from site_client.exchange.submit import submit_to_folder
from site_client.sharing.encode import Encoded, encode
from site_client.workspace import Workspace
from tests.site_client import sites
from tests.tiny_notes import long_notes, note

PATIENT = sites.SCHEME.category_index["PATIENT"]
BANK = SurrogateBank([(PATIENT, words) for words in (("Anna", "Smith"), ("Rita", "Jones"), ("Lena", "Brown"))])
# Two words each, written alike.
NAMES = [("Ada", "Bell"), ("Eva", "Cole"), ("Ida", "Dunn"), ("Zoe", "Ford"), ("Mia", "Gray"), ("Peg", "Rowe")]
Names = Sequence[tuple[str, str]]


@pytest.fixture(autouse=True)
def same_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the order of the sentences and of what is drawn in the place of PHI."""
    monkeypatch.setattr(shuffled_writer, "secrets", SimpleNamespace(randbits=lambda bits: 7))
    monkeypatch.setattr(noise_source, "secrets", SimpleNamespace(token_bytes=bytes))


@pytest.fixture
def new_site(tmp_path: Path) -> Callable[[str], Workspace]:
    def made(name: str) -> Workspace:
        (tmp_path / name).mkdir()
        return sites.site(tmp_path / name, sites.surrogates(BANK))

    return made


def long(names: Names) -> list[Document]:
    """Notes of which no two have much in common, in each one of these names, labelled."""
    made = []
    for number, (own, (first, last)) in enumerate(zip(long_notes(len(names), 5), names, strict=True)):
        begins, ends = own.text[: own.annotations[0].start], own.text[own.annotations[0].end :]
        made.append(note(f"long {number}", begins, (f"{first} {last}", "PATIENT"), ends))
    return made


def short(names: Names, more: str = "") -> list[Document]:
    """Notes of one template, and in the last one a sentence more."""
    return [
        note(
            f"short {number}",
            "Patient ",
            (" ".join(name), "PATIENT"),
            " was seen today .\n",
            more if number == len(names) - 1 else "",
        )
        for number, name in enumerate(names)
    ]


def shared(site: Workspace, notes: Sequence[Document], *, name: str = "share.parquet") -> tuple[Encoded, bytes]:
    out = site.root.parent / name
    return encode(site, notes, out), out.read_bytes()


def test_other_labelled_phi_changes_no_byte_of_a_first_share(new_site: Callable[[str], Workspace]) -> None:
    """Nor does it whether two patients have one name, as long as no note has most of its words from another."""
    tried = {
        "each their own": NAMES,
        "others": NAMES[::-1],
        "all the same": NAMES[:1] * len(NAMES),
    }
    found = {name: shared(new_site(name), long(names)) for name, names in tried.items()}
    assert {one.sifted.copies for one, _ in found.values()} == {0}
    assert len({written for _, written in found.values()}) == 1
    templated = [shared(new_site(f"{name} short"), short(names)) for name, names in [*tried.items()][:2]]
    assert len({written for _, written in templated}) == 1


def test_a_copy_that_stays_here_tells_that_labelled_phi_came_again(new_site: Callable[[str], Workspace]) -> None:
    """As privacy.md states it: of two notes of one template the second stays here where the name is the same, too."""
    (_, whole), (again, fewer) = (
        shared(new_site(name), short(names)) for name, names in (("others", NAMES), ("again", [*NAMES[:-1], NAMES[0]]))
    )
    assert again.sifted.copies == 1
    assert again.manifest.sentences == 5
    assert whole != fewer


def test_other_labelled_phi_changes_no_byte_of_a_later_share_of_sentences_that_never_left(
    new_site: Callable[[str], Workspace],
) -> None:
    bytes_of_later = set()
    for name, names in (("some", NAMES), ("others", NAMES[::-1])):
        site = new_site(name)
        shared(site, long_notes(6, 9), name="first.parquet")
        submit_to_folder(site, site.root.parent / "first.parquet", site.root.parent / "stick", "Dr X")
        bytes_of_later.add(shared(site, [*long(names), *short(names, "Mild fever .\n")])[1])
    assert len(bytes_of_later) == 1


def test_of_a_later_share_a_whole_note_stays_here_for_the_name_in_another_sentence(
    new_site: Callable[[str], Workspace],
) -> None:
    """As privacy.md states it: where most of a note has left, with its name, its new sentences stay as well."""
    found = []
    for name, last in (("again", NAMES[0]), ("another", ("Ann", "Page"))):
        site = new_site(name)
        shared(site, short(NAMES), name="first.parquet")
        submit_to_folder(site, site.root.parent / "first.parquet", site.root.parent / "stick", "Dr X")
        one, _ = shared(site, [*long_notes(6, 9), *short([last], "Mild fever .\n")])
        found.append((one.sifted.left_out, one.manifest.sentences))
    (again, fewer), (another, whole) = found
    assert (again, another, whole - fewer) == (1, 0, 2)
