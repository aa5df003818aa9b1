"""How good a de-identification is: the official i2b2 2014 and MEDDOCAN numbers, and what a hospital asks."""

from __future__ import annotations

from shared.evaluation.entities import binary_token_scores, strict_entity
from shared.evaluation.hospital import HospitalReport, evaluate_hospital
from shared.evaluation.i2b2 import evaluate_i2b2
from shared.evaluation.intervals import bootstrap_f1, clopper_pearson
from shared.evaluation.meddocan import MeddocanScores, count_sentences, evaluate_meddocan
from shared.evaluation.pairs import match_corpora
from shared.evaluation.reading import OFFICIAL_READERS, as_it_stands, sentence_files, within_text
from shared.evaluation.report import HEADLINES, Evaluation, as_json, as_table, blocks_as_table, evaluate_all
from shared.evaluation.scores import Scores

__all__ = [
    "HEADLINES",
    "OFFICIAL_READERS",
    "Evaluation",
    "HospitalReport",
    "MeddocanScores",
    "Scores",
    "as_it_stands",
    "as_json",
    "as_table",
    "binary_token_scores",
    "blocks_as_table",
    "bootstrap_f1",
    "clopper_pearson",
    "count_sentences",
    "evaluate_all",
    "evaluate_hospital",
    "evaluate_i2b2",
    "evaluate_meddocan",
    "match_corpora",
    "sentence_files",
    "strict_entity",
    "within_text",
]
