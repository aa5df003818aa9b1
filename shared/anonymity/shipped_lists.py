"""The public lists that come with the program: dictionaries of two languages less all names, and our own words of clinical notes.

The dictionaries are those of the package simplemma, which were made of public lexicons (docs/adr/0014). Their files are read here, not
by its code, and only if they are, byte for byte, those that were looked at when the list was chosen. Names are left out although
a dictionary holds many of them: what stands on a list of `default_names` is not public, unless it is among our own words.
"""

from __future__ import annotations

import hashlib
import importlib.util
import lzma
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from random import Random

from foundation.os_errors import map_os_errors
from shared.anonymity.names import names_of_all_schemes
from shared.anonymity.public_lists import PublicList, fold_word
from shared.embeddings.generalised import strip_accents
from shared.errors import ConfigurationError

_OWN = Path(__file__).with_name("clinical_words.toml")
_SOURCE = "simplemma 2.0.0, data/{}.plzma, less the names of Faker"
_LICENCE = "ODbL 1.0, CC BY-SA 4.0 and others, named in the folder licenses of simplemma"
_DICTIONARIES = {
    "en": ("English dictionary", "e6aa79e80b22d64f98e2bddaacdd8b65286cf5152a1b2c9f6242750b95dcb898"),
    "es": ("Spanish dictionary", "60b1f842463430307e8f8ac54a032e8a415a3d2133e383d18e08c6d9032b177e"),
}
# Magic, flags; the count of records follows.
_HEADER = b"SMFC1\0"
_SAME_VALUE = 254


class Dictionary(PublicList):
    """The forms of a language in lower case, less the names; read when it is first asked.

    Args:
        language: "en" or "es".
    """

    def __init__(self, language: str) -> None:
        name, digest = _DICTIONARIES[language]
        super().__init__(name, _SOURCE.format(language), _LICENCE, digest)
        object.__setattr__(self, "_language", language)

    def forms(self) -> frozenset[str]:
        """See PublicList."""
        return frozenset(form.decode() for form in self.sorted_forms)

    @cached_property
    def sorted_forms(self) -> list[bytes]:
        """The same in UTF-8, which sorts as its text does."""
        return read_forms(self._language, self.sha256)  # type: ignore[attr-defined]

    def _holds_folded(self, word: str) -> bool:
        # A set of a million forms takes longer to make than it takes to look up all that is asked for.
        form = word.encode("utf-8", "surrogatepass")
        return _stands(form, self.sorted_forms) and strip_accents(word) not in _names()


def _stands(form: bytes, forms: Sequence[bytes]) -> bool:
    place = bisect_left(forms, form)
    return forms[place : place + 1] == [form]


@cache
def shipped_lists() -> tuple[PublicList, ...]:
    """Our own words and the dictionaries; the dictionaries are read when they are asked.

    Raises:
        StorageError: the file of our own words can't be read.
    """
    return _own_words(), *(Dictionary(language) for language in _DICTIONARIES)


@cache
def lists_of(language: str | None) -> tuple[PublicList, ...]:
    """Our own words and the dictionary of one language, or all where there is none of it.

    Args:
        language: in English ("Spanish"); None where nobody knows.
    """
    own, *dictionaries = shipped_lists()
    asked = [one for one in dictionaries if language is not None and one.name.startswith(language)]
    return own, *(asked or dictionaries)


@cache
def dictionary_words(language: str | None, count: int) -> tuple[str, ...]:
    """Some words of the dictionaries of a language that name nobody, in lower case; always the same ones.

    Args:
        language: as in `lists_of`.
        count: at most so many.
    """
    _, *dictionaries = lists_of(language)
    # Most of a million forms are not drawn, so they are not made text of.
    forms = [form for one in dictionaries if isinstance(one, Dictionary) for form in one.sorted_forms]
    drawn = [form.decode() for form in Random(0).sample(forms, min(2 * count, len(forms)))]
    words = (form for form in dict.fromkeys(drawn) if form.isalpha() and form.islower())
    return tuple(islice(filter(ordinary_words(language), words), count))


@cache
def ordinary_words(language: str | None) -> Callable[[str], bool]:
    """Tells words of a dictionary that name nobody from all others; each word is looked up once.

    Args:
        language: as in `lists_of`.
    """
    _, *dictionaries = lists_of(language)

    @cache
    def is_ordinary(word: str) -> bool:
        return any(bool(one.holds([word])[0]) for one in dictionaries)

    return is_ordinary


def in_no_list(words: Iterable[str], language: str | None) -> frozenset[str]:
    """Those of some words that stand neither among our own nor in a dictionary, where a dictionary has names as well.

    Args:
        words: in small letters.
        language: as in `lists_of`.
    """
    own, *dictionaries = lists_of(language)
    forms = [one.sorted_forms for one in dictionaries if isinstance(one, Dictionary)]
    asked = list(words)
    return frozenset(
        word
        for word, listed in zip(asked, own.holds(asked).tolist(), strict=True)
        if not listed and not any(_stands(word.encode(), known) for known in forms)
    )


def read_forms(language: str, sha256: str) -> list[bytes]:
    """All forms of a language in UTF-8, 0.8 million for Spanish, in ascending order, which takes about half a second.

    Args:
        language: "en" or "es".
        sha256: of the file, in hex.

    Raises:
        ConfigurationError: the package is not installed, or is another version.
        StorageError: the file can't be read.
    """
    found = importlib.util.find_spec("simplemma")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "public words: expected the package simplemma, got none; in the checkout run `pip install .` again"
        )
    path = Path(found.origin).parent / "strategies" / "dictionaries" / "data" / f"{language}.plzma"
    with map_os_errors(path):
        raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise ConfigurationError(
            "public words: expected the dictionary of simplemma 2.0.0, got another; install simplemma==2.0.0"
        )
    return _keys(lzma.decompress(raw))


def _own_words() -> PublicList:
    with map_os_errors(_OWN):
        raw = _OWN.read_bytes()
    stated = tomllib.loads(raw.decode())
    kinds = (text for name, text in stated.items() if name not in ("source", "licence"))
    words = frozenset(fold_word(word) for text in kinds for word in text.split())
    digest = hashlib.sha256(raw).hexdigest()
    return PublicList("words of clinical notes", stated["source"], stated["licence"], digest, words)


@cache
def _names() -> frozenset[str]:
    """The names of people and regions of all schemes, without accents."""
    return frozenset(strip_accents(word) for words in names_of_all_schemes() for word in words)


def _keys(data: bytes) -> list[bytes]:
    """The keys of a front-coded table: each record has the length that it shares with the key before, the rest of the key, and
    a value that is not looked at.
    """
    _, place = _number(data, len(_HEADER))
    keys: list[bytes] = []
    key, end = b"", len(data)
    while place < end:
        shared, size, start = data[place], data[place + 1], place + 2
        if shared > 127 or size > 127:
            shared, start = _number(data, place)
            size, start = _number(data, start)
        place = start + size
        key = key[:shared] + data[start:place]
        keys.append(key)
        if data[place] == _SAME_VALUE:
            place += 1
        else:
            size, start = data[place + 1], place + 2
            if size > 127:
                size, start = _number(data, place + 1)
            place = start + size
    return keys


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and the place behind it."""
    value = shift = 0
    while data[place] > 127:
        value |= (data[place] & 127) << shift
        shift += 7
        place += 1
    return value | data[place] << shift, place + 1
