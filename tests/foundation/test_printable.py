from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.printable import as_typed, escape_unprintable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("st-anne 1.share", "st-anne 1.share"),
        ("Ünal 公.share", "Ünal 公.share"),
        ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
        ("\x9b2J", "\\u009b2J"),
        ("a\r\n\u2028b", "a\\u000d\\u000a\\u2028b"),
        ("\u202eerahs.\u2069", "\\u202eerahs.\\u2069"),
        (b"a\xff".decode("utf-8", "surrogateescape"), "a\\udcff"),
    ],
)
def test_what_commands_a_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape_unprintable(text) == shown
    assert escape_unprintable(shown) == shown
    assert json.loads(escape_unprintable(json.dumps(text, ensure_ascii=False))) == text


def test_attack_no_error_about_a_file_commands_the_terminal_by_its_name() -> None:
    message = str(StorageError("a file", received="\x9b2J", place="a\x1b[2K\r.share"))
    assert message == "a\\u001b[2K\\u000d.share: expected a file, received \\u009b2J"


@pytest.mark.parametrize("name", ["share.parquet", "ward notes/share.parquet", "Ünal's $1.parquet", "-share.parquet"])
def test_a_path_in_a_command_is_one_word_of_it_and_no_option(name: str) -> None:
    [word] = shlex.split(as_typed(Path(name)))
    assert Path(word) == Path(name)
    assert not word.startswith("-")
