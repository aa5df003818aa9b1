"""What the provider of the measurements for docs/results/privacy.json has: public words, texts and lists of names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from faker.providers.person import en_US as person

from bench import corpora
from bench.results_loop import vectors
from shared.anonymity.names import read_names
from shared.corpus import read_corpus
from shared.embeddings.training import FastTextSettings
from shared.embeddings.vectors import WordVectors
from shared.text.tokens import tokenise

COMMAND = "make results-privacy"
SETTINGS = FastTextSettings(dim=100, epochs=8)
PROVIDER_NOTES = 50
# Of a name of a place, as read_names cuts it.
_WORD = re.compile(r"[^\W\d_]{3,}")


@cache
def spanish() -> WordVectors:
    """Vectors of the provider's public text."""
    return vectors("es-provider", lambda: _lower(_spanish_texts()), SETTINGS)


@cache
def english() -> WordVectors:
    """Vectors of public English text, without any hospital's."""
    return vectors("en-public", lambda: _lower(corpora.public_english_texts()), SETTINGS)


def _lower(texts: Iterator[str]) -> Iterator[str]:
    # The k-anonymous vocabulary ignores casing, and the model that it is compared with shall have the same vectors.
    return (text.lower() for text in texts)


def _spanish_texts() -> Iterator[str]:
    for document in corpora.meddocan("train")[:PROVIDER_NOTES]:
        yield document.text
    yield from background()


def background() -> Iterator[str]:
    """Public Spanish text without labels."""
    for document in read_corpus(corpora.path("meddocan/background/background.jsonl.gz")):
        yield document.text


@cache
def public_documents() -> Counter[str]:
    """How many public Spanish texts hold each word, in lower case."""
    documents: Counter[str] = Counter()
    for text in background():
        documents.update({word.lower() for word in tokenise(text).words})
    return documents


class AnyCasing(dict[str, int]):
    """Counts of words in lower case, for words in any."""

    def get(self, word: str, default: Any = None) -> Any:
        """The count of the word in lower case."""
        return super().get(word.lower(), default)


@cache
def spanish_names() -> tuple[tuple[str, ...], ...]:
    """Given names and surnames of Spain."""
    return tuple(read_names(corpora.path(f"lists_es/{name}.csv")) for name in ("hombres", "mujeres", "apellidos"))


@cache
def american_names() -> tuple[tuple[str, ...], ...]:
    """Faker's given names, frequent surnames and all cities of the United States."""
    with corpora.path("lists_us/us_cities.csv").open(encoding="utf-8", newline="") as file:
        cities = dict.fromkeys(word for row in csv.DictReader(file) for word in _WORD.findall(row["CITY"]))
    surnames = read_names(corpora.path("lists_us/surnames_census2000_top1000.csv"))
    return tuple(person.Provider.first_names), surnames, tuple(cities)
