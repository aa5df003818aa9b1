"""The tagger of Khin et al. 2018: a BiLSTM over the signs of a word, its part of speech and casing, word vectors, and words in their context.

Below a two-layer BiLSTM and a CRF. Every input can be left out, as in the paper's ablation (its Figure 2). The words that it reads are a hospital's own in its
house, and those that a share may have been made of elsewhere (`Decoding.draw_words`): it is told nothing of a share that is not public.

The language model, where there is one, is a part of the head that does not learn: it travels in the same file, under the same checks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import ConfigurationError, ModelError
from shared.models.crf import ConditionalRandomField
from shared.models.language_model import LanguageModel, LanguageModelConfig
from shared.models.lstm import BiLSTM, LockedDropout
from shared.sentences.ragged import Batch, RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.crf_tagger import CRFTagger
from shared.taggers.tagger import Represent, TaggerConfig
from shared.text.casing import CASING_CLASSES
from shared.text.parts_of_speech import LANGUAGES, PARTS, parts_of_speech
from shared.text.spelling import LONGEST, SIGNS, distinct_spellings, spellings

_SIGN_DIM = 25


@dataclass(frozen=True)
class Khin2018Config(TaggerConfig):
    """Size and regularisation of a tagger, and which inputs it has; sizes that the paper does not give are those of our other tagger.

    Args:
        inputs, tags: as in TaggerConfig.
        hidden: units a direction in both layers.
        characters: units a direction over the signs of a word; 0 leaves them out.
        vectors: whether it gets what stands before it, 0 or 1.
        context: units of its language model; 0 for none.
        parts: whether it gets the part of speech, 0 or 1.
        casing: whether it gets the casing, 0 or 1.
        language: of the notes, for the parts of speech: a place in LANGUAGES.
        dropout: on what each layer gives, and in its recurrence.
        variational: 1 for one mask a sentence; 0 for another one at every token, and none in the recurrence.
    """

    hidden: int = 128
    characters: int = 25
    vectors: int = 1
    context: int = 0
    parts: int = 1
    casing: int = 1
    language: int = 0
    dropout: float = 0.5
    variational: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden < 1 or self.characters < 0 or self.context < 0:
            raise ConfigurationError("tagger: expected hidden units of at least 1, and no negative sizes")
        if not {self.vectors, self.parts, self.casing, self.variational} <= {0, 1}:
            raise ConfigurationError("tagger: expected 0 or 1 for vectors, parts, casing and variational")
        if not 0 <= self.language < len(LANGUAGES) or not 0 <= self.dropout < 1:
            raise ConfigurationError(f"tagger: expected a language below {len(LANGUAGES)} and dropout in [0, 1)")
        if self.width == 0:
            raise ConfigurationError("tagger: expected at least one input of a token, got none")

    @property
    def width(self) -> int:
        """Numbers of a token, all inputs together."""
        marks = self.parts * len(PARTS) + self.casing * len(CASING_CLASSES)
        return self.vectors * self.inputs + 2 * self.context + 2 * self.characters + marks


class Khin2018(CRFTagger):
    """Words as they are written in, BIO tags out."""

    kind = "khin2018"
    reads_words = True
    config_type = Khin2018Config
    config: Khin2018Config

    def __init__(self, config: Khin2018Config) -> None:
        super().__init__(config)
        self.language = LanguageModel(LanguageModelConfig(config.context)) if config.context else None
        if config.characters:
            self.signs = nn.Embedding(SIGNS, _SIGN_DIM, padding_idx=0)
            self.spelling = BiLSTM(_SIGN_DIM, config.characters)
        recurrent = config.dropout if config.variational else 0.0
        self.first = BiLSTM(config.width, config.hidden, recurrent)
        self.second = BiLSTM(2 * config.hidden, config.hidden, recurrent)
        self.dropout = LockedDropout(config.dropout) if config.variational else nn.Dropout(config.dropout)
        self.output = nn.Linear(2 * config.hidden, config.tags)
        self.crf = ConditionalRandomField(config.tags)
        self.requires_grad_(True)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """As torch's; but the language model learns nothing of labels, whoever asks."""
        super().requires_grad_(requires_grad)
        if self.language is not None:
            self.language.requires_grad_(False)
        return self

    def take_language_model(self, model: LanguageModel) -> None:
        """Read contexts with a language model that was trained before.

        Raises:
            ConfigurationError: it is of another size.
        """
        if self.language is None or model.config != self.language.config:
            raise ConfigurationError(
                f"tagger: expected a language model of {self.config.context} units, got one of {model.config.units}"
            )
        self.language.load_state_dict(model.state_dict())

    def inputs(self, chunk: TokenisedSentences, represent: Represent) -> RaggedSentences:
        """What stands before it makes of the sentences, and beside it the signs and the part of speech of each word; see Tagger."""
        words, ids = chunk.distinct_words()
        parts = np.zeros(chunk.tokens, dtype=np.uint8)
        if self.config.parts:
            parts = parts_of_speech(chunk.words, chunk.starts, LANGUAGES[self.config.language])
        return replace(represent(chunk), marks=np.concatenate([spellings(words)[ids], parts[:, None]], 1))

    def scores(self, batch: Batch) -> Tensor:
        """The emissions of the CRF; see Tagger.

        Raises:
            ModelError: sentences that `inputs` has not made.
        """
        hidden = self.dropout(self.first(self._tokens(batch), batch.lengths))
        hidden = self.dropout(self.second(hidden, batch.lengths))
        scores: Tensor = self.output(hidden)
        return scores

    def _tokens(self, batch: Batch) -> Tensor:
        """All inputs of each token, float32 `[batch, steps, width]`; on padding they mean nothing."""
        if batch.marks is None:
            raise ModelError(
                f"expected words for a head of the kind {self.kind}, got their vectors alone; read them with the same head"
            )
        config, found = self.config, []
        if config.vectors:
            found.append(batch.inputs[:, :, : config.inputs])
        if config.context or config.characters:
            spelled = batch.marks[:, :, :LONGEST].numpy()
            distinct, places = distinct_spellings(spelled.reshape(-1, LONGEST))
            shape = (*spelled.shape[:2], -1)
            rows, words = torch.from_numpy(places), torch.from_numpy(distinct)
            if self.language is not None:
                with torch.no_grad():
                    read = self.language.words(words)[rows].view(shape)
                    found.append(self.language.contexts(read, batch.lengths))
            if config.characters:
                found.append(self._spelled(words)[rows].view(shape))
        if config.parts:
            found.append(functional.one_hot(batch.marks[:, :, LONGEST].long(), len(PARTS)).float())
        if config.casing:
            found.append(functional.one_hot(batch.casing, len(CASING_CLASSES)).float())
        return torch.cat(found, 2)

    def _spelled(self, words: Tensor) -> Tensor:
        """Each word by its signs alone, float32 `[words, 2 * characters]`: the last states of both directions."""
        # Padding has no sign at all.
        lengths = (words > 0).sum(1).clamp(min=1)
        return self.spelling.last_states(self.signs(words.long()), lengths)
