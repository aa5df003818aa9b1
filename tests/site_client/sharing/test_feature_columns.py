"""Shares of a construction that declares feature columns: encoded, inspected, and taken in by who expects just these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregator.ingestion.payload_check import PayloadFindings, PayloadQuestion, check_payload
from aggregator.training.representer import write_public_share
from foundation.feature_columns import FeatureColumn
from protocols.errors import MismatchError
from protocols.payload.codes import CodeList, CodeRules, write_code_places
from protocols.payload.opening import PayloadLimits, SentenceBlock, open_payload
from protocols.share.sealing import ShareExpectation, read_manifest
from shared.anonymity.surrogates import SurrogateBank
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import tokenised_corpus
from site_client.sharing import encode as encoding
from site_client.sharing import inspect as inspecting
from site_client.sharing.inspect import inspection_lines
from site_client.sharing.inspect_page import write_page
from site_client.sharing.readable.chance import Chance
from site_client.sharing.readable.side_channels import channels
from site_client.workspace import Workspace
from tests.constructions import WithLengths
from tests.protocols.payload.blocks import make_block, replaced
from tests.site_client import sites
from tests.tiny_notes import tiny_notes

NOTES = list(tiny_notes(6, 1, "north"))
SHARE = "a.parquet"
BANK = SurrogateBank([(kind, ("Anna",)) for kind in range(len(sites.SCHEME.categories))])


def declared() -> WithLengths:
    plain: Any = sites.surrogates(BANK)
    return WithLengths(plain.vectors, plain.representer, plain.scheme, plain.bank)


MADE = declared()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A hospital with a share; a release can't hold such a construction yet, so it is put in the place of what is loaded."""
    workspace = sites.site(tmp_path_factory.mktemp("features"), sites.surrogates(BANK))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "load_construction", lambda folder: MADE)
        encoding.encode(workspace, NOTES, workspace.root / SHARE)
    return workspace


def test_a_share_has_the_declared_columns(site: Workspace) -> None:
    with open_payload(site.root / SHARE) as reader:
        assert reader.features == MADE.features
        found = np.concatenate([np.column_stack([block.tags, block.features]) for block in reader])
    chunk = tokenised_corpus(NOTES, sites.SCHEME)
    outside = chunk.tags == 0
    expected = MADE.feature_classes([word for word, out in zip(chunk.words, outside.tolist(), strict=True) if out])
    # Sentences are shuffled, so the classes of words that are no PHI are counted.
    np.testing.assert_array_equal(
        np.unique(found[found[:, 0] == 0, 1:], axis=0, return_counts=True)[1],
        np.unique(expected, axis=0, return_counts=True)[1],
    )
    # "Anna" has four letters and begins with a vowel; what else is labelled is punctuation.
    assert {tuple(row) for row in found[found[:, 0] > 0, 1:].tolist()} <= {(1, 1), (0, 0)}


def test_an_inspection_names_them(site: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspecting, "load_construction", lambda folder: MADE)
    found = inspecting.inspect(site, site.root / SHARE, sites.SCHEME, NOTES)
    text = "\n".join(inspection_lines(found))
    assert "2 of these tell more than codes, labels and casing: length_class, vowel" in text
    page = write_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 of these tell more than codes, labels and casing: length_class, vowel" in page
    for column in MADE.features:
        assert f"feature_{column.name}" in text
        assert f"one of {column.classes}, as the release declares" in text
    with open_payload(site.root / SHARE) as reader:
        assert sum(column.bytes for column in found.columns) + found.format_bytes == reader.file_bytes
    assert 0 < found.format_bytes < 5000


def test_an_inspection_refuses_columns_that_its_release_does_not_declare(site: Workspace) -> None:
    with pytest.raises(MismatchError, match="feature columns of the release"):
        inspecting.inspect(site, site.root / SHARE, sites.SCHEME, None)


def test_a_sentence_stands_alone_by_its_features_too() -> None:
    block = make_block([2])
    coded = replaced(block, values=np.zeros(2, dtype="<u4"))

    def other(*classes: int) -> SentenceBlock:
        return replaced(coded, features=np.array(classes, dtype=np.uint8)[:, None])

    told = Chance.stated(sites.SCHEME, {})
    assert channels([other(0, 1), other(0, 1)], sites.SCHEME, told).alone == 0
    assert channels([other(0, 1), other(1, 0)], sites.SCHEME, told).alone == 2


def test_the_provider_takes_in_what_its_release_declares_and_nothing_else(site: Workspace, tmp_path: Path) -> None:
    found = MADE.code_places()
    write_code_places(tmp_path / "places", CodeRules(found.places, found.window))

    def check(features: tuple[FeatureColumn, ...] | None) -> PayloadFindings | None:
        question = PayloadQuestion(
            site.root / SHARE,
            site.site,
            site.key().public_key,
            ShareExpectation(dim=0, features=features),
            PayloadLimits(),
            "00" * 32,
            codes=CodeList(tmp_path / "places", found.window),
        )
        return PayloadFindings.from_json(check_payload(question.to_json()))

    answer = check(MADE.features)
    assert answer is not None
    assert isinstance(answer.counts, dict)
    assert answer.counts["tokens"] == read_manifest(site.root / SHARE).tokens
    for other in ((), MADE.features[:1], MADE.features[::-1], (*MADE.features, FeatureColumn("more", 2))):
        with pytest.raises(MismatchError, match="feature columns"):
            check(other)


def test_the_provider_s_own_notes_have_them_too(tmp_path: Path) -> None:
    chunk = tokenised_corpus(NOTES, sites.SCHEME)
    sentences, _ = index_sentences([chunk], MADE.vectors)
    write_public_share(sentences, MADE, tmp_path / "public.parquet")
    with open_payload(tmp_path / "public.parquet") as reader:
        assert reader.features == MADE.features
        assert sum(int(block.features.any(axis=1).sum()) for block in reader) > 0
