"""All lies of a hospital, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping

from bench.attack.share import Lie
from bench.attack.site import envelopes, known, payloads, repeats, rows

LIES: Mapping[str, Lie] = {**rows.LIES, **payloads.LIES, **envelopes.LIES, **repeats.LIES}
KNOWN: Mapping[str, Lie] = known.KNOWN
