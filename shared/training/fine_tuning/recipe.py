"""How a transformer is fine-tuned (Tchouka et al. 2023, section 3.3.3): AdamW at 1e-4, 20 epochs of 64 sentences a step, as its search found.

The paper does not say how the learning rate falls: it does as for our other taggers. The dropout of 0.1 and the 128 pieces of a window are
those of `TransformerConfig`. Whoever searches anew judges on documents of their own that nothing is trained on (`hold_out`), never on those that are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from shared.document import Document
from shared.errors import ConfigurationError
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.tagger import Tagger
from shared.taggers.transformer.transformer import Transformer
from shared.training.fine_tuning.search import Judge, Settings, Tell, strict_f1
from shared.training.tagging import TaggingConfig, train_tagger

RECIPE = TaggingConfig(epochs=20, batch=64, learning_rate=1e-4)
"""The paper's; `train_tagger` with `start` a tagger of `start_from_checkpoint`."""
_HELD_OUT = 5


def hold_out(documents: Sequence[Document], seed: int) -> tuple[list[Document], list[Document]]:
    """Documents to learn from, and a fifth, at least one, to judge by.

    Args:
        documents: at least two.
        seed: of the choice.

    Raises:
        ConfigurationError: fewer.
    """
    if len(documents) < 2:
        raise ConfigurationError(f"expected at least two documents, one of them to judge by, got {len(documents)}")
    order = np.random.default_rng(seed).permutation(len(documents)).tolist()
    held = frozenset(order[: max(1, len(documents) // _HELD_OUT)])
    learnt = [one for number, one in enumerate(documents) if number not in held]
    return learnt, [documents[number] for number in sorted(held)]


def judge_by(
    start: Callable[[int], Transformer],
    source: Callable[[Transformer], SentenceSource],
    held: TokenisedSentences,
    seed: int,
) -> Judge:
    """What a trial of `search_settings` does: fine-tunes with its settings, and is judged after every epoch.

    Args:
        start: a tagger that reads so many pieces at a time, of a checkpoint.
        source: what such a tagger learns from: its `read` of labelled notes, or `CodesInMemory` of shares.
        held: labelled sentences of the documents to judge by.
        seed: of the training.
    """

    def judge(settings: Settings, tell: Tell) -> float:
        begun = start(settings.window)
        shown, score = begun.read(held), 0.0

        def each_epoch(tagger: Tagger) -> None:
            nonlocal score
            score = strict_f1(tagger, shown, held)
            tell(score)

        recipe = replace(RECIPE, epochs=settings.epochs, batch=settings.batch, seed=seed)
        train_tagger(source(begun), begun.config.tags, recipe, start=begun, each_epoch=each_epoch)
        return score

    return judge
