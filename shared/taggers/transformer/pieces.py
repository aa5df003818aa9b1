"""The pieces that a transformer reads a word by: a vocabulary that the library `tokenizers` cuts with, as JSON that is read strictly.

A hospital loads what a stranger published. So only the parts that cut a word stay of a tokenizer's file, each of a kind that is listed here; no
pattern that somebody wrote runs on a note, no part makes a word longer again and again, what the library would do at the ends of a sentence is
done by us, and no piece is cut out of a note because it is spelled like a mark.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_text
from foundation.os_errors import storage_error
from foundation.reading import regular_size
from shared.errors import ModelError
from shared.taggers.transformer.config import MOST_WORD_PIECES
from shared.taggers.transformer.library import required

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILE = "pieces.json"
MAX_BYTES = 32 << 20
_VERSION = 1
_MODELS = frozenset({"WordPiece", "BPE", "Unigram"})
_NORMALIZERS = frozenset(
    {"BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Replace", "StripAccents"}
)
_PRE_TOKENIZERS = frozenset({"BertPreTokenizer", "ByteLevel", "Digits", "Metaspace", "Punctuation", "WhitespaceSplit"})
# What XLM-RoBERTa's file has: it can't take long, and a word holds no two spaces.
_HARMLESS = {"Regex": " {2,}"}
_UNKNOWN = ("[UNK]", "<unk>")
# ALBERT's file has seven.
_MOST_PARTS = 16
# What a table makes of a sign, in bytes; the longest of sentencepiece's own has 33.
_LONGEST_MAPPED = 256
# What a model writes ahead of a piece or behind it, for every stretch of a word that it tries.
_LONGEST_AFFIX = 16
# Longer words are base64 and the like, and a model may take time by the square of them: no 16 pieces reach so far.
_MOST_CHARACTERS = 512


class Pieces:
    """Cuts words into numbered pieces.

    Args:
        parts: `model`, `normalizer` and `pre_tokenizer` of a tokenizer's file, as JSON.
        name: of the file, for errors.

    Raises:
        ModelError: a part of a kind that is not listed here, or one that the library does not take.
    """

    def __init__(self, parts: dict[str, Any], name: str = FILE) -> None:
        self._parts = {part: parts.get(part) for part in ("model", "normalizer", "pre_tokenizer")}
        self._name = name
        _check(self._parts["model"], _MODELS, name)
        for part, known in (("normalizer", _NORMALIZERS), ("pre_tokenizer", _PRE_TOKENIZERS)):
            if self._parts[part] is not None:
                _check(self._parts[part], known, name)
        if isinstance(self._parts["pre_tokenizer"], dict) and self._parts["pre_tokenizer"]["type"] == "ByteLevel":
            # Each word stands by itself, as if behind a space.
            self._parts["pre_tokenizer"] = self._parts["pre_tokenizer"] | {"add_prefix_space": True}
        unknown = [number for number in map(self.number, _UNKNOWN) if number is not None]
        if not unknown:
            raise ModelError(f"{name}: expected a piece for what is not known, found none; use another checkpoint")
        self._unknown = unknown[0]

    def __deepcopy__(self, memo: object) -> Pieces:
        return self

    def __repr__(self) -> str:
        return f"Pieces({self.size})"

    @staticmethod
    def of_characters() -> Pieces:
        """Single characters of Latin script: what a tagger reads that was begun without a checkpoint."""
        letters = [chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x180))]
        names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
        model = {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {name: number for number, name in enumerate(names)},
        }
        return Pieces({"model": model, "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "WhitespaceSplit"}})

    @property
    def size(self) -> int:
        """How many rows a table of them needs: they are numbered from 0 on, and some files leave numbers out."""
        return 1 + max(self._tokenizer.get_vocab(with_added_tokens=False).values(), default=-1)

    def number(self, piece: str) -> int | None:
        """The number of a piece by its spelling."""
        found: int | None = self._tokenizer.token_to_id(piece)
        return found

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The pieces of words, -1 behind the last, float32 `[words, MOST_WORD_PIECES]`, in which whole numbers of their size are exact.

        A word of which nothing is left is the piece for what is not known.
        """
        found = np.full((len(words), MOST_WORD_PIECES), -1, dtype=np.float32)
        for row, word in enumerate(words):
            cut = self._tokenizer.encode([word[:_MOST_CHARACTERS]], is_pretokenized=True, add_special_tokens=False).ids
            kept = cut[:MOST_WORD_PIECES] or [self._unknown]
            found[row, : len(kept)] = kept
        return found

    def save(self, folder: Path) -> None:
        """Write them into a folder."""
        text = json.dumps({"version": _VERSION} | self._parts, ensure_ascii=False)
        write_text(folder / FILE, text, private=False)

    @staticmethod
    def load(folder: Path) -> Pieces:
        """Those of a folder that `save` wrote into.

        Raises:
            ModelError: the file is missing, damaged, or holds something else.
            StorageError: it can't be read.
        """
        stored = read_bounded_json(folder / FILE)
        if set(stored) != {"version", "model", "normalizer", "pre_tokenizer"} or stored["version"] != _VERSION:
            raise ModelError(f"{FILE}: expected pieces of version {_VERSION}, got others; update deid-commons")
        return Pieces(stored)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        library = required("tokenizers")
        text = json.dumps(self._parts | {"version": "1.0", "added_tokens": []})
        try:
            made: Tokenizer = library.Tokenizer.from_str(text)
        # The library has no error of its own.
        except Exception as error:
            raise ModelError(
                f"{self._name}: expected the pieces of a tokenizer, got what can't be read; use another checkpoint, or pull it again"
            ) from error
        return made


def read_bounded_json(path: Path) -> dict[str, Any]:
    """A JSON object of at most MAX_BYTES.

    Raises:
        ModelError: the file is missing, too long, or no JSON object.
        StorageError: it can't be read.
    """
    if not path.exists():
        raise ModelError(
            f"{path.name}: expected this file in the folder, found none; save the checkpoint anew, or pull it again"
        )
    if regular_size(path) > MAX_BYTES:
        raise ModelError(f"{path.name}: expected at most {MAX_BYTES} bytes, got more; use another checkpoint")
    try:
        with path.open("rb") as file:
            read = json.loads(file.read(MAX_BYTES))
    except OSError as error:
        raise storage_error(path, error) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name}: expected JSON, got something else; save it anew, or pull it again") from error
    if not isinstance(read, dict):
        raise ModelError(f"{path.name}: expected a JSON object, got another value; save it anew, or pull it again")
    return read


def _check(part: object, known: frozenset[str], name: str) -> None:
    """Returns if a part, and all of which it consists, is of a kind that is listed, and can't take long."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "Sequence" and isinstance(part, dict) and known is not _MODELS:
        inner = part.get("normalizers", part.get("pretokenizers"))
        if isinstance(inner, list) and _ends_soon(inner):
            for one in inner:
                _check_one(one, known, name)
            return
    _check_one(part, known, name)


def _check_one(part: object, known: frozenset[str], name: str) -> None:
    if isinstance(part, dict) and part.get("type") in tuple(known):
        pattern = part.get("pattern", {"String": ""})
        if isinstance(pattern, dict) and (set(pattern) == {"String"} or pattern == _HARMLESS) and _keeps_short(part):
            return
    raise ModelError(
        f"{name}: expected parts of a tokenizer among {', '.join(sorted(known))}, without patterns and chance, none of which makes a word much "
        "longer, got another; use a checkpoint with such"
    )


def _ends_soon(parts: Sequence[object]) -> bool:
    """Whether parts are few, and none that may make a word longer comes twice: forty that double it would fill any memory."""
    kinds = [part.get("type") for part in parts if isinstance(part, dict)]
    return len(parts) <= _MOST_PARTS and all(kinds.count(kind) == 1 or kind == "Replace" for kind in kinds)


def _keeps_short(part: dict[str, Any]) -> bool:
    """Whether a part by itself leaves a word about as long as it is, and cuts it in one way."""
    if part["type"] == "Replace":
        [replaced], content = part.get("pattern", {"String": ""}).values(), part.get("content")
        least = 2 if part.get("pattern") == _HARMLESS else len(replaced) if isinstance(replaced, str) else 0
        return isinstance(content, str) and len(content) <= least and least > 0
    if part["type"] == "Precompiled":
        return _longest_mapped(part.get("precompiled_charsmap")) <= _LONGEST_MAPPED
    # With a dropout a model cuts a word otherwise each time: a note would be hidden otherwise in every run.
    if part.get("dropout"):
        return False
    affixes = (part.get(affix) or "" for affix in ("continuing_subword_prefix", "end_of_word_suffix"))
    return all(isinstance(affix, str) and len(affix) <= _LONGEST_AFFIX for affix in affixes)


def _longest_mapped(table: object) -> int:
    """Bytes that a table of sentencepiece makes of a sign, at the most: behind the index, of the size that stands ahead, each ends in a zero."""
    try:
        data = base64.b64decode(table if isinstance(table, str) else "", validate=True)
    except ValueError:
        data = b""
    index = 4 + int.from_bytes(data[:4], "little")
    # The library ends with a panic, which is no error of Python, where a table is shorter than it says.
    return max(map(len, data[index:].split(b"\0"))) if index <= len(data) else _LONGEST_MAPPED + 1
