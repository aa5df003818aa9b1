"""An audit in words: the verdict, what its reader must know, and what can be proved."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aggregator.auditing.result import NOT_SHOWN, AuditResult, Inputs, table_lines
from shared.constructions.accounting import Reach, independence_accounting, noise_accounting
from shared.privacy.audit import FULL, QUICK, Audit
from shared.privacy.policy import Policy, judge, load_policy
from shared.privacy.statistics.finding import proportion

FINDING = proportion("linkage", "top-1 of 10000 names, 1 share", 0, 100, 1e-4, "a list", 0)
LINKAGE = [one for one in load_policy().limits if one.attack == "linkage"]


def result(hits: int = 0, **changes: object) -> AuditResult:
    """Of one limit, under our policy."""
    finding = proportion("linkage", FINDING.measure, hits, 100, 1e-4, "a list", 0)
    audit = Audit((finding,), independence_accounting(), ())
    verdicts = tuple(judge(LINKAGE, audit.findings, full=True))
    made = AuditResult(audit, verdicts, load_policy(), Inputs(*"abcd"), "full", FULL, 0, {"torch": "2"})
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_verdict_in_words() -> None:
    assert result().words.startswith("The representer passes its audit: it keeps 1 limit")
    assert result(1).words.startswith("The representer does NOT pass its audit")
    limits = [replace(one, own_set_only=False) for one in load_policy().limits if one.full_only]
    skipped = judge([*limits, replace(limits[0], own_set_only=True)], [], full=False, own_set=False)
    words = result(verdicts=(*result().verdicts, *skipped)).words
    assert f"{len(limits)} more were not measured: they are part of a full audit only (--preset full)." in words
    assert "1 more was not measured: this construction has no own set." in words


def test_nobody_reads_that_it_passes_some_limits_of_many() -> None:
    quick = [one for one in load_policy().limits if one.full_only]
    made = result(verdicts=(*result().verdicts, *judge(quick, [], full=False)))
    assert made.words == (
        "The representer passes its audit: it keeps 1 limit that this audit asks for; no attack that was tried reads protected words "
        f"beyond it. {len(quick)} more were not measured: they are part of a full audit only (--preset full)."
    )
    twice = result(verdicts=(*result().verdicts, *result().verdicts))
    assert "it keeps all 2 limits that this audit asks for" in twice.words
    assert "does not keep 1 of the 2 limits" in result(verdicts=(*result().verdicts, *result(1).verdicts)).words


def test_limits_that_were_all_skipped_pass_nothing() -> None:
    quick = [one for one in load_policy().limits if one.full_only]
    made = result(verdicts=tuple(judge(quick, [], full=False)))
    assert not made.passed
    assert not made.as_json()["passed"]
    assert made.words == (
        "The representer does NOT pass its audit: none of its limits was measured. It must not be published. "
        f"{len(quick)} were not measured: they are part of a full audit only (--preset full)."
    )


def test_one_limit_that_is_broken_is_enough() -> None:
    made = result(verdicts=(*result().verdicts, *result(1).verdicts))
    assert not made.passed
    assert "does NOT pass" in made.words


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seen": 7}, "7 of the attacked notes were among those that the representer was trained on"),
        ({"seen": None}, "is not known"),
        ({"number": 3}, "audit number 3 of this representer"),
        ({"policy": Policy("lax.toml", "f" * 64, ())}, "NOT the project's own: lax.toml"),
        (
            {
                "preset": "quick",
                "settings": QUICK,
                "audit": Audit((), independence_accounting(), ("membership: part of ...", "linkage: few")),
            },
            "quick audit, not tried: membership, linkage",
        ),
    ],
)
def test_what_its_reader_must_know(changes: dict[str, object], said: str) -> None:
    made = result(**changes)  # type: ignore[arg-type]
    assert [caveat for caveat in made.caveats if said in caveat]
    assert any(line.startswith("note: ") and said in line for line in table_lines(made))
    assert [caveat for caveat in made.as_json()["caveats"] if said in caveat]  # type: ignore[attr-defined]


def test_a_full_audit_by_our_policy_on_other_notes_needs_few_words() -> None:
    assert not result().caveats


def test_the_terminal_says_what_is_proved_however_little() -> None:
    accounting = noise_accounting(0.01, Reach.SENTENCE, sentence_tokens=9, note_tokens=90)
    made = result(audit=replace(result().audit, accounting=accounting))
    lines = table_lines(made)
    for one in accounting.guarantees:
        (line,) = [line for line in lines if line.strip().startswith(f"{one.unit}: ")]
        assert f"mu {one.mu:.3g}, rho {one.rho:.3g}, epsilon {one.epsilon:.3g} at delta 1e-06" in line
    json.dumps(made.as_json(), allow_nan=False)


def test_the_terminal_says_what_it_does_not_show() -> None:
    lines = table_lines(result())
    assert [line.removeprefix("- ") for line in lines[-len(NOT_SHOWN) :]] == list(NOT_SHOWN)
