"""The difference of two shares: what does a second share of a hospital tell, once its new notes were added?

The attacker holds both shares, and asks

- which sentences of the first stand in the second: were there any, what is missing or new would point to notes, and a sentence whose
  labels were corrected to what was forgotten in it. A sentence may recur by chance, for notes repeat each other; so the baseline is
  what recurs in as many notes that have nothing to do with them, on average over several sets. Behind noise no row comes twice: there a sentence recurs where noise
  explains how far its rows are from those of a sentence of the second;
- which sentences of the second, all of whose notes are new, are of one note. Lines that notes repeat are joined no better than by chance,
  and have left with the first; so it learns on second shares, too: each half of the public notes is sifted of what left with the other.

The second share holds what a hospital lets leave: notes that have not left, without the sentences whose words have left with others.
That its client does so is shown by the client's own tests, and by `difference_findings` on shares that it has made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.joining.joined import Joined, JoiningSettings, halves, join_shares
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.reassembly.clinical import clinical_rows
from shared.privacy.reassembly.recurrence import recurring, recurring_behind_noise
from shared.privacy.reassembly.shares import OwnedSentences, Sieve, shares_of
from shared.privacy.statistics.finding import Finding, proportion
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.letters import only_letters

ATTACK = "difference"
# An audit of before asked for the sentence nearest to one of new notes as they are, under another name.
WITHIN = "nearest sentence of the second share is of the same note"
# Sets of unrelated notes, at most.
_SETS = 8
_KNOWLEDGE = "two shares of one hospital, the second without what left with the first; release"


class Difference(Attack[JoiningSettings]):
    """What two shares of a hospital tell together."""

    name = ATTACK
    key = "difference"
    quick = (JoiningSettings(shares=2, public_shares=2),)
    full = (JoiningSettings(),)
    finds = (ATTACK,)

    def run(self, scene: Scene, settings: JoiningSettings) -> list[Finding]:
        """See `difference`."""
        return difference(scene.encoder, scene.material.known, scene.material.target, settings)


def difference(
    encoder: SharingEncoder, public: Sequence[Document], attacked: Sequence[Document], settings: JoiningSettings
) -> list[Finding]:
    """Attack two shares of half of the attacked notes each.

    Args:
        encoder: the release.
        public: labelled notes that the attacker has.
        attacked: of one hospital.
        settings: how many notes the attacked shares of the second question have. Where half of the attacked notes are too few for
            one, all of them are new in it, and public notes have left before.

    Returns:
        how many sentences of the first share recur in the second, clinical ones and all; and how often the sentence nearest to one of
        the second is of the same note.

    Raises:
        ConfigurationError: there are too few notes.
    """
    rng = np.random.default_rng((settings.seed, 3))
    order = rng.permutation(len(attacked)).tolist()
    half = len(order) // 2
    first, second = ([attacked[index] for index in part] for part in (order[:half], order[half:]))
    others = _sets([public[index] for index in rng.permutation(len(public)).tolist()], len(second))
    left = tokenised_corpus(first, encoder.scheme)
    noise = torch.Generator().manual_seed(int(rng.integers(2**31)))
    earlier = draw_share(encoder, left, noise)
    later, *unrelated = (
        draw_share(encoder, sift(tokenised_corpus(notes, encoder.scheme), left), noise) for notes in (second, *others)
    )
    again = None
    if encoder.gaussian_noise is not None:
        again = draw_share(encoder, sift(tokenised_corpus(others[0], encoder.scheme), left), noise)
    joined = _join_second_shares(encoder, public, first, second, settings)
    return [*recurrence_findings(earlier, later, unrelated, settings, again), joined.nearest(ATTACK, WITHIN)]


def _join_second_shares(
    encoder: SharingEncoder,
    public: Sequence[Document],
    first: Sequence[Document],
    second: Sequence[Document],
    settings: JoiningSettings,
) -> Joined:
    """Learn on second shares of public notes, and draw those that are attacked.

    Raises:
        ConfigurationError: either side has too few notes of which two sentences are left.
    """
    rng = np.random.default_rng(settings.seed)

    def shares(new: Sequence[Document], left: Sequence[Document], most: int) -> list[OwnedSentences]:
        sieve = _sieve(tokenised_corpus(left, encoder.scheme))
        return shares_of(encoder, new, all_rows, settings.notes, most, rng, sieve)

    one, other = halves(public, rng)
    learning, choosing = shares(one, other, settings.public_shares), shares(other, one, settings.public_shares)
    whose, found = "attacked", shares(second, first, settings.shares)
    if not found or found[0].notes.max() + 1 < settings.notes:
        whose, found = "public", shares([*first, *second], public, settings.shares)
    joined = join_shares(learning, choosing, found, settings)
    return replace(joined, knowledge=f"{joined.knowledge}; without what left with {whose} notes")


def _sets(notes: list[Document], size: int) -> list[list[Document]]:
    """As many notes as another share has, as often as there are; what recurs in one such set by chance may be none, or much."""
    return [notes[first : first + size] for first in range(0, max(1, len(notes) - size + 1), size)][:_SETS]


def sift(sentences: TokenisedSentences, left: TokenisedSentences) -> TokenisedSentences:
    """Without the sentences whose words have left before: what a hospital lets through of new notes."""
    return _sieve(left)(sentences)


def _sieve(left: TokenisedSentences) -> Sieve:
    """The same for the sentences of one note after another."""
    # A hospital knows a sentence by its letters and digits; one that has none, such as a ruled line, is of no note.
    known = {only_letters("".join(words)) for words, _ in left.split()} - {""}

    def leaving(sentences: TokenisedSentences) -> TokenisedSentences:
        return sentences.leave_out(
            np.array([only_letters("".join(words)) in known for words, _ in sentences.split()], dtype=np.bool_)
        )

    return leaving


def recurrence_findings(
    earlier: RaggedSentences,
    later: RaggedSentences,
    unrelated: Sequence[RaggedSentences],
    settings: JoiningSettings,
    again: RaggedSentences | None = None,
) -> list[Finding]:
    """How many sentences of an earlier share recur in a later one.

    Args:
        earlier: share of a hospital.
        later: share of the same hospital.
        unrelated: shares of about as many notes each that have nothing to do with the earlier ones; what recurs in one on average is chance.
        settings: which sentences are clinical, and the seed.
        again: another share of the first of the unrelated notes, in the same order, where noise lies over the rows; None where equal words bring
            equal rows.

    Raises:
        ConfigurationError: the earlier share has no clinical sentence.
    """
    recurs, *others = (
        recurring(earlier, other) if again is None else recurring_behind_noise(earlier, other, (unrelated[0], again))
        for other in (later, *unrelated)
    )
    by_chance = np.mean(others, axis=0)
    clinical = np.zeros(earlier.sentences, dtype=np.bool_)
    clinical[clinical_rows(earlier, settings.shortest, settings.most_phi)] = True
    found = []
    for name, rows in (("clinical", clinical), ("all", np.ones_like(clinical))):
        if not rows.any():
            raise ConfigurationError(
                "difference: expected clinical sentences in the earlier share, got none; give more notes"
            )
        found.append(
            proportion(
                ATTACK,
                f"{name} sentences of the earlier share recur in the later one",
                int(recurs[rows].sum()),
                int(rows.sum()),
                float(by_chance[rows].mean()),
                f"{_KNOWLEDGE}; surrogates are passed over{'' if again is None else ', and what noise explains'}",
                settings.seed,
            )
        )
    return found


def all_rows(shown: RaggedSentences) -> NDArray[np.int64]:
    """Every sentence."""
    return np.arange(shown.sentences)


DIFFERENCE = Difference()
