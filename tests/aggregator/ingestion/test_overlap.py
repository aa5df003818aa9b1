"""Notes that come twice are counted once, on both databases: shares of invented sentences, each long enough to be known again."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np
import pytest

from aggregator.enrolled import shares
from aggregator.ingestion import ingest, overlap, verdict
from aggregator.ingestion.overlap import describe_repetition, describe_row_frequency, describe_short_sentences
from aggregator.ingestion.sentence_digests import DIGEST_TYPE, MOST, SentenceDigests
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareDigestsRow
from bench.exchange.world import Sentences, World
from protocols.payload.sentence_block import SentenceBlock
from protocols.share.receipt import read_receipt
from shared.generate import generate_notes
from shared.labels import load_scheme
from shared.sentences.tokenised import tokenised_corpus
from tests.aggregator.ingestion.taking_in import receipt_agrees

pytestmark = pytest.mark.usefixtures("quick")

ACCEPTED, ASIDE = (ShareState.ACCEPTED, ""), (ShareState.QUARANTINED, "overlap")


@dataclass(frozen=True)
class Known(Sentences):
    """Sentences of sixteen tokens by their numbers: the same number is the same sentence. Their order is drawn with the seed."""

    numbers: tuple[int, ...] = ()

    def block(self, index: int) -> SentenceBlock:
        order = np.random.default_rng(self.seed).permutation(self.numbers)
        values = np.concatenate([np.random.default_rng(number).uniform(-1, 1, (16, self.dim)) for number in order])
        tags = np.tile(np.array([1, 2] + [0] * 14, dtype=np.uint8), len(order))
        casing = np.full(len(tags), 2, dtype=np.uint8)
        return SentenceBlock(values.astype("<f2"), tags, casing, np.full(len(order), 16, dtype="<i4"))


def take(world: World, site: str, sequence: int, *numbers: range, seed: int = 0) -> tuple[ShareState, str]:
    """What becomes of a share of these sentences."""
    every = tuple(number for some in numbers for number in some)
    payload = world.share(site, sequence, Known(seed, numbers=every))
    decision = ingest.ingest(world.workspace(), world.seal(payload, site, f"{site}-{sequence}-{seed}.share"))
    receipt_agrees(world.workspace(), decision)
    return decision.state, decision.reason_code


def kept(world: World) -> int:
    """Shares of which digests are kept."""
    with world.workspace().registry().reading() as session:
        return session.query(ShareDigestsRow).count()


def test_the_same_notes_in_another_order_under_another_number_are_set_aside(world: World) -> None:
    assert take(world, "north", 1, range(40)) == ACCEPTED
    assert take(world, "north", 2, range(40), seed=1) == ASIDE
    [_, second] = shares.list_shares(world.workspace())
    assert (
        second.reason
        == "40 of its 40 sentences of their own came before from north itself, 40 of them in share 1 of north"
    )
    # A person may say that they count all the same.
    shares.accept(world.workspace(), second, "A. Weiss", "looked at")
    assert len(shares.accepted_shares(world.workspace())) == 2


def test_so_are_those_of_another_site(world: World) -> None:
    assert take(world, "north", 1, range(80)) == ACCEPTED
    assert take(world, "south", 1, range(80), seed=1) == ASIDE
    [_, second] = shares.list_shares(world.workspace())
    said = "80 of its 80 sentences of their own that are new from south came before from others, 80 of them in share 1 of north"
    assert second.reason == said


def test_half_is_allowed_and_more_is_not(small: World) -> None:
    assert take(small, "north", 1, range(40)) == ACCEPTED
    assert take(small, "north", 2, range(20), range(100, 120)) == ACCEPTED
    assert take(small, "north", 3, range(20, 40), range(200, 219)) == ASIDE


def test_pieces_of_several_shares_count_together(small: World) -> None:
    for sequence in (1, 2, 3):
        assert take(small, "north", sequence, range(100 * sequence, 100 * sequence + 30)) == ACCEPTED
    assert take(small, "south", 1, range(100, 125), range(200, 225), range(300, 325), range(20)) == ASIDE


def test_a_share_that_was_set_aside_is_known_again_too(small: World) -> None:
    take(small, "north", 1, range(40))
    assert take(small, "north", 2, range(40), range(100, 139), seed=1) == ASIDE
    assert take(small, "north", 3, range(100, 139), range(200, 220), seed=2) == ASIDE


@pytest.mark.parametrize("how", ["withdraw", "reject"])
def test_what_was_taken_back_or_refused_is_forgotten(how: str, world: World) -> None:
    take(world, "north", 1, range(40))
    if how == "reject":
        take(world, "north", 2, range(40), seed=1)
        [_, second] = shares.list_shares(world.workspace())
        shares.reject(world.workspace(), second, "A. Weiss", "twice")
        assert kept(world) == 1
    [first, *_] = shares.list_shares(world.workspace())
    shares.withdraw(world.workspace(), first, "A. Weiss", "asked by letter")
    assert kept(world) == 0
    assert take(world, "north", 3, range(40), seed=2) == ACCEPTED


def test_a_share_that_was_refused_leaves_no_digests(small: World) -> None:
    small.bundle("north", 1, release="cd" * 32)
    decision = ingest.ingest(small.workspace(), next(small.root.glob("*.share")))
    assert decision.state == ShareState.REJECTED
    assert kept(small) == 0


class TestWhileOthersWrite:
    """There is one writer: shares are compared before it is one's turn, and with what came since when it is."""

    @staticmethod
    def between(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
        """Does some work once, between the comparison of a share and the transaction that settles it."""
        compare, left = verdict.compare_with_earlier, [work]

        def compared(*given: Any) -> Any:
            found = compare(*given)
            while left:
                left.pop()()
            return found

        monkeypatch.setattr(ingest, "compare_with_earlier", compared)

    def test_attack_no_number_of_earlier_sentences_holds_the_writer(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for sequence in (1, 2, 3):
            take(world, "north", sequence, range(100 * sequence, 100 * sequence + 80))
        among, decide = overlap._among, verdict.decide
        read: list[bool] = []
        inside = [False]

        def looked(*given: Any) -> Any:
            read.append(inside[0])
            return among(*given)

        def decided(*given: Any) -> None:
            inside[0] = True
            decide(*given)
            inside[0] = False

        monkeypatch.setattr(overlap, "_among", looked)
        monkeypatch.setattr(ingest, "decide", decided)
        assert take(world, "south", 1, range(100, 180), seed=1) == ASIDE
        assert read == [False] * 3

    def test_attack_the_same_notes_at_the_same_time_count_once(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.between(monkeypatch, lambda: take(world, "south", 1, range(80), seed=1))
        assert take(world, "north", 1, range(80)) == ASIDE
        assert {one.site: one.state for one in shares.list_shares(world.workspace())} == {
            "north": ShareState.QUARANTINED,
            "south": ShareState.ACCEPTED,
        }

    def test_what_is_withdrawn_meanwhile_does_not_count(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        take(world, "south", 1, range(80), seed=1)
        [first] = shares.list_shares(world.workspace())
        self.between(monkeypatch, lambda: shares.withdraw(world.workspace(), first, "A. Weiss", "asked by letter"))
        assert take(world, "north", 1, range(80)) == ACCEPTED


class TestWhatOthersHold:
    """What becomes of a share, and its receipt, must not say whether another hospital has a sentence."""

    def test_attack_the_line_is_not_found_with_sentences_of_its_own(self, small: World) -> None:
        """Half of it sent before, to the sentence, and one more that is guessed: right or wrong, the answer is the same."""
        take(small, "south", 1, range(1000, 1080))
        assert take(small, "north", 1, range(40)) == ACCEPTED
        for sequence, guessed in ((2, 1000), (3, 2000)):
            own = range(20) if sequence == 2 else range(20, 40)
            new = range(100 * sequence, 100 * sequence + 19)
            assert take(small, "north", sequence, own, new, range(guessed, guessed + 1)) == ACCEPTED

    def test_attack_nor_with_those_of_others_that_it_knows(self, small: World) -> None:
        """Fewer than can be told from chance do nothing, whatever else the share has."""
        take(small, "south", 1, range(1000, 1080))
        assert take(small, "north", 1, range(1000, 1040)) == ACCEPTED

    def test_what_a_site_has_sent_itself_counts_for_no_other(self, small: World) -> None:
        take(small, "north", 1, range(1000, 1060))
        take(small, "south", 1, range(1000, 1040))
        assert take(small, "south", 2, range(1000, 1060), range(2000, 2040), seed=1) == ACCEPTED

    def test_a_line_hangs_on_secret_site_and_every_sentence_and_lies_evenly(self) -> None:
        digests = [np.arange(1, count, dtype=DIGEST_TYPE).tobytes() for count in range(2, 402)]
        lines = [overlap.draw_line(b"k" * 32, "north", one) for one in digests]
        assert lines == [overlap.draw_line(b"k" * 32, "north", one) for one in digests]
        assert len({*lines, *(overlap.draw_line(b"k" * 32, "south", one) for one in digests)}) == 800
        assert overlap.draw_line(b"l" * 32, "north", digests[0]) != lines[0]
        assert 1 <= min(lines) < 1.01
        assert 1.49 < max(lines) < 1.5
        assert np.mean(lines) == pytest.approx(1.25, abs=0.03)

    @pytest.mark.parametrize(("rest", "shares"), [(70, 1000), (80, 1000), (400, 250)])
    def test_one_sentence_hardly_moves_the_answer(self, rest: int, shares: int, small: World) -> None:
        """Of shares that have as many of others' the answers differ; one more changes few of them."""
        take(small, "south", 1, range(20))
        lines = [overlap.draw_line(b"k" * 32, "north", number.to_bytes(8, "little")) for number in range(shares)]
        with small.workspace().registry().reading() as session:

            def aside(line: float, count: int) -> bool:
                compared = overlap.Compared(rest, {1: (1 << count) - 1})
                return overlap.describe_overlap(session, compared, "north", line) is not None

            # The more of others', and the lower the line, the sooner set aside: how many are is found by halving.
            lines.sort()
            low, high = (bisect_left(range(rest + 1), True, key=partial(aside, lines[place])) for place in (0, -1))
            between = [
                shares - bisect_left(lines[::-1], True, key=partial(aside, count=count)) for count in range(low, high)
            ]
        asides = [0] * low + between + [shares] * (rest + 1 - high)
        assert (asides[39], asides[-1]) == (0, shares)
        assert max(np.diff(asides)) < 0.08 * shares

    def test_the_receipt_of_a_share_that_waits_names_no_doubt(self, small: World) -> None:
        """Nor can it be found by trying out which entry of the log has the hash that the receipt names."""
        take(small, "north", 1, range(80))
        for site, sequence, numbers in (("south", 1, range(80)), ("north", 2, range(20))):
            times = 1 if site == "south" else 4
            payload = small.share(site, sequence, Known(1, numbers=tuple(numbers) * times))
            decision = ingest.ingest(small.workspace(), small.seal(payload, site, f"{site}.share"))
            assert decision.state == ShareState.QUARANTINED
            receipt = read_receipt(decision.receipt, small.workspace().key().public_key)
            assert receipt.reason_code == "set-aside"
        with small.workspace().registry().reading() as session:
            salts = [
                json.loads(one.details)["salt"]
                for one in audit_log.events(session)
                if one.action == "share-quarantined"
            ]
        assert len(set(salts[-2:])) == 2


@pytest.mark.parametrize("sentences", range(1, 60))
def test_of_few_sentences_more_than_half_must_come_before_to_be_beyond_chance(sentences: int) -> None:
    """The oracle adds the binomial up: each sentence of honest notes came before in a quarter of the cases at the most."""
    for seen in range(1, sentences + 1):
        chance = sum(comb(sentences, k) * 0.25**k * 0.75 ** (sentences - k) for k in range(seen, sentences + 1))
        assert overlap._is_more_than_chance(seen, sentences) == (chance < 1e-3)


@pytest.mark.parametrize(
    ("commonest", "tokens", "aside"), [(400, 1000, False), (401, 1000, True), (199, 199, False), (0, 1000, False)]
)
def test_a_row_that_stands_for_most_of_a_share_sets_it_aside(commonest: int, tokens: int, aside: bool) -> None:
    assert (describe_row_frequency(commonest, tokens) is not None) == aside


def test_sentences_that_come_four_times_each_are_set_aside_and_three_times_are_not(small: World) -> None:
    """Their weight, not their words, is the lie."""
    assert take(small, "north", 1, *[range(20)] * 3) == ACCEPTED
    assert take(small, "north", 2, *[range(100, 120)] * 4) == (ShareState.QUARANTINED, "repetition")


@dataclass(frozen=True)
class OneLine(Sentences):
    """One sentence of eleven tokens, too few of them outside PHI for it to be known again, so many times."""

    times: int = 500

    def block(self, index: int) -> SentenceBlock:
        line = np.random.default_rng(3).uniform(-1, 1, (11, self.dim)).astype("<f2")
        tags = np.tile(np.array([1, 2] + [0] * 9, dtype=np.uint8), self.times)
        casing, lengths = np.full(len(tags), 2, dtype=np.uint8), np.full(self.times, 11, dtype="<i4")
        return SentenceBlock(np.tile(line, (self.times, 1)), tags, casing, lengths)


def test_attack_one_short_sentence_again_and_again_is_set_aside_whoever_sends_it(world: World) -> None:
    for site, sequence, times in (("north", 1, 500), ("north", 2, 501), ("south", 1, 502)):
        payload = world.share(site, sequence, OneLine(times=times))
        decision = ingest.ingest(world.workspace(), world.seal(payload, site, f"{site}-{sequence}.share"))
        assert (decision.state, decision.reason_code) == (ShareState.QUARANTINED, "repetition")
        assert decision.reason == f"its sentences stand in it {times}.0 times each"


@pytest.mark.parametrize("outside", [3, 9])
def test_attack_other_names_in_the_same_short_sentence_make_no_other(outside: int) -> None:
    length, times = outside + 2, 500
    codes = np.tile(np.arange(length, dtype="<u4"), (times, 1))
    codes[:, :2] = np.random.default_rng(1).integers(100, 10_000, (times, 2))
    tags = np.tile(np.array([1, 2] + [0] * outside, dtype=np.uint8), times)
    found = SentenceDigests(bytes(32), whole=False)
    found.add(SentenceBlock(codes.ravel(), tags, np.zeros_like(tags), np.full(times, length, dtype="<i4")))
    assert overlap.describe_said_again(found.said, found.distinct) == "its sentences stand in it 500.0 times each"


@pytest.mark.parametrize("site", ["en_harbor", "en_moor", "es_ribera"])
def test_lines_that_every_note_has_set_no_honest_share_aside(site: str) -> None:
    """Telegraphic notes, whose headers and findings come again and again: far from the bound, and closer where words have groups."""
    scheme = load_scheme("i2b2_2014" if site.startswith("en") else "meddocan")
    notes = tokenised_corpus(generate_notes(site, 150, 5), scheme)
    _, words = notes.distinct_words()
    for groups in (len(words), 500):
        codes, casing = (words % groups).astype("<u4"), np.zeros(len(words), dtype=np.uint8)
        found = SentenceDigests(bytes(32), whole=False)
        found.add(SentenceBlock(codes, notes.tags, casing, notes.lengths.astype("<i4")))
        assert 1.2 < found.said / found.distinct < overlap.MOST_TIMES_SAID / 5
        assert overlap.describe_said_again(found.said, found.distinct) is None


@pytest.mark.parametrize(
    ("said", "distinct", "aside"), [(400, 20, False), (401, 20, True), (19, 0, False), (19, 1, False), (21, 1, True)]
)
def test_sentences_of_any_kind_may_come_twenty_times_each(said: int, distinct: int, aside: bool) -> None:
    assert (overlap.describe_said_again(said, distinct) is not None) == aside


@pytest.mark.parametrize(("distinct", "aside"), [(1 << 22, False), (1 << 21, True)])
def test_of_more_digests_than_are_kept_the_largest_tells_how_many_there_were(distinct: int, aside: bool) -> None:
    """The smallest of digests that lie evenly: the oracle knows how many it has laid."""
    kept = np.arange(1, MOST + 1, dtype=DIGEST_TYPE) * DIGEST_TYPE.type(2**64 // distinct)
    assert (describe_repetition(kept.tobytes(), 8 << 20) is not None) == aside


@pytest.mark.parametrize(("sentences", "tokens", "aside"), [(100, 300, False), (100, 299, True), (100, 199, False)])
def test_sentences_of_hardly_a_token_set_a_share_aside(sentences: int, tokens: int, aside: bool) -> None:
    assert (describe_short_sentences(sentences, tokens) is not None) == aside
