"""Phrases as a constituency parser nests them: Stanza, which Ignashina and Ive (2024) use, where the hospital has it and a model of it.

Nothing is ever fetched: the model is a folder that somebody brought. Its files are read by torch as weights alone, which runs none of what they hold (Stanza from
1.13 on refuses others). Its tokens are ours, so that what it calls a phrase stands where we look for PHI.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from shared.errors import ConfigurationError
from site_client.fragments.phrases import Kind, PhraseParser, Range

LEAST_STANZA = (1, 13)
_PROCESSORS = "tokenize,pos,constituency"
_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True)
class StanzaParser(PhraseParser):
    """English.

    Args:
        name: with its version.
    """

    name: str
    _pipeline: Any = field(repr=False)

    def phrases(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[Range]]:
        """See `PhraseParser`; a sentence that comes back in other words than ours has no phrase."""
        if not sentences:
            return []
        parsed = self._pipeline([list(words) for words in sentences]).sentences
        if len(parsed) != len(sentences):
            raise ConfigurationError(
                f"fragment: expected {len(sentences)} sentences of the parser, got {len(parsed)}; its model can't be used"
            )
        return [list(_ranges(one, words)) for one, words in zip(parsed, sentences, strict=True)]


def load_stanza(model: Path) -> StanzaParser:
    """The parser, loaded from a folder.

    Args:
        model: as `stanza.download("en", model_dir=...)` makes it.

    Raises:
        ConfigurationError: the package is not installed or is another version, or the folder holds no English model with a constituency parser.
    """
    try:
        found = version("stanza")
        import stanza
    except (ImportError, PackageNotFoundError) as error:
        raise ConfigurationError(
            "fragment: expected the package stanza, got none; in the checkout run `pip install '.[stanza]'`"
        ) from error
    if tuple(map(int, found.split(".")[:2])) < LEAST_STANZA:
        raise ConfigurationError(
            f"fragment: expected stanza {'.'.join(map(str, LEAST_STANZA))} or newer, got {found}; in the checkout run `pip install '.[stanza]'`"
        )
    try:
        pipeline = stanza.Pipeline(
            "en",
            dir=str(model),
            processors=_PROCESSORS,
            # Whatever is missing stays missing: this program fetches nothing.
            download_method=None,
            tokenize_pretokenized=True,
            use_gpu=False,
            logging_level=logging.getLevelName(logging.CRITICAL),
        )
    except Exception as error:  # What a foreign library says of files that it did not expect is of any type.
        raise ConfigurationError(
            f'fragment: expected an English model of Stanza with a constituency parser in {model.name}, got none that can be read; bring one: stanza.download("en") on '
            "a machine with a network, and copy the folder"
        ) from error
    return StanzaParser(f"stanza {found}", pipeline)


def _ranges(sentence: Any, words: Sequence[str]) -> Iterator[Range]:
    """Noun and verb phrases of a tree, those within others too."""
    tree = sentence.constituency
    if tree is None or list(tree.leaf_labels()) != [word.text for word in sentence.words]:
        return
    if [word.text for word in sentence.words] != list(words):
        return
    start = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.is_leaf():
            start += 1
            continue
        # "NP-TMP" is a noun phrase.
        kind = _KINDS.get(node.label.partition("-")[0])
        if kind is not None:
            yield kind, start, start + len(node.leaf_labels())
        stack.extend(reversed(node.children))
