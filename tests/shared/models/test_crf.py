"""The CRF against full enumeration, finite differences and pytorch-crf."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchcrf import CRF as PeerCRF

from shared.models.crf import ConditionalRandomField, _log_space, bio_constraints


def make(
    tags: int, lengths: list[int], seed: int, spread: float = 1.0
) -> tuple[ConditionalRandomField, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A CRF in double precision with parameters of some spread, emissions, gold tags and lengths."""
    generator = torch.Generator().manual_seed(seed)
    crf = ConditionalRandomField(tags).double()
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.normal_(generator=generator).mul_(spread)
    shape = (len(lengths), max(lengths), tags)
    emissions = torch.empty(shape, dtype=torch.float64).normal_(generator=generator).mul_(spread)
    gold = torch.randint(0, tags, shape[:2], generator=generator)
    return crf, emissions, gold, torch.tensor(sorted(lengths, reverse=True))


def score(crf: ConditionalRandomField, emissions: torch.Tensor, path: tuple[int, ...]) -> float:
    """The score of one path, written as its definition."""
    start, end, transitions = crf.start.detach(), crf.end.detach(), crf.transitions.detach()
    total = float(start[path[0]] + end[path[-1]])
    total += sum(float(emissions[step, tag]) for step, tag in enumerate(path))
    return total + sum(float(transitions[a, b]) for a, b in pairwise(path))


lengths = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@settings(max_examples=12, deadline=None)
@given(lengths=lengths, seed=st.integers(0, 10_000), spread=st.sampled_from([0.1, 1.0, 10.0]))
def test_likelihood_equals_full_enumeration(lengths: list[int], seed: int, spread: float) -> None:
    crf, emissions, gold, ordered = make(3, lengths, seed, spread)
    losses = crf.negative_log_likelihood(emissions, gold, ordered)
    for row, length in enumerate(ordered.tolist()):
        paths = [score(crf, emissions[row], path) for path in product(range(3), repeat=length)]
        expected = torch.logsumexp(torch.tensor(paths, dtype=torch.float64), 0) - score(
            crf, emissions[row], tuple(gold[row, :length].tolist())
        )
        torch.testing.assert_close(losses[row], expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(lengths=lengths, seed=st.integers(0, 10_000))
def test_gradient_equals_finite_differences(lengths: list[int], seed: int) -> None:
    crf, emissions, gold, ordered = make(5, lengths, seed)
    weight = torch.rand(len(lengths), dtype=torch.float64)

    def loss(
        emissions: torch.Tensor, transitions: torch.Tensor, start: torch.Tensor, end: torch.Tensor
    ) -> torch.Tensor:
        from shared.models.crf import _NegativeLogLikelihood

        heights = _NegativeLogLikelihood.apply(emissions, gold, ordered, transitions, start, end)  # type: ignore[no-untyped-call]
        return (heights * weight).sum()

    inputs = [
        emissions.requires_grad_(),
        *(parameter.detach().clone().requires_grad_() for parameter in crf.parameters()),
    ]
    assert torch.autograd.gradcheck(loss, inputs, eps=1e-6, atol=1e-6)


def test_agrees_with_pytorch_crf_on_a_large_batch() -> None:
    crf, emissions, gold, ordered = make(43, [30, 29, 17, 8, 1], 3)
    peer = PeerCRF(43, batch_first=True).double()
    with torch.no_grad():
        peer.transitions.copy_(crf.transitions)
        peer.start_transitions.copy_(crf.start)
        peer.end_transitions.copy_(crf.end)
    mask = torch.arange(30)[None, :] < ordered[:, None]
    emissions.requires_grad_()
    ours = crf.negative_log_likelihood(emissions, gold, ordered).sum()
    (our_gradient,) = torch.autograd.grad(ours, emissions)
    theirs = -peer(emissions, gold, mask=mask, reduction="sum")
    (their_gradient,) = torch.autograd.grad(theirs, emissions)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(our_gradient, their_gradient)


def test_falls_back_to_log_space_where_exponentials_underflow() -> None:
    crf, emissions, gold, ordered = make(3, [4], 0)
    with torch.no_grad():
        crf.transitions.fill_(-2000.0)
        crf.transitions[0, 0] = 0.0
        emissions[:, 1:, 0] = -3000.0
    losses = crf.negative_log_likelihood(emissions, gold, ordered)
    assert torch.isfinite(losses).all()
    torch.testing.assert_close(losses, _log_space(emissions, gold, ordered, crf.transitions, crf.start, crf.end))


@settings(max_examples=12, deadline=None)
@given(lengths=lengths, seed=st.integers(0, 10_000))
def test_decoding_finds_the_best_path_that_bio_allows(lengths: list[int], seed: int) -> None:
    crf, emissions, _, ordered = make(5, lengths, seed, 2.0)
    may_start, may_follow = bio_constraints(5)
    untouched = emissions.clone()
    decoded = crf.decode(emissions, ordered)
    assert torch.equal(emissions, untouched)
    for row, length in enumerate(ordered.tolist()):
        legal = [
            path
            for path in product(range(5), repeat=length)
            if may_start[path[0]] and all(may_follow[a, b] for a, b in pairwise(path))
        ]
        best = max(legal, key=lambda path: score(crf, emissions[row], path))
        assert decoded[row, :length].tolist() == list(best)
        assert decoded[row, length:].sum() == 0


def legal_paths(tags: int, length: int) -> list[tuple[int, ...]]:
    """By their names, O, B-0, I-0, B-1, ...: an I goes on from its own B or I."""
    names = ["O", *(f"{prefix}-{kind}" for kind in range(tags // 2) for prefix in "BI")]

    def legal(path: tuple[int, ...]) -> bool:
        spelled = ["O", *(names[tag] for tag in path)]
        return all(after[0] != "I" or before[2:] == after[2:] for before, after in pairwise(spelled))

    return [path for path in product(range(tags), repeat=length) if legal(path)]


@settings(max_examples=12, deadline=None)
@given(lengths=lengths, seed=st.integers(0, 10_000), spread=st.sampled_from([0.1, 1.0, 10.0]))
def test_marginals_equal_full_enumeration_of_what_bio_allows(lengths: list[int], seed: int, spread: float) -> None:
    crf, emissions, _, ordered = make(5, lengths, seed, spread)
    untouched = emissions.clone()
    with torch.no_grad():
        found = crf.marginals(emissions, ordered)
    assert torch.equal(emissions, untouched)
    assert not found.requires_grad
    assert all(parameter.grad is None for parameter in crf.parameters())
    for row, length in enumerate(ordered.tolist()):
        paths = legal_paths(5, length)
        weights = torch.softmax(
            torch.tensor([score(crf, emissions[row], path) for path in paths], dtype=torch.float64), 0
        )
        expected = torch.zeros(length, 5, dtype=torch.float64)
        for path, weight in zip(paths, weights, strict=True):
            expected[torch.arange(length), torch.tensor(path)] += weight
        torch.testing.assert_close(found[row, :length], expected, rtol=1e-9, atol=1e-9)
        assert not found[row, length:].any()


def test_marginals_survive_exponentials_that_underflow() -> None:
    crf, emissions, _, ordered = make(3, [4], 0)
    crf, emissions = crf.float(), emissions.float()
    with torch.no_grad():
        crf.transitions.fill_(-2000.0)
        crf.transitions[1, 2] = 0.0
        emissions[:, 1:, 0] = -3000.0
    found = crf.marginals(emissions, ordered)
    assert torch.isfinite(found).all()
    torch.testing.assert_close(found.sum(2), torch.ones(1, 4))
    assert torch.equal(found.argmax(2), crf.decode(emissions, ordered))


def test_bio_constraints_are_those_of_the_tag_names() -> None:
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    may_start, may_follow = bio_constraints(5)
    for j, after in enumerate(names):
        assert bool(may_start[j]) == (after[0] != "I")
        for i, before in enumerate(names):
            assert bool(may_follow[i, j]) == (after[0] != "I" or before[2:] == after[2:])


@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [384]])
def test_sequences_of_length_one_and_of_the_longest_length(lengths: list[int]) -> None:
    crf, emissions, gold, ordered = make(5, lengths, 1)
    crf = crf.float()
    losses = crf.negative_log_likelihood(emissions.float(), gold, ordered)
    assert torch.isfinite(losses).all()
    assert (losses >= -1e-4).all()


def test_a_network_without_memory_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "shared.models.crf.bio_constraints", lambda tags: pytest.fail("torch loads its compiler for that")
    )
    with torch.device("meta"):
        field = ConditionalRandomField(5)
    assert (field.may_start.shape, field.may_follow.shape) == ((5,), (5, 5))
    assert field.may_follow.is_meta


@settings(max_examples=6, deadline=None)
@given(lengths=lengths, seed=st.integers(0, 10_000), spread=st.sampled_from([0.5, 2.0]))
def test_draws_are_as_frequent_as_full_enumeration_has_them(lengths: list[int], seed: int, spread: float) -> None:
    crf, emissions, _, ordered = make(3, lengths, seed, spread)
    may_start, may_follow = bio_constraints(3)
    many = 3000
    generator = np.random.default_rng(seed)
    for row, length in enumerate(ordered.tolist()):
        allowed = [
            path
            for path in product(range(3), repeat=length)
            if may_start[path[0]] and all(may_follow[a, b] for a, b in pairwise(path))
        ]
        chances = torch.softmax(torch.tensor([score(crf, emissions[row], path) for path in allowed]), 0)
        same = emissions[row, None, :length].expand(many, -1, -1)
        drawn = Counter(map(tuple, crf.draw(same, torch.full((many,), length), generator).tolist()))
        assert set(drawn) <= set(allowed)
        for path, chance in zip(allowed, chances.tolist(), strict=True):
            assert abs(drawn[path] / many - chance) < 5 * (chance * (1 - chance) / many) ** 0.5 + 1e-3


def test_padding_changes_no_draw_and_is_no_phi() -> None:
    crf, emissions, _, ordered = make(5, [4, 2, 1], 0, 30.0)
    drawn = crf.draw(emissions, ordered, np.random.default_rng(0))
    inside = torch.arange(4)[None, :] < ordered[:, None]
    assert not drawn[~inside].any()
    # So sure a model draws what it takes for best.
    torch.testing.assert_close(drawn, crf.decode(emissions, ordered))
