"""The attacks of an audit, in the order in which it runs them. A new attack is a file of its own and a line here."""

from __future__ import annotations

from typing import Any

from shared.privacy.attacks.adversary import FRESH_ADVERSARIES
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.inversion import TOKEN_INVERSION
from shared.privacy.attacks.joining.clinical import CLINICAL_REASSEMBLY
from shared.privacy.attacks.joining.difference import DIFFERENCE
from shared.privacy.attacks.joining.reassembly import REASSEMBLY
from shared.privacy.attacks.linkage import LINKAGE
from shared.privacy.attacks.matching import MATCH
from shared.privacy.attacks.membership import MEMBERSHIP
from shared.privacy.attacks.person.attributes import ATTRIBUTE_INFERENCE
from shared.privacy.attacks.person.forgotten_names import FORGOTTEN_NAMES
from shared.privacy.attacks.person.pattern import RESIDUAL_PATTERN
from shared.privacy.attacks.readability import READABILITY
from shared.privacy.attacks.white_box import WHITE_BOX

ATTACKS: tuple[Attack[Any], ...] = (
    WHITE_BOX,
    MATCH,
    LINKAGE,
    FORGOTTEN_NAMES,
    RESIDUAL_PATTERN,
    ATTRIBUTE_INFERENCE,
    REASSEMBLY,
    CLINICAL_REASSEMBLY,
    DIFFERENCE,
    READABILITY,
    TOKEN_INVERSION,
    FRESH_ADVERSARIES,
    MEMBERSHIP,
)
