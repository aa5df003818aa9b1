"""Which notes trained a head that learns just as a provider's does, by how many passes it makes, beside what it is worth.

The audit attacks a head of fewer passes, on the attacked notes alone. Here attacked head and shadows learn as `train-head` does: on the provider's
own 50 notes and half of 300 others as a hospital shares them, with recased copies, half of the sentences without PHI sitting out each pass. Some
are students: of `--distil`, where such a head is the teacher, and public text and the provider's notes train the one that is attacked, and of
`--self-distil`, where three heads label what they have not seen of the same shares.
`python -m bench.results_privacy membership-released`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from aggregator.training.pool import as_codes
from bench import corpora
from bench.outcomes import Outcome, f1, is_there, load_or_measure, score_pipeline
from bench.privacy.material import PROVIDER_NOTES, background
from bench.privacy.worth.meddocan import DATA, RECASED, construction
from bench.privacy.worth.pool import PARTS, SharedCodesSource, Undersampled, public_codes, self_taught, taught
from bench.results import Entry
from shared.document import Document
from shared.pipeline.pipeline import Pipeline
from shared.privacy.attacks.membership import (
    MembershipSettings,
    ReleasedHead,
    encode_notes,
    membership,
    reading,
)
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences, SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger

COMMAND = "python -m bench.results_privacy membership-released"
PASSES = (5, 10, 20)
# Of a student and of its teachers.
_STUDENTS = {"distilled": (10, 20), "self-distilled": (10, 20)}
_TEXTS = 200
_ATTACKED = 300
_PLAIN = ""
# That of the audit's policy.
_LIMIT = 0.75


def measure(*, train: bool = True) -> list[Entry]:
    """Area under the ROC curve, what is found at few false positives, and F1 of the attacked head on the development notes.

    Args:
        train: what is not there yet; else those passes that are there are told of.
    """
    entries = []
    for way, every in {_PLAIN: PASSES, **_STUDENTS}.items():
        for passes in every:
            name = f"privacy-membership-released-{way}{'-' if way else ''}{passes}"
            if train or is_there(name):
                entries += _entries(passes, load_or_measure(name, partial(_attacked, passes, way)), way)
    return entries


def _attacked(passes: int, way: str) -> dict[str, Any]:
    made = construction()
    own, text = (public_codes(made, notes) for notes in (corpora.meddocan("train")[:PROVIDER_NOTES], _texts()))
    tags = len(made.scheme.tags)

    def read(some: CodedSentences) -> SentenceSource:
        return SharedCodesSource(made, some, RECASED)

    def learn_from(source: SentenceSource, seed: int) -> Tagger:
        return train_tagger(source, tags, TaggingConfig(epochs=passes, seed=seed))

    def learn(stored: RaggedSentences, seed: int) -> Tagger:
        shared = as_codes(stored)
        if way == "self-distilled":
            # A head and its teachers have seeds of their own.
            return learn_from(
                self_taught(made, own, shared, read, lambda one, place: learn_from(one, 100 * seed + place)),
                100 * seed,
            )
        head = learn_from(Undersampled(CodedSentences.concatenate([own, shared]), read), seed)
        return head if way == _PLAIN else learn_from(Undersampled(taught(made, head, own, text), read), seed)

    attacked = corpora.meddocan("train")[PROVIDER_NOTES : PROVIDER_NOTES + _ATTACKED]
    pool, asked = (encode_notes(made, attacked, draw) for draw in (0, 1))
    inside = np.random.default_rng(0).permutation(_ATTACKED) < _ATTACKED // 2
    head = learn(RaggedSentences.concatenate([pool[note] for note in np.flatnonzero(inside).tolist()]), 0)
    settings = MembershipSettings(recipe=TaggingConfig(epochs=passes))
    found = membership(pool, asked, tags, settings, ReleasedHead(head, inside), reading(made), learn)
    scored = score_pipeline(Pipeline(made, head), corpora.meddocan("dev"))
    # A run that is kept holds no words.
    numbers = [
        {
            "rate": rate,
            "value": one.value,
            "baseline": one.baseline,
            "interval": list(one.interval),
            "trials": one.trials,
        }
        for rate, one in zip((0.0, *settings.false_positive_rates), found, strict=True)
    ]
    return {"findings": numbers, "scored": {"tokens": scored.tokens, "entities": scored.entities}}


def _texts() -> list[Document]:
    """Public text, chosen blindly; its words are known to the provider as those of the background are."""
    every = list(background())
    chosen = np.random.default_rng(0).permutation(len(every))[:_TEXTS].tolist()
    return [Document(str(number), every[number]) for number in chosen]


def _entries(passes: int, run: dict[str, Any], way: str) -> list[Entry]:
    begins = f"default preset: head that learns as a provider's, {passes} passes"
    trials = f"{_ATTACKED} attacked notes, half of them in the pool beside {PROVIDER_NOTES} public ones"
    if way:
        begins += f", {way}"
    if way == "self-distilled":
        trials += f"; the attacked head learned the attacked notes as {PARTS} heads label them that had not seen them, and so did all of the attacker's"
    elif way:
        trials += f", whose head is the teacher; the attacked student learned from {_TEXTS} public texts and those {PROVIDER_NOTES} notes, and so did all of the attacker's"
    entries = []
    for one in run["findings"]:
        if not one["trials"]:
            continue
        measure = f"true positive rate at {one['rate']:.1%} false positives" if one["rate"] else "ROC AUC"
        asked = None if one["rate"] else _LIMIT
        entries.append(
            Entry(
                f"{begins}: membership of a note, {measure}",
                round(one["value"], 4),
                asked,
                "" if asked is None else "<=",
                "share" if one["rate"] else "AUC",
                (round(one["interval"][0], 4), round(one["interval"][1], 4)),
                1,
                "meddocan/train",
                COMMAND,
                f"{trials}; a worthless score reaches {one['baseline']:.4f}; the attacker has the note and its labels, notes like it and "
                f"{MembershipSettings().shadows} heads of his own that learn like the attacked one",
                run["commit"],
            )
        )
    scored = Outcome.of(run["scored"], run["commit"])
    for kind, name in (("tokens", "token-binary"), ("entities", "strict")):
        value = round(f1(getattr(scored, kind)), 4)
        entries.append(
            Entry(
                f"{begins}: {name} F1",
                value,
                None,
                "",
                "F1",
                None,
                1,
                DATA,
                COMMAND,
                f"{trials}; the tagger alone",
                run["commit"],
            )
        )
    return entries
