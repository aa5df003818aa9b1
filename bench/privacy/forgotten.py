"""What a share tells of PHI that an annotator forgot, before `encode` looks for it and since: a part of `bench.results_privacy`.

Labels of the victims' notes are forgotten at random, span by span. A word is exact if the share shows it as it is: it is public, and what
stands in its place in the share is what it is shown as by itself. A whole name is found as often as an attacker who knows what the share
shows picks it out of 10,000 full names: one in as many as look like it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.material import PROVIDER_NOTES, background, spanish, spanish_names
from bench.results import Entry, record
from bench.results_loop import SEEDS, private_pipeline
from shared.anonymity.names import default_names
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.procedures.narrowed import near_phi
from shared.document import Annotation, Document
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_corpus
from shared.text.casing import cased_like
from shared.training.tagging import TaggingConfig

COMMAND = "python -m bench.results_privacy forgotten"
RATES = (0.01, 0.03, 0.1)
CANDIDATES = 10_000
_PER_NOTES = 250
_NAMES = ("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "PATIENT", "DOCTOR")
_EPOCHS = 30
# What `check` has: nothing, patterns and lists, or these and the pipeline of the release.
_WAYS = ("no check", "patterns and lists", "patterns, lists and pipeline")


@dataclass(frozen=True)
class Told:
    """What a share tells of what was forgotten.

    Args:
        notes: of the hospital.
        words: that were forgotten, punctuation aside.
        exact: how many of them can be read.
        names: whole names that were forgotten.
        found: how many of them an attacker picks, on average.
        others: words that are no PHI.
        hidden: how many of them were hidden for PHI.
    """

    notes: int
    words: int
    exact: int
    names: int
    found: float
    others: int
    hidden: int


def forget(documents: Iterable[Document], rate: float, seed: int) -> list[tuple[Document, tuple[Annotation, ...]]]:
    """Each note with the labels that are left, and those that were forgotten."""
    chance, left = random.Random(seed), []
    for document in documents:
        kept: list[Annotation] = []
        gone: list[Annotation] = []
        for span in document.annotations:
            (gone if chance.random() < rate else kept).append(span)
        left.append((replace(document, annotations=tuple(kept)), tuple(gone)))
    return left


class Reader:
    """The attacker, who has the release: a code names a public word, or the words of a group.

    Args:
        construction: of the release.
    """

    def __init__(self, construction: CodedSurrogates) -> None:
        self._construction = construction
        self._known: dict[tuple[str, bool], int] = {}
        self._first, self._last, _ = default_names(construction.scheme.name)
        self._candidates: dict[tuple[bool, ...], list[list[str]]] = {}

    def told(self, notes: Sequence[tuple[Document, tuple[Annotation, ...]]], checker: Checker | None) -> Told:
        """What a share of notes tells of the labels that were forgotten in them.

        Args:
            notes: with what was forgotten.
            checker: looks at them ahead; None for nothing.
        """
        documents = [document for document, _ in notes]
        if checker is not None:
            documents = [checked.with_doubts(HIDE_ABOVE) for checked in checker.check(documents)]
        told = [self._of_note(document, gone) for document, (_, gone) in zip(documents, notes, strict=True)]
        return Told(len(notes), *(sum(column) for column in zip(*told, strict=True)))

    def _of_note(self, document: Document, gone: Sequence[Annotation]) -> tuple[int, int, int, float, int, int]:
        """The counts of Told for one note; what is labelled in it decides how it is cut."""
        [(document, tokens)] = tokenise_documents([document])
        chunk = tokenised_corpus([document], self._construction.scheme)
        seen = self._construction.rehearse_codes(chunk, torch.Generator().manual_seed(1))
        exact = (seen.codes < len(self._construction.vectors)) & (chunk.tags == 0) & ~chunk.are_doubtful
        near = near_phi(seen, self._construction.vectors.narrowing.window)
        shown = list(zip(seen.codes.tolist(), near.tolist(), strict=True))
        words = np.array([not is_punctuation(word) for word in chunk.words], dtype=np.bool_)
        forgotten = np.zeros(len(words), dtype=np.bool_)
        names = []
        for span in gone:
            inside = words & (tokens.spans[:, 0] < span.end) & (tokens.spans[:, 1] > span.start)
            forgotten |= inside
            if span.category in _NAMES and inside.sum() > 1:
                names.append(np.flatnonzero(inside).tolist())
        other = words & ~forgotten & ((chunk.tags == 0) | chunk.are_doubtful)
        return (
            int(forgotten.sum()),
            int((forgotten & exact).sum()),
            len(names),
            sum(self._picked(name, chunk, shown) for name in names),
            int(other.sum()),
            int((other & chunk.are_doubtful).sum()),
        )

    def _picked(self, places: Sequence[int], chunk: TokenisedSentences, shown: Sequence[tuple[int, bool]]) -> float:
        """Chance to pick a name out of the candidates by what the share shows of it; it is one of them.

        Args:
            places: tokens of the name.
            chunk: the note.
            shown: of each token its code, and whether it stands near labelled PHI.
        """
        visible = [(index, place) for index, place in enumerate(places) if chunk.tags[place] == 0]
        alike = sum(
            all(
                self._code(cased_like(name[index], chunk.words[place]), shown[place][1]) == shown[place][0]
                for index, place in visible
            )
            for name in self._names_like(tuple(len(chunk.words[place]) == 1 for place in places))
        )
        return 1 / (1 + alike)

    def _names_like(self, initials: tuple[bool, ...]) -> list[list[str]]:
        """Other names of so many words, a given name and surnames, some of them initials."""
        if initials not in self._candidates:
            chance = random.Random(1)
            lists = [self._first, *[self._last] * (len(initials) - 1)]
            self._candidates[initials] = [
                [chance.choice(words)[: 1 if initial else None] for words, initial in zip(lists, initials, strict=True)]
                for _ in range(CANDIDATES - 1)
            ]
        return self._candidates[initials]

    def _code(self, word: str, near: bool) -> int:
        """What a share shows of a word without a label."""
        if (word, near) not in self._known:
            alone = TokenisedSentences.single_words([word]).with_tags(np.array([int(near)], dtype=np.uint8))
            self._known[word, near] = int(self._construction.codes(alone)[0])
        return self._known[word, near]


def measure(
    construction: CodedSurrogates,
    checkers: dict[str, Checker | None],
    documents: Sequence[Document],
    seeds: Sequence[int],
) -> dict[str, list[Told]]:
    """What is told, by rate and way of looking, a value for each seed."""
    reader, found = Reader(construction), dict[str, list[Told]]()
    for rate in RATES:
        for seed in seeds:
            notes = forget(documents, rate, seed)
            for way, checker in checkers.items():
                found.setdefault(f"{rate:g} {way}", []).append(reader.told(notes, checker))
    return found


def entries(found: dict[str, list[Told]], data: str, state: str, note: str) -> list[Entry]:
    """The figures of a measurement."""
    made = []
    for key, told in found.items():
        rate, way = key.split(" ", 1)
        totals = Counter[str]()
        for one in told:
            totals.update(vars(one))
        words = totals["exact"] * _PER_NOTES / totals["notes"]
        names = totals["found"] / max(totals["names"], 1)
        spoilt = 1000 * totals["hidden"] / max(totals["others"], 1)
        label = f"{float(rate):.0%} of labels forgotten, {way}"
        aimed = float(rate) == RATES[0] and way == _WAYS[-1]
        said = f"{note}; {totals['words']} words and {totals['names']} whole names forgotten in {len(told)} draws of {told[0].notes} notes"
        for measure_, value, target, unit in (
            ("words read exactly", words, 12.0, f"per {_PER_NOTES} notes"),
            ("whole names found among 10,000", names, 0.02, "of names"),
            ("words hidden that are no PHI", spoilt, None, "per 1,000"),
        ):
            wanted = target if aimed else None
            made.append(
                Entry(
                    f"{data}, {label}: {measure_}",
                    round(value, 4),
                    wanted,
                    "" if wanted is None else "<=",
                    unit,
                    None,
                    len(told),
                    data,
                    COMMAND,
                    said,
                    state,
                )
            )
    return made


def forgotten() -> None:
    """On notes of MEDDOCAN that nobody trained on, with the pipeline that the provider's 50 notes make: a hospital's first share."""
    public = corpora.meddocan("train")[:PROVIDER_NOTES]
    material = PublicMaterial(public, spanish(), background(), spanish_names())
    config = TaggingConfig(epochs=_EPOCHS, seed=1)

    def run() -> dict[str, object]:
        pipeline = private_pipeline(material, {}, "meddocan", RepresenterOptions(cluster_size=1000), config)
        assert isinstance(pipeline.encoder, CodedSurrogates)
        scheme = pipeline.encoder.scheme
        checkers = dict(zip(_WAYS, (None, Checker(scheme), Checker(scheme, pipeline)), strict=True))
        found = measure(pipeline.encoder, checkers, corpora.meddocan("dev"), SEEDS)
        return {key: [vars(one) for one in told] for key, told in found.items()}

    kept = load_or_measure("privacy-forgotten", run)
    state = str(kept.pop("commit"))
    told = {key: [Told(**one) for one in line] for key, line in kept.items()}
    note = f"K=1000; pipeline of the provider's {PROVIDER_NOTES} notes alone; hidden above {HIDE_ABOVE:g}"
    record("privacy", entries(told, "meddocan/dev", state, note))
