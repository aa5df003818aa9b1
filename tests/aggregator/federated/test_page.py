"""The page of a training together tells who was there, and shows no site's name as markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aggregator.federated.page import answer, write_page
from aggregator.publishing.head_record import OWN_NOTES


def told(number: int, norms: dict[str, float], **refused: str) -> dict[str, Any]:
    return {
        "number": number,
        "norms": norms,
        "sentences": dict.fromkeys(norms, 10),
        "refused": refused,
        "bytes_each": 2_000_000,
    }


FULL = [told(number, {"north": 1.0, "south": 2.0}) for number in (1, 2)]


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        (FULL, "2 sites took part in all 2 rounds, and nobody was refused"),
        (
            [told(1, {"north": 1.0, OWN_NOTES: 1.0})],
            "1 sites took part beside the provider's own notes in all 1 rounds",
        ),
        ([*FULL, told(3, {"north": 1.0})], "missing or refused in some: south"),
        ([told(1, {"north": 1.0}, east="not finite")], "missing or refused in some: east"),
        # What brought it is no hospital that could be called.
        (
            [*FULL, told(3, {"north": 1.0}, **{"(node 12)": "no answer"})],
            "missing or refused in some: south; nodes that brought no site's result: (node 12)",
        ),
        (
            [*FULL, told(3, FULL[0]["norms"], **{"(node 12)": "no answer"})],
            "2 sites took part in all 3 rounds; nodes that brought no site's result: (node 12)",
        ),
        (
            [*FULL, told(3, {"north": 1.0, "south": 9.0}) | {"clipped": {"south": 4.0}}],
            "was refused; clipped in some: south",
        ),
        ([*FULL, told(3, {"north": 9.0}) | {"clipped": {"north": 4.0}}], "in some: south; clipped in some: north"),
    ],
)
def test_the_page_begins_with_its_answer(rounds: list[dict[str, Any]], said: str) -> None:
    assert said in answer(rounds)


def test_every_round_stands_there_and_each_site_is_drawn(tmp_path: Path) -> None:
    rounds = [*FULL, told(3, {"north": 1.0}, **{"<b>": "too long a step"}), told(4, {"north": 9.25, "south": 2.0})]
    rounds[-1]["clipped"] = {"north": 4.0}
    write_page({"plan": {"strategy": "median", "local_epochs": 1}, "rounds": rounds}, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 2
    assert len(re.findall(r"<tr><td>\d", page)) == 4
    assert "<td>north: 9.25 to 4</td>" in page
    assert "&lt;b&gt;: too long a step" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert (
        "Clipped is what went, over the root of the steps that it took, more than 4 times as far as the median" in page
    )
    write_page({"plan": {"strategy": "median", "local_epochs": 1}, "rounds": rounds}, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page
