"""A word with marks, or with signs of no width within it, is the word that is seen: hidden as far as that one is, and never cut within."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.anonymity.shipped_lists import ordinary_words
from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.given_up import impersonal
from shared.pipeline.given_up.impersonal import Impersonal
from shared.pipeline.given_up.tokens import Token
from shared.pipeline.last_word import LastWord, LastWordSettings
from shared.pipeline.mentions import nobody_knows
from shared.text.tokens import cut_tokens
from site_client.deid.redact import REDACT

SCHEMES = {"English": load_scheme("i2b2_2014"), "Spanish": load_scheme("meddocan")}
RULES = {language: Impersonal.of(scheme, ordinary_words(language), language) for language, scheme in SCHEMES.items()}
CATEGORIES = {
    "English": ("PATIENT", "DOCTOR", "CITY", "HOSPITAL", "STREET", "DATE", "AGE", "USERNAME", "PROFESSION"),
    "Spanish": ("NOMBRE_SUJETO_ASISTENCIA", "TERRITORIO", "HOSPITAL", "CALLE", "FECHAS", "PROFESION"),
}
NAMES = (
    "Cádiz|Peña|León|García|Núñez|piña|cañas|señor|año|José|María|Zürich|São|Orléans|Ünal|Zoë|André|Bjørn|Ángel|Sáez|Mahón|Smith|Newport|Westfield|Mercy|"
    "rose|hope|belongings|Linh Do|MD|RN|Dr.|Ana's|12/03/2019|3rd|20|Peña-León|José Peña, MD|Dr. Muñoz García|señor Peña|Hospital de Cádiz|Tía Ana|seen in Cádiz"
).split("|")
FRAMES = (
    "Seen in the clinic. The patient was well.\nSeen by {} this morning.",
    "Seen in the clinic. The patient was well.\n{} came; all is well.",
    "seen in the clinic. was well.\nnow {}, well",
    "Acude a la consulta. Viene bien.\nVive en {} (2019).",
)
UNSEEN = ("\u00ad", "\u200b", "\u200d", "\u2060")


def hidden(frame: str, name: str, language: str, category: str) -> set[int]:
    """Which signs of a name that was found stay hidden."""
    text, start = frame.format(name), frame.index("{}")
    note = Document("n", text, (Annotation(start, start + len(name), category),))
    spans = RULES[language].give_up(note).annotations
    return {place - start for span in spans for place in range(span.start, span.end)}


def pieces_of(name: str, way: str, at: int) -> list[str]:
    """How each sign of a name is written: taken apart, or with a sign of no width behind one of them."""
    if way == "NFD":
        return [unicodedata.normalize("NFD", sign) for sign in name]
    return [sign + way if number == at % len(name) else sign for number, sign in enumerate(name)]


@given(
    st.sampled_from(FRAMES),
    st.sampled_from(NAMES),
    st.sampled_from([str, str.lower, str.upper]),
    st.sampled_from([(language, category) for language, listed in CATEGORIES.items() for category in listed]),
    st.sampled_from(["NFD", *UNSEEN]),
    st.integers(0, 20),
)
@example(FRAMES[0], "Cádiz", str, ("English", "CITY"), "NFD", 0)
@example(FRAMES[0], "piña", str, ("English", "PATIENT"), "NFD", 0)
@example(FRAMES[0], "Newport", str, ("English", "HOSPITAL"), "\u00ad", 2)
@example(FRAMES[0], "Westfield", str, ("English", "HOSPITAL"), "\u200b", 3)
def test_what_is_hidden_of_a_name_is_hidden_of_it_however_it_is_written(
    frame: str, name: str, written: type[str], found: tuple[str, str], way: str, at: int
) -> None:
    name = unicodedata.normalize("NFC", written(name))
    pieces = pieces_of(name, way, at)
    seen = hidden(frame, name, *found)
    stays = hidden(frame, "".join(pieces), *found)
    place = 0
    for number, piece in enumerate(pieces):
        own = set(range(place, place + len(piece)))
        place += len(piece)
        if number in seen:
            assert own <= stays
        # Within a sign and its marks there is no edge.
        assert own <= stays or not own & stays


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("name", "category"),
    [("Cádiz", "CITY"), ("New\xadport", "HOSPITAL"), ("West\u200bfield", "HOSPITAL"), ("Peña", "DOCTOR")]
    + [(name, "PATIENT") for name in ("piña", "cañas", "Piña", "José Peña")],
)
def test_nothing_of_it_goes_out_behind_all_steps(name: str, category: str, form: str) -> None:
    complete = LastWord(SCHEMES["English"], LastWordSettings("English"), nobody_knows).complete
    name = unicodedata.normalize("NFD" if form == "NFD" else "NFC", name)
    text = f"Discharge summary.\nTransferred from {name} this morning. The plan is unchanged.\n"
    start = text.index(name)
    note = Document("n", text, (Annotation(start, start + len(name), category, confidence=0.999),))
    assert REDACT.turn(complete(note)).text == text.replace(name, f"[{category}]")


@pytest.mark.parametrize("name", ["ha\u0331ll", "रमा", "ro\u0332se", "n\u0303" * 60, "a" + "\u0301" * 500])
def test_a_word_with_a_mark_that_none_of_the_lists_has_is_no_word_of_them(name: str) -> None:
    """What Unicode has no sign for is not taken for the letter without its mark."""
    assert hidden(FRAMES[0], name, "English", "PATIENT") == set(range(len(name)))


@given(st.text("aB1 .,'\u2019\u02bc\u0301\u00ad\u200bñ\u00b3\u2460(-_\r\n", max_size=30), st.data())
@example("Ana Smith\u02bc.", None)
def test_no_new_edge_stands_within_a_token(text: str, data: st.DataObject | None) -> None:
    edges = cut_tokens(text)[1].tolist()
    if not edges:
        return
    number = st.integers(0, len(edges) - 1)
    first, last = sorted((data.draw(number), data.draw(number))) if data else (0, len(edges) - 1)
    category = data.draw(st.sampled_from(CATEGORIES["English"])) if data else "PATIENT"
    span = Annotation(edges[first][0], edges[last][1], category)
    for rest in RULES["English"].give_up(Document("n", text, (span,))).annotations:
        assert rest.start in {start for start, _ in edges}
        assert rest.end in {end for _, end in edges}


@pytest.mark.parametrize("number", ["10³", "12²", "①", "②③", "³", "١٢", "1①"])
@pytest.mark.parametrize("category", ["DATE", "AGE"])
def test_digits_that_are_no_number_stop_nothing(number: str, category: str) -> None:
    """A footnote sign behind a day ended a run of the program."""
    stays = hidden(FRAMES[0], number, "English", category)
    assert stays == set(range(len(number))) or number == "١٢"


@given(st.integers(0, 2**32))
def test_clock_times_are_the_ones_that_they_were(seed: int) -> None:
    drawn = random.Random(seed)
    clock = sorted(drawn.sample(range(100), 2 * drawn.randrange(8)))
    times = list(zip(clock[::2], clock[1::2], strict=True))
    tokens = [Token("1", start, start + drawn.randrange(1, 5)) for start in sorted(drawn.sample(range(100), 9))]

    def is_clock(token: Token) -> bool:
        return any(start <= token.start and token.end <= end for start, end in times)

    left = list(tokens)
    while left and is_clock(left[-1]):
        left = left[:-1]
    while left and is_clock(left[0]):
        left = left[1:]
    assert impersonal._without_clock(tokens, times) == left


def test_clock_times_beside_every_date_are_gone_through_once() -> None:
    """Asked for each date, each clock time of the note was looked at."""

    class Counted(list[tuple[int, int]]):
        looks = 0

        def __iter__(self):  # type: ignore[no-untyped-def]
            Counted.looks += len(self)
            return super().__iter__()

        def __getitem__(self, at):  # type: ignore[no-untyped-def]
            Counted.looks += 1
            return super().__getitem__(at)

    times = Counted((10 * number, 10 * number + 5) for number in range(1000))
    for number in range(1000):
        impersonal._without_clock([Token("1", 10 * number + 6, 10 * number + 8)], times)
    assert Counted.looks < 50_000
