"""Five hospitals of `en_sites` and a provider, with notes of their own, encoded as their clients would.

Site A is cut in two: half of its notes are the provider's own, public ones, and half a hospital's. Representer, surrogates and
vocabulary are made from public text and the provider's notes alone, by the default construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench import corpora
from bench.outcomes import RUNS
from bench.privacy.material import american_names, english
from foundation.folders import new_folder
from protocols.payload.opening import create_payload
from protocols.payload.sentence_block import CODES, SentenceBlock
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.registry import find_procedure, load_construction
from shared.constructions.training import TrainingMaterial, TrainingOptions
from shared.document import Document
from shared.labels import load_mapping, load_scheme, map_document
from shared.models.noise_source import PrivateNoise
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks, tokenised_corpus
from shared.text.casing import casing_classes

SOURCE, SCHEME = "i2b2_2014", "i2b2_2006"
"""Eight categories are a small CRF, and small is what a grid of two hundred trainings has to be."""
LONGEST = 40
"""Longer sentences are left out, for the same reason."""
PROVIDER_NOTES = 105
BLOCK = 1024


@dataclass(frozen=True)
class Size:
    """How much of everything.

    Args:
        sentences: of each hospital and of the provider.
        test: test sentences of each hospital.
        cluster: least size of a cluster of the vocabulary.
    """

    sentences: int
    test: int
    cluster: int


@cache
def construction(cluster: int) -> CodedSurrogates:
    """The default construction, made from public text and the provider's notes; made once."""
    folder = RUNS / f"poisoning-codes-{cluster}"
    if not folder.exists():
        RUNS.mkdir(exist_ok=True)
        scheme = load_scheme(SCHEME)
        chunks = list(tokenised_chunks(tokenise_documents(_notes("provider", "train")), scheme))
        options = TrainingOptions(cluster_size=cluster)
        material = TrainingMaterial(
            chunks, english(), scheme, corpora.public_english_texts(), american_names(), RUNS / "cache"
        )
        with new_folder(folder) as staged:
            find_procedure(options.procedure).train(material, options, lambda *_: None).construction.save(staged)
    found = load_construction(folder)
    assert isinstance(found, CodedSurrogates)
    return found


@cache
def notes_of(site: str, split: str) -> TokenisedSentences:
    """The sentences of a hospital, but for the longest; "provider" holds the first notes of site A."""
    found = tokenised_corpus(_notes(site, split), load_scheme(SCHEME))
    return found.select(np.flatnonzero(found.lengths <= LONGEST))


def _notes(site: str, split: str) -> list[Document]:
    found = corpora.en_site("a" if site == "provider" else site, split)
    if split == "train" and site in ("a", "provider"):
        found = found[:PROVIDER_NOTES] if site == "provider" else found[PROVIDER_NOTES:]
    mapping = load_mapping(SOURCE, SCHEME)
    return [map_document(document, mapping) for document in found]


def sample(source: TokenisedSentences, count: int, seed: int) -> TokenisedSentences:
    """So many sentences, or all there are."""
    order = np.random.default_rng(seed).permutation(source.sentences)[:count]
    return source.select(np.sort(order))


def encode(made: CodedSurrogates, sentences: TokenisedSentences, seed: int) -> RaggedSentences:
    """What a share holds of labelled sentences: surrogates in the place of what is labelled."""
    return show(made, made.replaced(sentences, torch.Generator().manual_seed(seed)))


def show(made: CodedSurrogates, sentences: TokenisedSentences) -> RaggedSentences:
    """Sentences by their codes, no word of them replaced."""
    codes: Any = made.codes(sentences)[:, None]
    return RaggedSentences(codes, casing_classes(sentences.words), sentences.tags, sentences.lengths)


def encode_public(made: CodedSurrogates, sentences: TokenisedSentences) -> RaggedSentences:
    """What the pool holds of the provider's own notes."""
    source, _ = index_sentences([sentences], made.vectors)
    shown = made.share_public_sentences(source, PrivateNoise())
    codes: Any = shown.codes[:, None]
    return RaggedSentences(codes, shown.casing, shown.tags, shown.lengths)


def write_share(path: Path, shown: RaggedSentences, seed: int) -> Path:
    """A payload, its sentences in random order."""
    mixed = shown.select(np.random.default_rng(seed).permutation(shown.sentences))
    with create_payload(path, dim=CODES) as writer:
        for begin in range(0, mixed.sentences, BLOCK):
            piece = mixed.select(np.arange(begin, min(begin + BLOCK, mixed.sentences)))
            codes = piece.values[:, 0].astype("<u4")
            writer.append(SentenceBlock(codes, piece.tags, piece.casing, piece.lengths.astype("<i4")))
    return path
