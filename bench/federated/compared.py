"""Parts `compared`, `longer` and `unseen`: pooled shares, federated, federated under noise, and raw notes pooled, on `en_sites`, as often over every note.

A to E learn together and are scored on test notes of all five; A to D learn together and are scored on those of E, which none of them has seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from aggregator.federated.plan import FederatedPlan
from bench import corpora
from bench.federated.material import (
    DATA,
    PROVIDER,
    UNSEEN,
    Found,
    construction,
    documents,
    head_of,
    notes,
    notes_as_shared,
    score,
    shape,
)
from bench.federated.participants import Participants, train_together
from bench.privacy.worth.pool import SharedCodesSource, pooled_codes
from bench.results import Entry
from shared.federated.accounting import DELTA, Spent, epsilon, multiplier_for
from shared.federated.private import NoteNoise
from shared.sentences.ragged import RaggedSentences, SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger
from site_client.federated.notes import LabelledNotes

COMMAND, UNSEEN_COMMAND = "python -m bench.federated compared", "python -m bench.federated unseen"
LONGER_COMMAND = "python -m bench.federated longer"
RAW, SHARES, FEDERATED, NOISY = "raw notes pooled", "pooled shares", "federated", "federated with noise"
ON_SHARES = "federated on shares"
_WITHIN, _EPSILON = 0.005, 8.0
_RATE, _STEPS = 0.1, 10
_RESAMPLES = 1000


@dataclass(frozen=True)
class Size:
    """How much is trained.

    Args:
        notes: of each hospital.
        passes: over every note; rounds of a federated training, of one pass each.
        test: notes of each hospital that are scored.
        seeds: of each training.
    """

    notes: int
    passes: int
    test: int
    seeds: tuple[int, ...]


FULL = Size(16, 24, 30, (1,))
LONGER = Size(16, 72, 30, (1,))
"""Three times as many passes: whether those who learn together come to the same in the end, or stay behind."""
QUICK = Size(8, 2, 3, (1,))


@dataclass(frozen=True)
class Arm:
    """What one way came to.

    Args:
        found: on test notes.
        seconds: of CPU, all trainings of the arm.
        bytes_each: that a site sends, and gets.
    """

    found: Found
    seconds: float
    bytes_each: float


def measure(size: Size = FULL) -> Iterator[Entry]:
    """A to E learn together, all ways."""
    yield from _case("5 sites", corpora.SITES, corpora.SITES, size, COMMAND)
    yield _spent(size)


def measure_longer(size: Size = LONGER) -> Iterator[Entry]:
    """A to E learn together for longer, beside raw notes pooled for as long."""
    yield from _case("5 sites, for longer", corpora.SITES, corpora.SITES, size, LONGER_COMMAND, (RAW, FEDERATED))


def measure_unseen(size: Size = FULL) -> Iterator[Entry]:
    """A to D learn together, all ways."""
    sites = tuple(site for site in corpora.SITES if site != UNSEEN)
    yield from _case("4 sites, the fifth unseen", sites, (UNSEEN,), size, UNSEEN_COMMAND)


def _case(
    name: str, sites: Sequence[str], tested: Sequence[str], size: Size, command: str, ways: Sequence[str] = ()
) -> Iterator[Entry]:
    arms = {way: _arm(way, sites, tested, size) for way in ways or WAYS}
    yield from (replace(one, command=command) for one in _entries(name, arms, size, len(sites)))


def _arm(way: str, sites: Sequence[str], tested: Sequence[str], size: Size) -> Arm:
    found, seconds, moved = [], 0.0, 0.0
    for seed in size.seeds:
        began = time.process_time()
        head, moved = WAYS[way](sites, TaggingConfig(epochs=size.passes, seed=seed), size)
        seconds += time.process_time() - began
        gold = [note for site in tested for note in corpora.en_site(site, "test")[: size.test]]
        found.append(score(head, gold))
    return Arm(reduce(Found.and_of, found), seconds, moved)


def _raw(sites: Sequence[str], recipe: TaggingConfig, size: Size) -> tuple[Tagger, float]:
    source = RaggedSentences.concatenate([notes(site, size.notes).together() for site in sites])
    text = sum(len(one.text.encode()) for site in sites if site != PROVIDER for one in documents(site, size.notes))
    return _pooled(source, recipe), text / (len(sites) - 1)


def _shares(sites: Sequence[str], recipe: TaggingConfig, size: Size) -> tuple[Tagger, float]:
    own, *others = (documents(site, size.notes) for site in (PROVIDER, *(one for one in sites if one != PROVIDER)))
    codes = pooled_codes(construction(), own, [note for one in others for note in one])
    # A code, a casing class and a tag for each token, as a payload holds them before it is compressed.
    each = sum(array.nbytes for array in (codes.codes, codes.casing, codes.tags)) / len(sites)
    return _pooled(SharedCodesSource(construction(), codes), recipe), each


def _pooled(source: SentenceSource, recipe: TaggingConfig) -> Tagger:
    return train_tagger(source, len(construction().scheme.tags), recipe)


def _federated(sites: Sequence[str], recipe: TaggingConfig, size: Size) -> tuple[Tagger, float]:
    return _together(sites, recipe, size, None)


def _on_shares(sites: Sequence[str], recipe: TaggingConfig, size: Size) -> tuple[Tagger, float]:
    return _together(sites, recipe, size, None, notes_as_shared)


def _noisy(sites: Sequence[str], recipe: TaggingConfig, size: Size) -> tuple[Tagger, float]:
    return _together(sites, recipe, size, noise(size))


def _together(
    sites: Sequence[str],
    recipe: TaggingConfig,
    size: Size,
    noise: NoteNoise | None,
    read: Callable[[str, int], LabelledNotes] = notes,
) -> tuple[Tagger, float]:
    taking = Participants({f"site-{site}": read(site, size.notes) for site in sites}, noise)
    course = train_together(taking, shape(), recipe, FederatedPlan())
    return head_of(shape(), course.weights), sum(one.bytes_each for one in course.history)


WAYS: dict[str, Callable[[Sequence[str], TaggingConfig, Size], tuple[Tagger, float]]] = {
    RAW: _raw,
    SHARES: _shares,
    FEDERATED: _federated,
    ON_SHARES: _on_shares,
    NOISY: _noisy,
}


def noise(size: Size) -> NoteNoise:
    """As a hospital's policy of so many rounds draws it."""
    return NoteNoise(multiplier_for(_EPSILON, _RATE, _STEPS * size.passes), 1.0, _RATE, _STEPS)


def _spent(size: Size) -> Entry:
    used = noise(size)
    spent = epsilon([Spent(used.multiplier, used.rate, used.steps)] * size.passes)
    note = f"noise {used.multiplier:g} times the bound of a note's gradient, each note in a step with chance {_RATE:g}, {_STEPS} steps a round, {size.passes} rounds"
    measure = f"federated with noise: epsilon at delta {DELTA:g}, for a note"
    return Entry(measure, round(spent, 3), _EPSILON, "<=", "epsilon", None, 1, DATA, COMMAND, note)


def _entries(name: str, arms: dict[str, Arm], size: Size, sites: int) -> Iterator[Entry]:
    trained = f"{size.notes} notes of each site, {size.passes} passes"

    def entry(way: str, measure: str, value: float, unit: str, note: str = trained) -> Entry:
        return Entry(
            f"{name}: {way}: {measure}", value, None, "", unit, None, len(size.seeds), f"{DATA}/test", COMMAND, note
        )

    for way, arm in arms.items():
        yield entry(way, "strict F1", round(arm.found.strict_f1, 4), "F1")
        yield entry(way, "token-binary F1", round(arm.found.token_f1, 4), "F1")
        yield entry(way, "entities hidden whole", round(arm.found.whole, 4), "of entities")
        yield entry(way, "seconds of CPU, training", round(arm.seconds, 1), "s", "one thread; one site after the other")
        yield entry(way, "moved by a site", round(arm.bytes_each / 1e6, 3), "MB", _moved(way))
    for other, arm in arms.items():
        if other == RAW:
            continue
        # Beside the same representations in one place.
        beside = SHARES if other == ON_SHARES else RAW
        for measure, kind in (("strict F1", "entities"), ("token-binary F1", "tokens")):
            asked = other in (FEDERATED, ON_SHARES) and sites == len(corpora.SITES)
            value, interval = _less(arm.found, arms[beside].found, kind)
            yield Entry(
                f"{name}: {other} less {beside}, {measure}",
                round(value, 4),
                -_WITHIN if asked else None,
                ">=" if asked else "",
                "F1",
                interval,
                len(size.seeds),
                f"{DATA}/test",
                COMMAND,
                f"{trained}; interval over documents",
            )


def _moved(way: str) -> str:
    return {
        RAW: "text of the notes",
        SHARES: "a code, a casing class and a tag for each token, once, before compression",
    }.get(way, "weights out and back, every round")


def _less(found: Found, other: Found, kind: str) -> tuple[float, tuple[float, float]]:
    """F1 of one less the other's, with an interval of the bootstrap over documents, the same for both."""
    both = [np.asarray(getattr(one, kind), dtype=np.float64) for one in (found, other)]

    def difference(chosen: np.ndarray) -> float:
        scores = []
        for counts in both:
            true, false, missed = counts[chosen].sum(axis=0)
            scores.append(2 * true / max(2 * true + false + missed, 1))
        return float(scores[0] - scores[1])

    generator, count = np.random.default_rng(0), len(both[0])
    drawn = [difference(generator.integers(0, count, count)) for _ in range(_RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return difference(np.arange(count)), (round(float(low), 4), round(float(high), 4))
