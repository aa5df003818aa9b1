"""The notes that a command reads, as its options say, and the line that says what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from command_line.commands import warn
from command_line.notes_options import NotesOptions
from shared.corpus import Corpus, read_corpus
from shared.corpus.checks import is_presentable
from shared.corpus.parts import Part
from shared.corpus.reading import verify_document
from shared.corpus.writing import require_file_name
from shared.document import AnnotatedText, Document
from shared.errors import CorpusError, LabelError
from shared.evaluation.reading import OFFICIAL_READERS, as_it_stands, within_text
from shared.labels import (
    HIDDEN,
    OTHER,
    LabelScheme,
    load_mapping,
    load_mapping_file,
    map_document,
    name_label,
    scheme_names,
)
from shared.text.language import guess_language, guess_vocabulary

Note = TypeVar("Note", bound=AnnotatedText)
# More of them are told in number only.
_MOST_LABELS = 20
_NOTES_LOOKED_AT = 20


class Notes:
    """Documents of one path, in the words of the scheme that is wanted.

    Args:
        path: folder or file.
        options: how to read it.
        scheme: its categories are the only ones let through; None lets all through.
        to_share: whether what is labelled in the notes and has no category in the scheme is kept, to be hidden, and
            a note that nobody has labelled is a bad one. Such is OTHER, too, as our own commands write it, where
            neither the scheme nor the map says what that is.
        to_hide: whether the first holds alone: such labels are kept, and a note may have none.
        labelled: whether it is a bad one all the same.
        part: of the notes; None for all.
    """

    def __init__(
        self,
        path: Path,
        options: NotesOptions,
        scheme: LabelScheme | None = None,
        *,
        to_share: bool = False,
        to_hide: bool = False,
        labelled: bool = False,
        part: Part | None = None,
    ) -> None:
        self._part = part
        self._mapping: dict[str, str] | None = None
        if scheme is not None and options.labels is not None:
            bundled = options.labels in scheme_names()
            self._mapping = (
                load_mapping(options.labels, scheme.name)
                if bundled
                else load_mapping_file(Path(options.labels), scheme)
            )
        self._path, self._options, self._keeps_all = path, options, to_share or to_hide
        self._labelled = to_share or labelled
        self._expected = "" if scheme is None else f"of {scheme.name}" if self._mapping is None else "of the mapping"
        if scheme is not None and self._keeps_all and OTHER not in scheme.categories:
            given = {category: category for category in scheme.categories} if self._mapping is None else self._mapping
            self._mapping = {OTHER: HIDDEN, **given}
        self._known = None if scheme is None else frozenset(self._mapping or scheme.categories)
        self.corpus: Corpus = self._read(options.quarantine, self._known)

    def _read(self, quarantine: Path | None, categories: frozenset[str] | None) -> Corpus:
        return read_corpus(
            self._path,
            format=self._options.format,
            text_column=self._options.text_column,
            quarantine=quarantine,
            categories=categories,
            readers=OFFICIAL_READERS if self._options.official else None,
            labelled=self._labelled,
            encoding=self._options.encoding,
            part=self._part,
        )

    def __iter__(self) -> Iterator[Document]:
        return self._mapped(self.corpus)

    def to_files(self) -> Iterator[Document]:
        """The same where each note becomes a file of its own: one whose id can't be the name of a file is a bad one."""
        return self._mapped(self.corpus.documents(_to_be_a_file))

    def to_evaluate(self) -> Iterator[AnnotatedText]:
        """The same for evaluation, which takes spans that overlap."""
        return self._mapped(self.corpus.documents(as_it_stands if self._options.official else within_text))

    def _mapped(self, documents: Iterable[Note]) -> Iterator[Note]:
        mapping, keeps_all = self._mapping, self._keeps_all
        try:
            for document in documents:
                yield document if mapping is None else map_document(document, mapping, to_share=keeps_all)
        except LabelError as error:
            raise self._all_unknown(error) from None

    def _all_unknown(self, first: LabelError) -> LabelError:
        """The same, with every label that is unknown: who maps them one by one begins anew for each."""
        counts: Counter[str] = Counter()
        with suppress(CorpusError):
            # Up to a note that is bad in another way, which says so when its turn has come.
            for document in self._read(None, None).documents(within_text):
                counts.update(
                    span.category for span in document.annotations if span.category not in (self._known or ())
                )
        # What comes once and is written otherwise may be a name that somebody typed into the wrong field.
        known = [one for one in counts.most_common() if one[1] > 1 or name_label(one[0]) == repr(one[0])]
        listed = [f"'{name}' ({count})" for name, count in known[:_MOST_LABELS]]
        if len(known) > _MOST_LABELS:
            listed.append(f"{len(known) - _MOST_LABELS} more")
        if hidden := len(counts) - len(known):
            listed.append(f"{hidden} that {'are' if hidden > 1 else 'is'} not shown, for people write names there, too")
        return LabelError(
            f"expected labels {self._expected}, got others: {', '.join(listed)}; "
            "map them by --labels FILE, which `site-client labels NOTES --out FILE` begins",
            document=first.document,
            place=first.place,
        )

    @property
    def quarantined(self) -> int:
        """Documents that were set aside."""
        return self.corpus.report.quarantined

    def lines(self) -> list[str]:
        """What was detected and read, for people; after the notes were read."""
        return [self.corpus.detected, str(self.corpus.report)]


def _to_be_a_file(found: AnnotatedText) -> Document:
    # One that can't even be shown is refused behind this, without being shown.
    if is_presentable(found.identifier):
        require_file_name(found.identifier)
    return verify_document(found)


def warn_of_language(notes: Iterable[AnnotatedText], words: Sequence[str]) -> None:
    """One line on standard error where notes look like another language than that of what is to read them.

    Args:
        notes: the first of them are looked at.
        words: the vocabulary of a release, commonest first.
    """
    expected = guess_vocabulary(words)
    found = None if expected is None else guess_language(note.text for note in islice(notes, _NOTES_LOOKED_AT))
    if found is not None and found != expected:
        warn(
            f"the notes look {found} and the release {expected}: most of what it should find it will miss; measure it by "
            "`site-client evaluate` on labelled notes of yours before you rely on it"
        )


def texts(notes: Iterable[Notes]) -> Iterator[str]:
    """The texts of several corpora."""
    for corpus in notes:
        for document in corpus:
            yield document.text
