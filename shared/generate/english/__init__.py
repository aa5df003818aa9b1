"""English phrases that all hospitals share; pure data, and no PHI outside slots and the rules that begin with '@'."""

from __future__ import annotations

from shared.generate.english.background import BACKGROUND
from shared.generate.english.complaints import COMPLAINTS
from shared.generate.english.findings import FINDINGS
from shared.generate.english.mentions import MENTIONS
from shared.generate.english.treatment import TREATMENT
from shared.generate.english.values import VALUES
from shared.generate.grammar import Rules

ENGLISH: Rules = {**COMPLAINTS, **BACKGROUND, **FINDINGS, **TREATMENT, **VALUES, **MENTIONS}
