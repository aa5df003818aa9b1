"""The cap: what a hospital weighs at most, and that no small one takes a large one out of a training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.training.defences import site_cap
from aggregator.training.defences.registry import DEFAULT, find_defence
from aggregator.training.defences.site_cap import LEAST_TOKENS, SiteCap, rates_of, site_rates
from aggregator.training.defences.together import MajorityAndCap
from aggregator.training.pool import PUBLIC, Pool
from shared.sentences.ragged import SentenceSource
from shared.taggers.registry import build_tagger, default_config
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig
from tests.aggregator.training.pools import DIM, LIAR, SITES, block, honest, material, write_pool
from tests.protocols.payload.blocks import write_payload

held = st.integers(0, 100 * LEAST_TOKENS)
pools = st.dictionaries(st.sampled_from([*"abcdefgh", PUBLIC]), held, min_size=1)


def thousands(*sizes: int) -> dict[str, int]:
    return {f"site-{index}": 1000 * size for index, size in enumerate(sizes)}


@pytest.fixture
def however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pools of these tests are smaller than any that is capped."""
    monkeypatch.setattr(site_cap, "LEAST_TOKENS", 0)


@pytest.mark.parametrize(
    ("sizes", "largest"),
    [
        ((1000,), 1.0),
        ((1000, 1), 1.0),
        ((1000, 1, 1), 0.01),
        ((1000, 0, 1), 1.0),
        ((1000, 900, 800), 0.9),
        ((1000, 500, 1), 0.5),
        ((1000, 10, 10, 10), 0.015),
        ((200, 100, 100, 100, 100), 1.0),
        ((9, 1, 1), 1.0),
    ],
)
def test_a_hospital_weighs_at_most_half_of_what_the_others_share_and_as_much_as_some_notes(
    sizes: tuple[int, ...], largest: float
) -> None:
    first, *others = rates_of(thousands(*sizes)).values()
    assert first == pytest.approx(largest)
    assert set(others) <= {1.0}


@given(pools)
def test_no_hospital_weighs_more_than_half_of_what_the_others_share_and_none_is_taken_out(
    tokens: dict[str, int],
) -> None:
    rates = rates_of(tokens)
    assert set(rates) == set(tokens)
    assert all(0 < rate <= 1 for rate in rates.values())
    assert rates.get(PUBLIC, 1.0) == 1.0
    weights = {site: rates[site] * tokens[site] for site in tokens}
    hospitals = [site for site in tokens if site != PUBLIC and tokens[site]]
    for site in hospitals:
        others = sum(tokens.values()) - tokens[site]
        # All that it has, or half of that: never less.
        assert weights[site] >= min(tokens[site], others / 2) * (1 - 1e-9)
        if len(hospitals) >= 3:
            largest = max(tokens[other] for other in hospitals if other != site)
            assert weights[site] <= max(others / 2, LEAST_TOKENS, largest) * (1 + 1e-9)
            # Who shares more weighs no less.
            assert all(
                weights[other] <= weights[site] * (1 + 1e-9) for other in hospitals if tokens[other] <= tokens[site]
            )
        else:
            assert rates[site] == 1


@given(pools, st.integers(1, 100))
def test_attack_a_tiny_site_more_takes_from_nobody_what_it_had_beside_the_others(
    tokens: dict[str, int], tiny: int
) -> None:
    before, after = rates_of(tokens), rates_of({**tokens, "tiny": tiny})
    capped = sum(1 for site in tokens if site != PUBLIC and tokens[site]) >= 3
    for site, held in tokens.items():
        beside = max(LEAST_TOKENS, (sum(tokens.values()) - held) / 2)
        assert after[site] >= (before[site] if capped else min(1.0, beside / max(held, 1)))


def test_attack_one_sentence_of_another_hospital_does_not_take_the_first_out(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    payloads = {
        site: (write_payload(tmp_path / f"{site}.parquet", [block(honest(dice, count))], dim=DIM),)
        for site, count in (("ash", 300), ("birch", 1), ("cedar", 1), (PUBLIC, 60))
    }
    for sites in (("ash", "birch", PUBLIC), ("ash", "birch"), ("ash", "birch", "cedar")):
        asked = replace(material({site: payloads[site] for site in sites}, held_out=None), undersampling=0.5)
        with asked.pool(MajorityAndCap().choose(asked)) as pool, asked.pool() as whole:
            assert pool.sentences == whole.sentences


@pytest.mark.usefixtures("however_few")
def test_who_sends_everything_ten_times_weighs_half_of_what_all_others_share(tmp_path: Path) -> None:
    asked = material(write_pool(tmp_path, repeated=10))
    rates = site_rates(asked)
    assert rates == {site: pytest.approx(0.2) if site == LIAR else 1.0 for site in (*SITES, PUBLIC)}
    with Pool(asked.files, held_out=False, taken=SiteCap().choose(asked)) as pool:
        assert pool.sentences == pytest.approx(4 * 54 + 2 * 54, abs=1)
        seen = [sum(len(batch.lengths) for batch in pool.batches(8, np.random.default_rng(seed))) for seed in (0, 1)]
    assert seen[0] != seen[1]
    assert all(abs(count - 324) < 60 for count in seen)


def test_in_haste_a_site_is_capped_as_the_head_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a part of the pool must not find all others too few for a cap."""
    monkeypatch.setattr(site_cap, "LEAST_TOKENS", 4 * 54 * 6)
    asked = material(write_pool(tmp_path, repeated=10))
    assert site_rates(replace(asked, rate=0.1)) == site_rates(asked) != dict.fromkeys(asked.payloads, 1.0)


@pytest.mark.usefixtures("however_few")
@pytest.mark.parametrize("name", ["cap", DEFAULT])
def test_what_a_site_weighs_less_is_told(name: str, tmp_path: Path) -> None:
    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **_: object) -> Tagger:
        return build_tagger(default_config(source.dim, tags))

    asked = replace(material(write_pool(tmp_path, repeated=10)), learn=learn)
    assert find_defence(name).train(asked).rates == {LIAR: pytest.approx(0.2)}
    assert find_defence("none").train(asked).rates == {}
