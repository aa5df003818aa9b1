"""Names without a label: what is found of them is hidden, what is not is as hidden as its cluster is large."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from shared.anonymity.surrogates import surrogate_bank
from shared.constructions.construction import Construction
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.models.representer import RepresenterConfig
from shared.pipeline.forgotten.checker import Checker
from shared.privacy.attacks.linkage import LinkageSettings
from shared.privacy.attacks.person.forgotten_names import forgotten_names, forgotten_targets
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import tokenised_corpus
from tests import constructions
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES
from tests.tiny_notes import note

SCHEME = load_scheme("i2b2_2014")
CHECKER = Checker(SCHEME)
LIST = [(given, surname) for given, surname in product(NAMES[:90], NAMES[90:])]
VECTORS = table(("we", "saw", "at", "noon", ".", *map(str.lower, NAMES)), dim=8)
SETTINGS = LinkageSettings(targets=15, names=300, shortlist=20, draws=2, seed=1)


def notes(names: Sequence[str], ahead: str = "We saw ") -> list[Document]:
    return [note(f"n{place}", ahead, (name, "PATIENT"), " at noon.\n") for place, name in enumerate(names)]


UNLISTED = notes([" ".join(LIST[place]) for place in np.random.default_rng(0).choice(len(LIST), 40, False).tolist()])
LISTED = notes(["Jennifer Smith", "Michael Johnson", "Linda Williams", "Robert Brown"] * 10)


def surrogates(cluster: int) -> Construction:
    bank = surrogate_bank([tokenised_corpus(UNLISTED[:10], SCHEME)])
    return constructions.surrogates(constructions.clusters(VECTORS, cluster), SCHEME, bank)


def attacked(encoder: Construction, documents: Sequence[Document] = UNLISTED) -> dict[str, Finding]:
    checkers = {"looking": CHECKER, "not looking": None}
    return {one.measure: one for one in forgotten_names(encoder, documents, LIST, ["PATIENT"], SETTINGS, checkers)}


def top(found: dict[str, Finding], case: str) -> Finding:
    return found[f"{case}: top-1 of 300 names, 1 share"]


def test_a_name_that_is_not_found_and_shown_by_a_small_cluster_is_told() -> None:
    """Its power: with clusters of two, 300 names are hardly ever shown alike; on no list, so that looking does not help."""
    found = attacked(surrogates(2))
    assert top(found, "looking").value > 0.7
    assert top(found, "not looking").value > 0.7
    assert top(found, "looking").baseline == 1 / 300


def test_a_transparent_encoder_is_broken_whatever_looks() -> None:
    found = attacked(constructions.transparent(table(("we", "saw", "at", "noon", ".", *NAMES), dim=8), SCHEME))
    assert top(found, "looking").value == top(found, "not looking").value == 1


def test_what_is_left_is_hidden_among_many_of_a_large_vocabulary() -> None:
    """With one cluster for all, no name is told from another."""
    found = attacked(surrogates(len(VECTORS)))
    assert top(found, "not looking").at_baseline
    assert found["not looking: false names behind the true one of 300 names, 1 share"].value == pytest.approx(
        0.5, abs=0.25
    )


def test_a_name_on_a_list_is_found_and_tagged_as_if_it_were_labelled() -> None:
    encoder = surrogates(2)
    begin = 2 * SCHEME.category_index["PATIENT"] + 1
    for checker, tags in ((CHECKER, [begin, begin + 1]), (None, [0, 0])):
        targets = forgotten_targets(encoder, LISTED, {"PATIENT"}, {2}, SETTINGS, checker)
        assert len(targets) == 15
        assert {target.name for target in targets} == {tuple(str(name).split()) for name in _names(LISTED)}
        assert all(target.tags[target.begin : target.begin + 2].tolist() == tags for target in targets)


def test_a_name_on_a_list_is_told_by_chance_once_encode_looks() -> None:
    found = attacked(surrogates(2), LISTED)
    assert top(found, "looking").at_baseline


def test_other_labels_stay_and_a_construction_of_single_tokens_needs_no_more_than_its_window() -> None:
    long = note(
        "long",
        "We saw at noon we saw ",
        ("Bado Vaxe", "PATIENT"),
        " at noon at noon with ",
        ("Jennifer", "DOCTOR"),
        " there.\n",
    )
    [target] = forgotten_targets(surrogates(2), [long], {"PATIENT"}, {2}, SETTINGS, None)
    assert target.words == ("noon", "we", "saw", "Bado", "Vaxe", "at", "noon", "at")
    recurrent = constructions.noisy(VECTORS, SCHEME, RepresenterConfig(VECTORS.dim, dim=4, hidden=4))
    [whole] = forgotten_targets(recurrent, [long], {"DOCTOR"}, {1}, SETTINGS, None)
    assert whole.words[6:8] == ("Bado", "Vaxe")
    assert whole.tags[6:8].all()


def test_no_word_is_in_a_finding_or_a_repr() -> None:
    encoder = surrogates(2)
    targets = forgotten_targets(encoder, UNLISTED, {"PATIENT"}, {2}, SETTINGS, None)
    told = repr([*forgotten_names(encoder, UNLISTED[:2], LIST, ["PATIENT"], SETTINGS, {"": None}), *targets])
    assert not any(part in told for target in targets for part in target.name)


def test_a_list_that_is_too_short_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="300 names"):
        forgotten_names(surrogates(2), UNLISTED, LIST[:299], ["PATIENT"], SETTINGS, {"looking": None})


def _names(documents: Sequence[Document]) -> set[str]:
    return {one.covered_text(span) for one in documents for span in one.annotations}
