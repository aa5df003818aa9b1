"""Limits on findings: what they let pass, and that nothing untried passes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import StorageError
from shared.errors import ConfigurationError
from shared.evaluation.intervals import clopper_pearson
from shared.privacy.attacks.matching import MATCH, MatchingSettings
from shared.privacy.audit import FULL, QUICK
from shared.privacy.policy import Limit, judge, load_policy, lower_end, pool_findings
from shared.privacy.statistics.finding import Finding, proportion


def found(hits: int, trials: int, baseline: float | None = 0.01, measure: str = "top-1 of 100") -> Finding:
    return proportion("match", measure, hits, trials, baseline, "the release", 0)


def limit(**bounds: float) -> Limit:
    return Limit("match", "top-1 of", "why", **bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bounds", "hits", "passes"),
    [
        ({"most": 0.02}, 4, True),
        ({"most": 0.02}, 5, False),
        # Of 200 trials 125 are more than 55% with 95% certainty; 124 may be chance.
        ({"least": 0.55}, 125, True),
        ({"least": 0.55}, 124, False),
        # Of 200 trials 2 are expected; 7 are chance, 8 lie beyond 1.5% with 95% certainty.
        ({"above_baseline": 0.005}, 7, True),
        ({"above_baseline": 0.005}, 8, False),
        ({"above_baseline": 0.0}, 5, True),
        ({"above_baseline": 0.0}, 6, False),
        ({"above_baseline": 0.0, "most": 0.02}, 5, False),
        ({"times_baseline": 1.5}, 7, True),
        ({"times_baseline": 1.5}, 8, False),
        ({"times_baseline": 1.5, "above_baseline": 0.0}, 6, False),
    ],
)
def test_a_bound(bounds: dict[str, float], hits: int, passes: bool) -> None:
    (verdict,) = judge([limit(**bounds)], [found(hits, 200)], full=True)
    assert verdict.passed == passes
    assert bool(verdict.broken) != passes
    assert bool(verdict.reason) != passes


def test_a_limit_holds_for_every_finding_whose_measure_begins_so() -> None:
    good, bad = found(0, 200), found(40, 200, measure="top-1 of 10000")
    (verdict,) = judge([limit(above_baseline=0.005)], [good, bad, found(9, 10, measure="top-10 of 100")], full=True)
    assert verdict.findings == (good, bad)
    assert not verdict.passed
    assert verdict.shown == bad
    assert verdict.reason == "1 of 2 figures beyond the limit"


def test_a_limit_is_of_one_attack_only() -> None:
    control = replace(found(150, 200, 0.5, "decisions right"), attack="fresh adversary T1, positive control: clear")
    one = Limit("fresh adversary T1", "decisions right", "why", above_baseline=0.0)
    (verdict,) = judge([one], [control], full=True)
    assert not verdict.findings


@pytest.mark.parametrize("full", [False, True])
def test_what_was_not_tried_fails(full: bool) -> None:
    (verdict,) = judge([limit(most=1.0)], [], full=full)
    assert not verdict.passed
    assert verdict.reason == "not tried"
    assert verdict.shown is None


def test_what_was_tried_too_little_fails() -> None:
    few = Limit("match", "top-1 of", "why", above_baseline=0.005, trials=100)
    assert not judge([few], [found(0, 99)], full=True)[0].passed
    assert judge([few], [found(0, 100)], full=True)[0].passed
    # An interval over no trials reaches everywhere.
    (nothing,) = judge([limit(above_baseline=0.005)], [found(0, 0, None)], full=True)
    assert not nothing.passed
    assert nothing.reason.startswith("not enough notes: 0 trials")


@pytest.mark.parametrize("short", [found(0, 99), found(0, 0, None)])
def test_one_figure_does_not_vouch_for_another(short: Finding) -> None:
    few = Limit("match", "top-1 of", "why", above_baseline=0.005, trials=100)
    lacking = replace(short, measure="top-1 of 10000")
    (verdict,) = judge([few], [found(0, 500), lacking], full=True)
    assert not verdict.passed
    assert verdict.shown == lacking
    # Of one category there may be few words, where those of all categories stand beside it.
    part = replace(lacking, category="NAME", baseline=0.01)
    assert judge([few], [found(0, 500), part], full=True)[0].passed
    assert not judge([few], [part], full=True)[0].passed


def test_only_a_quick_audit_may_lack_what_is_for_full_ones() -> None:
    one = Limit("match", "top-1 of", "why", most=0.1, full_only=True)
    (quick,), (full,) = judge([one], [], full=False), judge([one], [], full=True)
    assert quick.passed
    assert quick.skipped
    assert quick.reason
    assert not full.passed
    # What a quick audit has tried counts.
    assert not judge([one], [found(100, 200)], full=False)[0].passed


def test_only_a_construction_without_an_own_set_may_lack_what_is_for_those_with_one() -> None:
    one = Limit("match", "top-1 of 100, own set", "why", most=0.1, own_set_only=True)
    (without,) = judge([one], [], full=True, own_set=False)
    assert without.passed
    assert without.skipped
    assert without.reason
    (lacking,) = judge([one], [], full=True, own_set=True)
    assert not lacking.passed
    assert not judge([one], [found(100, 200, measure="top-1 of 100, own set")], full=True, own_set=False)[0].passed


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("baseline", "breakable"), [(0.3, True), (1 / 3, False), (0.6, False), (1.0, False)])
def test_a_limit_in_times_chance_that_nothing_can_break_fails(baseline: float, breakable: bool, full: bool) -> None:
    (verdict,) = judge([limit(times_baseline=3)], [found(60, 200, baseline)], full=full)
    assert verdict.passed == breakable
    assert ("can't break" in verdict.reason) == (not breakable)
    assert bool(verdict.broken) != breakable
    # Of who is right every time the limit would otherwise be kept, too.
    assert not judge([limit(times_baseline=3)], [found(200, 200, baseline)], full=full)[0].passed


def test_a_limit_that_something_else_can_break_is_judged_by_that() -> None:
    sure = found(60, 200, 0.5)
    assert judge([limit(times_baseline=3, most=0.4)], [sure], full=True)[0].passed
    assert judge([limit(times_baseline=3, above_baseline=0.1)], [sure], full=True)[0].passed
    # What an attacker without the share is nearly always right in, a share can't add much to.
    assert judge([limit(above_baseline=0.1)], [found(195, 200, 0.99)], full=True)[0].passed


def test_what_is_no_share_may_lie_above_one() -> None:
    bits = Finding("match", "top-1 of", 2.0, 1.5, (1.8, 2.2), 200, "", 0, "bits")
    assert judge([limit(times_baseline=2)], [bits], full=True)[0].passed
    assert not judge([limit(times_baseline=1.1)], [bits], full=True)[0].passed


def test_of_one_category_chance_may_be_great() -> None:
    one, part = found(2, 200), replace(found(5, 10, 0.5), category="NAME")
    assert judge([limit(times_baseline=3)], [one, part], full=True)[0].passed
    assert not judge([limit(times_baseline=3)], [part], full=True)[0].passed


def test_an_unknown_baseline_is_no_excuse() -> None:
    assert not judge([limit(above_baseline=0.5)], [found(1, 200, None)], full=True)[0].passed


@pytest.mark.parametrize("bound", ["most", "least", "above_baseline", "times_baseline"])
def test_what_is_no_number_never_passes(bound: str) -> None:
    broken = Finding("match", "top-1 of 100", math.nan, 0.01, (math.nan, math.nan), 200, "the release", 0)
    (verdict,) = judge([limit(**{bound: 0.5})], [broken], full=True)
    assert not verdict.passed


class TestManyLooks:
    def test_chance_in_one_of_many_is_no_leak(self) -> None:
        many = [found(8, 200), *(found(2, 200) for _ in range(49))]
        assert not judge([limit(above_baseline=0.005)], many[:1], full=True)[0].passed
        assert judge([limit(above_baseline=0.005)], many, full=True)[0].passed

    def test_a_leak_in_one_of_many_is_found(self) -> None:
        many = [found(40, 200), *(found(2, 200) for _ in range(99))]
        assert not judge([limit(above_baseline=0.005)], many, full=True)[0].passed

    @given(st.integers(1, 300), st.integers(2, 200), st.data())
    def test_the_level_is_shared_out(self, trials: int, looks: int, data: st.DataObject) -> None:
        hits = data.draw(st.integers(0, trials))
        one = found(hits, trials)
        assert lower_end(one, 1) == one.interval[0]
        assert lower_end(one, looks) == clopper_pearson(hits, trials, level=1 - 0.05 / looks)[0] <= one.interval[0]

    def test_an_interval_that_is_no_count_stays(self) -> None:
        assert lower_end(Finding("reassembly", "ROC AUC", 0.61, 0.5, (0.57, 0.65), 400, "", 0), 50) == 0.57


class TestPooled:
    ONE = Limit("match", "top-1 of", "why", times_baseline=1.5, pooled=True)

    def test_hits_and_trials_are_summed(self) -> None:
        both = pool_findings([found(3, 100), found(5, 300, 0.0001)])
        assert both is not None
        assert both == replace(found(8, 400, (1 + 0.03) / 400), measure="2 figures together")

    def test_a_leak_that_every_figure_hides_by_itself_is_found(self) -> None:
        many = [found(6, 200) for _ in range(6)]
        (verdict,) = judge([self.ONE], many, full=True)
        assert not verdict.passed
        assert verdict.shown == pool_findings(many)
        assert judge([replace(self.ONE, pooled=False)], many, full=True)[0].passed

    def test_a_leak_in_one_list_is_found_too(self) -> None:
        (verdict,) = judge([self.ONE], [found(20, 200), *(found(0, 200) for _ in range(9))], full=True)
        assert verdict.shown == found(20, 200)
        assert not verdict.passed

    def test_parts_of_a_figure_are_not_counted_twice(self) -> None:
        parts = [replace(found(9, 10), category="NAME"), replace(found(0, 190), category="DATE")]
        (verdict,) = judge([self.ONE], [found(2, 200), *parts], full=True)
        assert verdict.findings == (found(2, 200),)
        assert verdict.passed

    def test_what_is_no_count_can_not_be_pooled(self) -> None:
        mean = Finding("match", "top-1 of 100", 0.5, 0.5, (0.4, 0.6), 200, "the release", 0)
        (verdict,) = judge([self.ONE], [found(0, 200), mean], full=True)
        assert not verdict.passed
        assert "counts" in verdict.reason

    def test_chance_that_is_unknown_is_no_excuse(self) -> None:
        assert not judge([self.ONE], [found(0, 200, None), found(0, 200)], full=True)[0].passed


def simulated(
    settings: Sequence[MatchingSettings], rate: float, together: bool, rng: np.random.Generator
) -> list[Finding]:
    """What the match attack finds on an encoder from which it reads so many words beyond chance, by lists, shares and categories.

    Args:
        together: whether more shares of a sentence show the same as one, as they do without noise.
    """
    findings = []
    for one in settings:
        chance = 1 / one.candidates
        for kind in ("nearest neighbours", "own set"):
            categories = rng.integers(0, 15, one.targets)
            right = rng.random(one.targets) < chance + rate
            for shares in one.shares:
                right = right if together else rng.random(one.targets) < chance + rate
                name = f"top-1 of {one.candidates}, {kind}, {shares} shares"
                findings.append(found(int(right.sum()), one.targets, chance, name))
                for category in range(15):
                    here = right[categories == category]
                    part = found(int(here.sum()), len(here), chance, f"{name}, {category}")
                    findings.append(replace(part, category=str(category)))
    return findings


class TestPower:
    """Of simulated audits under our limits: what is protected passes, what is not fails."""

    @pytest.mark.parametrize("together", [False, True])
    @pytest.mark.parametrize(
        ("settings", "rate", "passes"),
        [
            (FULL.rounds_of(MATCH), 0.0, (0.99, 1.0)),
            (QUICK.rounds_of(MATCH), 0.0, (0.99, 1.0)),
            # 3 of 100 instead of 1.
            (FULL.rounds_of(MATCH), 0.02, (0.0, 0.05)),
            (QUICK.rounds_of(MATCH), 0.04, (0.0, 0.05)),
        ],
    )
    def test_match(
        self, settings: Sequence[MatchingSettings], rate: float, passes: tuple[float, float], together: bool
    ) -> None:
        rng = np.random.default_rng(0)
        limits = [one for one in load_policy().limits if one.attack == "match"]
        audits = [judge(limits, simulated(settings, rate, together, rng), full=False) for _ in range(100)]
        share = float(np.mean([all(verdict.passed for verdict in audit) for audit in audits]))
        assert passes[0] <= share <= passes[1]

    @pytest.mark.parametrize(
        ("hits", "targets", "passes"), [(0, 25, True), (1, 25, False), (0, 100, True), (1, 100, False)]
    )
    def test_one_full_name_among_ten_thousand_is_no_chance(self, hits: int, targets: int, passes: bool) -> None:
        limits = [one for one in load_policy().limits if one.attack == "linkage"]
        name = replace(found(hits, targets, 1e-4, "top-1 of 10000 names, 1 share"), attack="linkage")
        assert all(verdict.passed for verdict in judge(limits, [name], full=True)) == passes


class TestOurControls:
    """A positive control must be broken by far: an adversary that hardly breaks it shows little of what it does not break."""

    LIMITS = tuple(one for one in load_policy().limits if one.least is not None)

    # The least of twenty controls of full audits was .715 of 4000.
    @pytest.mark.parametrize(("hits", "trials"), [(2860, 4000), (146, 200), (87, 100)])
    def test_one_that_is_broken_passes(self, hits: int, trials: int) -> None:
        for one in self.LIMITS:
            control = replace(found(hits, trials, 0.5, "decisions right, 50 epochs"), attack=one.attack)
            assert judge([one], [control], full=True)[0].passed

    @pytest.mark.parametrize(("hits", "trials"), [(2080, 4000), (520, 800), (73, 100)])
    def test_one_that_is_broken_a_little_fails(self, hits: int, trials: int) -> None:
        for one in self.LIMITS:
            control = replace(found(hits, trials, 0.5, "decisions right, 50 epochs"), attack=one.attack)
            assert not judge([one], [control], full=True)[0].passed

    @pytest.mark.parametrize("trials", [100, 1000])
    def test_one_that_is_guessed_fails(self, trials: int) -> None:
        chance = 0.0
        for hits in range(trials + 1):
            control = replace(found(hits, trials, 0.5, "decisions right, 50 epochs"), attack=self.LIMITS[0].attack)
            if judge(self.LIMITS[:1], [control], full=True)[0].passed:
                chance += math.comb(trials, hits) / 2**trials
        assert chance < 1e-5


class TestFiles:
    def test_ours(self) -> None:
        limits = load_policy().limits
        assert {"white box", "match", "linkage", "token inversion"} <= {one.attack for one in limits}
        assert all(one.why and one.bound for one in limits)
        # Every adversary that must fail has a twin that must not.
        adversaries = {one.attack for one in limits if one.attack.startswith("fresh adversary") and one.least is None}
        controls = {one.attack.partition(",")[0] for one in limits if one.least is not None}
        assert adversaries == controls == {"fresh adversary T1", "fresh adversary T2"}

    def test_one_of_ones_own(self, tmp_path: Path) -> None:
        path = tmp_path / "own.toml"
        path.write_text('[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = 1\ntrials = 7\n')
        found = load_policy(path)
        assert found.limits == (Limit("match", "top-1", "because", most=1, trials=7),)
        assert found.name == "own.toml"
        assert found.digest == hashlib.sha256(path.read_bytes()).hexdigest()
        assert not found.ours

    def test_a_copy_of_ours_is_ours_and_its_name_alone_is_not(self, tmp_path: Path) -> None:
        ours = (resources.files("shared.privacy") / "policy.toml").read_text(encoding="utf-8")
        (tmp_path / "copy.toml").write_text(ours)
        (tmp_path / "policy.toml").write_text(ours.replace("trials = 100", "trials = 1"))
        assert load_policy().ours
        assert load_policy(tmp_path / "copy.toml").ours
        assert not load_policy(tmp_path / "policy.toml").ours

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "limit = []",
            "limit = 3",
            "[[limit]]",
            "[limit]\nmost = 1",
            "[[limit",
            "a = " + "[" * 3000,
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nmost = 0.5',
            '[[limit]]\nattack = "match"\nmeasure = ""\nwhy = "because"\nmost = 0.5',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = "0.5"',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = nan',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = true',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = 0.5\ntrials = 0',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = 0.5\nfull_only = "no"',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmost = 0.5\nown_set_only = 1',
            '[[limit]]\nattack = "match"\nmeasure = "top-1"\nwhy = "because"\nmots = 0.5',
        ],
    )
    def test_what_is_no_policy_is_refused(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "own.toml"
        path.write_text(text)
        with pytest.raises(ConfigurationError):
            load_policy(path)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError):
            load_policy(tmp_path / "none.toml")
