"""Fingerprints: 128 bits of a SHA-256, short enough that two people can compare them over the telephone.

In writing they are eight groups of four hexadecimal digits; aloud, eight pronounceable groups of five letters (16 bits
each: consonant, vowel, consonant, vowel, consonant).
"""

from __future__ import annotations

import re

FINGERPRINT = re.compile(r"[0-9a-f]{4}(-[0-9a-f]{4}){7}")
_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aiou"


def digits(digest: bytes) -> str:
    """The first 128 bits of a digest, to compare by eye.

    >>> digits(bytes(range(32)))
    '0001-0203-0405-0607-0809-0a0b-0c0d-0e0f'
    """
    text = digest[:16].hex()
    return "-".join(text[start : start + 4] for start in range(0, 32, 4))


def pronounce_fingerprint(fingerprint: str) -> str:
    """The same 128 bits to compare by ear.

    >>> spoken("0001-0203-0405-0607-0809-0a0b-0c0d-0e0f")
    'babad-bamag-bibaj-bimal-boban-bomar-bubat-bumaz'
    """
    return "-".join(_group(int(group, 16)) for group in fingerprint.split("-"))


def _group(number: int) -> str:
    # 4 + 2 + 4 + 2 + 4 bits, highest first.
    return "".join(
        alphabet[number >> shift & (len(alphabet) - 1)]
        for alphabet, shift in (
            (_CONSONANTS, 12),
            (_VOWELS, 10),
            (_CONSONANTS, 6),
            (_VOWELS, 4),
            (_CONSONANTS, 0),
        )
    )
