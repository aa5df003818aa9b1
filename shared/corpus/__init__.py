"""Notes in and out: lossless, with offsets in code points that are checked against the text they quote.

    for document in read_corpus(Path("notes")):
        ...
    write_corpus(documents, Path("out"), "brat")

What holds for every format:

- A byte order mark is no part of the text (unless brat's offsets count it); every other byte of a note is. Line ends
  stay as they are (in XML as the standard reads them, unless the offsets count carriage returns).
- An empty note is a document without annotations; an empty folder or an empty file of many is an error.
- A document that can't be trusted raises, or goes to the quarantine and is counted. Nothing is dropped in silence.
"""

from __future__ import annotations

from shared.corpus.formats.registry import FORMAT_NAMES
from shared.corpus.reading import Corpus, read_corpus
from shared.corpus.report import Report
from shared.corpus.writing import rewrite_corpus, write_corpus, write_document

__all__ = ["FORMAT_NAMES", "Corpus", "Report", "read_corpus", "rewrite_corpus", "write_corpus", "write_document"]
