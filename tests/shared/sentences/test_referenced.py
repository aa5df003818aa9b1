"""Labels of notes with character references: cut as those of the note as it is read, and whole words where one cuts a reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.sentences.referenced import decoded, find_decoded
from shared.sentences.tokenised import tokenise_documents, tokenised_corpus


def labelled(text: str, *spans: str) -> Document:
    """A note with the stretches that stand in brackets in `spans`, each a text of it."""
    places = [(text.index(one), text.index(one) + len(one)) for one in spans]
    return Document("n", text, tuple(Annotation(start, end, "PATIENT") for start, end in places))


@pytest.mark.parametrize(
    ("text", "spans", "covered"),
    [
        ("Mr. Garc&iacute;a left", ["Garc&iacute;a"], ["Garc&iacute;a"]),
        # A label that ends or begins within a reference.
        ("Mr. Garc&iacute;a left", ["Garc&iac"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["ute;a"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["iacute"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["Garc&iac", "ute;a"], ["Garc&iacute;a"]),
        ("O&#39;Brien", ["O&", "39;Brien"], ["O&#39;Brien"]),
        ("R&amp;D Smith", ["Smith"], ["Smith"]),
        ("Garc&iacute;as", ["Garc&iacute;"], ["Garc&iacute;"]),
    ],
)
def test_labels_cover_references_whole(text: str, spans: list[str], covered: list[str]) -> None:
    note = labelled(text, *spans)
    whole = find_decoded(note, lambda one: one)
    assert [whole.covered_text(span) for span in whole.annotations] == covered
    assert whole.text == text


def test_a_note_without_references_is_read_as_it_is() -> None:
    note = labelled("Mr. García left", "García")
    assert decoded(note)[0] is note


@pytest.mark.parametrize("spans", [["Garc&iacute;a-L&oacute;pez"], []])
def test_what_is_shared_is_that_of_the_note_as_it_is_read(spans: list[str]) -> None:
    scheme = load_scheme("i2b2_2014")
    text = "Mr. Garc&iacute;a-L&oacute;pez has a &quot;na&iuml;ve&quot; T&#45;cell count."
    plain = 'Mr. García-López has a "naïve" T-cell count.'
    own = tokenised_corpus([labelled(text, *spans)], scheme)
    other = tokenised_corpus([labelled(plain, *(["García-López"] if spans else []))], scheme)
    assert own.words == other.words
    assert own.tags.tolist() == other.tags.tolist()
    assert own.lengths.tolist() == other.lengths.tolist()


def test_labels_and_tokens_lie_where_they_are_written() -> None:
    text = "Mr. Garc&iacute;a&#39;s wife"
    [(document, tokens)] = tokenise_documents([labelled(text, "Garc")])
    assert document.text == text
    assert [document.covered_text(span) for span in document.annotations] == ["Garc"]
    assert [text[start:end] for start, end in tokens.spans.tolist()] == [
        "Mr",
        ".",
        "Garc",
        "&iacute;a",
        "&#39;",
        "s",
        "wife",
    ]


# What a share is cut from is decided without a look at what is labelled.

OUTSIDE = st.lists(
    st.sampled_from(
        ["&", "&#", "&#x", "&amp;", "&iacute", "iacute;", "ute;a", ";", "41", "a", "Garc", " ", "and", "."]
    ),
    max_size=4,
).map("".join)


@given(
    OUTSIDE,
    OUTSIDE,
    OUTSIDE,
    st.sampled_from([("ethan", "peter"), ("THORNTON", "HAMILTON"), ("41", "32"), ("gt", "ab")]),
)
def test_attack_a_reference_that_only_the_phi_completes(
    before: str, between: str, after: str, names: tuple[str, str]
) -> None:
    """`mother&ethan` holds `&eth`, `mother&peter` no reference; what stands beside a label must not tell."""
    scheme = load_scheme("i2b2_2014")
    seen = []
    for name in names:
        text, spans = before, []
        for rest in (between, after):
            spans.append(Annotation(len(text), len(text) + len(name), "PATIENT"))
            text += name + rest
        one = tokenised_corpus([Document("n", text, tuple(spans))], scheme)
        seen.append(
            (
                [word for word, tag in zip(one.words, one.tags.tolist(), strict=True) if not tag],
                one.tags.tolist(),
                one.lengths.tolist(),
            )
        )
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("text", "span", "hidden"),
    [
        ("Mr. Garc&iacute;a left", "Garc&iac", "Garc&iacute;a"),
        ("Mr. Garc&iacute;a left", "ute;a", "Garc&iacute;a"),
        ("Mr. Garc&iacute;a left", "iacute", "Garc&iacute;a"),
        ("Mr. Garc&amp;iacute;a left", "iacute;a", "Garc&amp;iacute;a"),
        ("Mr. O&#39;Brien left", "39;Brien", "O&#39;Brien"),
        ("Mr. O&#39;Brien left", "O&", "O&#39;Brien"),
        ("Mr. O&#39;Brien left", "O&#39", "O&#39;Brien"),
        ("Mr. M&uuml;ller left", "M&uuml", "M&uuml;ller"),
        ("Mr. N&uacute;&ntilde;ez left", "N&uac", "N&uacute;&ntilde;ez"),
        ("Mr. N&uacute;&ntilde;ez left", "N&", "N&uacute;&ntilde;ez"),
        ("Mr. N&uacute;&ntilde;ez left", "ntilde;ez", "N&uacute;&ntilde;ez"),
        ("Mr. Dvo&rcaron;&aacute;k left", "Dvo&rcaron", "Dvo&rcaron;&aacute;k"),
        # The "&" of the reference is escaped itself.
        ("Mr. M&amp;uuml;ller left", "M&am", "M&amp;uuml;ller"),
        ("Mr. M&amp;uuml;ller left", "M&amp", "M&amp;uuml;ller"),
        ("Mr. M&amp;#252;ller left", "M&am", "M&amp;#252;ller"),
        ("Mr. O&amp;#39;Brien left", "O&amp", "O&amp;#39;Brien"),
        ("Mr. Jos&amp;eacute; left", "Jos&a", "Jos&amp;eacute;"),
        # Two of them in one word.
        ("Mr. N&amp;uacute;&amp;ntilde;ez left", "N&amp;uac", "N&amp;uacute;&amp;ntilde;ez"),
        ("Mr. N&amp;uacute;&amp;ntilde;ez left", "ntilde;ez", "N&amp;uacute;&amp;ntilde;ez"),
        ("Mr. Fr&amp;#233;d&amp;#233;ric left", "Fr&am", "Fr&amp;#233;d&amp;#233;ric"),
        # A blank parts words, however it is written.
        ("Mr. Garc&iacute;a&nbsp;left", "Garc&iac", "Garc&iacute;a"),
    ],
)
def test_a_label_that_cuts_a_reference_hides_the_whole_word(text: str, span: str, hidden: str) -> None:
    [(document, _)] = tokenise_documents([labelled(text, span)])
    assert [document.covered_text(one) for one in document.annotations] == [hidden]


def test_what_nobody_labelled_moves_no_label_that_cuts_a_reference() -> None:
    text = "Mr. Garc&iacute;a left"
    doubtful = Annotation(text.index("Garc"), text.index("&"), "PATIENT", doubtful=True)
    label = Annotation(text.index("ute"), text.index(" left"), "PATIENT")
    [(document, _)] = tokenise_documents([Document("n", text, (doubtful, label))])
    assert [(document.covered_text(one), one.doubtful) for one in document.annotations] == [("Garc&iacute;a", False)]
