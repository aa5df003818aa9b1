"""A fastText training of gensim that is kept on disk after each epoch, and goes on there in the same bits.

gensim runs all epochs in one call, with a rate that falls over all of them. So a training that goes on asks for all of them, too, and
passes over those that are done; what an epoch changes is read before and written after it: the vectors of words and n-grams, the
weights of the output layer, and the generator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import FastText
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from foundation.files import write_bytes
from shared.errors import ConfigurationError

_FACTS, _KEYS = "facts", "generator keys"


class EpochwiseFastText(FastText):  # type: ignore[misc]
    """FastText that remembers how many epochs are done; `keep_epochs` comes after its vocabulary was built."""

    epochs_done = 0
    _path: Path | None = None
    _told: Mapping[str, object] = {}

    def keep_epochs(self, path: Path, told: Mapping[str, object]) -> None:
        """Keep every epoch from now on; those that are kept already are taken up.

        Args:
            path: of the file.
            told: what tells this training from others.

        Raises:
            ConfigurationError: the file is damaged, or of another training.
        """
        self._path, self._told = path, told
        if not path.exists():
            return
        try:
            with safe_open(path, framework="np") as file:
                facts = json.loads(file.metadata()[_FACTS])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{path.name}: expected a training to go on with; begin anew") from error
        if facts["told"] != json.loads(json.dumps(told)):
            raise ConfigurationError(
                f"{path.name}: expected this training, got another one, of other texts or settings; begin anew"
            )
        for name, kept in self._weights().items():
            kept[:] = arrays[name]
        self.random.set_state((facts["generator"][0], arrays[_KEYS], *facts["generator"][1:]))
        self.epochs_done = facts["epochs"]

    def _train_epoch(self, *given: Any, cur_epoch: int = 0, **named: Any) -> tuple[int, int, int]:
        """As gensim's, for an epoch that is not done yet."""
        if cur_epoch < self.epochs_done:
            return 0, 0, 0
        counts: tuple[int, int, int] = super()._train_epoch(*given, cur_epoch=cur_epoch, **named)
        self.epochs_done = cur_epoch + 1
        if self._path is not None:
            name, keys, *rest = self.random.get_state()
            facts = {"told": self._told, "generator": [name, *rest], "epochs": self.epochs_done}
            write_bytes(self._path, save({**self._weights(), _KEYS: keys}, {_FACTS: json.dumps(facts)}))
        return counts

    def _weights(self) -> dict[str, NDArray[np.float32]]:
        return {"words": self.wv.vectors_vocab, "n-grams": self.wv.vectors_ngrams, "output": self.syn1neg}
