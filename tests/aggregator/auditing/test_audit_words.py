"""An audit in plain words: what was tried, what it means, and how much of a leak it would have shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.auditing.page import write_page
from aggregator.auditing.result import AuditResult, Inputs
from aggregator.auditing.words import WIDTH, meaning_of, not_measured, summary_lines, told_attacks
from shared.constructions.accounting import independence_accounting
from shared.privacy.audit import FULL, Audit
from shared.privacy.policy import Limit, Outcome, judge, load_policy
from shared.privacy.statistics.finding import Finding, proportion

POLICY = load_policy()
NAMES = "top-1 of 10000 names, 1 share"


def finding(attack: str, measure: str, hits: int, trials: int, baseline: float | None) -> Finding:
    return proportion(attack, measure, hits, trials, baseline, "a list", 0)


def audited(
    *findings: Finding, limits: object = None, full: bool = True, left_out: tuple[str, ...] = ()
) -> AuditResult:
    """An audit with some findings, by the limits that are about them."""
    attacks = {one.attack for one in findings}
    asked = limits or [one for one in POLICY.limits if one.attack in attacks]
    verdicts = tuple(judge(asked, findings, full=full))  # type: ignore[arg-type]
    audit = Audit(findings, independence_accounting(), left_out)
    return AuditResult(audit, verdicts, POLICY, Inputs(*"abcd"), "full" if full else "quick", FULL, 0, {})


def text(made: AuditResult) -> str:
    return " ".join(" ".join(summary_lines(made)).split())


def test_every_attack_of_the_policy_has_words() -> None:
    for limit in POLICY.limits:
        assert meaning_of(limit.attack) is not None, limit.attack


def test_an_attack_that_finds_nothing_says_what_it_would_have_found() -> None:
    made = audited(finding("linkage", NAMES, 0, 100, 1e-4))
    (one,) = told_attacks(made)
    assert (one.outcome, one.name) == (Outcome.PASS, "linkage")
    assert "looks for the name of a patient" in one.tried
    assert one.means == "No sign that a share points to the names of patients."
    assert one.measured == (
        "Measured 0.0%, without the share 0.01%, in 100 tries; passes: at most 1.5 times that. "
        "This audit would notice an attacker who is right 3 times in 100."
    )


def test_of_an_area_it_is_said_from_about_where_its_limit_breaks() -> None:
    area = Finding("membership of a note", "ROC AUC", 0.69, 0.5, (0.55, 0.82), 60, "a head", 0)
    (one,) = told_attacks(audited(area))
    assert one.outcome == Outcome.PASS
    assert one.measured.endswith(
        "in 60 tries; passes: at most 25 points above that. In so many tries the limit breaks from about 89.0%."
    )


@pytest.mark.parametrize(
    ("attack", "measure", "unit"),
    [
        ("residual pattern", "patients who look like no other by what people know of them, of 10000", ""),
        ("token inversion", "categories in which top-1 lies above context-only", "categories"),
        ("token inversion", "top-1 above context, casing and placebo, all categories", ""),
    ],
)
def test_of_nothing_that_was_drawn_again_no_leak_is_promised_to_be_noticed(
    attack: str, measure: str, unit: str
) -> None:
    nothing = Finding(attack, measure, 0.0, 0.0, (0.0, 0.0), 400, "the release", 0, unit)
    limits = [one for one in POLICY.limits if one.concerns(nothing) and one.trials <= 400]
    (one,) = told_attacks(audited(nothing, limits=limits))
    assert one.outcome == Outcome.PASS
    assert "notice" not in one.measured
    assert "breaks from" not in one.measured


def test_a_limit_that_could_not_have_broken_is_not_called_kept() -> None:
    uneven = Finding(
        "clinical reassembly", "nearest clinical sentence is of the same note", 0.6, 0.52, (0.5, 0.7), 20, "", 0
    )
    made = audited(uneven, limits=[one for one in POLICY.limits if one.concerns(uneven)], full=False)
    (one,) = told_attacks(made)
    assert one.outcome == Outcome.FAIL
    assert one.means.startswith(
        "Whether the sentences of a note can be joined again is not known: can't break: 52% are right"
    )
    assert one.means.endswith("give more notes, of more even length.")
    assert not made.passed


def test_what_the_policy_allows_is_not_called_nothing() -> None:
    pattern = finding(
        "residual pattern", "patients who look like no other by what people know of them", 84, 10_000, 0.0
    )
    (one,) = told_attacks(audited(pattern, full=False))
    assert one.outcome == Outcome.PASS
    assert one.means == "That length, casing and punctuation single out patients is within what the policy allows."


def test_one_figure_above_chance_is_told_whatever_figure_is_of_more_tries() -> None:
    measures = ("all sentences of the earlier share recur", "nearest sentence of the second share is of the same note")
    limits = [one for one in POLICY.limits if one.attack == "difference" and "clinical" not in one.measure]
    most = finding("difference", measures[0], 300, 1000, 0.3)
    (one,) = told_attacks(audited(most, finding("difference", measures[1], 5, 100, 0.05), limits=limits))
    assert one.means == "No sign that a second share gives away more than a first one alone."
    (one,) = told_attacks(audited(most, finding("difference", measures[1], 14, 100, 0.05), limits=limits))
    assert one.outcome == Outcome.PASS
    assert one.means == "That a second share gives away more than a first one alone is within what the policy allows."
    assert one.measured.startswith("Measured 14.0%, without the share 5.00%, in 100 tries")


def test_of_many_figures_one_is_above_chance_by_chance() -> None:
    limits = [Limit("match", "top-1", "a word", above_baseline=0.005)]
    lists = [finding("match", f"top-1 of {size}", 6 if size == 9 else 1, 200, 0.01) for size in range(50)]
    assert not lists[9].at_baseline
    (one,) = told_attacks(audited(*lists, limits=limits))
    assert one.means.startswith("No sign that a PHI word")
    (one,) = told_attacks(audited(lists[9], limits=limits))
    assert one.means.endswith("is within what the policy allows.")


def test_a_leak_is_said_plainly() -> None:
    (one,) = told_attacks(audited(finding("linkage", NAMES, 30, 100, 1e-4)))
    assert one.outcome == Outcome.FAIL
    assert one.means == "It shows that a share points to the names of patients, more than the policy allows."


def test_too_few_notes_are_no_leak_and_no_proof() -> None:
    (one,) = told_attacks(audited(finding("linkage", NAMES, 0, 3, 1e-4)))
    assert one.outcome == Outcome.FAIL
    assert one.means.startswith(
        "Whether a share points to the names of patients is not known: not enough notes: 3 trials"
    )


def test_an_attack_that_could_not_be_run_says_why() -> None:
    limits = [one for one in POLICY.limits if one.attack == "linkage"]
    made = audited(limits=limits, left_out=("linkage: linkage: expected names, got none; give more notes",))
    (one,) = told_attacks(made)
    assert one.means.endswith("is not known: expected names, got none; give more notes.")
    assert not one.measured


def test_a_control_must_win() -> None:
    limits = [one for one in POLICY.limits if "control: clear" in one.attack]
    won = [finding(limit.attack, "decisions right", 90, 100, None) for limit in limits]
    (one,) = told_attacks(audited(*won))
    assert (one.outcome, one.name) == (Outcome.PASS, "fresh adversary, positive control")
    assert one.means == "No sign that the networks of this audit are too weak to show anything."
    lost = [replace(won[0], value=0.5, interval=(0.4, 0.6)), won[1]]
    (one,) = told_attacks(audited(*lost))
    assert (one.outcome, one.means) == (
        Outcome.FAIL,
        "It shows that the networks of this audit are too weak to show anything.",
    )


def test_one_limit_that_is_broken_breaks_its_attack() -> None:
    measures = ("all sentences of the earlier share recur", "nearest sentence of the second share is of the same note")
    kept, broken = finding("difference", measures[0], 300, 1000, 0.3), finding("difference", measures[1], 90, 100, 0.05)
    limits = [one for one in POLICY.limits if one.attack == "difference" and "clinical" not in one.measure]
    (one,) = told_attacks(audited(kept, broken, limits=limits))
    assert one.outcome == Outcome.FAIL
    assert one.measured.startswith("Measured 90.0%")


def test_what_was_skipped_is_folded_into_one_line() -> None:
    made = audited(limits=[one for one in POLICY.limits if one.full_only], full=False)
    (line,) = not_measured(made)
    assert line.startswith(
        "Not measured, part of a full audit only: match (4), forgotten name, residual pattern, attribute"
    )
    assert text(made).count("Not measured") == 1
    assert not told_attacks(made)


def test_a_limit_of_the_provider_s_own_says_its_own_words() -> None:
    own = Limit("telepathy", "top-1", "somebody who reads minds", most=0.5)
    (one,) = told_attacks(audited(finding("telepathy", "top-1", 1, 100, None), limits=[own]))
    assert (one.tried, one.name) == ("somebody who reads minds.", "telepathy")


@pytest.mark.parametrize("full", [True, False])
def test_it_fits_a_terminal_and_its_page_has_the_same_words(full: bool, tmp_path: object) -> None:
    made = audited(finding("linkage", NAMES, 0, 100, 1e-4), limits=POLICY.limits, full=full)
    assert max(map(len, summary_lines(made))) <= WIDTH == 80
    page = write_page(made, tmp_path / "audit.html").read_text().replace("&#39;", "'")  # type: ignore[operator]
    page = " ".join(page.split())
    for one in told_attacks(made):
        assert one.tried in page
        assert one.means in page
    for line in (*not_measured(made), made.words):
        assert line in page
