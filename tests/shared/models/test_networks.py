"""LSTM, noise, representer and adversaries: shapes, padding, bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from shared.errors import ConfigurationError
from shared.models import lstm
from shared.models.adversaries import InputAdversary, RepresentationAdversary
from shared.models.lstm import BiLSTM, LockedDropout
from shared.models.noise import GaussianNoise
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer, RepresenterConfig, clip_to_ball

LENGTHS = torch.tensor([6, 4, 4, 1])


@pytest.fixture(params=[False, True], ids=["float32", "bfloat16"])
def tolerance(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """Both precisions of the LSTM, whatever this processor prefers, and what to tolerate in them."""
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: request.param)
    return 2e-2 if request.param else 1e-5


def padded(dim: int, fill: float) -> Tensor:
    """A random batch with `fill` on its padding."""
    inputs = torch.randn(len(LENGTHS), 6, dim, generator=torch.Generator().manual_seed(1))
    inputs[torch.arange(6)[None, :] >= LENGTHS[:, None]] = fill
    return inputs


class TestBiLSTM:
    def test_a_sentence_alone_is_the_sentence_in_a_batch(self, tolerance: float) -> None:
        network, inputs = BiLSTM(5, 7).eval(), padded(5, 0.0)
        together, last = network(inputs, LENGTHS), network.last_states(inputs, LENGTHS)
        assert together.dtype == last.dtype == torch.float32
        for row, length in enumerate(LENGTHS.tolist()):
            alone = network(inputs[row : row + 1, :length], LENGTHS[row : row + 1])
            torch.testing.assert_close(together[row, :length], alone[0], atol=tolerance, rtol=0)
            ends = torch.cat([alone[0, -1, :7], alone[0, 0, 7:]])
            torch.testing.assert_close(last[row], ends, atol=tolerance, rtol=0)

    def test_padding_changes_nothing(self, tolerance: float) -> None:
        network, inside = BiLSTM(5, 7).eval(), torch.arange(6)[None, :] < LENGTHS[:, None]
        clean, dirty = (network(padded(5, fill), LENGTHS) for fill in (0.0, 1e3))
        torch.testing.assert_close(clean[inside], dirty[inside], atol=tolerance, rtol=0)

    @given(st.lists(st.integers(1, 60), min_size=9, max_size=40))
    @settings(max_examples=10)
    def test_sentences_of_any_lengths_in_any_order_are_those_of_torch(self, sizes: list[int]) -> None:
        lengths, generator = torch.tensor([*sizes, 90]), torch.Generator().manual_seed(1)
        ours, theirs = BiLSTM(3, 4), torch.nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        weights = {f"{name}_reverse": value for name, value in ours.backwards.state_dict().items()}
        theirs.load_state_dict(weights | dict(ours.forwards.state_dict()))
        inputs = torch.randn(len(lengths), 90, 3, generator=generator)
        inside = torch.arange(90)[None, :] < lengths[:, None]
        found = []
        for network in (ours, theirs):
            given_inputs = inputs.clone().requires_grad_()
            if network is ours:
                states, ends = ours(given_inputs, lengths), ours.last_states(given_inputs, lengths)
            else:
                packed = pack_padded_sequence(given_inputs, lengths, batch_first=True, enforce_sorted=False)
                output, (hidden, _) = theirs(packed)
                states, ends = pad_packed_sequence(output, batch_first=True)[0], torch.cat([hidden[0], hidden[1]], 1)
            (gradient,) = torch.autograd.grad(states[inside].square().sum() + ends.sum(), given_inputs)
            found.append((states[inside], ends, gradient))
        for mine, torchs in zip(*found, strict=True):
            torch.testing.assert_close(mine, torchs, atol=1e-5, rtol=1e-4)

    def test_a_few_long_sentences_make_no_padding_of_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        network, cells = BiLSTM(3, 4), []
        run = torch.nn.LSTM.forward

        def counted(layer: torch.nn.LSTM, inputs: Tensor) -> object:
            cells.append(inputs.shape[0] * inputs.shape[1])
            return run(layer, inputs)

        monkeypatch.setattr(torch.nn.LSTM, "forward", counted)
        lengths = torch.tensor([100] * 4 + [10] * 28)
        network(torch.zeros(32, 100, 3), lengths)
        # Rounded up to the grid of shapes; all in one batch they would be 3,200 a direction.
        assert sum(cells) / 2 <= 4 * 112 + 28 * 10

    def test_what_has_a_gradient_runs_in_float32(self, monkeypatch: pytest.MonkeyPatch) -> None:
        network, inputs = BiLSTM(5, 7), padded(5, 0.0)
        monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)
        exact = network(inputs, LENGTHS)
        monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: True)
        assert torch.equal(network(inputs, LENGTHS), exact)
        with torch.no_grad():
            assert not torch.equal(network(inputs, LENGTHS), exact)

    def test_sentences_laid_end_to_end_are_those_of_a_padded_batch(self, tolerance: float) -> None:
        network, inside = BiLSTM(5, 7).eval(), torch.arange(6)[None, :] < LENGTHS[:, None]
        inputs = padded(5, 0.0)
        with torch.no_grad():
            laid = network.end_to_end(inputs[inside], LENGTHS)
            torch.testing.assert_close(laid.float(), network(inputs, LENGTHS)[inside], atol=tolerance, rtol=0)


class TestLockedDropout:
    def test_one_mask_serves_every_step(self) -> None:
        dropped = LockedDropout(0.5).train()(torch.ones(8, 5, 40))
        assert set(dropped.unique().tolist()) == {0.0, 2.0}
        assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
        assert not torch.equal(dropped[0], dropped[1])

    def test_nothing_is_dropped_at_inference(self) -> None:
        ones = torch.ones(2, 3, 4)
        assert torch.equal(LockedDropout(0.5).eval()(ones), ones)


class TestNoise:
    @given(st.floats(1e-3, 1e3), st.floats(1e-3, 1.0))
    def test_it_starts_at_its_initial_scale_and_never_below_the_floor(self, initial: float, share: float) -> None:
        floor = initial * share
        scale = GaussianNoise(3, initial=initial, floor=floor).scale
        assert torch.all(scale >= floor)
        expected = max(initial, floor + 1e-4)
        torch.testing.assert_close(scale, torch.full((3,), expected), rtol=1e-3, atol=0)

    @pytest.mark.parametrize("raw", [-1e6, -50.0, 0.0, 30.0])
    def test_no_training_can_push_it_below_the_floor(self, raw: float) -> None:
        noise = GaussianNoise(3, initial=0.05, floor=0.01)
        with torch.no_grad():
            noise.raw.fill_(raw)
        assert torch.all(noise.scale >= 0.01)

    @pytest.mark.parametrize("source", [PrivateNoise(), torch.Generator().manual_seed(0), torch.default_generator])
    def test_it_has_the_scale_that_it_states(self, source: object) -> None:
        torch.manual_seed(0)
        noise = GaussianNoise(2, initial=0.3, floor=0.01)
        with torch.no_grad():
            noise.raw[1] += 2
            drawn = noise(torch.zeros(100, 300, 2), source).reshape(-1, 2)
        torch.testing.assert_close(drawn.std(0), noise.scale.detach(), rtol=0.03, atol=0)
        # Six standard errors: one of the sources has no seed.
        assert torch.all(drawn.mean(0).abs() < 6 * noise.scale / math.sqrt(len(drawn)))
        assert drawn.dtype == torch.float32

    def test_it_is_drawn_in_training_and_at_inference(self) -> None:
        noise, source = GaussianNoise(4, initial=0.3, floor=0.01).eval(), PrivateNoise()
        zeros = torch.zeros(2, 3, 4)
        assert not torch.equal(noise(zeros, source), noise(zeros, source))


class TestRepresenter:
    CONFIG = RepresenterConfig(5, dim=4, hidden=6, output_noise=0.5)

    @settings(deadline=None, max_examples=10)
    @given(st.floats(1e-3, 1e4), st.integers(0, 99))
    def test_the_representation_lies_in_the_unit_ball_ahead_of_its_noise(self, scale: float, seed: int) -> None:
        torch.manual_seed(seed)
        representer = Representer(self.CONFIG).eval()
        with torch.no_grad():
            representer.output.weight.mul_(scale)
            inputs = scale * padded(5, 0.0)
            for shown in (representer.mean(inputs, LENGTHS, PrivateNoise()), representer.noise_free(inputs, LENGTHS)):
                assert shown.shape == (4, 6, 4)
                assert shown.norm(dim=-1).max() <= 1 + 1e-6

    @torch.no_grad()
    def test_its_mean_is_that_of_noisy_word_vectors(self) -> None:
        representer, inputs = Representer(RepresenterConfig(5, dim=4, hidden=6, input_noise=0.3)).eval(), padded(5, 0.0)
        drawn = torch.empty_like(inputs).normal_(generator=torch.Generator().manual_seed(3))
        shown = representer.mean(inputs, LENGTHS, torch.Generator().manual_seed(3))
        noisy = representer.noise_free(inputs + 0.3 * drawn, LENGTHS)
        inside = torch.arange(6)[None, :] < LENGTHS[:, None]
        torch.testing.assert_close(shown[inside], noisy[inside], atol=1e-2, rtol=0)
        assert (shown - representer.noise_free(inputs, LENGTHS))[inside].abs().max() > 0.05

    def test_what_lies_inside_the_ball_stays(self) -> None:
        vectors = torch.tensor([[0.3, 0.4], [3.0, 4.0], [0.0, 0.0]])
        torch.testing.assert_close(clip_to_ball(vectors), torch.tensor([[0.3, 0.4], [0.6, 0.8], [0.0, 0.0]]))

    @torch.no_grad()
    def test_no_representation_exceeds_the_value_bound(self) -> None:
        representer = Representer(self.CONFIG).eval()
        representer.output.weight.mul_(100)
        inputs = torch.randn(200, 50, 5)
        lengths = torch.full((200,), 50)
        norms = representer(inputs, lengths, PrivateNoise()).norm(dim=-1)
        assert norms.max() <= representer.value_bound
        # And the bound is not idle: noise alone exceeds the unit ball.
        assert norms.max() > 1.5
        assert representer.value_bound == pytest.approx(1 + 0.5 * (math.sqrt(4) + 8), rel=1e-5)

    @torch.no_grad()
    def test_normalising_comes_after_the_noise_and_changes_nothing_that_the_noise_proves(self) -> None:
        plain, normalised = (
            Representer(RepresenterConfig(5, dim=4, hidden=6, output_noise=0.5, normalised=switch)).eval()
            for switch in (0, 1)
        )
        normalised.load_state_dict(plain.state_dict())
        plain.output.weight.mul_(100)
        normalised.output.weight.mul_(100)
        inputs = padded(5, 0.0)

        def source() -> torch.Generator:
            return torch.Generator().manual_seed(3)

        # Ahead of the noise both lie in the unit ball, behind it the one is a function of the other: post-processing.
        torch.testing.assert_close(normalised.mean(inputs, LENGTHS, source()), plain.mean(inputs, LENGTHS, source()))
        assert normalised.mean(inputs, LENGTHS, source()).norm(dim=-1).max() <= 1 + 1e-6
        assert normalised.noise_scales() == plain.noise_scales()
        shown, before = normalised(inputs, LENGTHS, source()), plain(inputs, LENGTHS, source())
        torch.testing.assert_close(shown, before / before.norm(dim=-1, keepdim=True))
        inside = torch.arange(6)[None, :] < LENGTHS[:, None]
        for factor in (1.0, 3.0):
            factors = torch.full((int(LENGTHS.sum()),), factor)
            laid = normalised.end_to_end_rehearsed(inputs[inside], LENGTHS, source(), factors)
            other = plain.end_to_end_rehearsed(inputs[inside], LENGTHS, source(), factors)
            torch.testing.assert_close(laid, other / other.norm(dim=-1, keepdim=True))
            assert laid.half().float().norm(dim=-1).max() <= normalised.raised_value_bound(factor)
        clean = normalised.noise_free(inputs, LENGTHS)[inside]
        torch.testing.assert_close(clean.norm(dim=-1), torch.ones(len(clean)))
        torch.testing.assert_close(normalised.end_to_end_noise_free(inputs[inside], LENGTHS), clean, atol=2e-2, rtol=0)

    @torch.no_grad()
    def test_noise_is_fresh_with_every_call_and_decided_by_its_source_alone(self) -> None:
        representer, inputs = Representer(self.CONFIG).eval(), padded(5, 0.0)
        source = torch.Generator().manual_seed(3)
        first, second = (representer(inputs, LENGTHS, source) for _ in range(2))
        assert not torch.equal(first, second)
        again = representer(inputs, LENGTHS, torch.Generator().manual_seed(3))
        assert torch.equal(first, again)
        assert torch.equal(representer.noise_free(inputs, LENGTHS), representer.noise_free(inputs, LENGTHS))

    @torch.no_grad()
    def test_its_mean_is_that_of_word_vectors_under_input_noise_and_has_no_output_noise(self) -> None:
        representer, inputs = Representer(self.CONFIG).eval(), padded(5, 0.0)
        first, again = (representer.mean(inputs, LENGTHS, torch.Generator().manual_seed(3)) for _ in range(2))
        noisy = representer.input_noise(inputs, torch.Generator().manual_seed(3))
        assert not torch.equal(noisy, inputs)
        assert torch.equal(first, again)
        assert torch.equal(first, representer.noise_free(noisy, LENGTHS))
        assert not torch.equal(first, representer.noise_free(inputs, LENGTHS))
        assert not torch.equal(first, representer.mean(inputs, LENGTHS, torch.Generator().manual_seed(4)))

    @torch.no_grad()
    def test_sentences_laid_end_to_end_get_the_same_mean_and_as_much_noise(self) -> None:
        representer, inputs = Representer(self.CONFIG).eval(), padded(5, 0.0)
        inside = torch.arange(6)[None, :] < LENGTHS[:, None]
        mean = representer.noise_free(inputs, LENGTHS)[inside]
        clean = representer.end_to_end_noise_free(inputs[inside], LENGTHS)
        torch.testing.assert_close(clean, mean, atol=2e-2, rtol=0)
        source = PrivateNoise()
        away = torch.stack([representer.end_to_end(inputs[inside], LENGTHS, source) - mean for _ in range(1000)])
        torch.testing.assert_close(away.std(0), torch.full_like(mean, 0.5), rtol=0.2, atol=0)

    def test_the_published_scales_are_those_in_use(self) -> None:
        scales = Representer(self.CONFIG).noise_scales()
        assert scales["input"] == pytest.approx([0.02] * 5, rel=1e-4)
        assert scales["output"] == pytest.approx([0.5] * 4, rel=1e-4)

    @pytest.mark.parametrize(
        "setting",
        [
            {"inputs": 0},
            {"dim": 0},
            {"hidden": -1},
            {"noise_floor": 0.0},
            {"noise_floor": 0.03},
            {"output_noise": 0.001},
            {"noise_floor": math.nan},
            {"input_noise": math.nan},
            {"normalised": 2},
        ],
    )
    def test_a_shape_that_cannot_work_is_refused(self, setting: dict[str, float]) -> None:
        with pytest.raises(ConfigurationError):
            RepresenterConfig(**({"inputs": 5} | setting))  # type: ignore[arg-type]


class TestAdversaries:
    def test_each_decides_once_a_sentence_whatever_the_padding(self, tolerance: float) -> None:
        first, second = InputAdversary(5, 4, 6), RepresentationAdversary(4, 6)
        said = []
        for fill in (0.0, 50.0):
            vectors, shown, again = padded(5, fill), padded(4, fill), padded(4, -fill)
            said.append((first(vectors, shown, LENGTHS), second(shown, again, LENGTHS)))
        for one, other in zip(*said, strict=True):
            assert one.shape == (4,)
            torch.testing.assert_close(one, other, atol=tolerance, rtol=0)

    def test_each_decides_by_all_that_it_holds(self) -> None:
        vectors, shown, again = padded(5, 0.0), padded(4, 0.0), padded(4, 0.0) + 0.5
        for adversary, held, looked in (
            (InputAdversary(5, 4, 6), vectors, shown),
            (RepresentationAdversary(4, 6), again, shown),
        ):
            said = adversary(held, looked, LENGTHS)
            assert (adversary(held.flip(2), looked, LENGTHS) != said).all()
            assert (adversary(held, looked.flip(2), LENGTHS) != said).all()

    def test_t2_holds_both_looks_and_their_cosine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        adversary = RepresentationAdversary(4, 6)
        shown, again = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
        held: list[torch.Tensor] = []
        last_states = adversary.encoder.last_states
        monkeypatch.setattr(
            adversary.encoder, "last_states", lambda joint, lengths: held.append(joint) or last_states(joint, lengths)
        )
        adversary(shown, again, torch.tensor([3, 2]))
        one, other = shown.numpy(), again.numpy()
        cosine = (one * other).sum(2) / np.sqrt((one**2).sum(2) * (other**2).sum(2))
        np.testing.assert_allclose(held[0].numpy(), np.concatenate([one, other, cosine[:, :, None]], 2), atol=1e-6)

    def test_a_representation_of_zeros_gives_a_finite_decision(self) -> None:
        zeros = torch.zeros(4, 6, 4)
        assert torch.isfinite(RepresentationAdversary(4, 6)(zeros, zeros, LENGTHS)).all()
