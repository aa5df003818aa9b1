"""The official evaluation of MEDDOCAN (PlanTL-GOB-ES, evaluate.py and classes.py of 2019).

Mirrored: `EvaluateSubtrack1` (NER: type, start and end equal; leak score), `EvaluateSubtrack2` (start and end equal),
`EvaluateSubtrack2merged` and `Annotation.add_spans` (spans joined where nothing alphanumeric stands between them).
The official script prints micro measures only.

What it gets wrong, and `slips=True` repeats:

1. Merged: a hit is every span that both sides have before OR after joining, so two adjacent spans that were found count
   as three hits (each of them, and their union), while misses and false alarms count single spans and forgive those
   inside a hit. Here both sides are joined first, and joined spans are compared.
2. A span joined with one that lies inside it ends where that one ends. Here it keeps its end.
3. The leak score of documents without sentences is 0, whatever leaked. Here that is an error.
4. Documents that one side lacks are skipped: see `match_corpora`, which has an option of the same name.
5. In XML the name of an element must be equal besides its TYPE for subtask 1. Here the TYPE says all.
6. Offsets are believed whatever stands there: see `shared.evaluation.reading`.

Not repeated: sides that differ in their text are compared all the same.

The official script reads the number of sentences from files that come with the corpus, one line a sentence; here the
caller says how many there are, for example by `sentence_files`. Where that is unknown there is no leak score ("NA" in
the official output).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shared.document import AnnotatedText
from shared.errors import EvaluationError
from shared.evaluation.pairs import Pair, check_pairs
from shared.evaluation.scores import Scores, Tally, ratio
from shared.evaluation.spans import element_of
from shared.text.tokens import tokenise

SEVERAL = "(several)"  # category of a joined span whose parts disagree

Spans = dict[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class MeddocanScores:
    """The blocks of the official evaluation.

    Args:
        ner: subtask 1, type and offsets.
        strict: subtask 2, offsets.
        merged: subtask 2, offsets of joined spans.
        sentences: how many there are in all documents; None where nobody counted.
        leak: false negatives of subtask 1 per sentence; None where nobody counted sentences.
    """

    ner: Scores
    strict: Scores
    merged: Scores
    sentences: int | None
    leak: float | None

    def blocks(self) -> dict[str, Scores]:
        """The scores under the official labels."""
        return {
            "SubTrack 1 [NER]": self.ner,
            "SubTrack 2 [strict]": self.strict,
            "SubTrack 2 [merged]": self.merged,
        }


def count_sentences(document: AnnotatedText) -> int:
    """Sentences by our own splitting, for corpora that come without a count."""
    return len(tokenise(document.text).sentence_starts)


def evaluate_meddocan(
    pairs: Iterable[Pair], *, sentences: Callable[[AnnotatedText], int] | None = None, slips: bool = False
) -> MeddocanScores:
    """Every block of the official evaluation.

    Args:
        pairs: (gold, system) documents, as `match_corpora` gives them.
        sentences: number of sentences of a document, such as `count_sentences`.
        slips: repeat the slips of the official script that the module lists.

    Raises:
        EvaluationError: pairs that don't belong together, or PHI missed in documents without sentences.
    """
    ner, strict, merged = Tally(), Tally(), Tally()
    total = 0
    for gold, system in check_pairs(pairs):
        ner.add_document(_typed(gold), _typed(system))
        strict.add_document(_spans(gold), _spans(system))
        if slips:
            merged.add_counts(_official_merged(gold, system))
        else:
            merged.add_document(_merged(gold), _merged(system))
        total += sentences(gold) if sentences else 0
    scores = ner.scores()
    if sentences and not total and scores.fn and not slips:
        raise EvaluationError(f"expected sentences to spread {scores.fn} misses over, got 0; check their count")
    leak = ratio(scores.fn, total) if sentences else None
    return MeddocanScores(scores, strict.scores(), merged.scores(), total if sentences else None, leak)


def _typed(document: AnnotatedText) -> dict[tuple[str, str, int, int], str]:
    return {(element_of(span), span.category, span.start, span.end): span.category for span in document.annotations}


def _spans(document: AnnotatedText) -> Spans:
    return {(span.start, span.end): span.category for span in document.annotations}


def _merged(document: AnnotatedText, *, slips: bool = False) -> Spans:
    """Spans joined with the one before where no letter or digit stands between."""
    joined: list[tuple[int, int, str]] = []
    for start, end, category in sorted((span.start, span.end, span.category) for span in document.annotations):
        if joined and not any(character.isalnum() for character in document.text[joined[-1][1] : start]):
            first, last, before = joined.pop()
            joined.append((first, end if slips else max(last, end), category if category == before else SEVERAL))
        else:
            joined.append((start, end, category))
    return {(start, end): category for start, end, category in joined}


def _official_merged(gold: AnnotatedText, system: AnnotatedText) -> dict[str, tuple[int, int, int]]:
    """tp, fp, fn per category as `EvaluateSubtrack2merged` counts them (slip 1)."""
    gold_spans, system_spans = _spans(gold), _spans(system)
    gold_merged, system_merged = _merged(gold, slips=True), _merged(system, slips=True)
    hits = {span: category for span, category in gold_spans.items() if span in system_spans}
    hits |= {span: category for span, category in gold_merged.items() if span in system_merged and span not in hits}
    inside = _containment(hits)
    counts: dict[str, list[int]] = {}
    for category in hits.values():
        counts.setdefault(category, [0, 0, 0])[0] += 1
    for span, category in system_spans.items():
        if span not in gold_spans and not inside(span):
            counts.setdefault(category, [0, 0, 0])[1] += 1
    for span, category in gold_spans.items():
        if span not in system_spans and not inside(span):
            counts.setdefault(category, [0, 0, 0])[2] += 1
    return {category: (tp, fp, fn) for category, (tp, fp, fn) in counts.items()}


def _containment(spans: Iterable[tuple[int, int]]) -> Callable[[tuple[int, int]], bool]:
    """Whether a span lies within one of `spans`, by the furthest end of all that start at or ahead of it."""
    starts: list[int] = []
    furthest: list[int] = []
    for start, end in sorted(spans):
        starts.append(start)
        furthest.append(max(end, furthest[-1] if furthest else end))

    def inside(span: tuple[int, int]) -> bool:
        index = bisect_right(starts, span[0]) - 1
        return index >= 0 and furthest[index] >= span[1]

    return inside
