"""What trainings of rotations come to, as entries: each step by itself and together, each operating point against its promise."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.generalise.figures import f1, gain, interval, precision, recall, share
from bench.results import Entry, commit
from shared.pipeline.operating_points import DEFAULT

_RELEASE, _RAW, _LAST_WORD, _TAGGER = "release", "raw notes", "the last word", "tagger alone"
_KEPT_WITHIN, _ROTATIONS_OF_FIVE, _WITHIN_OF_RAW = 0.03, 4, 0.03
_Key = tuple[str, int]


@dataclass(frozen=True, repr=False)
class Scored:
    """One training of one rotation.

    Args:
        training: its name.
        provider: of the rotation.
        seed: of the training.
        commit: that made it.
        points: what the release states, as its file does; None for nothing.
        counts: of every document, by choice of steps or by target of an operating point.
    """

    training: str
    provider: str
    seed: int
    commit: str
    points: Mapping[str, Any] | None
    counts: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @property
    def default(self) -> str:
        """Target of the operating point that is used where nobody asks for anything."""
        targets = [float(one["target"]) for one in (self.points or {})["points"]]
        return str(next((one for one in targets if one >= DEFAULT), targets[-1]))

    def promised(self, target: str) -> Mapping[str, Any] | None:
        """The point of a target; None where there is none."""
        return next((one for one in (self.points or {}).get("points", ()) if str(one["target"]) == target), None)


_MEASURES: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
    ("token precision", "tokens", precision),
    ("token recall", "tokens", recall),
    ("token-binary F1", "tokens", f1),
    ("strict F1", "entities", f1),
    ("entities hidden whole", "hidden", share),
)
_DEFAULT_TARGETS = {
    "entities hidden whole": 0.95,
    "token precision": 0.8,
    "token-binary F1": 0.9,
    "strict F1": 0.62,
}
_FIRST_TARGETS = {"entities hidden whole": 0.9, "token precision": 0.9}


def entries_of(scored: Sequence[Scored], command: str, steps: int) -> list[Entry]:
    """All figures.

    Args:
        scored: whole rotations.
        command: that makes them again.
        steps: of a head.
    """
    table = _Table(scored, command, steps)
    release = [one for one in scored if one.training == _RELEASE]
    entries = []
    for choice in release[0].counts if release else ():
        if not choice[0].isdigit():
            entries += table.scores(release, choice, f"{choice}, best tags")
    for training in dict.fromkeys(one.training for one in scored):
        if training != _RELEASE:
            runs = [one for one in scored if one.training == training]
            entries += table.scores(runs, _LAST_WORD, f"{training}, the last word, best tags")
    promising = [one for one in release if one.points is not None]
    if promising:
        defaults = [one.default for one in promising]
        entries += table.scores(promising, defaults, "default operating point", _DEFAULT_TARGETS)
        for target in sorted({target for one in promising for target in one.counts if target[0].isdigit()}):
            having = [one for one in promising if target in one.counts]
            entries += table.scores(having, target, f"--min-recall {target}", _FIRST_TARGETS if target == "0.9" else {})
            entries.append(table.promise(having, target))
    return entries + _gains(table, scored)


def _gains(table: _Table, scored: Sequence[Scored]) -> list[Entry]:
    """What each step behind the tagger adds by itself, and all of them; what each way to train does."""

    def counts(training: str, choice: str) -> dict[_Key, Any]:
        return {(one.provider, one.seed): one.counts[choice] for one in scored if one.training == training}

    entries = []
    for choice in next((one.counts for one in scored if one.training == _RELEASE), ()):
        if choice != _TAGGER and not choice[0].isdigit():
            of, over = counts(_RELEASE, choice), counts(_RELEASE, _TAGGER)
            entries += table.gains(of, over, f"{choice} over {_TAGGER}")
    for other in dict.fromkeys(one.training for one in scored if one.training != _RELEASE):
        for choice, title in ((_LAST_WORD, ""), (_TAGGER, f", {_TAGGER}")):
            of, over = counts(_RELEASE, choice), counts(other, choice)
            asked = other == _RAW and choice == _LAST_WORD
            entries += table.gains(of, over, f"the release over {other}{title}", targets=asked)
    return entries


@dataclass(frozen=True)
class _Table:
    scored: Sequence[Scored]
    command: str
    steps: int

    def scores(
        self,
        runs: Sequence[Scored],
        choice: str | Sequence[str],
        title: str,
        targets: Mapping[str, float] | None = None,
    ) -> list[Entry]:
        """Every measure of one choice, the mean over rotations and seeds; the interval is over documents."""
        chosen = [choice] * len(runs) if isinstance(choice, str) else list(choice)
        counts = [one.counts[name] for one, name in zip(runs, chosen, strict=True)]
        note = self._note(runs)
        types = sorted({name for one in counts for name in one["by_type"]})
        sums = {name: np.sum([one["by_type"].get(name, [0, 0]) for one in counts], axis=0) for name in types}
        recalls = ", ".join(f"{name} {hits / total:.2f}" for name, (hits, total) in sums.items())
        entries = []
        for measure, key, figure in _MEASURES:
            tables = [np.array(one[key], dtype=np.int64) for one in counts]
            each = [figure(one) for one in tables]
            target = (targets or {}).get(measure)
            spread = ", ".join(
                f"unseen by {name} {statistics.fmean(value for one, value in zip(runs, each, strict=True) if one.provider == name):.3f}"
                for name in dict.fromkeys(one.provider for one in runs)
            )
            entries.append(
                self._entry(
                    f"unseen hospital, {measure}, {title}, {self.steps} steps",
                    statistics.fmean(each),
                    "of entities" if key == "hidden" else measure.rsplit(" ", 1)[1],
                    runs,
                    target,
                    interval(tables, figure),
                    f"{note}; {spread}" + (f"; by category: {recalls}" if key == "hidden" else ""),
                )
            )
        return entries

    def promise(self, runs: Sequence[Scored], target: str) -> Entry:
        """In how many rotations an unseen hospital gets at most 3 points less than its operating point promised."""
        kept, told = [], []
        for one in runs:
            point = one.promised(target)
            assert point is not None
            got = share(one.counts[target]["hidden"])
            kept.append(got >= point["hidden"] - _KEPT_WITHIN)
            told.append(
                f"{one.provider}, seed {one.seed}: promised {point['hidden']:.3f} at precision {point['precision']:.3f}, got {got:.3f} at "
                f"{precision(one.counts[target]['tokens']):.3f}"
            )
        return self._entry(
            f"unseen hospital, promise of --min-recall {target} kept, {self.steps} steps",
            sum(kept) / len(kept),
            "of rotations",
            runs,
            _ROTATIONS_OF_FIVE / 5,
            None,
            f"at most 3 points below what was promised; {'; '.join(told)}",
        )

    def gains(self, of: Mapping[_Key, Any], over: Mapping[_Key, Any], title: str, targets: bool = False) -> list[Entry]:
        """How far one lies above another in the same notes of the same rotations and seeds.

        Args:
            of: counts of one, by provider and seed.
            over: those of the other.
            title: names both.
            targets: whether it is asked to lie no more than a little below.
        """
        both = sorted(of.keys() & over.keys())
        if not both:
            return []
        runs = [one for one in self.scored if (one.provider, one.seed) in both]
        entries = []
        for measure, key, figure in _MEASURES:
            value, bounds = gain(
                [np.array(of[one][key]) for one in both], [np.array(over[one][key]) for one in both], figure
            )
            target = -_WITHIN_OF_RAW if targets and measure in ("token-binary F1", "strict F1") else None
            name = f"unseen hospital, {measure}, {title}, {self.steps} steps"
            entries.append(self._entry(name, value, "more", runs, target, bounds, f"best tags; {self._note(runs)}"))
        return entries

    def _note(self, runs: Sequence[Scored]) -> str:
        commits = ", ".join(sorted({one.commit for one in runs}))
        rotations = len({one.provider for one in runs})
        return (
            f"mean of {rotations} rotations, heads of whole passes near {self.steps} steps of {commits}, thresholds and promises of then; what follows "
            f"them of {commit()}; interval over documents"
        )

    def _entry(
        self,
        measure: str,
        value: float,
        unit: str,
        runs: Sequence[Scored],
        target: float | None,
        bounds: tuple[float, float] | None,
        note: str,
    ) -> Entry:
        commits = ", ".join(sorted({one.commit for one in runs}))
        seeds = len({one.seed for one in runs})
        side = ">=" if target is not None else ""
        return Entry(
            measure, round(value, 4), target, side, unit, bounds, seeds, "en_sites/test", self.command, note, commits
        )
