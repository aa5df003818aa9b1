"""What hospitals know, as plain programs: a linear-chain CRF with ordinary features (python-crfsuite), spaCy's NER, Presidio's patterns.

Runs under an interpreter of its own that has their packages, and nothing of this project:
`python peer_taggers.py train|tag crfsuite|spacy|presidio MODEL NOTES [OUT]`. Training reads one JSON Lines file (`text`, `spans` of start, end, label), tagging
a folder of texts; it writes spans as JSON Lines, one file for each note, as `site-client deid --mode tag` does.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"[^\W\d_]+|\d+|\S")
_ITERATIONS, _PASSES = 50, 4
_WINDOW = (-2, -1, 1, 2)


def _sentences(text: str) -> Iterator[list[re.Match[str]]]:
    start = 0
    for line in text.splitlines(keepends=True):
        tokens = list(_TOKEN.finditer(text, start, start + len(line)))
        start += len(line)
        if tokens:
            yield tokens


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


def _train_presidio(model: Path, notes: list[dict[str, Any]]) -> None:
    """It learns nothing: its recognisers are as they come, without a model of names, which it brings none of."""


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


_TRAIN = {"crfsuite": _train_crfsuite, "spacy": _train_spacy, "presidio": _train_presidio}
_TAG = {"crfsuite": _tag_crfsuite, "spacy": _tag_spacy, "presidio": _tag_presidio}


def _main(action: str, kind: str, model: Path, notes: Path, *rest: str) -> None:
    if action == "train":
        _TRAIN[kind](model, [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()])
        return
    out = Path(rest[0])
    out.mkdir()
    paths = sorted(notes.glob("*.txt"))
    for path, spans in zip(paths, _TAG[kind](model, (path.read_text(encoding="utf-8") for path in paths)), strict=True):
        told = "".join(json.dumps({"start": span[0], "end": span[1], "category": span[2]}) + "\n" for span in spans)
        (out / f"{path.stem}.jsonl").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:])
