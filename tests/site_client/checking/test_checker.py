"""PHI that nobody labelled: what is found beside the labels, how it is shown, and what becomes of it in a share."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from protocols.payload.opening import open_payload
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions import registry
from shared.corpus import read_corpus
from shared.document import Annotation, Document
from shared.labels import UNKNOWN_TAG, load_scheme
from shared.patterns.kinds import Suspicion
from shared.pipeline.forgotten.checker import Checker, settle
from shared.pipeline.forgotten.suspicion import stretches_of, suspect
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline, load_pipeline
from shared.sentences.tokenised import tokenise_documents, tokenised_corpus
from shared.text.tokens import tokenise
from site_client.checking.listing import list_suspicions
from site_client.deid.choices.config import read_always_hidden
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, refused, values
from tests.site_client import sites
from tests.site_client.sites import SCHEME
from tests.tiny_notes import note, tiny_notes, write_notes

BANK = SurrogateBank(tuple((category, ("Waldtraut",)) for category in range(len(SCHEME.categories))))
FORGOTTEN = note(
    "forgotten",
    "Patient ",
    ("Brunhilda Quillfeather", "PATIENT"),
    " was seen on 03/04/2019.\nDr Oxenthorpe advised rest.\n",
)


def found(document: Document) -> dict[str, str]:
    [checked] = Checker(SCHEME).check([document])
    return {document.text[one.start : one.end]: one.category for one in checked.suspicions if one.certainty >= 0.5}


def test_what_is_labelled_is_no_suspicion_and_the_rest_is() -> None:
    assert found(FORGOTTEN) == {"03/04/2019": "DATE", "Oxenthorpe": "DOCTOR"}
    assert not any(found(document) for document in tiny_notes(20))


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        (["Seen by Dr ", "Anna|DOCTOR", " Oxenthorpe today."], "Oxenthorpe"),
        (["Seen by Dr Anna ", "Oxenthorpe|DOCTOR", " today."], "Anna"),
        (["Patient name: ", "Mary|PATIENT", " Quillfeather"], "Quillfeather"),
        (["Seen by Dr ", "Ana|DOCTOR", " Nu\u0301n\u0303ez today."], "Nu\u0301n\u0303ez"),
    ],
)
def test_the_half_of_a_name_that_a_label_leaves_is_as_sure_as_the_whole(pieces: list[str], left: str) -> None:
    partly = note(
        "partly", *((part, kind) if kind else part for part, _, kind in (one.partition("|") for one in pieces))
    )
    [checked] = Checker(SCHEME).check([partly])
    assert {partly.text[one.start : one.end] for one in checked.with_doubts(0.5).annotations if one.doubtful} == {left}


def test_half_of_a_date_is_found_by_who_reads_the_label_too() -> None:
    partly = note("partly", "Seen on ", ("03/04", "DATE"), "/2019.")
    looking = Checker(SCHEME)
    [checked] = looking.read_labelled(looking.check([partly]))
    left = {partly.text[one.start : one.end]: one.certainty for one in checked.suspicions}
    assert left == {"2019": pytest.approx(0.99)}


@pytest.mark.parametrize(
    "written",
    [
        "Ysolde\nQuenby",
        "YSOLDE QUENBY",
        "ysolde quenby",
        "Ysolde\u00a0Quenby",
        "Ysolde-Quenby",
        "Ysold\u00e9 Quenby",
        "Ysolde\u0301 Quenby",
        "Quenby",
    ],
)
def test_what_another_note_has_labelled_is_listed_and_not_what_encode_hides(written: str) -> None:
    """No rule and no list knows the name; a share that called it unknown would tell that it was labelled elsewhere."""
    labelled = note("labelled", "Seen today: ", ("Ysolde Quenby", "PATIENT"), ". The ward is full.")
    name = Document("a", "Quenby", (Annotation(0, 6, "PATIENT"),))
    forgotten = Document("forgotten", f"Later on {written} walked home with the ward sister.")
    looking = Checker(SCHEME)
    hidden = list(looking.check([labelled, name, forgotten]))
    assert not hidden[-1].suspicions
    *_, checked = looking.read_labelled(hidden)
    assert [(forgotten.text[one.start : one.end], one.category) for one in checked.suspicions] == [(written, "PATIENT")]
    alone = [Document(one.identifier, one.text) for one in (labelled, name, forgotten)]
    assert list(looking.check(alone))[-1] == hidden[-1]


def test_words_of_a_dictionary_are_listed_under_no_label_of_another_note() -> None:
    labelled = note("labelled", "She works in the ", ("Emergency Department", "HOSPITAL"), ".")
    other = Document("other", "Later on the Emergency Department was full.")
    looking = Checker(SCHEME)
    assert not list(looking.read_labelled(looking.check([labelled, other])))[-1].suspicions


@pytest.mark.parametrize("title", ["Dra", "Mrs", "Doctor", "Hospital", "Sr"])
def test_a_title_that_a_label_leaves_is_half_as_sure(title: str) -> None:
    text = f"{title} Oxenthorpe"
    whole = Suspicion(0, len(text), "DOCTOR", 0.9, "x")
    labelled = Document("a", text, (Annotation(len(title) + 1, len(text), "DOCTOR"),))
    assert [one.certainty for one in settle(labelled, [whole])] == [pytest.approx(0.45)]


def test_what_is_sure_is_hidden_whatever_is_beside_it() -> None:
    tokens = tokenise("with Zorvath consult service team")
    certainty, category = np.array([0, 0.95, 0.3, 0.25, 0.22], dtype=np.float32), np.zeros(5, dtype=np.int64)

    suspicions = [one for least in (0.2, 0.5) for one in stretches_of(tokens, certainty, category, SCHEME, least)]
    settled = settle(Document("a", "with Zorvath consult service team"), suspicions)
    assert [(one.start, one.end, round(one.certainty, 2)) for one in settled] == [(5, 12, 0.95), (13, 33, 0.43)]


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from([0.3, 0.6, 0.9])), max_size=6)


@given(st.text("ab ,.", min_size=40, max_size=40), spans, spans)
def test_suspicions_touch_no_label_and_no_other_and_nothing_sure_is_lost(
    text: str, labels: list[tuple[int, int, float]], others: list[tuple[int, int, float]]
) -> None:
    annotations: list[Annotation] = []
    for start, length, _ in sorted(labels):
        if not annotations or start >= annotations[-1].end:
            annotations.append(Annotation(start, start + length, "DATE"))
    suspicions = [Suspicion(start, start + length, "PATIENT", certainty, "x") for start, length, certainty in others]
    settled = settle(Document("a", text, tuple(annotations)), suspicions)
    Document("a", text, (*annotations, *(Annotation(one.start, one.end, one.category) for one in settled)))
    wanted = {place for one in suspicions for place in range(one.start, one.end) if text[place].isalnum()}
    wanted -= {place for span in annotations for place in range(span.start, span.end)}
    assert {place for one in settled for place in range(one.start, one.end) if text[place].isalnum()} == wanted


def test_doubtful_tokens_are_known_through_chunks_and_selections() -> None:
    [checked] = Checker(SCHEME).check([FORGOTTEN])
    chunk = tokenised_corpus([next(tiny_notes(1)), checked.with_doubts(0.5)], SCHEME)
    doubted = [word for word, doubtful in zip(chunk.words, chunk.are_doubtful.tolist(), strict=True) if doubtful]
    assert doubted == ["03", "/", "04", "/", "2019", "Oxenthorpe"]
    assert (chunk.tags[chunk.are_doubtful] > 0).all()
    last = chunk.select(np.array([chunk.sentences - 1]))
    assert last.are_doubtful.tolist() == [word == "Oxenthorpe" for word in last.words]
    assert tokenised_corpus([FORGOTTEN], SCHEME).doubtful is None


@pytest.fixture(scope="module")
def pipeline(built_loop: Loop) -> Pipeline:
    return load_pipeline(open_workspace(built_loop.site("fourth")).pipeline_release().folder)


def test_the_pipeline_finds_what_no_pattern_knows(pipeline: Pipeline) -> None:
    documents = [Document(one.identifier, one.text) for one in tiny_notes(30, 5)]
    annotated = list(pipeline.annotate(documents))
    for (document, found), tagged in zip(suspect(pipeline, documents, (0.5,)), annotated, strict=True):
        covered = {place for one in found for place in range(one.start, one.end)}
        sure = [one for one in found if one.certainty > 0.9]
        assert document.identifier == tagged.identifier
        assert sure
        assert covered >= {
            place
            for one in tagged.annotations
            for place in range(one.start + 1, one.end - 1)
            if document.text[place].isalnum()
        }


def test_probabilities_are_those_of_the_marginals(pipeline: Pipeline) -> None:
    [pair] = tokenise_documents([next(tiny_notes(1, 9))])
    [found] = pipeline.read([pair])
    certainty, category = found.certainty, found.category
    chunk = tokenised_corpus([pair[0]], pipeline.encoder.scheme)
    for row, (start, length) in enumerate(zip(chunk.starts.tolist(), chunk.lengths.tolist(), strict=True)):
        alone = pipeline.encoder.noise_free(chunk.select(np.array([row])))
        [batch] = alone.batches(1)
        with torch.no_grad():
            marginals = pipeline.head.marginals(batch)[0].numpy()
        assert np.allclose(certainty[start : start + length], 1 - marginals[:, 0], atol=0.02)
        sums = marginals[:, 1::2] + marginals[:, 2::2]
        sure = marginals[:, 0] < 0.5
        assert (category[start : start + length] == sums.argmax(1))[sure].all()


FORGOTTEN_IN_SPANISH = Document(
    "olvidado",
    "Varón de 54 años, hijo de Begoña, vive en la calle Mayor 3.\nIngresa en el Hospital Oza. El Dr. Zúñiga le ve.",
)


def hidden_places(document: Document) -> set[int]:
    doubtful = (span for span in document.annotations if span.doubtful)
    return {place for span in doubtful for place in range(span.start, span.end) if document.text[place].isalnum()}


@pytest.mark.parametrize("language", ["Klingon", "English", "Spanish", "German"])
@pytest.mark.parametrize("document", [FORGOTTEN, FORGOTTEN_IN_SPANISH], ids=["English", "Spanish"])
def test_attack_a_release_states_a_language_and_ends_the_search_of_rules(
    pipeline: Pipeline, document: Document, language: str
) -> None:
    """Whatever a release says of its notes, rules of all languages look for what is forgotten in those of the hospital."""
    for name in ("meddocan", "meddocan-v2", "i2b2_2006"):
        scheme = replace(load_scheme("meddocan"), name=name)
        [alone] = Checker(load_scheme("meddocan")).check([document])
        [beside] = Checker(scheme, replace(pipeline, stated=LastWordSettings(language, ()))).check([document])
        places = [hidden_places(one.with_doubts(0.5)) for one in (alone, beside)]
        assert places[0]
        assert places[1] >= places[0]


def check(loop: Loop, notes: Path, *more: object) -> Result:
    return hospital("check", notes, "--workspace", loop.site("fourth"), *more)


def test_nobody_is_told_that_a_release_hides_what_it_does_not(
    built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that replaces no PHI shares words that nobody labelled as it shares all others."""
    monkeypatch.setattr(registry, "load_construction", lambda folder: SimpleNamespace(replaces_phi=False))
    notes = write_notes(tmp_path / "notes", [*tiny_notes(3, 7), FORGOTTEN])
    found = values(check(built_loop, notes, "--json"))
    assert found["suspicions"]
    assert found["hidden_by_encode"] == 0
    assert "`encode` hides none:" in done(check(built_loop, notes)).stdout


def test_the_list_and_the_notes_to_correct_take_two_files(tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes", [FORGOTTEN])
    one = tmp_path / "both.json"
    refused(
        hospital("check", notes, "--out", one, "--corrected", tmp_path / "notes" / ".." / one.name), 2, "another file"
    )
    assert not one.exists()


def test_the_command_lists_the_surest_first_and_prints_no_word_into_a_pipe(built_loop: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes", [*tiny_notes(3, 7), FORGOTTEN])
    out, corrected = tmp_path / "list.json", tmp_path / "corrected.jsonl"
    said = done(check(built_loop, notes, "--out", out, "--corrected", corrected)).stdout
    found = values(check(built_loop, notes, "--json"))
    certainties = [one["certainty"] for one in found["suspicions"]]
    assert certainties == sorted(certainties, reverse=True)
    assert found["hidden_by_encode"] >= 2
    # Whatever is listed: that is for a person to choose, and what is hidden is not.
    few = values(check(built_loop, notes, "--least", 1, "--json"))
    assert len(few["suspicions"]) < few["hidden_by_encode"] == found["hidden_by_encode"]
    assert f"`encode` hides {found['hidden_by_encode']}: whatever" in said
    assert found["pipeline"]
    for output in (said, json.dumps(found)):
        assert "Oxenthorpe" not in output
        assert "03/04/2019" not in output
    listed = json.loads(out.read_text())["suspicions"]
    texts = {one["text"] for one in listed}
    assert "03/04/2019" in texts
    assert any("Oxenthorpe" in text for text in texts)
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE(corrected.stat().st_mode) == 0o600
    # Where nothing is listed, too: the list is replaced by the next, and what a person corrects by nothing.
    clean = write_notes(tmp_path / "clean", [note("clean", "Seen by ", ("Anna Berg", "DOCTOR"), ".\n")])
    done(check(built_loop, clean, "--least", 1, "--out", tmp_path / "empty.json"))
    for earlier in (out, tmp_path / "empty.json"):
        done(check(built_loop, notes, "--out", earlier))
        assert json.loads(earlier.read_text())["suspicions"] == listed
    before = corrected.read_bytes()
    refused(check(built_loop, notes, "--corrected", corrected), 2, "new file")
    assert corrected.read_bytes() == before
    [again] = [one for one in read_corpus(corrected) if one.identifier == "forgotten"]
    labelled = {again.covered_text(span) for span in again.annotations}
    assert {"03/04/2019", "Brunhilda Quillfeather"} <= labelled
    assert any("Oxenthorpe" in text for text in labelled)


def test_a_terminal_shows_the_words_and_nothing_that_moves_its_cursor() -> None:
    document = note("a", "\x1b[2J seen by Dr Oxenthorpe\x1b]0;x\x07 on 03/04/2019")
    listed = list_suspicions(list(Checker(SCHEME).check([document])), 0.5)
    lines = [one.line(words=True) for one in listed]
    assert any("[Oxenthorpe]" in line for line in lines)
    assert all(line.isprintable() for line in lines)
    assert "Oxenthorpe" not in "".join(map(repr, listed))


def blocks(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with open_payload(path) as reader:
        read = list(reader)
    return np.concatenate([block.values for block in read]), np.concatenate([block.tags for block in read])


def test_what_nobody_labelled_is_hidden_and_its_tags_are_unknown(loop: Loop, tmp_path: Path) -> None:
    """Of the forgotten words nothing is in the share: other ones in their place give a share of the same rows and tags elsewhere."""
    notes = [*tiny_notes(5, 7), FORGOTTEN]
    folder = write_notes(tmp_path / "notes", notes)
    at = ("--workspace", loop.site("north"))
    said = values(hospital("encode", folder, "--out", tmp_path / "a.parquet", *at, "--json"))
    assert said["probable_phi_hidden"] == 2
    assert int((blocks(tmp_path / "a.parquet")[1] == UNKNOWN_TAG).sum()) == 6
    shown = values(hospital("inspect", tmp_path / "a.parquet", *at, "--json"))
    assert shown["phi_tokens"]["unknown, hidden like PHI"] == 6
    for more in (("--no-check",), ("--hide-above", 1)):
        said = values(hospital("encode", folder, "--out", tmp_path / "b.parquet", *at, "--json", *more))
        assert said["probable_phi_hidden"] == 0
        assert UNKNOWN_TAG not in blocks(tmp_path / "b.parquet")[1]


OWN = note("own", "Lives in Lower Quern Row.\nSister of ", ("Anna Berg", "PATIENT"), ", walks with a frame.\n")


def config(folder: Path, text: str) -> Path:
    path = folder / "ours.toml"
    path.write_text(text)
    return path


def test_what_a_hospital_always_hides_is_certain_wherever_nobody_labelled_it(tmp_path: Path) -> None:
    own = config(
        tmp_path, '[deny]\nSTREET = ["lower quern row"]\nPATIENT = ["Berg"]\n[allow]\n"*" = ["Lower Quern Row"]\n'
    )
    assert "Lower Quern Row" not in found(OWN)
    [checked] = Checker(SCHEME, listed=read_always_hidden(own, SCHEME)).check([OWN])
    sure = [(OWN.text[one.start : one.end], one.category) for one in checked.suspicions if one.certainty == 1]
    assert sure == [("Lower Quern Row", "STREET")]


def test_the_commands_take_a_hospitals_own_lists(loop: Loop, tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", [*tiny_notes(5, 7), OWN])
    own, out = config(tmp_path, '[deny]\nSTREET = ["Lower Quern Row"]\n'), tmp_path / "a.parquet"
    at = ("--workspace", loop.site("north"))
    plain = values(hospital("check", folder, *at, "--json"))["hidden_by_encode"]
    assert values(hospital("check", folder, *at, "--config", own, "--json"))["hidden_by_encode"] == plain + 1
    said = values(hospital("encode", folder, "--out", out, *at, "--config", own, "--hide-above", 1, "--json"))
    assert said["probable_phi_hidden"] == 1
    assert "patterns, the hospital's own lists and lists of names looked" in done(hospital("inspect", out, *at)).stdout
    for more in (("--config", own), ("--hide-above", 0.3)):
        refused(
            hospital("encode", folder, "--out", out, *at, *more, "--no-check"), 2, f"{more[0]}: expected no --no-check"
        )
    for wrong, said in (("[allow]\n'*' = ['Parkinson']\n", "got none"), ("[deny]\nSHIP = ['Ursa']\n", "got SHIP")):
        refused(hospital("encode", folder, "--out", out, *at, "--config", config(tmp_path, wrong)), 2, said)


def test_doubtful_spans_are_replaced_like_labelled_ones_whatever_their_words() -> None:
    other = replace(
        FORGOTTEN, text=FORGOTTEN.text.replace("Oxenthorpe", "Nettlecomb").replace("03/04/2019", "11/12/2008")
    )
    construction = sites.surrogates(BANK)
    shown = []
    for document in (FORGOTTEN, other):
        [checked] = Checker(SCHEME).check([document])
        chunk = tokenised_corpus([checked.with_doubts(0.5)], SCHEME)
        shown.append(construction.rehearse_share(chunk, torch.Generator().manual_seed(1)))
    assert (shown[0].values == shown[1].values).all()
    assert (shown[0].tags == shown[1].tags).all()
    assert int((shown[0].tags == UNKNOWN_TAG).sum()) == 6
    # The sure label keeps its own tags.
    assert {1, 2} <= set(shown[0].tags.tolist())


def doubts(document: Document) -> list[tuple[int, int, str, float]]:
    """What `encode` finds, counted from the end of the note: labels ahead of it may be of any length."""
    [checked] = Checker(SCHEME).check([document])
    behind = len(document.text)
    return [(one.start - behind, one.end - behind, one.category, one.certainty) for one in checked.suspicions]


def test_attack_labelled_phi_decides_what_encode_doubts() -> None:
    """The ZIP of one ends as a telephone's extension may, that of the other does not."""
    zips = ("HG19 9DR", "HG19 9EB", "HG19\n9DR. Tel")
    one, *others = (note("n", "Seen. ", (zip_code, "ZIP"), "\nTel. as before, on 03/04/2019") for zip_code in zips)
    assert doubts(one)
    assert [doubts(other) for other in others] == [doubts(one)] * 2
    for document in (one, *others):
        [checked] = Checker(SCHEME).check([document])
        spans = checked.with_doubts(0.0).annotations
        assert [document.covered_text(span) for span in spans if span.doubtful] == ["03/04/2019"]
