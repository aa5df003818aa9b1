"""The notes that a command reads, as its options say, and the line that says what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from command_line.notes_options import NotesOptions
from shared.corpus import Corpus, read_corpus
from shared.document import AnnotatedText, Document
from shared.evaluation.reading import OFFICIAL_READERS, as_it_stands, within_text
from shared.labels import LabelScheme, load_mapping, load_mapping_file, map_document, scheme_names

Note = TypeVar("Note", bound=AnnotatedText)


class Notes:
    """Documents of one path, in the words of the scheme that is wanted.

    Args:
        path: folder or file.
        options: how to read it.
        scheme: its categories are the only ones let through; None lets all through.
        to_share: whether what is labelled in the notes and has no category in the scheme is kept, to be hidden, and
            a note that nobody has labelled is a bad one.
    """

    def __init__(
        self, path: Path, options: NotesOptions, scheme: LabelScheme | None = None, *, to_share: bool = False
    ) -> None:
        self._mapping: dict[str, str] | None = None
        if scheme is not None and options.labels is not None:
            bundled = options.labels in scheme_names()
            self._mapping = (
                load_mapping(options.labels, scheme.name)
                if bundled
                else load_mapping_file(Path(options.labels), scheme)
            )
        known = None if scheme is None else frozenset(self._mapping or scheme.categories)
        self.corpus: Corpus = read_corpus(
            path,
            format=options.format,
            text_column=options.text_column,
            quarantine=options.quarantine,
            categories=known,
            readers=OFFICIAL_READERS if options.official else None,
            labelled=to_share,
            encoding=options.encoding,
        )
        self._official = options.official
        self._to_share = to_share

    def __iter__(self) -> Iterator[Document]:
        return self._mapped(self.corpus)

    def to_evaluate(self) -> Iterator[AnnotatedText]:
        """The same for evaluation, which takes spans that overlap."""
        return self._mapped(self.corpus.documents(as_it_stands if self._official else within_text))

    def _mapped(self, documents: Iterable[Note]) -> Iterator[Note]:
        if self._mapping is None:
            return iter(documents)
        mapping, to_share = self._mapping, self._to_share
        return (map_document(document, mapping, to_share=to_share) for document in documents)

    @property
    def quarantined(self) -> int:
        """Documents that were set aside."""
        return self.corpus.report.quarantined

    def lines(self) -> list[str]:
        """What was detected and read, for people; after the notes were read."""
        return [self.corpus.detected, str(self.corpus.report)]


def texts(notes: Iterable[Notes]) -> Iterator[str]:
    """The texts of several corpora."""
    for corpus in notes:
        for document in corpus:
            yield document.text
