"""Which procedures keep a promise that anybody can recompute from the files, by name: nothing is loaded here.

For the others only attacks show how much they protect. A hospital has them off until it enables them by name, and only of these
may a provider publish one that its audit did not pass.
"""

from __future__ import annotations

RECOMPUTABLE = ("surrogates", "k-anonymous", "surrogates-centres", "k-anonymous-centres", "noisy-surrogates")
"""Labelled PHI is replaced, or words are shown alike: the files show it."""
REPLACING = ("surrogates", "surrogates-centres", "noisy-surrogates")
"""Of these the ones under which a share does not hang on labelled PHI at all."""
DEFAULT = ("surrogates",)
"""Of these the one that shows little of the other words either: what a hospital takes unless its policy says otherwise."""
WITHOUT_PROOF = ("k-anonymous-invariance", "three-part", "dann", "invariance")
"""Trained, or behind noise that proves little by itself."""
