"""What the public lists that ship let through and what they cost: `python -m bench.generalise.public_lists [names|words|demo|f1]...`.

- names: of the lists of names beside the corpora, which were not used to make the lists, how many are called public.
- words: of the words of MEDDOCAN that the rule of the provider would show, how many a list holds; of generated notes too.
- demo: how many of the words that the demonstration's provider would show no list holds.
- f1: the default construction from 50 notes of MEDDOCAN and a pool with 100 others, scored on dev, with the lists and without.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from aggregator.demo.demonstration import NOTES
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import Outcome, outcome, score_pipeline
from bench.privacy.material import PROVIDER_NOTES, background, spanish, spanish_names
from bench.results_loop import private_pipeline
from shared.anonymity.names import default_names
from shared.anonymity.public_lists import PublicList, fold_word, on_public_lists
from shared.anonymity.public_words import PublicRule, WordUse
from shared.anonymity.shipped_lists import shipped_lists
from shared.document import Document
from shared.embeddings.generalised import strip_accents
from shared.generate import generate_notes, public_site
from shared.labels import load_scheme
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.training.tagging import TaggingConfig

_NAMES = {
    "Spanish surnames of 20 people or more": ("lists_es/apellidos-20.csv", 1),
    "frequent Spanish surnames": ("lists_es/apellidos.csv", 1),
    "Spanish given names of men": ("lists_es/hombres.csv", 1),
    "Spanish given names of women": ("lists_es/mujeres.csv", 1),
    "surnames of the USA": ("lists_us/surnames_census2000_top1000.csv", 2),
}
_SITES = {"en_harbor": "i2b2_2014", "en_moor": "i2b2_2014", "es_encina": "meddocan", "es_pampa": "meddocan"}
_HOSPITAL = slice(PROVIDER_NOTES, PROVIDER_NOTES + 100)
_LEAST = 5


@dataclass(frozen=True)
class Everything(PublicList):
    """A list that holds every word, which is what a provider's word alone was before."""

    def _holds_folded(self, word: str) -> bool:
        return True


def names() -> None:
    """How many names are called public, in words and in people."""
    public = _without_accents()
    for title, (path, column) in _NAMES.items():
        with corpora.path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        people = [int(row[column] or 0) for row in rows]
        # The lists have no accents: a name passes if any accented spelling of it would.
        passed = [strip_accents(row[0]) in public for row in rows]
        share = sum(count for count, through in zip(people, passed, strict=True) if through) / sum(people)
        print(f"{title}: {sum(passed)} of {len(rows)} ({share:.2%} of people)", flush=True)


def _without_accents() -> set[str]:
    """All public words."""
    forms = sorted({form for one in shipped_lists() for form in one.forms()})
    held = on_public_lists(forms, shipped_lists())
    return {strip_accents(word) for word, on in zip(forms, held.tolist(), strict=True) if on}


def words() -> None:
    """How many words outside PHI a list holds: of the frequent ones, and of all."""
    for split in ("train", "dev"):
        _coverage(f"MEDDOCAN {split}", corpora.meddocan(split), "meddocan")
    for site, scheme in _SITES.items():
        _coverage(site, generate_notes(site, 60, 1), scheme)


def _coverage(title: str, notes: Iterable[Document], scheme: str) -> None:
    counts = {False: Counter[str](), True: Counter[str]()}
    for chunk in tokenised_chunks(tokenise_documents(notes), load_scheme(scheme)):
        for word, tag in zip(chunk.words, chunk.tags.tolist(), strict=True):
            if any(map(str.isalpha, word)) and not any(map(str.isdigit, word)):
                counts[tag > 0][fold_word(word)] += 1
    frequent = Counter({word: count for word, count in counts[False].items() if count >= _LEAST})
    kinds = {f"outside PHI, {_LEAST} times or more": frequent, "outside PHI": counts[False], "in PHI": counts[True]}
    for kind, counted in kinds.items():
        listed = list(counted)
        held = on_public_lists(listed, shipped_lists())
        tokens = sum(counted[word] for word, on in zip(listed, held.tolist(), strict=True) if on)
        print(f"{title}, {kind}: {held.mean():.1%} of words, {tokens / counted.total():.1%} of tokens", flush=True)


def demo() -> None:
    """Public words of the demonstration, before and after."""
    for language, count in NOTES.items():
        scheme = {"en": "i2b2_2014", "es": "meddocan"}[language]
        chunks = list(
            tokenised_chunks(tokenise_documents(generate_notes(public_site(language), count, 0)), load_scheme(scheme))
        )
        use = WordUse(dict.fromkeys(word.lower() for chunk in chunks for word in chunk.words))
        for chunk in chunks:
            use.add_labelled(chunk)
        known = frozenset(name for listed in default_names(scheme) for name in listed)
        public = [word for word, on in zip(use.words, use.find_public(PublicRule(), known).tolist(), strict=True) if on]
        held = on_public_lists(public, shipped_lists())
        print(f"demonstration, {language}: {held.sum()} of {len(public)} public words are on a list", flush=True)


def f1() -> None:
    """The default construction with the lists and without; kept in bench/.runs."""
    hospital = {"hospital": corpora.meddocan("train")[_HOSPITAL]}
    arms = {"believed": (Everything("everything", "", "", ""),), "listed": shipped_lists()}
    for seed in (1, 2):
        for arm, lists in arms.items():
            found = outcome(f"public-lists-{arm}-{seed}", partial(_scored, lists, hospital, seed))
            print(f"{arm}, seed {seed}: token-binary F1 {found.token_f1:.4f}, strict {found.entity_f1:.4f}", flush=True)


def _scored(lists: Sequence[PublicList], hospital: dict[str, list[Document]], seed: int) -> Outcome:
    notes = corpora.meddocan("train")[:PROVIDER_NOTES]
    material = PublicMaterial(notes, spanish(), background(), spanish_names(), lists)
    options, head = RepresenterOptions(seed=seed), TaggingConfig(epochs=12, seed=seed)
    return score_pipeline(private_pipeline(material, hospital, "meddocan", options, head), corpora.meddocan("dev"))


PARTS: dict[str, Callable[[], None]] = {"names": names, "words": words, "demo": demo, "f1": f1}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
