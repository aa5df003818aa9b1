"""Spanish phrases that all hospitals share; pure data, and no PHI outside slots and the rules that begin with '@'.

As in MEDDOCAN, words for the patient's sex and for relatives are PHI: they stand only in slots.
"""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.spanish.background import BACKGROUND
from shared.generate.spanish.complaints import COMPLAINTS
from shared.generate.spanish.findings import FINDINGS
from shared.generate.spanish.mentions import MENTIONS
from shared.generate.spanish.treatment import TREATMENT
from shared.generate.spanish.values import VALUES

SPANISH: Rules = {**COMPLAINTS, **BACKGROUND, **FINDINGS, **TREATMENT, **VALUES, **MENTIONS}
