"""The search for text of the notes in a file, against a plain one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.payload.opening import create_payload
from protocols.payload.sentence_block import SentenceBlock
from site_client.errors import SiteError
from site_client.sharing import search as module
from site_client.sharing.search import search
from tests.tiny_notes import note

NOTE = note(
    "ward-7-0001",
    "Dr Quillfeather and Ñandúquén saw 447-1009-300; a sequence, a representation que presenta, the cough.",
)


def payload(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Quillfeather",
        "Quillfea",
        "quillfeather",
        "Ñandúquén",
        "ñandúquén",
        "447-1009-300",
        "sequence",
        "Dr Quill",
        "saw 447-",
        "ward-7-0001",
        "cough.",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 13, (1 << 22) - 5, 1 << 22, (1 << 22) + 3])
def test_text_of_a_note_is_found_wherever_it_lies(text: str, place: int, tmp_path: Path) -> None:
    content = bytes(place) + text.encode() + bytes(20)
    if len(text.encode()) < module.STRETCH_BYTES:
        assert search(payload(tmp_path / "a.h5", content), [NOTE]).control
        return
    with pytest.raises(SiteError, match="no text of the notes") as caught:
        search(payload(tmp_path / "a.h5", content), [NOTE])
    assert text not in str(caught.value)


def test_text_at_the_very_end_is_found(tmp_path: Path) -> None:
    with pytest.raises(SiteError):
        search(payload(tmp_path / "a.h5", b"xyz" + b"sequence"), [NOTE])


def test_text_of_the_last_of_many_notes_is_found(tmp_path: Path) -> None:
    many = [note(f"n{number}", f"nothing here {number}") for number in range(700)]
    with pytest.raises(SiteError):
        search(payload(tmp_path / "a.h5", b"Quillfeather"), [*many, NOTE])


@pytest.mark.parametrize(
    "content",
    [b"", b"1234567", b"Quillfe", bytes(100), b"QUILLFEATHER", b"uillfeather", b"representation", b"deid-commons"],
)
def test_what_is_no_text_of_the_notes_is_none(content: bytes, tmp_path: Path) -> None:
    found = search(payload(tmp_path / "a.h5", content), [NOTE])
    assert found.notes == 1
    assert found.file_bytes == len(content)
    assert found.control == (True if content else None)


def test_stretches_that_a_column_of_labels_may_hold_are_left_out(tmp_path: Path) -> None:
    dull = [note(f"{number}", text) for number, text in enumerate(("-------- 00000000", "........ ....", "10101010 1"))]
    assert search(payload(tmp_path / "a.h5", b"000000001010101010--------........"), dull).stretches == 0
    assert search(payload(tmp_path / "a.h5", bytes(100)), [note("n", "a cough")]).control is None


def parquet(path: Path, *, writer: bytes, column: bytes = b"") -> Path:
    """What a Parquet file ends in."""
    footer = b"schema" + bytes(9) + writer + bytes(9)
    return payload(path, b"PAR1" + column + footer + len(footer).to_bytes(4, "little") + b"PAR1")


VERSION = note("n", "The English version of the MMSE; parquet-cpp-arrow Version 26.0.1, version 447 1009 300.")


@pytest.mark.parametrize("text", ["English version of the MMSE", "software Version 2", VERSION.text])
def test_the_name_of_the_program_that_writes_parquet_is_no_text(text: str, tmp_path: Path) -> None:
    shares = [payload(tmp_path / "none.parquet", b"")]
    with create_payload(tmp_path / "made.parquet", dim=2) as writer:
        writer.append(SentenceBlock(np.zeros((1, 2), "<f2"), np.zeros(1, "u1"), np.zeros(1, "u1"), np.ones(1, "i4")))
    shares += [tmp_path / "made.parquet", parquet(tmp_path / "a.parquet", writer=b"parquet-cpp-arrow version 9.10.1")]
    for path in shares:
        assert search(path, [note("n", text)]).notes == 1


@pytest.mark.parametrize(
    ("writer", "column"),
    [
        (b"parquet-cpp-arrow version 447 1009 300", b""),
        (b"parquet-cpp-arrow version 26.0.1, version 447", b""),
        (b"parquet-cpp-arrow version 26.0.1", b"English version"),
        (b"parquet-mr version 26.0.1", b""),
        (b"version of the MMSE", b""),
    ],
)
def test_text_that_passes_for_the_program_that_writes_parquet_is_found(
    writer: bytes, column: bytes, tmp_path: Path
) -> None:
    with pytest.raises(SiteError, match="no text of the notes"):
        search(parquet(tmp_path / "a.parquet", writer=writer, column=column), [VERSION])


def test_only_the_footer_names_the_program(tmp_path: Path) -> None:
    told = b"parquet-cpp-arrow version 26.0.1"
    for path in (payload(tmp_path / "a.h5", told), parquet(tmp_path / "a.parquet", writer=b"", column=told)):
        with pytest.raises(SiteError):
            search(path, [VERSION])


def test_a_column_of_random_numbers_is_no_text(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(0, 0.3, 1 << 20).astype("<f2").tobytes()
    found = search(payload(tmp_path / "a.h5", values), [NOTE])
    assert found.file_bytes == len(values)
    assert 15 < found.stretches < 60


def test_a_search_that_finds_nothing_at_all_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_found", lambda piece, stretches: set())
    with pytest.raises(SiteError, match="planted"):
        search(payload(tmp_path / "a.h5", bytes(100)), [NOTE])


def plain(content: bytes, text: str) -> bool:
    """The same by the definition: every 8 bytes from the beginning of a word on, unless too few of them differ."""
    for written in (text, text.lower()):
        data = written.encode()
        for place in range(len(data) - 7):
            begins = (place == 0 or data[place - 1 : place] in b" .") and data[place : place + 1] not in b" "
            if begins and len(set(data[place : place + 8])) >= 4 and data[place : place + 8] in content:
                return True
    return False


@settings(deadline=None)
@given(
    words=st.lists(st.sampled_from(["Oxenthorpe", "Umbersledge", "Ward", "a", "Ähre", "1234"]), min_size=1, max_size=8),
    content=st.lists(
        st.one_of(
            st.binary(max_size=9),
            st.sampled_from([b"Oxenthor", b"xenthorpe", b"Ward Oxe", b"ward a u", b"\xc3\x84hre Ox"]),
        ),
        max_size=12,
    ),
    piece=st.integers(9, 60),
)
def test_it_agrees_with_a_plain_search(
    words: list[str], content: list[bytes], piece: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, data = " ".join(words), b"".join(content)
    path = payload(tmp_path_factory.mktemp("share") / "a", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE_BYTES", piece)
        if plain(data, text):
            with pytest.raises(SiteError):
                search(path, [note("n", text)])
        else:
            assert search(path, [note("n", text)]).file_bytes == len(data)
