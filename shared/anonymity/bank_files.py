"""The file of a bank of surrogates in a release: surrogates.json."""

from __future__ import annotations

import json
from pathlib import Path

from foundation.files import write_text
from foundation.reading import read_text
from shared.anonymity.surrogates import MOST_WORDS, SurrogateBank
from shared.errors import ModelError, TrainingError
from shared.labels import LabelScheme, categories_of_any_form

FILE = "surrogates.json"
FORMAT = "deid-commons surrogates 1"
# Of its own, so that a version that would show the casing refuses the release.
_FORMAT_HIDING = "deid-commons surrogates 2"


def save_bank(bank: SurrogateBank, folder: Path) -> None:
    """Write surrogates.json."""
    spans, later = ([[category, *words] for category, words in listed] for listed in (bank.spans, bank.later))
    cut = {"later": later} if bank.later else {}
    if bank.lengths:
        cut["lengths"] = [[category, int(digits), length] for category, digits, length in bank.lengths]
    kind = _FORMAT_HIDING if bank.hides_casing else FORMAT
    write_text(
        folder / FILE,
        json.dumps({"format": kind, "spans": spans, "lists": bank.lists, **cut}, ensure_ascii=False),
        private=False,
    )


def load_bank(folder: Path, scheme: LabelScheme) -> SurrogateBank:
    """What `save_bank` wrote.

    Args:
        folder: of the release.
        scheme: its labels.

    Raises:
        ModelError: the file is damaged, or of other labels.
    """
    try:
        data = json.loads(read_text(folder / FILE))
        if data["format"] not in (FORMAT, _FORMAT_HIDING):
            raise ValueError
        # A bank that was made before spans were cut has none that are later.
        spans, later = (
            tuple((int(span[0]), tuple(map(str, span[1:]))) for span in listed)
            for listed in (data["spans"], data.get("later", []))
        )
        if not all(
            0 <= category < len(scheme.categories) and words and all(words) for category, words in spans + later
        ):
            raise ValueError
        lists = tuple(tuple(map(str, words)) for words in data["lists"])
        # One that was made before lengths were kept has those of its spans.
        lengths = [(int(one[0]), bool(one[1]), int(one[2])) for one in data["lengths"]] if "lengths" in data else None
        if not all(
            0 <= category < len(scheme.categories) and 0 < length <= MOST_WORDS for category, _, length in lengths or ()
        ):
            raise ValueError
        return SurrogateBank(
            spans,
            lists,
            hides_casing=data["format"] == _FORMAT_HIDING,
            later=later,
            any_form=categories_of_any_form(scheme),
            lengths=lengths,
        )
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, TrainingError) as error:
        raise ModelError(f"{FILE}: expected public spans of the labels of this release; pull it again") from error
