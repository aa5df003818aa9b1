"""The shape of a transformer tagger, in numbers; the defaults are those of BERT's base, and the settings those of the paper.

Tchouka et al. 2023, section 3.3.3, states a dropout of 0.1 and, as what its search found, at most 128 pieces at a time. How it
trains (20 epochs, 64 sentences a step, AdamW at 1e-4) is `shared.training.fine_tuning.recipe.RECIPE`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.errors import ConfigurationError
from shared.models.storage import MOST
from shared.taggers.tagger import TaggerConfig

ARCHITECTURES = ("bert", "roberta", "camembert", "xlm-roberta", "distilbert", "electra")
"""The networks that can be had, by the name that a checkpoint's config.json gives."""
ACTIVATIONS = ("gelu", "gelu_new", "relu")
MOST_WORD_PIECES = 16
"""Of one word; what is behind them is not looked at, and only the first is labelled."""
_MOST_VOCABULARY = 1 << 19
_MOST_LAYERS = 48
_MOST_HIDDEN = 2048


@dataclass(frozen=True)
class TransformerConfig(TaggerConfig):
    """Shape and settings.

    Args:
        inputs, tags: as in TaggerConfig; what stands before the tagger is not asked, since it reads the words.
        architecture: index into ARCHITECTURES.
        vocabulary: rows of the table of pieces.
        embedding: numbers of a row; as many as `hidden` but for ELECTRA.
        hidden: numbers of a piece between two layers.
        layers, heads, inner: of the network; `inner` is the size of the layer between two layers.
        positions: rows of the table of positions.
        types: rows of the table of segments; of one alone we make use.
        activation: index into ACTIVATIONS.
        epsilon: of the normalisation of layers.
        begin, end, padding: numbers of the pieces that begin and end a window and fill it up.
        window: pieces that are read at a time, with those that begin and end it.
        overlap: pieces, at least, that a window of a long sentence shares with the one before it.
        dropout: everywhere in the network, and ahead of the output layer.
        crf: 1 where tags are scored as a sequence by our CRF, 0 for the paper's cross-entropy at every token.
    """

    architecture: int = 0
    vocabulary: int = field(default=30_522, metadata={MOST: _MOST_VOCABULARY})
    embedding: int = 768
    hidden: int = 768
    layers: int = 12
    heads: int = 12
    inner: int = 3072
    positions: int = 512
    types: int = 2
    activation: int = 0
    epsilon: float = 1e-12
    begin: int = field(default=2, metadata={MOST: _MOST_VOCABULARY})
    end: int = field(default=3, metadata={MOST: _MOST_VOCABULARY})
    padding: int = field(default=0, metadata={MOST: _MOST_VOCABULARY})
    window: int = 128
    overlap: int = 32
    dropout: float = 0.1
    crf: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_network()
        if not 2 + MOST_WORD_PIECES <= self.window <= self.most_window:
            raise ConfigurationError(
                f"transformer: expected a window of {2 + MOST_WORD_PIECES} to {self.most_window} pieces, got {self.window}"
            )
        # More would read every piece of a long sentence again and again.
        if not 0 <= self.overlap <= self.room // 2:
            raise ConfigurationError(
                f"transformer: expected an overlap of 0 to {self.room // 2} pieces, got {self.overlap}"
            )
        if not 0 <= self.dropout < 1 or self.crf not in (0, 1):
            raise ConfigurationError(
                f"transformer: expected dropout in [0, 1) and a CRF of 0 or 1, got {self.dropout}, {self.crf}"
            )

    def _check_network(self) -> None:
        sizes = (self.embedding, self.inner, self.positions, self.types, self.vocabulary)
        if min(sizes) < 1 or not 1 <= self.layers <= _MOST_LAYERS or not 1 <= self.hidden <= _MOST_HIDDEN:
            raise ConfigurationError(
                f"transformer: expected sizes of at least 1, at most {_MOST_LAYERS} layers and {_MOST_HIDDEN} hidden units, got others"
            )
        if self.heads < 1 or self.hidden % self.heads or not 0 < self.epsilon < 1:
            raise ConfigurationError(
                f"transformer: expected hidden units that {self.heads} heads share evenly and an epsilon in (0, 1), got {self.hidden}, "
                f"{self.epsilon}"
            )
        if not 0 <= self.architecture < len(ARCHITECTURES) or not 0 <= self.activation < len(ACTIVATIONS):
            raise ConfigurationError(
                "transformer: expected an architecture and an activation that are known, got others"
            )
        if self.embedding != self.hidden and self.named != "electra":
            raise ConfigurationError(
                f"transformer: expected embeddings of {self.hidden} numbers, as its layers have, got {self.embedding}"
            )
        if not all(0 <= piece < self.vocabulary for piece in (self.begin, self.end, self.padding)):
            raise ConfigurationError(
                f"transformer: expected pieces below {self.vocabulary} to begin, end and fill a window, got others"
            )

    @property
    def named(self) -> str:
        """The architecture by its name."""
        return ARCHITECTURES[self.architecture]

    @property
    def most_window(self) -> int:
        """Pieces that the network has positions for."""
        # RoBERTa counts positions from behind that of padding.
        counted_late = "roberta" in self.named or self.named == "camembert"
        return self.positions - (self.padding + 1 if counted_late else 0)

    @property
    def room(self) -> int:
        """Pieces of words that a window holds."""
        return self.window - 2
