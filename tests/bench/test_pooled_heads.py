"""Heads that know the hospital of a sentence while they learn, and an ensemble."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from bench.taggers import pooling
from bench.taggers.pooled_heads import AdversarialHead, Ensemble, GroupHead, WeighedHead
from shared.errors import ConfigurationError
from shared.sentences.ragged import Batch, RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig

SHAPE = BiLSTMCRFConfig(4, 5, hidden=6, input_dropout=0.0, variational_dropout=0.0, dropout=0.0)
# Three hospitals; the second has one sentence.
SITES = np.array([0, 0, 0, 1, 2, 2])


def sentences() -> RaggedSentences:
    generator = np.random.default_rng(3)
    lengths = np.array([5, 4, 4, 3, 2, 2])
    tokens = int(lengths.sum())
    return RaggedSentences(
        generator.normal(size=(tokens, 4)).astype(np.float32),
        np.zeros(tokens, dtype=np.uint8),
        np.tile(np.array([1, 2], dtype=np.uint8), tokens)[:tokens] * (np.arange(tokens) % 3 < 2),
        lengths,
    )


def batch() -> Batch:
    [one] = sentences().batches(10)
    return one


def made(kind: Any, *more: Any) -> Any:
    torch.manual_seed(0)
    return kind(SHAPE, *more)


def means(losses: torch.Tensor, rows: np.ndarray) -> list[float]:
    """Mean loss of each hospital."""
    return [losses[torch.from_numpy(SITES[rows] == site)].mean().item() for site in range(3)]


def test_every_hospital_weighs_as_much_however_many_sentences_it_has() -> None:
    one = batch()
    plain = made(BiLSTMCRF).loss(one)
    weighed = made(WeighedHead, SITES).loss(one).mean()
    assert weighed.item() == pytest.approx(np.mean(means(plain, one.rows)), rel=1e-5)
    assert weighed.item() != pytest.approx(plain.mean().item(), rel=1e-3)


def test_what_a_hospital_weighs_grows_with_its_loss_and_only_while_it_learns() -> None:
    one = batch()
    head = made(GroupHead, SITES)
    losses = means(made(BiLSTMCRF).loss(one), one.rows)
    head.eval().loss(one)
    assert head.weights.tolist() == pytest.approx([1 / 3] * 3)
    head.train()
    for _ in range(20):
        head.loss(one)
    assert np.argsort(head.weights.numpy()).tolist() == np.argsort(losses).tolist()
    assert float(head.weights.sum()) == pytest.approx(1)
    # By hand: exp(eta * loss / mean loss), twenty times.
    by_hand = np.exp(20 * 0.01 * np.array(losses) / np.mean(losses))
    assert head.weights.tolist() == pytest.approx((by_hand / by_hand.sum()).tolist(), rel=1e-4)


def test_the_adversary_goes_down_its_loss_and_the_head_up_it() -> None:
    one = batch()
    head = made(AdversarialHead, SITES, 10).train()
    head._done = 10
    tags_alone = made(BiLSTMCRF).train()
    tags_alone.load_state_dict(head.state_dict(), strict=False)
    torch.autograd.backward(head.loss(one).mean())
    torch.autograd.backward(tags_alone.loss(one).mean())
    fooling = [
        own.grad - other.grad
        for own, other in zip(head.second.parameters(), tags_alone.second.parameters(), strict=True)
    ]
    apart = made(AdversarialHead, SITES, 10)
    apart.load_state_dict(head.state_dict())
    # The adversary's own loss without a reversal: what the head gets is a tenth of it, the other way round.
    seen: list[torch.Tensor] = []
    apart.second.register_forward_hook(lambda module, given, states: seen.append(states))
    apart.scores(one)
    inside = torch.arange(5)[None, :] < one.lengths[:, None]
    guesses = apart.adversary((seen[0] * inside[:, :, None]).sum(1) / one.lengths[:, None])
    torch.autograd.backward(torch.nn.functional.cross_entropy(guesses, torch.from_numpy(SITES[one.rows])))
    for turned, straight in zip(fooling, apart.second.parameters(), strict=True):
        assert torch.allclose(turned, -0.1 * straight.grad, rtol=1e-2, atol=1e-6)
    for own, straight in zip(head.adversary.parameters(), apart.adversary.parameters(), strict=True):
        assert torch.allclose(own.grad, straight.grad, atol=1e-6)


def test_an_ensemble_is_the_mean_whose_best_tags_keep_to_bio() -> None:
    one = batch()
    members = [made(BiLSTMCRF).eval()]
    torch.manual_seed(1)
    members.append(BiLSTMCRF(SHAPE).eval())
    ensemble = Ensemble(members)
    tags, marginals = ensemble.tags_and_marginals(one)
    assert torch.allclose(marginals, (members[0].marginals(one) + members[1].marginals(one)) / 2)
    assert torch.equal(tags, ensemble.decode(one))
    logs = marginals.clamp(min=1e-9).log()
    for row, length in enumerate(one.lengths.tolist()):
        best = max(
            (path for path in itertools.product(range(5), repeat=length) if allowed(path)),
            key=lambda path: float(sum(logs[row, place, tag] for place, tag in enumerate(path))),
        )
        assert tags[row, :length].tolist() == list(best)


def allowed(path: tuple[int, ...]) -> bool:
    """An inside tag, even and above 0, follows its own beginning or itself."""
    return all(tag % 2 or not tag or before in (tag, tag - 1) for before, tag in itertools.pairwise((0, *path)))


def test_ways_are_compared_with_one_pool_on_the_same_notes() -> None:
    less, more = [[5, 0, 5]] * 2, [[6, 0, 4]] * 2
    counts = {
        way: dict.fromkeys(("tokens", "entities"), less if way == pooling.PLAIN else more) | {"hidden": [[5, 10]] * 2}
        for way in pooling.WAYS
    }
    runs = {("a", 1): {"counts": counts, "commit": "abc"}, ("b", 1): {"counts": counts, "commit": "abc"}}
    entries = {entry.measure: entry for entry in pooling.entries_of(runs)}
    assert len(entries) == 3 * (1 + 2 * 5)
    gained = entries["unseen hospital, strict F1, group-robust, over one pool"]
    assert gained.value == pytest.approx(12 / 16 - 10 / 15, abs=1e-4)
    assert (gained.unit, gained.seeds) == ("more", 1)
    assert entries["unseen hospital, strict F1, ensemble of three, over one pool"].note.count("3 times the time") == 1
    assert entries["unseen hospital, entities hidden whole, group-robust, over one pool"].value == 0


def test_without_a_run_there_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "is_there", lambda name: False)
    with pytest.raises(ConfigurationError, match="begin with that command"):
        pooling.measure(train=False)
