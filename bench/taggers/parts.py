"""How often the parts of speech of Khin's tagger are right, on English sentences that people have read: UD English EWT, development part.

Its lists and endings were written before, and looked at on a sixth of the training part. For Spanish there is no such corpus here.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from bench import corpora
from bench.generalise.figures import interval, share
from bench.results import Entry
from shared.text.parts_of_speech import PARTS, parts_of_speech

COMMAND = "python -m bench.results_taggers parts"
Sentence = tuple[list[str], list[str]]


def measure() -> list[Entry]:
    """Ours with and without the language, and the most frequent part of each word of the training sentences."""
    sentences = list(_read("dev"))
    by_word = _most_frequent(_read("train"))
    taggers: dict[str, Callable[[list[str]], list[str]]] = {
        "ours, told the language": lambda words: _ours(words, "English"),
        "ours, told no language": lambda words: _ours(words, ""),
        "the most frequent of each word of the training part": lambda words: [
            by_word.get(word.lower(), "NOUN") for word in words
        ],
    }
    return [
        _entry(name, [(_right(tag(words), gold), len(gold)) for words, gold in sentences])
        for name, tag in taggers.items()
    ]


def _entry(name: str, counts: list[tuple[int, int]]) -> Entry:
    right, tokens = np.sum(counts, axis=0).tolist()
    return Entry(
        f"parts of speech, English, {name}",
        round(right / tokens, 4),
        None,
        "",
        "of tokens",
        interval([np.array(counts)], share),
        1,
        "ud_english_ewt/dev",
        COMMAND,
        f"{right} of {tokens} tokens, universal parts of speech; interval of sentences; Spanish has no gold here",
    )


def _right(said: list[str], gold: list[str]) -> int:
    return sum(one == other for one, other in zip(said, gold, strict=True))


def _ours(words: list[str], language: str) -> list[str]:
    return [PARTS[number] for number in parts_of_speech(words, np.zeros(1, dtype=np.int64), language).tolist()]


def _most_frequent(sentences: Iterator[Sentence]) -> dict[str, str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, gold in sentences:
        for word, part in zip(words, gold, strict=True):
            counts[word.lower()][part] += 1
    return {word: found.most_common(1)[0][0] for word, found in counts.items()}


def _read(split: str) -> Iterator[Sentence]:
    """Words and parts of each sentence of a CoNLL-U file."""
    with gzip.open(corpora.path(f"ud_english_ewt/en_ewt-ud-{split}.conllu.gz"), "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
            # Numbers with a hyphen or a dot are of words that are written as one, or not at all.
            tokens = [row for row in rows if row[0].isdigit()]
            yield [row[1] for row in tokens], [row[3] for row in tokens]
