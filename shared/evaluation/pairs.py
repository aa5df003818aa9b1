"""Gold and system documents side by side; nothing is compared that does not belong together.

Invariant of everything that this module hands on: both documents of a pair have the same id and the same text, and no
id comes twice. Their spans may overlap, on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared.document import AnnotatedText
from shared.errors import EvaluationError

Pair = tuple[AnnotatedText, AnnotatedText]


def match_corpora(gold: Iterable[AnnotatedText], system: Iterable[AnnotatedText], *, slips: bool = False) -> list[Pair]:
    """Pair the documents of two corpora by their ids, in the order of the gold corpus.

    Args:
        gold: the documents as people annotated them.
        system: the same documents as a system annotated them, in any order.
        slips: leave out what only one side has, without a word, as both official scripts do
            (`Evaluate.__init__` of i2b2 2014 and the `EvaluateSubtrack` classes of MEDDOCAN intersect the ids).

    Returns:
        (gold, system) for every document.

    Raises:
        EvaluationError: a document is missing on one side, comes twice on one side, or differs in its text.
    """
    expected = _by_identifier(gold, "gold")
    given = _by_identifier(system, "system")
    if not slips:
        _refuse(sorted(expected.keys() - given.keys()), "gold documents have no system document")
        _refuse(sorted(given.keys() - expected.keys()), "system documents have no gold document")
    pairs = [(document, given[identifier]) for identifier, document in expected.items() if identifier in given]
    return list(check_pairs(pairs))


def check_pairs(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs, each verified before it is handed on.

    Raises:
        EvaluationError: there is none, an id comes twice, or the two sides differ in id or text.
    """
    seen: set[str] = set()
    for gold, system in pairs:
        if gold.identifier != system.identifier:
            raise EvaluationError(
                f"expected a pair of one document, got {gold.identifier!r} and {system.identifier!r}; use match_corpora"
            )
        if gold.identifier in seen:
            raise EvaluationError(f"expected every document once, got {gold.identifier!r} twice; remove one of the two")
        if gold.text != system.text:
            raise EvaluationError(
                f"{gold.identifier}: gold and system differ in their text from character "
                f"{_first_difference(gold.text, system.text)} on ({len(gold.text)} and {len(system.text)} characters); "
                "annotate the untouched text"
            )
        seen.add(gold.identifier)
        yield gold, system
    if not seen:
        raise EvaluationError("expected at least one document to compare, got none; check both folders")


def _by_identifier(documents: Iterable[AnnotatedText], side: str) -> dict[str, AnnotatedText]:
    found: dict[str, AnnotatedText] = {}
    for document in documents:
        if document.identifier in found:
            raise EvaluationError(f"expected every {side} document once, got {document.identifier!r} twice; remove one")
        found[document.identifier] = document
    return found


def _refuse(identifiers: list[str], problem: str) -> None:
    if identifiers:
        shown = ", ".join(identifiers[:3]) + (", ..." if len(identifiers) > 3 else "")
        raise EvaluationError(
            f"expected the same documents on both sides, but {len(identifiers)} {problem} ({shown}); add or remove them"
        )


def _first_difference(first: str, second: str) -> int:
    for position, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return position
    return min(len(first), len(second))
