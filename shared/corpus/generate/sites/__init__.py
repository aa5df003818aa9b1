"""The fictional hospitals."""

from __future__ import annotations

from shared.corpus.generate.profile import SiteProfile
from shared.corpus.generate.sites import (
    en_abbey,
    en_commons,
    en_harbor,
    en_lagoon,
    en_moor,
    en_prairie,
    en_summit,
    es_altiplano,
    es_cenote,
    es_comun,
    es_encina,
    es_faro,
    es_pampa,
    es_ribera,
)  # fmt: skip

_MODULES = (
    en_harbor, en_prairie, en_moor, en_summit, en_lagoon, en_abbey, en_commons,
    es_ribera, es_altiplano, es_pampa, es_faro, es_cenote, es_encina, es_comun,
)  # fmt: skip

PROFILES: dict[str, SiteProfile] = {module.PROFILE.name: module.PROFILE for module in _MODULES}

# language -> the site whose notes stand for public ones
PUBLIC = {"en": en_commons.PROFILE.name, "es": es_comun.PROFILE.name}
