"""What was measured, in `docs/results/<topic>.json`, and a page that a person reads beside it.

Figures come from the commands that measure them, never from a hand. An entry that misses its target stays, with its true value.
The page says the answer first, in sentences whose numbers are filled in from the entries (`words/<topic>.toml`), then shows one
plot, then what was asked, then everything else. `python -m bench.results` writes all pages anew.
"""

from __future__ import annotations

from bench.results.entries import RESULTS, ROOT, TOPICS, Entry, commit, read
from bench.results.recording import QUICK, measure_parts, record, render

__all__ = ["QUICK", "RESULTS", "ROOT", "TOPICS", "Entry", "commit", "measure_parts", "read", "record", "render"]
