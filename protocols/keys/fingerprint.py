"""Fingerprints: 128 bits of a SHA-256, short enough that two people can compare them over the telephone.

In writing they are eight groups of four hexadecimal digits; aloud, eight pronounceable groups of five letters (16 bits
each: consonant, vowel, consonant, vowel, consonant). Whoever types one may use capitals, and part the groups as they like.
"""

from __future__ import annotations

import re
import string

from protocols.errors import SchemaError

FINGERPRINT = re.compile(r"[0-9a-f]{4}(-[0-9a-f]{4}){7}")
_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aiou"
# Of 4 + 2 + 4 + 2 + 4 bits, highest first.
_SHIFTS = ((_CONSONANTS, 12), (_VOWELS, 10), (_CONSONANTS, 6), (_VOWELS, 4), (_CONSONANTS, 0))
_DIGITS, _LETTERS = 32, 40
# White space, and what editors and messengers make of a hyphen.
_BETWEEN = re.compile(r"[\s\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")


def digits(digest: bytes) -> str:
    """The first 128 bits of a digest, to compare by eye.

    >>> digits(bytes(range(32)))
    '0001-0203-0405-0607-0809-0a0b-0c0d-0e0f'
    """
    text = digest[:16].hex()
    return "-".join(text[start : start + 4] for start in range(0, 32, 4))


def pronounce_fingerprint(fingerprint: str) -> str:
    """The same 128 bits to compare by ear.

    >>> pronounce_fingerprint("0001-0203-0405-0607-0809-0a0b-0c0d-0e0f")
    'babad-bamag-bibaj-bimal-boban-bomar-bubat-bumaz'
    """
    return "-".join(_group(int(group, 16)) for group in fingerprint.split("-"))


def parse_fingerprint(typed: str) -> str:
    """The digits of a fingerprint as a person typed it, written or spoken.

    Raises:
        SchemaError: no fingerprint is spelt like this: somebody mistyped it.

    >>> parse_fingerprint("Babad bamag BIBAJ bimal boban bomar bubat bumaz")
    '0001-0203-0405-0607-0809-0a0b-0c0d-0e0f'
    """
    bare = _BETWEEN.sub("", typed).lower()
    hexadecimal = set(bare) <= set(string.hexdigits)
    if hexadecimal and len(bare) == _DIGITS:
        return digits(bytes.fromhex(bare))
    groups = [bare[start : start + len(_SHIFTS)] for start in range(0, len(bare), len(_SHIFTS))]
    if len(bare) == _LETTERS and all(map(_is_group, groups)):
        return "-".join(f"{_number(group):04x}" for group in groups)
    if bare.isascii() and bare.isalpha():
        wrong = next((number for number, group in enumerate(groups, start=1) if not _is_group(group)), 0)
        received = f"{len(bare)} letters" if len(bare) != _LETTERS else f"a group {wrong} that nobody would say"
    elif hexadecimal:
        received = f"{len(bare)} digits"
    else:
        received = f"{len(bare)} characters, some of which are in none"
    raise SchemaError(
        f"a fingerprint of {_DIGITS} digits from 0 to f, or {_LETTERS} letters as it is spoken",
        received=received,
        advice="it is mistyped; ask for it once more",
    )


def _group(number: int) -> str:
    return "".join(alphabet[number >> shift & (len(alphabet) - 1)] for alphabet, shift in _SHIFTS)


def _is_group(text: str) -> bool:
    return len(text) == len(_SHIFTS) and all(
        letter in alphabet for letter, (alphabet, _) in zip(text, _SHIFTS, strict=True)
    )


def _number(group: str) -> int:
    return sum(alphabet.index(letter) << shift for letter, (alphabet, shift) in zip(group, _SHIFTS, strict=True))
