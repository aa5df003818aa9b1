"""Clinical reassembly: is the nearest clinical sentence of a share of the same note?

Reassembly scores all pairs of all sentences, header lines too, which look like those of every other note. Here only clinical
sentences are asked for, in shares of as many notes as a hospital must share at least, and the attacker has several ways to score; the
one that does best on public notes counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.joining.joined import JoiningSettings, join_sentences
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.reassembly.clinical import clinical_rows
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences

ATTACK = "clinical reassembly"


class ClinicalReassembly(Attack[JoiningSettings]):
    """Which clinical sentences of a share come from one note."""

    name = ATTACK
    key = "clinical_reassembly"
    quick = (JoiningSettings(shares=3, public_shares=2),)
    full = (JoiningSettings(),)
    finds = (ATTACK,)

    def run(self, scene: Scene, settings: JoiningSettings) -> list[Finding]:
        """See `clinical_reassembly`."""
        return clinical_reassembly(scene.encoder, scene.material.known, scene.material.target, settings)


def clinical_reassembly(
    encoder: SharingEncoder, public: Sequence[Document], attacked: Sequence[Document], settings: JoiningSettings
) -> list[Finding]:
    """Look for the nearest clinical sentence of every clinical sentence.

    Args:
        encoder: the release.
        public: labelled notes that the attacker has.
        attacked: notes of the shares; none of them public.
        settings: how many of everything.

    Returns:
        how often the nearest is of the same note, beside one drawn by chance; and the ROC AUC of pairs.

    Raises:
        ConfigurationError: either side has too few notes with two such sentences.
    """

    def clinical(shown: RaggedSentences) -> NDArray[np.int64]:
        return clinical_rows(shown, settings.shortest, settings.most_phi)

    joined = join_sentences(encoder, public, attacked, clinical, settings)
    return [
        joined.nearest(ATTACK, "nearest clinical sentence is of the same note"),
        joined.pairs(ATTACK, "ROC AUC of pairs of clinical sentences"),
    ]


CLINICAL_REASSEMBLY = ClinicalReassembly()
