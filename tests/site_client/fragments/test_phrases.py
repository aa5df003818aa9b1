"""What is a phrase: held against parses written by hand, and against the parser that is used."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.share.fragments import PHRASE
from site_client.fragments.parser import load_parser
from site_client.fragments.phrases import Kind, ShallowParser, find_phrases

NP, VP = Kind.NOUN, Kind.VERB


class Written(ShallowParser):
    """A parser that knows one sentence, "word/tag/chunk word/tag/chunk ..."."""

    name = "written by hand"

    def __init__(self, sentence: str) -> None:
        self._parsed = [tuple(token.split("/")) for token in sentence.split()]

    @property
    def text(self) -> str:
        return " ".join(token[0] for token in self._parsed)

    def parse(self, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        assert list(words) == [token[0].lower() for token in self._parsed]
        return [(token[1], token[2]) for token in self._parsed]


def found(sentence: str) -> set[tuple[Kind, str]]:
    parser = Written(sentence)
    phrases = list(find_phrases(parser.text, parser))
    assert all(parser.text[one.start : one.end].lower() == one.text for one in phrases)
    return {(one.kind, one.text) for one in phrases}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # The ends of a noun chunk, up to its head.
        (
            "the/DT/B-NP right/JJ/I-NP lower/JJ/I-NP lobe/NN/I-NP",
            {(NP, "the right lower lobe"), (NP, "right lower lobe"), (NP, "lower lobe")},
        ),
        # Of five words the last four at most.
        (
            "the/DT/B-NP very/RB/I-NP right/JJ/I-NP lower/JJ/I-NP lobe/NN/I-NP",
            {(NP, "very right lower lobe"), (NP, "right lower lobe"), (NP, "lower lobe")},
        ),
        # With a prepositional phrase behind.
        ("history/NN/B-NP of/IN/B-PP diabetes/NN/B-NP", {(NP, "history of diabetes")}),
        # A verb with what follows it, and verbs within verbs.
        (
            "has/VBZ/B-VP been/VBN/I-VP feeling/VBG/I-VP well/RB/B-ADVP",
            {
                (VP, "has been feeling"),
                (VP, "been feeling"),
                (VP, "has been feeling well"),
                (VP, "been feeling well"),
                (VP, "feeling well"),
            },
        ),
        (
            "denies/VBZ/B-VP chest/NN/B-NP pain/NN/I-NP",
            {(NP, "chest pain"), (VP, "denies chest pain")},
        ),
        ("went/VBD/B-VP to/TO/B-PP bed/NN/B-NP", {(VP, "went to bed")}),
        # A chunk that ends with no noun is no noun phrase; a conjunction begins none.
        ("the/DT/B-NP old/JJ/I-NP", set()),
        ("cough/NN/B-NP and/CC/I-NP fever/NN/I-NP", {(NP, "cough and fever")}),
        # Never over a digit, a mark, a single letter, or what is written like a name.
        ("two/CD/B-NP 2/CD/I-NP weeks/NNS/I-NP", set()),
        ("chest/NN/B-NP ,/,/I-NP pain/NN/I-NP", set()),
        ("chest/NN/B-NP x/NN/I-NP pain/NN/I-NP", set()),
        ("patient/NN/B-NP '/POS/I-NP s/POS/I-NP son/NN/I-NP", set()),
        ("saw/VBD/B-VP Rose/NN/B-NP today/NN/I-NP", set()),
        ("Chest/NN/B-NP pain/NN/I-NP", {(NP, "chest pain")}),
        ("CHEST/NN/B-NP PAIN/NN/I-NP", {(NP, "chest pain")}),
        ("Crohn/NN/B-NP disease/NN/I-NP seen/VBN/B-VP", {(NP, "crohn disease")}),
        ("the/DT/B-NP CT/NN/I-NP scan/NN/I-NP", {(NP, "the ct scan"), (NP, "ct scan")}),
        ("a/DT/B-NP cañon/NN/I-NP view/NN/I-NP", set()),
        (f"the/DT/B-NP {'x' * 25}/NN/I-NP", set()),
        ("", set()),
    ],
)
def test_phrases_of_a_parse(sentence: str, expected: set[tuple[Kind, str]]) -> None:
    assert found(sentence) == expected


def test_the_parser_that_is_used_reads_clinical_english() -> None:
    pytest.importorskip("textblob", reason="the extra [fragments] is not installed")
    parser = load_parser()
    assert parser.name == "textblob 0.20.1"
    text = "The patient denies chest pain. SHE WAS STARTED ON INSULIN FOR SEVERE DIABETES.\nHistory of asthma."
    phrases = {(one.kind, one.text) for one in find_phrases(text, parser)}
    expected = {
        (NP, "the patient"),
        (NP, "chest pain"),
        (VP, "was started"),
        (VP, "was started on insulin"),
        (NP, "severe diabetes"),
        (NP, "history of asthma"),
    }
    assert expected <= phrases


@given(text=st.text(max_size=200))
def test_whatever_a_note_holds_a_phrase_keeps_its_grammar(text: str) -> None:
    pytest.importorskip("textblob", reason="the extra [fragments] is not installed")
    parser = load_parser()
    for phrase in find_phrases(text, parser):
        assert PHRASE.fullmatch(phrase.text)
        assert " ".join(text[phrase.start : phrase.end].lower().split()) == phrase.text
