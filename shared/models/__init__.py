"""The networks and their layers: CRF, LSTM, representer and the adversaries that attack it."""

import os

# The libraries behind torch's LSTM (oneDNN and ideep) each keep a compiled kernel for the last 1024 shapes of a batch, a
# megabyte or so apiece, and batches of sentences come in hundreds of shapes: memory would seem to leak. 128 hold what
# inference needs, whose batches come in few shapes (see shapes.py). Both settings are read once, ahead of the first batch.
for _setting in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_setting, "128")
