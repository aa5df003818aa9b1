"""What a language model helps an attacker to read in a share of codes: a part of `bench.results_privacy`.

The attack of the audit (`shared.privacy.attacks.readability`) with more to learn from: the network guesses every word that is no PHI from all
that a share shows of its sentence, and learns that on fresh shares of labelled public notes and of as many sentences of
public text, in which nothing is labelled. Where the release says which words a code may stand for, it chooses among them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.material import PROVIDER_NOTES, AnyCasing, background, public_documents, spanish
from bench.privacy.worth.meddocan import construction
from bench.results import Entry
from shared.document import Document
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import TokenisedSentences, tokenise_texts, tokenised_chunks, tokenised_corpus

COMMAND = "python -m bench.results_privacy reading"
_FEW_DOCUMENTS = 20
# A tenth of the public text has as many sentences as the labelled notes.
_EVERY = 10
_SETTINGS = ReadabilitySettings(
    GuesserSettings(epochs=8, sentences=30_000, vocabulary=12_000), judged=1000, rare=_FEW_DOCUMENTS
)
_TARGETS = {"content words": 0.20, f"rare content words, public frequency below {_FEW_DOCUMENTS}": None}


def measure() -> list[Entry]:
    """What is read of the words of the development notes, as entries."""
    run = load_or_measure("privacy-reading", lambda: {"findings": [asdict(one) for one in _findings("dev")]})
    best = run["findings"][0]["measure"].partition(",")[0]
    entries = []
    for one in run["findings"]:
        way, _, part = one["measure"].partition(", ")
        if way == best and part in (*_TARGETS, "all words"):
            entries.append(_entry(part, one, run["commit"]))
    return entries


def _findings(split: str) -> list[Finding]:
    made, notes = construction(), corpora.meddocan("train")[PROVIDER_NOTES:]
    public = [Document(str(number), text) for number, text in enumerate(background()) if number % _EVERY == 0]
    plain = list(tokenised_chunks(tokenise_texts(public), None))
    # The best epoch is chosen on the last of them: labelled ones, as in a share.
    known = TokenisedSentences.concatenate([*plain, tokenised_corpus(notes, made.scheme)])
    print(f"{known.sentences} sentences to learn from", flush=True)
    target = tokenised_corpus(corpora.meddocan(split), made.scheme)
    return readability(made, spanish(), known, target, _SETTINGS, public=AnyCasing(public_documents()))


def _entry(part: str, one: dict[str, Any], commit: str) -> Entry:
    note = (
        f"{one['measure'].partition(',')[0]}, the best of its ways on the attacker's own notes; {one['trials']} words of at most "
        f"{_SETTINGS.judged} sentences; the network learned on 450 labelled public notes and a tenth of the background; interval "
        "over words; one seed"
    )
    target = _TARGETS.get(part)
    interval = (round(one["interval"][0], 4), round(one["interval"][1], 4))
    return Entry(
        f"read in a share of codes with a language model's help: {part}",
        round(one["value"], 4),
        target,
        "" if target is None else "<=",
        "of these words",
        interval,
        1,
        "meddocan/dev",
        COMMAND,
        note,
        commit,
    )
