"""Token classification by a transformer (Tchouka et al. 2023, section 3.3): a layer of tags on the first piece of every word.

It reads words, so it is shown them: those of notes in-house, and of shares those that are drawn where codes are read (`DrawnWords`). What
a batch holds in the place of word vectors are the numbers of the pieces of every word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import ConfigurationError, ModelError
from shared.labels import UNKNOWN_TAG
from shared.models.crf import ConditionalRandomField
from shared.models.storage import load_model
from shared.sentences.ragged import Batch, RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.tagger import Represent, Tagger
from shared.taggers.transformer.config import MOST_WORD_PIECES, TransformerConfig
from shared.taggers.transformer.network import build_network
from shared.taggers.transformer.pieces import Pieces
from shared.taggers.transformer.windows import cut_batch
from shared.text.casing import casing_classes

# Pieces of windows that go through the network together.
_CELLS = 1 << 14


class Transformer(Tagger):
    """Words in, BIO tags out.

    Args:
        config: its shape.
        pieces: what it reads words by; None for single characters.

    Raises:
        ModelError: a piece that its table has no row for.
        ConfigurationError: the extra `transformers` is not installed.
    """

    kind = "transformer"
    config_type = TransformerConfig
    config: TransformerConfig
    reads_words = True
    optimizer = "adamw"
    extra = "transformers"

    def __init__(self, config: TransformerConfig, pieces: Pieces | None = None) -> None:
        super().__init__(config)
        self.pieces = pieces or Pieces.of_characters()
        if self.pieces.size > config.vocabulary:
            raise ModelError(
                f"transformer: expected at most {config.vocabulary} pieces, as its table has rows, got {self.pieces.size}"
            )
        self.network = build_network(config)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, config.tags)
        self.crf = ConditionalRandomField(config.tags)
        if not config.crf:
            # What BIO allows is still its to say; of what is allowed it prefers nothing, and no loss teaches it anything.
            for weight in self.crf.parameters():
                nn.init.zeros_(weight)

    def inputs(self, chunk: TokenisedSentences, represent: Represent) -> RaggedSentences:
        """The pieces of the words; see Tagger. What stands before it is not asked."""
        return self.read(chunk)

    def read(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What it is given of sentences: the pieces of each different word once, and which word every token is."""
        words, ids = chunk.distinct_words()
        return RaggedSentences(self.pieces.rows(words), casing_classes(chunk.words), chunk.tags, chunk.lengths, ids)

    def scores(self, batch: Batch) -> Tensor:
        """The emissions of the CRF, or the logits of the paper; see Tagger.

        Raises:
            ConfigurationError: a batch of something else than pieces of words.
        """
        config = self.config
        if batch.inputs.shape[2] != MOST_WORD_PIECES:
            raise ConfigurationError(
                f"transformer: expected {MOST_WORD_PIECES} pieces for a word, got {batch.inputs.shape[2]} numbers; give it what it reads of words"
            )
        pieces = batch.inputs.detach().long().numpy()
        cut = cut_batch(
            pieces, batch.lengths.numpy(), config.room, config.overlap, (config.begin, config.end, config.padding)
        )
        ids, filled = torch.from_numpy(cut.pieces), torch.from_numpy(cut.filled)
        states = self._read(ids, filled)
        first = states[torch.from_numpy(cut.window), torch.from_numpy(cut.place)]
        scores: Tensor = self.output(self.dropout(first))
        return scores

    def _read(self, ids: Tensor, filled: Tensor) -> Tensor:
        """What the network makes of windows, so many at a time as its memory does not mind: `[windows, width, hidden]`."""
        some = max(1, _CELLS // ids.shape[1])
        read = [
            self.network(input_ids=one, attention_mask=mask.long()).last_hidden_state
            for one, mask in zip(torch.split(ids, some), torch.split(filled, some), strict=True)
        ]
        return torch.cat(read)

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy over the tokens of each sentence, or the CRF's negative log-likelihood, `[batch]`, in nats.

        Of a token whose tag is not known nothing is learnt.
        """
        scores, unknown = self.scores(batch), batch.tags == UNKNOWN_TAG
        if self.config.crf:
            return self.crf.loss_of_known(scores, batch.tags, batch.lengths)
        inside = torch.arange(scores.shape[1])[None, :] < batch.lengths[:, None]
        tags = batch.tags.masked_fill(unknown, 0)
        each = functional.cross_entropy(scores.transpose(1, 2), tags, reduction="none")
        return (each * (inside & ~unknown)).sum(1)

    @torch.no_grad()
    def decode(self, batch: Batch) -> Tensor:
        """By Viterbi; see Tagger."""
        return self.crf.decode(self.scores(batch), batch.lengths)

    @torch.no_grad()
    def marginals(self, batch: Batch) -> Tensor:
        """By forward-backward; see Tagger."""
        return self.crf.marginals(self.scores(batch), batch.lengths)

    @torch.no_grad()
    def draw(self, batch: Batch, generator: np.random.Generator) -> Tensor:
        """See Tagger."""
        return self.crf.draw(self.scores(batch), batch.lengths, generator)

    @torch.no_grad()
    def tags_and_marginals(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Both from the same scores, which cost the most; see Tagger."""
        scores = self.scores(batch)
        return self.crf.decode(scores, batch.lengths), self.crf.marginals(scores, batch.lengths)

    def save_words(self, folder: Path) -> None:
        """The pieces; see Tagger."""
        self.pieces.save(folder)

    @classmethod
    def load(cls, folder: Path, description: dict[str, object]) -> Self:
        """See Tagger."""
        pieces = Pieces.load(folder)
        return load_model(folder, "head", description, cls.config_type, lambda config: cls(config, pieces))
