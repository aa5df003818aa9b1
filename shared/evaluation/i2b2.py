"""The official evaluation of the i2b2 2014 de-identification track (kotfic/i2b2_evaluation_scripts), every block of it.

Mirrored: `PHITrackEvaluation.__init__` and `add_tag_name_specific_evaluations` (blocks and filters), `PHITag.key` and
`fuzzy_end_equality` (what is equal), `TokenSequence.tokenizer` and `PHITokenSequence` (tokens of a span), `Evaluate`
(micro and macro measures). Micro is primary; the headline of most papers is micro F1 of "Binary HIPAA Token".

- Strict: (start, end, TYPE) equal. Relaxed: the ends may be up to two characters apart.
- Token: the spans are cut into tokens first; (start, end, TYPE) of a token equal.
- Binary: only (start, end) equal.
- HIPAA: only types that HIPAA names. The filter looks at each side's own type, by definition of the track: a PATIENT
  tagged as DOCTOR is a miss, and a DOCTOR tagged as PATIENT a false alarm, even in "Binary HIPAA".
- "NAME Token" and so on: only the types of one tag name.

Each block compares two sets: what is equal within one side counts once.

What the official script gets wrong, and `slips=True` repeats:

1. IDNUM is documented as HIPAA but left out, because its regular expression ends in a blank. The expressions match the
   front of a TYPE, and any TYPE of DATE and AGE. Here a type that i2b2 2014 does not list is refused.
2. Tokens are runs of `[a-zA-Z0-9]`: "José" is judged as "Jos". Here tokens are runs of letters, digits and marks of
   any script.
3. A span without such a run becomes one empty token at its end, which matches any other such span that ends there.
   Here the whole span is one token.
4. A document without anything to find or found enters the macro averages as 0; macro F1 of two zeros is nan.
5. Documents that one side lacks are skipped: see `match_corpora`, which has an option of the same name.
6. Relaxed, where spans overlap: of two spans of one side that start together and end within two characters, only the
   first in the file is there; and hits are counted on the side with fewer spans, so that hits and misses need not add
   up to the gold spans. Here spans are matched one to one, as many as can be.
7. The name of a tag must be equal besides its TYPE: `<LOCATION TYPE="OTHER">` is not `<OTHER TYPE="OTHER">`, and a
   `<PHI>` tag keeps its TYPE even in Binary Strict. Here the TYPE says all.
8. "date" and "DATE" are one TYPE in Strict and Relaxed, two in Token and under the HIPAA filter. Here they are two.
9. Offsets are believed whatever stands there: see `shared.evaluation.reading`.

Not repeated: under Python 3 an unported copy compares dictionary views by identity and finds no Relaxed match at all,
and its set difference drops one span for each equal one where one side has over four times the spans of the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from shared.document import AnnotatedText
from shared.evaluation.i2b2_types import HIPAA_2014, TAG_NAMES, TYPES_OF, Hipaa, Label, Labels
from shared.evaluation.pairs import Pair, check_pairs
from shared.evaluation.relaxed import match_one_to_one, official_matches
from shared.evaluation.scores import Scores, Tally

_ASCII_TOKEN = re.compile(r"[a-zA-Z0-9]+")

# Start and end of a span, or of a token in it, with the label of the span.
Items = list[tuple[int, int, Label]]

# Blocks of items that are found or not: the name, with a gap for HIPAA; whether of tokens; what must be equal of the
# labels, besides start and end.
_BLOCKS: tuple[tuple[str, bool, Callable[[Label], str]], ...] = (
    ("{}Token", True, attrgetter("shown")),
    ("{}Strict", False, attrgetter("strict")),
    ("Binary {}Token", True, lambda label: ""),
    ("Binary {}Strict", False, attrgetter("binary")),
)
_RELAXED = "{}Relaxed"
_ORDER = (("{}Token", "{}Strict", _RELAXED), ("Binary {}Token", "Binary {}Strict"))


def evaluate_i2b2(
    pairs: Iterable[Pair],
    *,
    hipaa: Hipaa | None = HIPAA_2014,
    tag_names: Mapping[str, str] | None = TAG_NAMES,
    slips: bool = False,
) -> dict[str, Scores]:
    """Every block of the official evaluation.

    Args:
        pairs: (gold, system) documents whose categories are the TYPEs of i2b2 2014, as `match_corpora` gives them.
        hipaa: which categories HIPAA names: a function, a set, or a mapping to HIPAA's categories with "" for none
            (`load_mapping(scheme, "hipaa")`); None leaves the HIPAA blocks out.
        tag_names: tag name of every category; None leaves the blocks per tag name out.
        slips: repeat the slips of the official script that the module lists.

    Returns:
        Scores under the official labels: Token, Strict and Relaxed, each also as HIPAA; Binary Token and Binary
        Strict, each also as Binary HIPAA; then for each tag name, such as NAME: NAME Token and NAME Strict, each also
        as NAME HIPAA.

    Raises:
        EvaluationError: pairs that don't belong together, or a category that `tag_names` or `hipaa` does not know.
    """
    labels = Labels(hipaa, tag_names, slips)
    sides = ("", "HIPAA ") if hipaa is not None else ("",)
    tallies = {label.format(side): Tally(slips=slips) for group in _ORDER for side in sides for label in group}
    for gold, system in check_pairs(pairs):
        answers = [_answer(document, labels, slips) for document in (gold, system)]
        _add_pair(tallies, "", *answers, slips=slips)
        if hipaa is not None:
            _add_pair(tallies, "HIPAA ", *(answer.hipaa() for answer in answers), slips=slips)
    blocks = {label: tally.scores() for label, tally in tallies.items()}
    if tag_names is not None:
        for name in dict.fromkeys((*TYPES_OF, *sorted(set(tag_names.values())))):
            for label in (f"{side}{unit}" for side in sides for unit in ("Token", "Strict")):
                blocks[f"{name} {label}"] = tallies[label].scores(labels.filter_by_name(name))
    return blocks


@dataclass(frozen=True, slots=True)
class _Answer:
    """One side's annotations of a document."""

    spans: Items
    tokens: Items

    def hipaa(self) -> _Answer:
        return _Answer(*([item for item in items if item[2].hipaa] for items in (self.spans, self.tokens)))


def _answer(document: AnnotatedText, labels: Labels, slips: bool) -> _Answer:
    cut = _official_tokens if slips else _word_tokens
    spans = [(span.start, span.end, labels(span)) for span in document.annotations]
    tokens = [
        (begin + start, begin + end, label)
        for begin, last, label in spans
        for start, end in cut(document.text[begin:last])
    ]
    return _Answer(spans, tokens)


def _add_pair(tallies: Mapping[str, Tally], side: str, gold: _Answer, system: _Answer, *, slips: bool) -> None:
    for name, of_tokens, equal in _BLOCKS:
        keyed = (_keyed(answer.tokens if of_tokens else answer.spans, equal) for answer in (gold, system))
        tallies[name.format(side)].add_document(*keyed)
    match = official_matches if slips else match_one_to_one
    spans = ([(start, end, k.strict, k.shown) for start, end, k in answer.spans] for answer in (gold, system))
    tallies[_RELAXED.format(side)].add_counts(match(*spans))


def _keyed(items: Items, equal: Callable[[Label], str]) -> dict[tuple[int, int, str], str]:
    return {(start, end, equal(label)): label.shown for start, end, label in items}


def _official_tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _ASCII_TOKEN.finditer(text)] or [(len(text), len(text))]


def _word_tokens(text: str) -> list[tuple[int, int]]:
    """Runs of letters, digits and the marks on them, in any script; the whole text where there is none."""
    if text.isascii():
        return [match.span() for match in _ASCII_TOKEN.finditer(text)] or [(0, len(text))]
    runs = []
    for is_word, run in groupby(enumerate(text), key=lambda item: _is_word(item[1])):
        positions = [position for position, _ in run]
        if is_word:
            runs.append((positions[0], positions[-1] + 1))
    return runs or [(0, len(text))]


def _is_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
