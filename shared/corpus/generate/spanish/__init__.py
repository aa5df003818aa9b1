"""Spanish phrases that all hospitals share; pure data, and no PHI outside slots and the rules that begin with '@'.

As in MEDDOCAN, words for the patient's sex and for relatives are PHI: they stand only in slots.
"""

from __future__ import annotations

from shared.corpus.generate.grammar import Rules
from shared.corpus.generate.spanish.background import BACKGROUND
from shared.corpus.generate.spanish.complaints import COMPLAINTS
from shared.corpus.generate.spanish.findings import FINDINGS
from shared.corpus.generate.spanish.mentions import MENTIONS
from shared.corpus.generate.spanish.treatment import TREATMENT
from shared.corpus.generate.spanish.values import VALUES

SPANISH: Rules = {**COMPLAINTS, **BACKGROUND, **FINDINGS, **TREATMENT, **VALUES, **MENTIONS}
