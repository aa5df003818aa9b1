"""The shallow parser that comes with textblob, its English lexicon in the package: no model, no network. Other languages are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from typing import Any

from shared.document import Document
from shared.errors import ConfigurationError
from shared.text.language import guess_language, guess_vocabulary
from site_client.fragments.phrases import ShallowParser

LANGUAGE = "English"
TEXTBLOB = "0.20.1"
"""Its lexicon decides what is a phrase, so exactly this version."""
_LOOKED_AT = 200


@dataclass(frozen=True)
class TextblobParser(ShallowParser):
    """English.

    Args:
        name: with its version.
    """

    name: str
    _parser: Any = field(repr=False)

    def parse(self, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        """See `ShallowParser`."""
        chunked = self._parser.find_chunks(self._parser.find_tags(list(words)))
        return [(str(tag), str(chunk)) for _, tag, chunk, *_ in chunked]


def load_parser() -> TextblobParser:
    """The parser, loaded.

    Raises:
        ConfigurationError: its packages are not installed, or are other versions.
    """
    try:
        found = version("textblob")
        from textblob.en import parser
    except (ImportError, PackageNotFoundError) as error:
        raise ConfigurationError(
            "fragment: expected the packages textblob and nltk, got none; in the checkout run `pip install '.[fragments]'`"
        ) from error
    if found != TEXTBLOB:
        raise ConfigurationError(
            f"fragment: expected textblob {TEXTBLOB}, got {found}; in the checkout run `pip install '.[fragments]'`"
        )
    return TextblobParser(f"textblob {found}", parser)


def require_english_pipeline(stated: str | None, words: Sequence[str]) -> None:
    """Returns if a pipeline was made for English notes.

    Args:
        stated: the language that its release states; None where it states none.
        words: its vocabulary, commonest first.

    Raises:
        ConfigurationError: it was made for others, or nobody can say.
    """
    found = stated or guess_vocabulary(words)
    if found is not None and found != LANGUAGE:
        raise ConfigurationError(
            f"fragment: expected a pipeline of {LANGUAGE} notes, got one of {found} notes, which misses PHI in others; only {LANGUAGE} "
            "notes can be cut into fragments"
        )


def require_english(documents: Iterable[Document]) -> Iterator[Document]:
    """The notes, if the first of them together are English.

    Raises:
        ConfigurationError: they are in another language, or in none that anybody can tell.
    """
    source = iter(documents)
    first = list(islice(source, _LOOKED_AT))
    found = guess_language(note.text for note in first)
    if first and found != LANGUAGE:
        raise ConfigurationError(
            f"fragment: expected notes in {LANGUAGE}, got notes in {found or 'a language that nobody can tell'}: the parser knows no other; "
            "nothing was written"
        )
    return chain(first, source)


def is_foreign(document: Document) -> bool:
    """Whether a single note is surely in another language, among English ones."""
    return guess_language([document.text]) not in (None, LANGUAGE)
