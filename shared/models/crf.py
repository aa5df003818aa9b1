r"""A linear-chain conditional random field for batches of tag sequences (Lafferty et al. 2001).

The score of tags y for emissions e is  start[y_1] + sum_t e_t[y_t] + sum_t A[y_{t-1}, y_t] + end[y_n],  its negative
log-likelihood the log-sum over all tag sequences less that score.

The recursions run on max-shifted exponentials, rescaled at every step, so that one step is one [batch, tags] x
[tags, tags] product; the gradient is written down (posterior marginals less observed counts) rather than recorded
step by step. Batches are sorted by falling length, so that the sequences alive at step t are a leading slice and
padding is never computed. Where the exponentials underflow, the log-space recursion takes over.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.labels import UNKNOWN_TAG

# Far below any score, and well within float32.
_FORBIDDEN = -1e4
_DENIED = -1e4
# Near the smallest that float32 holds.
_LEAST = 1e-37


def bio_constraints(tags: int) -> tuple[Tensor, Tensor]:
    """Which tags may start a sentence and which may follow which, for tags ordered O, B-X, I-X, B-Y, I-Y...

    Returns:
        bool `[tags]`, true where a sentence may start so; bool `[tags, tags]`, true where `[i, j]` may follow.
    """
    index = torch.arange(tags)
    inside = (index > 0) & (index % 2 == 0)
    same = ((index[:, None] + 1) // 2) == ((index[None, :] + 1) // 2)
    return ~inside, ~inside[None, :] | (same & (index[:, None] > 0))


def _alive(lengths: Tensor) -> list[int]:
    """For each step, how many sequences of a batch sorted by falling length are that long."""
    counts = torch.bincount(lengths, minlength=int(lengths[0]) + 1)
    return (len(lengths) - torch.cumsum(counts, 0))[: int(lengths[0])].tolist()


class _NegativeLogLikelihood(torch.autograd.Function):
    """Negative log-likelihood per sequence, `[batch]`, with its gradient in closed form (Rabiner 1989, scaled)."""

    @staticmethod
    def forward(ctx, emissions, tags, lengths, transitions, start, end):  # type: ignore[no-untyped-def]
        batch, steps, _ = emissions.shape
        alive = _alive(lengths)
        rows = torch.arange(batch)
        last = lengths - 1
        shift = emissions.amax(2, keepdim=True)
        local = (emissions - shift).exp_().transpose(0, 1).contiguous()  # [steps, batch, tags]
        top = transitions.max()
        step = (transitions - top).exp()

        alpha = torch.zeros_like(local)
        scale = torch.ones(steps, batch, 1, dtype=emissions.dtype)
        first = local[0] * (start - start.max()).exp()
        torch.sum(first, 1, keepdim=True, out=scale[0])
        torch.div(first, scale[0], out=alpha[0])
        for t in range(1, steps):
            n = alive[t]
            current = torch.mm(alpha[t - 1, :n], step).mul_(local[t, :n])
            total = current.sum(1, keepdim=True)
            scale[t, :n] = total
            torch.div(current, total, out=alpha[t, :n])
        finish = (end - end.max()).exp()
        ending = alpha[last, rows] @ finish
        steps_taken = (lengths - 1).to(emissions.dtype)
        mask = torch.arange(steps)[None, :] < lengths[:, None]
        log_partition = (
            scale.squeeze(2).log().sum(0)
            + (shift.squeeze(2) * mask).sum(1)
            + ending.log()
            + start.max()
            + end.max()
            + steps_taken * top
        )
        path = emissions.gather(2, tags[:, :, None]).squeeze(2)
        pairs = mask[:, 1:]
        score = (
            (path * mask).sum(1)
            + start[tags[:, 0]]
            + end[tags[rows, last]]
            + (transitions[tags[:, :-1], tags[:, 1:]] * pairs).sum(1)
        )
        ctx.save_for_backward(tags, lengths, mask, local, step, alpha, scale, finish, ending)
        ctx.alive = alive
        return log_partition - score

    @staticmethod
    def backward(ctx, weight):  # type: ignore[no-untyped-def]
        tags, lengths, mask, local, step, alpha, scale, finish, ending = ctx.saved_tensors
        steps, batch, size = local.shape
        rows = torch.arange(batch)
        last = lengths - 1
        # beta[t] is scaled so that alpha[t] * beta[t] is the posterior marginal at t.
        final = finish[None, :] / ending[:, None]
        beta = torch.empty_like(local)
        ahead = torch.zeros_like(local)  # ahead[t] = local[t] * beta[t] / scale[t], what step t-1 sees of the future
        back = step.t().contiguous()
        alive = [*ctx.alive, 0]
        for t in range(steps - 1, -1, -1):
            n, longer = alive[t], alive[t + 1]
            if longer < n:
                beta[t, longer:n] = final[longer:n]
            if longer:
                torch.mm(ahead[t + 1, :longer], back, out=beta[t, :longer])
            if t:
                torch.mul(local[t, :n], beta[t, :n], out=ahead[t, :n]).div_(scale[t, :n])
        weights = weight[None, :, None]
        marginals = torch.where(mask.t()[:, :, None], alpha * beta, torch.zeros((), dtype=local.dtype)) * weights
        emission_grad = marginals.transpose(0, 1).contiguous()
        observed = (mask * weight[:, None])[:, :, None]
        emission_grad.scatter_add_(2, tags[:, :, None], -observed)

        before = (alpha[:-1] * weights).reshape(-1, size)
        transition_grad = (before.t() @ ahead[1:].reshape(-1, size)) * step
        pairs = (mask[:, 1:] * weight[:, None]).reshape(-1)
        flat = (tags[:, :-1] * size + tags[:, 1:]).reshape(-1)
        transition_grad.view(-1).index_add_(0, flat, -pairs)
        start_grad = emission_grad[:, 0].sum(0)
        end_grad = emission_grad[rows, last].sum(0)
        return emission_grad, None, None, transition_grad, start_grad, end_grad


def _log_space(
    emissions: Tensor, tags: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """The same likelihood by log-sum-exp: slower, and safe where exponentials underflow."""
    rows = torch.arange(len(lengths))
    mask = torch.arange(emissions.shape[1])[None, :] < lengths[:, None]
    alpha = start + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        moved = torch.logsumexp(alpha[:, :, None] + transitions, 1) + emissions[:, t]
        alpha = torch.where(mask[:, t, None], moved, alpha)
    path = (emissions.gather(2, tags[:, :, None]).squeeze(2) * mask).sum(1)
    steps = (transitions[tags[:, :-1], tags[:, 1:]] * mask[:, 1:]).sum(1)
    return torch.logsumexp(alpha + end, 1) - (path + steps + start[tags[:, 0]] + end[tags[rows, lengths - 1]])


def _likelihood(
    emissions: Tensor, tags: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """Negative log-likelihood, `[batch]`, by the fast recursion where it is finite."""
    arguments = (emissions, tags, lengths, transitions, start, end)
    losses: Tensor = _NegativeLogLikelihood.apply(*arguments)  # type: ignore[no-untyped-call]
    return losses if bool(torch.isfinite(losses).all()) else _log_space(*arguments)


class ConditionalRandomField(nn.Module):
    """The last layer of the tagger.

    Args:
        tags: number of tags; O first, then B and I of each category.
    """

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.may_start: Tensor
        self.may_follow: Tensor
        self.transitions = nn.Parameter(torch.zeros(tags, tags).uniform_(-0.1, 0.1))
        self.start = nn.Parameter(torch.zeros(tags).uniform_(-0.1, 0.1))
        self.end = nn.Parameter(torch.zeros(tags).uniform_(-0.1, 0.1))
        # Without memory there is nothing to compare, and torch would load its compiler for it, which takes seconds.
        without = torch.empty(tags, dtype=torch.bool), torch.empty(tags, tags, dtype=torch.bool)
        may_start, may_follow = without if self.start.is_meta else bio_constraints(tags)
        self.register_buffer("may_start", may_start, persistent=False)
        self.register_buffer("may_follow", may_follow, persistent=False)

    def negative_log_likelihood(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Loss of each sequence.

        Args:
            emissions: float32 or float64 `[batch, steps, tags]`.
            tags: int64 `[batch, steps]`; padding may hold any valid tag.
            lengths: int64 `[batch]`, each at least 1, falling, the first equal to `steps`.

        Returns:
            `[batch]`, in nats.
        """
        return _likelihood(emissions, tags, lengths, self.transitions, self.start, self.end)

    def loss_of_known(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The same where the tags of some tokens are not known: over all tags that such a token may have.

        Nothing is learnt of such a token: between neighbours that are no PHI it would drift towards their tag, all by itself.

        Args:
            emissions, lengths: as in `negative_log_likelihood`.
            tags: the same, UNKNOWN_TAG where nobody knows.
        """
        unknown = tags == UNKNOWN_TAG
        emissions = torch.where(unknown[:, :, None], emissions.detach(), emissions)
        tags = tags.masked_fill(unknown, 0)
        loss = self.negative_log_likelihood(emissions, tags, lengths)
        if bool(unknown.any()):
            # Among all sequences, less among those that agree with what is known: that of one sequence cancels.
            others = functional.one_hot(tags, emissions.shape[2]) == 0
            agreeing = emissions.masked_fill(others & ~unknown[:, :, None], _DENIED)
            loss = loss - self.negative_log_likelihood(agreeing, tags, lengths)
        return loss

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The best tag sequences that BIO allows (Viterbi).

        Only the scores are kept on the way forward; on the way back the best predecessor is looked up for the one tag
        that was taken, which costs a [batch, tags] step instead of a [batch, tags, tags] one.

        Args:
            emissions: `[batch, steps, tags]`.
            lengths: int64 `[batch]`, falling, the first equal to `steps`.

        Returns:
            int64 `[batch, steps]`, 0 (O) on padding.
        """
        batch, steps, _ = emissions.shape
        alive = _alive(lengths)
        towards = (self.transitions + _FORBIDDEN * ~self.may_follow).t().contiguous()  # [to, from]
        scores = emissions.transpose(0, 1).clone(memory_format=torch.contiguous_format)
        scores[0] += self.start + _FORBIDDEN * ~self.may_start
        for t in range(1, steps):
            n = alive[t]
            scores[t, :n] += (scores[t - 1, :n, None, :] + towards).amax(2)
        rows = torch.arange(batch)
        path = torch.zeros(steps, batch, dtype=torch.long)
        last = lengths - 1
        path[last, rows] = (scores[last, rows] + self.end).argmax(1)
        for t in range(steps - 2, -1, -1):
            n = alive[t + 1]
            path[t, :n] = (scores[t, :n] + towards[path[t + 1, :n]]).argmax(1)
        return path.t().contiguous()

    @torch.no_grad()
    def draw(self, emissions: Tensor, lengths: Tensor, generator: np.random.Generator) -> Tensor:
        """A tag sequence for each sentence, by its probability among those that BIO allows (forward filtering, backward sampling).

        Args:
            emissions, lengths: as in `decode`.
            generator: of the draw.

        Returns:
            int64 `[batch, steps]`, 0 (O) on padding.
        """
        batch, steps, tags = emissions.shape
        alive = _alive(lengths)
        allowed = self.transitions + _FORBIDDEN * ~self.may_follow
        top = allowed.max()
        step, towards = (allowed - top).exp(), allowed.t().contiguous()  # [to, from]
        scores = emissions.transpose(0, 1).clone(memory_format=torch.contiguous_format)
        scores[0] += self.start + _FORBIDDEN * ~self.may_start
        for t in range(1, steps):
            n = alive[t]
            before = scores[t - 1, :n]
            most = before.amax(1, keepdim=True)
            # The log-sum over all ways to a tag; one that nothing leads to gets a score that no draw takes.
            scores[t, :n] += ((before - most).exp() @ step).clamp_(min=_LEAST).log_() + most + top

        def taken(chances: Tensor) -> Tensor:
            # The largest after Gumbel noise is a draw by the chances that these are logarithms of.
            noise = torch.from_numpy(generator.gumbel(size=(len(chances), tags))).to(chances.dtype)
            return (chances + noise).argmax(1)

        rows = torch.arange(batch)
        path = torch.zeros(steps, batch, dtype=torch.long)
        last = lengths - 1
        path[last, rows] = taken(scores[last, rows] + self.end)
        for t in range(steps - 2, -1, -1):
            n = alive[t + 1]
            path[t, :n] = taken(scores[t, :n] + towards[path[t + 1, :n]])
        return path.t().contiguous()

    @torch.enable_grad()
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Probability of each tag at each step, among the sequences that BIO allows: those that `decode` chooses from.

        The gradient of the log-partition by an emission is the marginal of its tag (Eisner 2016), so the backward pass of
        the likelihood is the forward-backward algorithm. It is exact; of the likelihood's gradient, what was observed is
        taken away again.

        Args:
            emissions: `[batch, steps, tags]`.
            lengths: int64 `[batch]`, falling, the first equal to `steps`.

        Returns:
            like the emissions, zero on padding.
        """
        wanted = emissions.detach().clone().requires_grad_()
        transitions = self.transitions.detach() + _FORBIDDEN * ~self.may_follow
        start, end = self.start.detach() + _FORBIDDEN * ~self.may_start, self.end.detach()
        # O is allowed everywhere, so it can be the observed tag of every step.
        observed = torch.zeros(emissions.shape[:2], dtype=torch.int64)
        losses = _likelihood(wanted, observed, lengths, transitions, start, end)
        (gradient,) = torch.autograd.grad(losses.sum(), wanted)
        inside = torch.arange(emissions.shape[1])[None, :] < lengths[:, None]
        gradient[:, :, 0] += inside
        return gradient.clamp(0, 1)
