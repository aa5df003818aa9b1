"""What a person keeps here stays, in whatever form they wrote it; what could keep nothing is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import ConfigurationError
from site_client.fragments.words import LeftOut, read_left_out


def read(tmp_path: Path, data: bytes) -> LeftOut:
    path = tmp_path / "ours.txt"
    path.write_bytes(data)
    return read_left_out(path)


@pytest.mark.parametrize(
    "text", ["lung infection", "acute lung infection", "lung infection of others", "has lung infection"]
)
def test_a_phrase_that_holds_one_that_is_left_out_stays(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, b"\nLung  Infection\n").lines_in(text) == {2}


@pytest.mark.parametrize("text", ["lung infections", "infection lung", "lung tissue infection", "a lung"])
def test_words_count_whole_and_in_their_order(tmp_path: Path, text: str) -> None:
    assert not read(tmp_path, b"lung infection\n").lines_in(text)


def test_a_word_keeps_every_phrase_with_it(tmp_path: Path) -> None:
    left_out = read(tmp_path, b"lobe\nleft lung\nlobe\n")
    assert left_out.lines_in("left lung lobe") == {1, 2}
    assert left_out.lines_in("lung lobe") == {1}


def test_the_mark_that_an_editor_puts_ahead_is_none_of_the_first_word(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbflung infection\r\n").lines_in("lung infection") == {1}


@pytest.mark.parametrize(
    "line",
    [
        "lung-infection",
        "lung.",
        "lung infection, acute",
        "type 2 diabetes",
        "x ray",
        "one two three four five",
        "ménière",
    ],
)
def test_a_line_that_no_phrase_could_hold_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigurationError, match="line 3") as caught:
        read(tmp_path, f"worse\n\n{line}\n".encode())
    assert line not in str(caught.value)


def test_nothing_of_it_is_in_a_repr(tmp_path: Path) -> None:
    assert "lung" not in repr(read(tmp_path, b"lung\n"))
