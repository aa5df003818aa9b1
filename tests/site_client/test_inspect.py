from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import ProtocolError
from shared.labels import load_scheme
from site_client import inspect as module
from site_client.errors import SiteError
from site_client.inspect import _search, inspect, inspection_lines
from site_client.workspace import open_workspace
from tests.loop import Loop
from tests.tiny_notes import note, tiny_notes

NOTE = note("n", "Dr Quillfeather and Ñandúquén saw 4471009300; a sequence, a representation que presenta, the cough.")


def payload(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("word", ["Quillfeather", "Ñandúquén", "4471009300", "sequence"])
@pytest.mark.parametrize("place", [0, 1, 13, 1 << 22, (1 << 22) - 5, (1 << 22) + 3])
def test_a_word_is_found_wherever_it_lies(word: str, place: int, tmp_path: Path) -> None:
    content = bytes(place) + word.encode() + bytes(20)
    with pytest.raises(SiteError, match="found 1;") as caught:
        _search(payload(tmp_path / "a.h5", content), [NOTE])
    assert word not in str(caught.value)


def test_a_word_at_the_very_end_is_found(tmp_path: Path) -> None:
    with pytest.raises(SiteError):
        _search(payload(tmp_path / "a.h5", b"xyz" + b"sequence"), [NOTE])


@pytest.mark.parametrize(
    "content", [b"", b"1234567", b"Quillfeathe", bytes(100), b"quillfeather", b"representation and dr the cough"]
)
def test_what_is_no_word_of_the_notes_is_none(content: bytes, tmp_path: Path) -> None:
    # Words below 8 bytes are left out, for they stand in random bytes by chance; "representation" names a column.
    assert _search(payload(tmp_path / "a.h5", content), [NOTE]) == 4


def test_notes_without_long_words_are_searched_too(tmp_path: Path) -> None:
    assert _search(payload(tmp_path / "a.h5", bytes(100)), [note("n", "a cough")]) == 0


@given(st.binary(min_size=0, max_size=400), st.integers(9, 60))
def test_it_agrees_with_a_plain_search(tmp_path_factory: pytest.TempPathFactory, content: bytes, piece: int) -> None:
    content = content.replace(b"\x00", b"Oxenthorpe").replace(b"\x01", b"Oxenthorp")
    path = payload(tmp_path_factory.mktemp("share") / "a", content)
    documents = [note("n", "Oxenthorpe Oxenthorpes Umbersledge")]
    expected = sum(word in content for word in (b"Oxenthorpe", b"Oxenthorpes", b"Umbersledge"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE_BYTES", piece)
        if expected:
            with pytest.raises(SiteError, match=f"found {expected};"):
                _search(path, documents)
        else:
            assert _search(path, documents) == 3


def test_a_share_is_said_in_words_and_numbers(built_loop: Loop) -> None:
    opened = open_workspace(built_loop.site("north"))
    found = inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), tiny_notes(24, 1, "north"))
    assert found.manifest.site == "north"
    assert sum(found.categories.values()) == sum(found.manifest.tag_counts[1:])
    assert found.manifest.protection["surrogates"] == 1
    assert found.manifest.protection["cluster_size"] >= 8
    text = "\n".join(inspection_lines(found))
    for column, _, size in found.columns:
        assert column in text
        assert f"{size} bytes" in text
    assert "none occurs" in text


def test_the_share_of_another_site_is_not_inspected(built_loop: Loop) -> None:
    opened = open_workspace(built_loop.site("south"))
    with pytest.raises(ProtocolError):
        inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), None)
