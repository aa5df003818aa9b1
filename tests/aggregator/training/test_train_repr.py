"""The representer: what a procedure is trained on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aggregator.training import representer as train_repr
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from aggregator.workspace import Workspace
from shared.anonymity.public_words import PublicRule
from shared.constructions.procedures import invariance, k_anonymous_invariance
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.registry import load_construction
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors, fold_casing
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.tokens import tokenise
from shared.training.adversarial.pairs import NeighbourTable
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes

NOTES = list(tiny_notes(24, 1))
VECTORS = table(tuple(dict.fromkeys(word for note in NOTES for word in tokenise(note.text).words)), dim=12)
NOTHING_PUBLIC = PublicRule(least=10**6)


def workspace(root: Path) -> Workspace:
    return Workspace(root, "provider", load_scheme("i2b2_2014"))


def made(root: Path, options: RepresenterOptions, **material: Any) -> tuple[GeneralisedVectors, dict[str, Any]]:
    """The vocabulary of a representer, and the record of its training."""
    record = train_repr.train(workspace(root), PublicMaterial(NOTES, VECTORS, **material), options).as_json()
    construction = load_construction(workspace(root).representer)
    assert isinstance(construction, KAnonymous)
    return construction.vectors, record


class Seen(Exception):
    """Ends a training before it begins."""


def trained_on(root: Path, options: RepresenterOptions, patch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """What the procedure gets."""
    seen: list[tuple[Any, ...]] = []

    def spy(*given: Any) -> Any:
        seen.append(given)
        raise Seen

    patch.setattr(k_anonymous_invariance, "RECIPES", replace(invariance.RECIPES, train=spy))
    with pytest.raises(Seen):
        train_repr.train(workspace(root), PublicMaterial(NOTES, VECTORS), options)
    return seen[0]


def test_twins_over_a_vocabulary_of_clusters_are_near_ahead_of_it_and_cross_its_borders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, k = 5, 12
    options = RepresenterOptions("k-anonymous-invariance", neighbours=n, cluster_size=k, public=NOTHING_PUBLIC)
    given = trained_on(tmp_path, options, monkeypatch)
    source: RaggedSentences = given[0]
    twins: NeighbourTable = given[1]
    base = fold_casing(VECTORS)
    clear = base.matrix
    words = [row for row in np.flatnonzero(twins.position >= 0).tolist() if not base.words[row].isdecimal()]
    crossed = 0
    for row in words:
        found = twins.neighbours[twins.position[row]]
        closest = np.argsort(-(clear @ clear[row]))[1:n]
        assert set(found.tolist()) == set(closest.tolist())
        crossed += bool((source.values[found] != source.values[row]).any(1).sum())
    assert len(words) > 10
    # Of the words around a word some are shown as another cluster: that is what the noise is to hide.
    assert crossed > len(words) / 2
    assert len(np.unique(source.values, axis=0)) < len(clear) / 4


def test_words_that_are_often_phi_are_hidden_where_labelled_phi_reaches_the_vocabulary(tmp_path: Path) -> None:
    phi, name = {"clinic", "hospital", "larkspur"}, "quillfeather"
    shown = {}
    for procedure in ("surrogates", "k-anonymous"):
        options = RepresenterOptions(procedure, cluster_size=5)
        # Common in text without labels too, which must not make a name public.
        texts = [" ".join([*phi, name, "patient "]) * 10]
        vectors, record = made(tmp_path / procedure, options, texts=texts)
        shown[procedure] = {word for word, own in zip(vectors.words, vectors.classes, strict=True) if own == PUBLIC}
        assert record["options"]["public"]["phi_share"] == {"surrogates": 1.0, "k-anonymous": 0.02}[procedure]
    assert phi <= shown["surrogates"]
    # No list that hospitals have holds it, however common it is here.
    assert name not in shown["surrogates"]
    assert "patient" in shown["k-anonymous"]
    assert not phi & shown["k-anonymous"]
    own = PublicRule(phi_share=1.0)
    assert RepresenterOptions("k-anonymous", public=own).rule == own


@pytest.mark.parametrize("procedure", ["surrogates", "k-anonymous"])
def test_the_record_says_what_one_word_holds_of_its_cluster(tmp_path: Path, procedure: str) -> None:
    texts = ["Patient patient 77 unheardof."]
    use: Counter[str] = Counter()
    for text in [*(note.text for note in NOTES), *texts]:
        use.update(word.lower() for word in tokenise(text).words)
    wide = RepresenterOptions(procedure, cluster_size=5, public=NOTHING_PUBLIC)
    for options in (wide, replace(wide, max_share=0.2)):
        vectors, record = made(tmp_path, options, texts=texts)
        shares = []
        for cluster in range(len(vectors.centres)):
            held = [use[word] for word, own in zip(vectors.words, vectors.classes, strict=True) if own == cluster]
            shares.append(max(held) / sum(held))
        assert record["largest_share"] == vectors.largest_share == max(shares)
    assert max(shares) <= 0.2
    with pytest.raises(ConfigurationError, match="largest share of"):
        made(tmp_path, replace(wide, max_share=0.001), texts=texts)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ConfigurationError, match="share"):
        RepresenterOptions(max_share=share)


def test_surrogates_hide_casing_on_request_and_nothing_else_can(tmp_path: Path) -> None:
    options = RepresenterOptions(cluster_size=12, hide_casing=True)
    train_repr.train(workspace(tmp_path), PublicMaterial(NOTES, VECTORS), options)
    construction = load_construction(workspace(tmp_path).representer)
    assert construction.hides_casing
    (chunk,) = tokenised_chunks(tokenise_documents(NOTES), construction.scheme)
    shouted = [word.upper() if tag else word for word, tag in zip(chunk.words, chunk.tags.tolist(), strict=True)]
    shown, other = (
        construction.rehearse_share(
            TokenisedSentences(words, chunk.tags, chunk.lengths), torch.Generator().manual_seed(0)
        )
        for words in (list(chunk.words), shouted)
    )
    assert shouted != chunk.words
    np.testing.assert_array_equal(shown.casing, other.casing)
    np.testing.assert_array_equal(shown.values, other.values)


@pytest.mark.parametrize(
    ("options", "said"), [({"hide_casing": True}, "hide the casing"), ({"max_share": 0.5}, "largest share")]
)
def test_what_a_construction_can_not_keep_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        RepresenterOptions("three-part", **options)
