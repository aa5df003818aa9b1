"""What the measurements of the workbench count, on notes small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bench.workbench.adept import Adept, AdeptConfig
from bench.workbench.identifiers import PAPER, count_in_fragments, count_in_notes
from bench.workbench.linking import Notes, link_lines, link_phrases
from bench.workbench.tasks import NaiveBayes, Trigrams, f1_of_ranking, words_of
from shared.document import Annotation, Document
from site_client.fragments.counting import Owned
from site_client.fragments.phrases import Kind


def owned(text: str, owner: int, kind: Kind = Kind.NOUN) -> Owned:
    return Owned(kind, text, owner, 2)


def test_words_of_identifiers_are_counted() -> None:
    notes = [
        Document("a", "Rosa has chest pain.", (Annotation(0, 4, "PATIENT"),)),
        Document("b", "Seen on May 4. Chest pain.", (Annotation(8, 13, "DATE"),)),
    ]
    whole = count_in_notes(notes)
    assert whole.words == 4 + 6
    assert whole.share("all") == pytest.approx(3 / 10)
    assert whole.share(PAPER) == whole.share("names") == pytest.approx(1 / 10)
    found = count_in_fragments([owned("chest pain", 0), owned("rosa has", 0)], notes)
    assert found.words == 4
    assert found.share("names") == pytest.approx(1 / 4)
    assert found.share("locations") == 0


def test_a_phrase_of_one_note_is_linked_and_one_of_all_is_not() -> None:
    texts = [f"word{chr(97 + number)} alone here. chest pain again and again." for number in range(26)] * 8
    texts = [f"{text} {chr(97 + number // 26)}{chr(97 + number % 26)}x own" for number, text in enumerate(texts)]
    alone = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}x own" for number in range(len(texts))]
    notes = Notes.of(texts, ["public text"], {"chest pain", *alone})
    places = {number: [number] for number in range(len(texts))}
    rng = np.random.default_rng(0)
    known = link_phrases([owned(text, number) for number, text in enumerate(alone)], places, notes, rng)
    assert known.best == known.expected == 1
    common = link_phrases([owned("chest pain", number) for number in range(len(texts))], places, notes, rng)
    assert common.expected == pytest.approx(1 / len(texts))
    assert common.best < 0.05
    # A line is as weak as the weakest of its phrases.
    line = [owned("chest pain", 0), owned("chest pain", 1), owned(alone[5], 5), owned("chest pain", 7)]
    assert link_lines([line], places, notes, rng).best == 1


def test_the_classifier_tells_what_it_was_shown() -> None:
    cases, controls = [words_of("the heart beats")], [words_of("the bone broke")]
    found = NaiveBayes(cases, controls)
    assert found.score(words_of("a heart")) > 0 > found.score(words_of("a bone"))
    assert found.score(words_of("zebra")) == 0
    assert f1_of_ranking([0.9, 0.1, 0.8, 0.2], [True, False, False, True], 0.5) == 0.5


def test_probabilities_of_words_add_up_to_one() -> None:
    model = Trigrams([words_of("the heart beats. the heart stops. a bone broke.")])
    words = {"the", "heart", "beats", "stops", "a", "bone", "broke"}
    for context in (["the", "heart"], ["a", "bone"], ["never", "seen"], ["never", "heart"]):
        assert sum(model.probability(context, word) for word in (*words, "zebra")) == pytest.approx(1)
    assert model.likeliest(["the"]) == "heart"
    tested = model.test([[["so", "it", "was", "the", "heart", "beats"]]])
    assert tested.asked == 1
    assert tested.probability == pytest.approx(model.probability(["the", "heart"], "beats"))


def test_any_two_vectors_lie_within_what_the_noise_is_made_for() -> None:
    """Laplace noise of scale 2C/epsilon is epsilon-private only for vectors at most 2C apart in L1."""
    torch.manual_seed(0)
    made = Adept([f"w{number}" for number in range(40)], AdeptConfig(clip=0.5))
    sentences = [[f"w{(start + place) % 50}" for place in range(1 + start % 20)] for start in range(60)]
    vectors = made.encode(made.rows_of(sentences)).detach()
    assert float(torch.cdist(vectors, vectors, p=1).max()) <= 2 * 0.5 + 1e-5
    assert float(vectors.abs().sum(1).max()) == pytest.approx(0.5)


def test_the_noise_has_the_scale_that_is_stated() -> None:
    made = Adept(["w"], AdeptConfig(epsilon=4.0, clip=3.0))
    drawn = made._noisy(torch.zeros(40_000, 2), torch.Generator().manual_seed(0))
    # The mean absolute value of Laplace is its scale.
    assert float(drawn.abs().mean()) == pytest.approx(2 * 3.0 / 4.0, rel=0.02)
    assert float(drawn.mean()) == pytest.approx(0, abs=0.03)
