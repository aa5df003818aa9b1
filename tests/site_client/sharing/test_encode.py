"""From notes to the provider's tensors: the pool holds what direct computation gives, but for the noise."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregator import workspace as provider
from aggregator.enrolled.shares import find_share, read_manifest
from aggregator.enrolled.sites import enrol, today
from aggregator.ingestion.ingest import ingest
from aggregator.training.pool import Pool
from command_line.stopping import StoppedError, heed_stop_signals
from protocols.payload.opening import open_payload
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction
from shared.document import Document
from shared.labels import LabelScheme
from shared.models.noise import SharingNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.privacy.enforcement import AdvantageBound
from shared.sentences.encoding import embed_sentences, represent_noise_free
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.text.tokens import tokenise
from site_client.exchange.submit import submit_to_folder
from site_client.keys import request_enrolment
from site_client.ledger import entries
from site_client.sharing import encode as module
from site_client.sharing.encode import encode, encoded_blocks
from site_client.sharing.guard import Guard
from site_client.workspace import Workspace, open_workspace
from tests import constructions
from tests.loop import done, hospital, refused, snapshot, values
from tests.shared.embeddings.made import with_subwords
from tests.site_client import sites
from tests.tiny_notes import note, tiny_notes, write_notes

SCHEME = LabelScheme("tiny", ("PATIENT", "DOCTOR", "DATE", "PHONE", "HOSPITAL"))
NOTES = list(tiny_notes(10))
SIGMA = 1e-4


@pytest.fixture(scope="module")
def construction() -> Construction:
    words = sorted({word for document in NOTES for word in tokenise(document.text).words})
    config = RepresenterConfig(12, dim=6, hidden=8, input_noise=2 * SIGMA, output_noise=2 * SIGMA, noise_floor=SIGMA)
    return constructions.noisy(with_subwords(words, dim=12), SCHEME, config)


def blocks(construction: Construction, noise: SharingNoise | None = None) -> Iterator[SentenceBlock]:
    noise = noise or PrivateNoise()
    return encoded_blocks(construction, NOTES, Guard(construction, 5, None, noise), noise)


@pytest.mark.parametrize("suffix", ["parquet", "h5"])
def test_the_pool_holds_what_the_notes_give(suffix: str, construction: Construction, tmp_path: Path) -> None:
    with ShuffledWriter(tmp_path / f"a.{suffix}", dim=6) as writer:
        for block in blocks(construction):
            writer.append(block)
    direct = construction.noise_free(next(tokenised_chunks(tokenise_documents(NOTES), SCHEME)))
    expected: dict[tuple[bytes, bytes], list[np.ndarray]] = {}
    for start, length in zip(direct.starts.tolist(), direct.lengths.tolist(), strict=True):
        tokens = slice(start, start + length)
        key = (direct.tags[tokens].tobytes(), direct.casing[tokens].tobytes())
        expected.setdefault(key, []).append(direct.values[tokens].astype(np.float32))
    seen = 0
    with Pool([tmp_path / f"a.{suffix}"]) as pool:
        for batch in pool.batches(8, np.random.default_rng(0)):
            for line, length in enumerate(batch.lengths.tolist()):
                tags, casing = (
                    part[line, :length].numpy().astype(np.uint8).tobytes() for part in (batch.tags, batch.casing)
                )
                values = batch.inputs[line, :length].numpy()
                away = [float(np.abs(values - other).max()) for other in expected[tags, casing]]
                nearest = int(np.argmin(away))
                # Rounding to float16 and the bfloat16 of the LSTM are coarser than this little noise.
                assert away[nearest] < 0.02
                del expected[tags, casing][nearest]
                seen += 1
    assert seen == direct.sentences
    assert not any(expected.values())


def test_fresh_noise_of_two_encodings_differs(construction: Construction) -> None:
    first, second = (np.concatenate([block.values for block in blocks(construction)]) for _ in range(2))
    assert np.count_nonzero(first != second) > 0.3 * first.size


def shared_sentences(payload: Path) -> Counter[bytes]:
    """Every sentence of a share, as often as it is in it."""
    with open_payload(payload) as reader:
        return Counter(
            block.values[begin:end].tobytes() + block.tags[begin:end].tobytes() + block.casing[begin:end].tobytes()
            for block in reader
            for begin, end in zip(block.offsets[:-1], block.offsets[1:], strict=True)
        )


def shared_by(site: Workspace, name: str, bound: AdvantageBound | None = None) -> Counter[bytes]:
    path = site.root / name
    encode(site, NOTES, path, bound=bound)
    return shared_sentences(path)


def test_notes_that_are_shared_again_get_the_same_noise_again(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    first, second = (shared_by(site, f"{number}.parquet") for number in range(2))
    assert first == second
    assert len(first) > 20
    bounded, again = (shared_by(site, f"{number}.h5", AdvantageBound(0.3)) for number in range(2))
    assert bounded == again
    assert first != bounded
    # Another secret, or another release, draws anew.
    secret = site.root / "keys" / "noise.key"
    secret.write_bytes(secret.read_bytes()[::-1])
    assert not first & shared_by(site, "other.parquet")


def test_the_bound_is_held_under_another_noise_than_that_of_the_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is decided under the noise of the share would hang on it, and tell of it."""
    drawn: dict[str, np.ndarray] = {}

    def draw(noise: SharingNoise) -> np.ndarray:
        assert isinstance(noise, MemoisedNoise)
        return noise.for_sentences(["chest", "pain"], np.array([2])).standard_normal((2, 500)).ravel()

    class Watched(Guard):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            drawn["bound"] = draw(given[-1])

    def watched(*given: Any) -> Iterator[SentenceBlock]:
        drawn["share"] = draw(given[3])
        return encoded_blocks(*given)

    monkeypatch.setattr(module, "Guard", Watched)
    monkeypatch.setattr(module, "encoded_blocks", watched)
    shared_by(sites.site(tmp_path, sites.noisy(0.1)), "a.parquet", AdvantageBound(0.3))
    assert abs(np.corrcoef(drawn["bound"], drawn["share"])[0, 1]) < 0.2


def test_one_representer_in_two_releases_draws_once(tmp_path: Path) -> None:
    shares = []
    for name in ("one", "two"):
        site = sites.site(tmp_path / name, sites.noisy(0.1))
        (site.root / "keys" / "noise.key").write_bytes(bytes(32))
        shares.append(shared_by(site, "a.parquet"))
    assert shares[0] == shares[1]


def test_the_same_weights_at_another_scale_draw_anew(tmp_path: Path) -> None:
    # The floor of the noise stands in the description alone; of one draw at two scales the difference would be known.
    only = note(
        "one", ("Brunhilda Quillfeather", "PATIENT"), " was seen by ", ("Umbersledge", "DOCTOR"), " with chest pain"
    )
    (chunk,) = tokenised_chunks(tokenise_documents([only]), sites.SCHEME)
    draws = []
    for name, floor in (("one", 0.01), ("two", 0.3)):
        encoder = sites.noisy(0.4)
        changed = Representer(replace(encoder.representer.config, input_noise=floor, noise_floor=floor))
        changed.load_state_dict(encoder.representer.state_dict())
        site = sites.site(tmp_path / name, replace(encoder, representer=changed.eval().requires_grad_(False)))
        site.noise_key.write_bytes(bytes(32))
        encode(site, [only], site.root / "a.parquet")
        with open_payload(site.root / "a.parquet") as reader:
            (block,) = reader
        clean = represent_noise_free(embed_sentences(chunk, encoder.vectors), changed).values
        draws.append((block.values - clean) / np.array(changed.noise_scales()["output"]))
    assert len(chunk.lengths) == 1
    assert abs(np.corrcoef(draws[0].ravel(), draws[1].ravel())[0, 1]) < 0.3


def test_a_lost_secret_is_made_anew_only_when_asked_and_the_ledger_tells(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    notes = write_notes(tmp_path / "notes", NOTES)
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet")
    done(hospital(*command))
    site.noise_key.unlink()
    before = snapshot(site.root, tmp_path / "notes")
    refused(hospital(*command), 30, "noise.key", "restore it from the backup", "--new-noise")
    assert snapshot(site.root, tmp_path / "notes") == before
    done(hospital(*command, "--new-noise"))
    done(hospital(*command, "--new-noise"))
    assert [entry.event for entry in entries(open_workspace(site.root))][-1] == "noise secret made anew"


def test_a_share_is_replaced_by_the_next_and_notes_in_its_place_are_not(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    share = site.root / "a.parquet"
    command = ("encode", write_notes(tmp_path / "notes", NOTES), "--workspace", site.root, "--out", share)
    done(hospital(*command))
    done(hospital(*command))
    share.write_text("Jane Doe was seen")
    before = snapshot(site.root, tmp_path / "notes")
    refused(hospital(*command), 2, "a share of this workspace to replace", "choose another name")
    assert snapshot(site.root, tmp_path / "notes") == before


def test_notes_of_lost_digests_leave_again_only_when_asked_and_the_ledger_tells(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    notes = write_notes(tmp_path / "notes", NOTES)
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet")
    done(hospital(*command))
    submit_to_folder(site, site.root / "a.parquet", tmp_path / "stick", "A. Weiss")
    shutil.rmtree(site.root / "known-notes")
    command = (*command[:-1], site.root / "b.parquet")
    before = snapshot(site.root, tmp_path / "notes")
    refused(hospital(*command), 30, "share 1", "restore known-notes/", "--lost-known-notes")
    assert snapshot(site.root, tmp_path / "notes") == before
    said = done(hospital(*command, "--lost-known-notes")).stdout
    assert "which notes left with earlier shares (1) is not known any more" in said
    assert [entry.event for entry in entries(open_workspace(site.root))][-1] == "known notes given up"
    # And from then on, said and unasked.
    submit_to_folder(site, site.root / "b.parquet", tmp_path / "stick", "A. Weiss")
    refused(hospital(*command[:-1], site.root / "c.parquet"), 35, "others left with share 2")


def test_surrogates_are_drawn_anew_in_every_share_and_all_else_is_the_same(tmp_path: Path) -> None:
    bank = SurrogateBank(tuple((kind, (word,)) for kind in range(8) for word in ("Anna", "Maria", "12", "Umbersledge")))
    site = sites.site(tmp_path, sites.surrogates(bank))
    (site.root / "keys" / "noise.key").write_bytes(b"damaged, but not needed")
    first, second = (shared_by(site, f"{number}.parquet") for number in range(2))
    assert sum((first & second).values()) < 0.9 * sum(first.values())
    plain, again = (Counter(text for text in share.elements() if not text_has_phi(text)) for share in (first, second))
    assert plain == again
    assert plain


def text_has_phi(sentence: bytes) -> bool:
    """A token is a code of four bytes, a tag and a casing class."""
    tokens = len(sentence) // 6
    return any(sentence[4 * tokens : 5 * tokens])


def test_notes_of_many_chunks_are_encoded_as_one(construction: Construction, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = blocks(construction)
    monkeypatch.setattr(module, "tokenised_chunks", lambda documents, scheme: tokenised_chunks(documents, scheme, 50))
    pieces = list(blocks(construction))
    assert len(pieces) > 5
    for name in ("tags", "casing", "lengths"):
        np.testing.assert_array_equal(np.concatenate([getattr(piece, name) for piece in pieces]), getattr(whole, name))
    values = np.concatenate([piece.values for piece in pieces]).astype(np.float32)
    np.testing.assert_allclose(values, whole.values, atol=0.02)


def test_a_bound_on_the_command_line(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    notes = write_notes(tmp_path / "notes", NOTES)
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet")
    plain = values(hospital(*command, "--json"))
    assert plain["bound"] is None
    assert plain["white_box"]["representation"]["all"]["mean"] > 0.5
    found = values(hospital(*command, "--max-advantage", 0.2, "--advantage-quantile", 0.9, "--json"))
    assert found["bound"]["advantage"] == 0.2
    assert found["bound"]["quantile"] == 0.9
    assert found["bound"]["raised"] > 0
    assert found["sentences"] == plain["sentences"] - found["bound"]["left_out"]
    assert float(found["value_bound"]) == pytest.approx(1 + 16 * (float(plain["value_bound"]) - 1))
    assert (found["protection"]["max_advantage"], found["protection"]["advantage_quantile"]) == ("0.2", "0.9")
    # All pairs were looked at, and both figures are held to the bound but for one pair in ten of a sentence.
    assert not found["white_box"]["sample"]
    assert found["white_box"]["representation"]["all"]["mean"] < plain["white_box"]["representation"]["all"]["mean"]
    lines = done(hospital(*command, "--max-advantage", 0.2)).stdout
    assert "sentences got more noise" in lines
    assert "99th percentile" in lines
    inspect = ("inspect", site.root / "a.parquet", "--workspace", site.root)
    text = done(hospital(*inspect)).stdout
    assert "60.0%" in text
    listed = values(hospital(*inspect, "--json"))["white_box"]
    for name in ("all", "PATIENT", "PHONE"):
        assert (
            listed[name]["mean"] <= listed[name]["p95"] <= listed[name]["p99"] <= listed[name]["maximum"] <= 0.6 + 1e-6
        )
        assert re.search(rf"^  {name} +{listed[name]['mean']:.1%}", text, re.MULTILINE)
    maximum = values(hospital(*command, "--max-advantage", 0.2, "--json"))["white_box"]["representation"]["all"][
        "maximum"
    ]
    assert maximum <= 0.6 + 1e-6


def test_notes_that_nobody_labelled_are_not_shared(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.revealing())
    notes = write_notes(tmp_path / "notes.jsonl", [*NOTES[:2], Document("bare", "There was no complaint.")], "jsonl")
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet")
    found = values(hospital(*command, "--json"))
    assert found["notes_without_labels"] == 1
    assert "1 of 3 notes have no label" in done(hospital(*command)).stdout
    with notes.open("a", encoding="utf-8") as file:
        file.write('{"id": "never", "text": "Atendido por Ana Ruiz"}\n')
    (site.root / "a.parquet").unlink()
    line = refused(hospital(*command), 3, "never", "notes.jsonl, line 4", "nobody has labelled")
    assert "Ana" not in line
    assert not (site.root / "a.parquet").exists()
    aside = values(hospital(*command, "--json", "--quarantine", tmp_path / "aside"))
    assert (aside["quarantined"], aside["sentences"]) == (1, found["sentences"])
    assert "Atendido" in (tmp_path / "aside" / "000001.json").read_text()


def test_where_no_sentence_keeps_the_bound_nothing_is_written(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.revealing())
    notes = write_notes(tmp_path / "notes", NOTES)
    before = snapshot(site.root, tmp_path / "notes")
    command = ("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet", "--max-advantage", 0.5)
    refused(hospital(*command), 2, "--max-advantage", "left out", "choose a larger one")
    assert snapshot(site.root, tmp_path / "notes") == before


@pytest.mark.parametrize(
    "options",
    [
        ("--max-advantage", 0),
        ("--max-advantage", 1),
        ("--max-advantage", "nan"),
        ("--advantage-quantile", 0.5),
        ("--max-advantage", 0.5, "--advantage-quantile", 0),
    ],
)
def test_a_bound_that_is_none_is_refused(options: tuple[object, ...], tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.revealing())
    notes = write_notes(tmp_path / "notes", NOTES[:1])
    result = hospital("encode", notes, "--workspace", site.root, "--out", site.root / "a.parquet", *options)
    refused(result, 2)


def test_the_provider_takes_a_share_with_raised_noise(tmp_path: Path) -> None:
    site = sites.site(tmp_path, sites.noisy(0.1))
    path = site.root / "a.parquet"
    manifest = encode(site, NOTES, path, bound=AdvantageBound(0.2)).manifest
    central = provider.open_workspace(tmp_path / "provider")
    request = request_enrolment(site, tmp_path / "r.json", "", today())
    enrol(central, tmp_path / "r.json", request.fingerprint)
    decision = ingest(central, submit_to_folder(site, path, tmp_path / "stick", "Dr Ünal"))
    assert decision.state == "accepted", decision.reason
    assert read_manifest(central, find_share(central, manifest.payload_sha256)) == manifest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("suffix", ["parquet", "h5"])
def test_an_encoding_that_is_ended_leaves_nothing(
    number: int, suffix: str, construction: Construction, tmp_path: Path
) -> None:
    before = {one: signal.signal(one, signal.SIG_DFL) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with (
            suppress(StoppedError),
            heed_stop_signals(),
            ShuffledWriter(tmp_path / f"share.{suffix}", dim=6) as writer,
        ):
            for block in blocks(construction):
                writer.append(block)
                assert list(tmp_path.iterdir())
                os.kill(os.getpid(), number)
            pytest.fail("the signal ends it")
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert not list(tmp_path.iterdir())


def test_the_report_of_an_encoding_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        site = sites.site(tmp_path, sites.noisy(SIGMA))
        encode(site, NOTES, tmp_path / "share.parquet")
    finally:
        os.umask(before)
    made = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("share.*")}
    assert len(made) == 3
    assert set(made.values()) == {0o600}
