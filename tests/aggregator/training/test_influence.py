"""What a site does to the others, on a pool in which one lies; and recall with its interval against a bootstrap."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest
import torch

from aggregator.enrolled.alarms import list_alarms
from aggregator.publishing.quality_gate import FALSE_ALARMS
from aggregator.registry.states import AlarmKind
from aggregator.training.defences.registry import find_defence
from aggregator.training.judging.influence import (
    Influence,
    InfluenceMode,
    SiteInfluence,
    measure_influence,
    raise_alarms,
)
from aggregator.training.judging.recall import ALL, LEAST_TOKENS, RecallChange, compare_recall
from aggregator.training.pool import Pool
from shared.sentences.ragged import Batch, SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig
from tests.aggregator.copied import new_workspace
from tests.aggregator.training.pools import LIAR, NAMES, SCHEME, SITES, Lines, material, sentence, write_pool
from tests.loop import Loop, provider, values


@pytest.fixture(scope="module")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, ...]]:
    return write_pool(tmp_path_factory.mktemp("pool"), 500, count=120)


class Answers:
    """A head that finds each token of PHI with some chance, always the same for the same batch."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def decode(self, batch: Batch) -> torch.Tensor:
        dice = np.random.default_rng(int(batch.rows[0]))
        # The first token of a sentence decides: tokens of a sentence stand or fall together.
        drawn = dice.random((len(batch.lengths), 1)) < self.chance
        return torch.tensor(np.where(drawn, batch.tags.numpy(), 0))


def head(chance: float) -> Tagger:
    return cast(Tagger, Answers(chance))


def test_recall_is_counted_by_category_and_its_interval_is_that_of_a_bootstrap_over_sentences(
    payloads: dict[str, tuple[Path, ...]],
) -> None:
    files = [path for paths in payloads.values() for path in paths]
    ours, theirs = head(0.6), head(0.8)
    found = {one.category: one for one in compare_recall(ours, theirs, Pool(files, held_out=True), SCHEME)}
    assert set(found) == {ALL, "NAME", "PLACE", FALSE_ALARMS}
    rows: list[tuple[int, int, int]] = []
    with Pool(files, held_out=True) as pool:
        for batch in pool.batches(256):
            said, other = ours.decode(batch), theirs.decode(batch)
            for line in range(len(batch.lengths)):
                gold = batch.tags[line] > 0
                rows.append(
                    (int(gold.sum()), int((gold & (said[line] > 0)).sum()), int((gold & (other[line] > 0)).sum()))
                )
    table = np.array(rows)
    total = found[ALL]
    assert total.tokens == table[:, 0].sum()
    assert total.recall == pytest.approx(table[:, 1].sum() / table[:, 0].sum())
    assert total.before == pytest.approx(table[:, 2].sum() / table[:, 0].sum())
    drawn = table[np.random.default_rng(0).integers(len(table), size=(4000, len(table)))].sum(1)
    # Three categories and the false alarms are compared, so each interval covers 1 - 0.05 / 4.
    low, high = np.quantile((drawn[:, 1] - drawn[:, 2]) / drawn[:, 0], [0.05 / 8, 1 - 0.05 / 8])
    assert total.low == pytest.approx(low, abs=0.03)
    assert total.high == pytest.approx(high, abs=0.03)


def test_false_alarms_are_the_share_hidden_of_what_is_no_phi(payloads: dict[str, tuple[Path, ...]]) -> None:
    """Of each sentence of some the word ahead of the name is hidden, by the one head twice as often; padding counts nowhere."""

    class Alarms:
        def __init__(self, chance: float) -> None:
            self.chance = chance

        def decode(self, batch: Batch) -> torch.Tensor:
            said = batch.tags.clone()
            drawn = np.random.default_rng(int(batch.rows[0])).random(len(batch.lengths)) < self.chance
            said[torch.from_numpy(drawn), 1] = 1
            # What is said behind the end of a sentence is nobody's.
            said[torch.arange(said.shape[1]) >= batch.lengths[:, None]] = 1
            return said

    files = [path for paths in payloads.values() for path in paths]
    ours, theirs = cast(Tagger, Alarms(0.8)), cast(Tagger, Alarms(0.4))
    *categories, alarms = compare_recall(ours, theirs, Pool(files, held_out=True), SCHEME)
    rows = []
    with Pool(files, held_out=True) as pool:
        for batch in pool.batches(256):
            inside = torch.arange(batch.tags.shape[1]) < batch.lengths[:, None]
            plain = (batch.tags == 0) & inside
            said, other = ours.decode(batch) > 0, theirs.decode(batch) > 0
            rows += torch.stack([plain.sum(1), (plain & said).sum(1), (plain & other).sum(1)], 1).tolist()
    table = np.array(rows)
    assert (alarms.category, alarms.tokens) == (FALSE_ALARMS, table[:, 0].sum())
    assert alarms.recall == pytest.approx(table[:, 1].sum() / table[:, 0].sum())
    assert alarms.before == pytest.approx(table[:, 2].sum() / table[:, 0].sum())
    drawn = table[np.random.default_rng(0).integers(len(table), size=(4000, len(table)))].sum(1)
    low, high = np.quantile((drawn[:, 1] - drawn[:, 2]) / drawn[:, 0], [0.05 / 8, 1 - 0.05 / 8])
    assert alarms.low == pytest.approx(low, abs=0.02)
    assert alarms.high == pytest.approx(high, abs=0.02)
    assert alarms.is_worse
    assert not any(one.is_worse for one in categories)
    *_, fewer = compare_recall(theirs, ours, Pool(files, held_out=True), SCHEME)
    assert not fewer.is_worse


def test_a_head_against_itself_has_not_changed(payloads: dict[str, tuple[Path, ...]]) -> None:
    for one in compare_recall(head(0.7), head(0.7), Pool(payloads[LIAR], held_out=True), SCHEME):
        assert one.recall == one.before
        assert one.low == pytest.approx(-1 / one.tokens)
        assert one.tokens >= LEAST_TOKENS


def test_nothing_to_compare_on_is_nothing() -> None:
    assert compare_recall(head(0.5), head(0.6), None, SCHEME) == ()


def test_of_a_few_tokens_a_recall_says_nothing(tmp_path: Path) -> None:
    few = write_pool(tmp_path, count=40)[SITES[0]]
    assert 0 < phi_held_out(few) < LEAST_TOKENS
    assert compare_recall(head(0.5), head(0.6), Pool(few, held_out=True), SCHEME) == ()


def test_the_more_is_compared_the_wider_are_the_intervals(payloads: dict[str, tuple[Path, ...]]) -> None:
    ours, theirs, files = head(0.6), head(0.8), payloads[LIAR]
    found = [compare_recall(ours, theirs, Pool(files, held_out=True), SCHEME, comparisons) for comparisons in (1, 100)]
    one, many = ((changes[0].high - changes[0].low) / 2 - 1 / changes[0].tokens for changes in found)
    z, categories = NormalDist().inv_cdf, len(found[0])
    assert many / one == pytest.approx(z(1 - 0.025 / (100 * categories)) / z(1 - 0.025 / categories))


def phi_held_out(files: Sequence[Path]) -> int:
    with Pool(files, held_out=True) as pool:
        return sum(int((batch.tags > 0).sum()) for batch in pool.batches(256))


def test_nobody_is_judged_by_sentences_of_its_own(payloads: dict[str, tuple[Path, ...]]) -> None:
    asked = replace(material(payloads), learn=lambda *_, **__: head(0.5))
    influence = measure_influence(asked, find_defence("none"), SCHEME, InfluenceMode.FULL, head(0.6))
    for one in influence.sites:
        others = [path for site, paths in payloads.items() if site != one.site for path in paths]
        assert one.changes[0].tokens == phi_held_out(others)


def test_a_liar_s_influence_shows_at_the_others(payloads: dict[str, tuple[Path, ...]]) -> None:
    asked = material(payloads, epochs=3, batch=32)
    influence = measure_influence(asked, find_defence("none"), SCHEME, InfluenceMode.FAST)
    assert [one.site for one in influence.sites] == list(SITES)
    harms = {one.site: [harm.category for harm in one.harms] for one in influence.sites}
    assert "NAME" in harms.pop(LIAR)
    assert not any(harms.values())
    assert set(influence.standing_out) == {LIAR}
    record = json.loads(json.dumps(influence.as_json()))
    assert record["mode"] == "fast"
    assert [one["site"] for one in record["sites"]] == list(SITES)


def over_labelled(dice: np.random.Generator, count: int) -> Lines:
    """Sentences of which every word is labelled a name."""
    return [(sentence(dice, int(dice.choice(list(NAMES))))[0], [1, 1, 1, 1, 1, 3]) for _ in range(count)]


def test_attack_who_labels_everything_raises_recall_and_shows_by_false_alarms(tmp_path: Path) -> None:
    # Where equal rows are no equal words, no row tells of it.
    made = material(write_pool(tmp_path, 500, count=120, lie=over_labelled), epochs=3, batch=32)
    asked = replace(made, token_local=False)
    influence = measure_influence(asked, find_defence("none"), SCHEME, InfluenceMode.FAST)
    harms = {one.site: [harm.category for harm in one.harms] for one in influence.sites}
    assert harms.pop(LIAR) == [FALSE_ALARMS]
    assert not any(harms.values())
    assert set(influence.standing_out) == {LIAR}
    assert "the share hidden of what is no PHI at the others is " in influence.standing_out[LIAR][0]


def test_in_full_each_head_is_trained_as_the_head_was_and_fast_in_haste(
    payloads: dict[str, tuple[Path, ...]],
) -> None:
    trained: list[tuple[int, TaggingConfig, object]] = []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, *, shape: object = None, **_: object) -> Tagger:
        trained.append((source.sentences, config, shape))
        return head(0.5)

    asked = replace(material(payloads, epochs=1000), learn=learn)
    for mode, ours, heads in (
        (InfluenceMode.FULL, head(0.6), len(SITES)),
        (InfluenceMode.FULL, None, len(SITES) + 1),
        (InfluenceMode.FAST, head(0.6), len(SITES) + 1),
    ):
        trained.clear()
        measure_influence(asked, find_defence("none"), SCHEME, mode, ours)
        assert len(trained) == heads
        assert all((config == asked.config) == (mode is InfluenceMode.FULL) for _, config, _ in trained)
        assert all((shape == asked.shape) == (mode is InfluenceMode.FULL) for _, _, shape in trained)
        # The last one left out is the liar, who has sent most.
        *before, last = (sentences for sentences, _, _ in trained)
        assert last < min(before)


def test_what_the_defence_takes_away_does_no_harm(payloads: dict[str, tuple[Path, ...]]) -> None:
    asked = material(payloads, epochs=2, batch=32)
    influence = measure_influence(asked, find_defence("majority+cap"), SCHEME, InfluenceMode.FAST)
    assert not any(one.harms for one in influence.sites)
    # The site stands out all the same: its rows are compared ahead of any defence.
    assert set(influence.standing_out) == {LIAR}


def test_a_harm_is_below_the_other_for_sure_and_by_more_than_two_trainings_differ() -> None:
    def change(high: float) -> SiteInfluence:
        return SiteInfluence("north", (RecallChange("NAME", 100, 0.5, 0.6, -0.3, high),))

    assert change(-0.02).harms
    assert not change(-0.005).harms
    assert not change(0.01).harms


def test_a_site_alone_has_no_others(payloads: dict[str, tuple[Path, ...]]) -> None:
    alone = material({LIAR: payloads[LIAR]}, epochs=1)
    influence = measure_influence(alone, find_defence("none"), SCHEME, InfluenceMode.FAST)
    assert (influence.sites, influence.rows, influence.standing_out) == ((), (), {})


def test_false_alarms_harm_where_they_are_more_for_sure() -> None:
    def change(low: float) -> SiteInfluence:
        return SiteInfluence("north", (RecallChange(FALSE_ALARMS, 1000, 0.1, 0.05, low, 0.2),))

    assert change(0.006).harms
    assert not change(0.004).harms
    assert not change(-0.1).harms


def test_who_stands_out_is_shown_to_a_person(tmp_path: Path) -> None:
    central = new_workspace(tmp_path / "provider")
    harm, none = RecallChange("NAME", 100, 0.5, 0.6, -0.3, -0.02), RecallChange("NAME", 100, 0.6, 0.6, -0.1, 0.1)
    influence = Influence(InfluenceMode.FAST, (SiteInfluence("north", (harm,)), SiteInfluence("south", (none,))), ())
    raise_alarms(central, influence)
    [alarm] = list_alarms(central)
    assert (alarm.site, alarm.kind) == ("north", AlarmKind.INFLUENCE)
    assert alarm.detail == "recall of NAME at the others is 0.500 with it and 0.600 without it"


def test_training_records_what_each_site_does_and_raises_alarms(built_loop: Loop) -> None:
    record: dict[str, Any] = json.loads((built_loop.provider / "head" / "training.json").read_text())
    assert record["defence"]["name"] == "majority+cap"
    assert [one["site"] for one in record["influence"]["sites"]] == ["north", "south"]
    assert record["influence"]["mode"] == "fast"
    alarms = values(provider("alarms", "list", "--json", "--workspace", built_loop.provider))["alarms"]
    assert {one["site"] for one in alarms} == set(record["influence"]["standing_out"])
