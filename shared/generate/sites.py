"""The fictional hospitals."""

from __future__ import annotations

from shared.generate.english.sites import abbey, commons, harbor, lagoon, moor, prairie, summit
from shared.generate.profile import SiteProfile
from shared.generate.spanish.sites import altiplano, cenote, comun, encina, faro, pampa, ribera

_ENGLISH = (harbor, prairie, moor, summit, lagoon, abbey, commons)
_SPANISH = (ribera, altiplano, pampa, faro, cenote, encina, comun)

PROFILES: dict[str, SiteProfile] = {module.PROFILE.name: module.PROFILE for module in (*_ENGLISH, *_SPANISH)}

# language -> the site whose notes stand for public ones
PUBLIC = {"en": commons.PROFILE.name, "es": comun.PROFILE.name}
