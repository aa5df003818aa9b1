"""Which procedures keep a promise that anybody can recompute from the files, by name: nothing is loaded here.

For the others only attacks show how much they protect. A hospital has them off until it enables them by name, and only of these
may a provider publish one that its audit did not pass.
"""

from __future__ import annotations

RECOMPUTABLE = ("surrogates", "k-anonymous")
"""Labelled PHI is replaced, or words are shown alike: the files show it."""
REPLACING = ("surrogates",)
"""Of these the one under which a share does not hang on labelled PHI at all."""
WITHOUT_PROOF = ("k-anonymous-invariance", "three-part", "dann", "invariance")
"""Trained, or behind noise that proves little by itself."""
