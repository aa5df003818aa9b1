from __future__ import annotations

import numpy as np
import torch

from bench.privacy.joining.difference import own_sentences
from shared.privacy.material.sharing import draw_share
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests.shared.privacy.attacked import SCHEME, Surrogates, notes


def test_sentences_of_a_share_are_known_by_all_but_their_surrogates_and_others_are_counted() -> None:
    pieces = [tokenised_corpus([one], SCHEME) for one in notes(8, seed=1)]
    earlier = tokenised_corpus(notes(2, seed=2), SCHEME)
    share = draw_share(
        Surrogates(), TokenisedSentences.concatenate([*pieces, earlier]), torch.Generator().manual_seed(5)
    )
    order = np.random.default_rng(0).permutation(share.sentences)
    owned, unexplained = own_sentences(share.select(order), pieces, Surrogates())
    truth = np.repeat(np.arange(10), 2)[order]
    assert unexplained == earlier.sentences == 4
    assert owned.notes.tolist() == truth[truth < 8].tolist()
