"""What an attack found: one number, and all that a reader needs to judge it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.evaluation.intervals import clopper_pearson


@dataclass(frozen=True)
class Finding:
    """One measured figure of an attack. It holds numbers and names of categories, never a word of a note.

    Args:
        attack: which attack, for example "token inversion".
        measure: which figure of it, for example "top-1, NAME, unseen words".
        value: the figure, a share in [0, 1] unless `unit` says otherwise.
        baseline: what an attacker without the share reaches; None where there is no such thing.
        interval: 95%, of the value.
        trials: sample size.
        knowledge: what the attacker has, in a sentence.
        seed: of the attack.
        unit: "" for a share.
        category: the PHI category that the figure is about, where a figure of all of them stands beside it; else "".
    """

    attack: str
    measure: str
    value: float
    baseline: float | None
    interval: tuple[float, float]
    trials: int
    knowledge: str
    seed: int
    unit: str = ""
    category: str = ""

    @property
    def at_baseline(self) -> bool:
        """Whether the interval does not lie above the baseline."""
        return self.baseline is not None and self.interval[0] <= self.baseline


def proportion(
    attack: str,
    measure: str,
    hits: int,
    trials: int,
    baseline: float | None,
    knowledge: str,
    seed: int,
    category: str = "",
) -> Finding:
    """A finding that counts hits among independent trials, with the exact interval of Clopper and Pearson."""
    return Finding(
        attack,
        measure,
        hits / trials if trials else 0.0,
        baseline,
        clopper_pearson(hits, trials),
        trials,
        knowledge,
        seed,
        category=category,
    )
