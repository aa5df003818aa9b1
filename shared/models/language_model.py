"""A small language model in both directions, whose states tell what a word is where it stands (Peters et al. 2018, "ELMo").

A word comes in by its signs, through convolutions of several widths, so that no word is unknown and no vocabulary travels. One LSTM reads each
direction; the state behind a word has seen the word and what comes before it, or behind it. What is predicted from the states is needed for
learning alone, see `shared.training.language`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from shared.errors import ConfigurationError, ModelError
from shared.models.lstm import BiLSTM
from shared.models.storage import load_model, read_description, save_model
from shared.text.spelling import SIGNS

_SIGN_DIM = 16
_WIDTHS, _FILTERS = (1, 2, 3, 4, 5), 32
# Words a step of the convolutions: many words make wide copies.
_WORDS = 4096


@dataclass(frozen=True)
class LanguageModelConfig:
    """The size of a language model.

    Args:
        units: of a word, and of each direction.
    """

    units: int = 128

    def __post_init__(self) -> None:
        if self.units < 1:
            raise ConfigurationError(f"language model: expected units of at least 1, got {self.units}")


class LanguageModel(nn.Module):
    """Words by their signs in, what they are in their sentence out."""

    kind: ClassVar[str] = "signs-lstm"
    """Its name in files."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        self.signs = nn.Embedding(SIGNS, _SIGN_DIM, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(_SIGN_DIM, _FILTERS, width) for width in _WIDTHS)
        self.word = nn.Linear(len(_WIDTHS) * _FILTERS, config.units)
        self.layer = BiLSTM(config.units, config.units)

    @property
    def dim(self) -> int:
        """Numbers of a word in its sentence."""
        return 2 * self.config.units

    def words(self, spelled: Tensor) -> Tensor:
        """Words by themselves, float32 `[words, units]`.

        Args:
            spelled: `[words, LONGEST]`, see `shared.text.spelling`.
        """
        return torch.cat([self._words(part) for part in torch.split(spelled, _WORDS)])

    def _words(self, spelled: Tensor) -> Tensor:
        signs = self.signs(spelled.long()).transpose(1, 2)
        found = [convolution(signs).amax(2) for convolution in self.convolutions]
        return torch.tanh(self.word(torch.relu(torch.cat(found, 1))))

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """States of both directions, float32 `[batch, steps, 2 * units]`; on padding they mean nothing.

        Args:
            words: float32 `[batch, steps, units]`.
            lengths: int64 `[batch]`.
        """
        states: Tensor = self.layer(words, lengths)
        return states

    def contexts(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Words in their sentences: the mean of both layers (Khin et al. 2018, section 3); shapes as in `states`."""
        return (torch.cat([words, words], 2) + self.states(words, lengths)) / 2


def save_language_model(model: LanguageModel, folder: Path) -> None:
    """Write language.safetensors and language.json into a folder."""
    save_model(model, asdict(model.config) | {"kind": model.kind}, folder, "language")


def load_language_model(folder: Path) -> LanguageModel:
    """The frozen language model of a folder.

    Raises:
        ModelError: a file is missing or damaged, or the two do not belong together.
    """
    description = read_description(folder, "language")
    if description.pop("kind", None) != LanguageModel.kind:
        raise ModelError(
            "language.json: expected a kind of language model that this version knows; update deid-commons"
        )
    return load_model(folder, "language", description, LanguageModelConfig, LanguageModel)
