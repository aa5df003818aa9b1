"""What the speeds are measured on: generated notes of three hospitals, so that anyone can measure again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from aggregator import workspace as provider
from aggregator.publishing import releases
from bench import corpora
from foundation.files import write_text
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.corpus import read_corpus
from shared.document import Document
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.generate import generate_notes
from shared.labels import load_scheme
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from site_client import workspace as hospital
from site_client.policy.enforcing import Acceptance
from site_client.releases import pull

SITES = ("en_harbor", "en_prairie", "en_moor")
DATA = f"generated notes of {', '.join(SITES)}"
SCHEME = "i2b2_2014"
DIM = 100
_VOCABULARY = 12_000
_PUBLIC = "en_sites/site_a/train"
_BUCKETS = 20_000


def notes(count: int, seed: int) -> Iterator[Document]:
    """Notes of all sites in turn, with ids that no two share."""
    made = [generate_notes(site, -(-count // len(SITES)), seed) for site in SITES]
    for number in range(count):
        document = next(made[number % len(SITES)])
        yield replace(document, identifier=f"{number:06}")


def word_vectors(seed: int = 0) -> WordVectors:
    """fastText-like vectors of random direction for the most frequent words of other notes; n-grams for the rest.

    Where the corpora are, the notes of one of their hospitals count too, as public text would for a real provider.
    """
    words: Counter[str] = Counter()
    public = list(notes(300, seed + 1000))
    if (corpora.ROOT / _PUBLIC).exists():
        public += read_corpus(corpora.ROOT / _PUBLIC)
    for _, tokens in tokenise_documents(public):
        words.update(tokens.words)
    generator = np.random.default_rng(seed)
    vocabulary = [word for word, _ in words.most_common(_VOCABULARY)]
    matrix = unit_rows(generator.standard_normal((len(vocabulary), DIM), dtype=np.float32))
    buckets = generator.standard_normal((_BUCKETS, DIM), dtype=np.float32)
    return WordVectors(vocabulary, matrix, Subwords(3, 6, buckets))


def embedded_notes(count: int, vectors: WordVectors) -> RaggedSentences:
    """Labelled notes as sentences of word vectors."""
    (chunk,) = tokenised_chunks(tokenise_documents(notes(count, 1)), load_scheme(SCHEME), 1 << 40)
    return embed_sentences(chunk, vectors)


def site_workspace(folder: Path, vectors: WordVectors) -> hospital.Workspace:
    """A hospital's workspace with a pulled release, whose representer has the shape of the paper's and was not trained."""
    torch.manual_seed(0)
    scheme = load_scheme(SCHEME)
    central = provider.create(folder / "provider", "bench", scheme.name)
    central.representer.mkdir()
    NoisyRecurrent(vectors, Representer(RepresenterConfig(DIM)).eval(), scheme).save(central.representer)
    write_text(central.representer / "training.json", "{}", private=False)
    releases.publish_representer(central, releases.Publishing(audited=False))
    site = hospital.create(folder / "site", "bench")
    site, _ = pull.pull(
        site, str(central.releases), central.repository().fingerprint.key_id, acceptance=Acceptance("a measurement")
    )
    return site
