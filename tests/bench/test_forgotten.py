"""What the measurement of forgotten labels finds in a share of codes: public words are read, hidden ones are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.privacy.forgotten import CANDIDATES, Reader, Told, forget
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.procedures.codes import CodedSurrogates
from shared.embeddings.generalised import fold_casing, generalise
from shared.embeddings.members import keep_members
from shared.labels import load_scheme
from tests import constructions
from tests.shared.embeddings.made import table
from tests.tiny_notes import note

SCHEME = load_scheme("i2b2_2014")
NAME = ("zoraida", "quiroga")
OTHERS = ("abel", "bruna", "cosme", "delia", "elio")
PLAIN = "seen today at night with fever , by the nurse and again in clinic .".split()
NOTES = [note("n", "seen today ", ("Zoraida Quiroga", "PATIENT"), " fever by the nurse .")]


def made(hidden: bool, window: int) -> CodedSurrogates:
    """Names are hidden in one group, that of the patient among them or public; of public words none is common."""
    clear = fold_casing(table([*PLAIN, *NAME, *OTHERS], 8))
    names = {*OTHERS, *(NAME if hidden else ())}
    shown = generalise(clear, np.array([word not in names for word in clear.words]), len(names))
    frequencies = np.arange(len(shown), 0, -1)
    members = keep_members(clear, shown, frequencies, -frequencies.astype(np.float64), 0, window, 1)
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(len(SCHEME.categories))])
    return CodedSurrogates(members, constructions.unchanged(clear.dim), SCHEME, bank)


def told(construction: CodedSurrogates, labelled_too: bool = False) -> Told:
    """Of a note whose name has lost its label; another label stands beside it, or none does."""
    [(document, gone)] = forget(NOTES, 1, 0)
    if labelled_too:
        document = note("n", "seen today ", "Zoraida Quiroga", " ", ("Anna", "DOCTOR"), " by the nurse .")
        gone = (replace(NOTES[0].annotations[0]),)
    return Reader(construction).told([(document, gone)], None)


@pytest.mark.parametrize(
    ("labelled_too", "exact"),
    # Far from labelled PHI a public name shows its group; one of whose words stands right beside it shows its own code.
    [(False, 0), (True, 2)],
)
def test_a_public_name_is_read_where_it_stands_near_phi(labelled_too: bool, exact: int) -> None:
    found = told(made(hidden=False, window=2), labelled_too)
    assert (found.words, found.names, found.exact) == (2, 1, exact)
    if exact:
        assert found.found == 1


@pytest.mark.parametrize("labelled_too", [False, True])
def test_hidden_names_are_not_read_and_one_group_of_them_tells_none(labelled_too: bool) -> None:
    found = told(made(hidden=True, window=2), labelled_too)
    assert (found.words, found.exact) == (2, 0)
    # All other names are unknown, and shown as that group, too.
    assert found.found == pytest.approx(1 / CANDIDATES)
