"""Other PHI of like pattern, written in any format and read again: what is shared of the notes stays the same to the last bit.

The patterns and the other PHI are told character by character by the measurement, never by the code that cuts notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest

from bench.privacy import noninterference
from bench.privacy.noninterference import (
    LABELLED_FORMATS,
    OF_ANY_FORM,
    differing_bytes,
    doubting,
    measure,
    shares_of,
)
from shared.anonymity.surrogates import surrogate_bank
from shared.constructions.procedures.surrogates import Surrogates
from shared.corpus.formats.registry import FORMAT_NAMES
from shared.document import Annotation, Document
from shared.generate.notes import generate_notes
from shared.labels import categories_of_any_form, load_scheme, scheme_names
from shared.pipeline.forgotten import checker
from shared.pipeline.forgotten.blinding import Blinded
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker
from shared.sentences import tokenised
from shared.sentences.referenced import decoded, decoded_apart
from shared.sentences.tokenised import tokenised_corpus
from shared.text.tokens import tokenise
from tests import constructions
from tests.shared.embeddings.made import table

SCHEME = load_scheme("i2b2_2014")
NOTES = list(generate_notes("en_harbor", 4, 3))
PUBLIC = tokenised_corpus(generate_notes("en_harbor", 12, 4), SCHEME)
WORDS = sorted({word for note in NOTES for word in tokenise(note.text.lower()).words})
CLUSTERS = constructions.clusters(table(WORDS, dim=8), 6)


def of(*, hides_casing: bool = False, any_form: Iterable[int] | None = None) -> Surrogates:
    free = categories_of_any_form(SCHEME) if any_form is None else frozenset(any_form)
    bank = surrogate_bank([PUBLIC], hides_casing=hides_casing, any_form=free)
    return constructions.surrogates(CLUSTERS, SCHEME, bank)


@pytest.mark.parametrize("hides_casing", [False, True])
@pytest.mark.parametrize("checks", [None, lambda made: Checker(made.scheme), doubting], ids=["no", "rules", "pipeline"])
def test_no_byte_differs_in_any_format(checks: Callable[[Surrogates], Checker] | None, hides_casing: bool) -> None:
    """Nor once `encode` has looked for what nobody labelled, by rules or with a pipeline that doubts all sorts of words."""
    made = of(hides_casing=hides_casing)
    found = measure(made, NOTES, len(NOTES), 7, checks and checks(made))
    assert found == {form: (len(NOTES), 0) for form in LABELLED_FORMATS}
    assert set(FORMAT_NAMES) - set(LABELLED_FORMATS) == {"txt", "csv", "parquet", "fhir"}


def test_the_measurement_finds_lengths_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its power: where no category is of any form, addresses of other lengths show."""
    monkeypatch.setattr(noninterference, "LABELLED_FORMATS", ("jsonl",))
    found = measure(of(any_form=()), NOTES, len(NOTES), 7)
    assert all(differing > 0 for _, differing in found.values())


def test_the_measurement_finds_doubts_that_see_phi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its power: were the pipeline to read labelled words, most notes would show it."""
    made = of()
    looking = doubting(made)
    chunk = tokenised_corpus([one.with_doubts(HIDE_ABOVE) for one in looking.check(NOTES)], SCHEME)
    assert 0.1 < chunk.are_doubtful.mean() < 0.7
    monkeypatch.setattr(noninterference, "LABELLED_FORMATS", ("jsonl",))
    monkeypatch.setattr(checker, "blind", _seeing)
    [(_, differing)] = measure(made, NOTES, len(NOTES), 7, looking).values()
    assert differing > 0


def test_the_measurement_finds_references_that_only_phi_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its power: `mother&ethan` reads as one word, `mother&peter` as three."""
    monkeypatch.setattr(noninterference, "LABELLED_FORMATS", ("jsonl",))
    monkeypatch.setattr(tokenised, "decoded_apart", decoded)
    assert measure(of(), NOTES, 200, 7)["jsonl"][1] > 0


def test_the_measurement_finds_sentences_that_see_phi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noninterference, "LABELLED_FORMATS", ("jsonl",))
    monkeypatch.setattr(
        noninterference, "tokenise_documents", lambda notes: ((note, tokenise(note.text)) for note in notes)
    )
    found = measure(of(), NOTES, len(NOTES), 7)
    assert all(differing > 0 for _, differing in found.values())


def test_changed_phi_is_other_phi_and_the_rest_stays() -> None:
    random = Random(1)
    for note in NOTES:
        other = noninterference.change_phi(note, random)
        assert [span.category for span in other.annotations] == [span.category for span in note.annotations]
        outside = [_outside(one) for one in (note, other)]
        assert outside[0] == outside[1]
        kept = sum(
            note.covered_text(a) == other.covered_text(b)
            for a, b in zip(note.annotations, other.annotations, strict=True)
        )
        assert kept < len(note.annotations) / 4


def test_every_scheme_says_which_categories_are_of_any_form() -> None:
    for name in scheme_names():
        scheme = load_scheme(name)
        own = {scheme.categories[index] for index in categories_of_any_form(scheme)}
        assert own == OF_ANY_FORM & set(scheme.categories)
        assert own


def test_hidden_casing_leaves_the_labels_and_nothing_else() -> None:
    """With it even another number of tokens in a name, another form of a date, capitals or digits show nothing."""
    pairs = [("Anna", "VAN DER 12 É\n(Esch)"), ("3/4/2019", "the third of April"), ("555-1234", "call")]
    notes = [
        Document("n", f"Seen by {one}. Fever.\nA", (Annotation(8, 8 + len(one), category),))
        for (pair, category) in zip(pairs, ("PATIENT", "DATE", "PHONE"), strict=True)
        for one in pair
    ]
    shares = shares_of(of(hides_casing=True), notes, 5)
    assert [differing_bytes(*shares[i : i + 2]) for i in (0, 2, 4)] == [0, 0, 0]
    plain = shares_of(of(), notes, 5)
    assert all(differing_bytes(*plain[i : i + 2]) > 0 for i in (0, 2, 4))


def _seeing(note: Document) -> Blinded:
    """What `blind` would be if it hid nothing."""
    read, way = decoded_apart(note)
    return Blinded(read, (), (), way)


def _outside(note: Document) -> list[str]:
    ends = [0, *(span.end for span in note.annotations)]
    starts = [*(span.start for span in note.annotations), len(note.text)]
    return [note.text[end:start] for end, start in zip(ends, starts, strict=True)]
