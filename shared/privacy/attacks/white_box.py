"""The white-box attacker as an attack of the audit; its accuracy is computed in `shared.privacy.white_box`, beside encodings too."""

from __future__ import annotations

from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.statistics.finding import Finding
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings


class WhiteBox(Attack[WhiteBoxSettings]):
    """How often the best possible attacker is right who decides between a PHI word and one of its neighbours."""

    name = "white box"
    key = "white_box"
    quick = (WhiteBoxSettings(draws=2, sentences=0.2),)
    full = (WhiteBoxSettings(),)
    finds = ("white box",)

    def run(self, scene: Scene, settings: WhiteBoxSettings) -> list[Finding]:
        """See `white_box`."""
        return white_box(scene.encoder, [scene.target], scene.pseudonyms, settings).findings()


WHITE_BOX = WhiteBox()
