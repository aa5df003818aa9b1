"""What follows the tagger in a pipeline, the same for all who run it: patterns, whole entities, further mentions. See docs/adr/0034.

The first two steps give up what tells of nobody (`shared.pipeline.given_up`); the others only add, so whatever they find of it is hidden all
the same. A release says in `last_word.json` which steps it was measured with; one that says nothing has none, as releases had before there were any.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from foundation.files import write_text
from foundation.reading import read_text
from shared.anonymity.shipped_lists import ordinary_words
from shared.document import Annotation, Document
from shared.errors import ModelError
from shared.labels import HIDDEN, LabelScheme, categories_of_any_form, categories_of_names
from shared.patterns.engine import Patterns
from shared.patterns.small_names import SmallNames
from shared.pipeline.given_up.eponyms import Eponyms, eponym_names
from shared.pipeline.given_up.impersonal import Impersonal
from shared.pipeline.mentions import ArePublic, with_repeated
from shared.pipeline.spans import complete_spans
from shared.pipeline.whole_entities import WholeEntities
from shared.sentences.referenced import as_written, decoded
from shared.text.language import known_languages
from shared.text.tokens import Tokens

FLOOR = 0.9
"""Share of a kind's matches that must be PHI at every training hospital for it to have a say."""
FILE = "last_word.json"
STEPS = ("capitals", "eponyms", "impersonal", "patterns", "whole", "mentions")
"""In this order; "capitals" is ahead of the tagger (`Pipeline.seen`), "whole" follows "mentions" once more."""
_SURE = 0.99
_ANY_NUMBER = frozenset({"long_number", "code_number"})
_MAX_BYTES = 1 << 16


@dataclass(frozen=True)
class LastWordSettings:
    """What a release states.

    Args:
        language: of its notes, in English ("Spanish"); None where nobody knows.
        steps: of STEPS.
    """

    language: str | None
    steps: tuple[str, ...] = STEPS

    def save(self, folder: Path) -> None:
        """Write last_word.json."""
        stated = {"version": 1, "language": self.language, "steps": list(self.steps)}
        write_text(folder / FILE, json.dumps(stated, indent=1) + "\n", private=False)


@dataclass(frozen=True)
class LastWord:
    """Adds to what a tagger found.

    Args:
        scheme: of the pipeline.
        settings: of its release.
        are_public: tells words from names, by what the release says of its words.
    """

    scheme: LabelScheme
    settings: LastWordSettings
    are_public: ArePublic

    def complete(self, document: Document, tokens: Tokens | None = None) -> Document:
        """The document with all that is added.

        Args:
            document: with what the tagger found.
            tokens: of its text, where somebody has them.
        """
        read, note = decoded(document)
        # Tokens lie where they are written: of what is read otherwise nobody has any.
        return as_written(document, note, self._complete(read, tokens if note.is_written_so else None))

    def _complete(self, document: Document, tokens: Tokens | None) -> Document:
        steps = self.settings.steps
        if "eponyms" in steps:
            document = self._eponyms.give_up(document)
        if "impersonal" in steps:
            document = self._impersonal.give_up(document)
        if "patterns" in steps:
            document = self._with_small_names(self._with_patterns(document))
        if "whole" in steps:
            document = self._whole.widen(document)
        if "mentions" in steps:
            document = with_repeated(document, self._people, self.are_public, tokens)
            document = self._whole.widen(document) if "whole" in steps else document
        return document

    def _with_patterns(self, document: Document) -> Document:
        """With what patterns find: it names the category where it covers what the tagger found.

        Where the tagger is sure, a number of any kind (`long_number`) names nothing that it found just there, and words of any form nothing of
        two categories (`Hospital de Getafe, Carretera Toledo`): there they only add.
        """
        spans = document.annotations
        named: set[int] = set()
        added = []
        for found, kind in self._by_patterns(document.text):
            first = bisect_left(spans, found.start, key=lambda one: one.start)
            last = bisect_right(spans, found.end, key=lambda one: one.end)
            covered = spans[first:last]
            sure = [one for one in covered if one.confidence is None or one.confidence >= _SURE]
            same = any((one.start, one.end) == (found.start, found.end) for one in sure)
            several = found.category in self._free and len({one.category for one in sure}) > 1
            if same and kind in _ANY_NUMBER:
                continue
            added.append(found)
            if not several:
                named.update(range(first, first + len(covered)))
        kept = tuple(span for number, span in enumerate(spans) if number not in named)
        return complete_spans(replace(document, annotations=kept), added)

    def _with_small_names(self, document: Document) -> Document:
        """With names in small letters where nothing was found: who found something there knows better whose name it is."""
        spans = document.annotations
        added = []
        for found in self._small_names.find(document.text):
            behind = bisect_right(spans, found.start, key=lambda one: one.end)
            touched = behind < len(spans) and spans[behind].start < found.end
            if not touched and document.text[found.start : found.end] not in eponym_names():
                added.append(Annotation(found.start, found.end, found.category, confidence=found.certainty))
        return complete_spans(document, added) if added else document

    def _by_patterns(self, text: str) -> Iterator[tuple[Annotation, str]]:
        """What patterns find, each stretch once, and which kind: the longest first, then the kind that is stated first."""
        end = 0
        order = {kind: number for number, kind in enumerate(self._patterns.kinds)}
        for found in sorted(self._patterns.find(text), key=lambda one: (one.start, -one.end, order[one.source])):
            if found.category != HIDDEN and found.end > end:
                yield (
                    Annotation(max(found.start, end), found.end, found.category, confidence=found.certainty),
                    found.source,
                )
                end = found.end

    @cached_property
    def _free(self) -> frozenset[str]:
        return frozenset(self.scheme.categories[number] for number in categories_of_any_form(self.scheme))

    @cached_property
    def _patterns(self) -> Patterns:
        return _patterns_of(self.scheme, self.settings.language)

    @cached_property
    def _small_names(self) -> SmallNames:
        return SmallNames(self.scheme, self.settings.language)

    @cached_property
    def _eponyms(self) -> Eponyms:
        return Eponyms.of(self.scheme)

    @cached_property
    def _impersonal(self) -> Impersonal:
        return Impersonal.of(self.scheme, ordinary_words(self.settings.language), self.settings.language)

    @cached_property
    def _whole(self) -> WholeEntities:
        return WholeEntities.of(self.scheme, self.are_public)

    @cached_property
    def _people(self) -> frozenset[str]:
        return categories_of_names(self.scheme, "people")


def load_settings(folder: Path) -> LastWordSettings | None:
    """What the release in a folder states; None where it states nothing.

    Raises:
        ModelError: the file is not what `save` writes, or asks for what this version does not know.
    """
    if not (folder / FILE).exists():
        return None
    try:
        stated = json.loads(read_text(folder / FILE, _MAX_BYTES))
        version, language, steps = stated["version"], stated["language"], stated["steps"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{FILE}: expected the steps behind a tagger; pull the release again") from error
    known = isinstance(steps, list) and all(step in STEPS for step in steps)
    if version != 1 or not known:
        raise ModelError(f"{FILE}: expected steps among {', '.join(STEPS)}, got others; update deid-commons")
    if language not in (None, *known_languages()):
        raise ModelError(
            f"{FILE}: expected null or a language among {', '.join(known_languages())}, got another; update deid-commons, or tell the provider"
        )
    return LastWordSettings(language, tuple(steps))


@lru_cache(maxsize=8)
def _patterns_of(scheme: LabelScheme, language: str | None) -> Patterns:
    """One for all pipelines of a release: there is one at each operating point that is tried, and a text is found by what never changes."""
    return Patterns(scheme, language, FLOOR)
