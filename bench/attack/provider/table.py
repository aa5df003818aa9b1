"""All lies of a provider, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Mapping

from bench.attack.provider import audits, bank, files, known, noise, serving, vocabulary
from bench.attack.release import Lie

LIES: Mapping[str, Lie] = {
    **vocabulary.LIES,
    **bank.LIES,
    **noise.LIES,
    **audits.LIES,
    **files.LIES,
    **serving.LIES,
}
KNOWN: Mapping[str, Lie] = known.KNOWN
