"""English phrases that all hospitals share; pure data, and no PHI outside slots and the rules that begin with '@'."""

from __future__ import annotations

from shared.corpus.generate.english.background import BACKGROUND
from shared.corpus.generate.english.complaints import COMPLAINTS
from shared.corpus.generate.english.findings import FINDINGS
from shared.corpus.generate.english.mentions import MENTIONS
from shared.corpus.generate.english.treatment import TREATMENT
from shared.corpus.generate.english.values import VALUES
from shared.corpus.generate.grammar import Rules

ENGLISH: Rules = {**COMPLAINTS, **BACKGROUND, **FINDINGS, **TREATMENT, **VALUES, **MENTIONS}
