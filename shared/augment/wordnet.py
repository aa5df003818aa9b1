"""Synonyms by part of speech, out of the files of WordNet 3.0 (Fellbaum and Miller 1998), offline.

Read are `data.*`, `index.*` and `*.exc` of the four parts of speech and `cntlist.rev`, of a folder of WordNet, or of NLTK's. What
stands in them of one word in letters alone is kept, in its commonest sense: a word of several senses has its first one's synonyms.

Inflected words are found by inflecting: a word is the plural of a noun if that noun's regular plural is the word. Irregular forms stay.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from foundation.os_errors import map_os_errors
from shared.errors import ConfigurationError

_FOLDERS = ("", "dict", "wordnet", "corpora/wordnet", "nltk_data/corpora/wordnet")
_ZIPS = ("wordnet.zip", "corpora/wordnet.zip", "nltk_data/corpora/wordnet.zip")
_COUNTS = "cntlist.rev"
_MOST_BYTES = 1 << 26
_VOWELS = frozenset("aeiou")


class PartOfSpeech(StrEnum):
    """The four that WordNet knows, by the names of its files."""

    NOUN = "noun"
    VERB = "verb"
    ADJECTIVE = "adj"
    ADVERB = "adv"


# Of a sense key; 5 is an adjective, too.
_NUMBERS = {
    "1": PartOfSpeech.NOUN,
    "2": PartOfSpeech.VERB,
    "3": PartOfSpeech.ADJECTIVE,
    "4": PartOfSpeech.ADVERB,
    "5": PartOfSpeech.ADJECTIVE,
}
ENDINGS: Mapping[PartOfSpeech, tuple[str, ...]] = {
    PartOfSpeech.NOUN: ("", "s"),
    PartOfSpeech.VERB: ("", "s", "ed", "ing"),
    PartOfSpeech.ADJECTIVE: ("",),
    PartOfSpeech.ADVERB: ("",),
}


@dataclass(frozen=True)
class Reading:
    """What a word may be.

    Args:
        part: of speech.
        lemma: its base form.
        ending: of it, as in ENDINGS.
        count: how often WordNet's texts have the lemma as this part of speech.
    """

    part: PartOfSpeech
    lemma: str
    ending: str
    count: int


@dataclass(frozen=True, repr=False)
class WordNet:
    """Words with their synonyms.

    Args:
        synonyms: other words of the commonest sense of each lemma, by part of speech.
        counts: how often WordNet's texts have it.
        irregular: lemmas with irregular forms.
        digest: of the files.
    """

    synonyms: Mapping[PartOfSpeech, Mapping[str, tuple[str, ...]]]
    counts: Mapping[PartOfSpeech, Mapping[str, int]]
    irregular: Mapping[PartOfSpeech, frozenset[str]]
    digest: str = ""
    _known: dict[str, tuple[Reading, ...]] = field(default_factory=dict, compare=False)

    def readings(self, word: str) -> tuple[Reading, ...]:
        """What a word may be, the commonest first; none for one that is not there.

        Args:
            word: in small letters.
        """
        found = self._known.get(word)
        if found is None:
            readings = sorted(self._readings(word), key=lambda one: (-one.count, one.part, one.ending))
            found = self._known[word] = tuple(readings)
        return found

    def synonyms_of(self, reading: Reading) -> tuple[str, ...]:
        """Other words for it, in its inflection; those that are inflected irregularly are left out."""
        words = self.synonyms[reading.part][reading.lemma]
        if not reading.ending:
            return words
        irregular = self.irregular[reading.part]
        return tuple(inflect(word, reading.ending) for word in words if word not in irregular)

    def common(self, part: PartOfSpeech, least: int) -> tuple[str, ...]:
        """Words that WordNet's texts have at least so often as a part of speech, and more often than as any other."""
        return tuple(
            sorted(
                lemma
                for lemma, count in self.counts[part].items()
                if count >= least and all(count >= self.counts[other].get(lemma, 0) for other in PartOfSpeech)
            )
        )

    def _readings(self, word: str) -> Iterator[Reading]:
        for part, endings in ENDINGS.items():
            for ending in endings:
                for lemma in _bases(word, ending):
                    if lemma not in self.synonyms[part] or inflect(lemma, ending) != word:
                        continue
                    if ending and lemma in self.irregular[part]:
                        continue
                    yield Reading(part, lemma, ending, self.counts[part].get(lemma, 0))
                    break


def inflect(lemma: str, ending: str) -> str:
    """The regular form of a lemma with an ending: "carry" and "ed" make "carried"."""
    if not ending:
        return lemma
    consonant_y = len(lemma) > 1 and lemma[-1] == "y" and lemma[-2] not in _VOWELS
    if ending == "s":
        if consonant_y:
            return lemma[:-1] + "ies"
        return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if lemma.endswith("ie") and ending == "ing":
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not (ending == "ing" and lemma.endswith(("ee", "oe", "ye"))):
        return lemma[:-1] + ending
    if consonant_y and ending == "ed":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if _doubles(lemma) else "") + ending


def _doubles(lemma: str) -> bool:
    """Whether the last consonant is doubled: "stop" and "plan", of one syllable."""
    if len(lemma) < 3 or sum(letter in _VOWELS for letter in lemma) != 1:
        return False
    return lemma[-1] not in "aeiouwxy" and lemma[-2] in _VOWELS


def _bases(word: str, ending: str) -> Iterable[str]:
    """What an inflected word may come from; `inflect` has the last word on it."""
    if not ending:
        return (word,)
    if ending == "s":
        return (word[:-1], word[:-2], word[:-3] + "y") if word.endswith("s") else ()
    if not word.endswith(ending):
        return ()
    stem = word[: -len(ending)]
    return (stem, stem + "e", stem[:-1], stem[:-1] + "y", stem[:-1] + "ie")


def read_wordnet(folder: Path) -> WordNet:
    """WordNet out of its files.

    Args:
        folder: with the files, or with NLTK's `wordnet` or `wordnet.zip` where NLTK looks for them.

    Raises:
        ConfigurationError: they are not there, or damaged.
        StorageError: they can't be read.
    """
    parts = tuple(PartOfSpeech)
    names = [*(f"{kind}.{part}" for part in parts for kind in ("data", "index")), *(f"{part}.exc" for part in parts)]
    files = _read_files(folder, [*names, _COUNTS])
    try:
        counts = _counts(files[_COUNTS])
        synonyms = {part: _synonyms(files[f"index.{part}"], files[f"data.{part}"]) for part in parts}
    except (ValueError, IndexError, KeyError) as error:
        raise ConfigurationError(
            f"{folder.name}: expected the files of WordNet 3.0, got others, or damaged ones; fetch them again"
        ) from error
    irregular = {
        part: frozenset(lemma for line in files[f"{part}.exc"].splitlines() for lemma in line.split()[1:])
        for part in parts
    }
    digest = hashlib.sha256("".join(files[name] for name in sorted(files)).encode()).hexdigest()
    return WordNet(synonyms, {part: counts[part] for part in parts}, irregular, digest)


def _counts(text: str) -> Mapping[PartOfSpeech, Mapping[str, int]]:
    """Of each lemma, over its senses: lines "report%2:32:04:: 1 66"."""
    counts: dict[PartOfSpeech, dict[str, int]] = {part: defaultdict(int) for part in PartOfSpeech}
    for line in text.splitlines():
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        if _is_word(lemma):
            counts[_NUMBERS[sense[0]]][lemma] += int(count)
    return {part: dict(found) for part, found in counts.items()}


def _synonyms(index: str, data: str) -> dict[str, tuple[str, ...]]:
    """Words of the first sense of every lemma, without itself; names have capitals there, and are left out."""
    senses: dict[str, tuple[str, ...]] = {}
    for line in data.splitlines():
        # What begins with blanks is the licence.
        if line[:1].isdigit():
            fields = line.split(" ", 5)
            listed = fields[4:] if len(fields) < 6 else [fields[4], *fields[5].split(" ", 2 * int(fields[3], 16))]
            words = (word.partition("(")[0] for word in listed[: 2 * int(fields[3], 16) : 2])
            senses[fields[0]] = tuple(word for word in words if _is_word(word))
    found: dict[str, tuple[str, ...]] = {}
    for line in index.splitlines():
        if not line[:1].islower():
            continue
        fields = line.split()
        lemma, number = fields[0], int(fields[2])
        if _is_word(lemma):
            found[lemma] = tuple(word for word in senses[fields[-number]] if word != lemma)
    return found


def _is_word(word: str) -> bool:
    return word.isalpha() and word.islower() and word.isascii()


def _read_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    wanted = list(names)
    with map_os_errors(folder):
        for inner in _FOLDERS:
            if (folder / inner / "data.noun").is_file():
                found = {name: folder / inner / name for name in wanted}
                _require(folder, all(path.is_file() and path.stat().st_size <= _MOST_BYTES for path in found.values()))
                return {name: path.read_text(encoding="ascii", errors="replace") for name, path in found.items()}
        for inner in _ZIPS:
            if (folder / inner).is_file():
                return _read_zip(folder, folder / inner, wanted)
    raise ConfigurationError(
        f"{folder.name}: expected a folder with the files of WordNet 3.0 (data.noun, index.noun and so on), found none"
    )


def _read_zip(folder: Path, path: Path, wanted: Iterable[str]) -> dict[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            held = {info.filename.rpartition("/")[2]: info for info in archive.infolist()}
            _require(folder, all(name in held and held[name].file_size <= _MOST_BYTES for name in wanted))
            return {name: archive.read(held[name]).decode("ascii", errors="replace") for name in wanted}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise ConfigurationError(f"{path.name}: expected NLTK's archive of WordNet 3.0, got a damaged one") from error


def _require(folder: Path, there: bool) -> None:
    if not there:
        raise ConfigurationError(f"{folder.name}: expected all files of WordNet 3.0, some are missing or too large")
