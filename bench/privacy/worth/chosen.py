"""Which words are shown far from PHI, and which sentences at all: what a head is worth by how they are chosen, beside what anybody reads.

MEDDOCAN's training notes alone, so that a default may be chosen by them: a provider of 50, a hospital of 250, judged on the other 200. Pools
lie in memory. `python -m bench.results_privacy chosen`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bench import corpora
from bench.outcomes import Comparison, Outcome, load_or_measure, score_pipeline
from bench.privacy.material import PROVIDER_NOTES, background, spanish, spanish_names
from bench.privacy.worth.meddocan import Reading, read_exactly
from bench.privacy.worth.pool import SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import recipe
from bench.privacy.worth.words_figure import WordsRead, write_words_read
from bench.results import RESULTS, Entry
from shared.constructions.procedures.codes import SURROGATES, CodedSurrogates
from shared.constructions.procedures.k_anonymous import cluster_counted, project
from shared.constructions.procedures.narrowed import near_phi
from shared.constructions.procedures.surrogates import draw_bank
from shared.constructions.training import TrainingMaterial, TrainingOptions
from shared.document import Document
from shared.embeddings.generalised import fold_casing
from shared.embeddings.members import keep_members
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.raw_model import train_raw_model
from shared.sentences.codes import CodedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_privacy chosen"
DATA = "meddocan/train"
SEEDS = (1, 2)
STEPS = 1500
HOSPITAL = slice(PROVIDER_NOTES, 300)
JUDGED = slice(300, None)
_CONDITIONS = f"50 provider and 250 hospital notes, judged on 200 others, {STEPS:,} steps for every side"
ALONE, RAW = "provider alone", "raw notes pooled"
DEFAULT = "30 words that tell least what a text is about"


@dataclass(frozen=True)
class Choice:
    """What a share shows far from PHI.

    Args:
        common: so many words, as they are.
        by: how they are chosen among the commonest; see `Chooser`.
        dropped: share of the sentences without PHI that are left out.
        window: how many tokens away from labelled PHI is near.
        group: least number of other public words that are shown alike.
    """

    common: int = 30
    by: str = "topicality"
    dropped: float = 0.0
    window: int = TrainingOptions.exact_window
    group: int = TrainingOptions.group_size


CHOICES = {
    "no word": Choice(0),
    DEFAULT: Choice(),
    "30 words of the greatest information gain on PHI near by": Choice(by="gain"),
    "30 words by the gradient of a head": Choice(by="gradient"),
    "200 words, the commonest": Choice(200),
    "30 words, near is 1 token": Choice(window=1),
    "30 words, near is 5 tokens": Choice(window=5),
    "30 words, near is 8 tokens": Choice(window=8),
    "30 words, half of the sentences without PHI left out": Choice(dropped=0.5),
    "30 words, all sentences without PHI left out": Choice(dropped=1.0),
}


def measure() -> list[Entry]:
    """Worth and words read of every choice, and their page; what is not there yet is trained."""
    alone, raw = _runs(ALONE), _runs(RAW)
    entries, points = [], []
    for name in CHOICES:
        runs = _runs(name)
        compared = Comparison(*([Outcome.of(run) for run in side] for side in (alone, raw, runs)))
        entries += _entries(name, runs, compared)
        read = Reading.of(runs[0]["read"]).content
        worth, tokens = ((value, *ends) for value, ends in map(compared.gain, ("entities", "tokens")))
        points.append(WordsRead(name, read[0] / read[1], worth, tokens))
    write_words_read(points, f"MEDDOCAN's training notes: {_CONDITIONS}; {len(SEEDS)} seeds.", COMMAND, RESULTS)
    return entries


def _runs(name: str) -> list[dict[str, Any]]:
    slug = name.replace(" ", "-").replace(",", "")
    return [load_or_measure(f"chosen-{slug}-{seed}", partial(_measured, name, seed)) for seed in SEEDS]


def _measured(name: str, seed: int) -> dict[str, Any]:
    judged = corpora.meddocan("train")[JUDGED]
    if name in CHOICES:
        made = chooser().construction(CHOICES[name])
        pipeline = _shared(made, CHOICES[name], seed)
        return asdict(score_pipeline(pipeline, judged)) | {"read": _read(made, CHOICES[name], judged)}
    return asdict(score_pipeline(_raw(name == RAW, seed), judged))


def _raw(pooled: bool, seed: int) -> Pipeline:
    notes = corpora.meddocan("train")[: HOSPITAL.stop if pooled else PROVIDER_NOTES]
    made = chooser().construction(CHOICES[DEFAULT])
    return train_raw_model(notes, made, recipe(tokenised_corpus(notes, made.scheme).sentences, seed, STEPS))


def _shared(made: CodedSurrogates, choice: Choice, seed: int) -> Pipeline:
    notes = corpora.meddocan("train")
    own = notes[:PROVIDER_NOTES]
    pool = pooled_codes(made, own, notes[HOSPITAL])
    codes = chosen_sentences(pool, choice.dropped, tokenised_corpus(own, made.scheme).sentences)
    source = SharedCodesSource(made, codes)
    return Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(source.sentences, seed, STEPS)))


def chosen_sentences(codes: CodedSentences, dropped: float, own: int) -> CodedSentences:
    """The sentences of a pool that stay.

    Args:
        codes: of all.
        dropped, own: see `kept_sentences`.
    """
    return codes.select(np.flatnonzero(kept_sentences(codes, dropped, own)))


def kept_sentences(sentences: TokenisedSentences | CodedSentences, dropped: float, own: int = 0) -> NDArray[np.bool_]:
    """Which sentences stay, bool `[sentences]`.

    Args:
        sentences: with their tags.
        dropped: share of the sentences without PHI that go.
        own: so many of the first are the provider's, and stay.
    """
    marked = sentences.sentences_with(sentences.tags > 0)
    chance = np.random.default_rng(0).random(sentences.sentences)
    return marked | (chance >= dropped) | (np.arange(sentences.sentences) < own)


def _read(made: CodedSurrogates, choice: Choice, judged: Sequence[Document]) -> dict[str, Any]:
    """Words that anybody reads in a share of these notes, of all words of the notes, also of those that are left out."""
    sentences = tokenised_corpus(judged, made.scheme)
    kept = kept_sentences(sentences, choice.dropped)
    return asdict(read_exactly(made, list(judged), np.repeat(kept, sentences.lengths)))


@cache
def chooser() -> Chooser:
    """Of the provider's notes, made once."""
    return Chooser(corpora.meddocan("train")[:PROVIDER_NOTES])


class Chooser:
    """Makes the default construction with other words shown.

    "topicality" takes those that tell least what a text is about, as the default does. "gain": the greatest information gain on whether
    PHI is near, of words that stand far from it more often than others. "gradient": where a head of the provider's notes, by the first
    order of its loss, misses the word most when its cluster's centre stands in its place far from PHI.

    Args:
        notes: labelled ones of the provider.
    """

    def __init__(self, notes: Sequence[Document]) -> None:
        self.scheme = load_scheme("meddocan")
        self.sentences = tokenised_corpus(notes, self.scheme)
        self._made: dict[Choice, CodedSurrogates] = {}

    def construction(self, choice: Choice) -> CodedSurrogates:
        """The construction of a choice."""
        # Which sentences stay changes nothing of it.
        key = replace(choice, dropped=0.0)
        if key not in self._made:
            self._made[key] = self._build(choice)
        return self._made[key]

    @cached_property
    def _counted(self) -> tuple[Any, ...]:
        material = TrainingMaterial([self.sentences], spanish(), self.scheme, iter(background()), spanish_names())
        options = TrainingOptions()
        clear = fold_casing(material.vectors, material.names)
        return (material, clear, *cluster_counted(clear, material, options, SURROGATES.rule))

    def _build(self, choice: Choice) -> CodedSurrogates:
        material, clear, shown, use = self._counted
        options = TrainingOptions(common_words=choice.common, exact_window=choice.window, group_size=choice.group)
        orders: dict[str, Callable[[], NDArray[np.float64]]] = {
            "topicality": lambda: use.topicality,
            "gain": lambda: -self.gains(clear),
            "gradient": lambda: -self.gradients(clear),
        }
        vectors = keep_members(
            clear,
            shown,
            use.frequencies,
            orders[choice.by](),
            choice.common,
            options.exact_window,
            options.cluster_size,
            options.group_size,
        )
        bank = draw_bank(material, options, vectors)
        return CodedSurrogates(vectors, project(vectors, options), self.scheme, bank)

    def _far(self) -> NDArray[np.bool_]:
        return ~near_phi(self.sentences, TrainingOptions().exact_window)

    def gains(self, clear: Any) -> NDArray[np.float64]:
        """Bits that a word tells of whether PHI is near, 0 for words that stand near it more often than others. `[words]`."""
        ids, far = clear.ids(self.sentences.words), self._far()
        known = ids >= 0
        total = np.bincount(ids[known], minlength=len(clear))
        apart = np.bincount(ids[known], weights=far[known], minlength=len(clear))
        tokens, away = len(far), int(far.sum())

        def entropy(part: NDArray[np.float64]) -> NDArray[np.float64]:
            inside = np.clip(part, 1e-12, 1 - 1e-12)
            return np.asarray(-inside * np.log2(inside) - (1 - inside) * np.log2(1 - inside))

        with_word = entropy(apart / np.maximum(total, 1))
        without = entropy((away - apart) / (tokens - total))
        gain = entropy(np.array(away / tokens)) - (total * with_word + (tokens - total) * without) / tokens
        return np.where(apart / np.maximum(total, 1) > away / tokens, gain, 0.0)

    def gradients(self, clear: Any) -> NDArray[np.float64]:
        """How much a word far from PHI is missed in all, float64 `[words]`."""
        made = self.construction(Choice())
        shown = made.noise_free(self.sentences)
        head = train_tagger(shown, len(self.scheme.tags), recipe(shown.sentences, 1, STEPS)).eval()
        ids, far, missed = clear.ids(self.sentences.words), self._far(), np.zeros(len(clear))
        starts, half = self.sentences.starts, clear.dim
        for batch in shown.batches(64):
            batch.inputs.requires_grad_(True)
            (slope,) = torch.autograd.grad(head.loss(batch).sum(), batch.inputs)
            inputs = batch.inputs.detach()
            # A head sees the word beside the centre of its cluster; far from PHI a member would stand there.
            first = (slope[..., :half] * (inputs[..., half : 2 * half] - inputs[..., :half])).sum(-1).abs().numpy()
            for row, sentence in enumerate(batch.rows.tolist()):
                tokens = starts[sentence] + np.arange(int(batch.lengths[row]))
                counted = tokens[far[tokens] & (ids[tokens] >= 0)]
                np.add.at(missed, ids[counted], first[row, counted - starts[sentence]])
        return missed


def _entries(name: str, runs: list[dict[str, Any]], compared: Comparison) -> list[Entry]:
    read = Reading.of(runs[0]["read"])
    found = []
    for kind, said in (("entities", "strict"), ("tokens", "token-binary")):
        value, (low, high) = compared.gain(kind)
        scores = [getattr(one, "entity_f1" if kind == "entities" else "token_f1") for one in compared.private]
        found.append(
            Entry(
                f"shown far from PHI: {name}: worth, {said}",
                round(value, 4),
                None,
                "",
                "of what raw notes add",
                (round(low, 4), round(high, 4)),
                len(runs),
                DATA,
                COMMAND,
                f"F1 {statistics.fmean(scores):.4f}; {_CONDITIONS}",
                runs[0]["commit"],
            )
        )
    hits, total = read.content
    note = f"{hits} of {total}; {read.words[0]} of {read.words[1]} of all words that are no PHI, {read.rare[0]} of {read.rare[1]} rare ones"
    found.append(
        Entry(
            f"shown far from PHI: {name}: content words read exactly",
            round(hits / total, 4),
            None,
            "",
            "of these words",
            None,
            1,
            DATA,
            COMMAND,
            note,
            runs[0]["commit"],
        )
    )
    return found
