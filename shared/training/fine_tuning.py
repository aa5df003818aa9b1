"""How a transformer is fine-tuned (Tchouka et al. 2023, section 3.3.3): AdamW at 1e-4, 20 epochs of 64 sentences a step, as its search found.

The paper does not say how the learning rate falls: it does as for our other taggers. The dropout of 0.1 and the 128 pieces of a window are
those of `TransformerConfig`.
"""

from __future__ import annotations

from shared.training.tagging import TaggingConfig

RECIPE = TaggingConfig(epochs=20, batch=64, learning_rate=1e-4)
"""The paper's; `train_tagger` with `start` a tagger of `start_from_checkpoint`."""
