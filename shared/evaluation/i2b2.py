"""The official evaluation of the i2b2 2014 de-identification track (kotfic/i2b2_evaluation_scripts), every block of it.

Mirrored: `PHITrackEvaluation.__init__` and `add_tag_name_specific_evaluations` (blocks and filters), `PHITag.key` and
`fuzzy_end_equality` (what is equal), `TokenSequence.tokenizer` and `PHITokenSequence` (tokens of a span), `Evaluate`
(micro and macro measures). Micro is primary; the headline of most papers is micro F1 of "Binary HIPAA Token".

- Strict: (tag name, start, end, TYPE) equal. Relaxed: the ends may be up to two characters apart.
- Token: the spans are cut into tokens first; (tag name, TYPE, start, end) of a token equal.
- Binary: only (start, end) equal.
- HIPAA: only types that HIPAA names. The filter looks at each side's own type, by definition of the track: a PATIENT
  tagged as DOCTOR is a miss, and a DOCTOR tagged as PATIENT a false alarm, even in "Binary HIPAA".
- "NAME Token" and so on: only the types of one tag name.

What the official script gets wrong, and `slips=True` repeats:

1. IDNUM is documented as HIPAA but left out, because its regular expression ends in a blank. Types match by prefix.
2. Tokens are runs of `[a-zA-Z0-9]`: "José" is judged as "Jos". Here tokens are runs of letters, digits and marks of
   any script.
3. A span without such a run becomes one empty token at its end, which matches any other such span that ends there.
   Here the whole span is one token.
4. A document without anything to find or found enters the macro averages as 0; macro F1 of two zeros is nan.
5. Documents that one side lacks are skipped: see `match_corpora`, which has an option of the same name.

Not repeated: under Python 3 an unported copy compares dictionary views by identity and finds no Relaxed match at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import groupby

from shared.document import Annotation, Document
from shared.errors import EvaluationError
from shared.evaluation.pairs import Pair, checked
from shared.evaluation.scores import Scores, Tally

# The valid_TYPE lists of tags.py.
_TYPES: Mapping[str, tuple[str, ...]] = {
    "NAME": ("PATIENT", "DOCTOR", "USERNAME"),
    "PROFESSION": ("PROFESSION",),
    "LOCATION": (
        *("ROOM", "DEPARTMENT", "HOSPITAL", "ORGANIZATION", "STREET", "CITY", "STATE", "COUNTRY", "ZIP"),
        "LOCATION-OTHER",
    ),
    "AGE": ("AGE",),
    "DATE": ("DATE",),
    "CONTACT": ("PHONE", "FAX", "EMAIL", "URL", "IPADDR"),
    "ID": ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM"),
    "OTHER": ("OTHER",),
}
TAG_NAMES: Mapping[str, str] = {category: name for name, types in _TYPES.items() for category in types}

# PHITrackEvaluation.HIPAA_regexes as prefixes; "" is its ".*". "IDNUM " carries the blank of slip 1.
_HIPAA_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "NAME": ("PATIENT",),
    "LOCATION": ("CITY", "STREET", "ZIP", "ORGANIZATION"),
    "DATE": ("",),
    "CONTACT": ("PHONE", "FAX", "EMAIL"),
    "ID": ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM "),
    "AGE": ("",),
}
HIPAA_2014: frozenset[str] = frozenset(
    category
    for category, name in TAG_NAMES.items()
    if category == "IDNUM" or category.startswith(_HIPAA_PREFIXES.get(name, ()))
)

RELAXED_DISTANCE = 2
_ASCII_TOKEN = re.compile(r"[a-zA-Z0-9]+")

Hipaa = Callable[[str], bool] | Mapping[str, str] | Collection[str]


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
    names = _lookup(tag_names) if tag_names is not None else None
    is_hipaa = _hipaa_filter(hipaa, tag_names, slips) if hipaa is not None else None
    labels = ["Token", "Strict", "Relaxed", "Binary Token", "Binary Strict"]
    labels += ["Binary HIPAA Token", "Binary HIPAA Strict"] if is_hipaa else []
    tallies = {label: Tally(slips=slips) for label in labels}
    for gold, system in checked(pairs):
        _add_pair(tallies, gold, system, is_hipaa, slips)
    blocks = {label: tallies[label].scores() for label in ("Token", "Strict", "Relaxed")}
    # Equal keys have equal types here, so a filter on types keeps or drops both sides of every match alike.
    if is_hipaa:
        blocks |= {f"HIPAA {label}": tallies[label].scores(is_hipaa) for label in ("Token", "Strict", "Relaxed")}
    blocks |= {label: tallies[label].scores() for label in labels[3:]}
    if names:
        # A category without a tag name would fall out of every block per name.
        for category in tallies["Strict"].categories:
            names(category)
        for name in dict.fromkeys((*_TYPES, *sorted(set(dict(tag_names or {}).values())))):
            blocks |= _tag_name_blocks(name, tallies, names, is_hipaa)
    return blocks


def _tag_name_blocks(
    name: str, tallies: Mapping[str, Tally], names: Callable[[str], str], is_hipaa: Callable[[str], bool] | None
) -> dict[str, Scores]:
    blocks = {f"{name} {label}": tallies[label].scores(lambda c: names(c) == name) for label in ("Token", "Strict")}
    if is_hipaa:
        for label in ("Token", "Strict"):
            blocks[f"{name} HIPAA {label}"] = tallies[label].scores(lambda c: names(c) == name and is_hipaa(c))
    return blocks


def _add_pair(
    tallies: Mapping[str, Tally], gold: Document, system: Document, is_hipaa: Callable[[str], bool] | None, slips: bool
) -> None:
    gold_spans, system_spans = _spans(gold.annotations), _spans(system.annotations)
    gold_tokens, system_tokens = _tokens(gold, slips), _tokens(system, slips)
    tallies["Token"].add_document(gold_tokens, system_tokens)
    tallies["Strict"].add_document(gold_spans, system_spans)
    tallies["Relaxed"].add_document(gold_spans, _relaxed(gold_spans, system_spans))
    tallies["Binary Token"].add_document(_untyped(gold_tokens), _untyped(system_tokens))
    tallies["Binary Strict"].add_document(_untyped(gold_spans), _untyped(system_spans))
    if is_hipaa:
        tallies["Binary HIPAA Token"].add_document(_untyped(gold_tokens, is_hipaa), _untyped(system_tokens, is_hipaa))
        tallies["Binary HIPAA Strict"].add_document(_untyped(gold_spans, is_hipaa), _untyped(system_spans, is_hipaa))


# Keys are (start, end, category). The tag name follows from the category, so it adds nothing to a key.
def _spans(annotations: Iterable[Annotation]) -> dict[tuple[int, int, str], str]:
    return {(span.start, span.end, span.category): span.category for span in annotations}


def _tokens(document: Document, slips: bool) -> dict[tuple[int, int, str], str]:
    cut = _official_tokens if slips else _word_tokens
    return {
        (span.start + start, span.start + end, span.category): span.category
        for span in document.annotations
        for start, end in cut(document.covered(span))
    }


def _relaxed(
    gold: Mapping[tuple[int, int, str], str], system: Mapping[tuple[int, int, str], str]
) -> dict[tuple[int, int, str], str]:
    """The system's spans, each moved onto the gold span that it matches but for its end.

    Spans of one document don't overlap, so none has two candidates.
    """
    ends = {(start, category): end for start, end, category in gold}
    moved = {}
    for start, end, category in system:
        target = ends.get((start, category), end)
        moved[start, target if abs(target - end) <= RELAXED_DISTANCE else end, category] = category
    return moved


def _untyped(
    items: Mapping[tuple[int, int, str], str], keep: Callable[[str], bool] = lambda category: True
) -> dict[tuple[int, int], str]:
    return {(start, end): category for (start, end, category) in items if keep(category)}


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


def _lookup(table: Mapping[str, str]) -> Callable[[str], str]:
    def name(category: str) -> str:
        if category not in table:
            raise EvaluationError(
                f"expected categories among the {len(table)} of i2b2 2014 or of the table given, got {category!r}; "
                "map the documents, or give hipaa and tag_names of your own (None leaves their blocks out)"
            )
        return table[category]

    return name


def _hipaa_filter(hipaa: Hipaa, tag_names: Mapping[str, str] | None, slips: bool) -> Callable[[str], bool]:
    """The filter as one function; the official set knows the official types only and refuses to guess about others."""
    if hipaa is HIPAA_2014:
        if slips:
            names = _lookup(TAG_NAMES if tag_names is None else tag_names)
            return lambda category: _matches_official_regex(names(category), category)
        known = _lookup({category: "x" * (category in HIPAA_2014) for category in TAG_NAMES})
        return lambda category: bool(known(category))
    if callable(hipaa):
        return hipaa
    if isinstance(hipaa, Mapping):
        targets = _lookup(hipaa)
        return lambda category: bool(targets(category))
    chosen = frozenset(hipaa)
    return lambda category: category in chosen


def _matches_official_regex(name: str, category: str) -> bool:
    """`HIPAA_predicate_filter`: both expressions are anchored at the start only, and contain no operators but ".*"."""
    return any(name.startswith(prefix) and category.startswith(types) for prefix, types in _HIPAA_PREFIXES.items())
