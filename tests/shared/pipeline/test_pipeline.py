from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

from foundation.errors import StorageError
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.registry import load_construction
from shared.document import Annotation, Document
from shared.errors import ConfigurationError, EmbeddingError, ModelError
from shared.labels import LabelScheme
from shared.models.representer import Representer, RepresenterConfig
from shared.pipeline import pipeline as module
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline, load_pipeline
from shared.pipeline.reading import Reading
from shared.sentences.encoding import embedded_corpus, represent_noise_free
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import TokenisedSentences, tokenised_chunks
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.registry import save_head
from shared.taggers.tagger import Represent
from shared.text.tokens import tokenise
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.embeddings.made import with_subwords
from tests.tiny_notes import note, tiny_notes

SCHEME = LabelScheme("tiny", ("PATIENT", "DOCTOR", "DATE", "PHONE", "HOSPITAL"))


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    """A pipeline that knows the tiny notes; its representer is not trained, which they do not need."""
    torch.manual_seed(0)
    notes = list(tiny_notes(60))
    words = sorted({word for document in notes for word in tokenise(document.text).words})
    vectors = with_subwords(words, dim=16, buckets=500)
    representer = Representer(RepresenterConfig(16, dim=24, hidden=24)).eval().requires_grad_(False)
    with torch.no_grad():
        representer.output.weight.mul_(4)
    source, _ = embedded_corpus(notes, vectors, SCHEME)
    shown = represent_noise_free(source, representer)
    recipe = TaggingConfig(epochs=25, learning_rate=1e-2)
    head = train_tagger(shown, len(SCHEME.tags), recipe, shape=BiLSTMCRFConfig(24, len(SCHEME.tags), hidden=24))
    return Pipeline(NoisyRecurrent(vectors, representer, SCHEME), head)


def found(pipeline: Pipeline, *documents: Document) -> list[tuple[Annotation, ...]]:
    return [document.annotations for document in pipeline.annotate(documents)]


def saved(pipeline: Pipeline, folder: Path) -> None:
    assert isinstance(pipeline.encoder, NoisyRecurrent)
    pipeline.encoder.save(folder)
    save_head(pipeline.head, folder)


STRANGE = {
    "plain": ("", ""),
    "emoji": ("👩‍⚕️🏥 ", " 🙂"),
    "CRLF": ("\r\n\r\n", "\r\n"),
    "combining accents": ("Pie\u0301 cafe\u0301 ", " e\u0301\u0308"),
    "right to left": ("\u202bשלום עולם\u202c ", " مرحبا"),
    "byte order mark": ("\ufeff", "\ufeff"),
    "tabs and vertical spaces": ("\t\x0b\x0c", "\u2028\u2029\x85"),
    "beyond the first plane": ("𝔓𝔞𝔱𝔦𝔢𝔫𝔱 𐍈 ", " 𝟘𝟙"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_offsets_are_exact_in_any_text(kind: str, pipeline: Pipeline) -> None:
    before, after = STRANGE[kind]
    gold = note(
        "a",
        f"{before}\n",
        "Dr ",
        ("Quillfeather", "DOCTOR"),
        " of ",
        ("Thistledown Clinic", "HOSPITAL"),
        f" advised rest.\n{after}\n{before}Dr Oxenthorpe{after} advised rest.",
    )
    (document,) = pipeline.annotate([gold])
    assert document.text == gold.text
    covered = {document.covered_text(span) for span in document.annotations}
    assert {"Quillfeather", "Thistledown Clinic"} <= covered
    assert not any(part != part.strip() for part in covered)
    edges = tokenise(gold.text).spans
    for span in document.annotations:
        assert span.start in edges[:, 0]
        assert span.end in edges[:, 1]


def test_it_knows_the_notes_it_was_trained_on(pipeline: Pipeline) -> None:
    gold = list(tiny_notes(20, seed=1))
    right = sum(
        len(set(one) & set(document.annotations)) for one, document in zip(found(pipeline, *gold), gold, strict=True)
    )
    assert right > 0.85 * sum(len(document.annotations) for document in gold)


def test_the_annotations_that_a_note_brings_do_not_matter(pipeline: Pipeline) -> None:
    gold = next(tiny_notes(1))
    bare = Document(gold.identifier, gold.text)
    assert found(pipeline, gold) == found(pipeline, bare)


def test_the_same_notes_give_the_same_spans(pipeline: Pipeline) -> None:
    notes = list(tiny_notes(10, seed=3))
    assert found(pipeline, *notes) == found(pipeline, *notes)


def test_the_company_of_a_note_does_not_change_its_spans(pipeline: Pipeline) -> None:
    notes = list(tiny_notes(10, seed=3))
    alone = [found(pipeline, one)[0] for one in notes]
    assert found(pipeline, *notes) == alone
    assert found(pipeline, *reversed(notes)) == alone[::-1]


@pytest.mark.parametrize("size", [1, 7, 50, 333])
def test_a_note_split_over_chunks_gives_the_same_spans(
    size: int, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = list(tiny_notes(12, seed=4))
    long = Document("long", "".join(one.text for one in notes))
    expected = found(pipeline, long, *notes)
    monkeypatch.setattr(module, "tokenised_chunks", lambda documents, scheme: tokenised_chunks(documents, scheme, size))
    monkeypatch.setattr(module, "CHUNK_TOKENS", size)
    assert found(pipeline, long, *notes) == expected


def test_notes_without_words_pass_through(pipeline: Pipeline) -> None:
    empty = [Document("a", ""), Document("b", " \r\n"), *tiny_notes(1), Document("c", "\t")]
    assert [document.identifier for document in pipeline.annotate(empty)] == [one.identifier for one in empty]
    assert list(pipeline.annotate([])) == []


def test_notes_are_read_as_they_are_needed(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_TOKENS", 60)
    read: list[str] = []

    def watched() -> object:
        for document in tiny_notes(40):
            read.append(document.identifier)
            yield document

    stream = pipeline.annotate(watched())  # type: ignore[arg-type]
    next(stream)
    assert len(read) < 5


def test_a_dot_inside_an_address_does_not_cut_it() -> None:
    text = "Lives at Calle. Mayor 3 today"
    spans = (Annotation(9, 14, "STREET"), Annotation(16, 23, "STREET"))
    tokens = tokenise(text)
    joined = module._joined(spans, tokens, text)
    starts = tokens.spans[tokens.sentence_starts, 0].tolist()
    assert joined == ((Annotation(9, 23, "STREET"),) if 16 in starts else spans)
    for other in (Annotation(16, 23, "CITY"),):
        assert module._joined((spans[0], other), tokens, text) == (spans[0], other)


def test_what_is_saved_finds_the_same(pipeline: Pipeline, tmp_path: Path) -> None:
    saved(pipeline, tmp_path)
    notes = list(tiny_notes(5, seed=6))
    loaded = load_pipeline(tmp_path)
    assert loaded.encoder.scheme == SCHEME
    assert found(loaded, *notes) == found(pipeline, *notes)


def test_parts_that_do_not_fit_are_refused(pipeline: Pipeline) -> None:
    encoder = pipeline.encoder
    assert isinstance(encoder, NoisyRecurrent)
    with pytest.raises(ModelError, match="16 dimensions"):
        replace(encoder, vectors=with_subwords(("a", "b"), dim=5))
    for shape in (BiLSTMCRFConfig(23, len(SCHEME.tags)), BiLSTMCRFConfig(24, 5)):
        with pytest.raises(ModelError, match="head"):
            Pipeline(encoder, BiLSTMCRF(shape))


@pytest.mark.parametrize(
    "name", ["embeddings.safetensors", "vocabulary.json", "representer.safetensors", "representer.json", "scheme.json"]
)
def test_a_missing_or_cut_file_is_an_error_of_its_kind(name: str, pipeline: Pipeline, tmp_path: Path) -> None:
    saved(pipeline, tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises((EmbeddingError, ModelError)):
        load_construction(tmp_path)
    path.unlink()
    with pytest.raises((EmbeddingError, ModelError, StorageError)):
        load_construction(tmp_path)


def test_vectors_of_another_size_in_the_folder_are_refused(pipeline: Pipeline, tmp_path: Path) -> None:
    saved(pipeline, tmp_path)
    description = json.loads((tmp_path / "representer.json").read_text())
    (tmp_path / "representer.json").write_text(json.dumps(description | {"inputs": 17}))
    with pytest.raises(ModelError, match="tensors"):
        load_construction(tmp_path)


def test_a_scheme_needs_categories() -> None:
    with pytest.raises(ConfigurationError):
        LabelScheme("none", ())


def test_tags_come_in_the_order_of_the_tokens(pipeline: Pipeline) -> None:
    notes = list(tiny_notes(6, seed=8))
    together = Reading.concatenate(list(pipeline.read([(one, tokenise(one.text)) for one in notes]))).tags
    alone = [Reading.concatenate(list(pipeline.read([(one, tokenise(one.text))]))).tags for one in notes]
    np.testing.assert_array_equal(together, np.concatenate(alone))


class _Reader(BiLSTMCRF):
    """A tagger that looks at the words themselves."""

    read: ClassVar[list[str]] = []

    def inputs(self, chunk: TokenisedSentences, represent: Represent) -> SentenceSource:
        self.read.extend(chunk.words)
        return super().inputs(chunk, represent)


def test_a_head_takes_from_the_words_what_it_needs(pipeline: Pipeline) -> None:
    head = _Reader(BiLSTMCRFConfig(24, len(SCHEME.tags), hidden=24))
    head.load_state_dict(pipeline.head.state_dict())
    document = note("a", "Dr Quillfeather of Thistledown Clinic advised rest.")
    assert found(Pipeline(pipeline.encoder, head), document) == found(pipeline, document)
    assert _Reader.read == tokenise(document.text).words


def test_a_note_in_small_letters_is_read_with_capitals_and_stays_as_it_is(pipeline: Pipeline) -> None:
    notes = [replace(one, text=one.text.lower(), annotations=()) for one in tiny_notes(8)]
    reading = replace(pipeline, stated=LastWordSettings("English", ("capitals",)))
    assert all(reading.seen(one.text) != one.text for one in notes)
    shown = [replace(one, text=reading.seen(one.text)) for one in notes]
    assert found(reading, *notes) == found(pipeline, *shown)
    assert [one.text for one in reading.annotate(notes)] == [one.text for one in notes]
    assert reading.seen("Seen by Dr. Oxenthorpe") == "Seen by Dr. Oxenthorpe"
    assert pipeline.seen(notes[0].text) == notes[0].text
