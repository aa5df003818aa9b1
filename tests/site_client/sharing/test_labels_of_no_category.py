"""PHI that a hospital labelled and the release has no category for: it never leaves as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.payload.opening import open_payload
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction
from shared.constructions.procedures.surrogates import Surrogates
from shared.document import Document
from shared.embeddings.generalised import fold_casing
from shared.labels import HIDDEN_TAG, load_mapping, load_scheme, map_document
from shared.models.noise_source import MemoisedNoise
from shared.privacy.enforcement import AdvantageBound
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from site_client.sharing.guard import Guard, Guarded
from tests import constructions
from tests.loop import done, hospital, refused, snapshot, values
from tests.site_client import sites
from tests.tiny_notes import FIRST, LAST, note, tiny_notes, write_notes

NOTES = list(tiny_notes(6))
BANK = SurrogateBank([(0, ("Ana", "Mora")), (0, ("LUIS",)), (3, ("12", "/", "3")), (0, ("eva",))])
# Of a bundled mapping, as `--labels meddocan` under a release of hipaa reads it.
MAPPING = load_mapping("meddocan", "hipaa")
DROPPED = sorted(label for label, category in MAPPING.items() if not category)


def public_and_hidden(bank: SurrogateBank) -> Surrogates:
    """The default construction; half of all names are public words."""
    words = fold_casing(sites.vectors())
    public = np.array([not word.istitle() and len(word) % 2 == 0 for word in words.words])
    return constructions.surrogates(constructions.clusters(sites.vectors(), 4, public), load_scheme("hipaa"), bank)


CONSTRUCTIONS: dict[str, Construction] = {
    "surrogates": public_and_hidden(BANK),
    "hidden casing": public_and_hidden(SurrogateBank(BANK.spans, hides_casing=True)),
    "no noise": replace(sites.clear(), scheme=load_scheme("hipaa")),
    "noise": replace(sites.noisy(0.1), scheme=load_scheme("hipaa")),
}
word = st.sampled_from([*FIRST, *LAST])


def rehearsed(
    construction: Construction, documents: Sequence[Document], bound: AdvantageBound | None
) -> tuple[list[RaggedSentences], Guarded]:
    """What a share would hold, under a draw that can be repeated."""
    guard = Guard(construction, 5, bound, MemoisedNoise(bytes(32), b"bound"))
    mapped = (map_document(document, MAPPING, to_share=True) for document in documents)
    passed = (
        guard.admit_sentences(chunk) for chunk in tokenised_chunks(tokenise_documents(mapped), construction.scheme)
    )
    noise = torch.Generator().manual_seed(0)
    blocks = [construction.rehearse_share(chunk, noise, factors) for chunk, factors in passed]
    return blocks, guard.result()


@pytest.mark.parametrize("bound", [None, AdvantageBound(0.9)])
@pytest.mark.parametrize("name", CONSTRUCTIONS)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_noninterference(name: str, bound: AdvantageBound | None, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(DROPPED))
    before, behind = data.draw(st.sampled_from(["", "Patient was seen by "])), data.draw(word)

    def notes(other: str) -> list[Document]:
        return [
            note(
                "n",
                before,
                (f"{other} {behind}", label),
                " advised rest.\nCall ",
                ("Ana", "NOMBRE_SUJETO_ASISTENCIA"),
                "\nThere was chest pain",
            )
        ]

    (one, found), (other, _) = (rehearsed(CONSTRUCTIONS[name], notes(data.draw(word)), bound) for _ in range(2))
    assert len(one) == len(other) == 1
    for column in ("values", "tags", "casing", "lengths"):
        np.testing.assert_array_equal(getattr(one[0], column), getattr(other[0], column))
    assert found.hidden_words == 1
    with_surrogates = CONSTRUCTIONS[name].replaces_phi
    assert found.hidden_left_out == (0 if with_surrogates else 1)
    assert len(one[0].lengths) == 3 - found.hidden_left_out - found.left_out
    assert np.count_nonzero(one[0].tags) == 1 - found.left_out


@pytest.mark.parametrize("name", ["surrogates", "no noise"])
def test_what_is_only_probably_phi_is_not_counted_as_labelled(name: str) -> None:
    guard = Guard(CONSTRUCTIONS[name], 5, None, MemoisedNoise(bytes(32), b"bound"))
    words = ("Seen", "on", "Ward", "Ana", "today")
    hidden, doubtful = (np.array([word in found for word in words]) for found in (("Ward", "Ana"), ("Ward",)))
    tags = np.where(hidden, np.uint8(HIDDEN_TAG), np.uint8(0))
    guard.admit_sentences(TokenisedSentences(list(words), tags, np.array([5]), doubtful))
    assert guard.result().hidden_words == 1


@pytest.mark.parametrize("replaced", [True, False])
def test_on_the_command_line_they_are_counted(replaced: bool, tmp_path: Path) -> None:
    construction = sites.surrogates(BANK) if replaced else sites.revealing()
    site = sites.site(tmp_path, construction)
    notes = write_notes(tmp_path / "notes", NOTES)
    labels = tmp_path / "ours.toml"
    ours = {"PATIENT": "PATIENT", "DATE": "DATE", "PHONE": "PHONE", "DOCTOR": "", "HOSPITAL": "HOSPITAL"}
    labels.write_text("[map]\n" + "".join(f'{key} = "{value}"\n' for key, value in ours.items()), encoding="utf-8")
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet", "--labels")
    plain = values(hospital(*command, "i2b2_2014", "--json"))
    assert plain["hidden"] == {"words": 0, "sentences_left_out": 0}
    found = values(hospital(*command, labels, "--json"))
    # Every note has one sentence with the doctor's name, a single word.
    assert found["hidden"] == {"words": len(NOTES), "sentences_left_out": 0 if replaced else len(NOTES)}
    assert found["sentences"] == plain["sentences"] - found["hidden"]["sentences_left_out"]
    assert "surrogates took their place" in done(hospital(*command, labels)).stdout or not replaced
    with open_payload(site.root / "a.parquet") as reader:
        tags = np.concatenate([block.tags for block in reader])
    assert set(np.unique(tags)) <= set(range(len(construction.scheme.tags)))
    before = snapshot(site.root)
    labels.write_text("[map]\n" + "".join(f'{key} = ""\n' for key in ours), encoding="utf-8")
    refused(hospital(*command, labels), 3, "not one label", "--labels")
    assert snapshot(site.root) == before


def reviewed(folder: Path, workspace: Path) -> Path:
    """Notes with a word of no category, as `review` exports them."""
    notes = write_notes(folder / "ours.jsonl", NOTES, "jsonl")
    labels = folder / "ours.toml"
    ours = {"PATIENT": "NAME", "DATE": "DATE", "PHONE": "PHONE", "DOCTOR": "", "HOSPITAL": "NAME"}
    labels.write_text("[map]\n" + "".join(f'{key} = "{value}"\n' for key, value in ours.items()), encoding="utf-8")
    out = folder / "reviewed.jsonl"
    command = ("review", notes, "--labels", labels, "--project", folder / "p", "--workspace", workspace)
    assert hospital(*command, "--export", out, "--everything").exit_code == 0
    assert '"OTHER"' in out.read_text(encoding="utf-8")
    return out


def test_what_review_and_check_call_other_is_hidden_without_a_map(tmp_path: Path) -> None:
    site = sites.site(tmp_path, public_and_hidden(BANK))
    out, corrected = reviewed(tmp_path, site.root), tmp_path / "corrected.jsonl"
    at = ("--workspace", site.root, "--quarantine", tmp_path / "aside", "--json")
    checked = values(hospital("check", out, "--corrected", corrected, *at))
    assert (checked["notes"], checked["quarantined"]) == (len(NOTES), 0)
    for notes in (out, corrected):
        share = site.root / f"{notes.stem}.parquet"
        encoded = values(hospital("encode", notes, "--out", share, "--no-check", *at))
        # Every note has one sentence with the doctor's name, a single word.
        assert encoded["quarantined"] == 0
        assert encoded["hidden"]["words"] >= len(NOTES)


def test_a_map_that_names_other_or_another_label_that_is_none_is_asked_first(tmp_path: Path) -> None:
    site = sites.site(tmp_path, public_and_hidden(BANK))
    out, labels = reviewed(tmp_path, site.root), tmp_path / "map.toml"
    own = {"NAME": "NAME", "DATE": "DATE", "PHONE": "PHONE", "OTHER": "NAME"}
    labels.write_text("[map]\n" + "".join(f'{key} = "{value}"\n' for key, value in own.items()), encoding="utf-8")
    command = ("encode", out, "--workspace", site.root, "--out", site.root / "a.parquet", "--no-check")
    assert values(hospital(*command, "--labels", labels, "--json"))["hidden"]["words"] == 0
    out.write_text(out.read_text(encoding="utf-8").replace('"OTHER"', '"OTHERS"'), encoding="utf-8")
    refused(hospital(*command), 3, "expected labels of hipaa", "'OTHERS'")
