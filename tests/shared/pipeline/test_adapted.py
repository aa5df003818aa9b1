"""An adapted head hides what the release finds of categories that too few notes showed, whatever it has forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from shared.document import Document
from shared.errors import ConfigurationError, ModelError
from shared.pipeline.adapted import AdaptedPipeline, adapted
from shared.pipeline.operating_points import OperatingPoint, OperatingPoints
from shared.pipeline.pipeline import Pipeline, load_pipeline
from shared.taggers.bilstm_crf import BiLSTMCRF
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import Tagger
from shared.training.loop import seed_training
from site_client.workspace import open_workspace
from tests.loop import Loop
from tests.tiny_notes import tiny_notes

NOTES = [Document(one.identifier, one.text) for one in tiny_notes(8, 3, "adapted")]


@pytest.fixture(scope="module")
def release(built_loop: Loop) -> Pipeline:
    """Without its last word, which finds dates and telephones whatever a head has forgotten."""
    loaded = load_pipeline(open_workspace(built_loop.site("fourth")).pipeline_release().folder)
    return replace(loaded, stated=None)


@pytest.fixture(scope="module")
def forgetful(release: Pipeline) -> Tagger:
    """A head that finds nothing."""
    with seed_training(1), torch.no_grad():
        head = build_tagger(release.head.config).eval()
        assert isinstance(head, BiLSTMCRF)
        head.output.bias.fill_(-50.0)
        head.output.bias[0] = 50.0
    return head


def hidden(pipeline: Pipeline) -> set[tuple[str, str]]:
    return {
        (one.identifier, f"{span.start}-{span.end} {span.category}")
        for one in pipeline.annotate(NOTES)
        for span in one.annotations
    }


def test_what_is_kept_is_hidden_as_the_release_hides_it_and_nothing_else(release: Pipeline, forgetful: Tagger) -> None:
    kept = frozenset({"DATE", "PATIENT"})
    expected = {one for one in hidden(release) if one[1].split()[1] in kept}
    assert expected
    assert hidden(adapted(release, forgetful, None, kept)) == expected
    assert not hidden(adapted(release, forgetful, None, frozenset()))


def test_with_the_released_head_itself_all_is_as_before(release: Pipeline) -> None:
    every = frozenset(release.encoder.scheme.categories)
    assert hidden(adapted(replace(release, points=None, point=None), release.head, None, every)) == hidden(
        replace(release, points=None, point=None)
    )


def test_more_is_asked_of_the_release_where_more_is_asked(release: Pipeline) -> None:
    stated = OperatingPoints(3, tuple(OperatingPoint(t, 1 - t, t, 0.5, t) for t in (0.9, 0.95, 0.99)))
    own = OperatingPoints(1, tuple(OperatingPoint(t, None, t, 0.5, t) for t in (0.93, 0.97, 0.995)))
    known = replace(release, points=stated, point=stated.points[1])

    def beside(asked: float) -> float | None:
        found = adapted(known, release.head, own, frozenset()).at(asked)
        assert isinstance(found, AdaptedPipeline)
        point = found._beside.point
        return None if point is None else point.target

    # Never below the point in use, even where less is asked for; the last where none is for so much.
    assert [beside(asked) for asked in (0.9, 0.96, 0.99)] == [0.95, 0.99, 0.99]
    with pytest.raises(ConfigurationError, match=r"at most 0\.995"):
        beside(0.999)


def test_a_head_of_another_shape_is_refused(release: Pipeline) -> None:
    other = build_tagger(replace(release.head.config, hidden=3))  # type: ignore[call-arg]
    with pytest.raises(ModelError, match="adapt again"):
        adapted(release, other, None, frozenset())
