"""The year of a date that states none: so that the days between two dates are those that the writer meant, also over New Year."""

from __future__ import annotations

import datetime

import pytest

from shared.document import Annotation, Document
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.time.languages import languages
from shared.surrogates.time.reading import read_time
from shared.surrogates.time.resolving import Resolver

TODAY = datetime.date(2024, 5, 1)


def test_a_date_without_its_year_is_of_the_year_in_which_it_is_near() -> None:
    note = Document("n", "12/30/2019 to 01/02", (Annotation(0, 10, "DATE"), Annotation(14, 19, "DATE")))
    for number in range(200):
        shifted = Surrogates(
            SurrogateSettings(language="English"), patients={"n": "p"}, key=number.to_bytes(32, "big"), today=TODAY
        )
        first, second = (one.surrogate for one in shifted.replace(note).mapping)
        admitted = datetime.datetime.strptime(first, "%m/%d/%Y").date()
        assert f"{admitted + datetime.timedelta(days=3):%m/%d}" == second


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["12/30/2019", "01/02"], "2020-01-02"),
        (["01/02/2020", "12/30"], "2019-12-30"),
        (["December 30, 2019", "January"], "2020-01"),
        (["12/30/2019", "01/02", "the 5th"], "2020-01-05"),
        (["12/30/2019", "01/02", "03/10"], "2020-03-10"),
        (["12/30/2019", "02/29"], "2020-02-29"),
        # Where none is ahead, the next one says it; of one span likewise, whatever stands first.
        (["01/02/2020", "12/30"][::-1], "2019-12-30"),
        (["12/30/2019-01/02"], "2020-01-02"),
        (["12/30-01/02/2020"], "2019-12-30"),
        (["30 December - 2 January, 2020"], "2019-12-30"),
        # Half a year and less is the same year, as ever.
        (["12/30/2019", "06/30"], "2019-06-30"),
        (["12/30/2019", "06/29"], "2020-06-29"),
        (["July 2020", "January"], "2020-01"),
        (["03/01/2020", "08/31"], "2020-08-31"),
        # What the note states itself counts more.
        (["01/02/2019", "12/30/2019", "01/02"], "2019-01-02"),
        # A year alone says nothing of the season.
        (["2019", "01/02"], "2019-01-02"),
    ],
)
def test_a_date_without_its_year_is_within_half_a_year_of_the_one_ahead(written: list[str], read: str) -> None:
    english = languages()["English"]
    spans = [read_time(one, "date", english) or [] for one in written]
    assert all(Resolver(spans, [False] * len(spans), False, TODAY).resolve())
    moments = [one.moment for span in spans for one in span if one.moment]
    expected = datetime.date.fromisoformat(read if len(read) > 7 else f"{read}-15")
    assert expected in [moment.date for moment in moments]
