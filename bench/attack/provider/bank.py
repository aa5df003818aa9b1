"""Surrogate banks that tell of the hospital, or of nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.attack.release import BANK, Draft, Forgery, Lie, forged
from bench.attack.world import NEXT
from shared.text.tokens import tokenise

_HIDING = "deid-commons surrogates 2"


def changed_bank(change: Callable[[dict[str, Any]], None]) -> Forgery:
    """Changes the file of the bank."""

    def apply(draft: Draft) -> None:
        bank = draft.read(BANK)
        change(bank)
        draft.write(BANK, bank)

    return apply


def _own(draft: Draft, wanted: Callable[[str], bool]) -> list[str]:
    """The first labelled span of the hospital's next notes that is wanted, as tokens."""
    spans = (document.covered_text(span) for document in draft.world.documents(NEXT) for span in document.annotations)
    return list(tokenise(next(filter(wanted, spans))).words)


def _planted(wanted: Callable[[str], bool], where: str = "spans") -> Forgery:
    """Plants a span of the hospital's own next notes."""

    def apply(draft: Draft) -> None:
        bank = draft.read(BANK)
        bank.setdefault(where, []).append([0, *_own(draft, wanted)])
        draft.write(BANK, bank)

    return apply


def _in_a_list(draft: Draft) -> None:
    """A full name of the hospital's next notes among the words that may stand for another."""
    bank = draft.read(BANK)
    bank["lists"].append([" ".join(_own(draft, _is_name))])
    draft.write(BANK, bank)


def _in_capitals(draft: Draft) -> None:
    bank = draft.read(BANK)
    bank["spans"].append([0, *(word.upper() for word in _own(draft, _is_name))])
    draft.write(BANK, bank)


def _is_number(text: str) -> bool:
    return sum(map(str.isdigit, text)) >= 7 and not any(map(str.isalpha, text))


def _is_name(text: str) -> bool:
    words = text.split()
    return len(words) == 2 and all(word.isalpha() and word.istitle() and len(word) > 4 for word in words)


def _empty(bank: dict[str, Any]) -> None:
    bank["spans"] = []


def _of_punctuation(bank: dict[str, Any]) -> None:
    bank["spans"] = [[category, "-"] for category, *_ in bank["spans"]]


def _of_no_category(bank: dict[str, Any]) -> None:
    bank["spans"].append([1000, "x"])


def _of_a_format_to_come(bank: dict[str, Any]) -> None:
    bank["format"] = "deid-commons surrogates 9"


def hide_casing_unlike_the_record(draft: Draft) -> None:
    """The bank hides casing; the record says that it travels."""
    bank = draft.read(BANK)
    draft.write(BANK, bank | {"format": _HIDING})
    draft.record = {"options": {"procedure": "surrogates", "hide_casing": False}}


def nest_deeply(draft: Draft) -> None:
    """JSON of 200,000 brackets."""
    (draft.folder / BANK).write_text("[" * 200_000)


LIES: Mapping[str, Lie] = {
    "a bank with a file or phone number of the hospital's own notes": forged(_planted(_is_number)),
    "a bank with a full name of the hospital's own notes": forged(_planted(_is_name)),
    "a bank with such a name in capitals": forged(_in_capitals),
    "a bank with such a name among its later pieces": forged(_planted(_is_name, "later")),
    "a bank with such a name in a list of single words": forged(_in_a_list),
    "an empty bank": forged(changed_bank(_empty)),
    "a bank of punctuation": forged(changed_bank(_of_punctuation)),
    "a bank with a category that there is not": forged(changed_bank(_of_no_category)),
    "a bank of a format to come": forged(changed_bank(_of_a_format_to_come)),
    "a bank that hides casing, and a record that denies it": forged(hide_casing_unlike_the_record),
    "a bank of JSON without an end": forged(nest_deeply),
}
