"""What shares of codes are worth to English hospitals: each of the five in turn is the provider, the next three share, the last is unseen.

Sides as in `bench.privacy.worth.sides`. A run is one side of one rotation with one seed, scored at all five; runs are kept, rotation after
rotation, so that a measurement that is cut leaves whole ones, and `python -m bench.results_privacy worth-sites-table` records what is there.
"""

from __future__ import annotations

import statistics

from bench import corpora
from bench.outcomes import Comparison, Outcome, is_there, load_or_measure, score_pipeline, with_interval
from bench.privacy.material import american_names, english
from bench.privacy.worth.sides import REPLACED, SIDES, STEPS, Sides
from bench.results import Entry
from shared.document import Document

COMMAND = "python -m bench.results_privacy worth-sites"
SEEDS = (1, 2, 3)
_SHARING = 3
TARGETS = {
    ("unseen", "tokens"): 0.85,
    ("sharing", "tokens"): 0.93,
    ("unseen", "entities"): 0.70,
    ("sharing", "entities"): 0.90,
}
"""What is asked of the worth of heads that are trained for longer than the 2,500 steps here: see `bench.privacy.worth.copies`."""
_NAMES = {"tokens": "token-binary", "entities": "strict"}


def measure() -> list[Entry]:
    """Run what is not there yet, seed after seed; the entries of all."""
    test = {site: corpora.en_site(site, "test") for site in corpora.SITES}
    for seed in SEEDS:
        for provider in corpora.SITES:
            sides = sides_of(provider)
            # One seed tells what is lost where: a third of a worth is no matter of seeds.
            for side in (*SIDES, REPLACED) if seed == SEEDS[0] else SIDES:
                load_or_measure(
                    _run(provider, side, seed),
                    lambda side=side, sides=sides, seed=seed: _scored(sides, side, seed, test),  # type: ignore[misc]
                )
    return entries()


def _scored(sides: Sides, side: str, seed: int, test: dict[str, list[Document]]) -> dict[str, object]:
    pipeline = sides.train(side, seed)
    found = {site: score_pipeline(pipeline, notes) for site, notes in test.items()}
    print(side, {site: (round(one.token_f1, 4), round(one.entity_f1, 4)) for site, one in found.items()}, flush=True)
    return {site: {"tokens": one.tokens, "entities": one.entities} for site, one in found.items()}


def unseen_by(provider: str) -> str:
    """The hospital that neither is this provider nor shares with it."""
    return _order(provider)[-1]


def sides_of(provider: str) -> Sides:
    """A provider and the hospitals that share with it."""
    train = {site: corpora.en_site(site, "train") for site in _order(provider)[: _SHARING + 1]}
    own = train.pop(provider)
    hospitals = {f"site-{site}": notes for site, notes in train.items()}
    return Sides(own, hospitals, english(), list(corpora.public_english_texts()), american_names(), "i2b2_2014")


def _order(provider: str) -> tuple[str, ...]:
    """The provider, those that share, the one that nobody has seen."""
    turn = corpora.SITES.index(provider)
    return tuple(corpora.SITES[turn:] + corpora.SITES[:turn])


def _run(provider: str, side: str, seed: int) -> str:
    return f"worth-sites-{provider}-{side}-{seed}"


def entries() -> list[Entry]:
    """Of the rotations of which all sides are there."""
    found: list[Entry] = []
    for where in ("unseen", "sharing"):
        compared, rotations, seeds = _compared(where)
        if not rotations:
            continue
        for kind, name in _NAMES.items():
            value, (low, high) = compared.gain(kind)
            score = "token_f1" if kind == "tokens" else "entity_f1"
            means = [statistics.fmean(getattr(one, score) for one in side) for side in _all_sides(compared)]
            note = (
                f"{rotations} rotations with each of seeds 1 to {seeds} at most, {len(compared.private)} hospitals and seeds; F1 alone {means[0]:.4f}, raw {means[1]:.4f}, shares {means[2]:.4f}; "
                f"{STEPS} steps for every side, all with both views; interval over documents"
            )
            found.append(
                Entry(
                    f"en_sites, {where} hospitals, worth of a share of codes, {name}",
                    round(value, 4),
                    None,
                    "",
                    "of what raw notes add",
                    (round(low, 4), round(high, 4)),
                    seeds,
                    "en_sites/test",
                    COMMAND,
                    note,
                    ", ".join(sorted({one.commit for one in compared.private})),
                )
            )
    return [*found, *_control_entries()]


def _control_entries() -> list[Entry]:
    """What shares reach that show every public word, and what those of today reach, in the same rotations with one seed."""
    seed = SEEDS[0]
    there = [one for one in corpora.SITES if all(is_there(_run(one, side, seed)) for side in (*SIDES, REPLACED))]
    entries = []
    for where in ("unseen", "sharing") if there else ():
        for side, said in (
            (REPLACED, "public words all shown, labelled PHI replaced"),
            ("share", "narrowed as by default"),
        ):
            outcomes = []
            for provider in there:
                run = load_or_measure(_run(provider, side, seed), dict)
                outcomes += [Outcome.of(run[site], run["commit"]) for site in asked_of(provider, where)]
            for kind, name in _NAMES.items():
                value, (low, high) = with_interval([outcomes], kind, lambda mean: mean)
                entries.append(
                    Entry(
                        f"en_sites, {where} hospitals, shares of codes, {said}: {name} F1",
                        round(value, 4),
                        None,
                        "",
                        "F1",
                        (round(low, 4), round(high, 4)),
                        1,
                        "en_sites/test",
                        COMMAND,
                        f"{len(there)} rotations, one seed, {STEPS} steps; interval over documents",
                        ", ".join(sorted({one.commit for one in outcomes})),
                    )
                )
    return entries


def asked_of(provider: str, where: str) -> tuple[str, ...]:
    """The hospitals of a rotation that are judged: "unseen", or those that are "sharing"."""
    order = _order(provider)
    return order[_SHARING + 1 :] if where == "unseen" else order[1 : _SHARING + 1]


def _all_sides(compared: Comparison) -> list[list[Outcome]]:
    return [compared.alone, compared.ideal, compared.private]


def _compared(where: str) -> tuple[Comparison, int, int]:
    """All whole rotations, of all seeds that are there; their number, and the number of seeds."""
    compared, providers, seeds = Comparison([], [], []), set(), set()
    for seed in SEEDS:
        for provider in corpora.SITES:
            names = [_run(provider, side, seed) for side in SIDES]
            if not all(map(is_there, names)):
                continue
            providers.add(provider)
            seeds.add(seed)
            asked = asked_of(provider, where)
            for side, name in zip(_all_sides(compared), names, strict=True):
                run = load_or_measure(name, dict)
                side += [Outcome.of(run[site], run["commit"]) for site in asked]
    return compared, len(providers), len(seeds)
