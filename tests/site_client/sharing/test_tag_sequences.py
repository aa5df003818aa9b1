"""No note in any format, however its spans lie, becomes a share whose tags go on with what was not begun."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.payload.sentence_block import SentenceBlock, ValueRules, check_block
from shared.corpus import read_corpus, write_corpus
from shared.document import Document
from shared.labels import HIDDEN, LabelScheme, map_document, without_hidden
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from tests.shared.corpus.samples import ANNOTATED, ENDINGS, documents

SCHEME = LabelScheme("samples", ("PATIENT", "LOCATION-OTHER", "FECHAS", "Außenstelle", "A_B"))
RULES = ValueRules(len(SCHEME.tags), 1.0)
# One category that the release does not have, so that its spans are hidden.
MAPPING = {category: category for category in SCHEME.categories} | {"FECHAS": HIDDEN}


def check(chunk: TokenisedSentences) -> None:
    values = np.zeros((chunk.tokens, 1), dtype="<f2")
    casing = np.zeros(chunk.tokens, dtype=np.uint8)
    check_block(SentenceBlock(values, without_hidden(chunk.tags), casing, chunk.lengths.astype("<i4")), RULES)


@settings(max_examples=30)
@given(documents())
def test_spans_anywhere(document: Document) -> None:
    for note in (document, map_document(document, MAPPING, to_share=True)):
        for size in (1, 1 << 16):
            for chunk in tokenised_chunks(tokenise_documents([note]), SCHEME, chunk_tokens=size):
                check(chunk)


@pytest.mark.parametrize("form", ANNOTATED)
@settings(max_examples=10)
@given(document=documents(edges_are_words=True))
def test_every_format(form: str, document: Document) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"notes{ENDINGS.get(form, '')}"
        write_corpus([document], path, form)
        for chunk in tokenised_chunks(tokenise_documents(read_corpus(path, format=form)), SCHEME):
            check(chunk)
