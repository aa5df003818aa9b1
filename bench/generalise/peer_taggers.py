"""What hospitals know, as plain programs: taggers that learn (python-crfsuite, spaCy, flair) and rules that don't (Presidio, philter-lite, pyDeid).

Runs under an interpreter of its own that has their packages, and nothing of this project:
`python peer_taggers.py train KIND MODEL NOTES [VECTORS]` and `python peer_taggers.py tag KIND MODEL NOTES OUT`. Training reads one JSON
Lines file (`text`, `spans` of start, end, label), tagging a folder of texts; it writes spans as JSON Lines, one file for each note, as
`site-client deid --mode tag` does. Rules are as their packages bring them.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"[^\W\d_]+|\d+|\S")
_ITERATIONS, _PASSES, _EPOCHS = 50, 4, 10
_WINDOW = (-2, -1, 1, 2)
_LONGEST = 64


def _sentences(text: str) -> Iterator[list[re.Match[str]]]:
    start = 0
    for line in text.splitlines(keepends=True):
        tokens = list(_TOKEN.finditer(text, start, start + len(line)))
        start += len(line)
        if tokens:
            yield tokens


def _pieces(text: str) -> Iterator[list[re.Match[str]]]:
    """Lines of at most _LONGEST tokens, cut behind the last full stop that ends no abbreviation: flair fills every line of a batch up to
    its longest one, and some lines have a thousand tokens.
    """
    for tokens in _sentences(text):
        left = tokens
        while len(left) > _LONGEST:
            ends = [
                place + 1
                for place in range(1, _LONGEST)
                if left[place][0] in ".!?" and left[place - 1][0].islower() and len(left[place - 1][0]) > 3
            ]
            cut = ends[-1] if ends else _LONGEST
            yield left[:cut]
            left = left[cut:]
        yield left


def _shape(word: str) -> str:
    return re.sub(r"(.)\1{2,}", r"\1\1", re.sub(r"[a-zà-ÿ]", "x", re.sub(r"[A-ZÀ-Þ]", "X", re.sub(r"\d", "d", word))))


def _features(tokens: list[re.Match[str]]) -> list[list[str]]:
    words = [token[0] for token in tokens]
    own = [
        (
            f"w={word.lower()}",
            f"p={word[:3].lower()}",
            f"s={word[-3:].lower()}",
            f"f={word[-2:].lower()}",
            f"x={_shape(word)}",
        )
        for word in words
    ]
    rows = []
    for place, features in enumerate(own):
        row = ["bias", *features]
        for step in _WINDOW:
            beside = place + step
            if 0 <= beside < len(own):
                row += [f"{step}{own[beside][0]}", f"{step}{own[beside][4]}"]
            else:
                row.append(f"{step}none")
        rows.append(row)
    return rows


def _tags(tokens: list[re.Match[str]], spans: list[list[Any]]) -> list[str]:
    tags = []
    for token in tokens:
        inside = next((span for span in spans if span[0] < token.end() and token.start() < span[1]), None)
        tags.append("O" if inside is None else ("B-" if token.start() <= inside[0] else "I-") + inside[2])
    return tags


def _spans(tokens: list[re.Match[str]], tags: list[str]) -> list[list[Any]]:
    spans: list[list[Any]] = []
    before = "O"
    for token, tag in zip(tokens, tags, strict=True):
        if tag[:2] == "I-" and before[2:] == tag[2:]:
            spans[-1][1] = token.end()
        elif tag != "O":
            spans.append([token.start(), token.end(), tag[2:]])
        before = tag
    return spans


def _train_crfsuite(model: Path, notes: list[dict[str, Any]]) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for note in notes:
        for tokens in _sentences(note["text"]):
            trainer.append(_features(tokens), _tags(tokens, note["spans"]))
    trainer.set_params({"c1": 0.1, "c2": 0.1, "max_iterations": _ITERATIONS, "feature.possible_transitions": True})
    trainer.train(str(model))


def _tag_crfsuite(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    for text in texts:
        spans: list[list[Any]] = []
        for tokens in _sentences(text):
            spans += _spans(tokens, tagger.tag(_features(tokens)))
        yield spans


def _train_spacy(model: Path, notes: list[dict[str, Any]]) -> None:
    import spacy
    from spacy.training import Example

    program = spacy.blank("en")
    recogniser = program.add_pipe("ner")
    examples = []
    for note in notes:
        document = program.make_doc(note["text"])
        spans = [document.char_span(*span[:2], label=span[2], alignment_mode="expand") for span in note["spans"]]
        document.ents = spacy.util.filter_spans([span for span in spans if span is not None])
        examples.append(Example(program.make_doc(note["text"]), document))
        for span in document.ents:
            recogniser.add_label(span.label_)
    optimiser = program.initialize(lambda: examples)
    for _ in range(_PASSES):
        random.Random(0).shuffle(examples)
        for batch in spacy.util.minibatch(examples, 8):
            program.update(batch, sgd=optimiser)
    program.to_disk(model)


def _tag_spacy(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    import spacy

    for document in spacy.load(model).pipe(texts):
        yield [[span.start_char, span.end_char, span.label_] for span in document.ents]


def _train_flair(model: Path, notes: list[dict[str, Any]], vectors: str) -> None:
    from flair.data import Corpus, Dictionary, Sentence
    from flair.datasets import FlairDatapointDataset
    from flair.embeddings import CharacterEmbeddings, StackedEmbeddings, WordEmbeddings
    from flair.models import SequenceTagger
    from flair.trainers import ModelTrainer

    sentences = []
    for note in notes:
        for tokens in _pieces(note["text"]):
            sentence = Sentence([token[0] for token in tokens])
            begins = {token.start(): number for number, token in enumerate(tokens)}
            ends = {token.end(): number for number, token in enumerate(tokens)}
            for start, end, label in _spans(tokens, _tags(tokens, note["spans"])):
                sentence[begins[start] : ends[end] + 1].add_label("ner", label)
            sentences.append(sentence)
    random.Random(0).shuffle(sentences)
    held_out = len(sentences) // 10
    corpus = Corpus(
        FlairDatapointDataset(sentences[held_out:]),
        FlairDatapointDataset(sentences[:held_out]),
        sample_missing_splits=False,
    )
    # Its own list of characters would be fetched.
    characters = Dictionary()
    for one in sorted({character for note in notes for character in note["text"]}):
        characters.add_item(one)
    model.mkdir()
    characters.save(model / "characters")
    tagger = SequenceTagger(
        embeddings=StackedEmbeddings([WordEmbeddings(vectors), CharacterEmbeddings(str(model / "characters"))]),
        tag_dictionary=corpus.make_label_dictionary("ner", add_unk=False),
        tag_type="ner",
        hidden_size=256,
        # With it a step of 32 sentences takes 6 CPU seconds: for every token backward fills a block as large as the batch, tags squared.
        use_crf=False,
    )
    ModelTrainer(tagger, corpus).train(
        model, learning_rate=0.1, mini_batch_size=32, max_epochs=_EPOCHS, embeddings_storage_mode="none"
    )


def _tag_flair(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    from flair.data import Sentence
    from flair.models import SequenceTagger

    # Of a pass that was better than those before on the tenth that is held out; there is none where none was.
    best = model / "best-model.pt"
    tagger = SequenceTagger.load(best if best.exists() else model / "final-model.pt")
    for text in texts:
        lines = list(_pieces(text))
        sentences = [Sentence([token[0] for token in tokens]) for tokens in lines]
        tagger.predict(sentences, mini_batch_size=128)
        yield [
            [tokens[span.tokens[0].idx - 1].start(), tokens[span.tokens[-1].idx - 1].end(), span.get_label("ner").value]
            for tokens, sentence in zip(lines, sentences, strict=True)
            for span in sentence.get_spans("ner")
        ]


def _train_nothing(model: Path, notes: list[dict[str, Any]]) -> None:
    """Rules learn nothing; Presidio is without a model of names, of which it brings none."""


def _tag_presidio(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    import spacy
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    engine = SpacyNlpEngine()
    # English tokens alone: a model of its own would be fetched.
    engine.nlp = {"en": spacy.blank("en")}
    analyser = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    for text in texts:
        # It returns one span for each recogniser that found it.
        found = sorted(analyser.analyze(text, language="en"), key=lambda one: (one.start, -one.end))
        spans: list[list[Any]] = []
        for one in found:
            if not spans or one.start >= spans[-1][1]:
                spans.append([one.start, one.end, one.entity_type])
        yield spans


def _tag_philter(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    import philter_lite

    filters = philter_lite.load_filters(Path(philter_lite.__file__).parent / "configs" / "philter_delta.toml")
    for text in texts:
        kept, _, _ = philter_lite.detect_phi(text, filters)
        # Whatever no filter calls safe is hidden, punctuation aside.
        yield [[start, end, "PHI"] for start, end in kept.get_complement(text).items()]


def _tag_pydeid(model: Path, texts: Iterator[str]) -> Iterator[list[list[Any]]]:
    from pyDeid import deid_string

    for text in texts:
        found, _ = deid_string(text)
        spans: list[list[Any]] = []
        # What two of its rules have found may overlap.
        for start, end in sorted((one["phi_start"], one["phi_end"]) for one in found):
            if spans and start < spans[-1][1]:
                spans[-1][1] = max(end, spans[-1][1])
            else:
                spans.append([start, end, "PHI"])
        yield spans


_TRAIN: dict[str, Callable[..., None]] = {
    "crfsuite": _train_crfsuite,
    "spacy": _train_spacy,
    "flair": _train_flair,
    "presidio": _train_nothing,
    "philter": _train_nothing,
    "pydeid": _train_nothing,
}
_TAG = {
    "crfsuite": _tag_crfsuite,
    "spacy": _tag_spacy,
    "flair": _tag_flair,
    "presidio": _tag_presidio,
    "philter": _tag_philter,
    "pydeid": _tag_pydeid,
}


def _main(action: str, kind: str, model: Path, notes: Path, *rest: str) -> None:
    if action == "train":
        learned = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
        _TRAIN[kind](model, learned, *rest)
        return
    out = Path(rest[0])
    out.mkdir()
    paths = sorted(notes.glob("*.txt"))
    for path, spans in zip(paths, _TAG[kind](model, (path.read_bytes().decode() for path in paths)), strict=True):
        told = "".join(json.dumps({"start": span[0], "end": span[1], "category": span[2]}) + "\n" for span in spans)
        (out / f"{path.stem}.jsonl").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:])
