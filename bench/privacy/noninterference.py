"""Whether a share changes when labelled PHI does: notes with other PHI of like pattern, written, read in every format and checked.

What a pattern is, is told here character by character from what docs/privacy.md says, and not by the code that cuts notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch

from bench import corpora
from bench.outcomes import RUNS, load_or_measure
from bench.privacy.material import COMMAND, PROVIDER_NOTES, spanish_names
from bench.results import Entry
from bench.results_loop import vectors
from foundation.folders import new_folder
from shared.constructions.construction import Construction
from shared.constructions.registry import find_procedure, load_construction
from shared.constructions.training import TrainingMaterial, TrainingOptions
from shared.corpus.escapes import find_escapes
from shared.corpus.reading import read_corpus
from shared.corpus.writing import write_corpus
from shared.document import Annotation, Document
from shared.embeddings.training import FastTextSettings
from shared.labels import load_scheme
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig

# Plain text and CSV hold no labels.
LABELLED_FORMATS = (
    "i2b2_2014",
    "meddocan",
    "i2b2_2006",
    "brat",
    "conll",
    "jsonl",
    "presidio",
    "doccano",
    "labelstudio",
)
OF_ANY_FORM = frozenset(
    "TERRITORIO CALLE HOSPITAL INSTITUCION CENTRO_SALUD CORREO_ELECTRONICO URL_WEB PROFESION OTROS_SUJETO_ASISTENCIA "
    "ORGANIZATION STREET CITY STATE LOCATION-OTHER DEPARTMENT EMAIL URL PROFESSION OTHER LOCATION GEOGRAPHIC".split()
)
_SHOWN = ".,:;-/'\"()@#&_\\"
_TYPED = {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-", "…": "..."}
# Symbols, marks, what has no width, what directs the writing, what nobody has assigned: none of them may show.
_STREWN = "€+™|~^$=★😀\xad\u0301\u0591\u200b\u200d\u200f\u202e\u2066\ufe0f\ue000!?%*[]{}¿§¶"
_BLANKS = (" ", "  ", "\n", "\n\n", "\t", "\xa0", "\u3000", "\u2028", "\r\n", " \n ")
_LOWER, _UPPER, _UNCASED, _DIGITS = "aeñößxyzд", "AEÑÖXYZД", "שم漢", "0123456789٣५"
# Names of character references that need no semicolon, and what stands beside a label that would begin or end one.
_NAMED = {"lower": ("eth", "reg", "gt", "copy", "para"), "upper": ("THORN", "REG", "GT")}
_AHEAD = ("&", "&#", "&amp;", "&amp;#", "a&", "&uacute;&", "a&#243;&#", "&amp;uacute;&amp;")
_BEHIND = (";a", "#41;b", ";", ";ller", ";&ntilde;ez", "e;&#243;n;", ";&amp;ntilde;ez")
_BESIDE = 0.1
_CHANGED = 10_000
# So far are the weights of a head from those of a fresh one, for which all tokens are alike.
_SWAYED = 4.0
# Whether bytes differ does not hang on what the vectors say.
_VECTORS = FastTextSettings(dim=20, epochs=1)


@dataclass(frozen=True)
class _Token:
    """A token of a pattern: "digits", a casing, or the punctuation itself; and whether white space is ahead of it."""

    kind: str
    apart: bool


def change_phi(note: Document, random: Random) -> Document:
    """The note with other PHI of like pattern, of any length in characters, and where the category is of any form, of any tokens.

    Never one that is refused, since its letters look like escapes: of that nothing leaves.
    """
    changed = _with_other_phi(note, random)
    while find_escapes(changed.text):
        changed = _with_other_phi(note, random)
    return changed


def _with_other_phi(note: Document, random: Random) -> Document:
    parts: list[str] = []
    spans: list[Annotation] = []
    length = done = 0
    for span in note.annotations:
        before, phi = note.text[done : span.start], note.covered_text(span)
        other = _any_form(phi, random) if span.category in OF_ANY_FORM else _pattern(phi)
        written = "".join(chain.from_iterable(_written(token, random) for token in other)) or phi
        length += len(before)
        spans.append(replace(span, start=length, end=length + len(written)))
        parts += [before, written]
        length += len(written)
        done = span.end
    return Document(note.identifier, "".join([*parts, note.text[done:]]), tuple(spans))


def with_halves(note: Document, random: Random) -> Document:
    """The note with halves of character references beside some of its labels, which PHI could make whole."""
    parts: list[str] = []
    spans: list[Annotation] = []
    length = done = 0
    for span in note.annotations:
        ahead, behind = (random.choice(halves) * (random.random() < _BESIDE) for halves in (_AHEAD, _BEHIND))
        before = note.text[done : span.start] + ahead
        start = length + len(before)
        spans.append(replace(span, start=start, end=start + span.end - span.start))
        parts += [before, note.covered_text(span), behind]
        length = spans[-1].end + len(behind)
        done = span.end
    return Document(note.identifier, "".join([*parts, note.text[done:]]), tuple(spans))


def doubting(construction: Construction) -> Checker:
    """What `encode` looks with, and a head of no training that doubts about half of all tokens, by all that stands around them."""
    dim, tags = construction.dim, len(construction.scheme.tags)
    with torch.random.fork_rng([]), torch.no_grad():
        torch.manual_seed(1)
        head = BiLSTMCRF(BiLSTMCRFConfig(dim, tags, hidden=16))
        for weights in head.parameters():
            weights.mul_(_SWAYED)
        head.output.bias[0] = _SWAYED
    return Checker(construction.scheme, Pipeline(construction, head.eval()))


def shares_of(
    construction: Construction, notes: Iterable[Document], seed: int, checker: Checker | None = None
) -> list[bytes]:
    """What a share holds of each note, to the last bit, under one draw.

    Args:
        construction: of the release.
        notes: labelled.
        seed: of the draw.
        checker: looks at them ahead, as in `encode`; None for nothing.
    """
    found = []
    checked = (one.with_doubts(HIDE_ABOVE) for one in checker.check(notes)) if checker is not None else notes
    for note in checked:
        noise = torch.Generator().manual_seed(seed)
        parts: list[bytes] = []
        for chunk in tokenised_chunks(tokenise_documents([note]), construction.scheme):
            sent = construction.with_public_lengths(chunk, noise)
            shown = construction.rehearse_share(sent, noise)
            features = construction.rehearse_features(sent, torch.Generator().manual_seed(seed))
            parts += [column.tobytes() for column in (shown.lengths, shown.tags, shown.casing, shown.values, features)]
        found.append(b"".join(parts))
    return found


def differing_bytes(one: bytes, other: bytes) -> int:
    """How many bytes differ, counting those that only one of them has."""
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


def through_format(notes: Iterable[Document], form: str, folder: Path) -> list[Document]:
    """The notes written in a format and read again, in their order."""
    path = folder / ("notes" if form in ("i2b2_2014", "meddocan", "brat") else f"notes.{form}")
    write_corpus(notes, path, form)
    return sorted(read_corpus(path, format=form), key=lambda note: note.identifier)


def measure(
    construction: Construction, notes: Sequence[Document], changed: int, seed: int, checker: Checker | None = None
) -> dict[str, tuple[int, int]]:
    """Changed notes and differing bytes for every format.

    Args:
        construction: that replaces labelled PHI.
        notes: labelled, each known by its identifier.
        changed: least number of changed notes of every format.
        seed: of the changes.
        checker: as in `shares_of`.
    """
    return {form: _of_format(form, construction, notes, changed, seed, checker) for form in LABELLED_FORMATS}


def _of_format(
    form: str, construction: Construction, notes: Sequence[Document], changed: int, seed: int, checker: Checker | None
) -> tuple[int, int]:
    random, tried, differing = Random(f"{seed} {form}"), 0, 0
    if form != "conll":
        # There a reference is one token, and a label that begins within one is not written.
        notes = [with_halves(note, random) for note in notes]
    true = dict(zip((note.identifier for note in notes), shares_of(construction, notes, seed, checker), strict=True))
    while tried < changed:
        with TemporaryDirectory() as folder:
            others = through_format((change_phi(note, random) for note in notes), form, Path(folder))
        for note, share in zip(others, shares_of(construction, others, seed, checker), strict=True):
            differing += differing_bytes(share, true[note.identifier])
        tried += len(others)
    return tried, differing


def _measured(form: str) -> dict[str, Any]:
    construction = _construction()
    tried, differing = _of_format(form, construction, corpora.meddocan("dev"), _CHANGED, 0, doubting(construction))
    return {"tried": tried, "differing": differing}


def noninterference_entry() -> Entry:
    """The figure on MEDDOCAN's dev notes under the default construction; formats that were measured before are not measured again."""
    runs = {form: load_or_measure(f"noninterference-{form}", partial(_measured, form)) for form in LABELLED_FORMATS}
    return Entry(
        "noninterference: bytes of the share that differ once labelled PHI has changed, default preset",
        sum(run["differing"] for run in runs.values()),
        0,
        "<=",
        "bytes",
        None,
        1,
        "meddocan/dev",
        f"{COMMAND} noninterference",
        "changed notes written, read, checked by patterns, lists and a pipeline, and shared under the same draw: "
        + ", ".join(f"{form} {run['tried']}" for form, run in runs.items())
        + "; other letters, digits, white space and symbols of any number, in addresses and the like other tokens too, half a character reference beside every tenth label, but in CoNLL, which writes none",
        ", ".join(sorted({str(run["commit"]) for run in runs.values()})),
    )


@cache
def _construction() -> Construction:
    """The default construction of 50 public notes; made once."""
    folder = RUNS / "noninterference-construction"
    if not folder.exists():
        RUNS.mkdir(exist_ok=True)
        scheme, options, train = load_scheme("meddocan"), TrainingOptions(cluster_size=1000), corpora.meddocan("train")
        words = vectors("es-noninterference", lambda: (note.text.lower() for note in train), _VECTORS)
        chunks = list(tokenised_chunks(tokenise_documents(train[:PROVIDER_NOTES]), scheme))
        material = TrainingMaterial(chunks, words, scheme, (), spanish_names(), RUNS / "cache")
        with new_folder(folder) as staged:
            find_procedure(options.procedure).train(material, options, lambda *_: None).construction.save(staged)
    return load_construction(folder)


def _pattern(phi: str) -> list[_Token]:
    """What a share may show of PHI."""
    runs: list[tuple[str, str, bool]] = []
    apart = False
    for character in "".join(_TYPED.get(character, character) for character in phi):
        if character.isspace():
            apart = bool(runs)
        elif character.isalnum() or character in _SHOWN:
            kind = "digits" if character.isdecimal() else "letters" if character.isalnum() else character
            if runs and not apart and kind == runs[-1][0] and kind in ("digits", "letters"):
                runs[-1] = (kind, runs[-1][1] + character, runs[-1][2])
            else:
                runs.append((kind, character, apart))
            apart = False
    return [_Token(_casing(run) if kind == "letters" else kind, apart) for kind, run, apart in runs]


def _casing(word: str) -> str:
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper"
    if word[0].isupper():
        return "initial"
    return "mixed" if word.lower() != word.upper() else "uncased"


def _any_form(phi: str, random: Random) -> list[_Token]:
    """Any tokens, written as the PHI is: in capitals, without any, with both, or without letters."""
    kinds = {token.kind for token in _pattern(phi)}
    letters = kinds - {"digits", *_SHOWN}
    if not letters:
        own = ["digits"]
    elif letters <= {"upper", "uncased"} and "upper" in letters:
        own = ["upper"]
    elif letters <= {"lower", "uncased"} and "lower" in letters:
        own = ["lower"]
    else:
        own = ["initial" if letters != {"uncased"} else "uncased"]
    more = [random.choice([*own, "digits", "-", ",", "/", "'"]) for _ in range(random.choice((0, 1, 3, 30)))]
    tokens = [*own, *more]
    random.shuffle(tokens)
    if not letters and "digits" not in kinds:
        tokens = [random.choice(_SHOWN)]
    return [_Token(kind, place > 0) for place, kind in enumerate(tokens)]


def _written(token: _Token, random: Random) -> Iterable[str]:
    yield random.choice(_BLANKS) if token.apart else ""
    for character in _characters(token.kind, random):
        yield character
        if random.random() < 0.15:
            yield random.choice(_STREWN)


def _characters(kind: str, random: Random) -> str:
    if kind in _SHOWN:
        return kind
    if kind in _NAMED and random.random() < 0.2:
        return random.choice(_NAMED[kind])
    alphabet = {"digits": _DIGITS, "upper": _UPPER, "uncased": _UNCASED}.get(kind, _LOWER)
    word = "".join(random.choices(alphabet, k=random.choice((1, 2, 3, 5, 8, 60))))
    return {"initial": random.choice(_UPPER) + word, "mixed": "x" + random.choice(_UPPER) + word}.get(kind, word)
