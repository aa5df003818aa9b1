"""`site-client encode`: the hospital's labelled notes as a signed share of noisy tensors and labels. Nothing leaves yet.

What a share holds: the representation, the tag and the casing class of each token, sentence by sentence, in random order
over the whole share. What it does not hold: text, offsets, token lengths, ids or order of documents, file names, times.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np

from protocols.manifest import ShareFields, ShareManifest
from protocols.sentence_block import SentenceBlock, ValueRules
from protocols.share import manifest_path, seal_share
from protocols.shuffled_writer import ShuffledWriter
from shared.document import Document
from shared.embeddings.generalised import GeneralisedVectors
from shared.encoding import tokenised, tokenised_chunks
from shared.errors import CorpusError
from shared.models.noise_source import PrivateNoise
from shared.pipeline import Encoder, load_encoder
from shared.training.batches import RaggedSentences
from shared.training.tagging import Progress, silent
from site_client.workspace import Workspace


def encoded_blocks(
    encoder: Encoder, documents: Iterable[Document], progress: Progress = silent
) -> Iterator[SentenceBlock]:
    """The documents' sentences as they leave, in the order of the notes; the writer shuffles them.

    Raises:
        LabelError: a label is not in the scheme of the release.
    """
    done, noise = 0, PrivateNoise()
    for chunk in tokenised_chunks(tokenised(documents), encoder.scheme):
        yield block_of(encoder.shared(chunk, noise))
        done += len(chunk.words)
        progress("tokens", done, 0)


def block_of(sentences: RaggedSentences) -> SentenceBlock:
    """Represented sentences in the layout of a payload."""
    return SentenceBlock(
        sentences.values.astype("<f2", copy=False), sentences.tags, sentences.casing, sentences.lengths.astype("<i4")
    )


def encode(
    workspace: Workspace, documents: Iterable[Document], out: Path, progress: Progress = silent
) -> ShareManifest:
    """Write a payload and, beside it, its signed manifest.

    Args:
        workspace: of the site, with a pulled release.
        documents: labelled notes, their labels those of the release.
        out: the payload, .parquet or .h5.
        progress: called after every chunk with the tokens done.

    Raises:
        CorpusError: there is no token to share, or not one label: a head would learn from it that nothing is PHI.
        WorkspaceError, ProtocolError, StorageError: see there; no payload and no manifest stays.
    """
    release = workspace.release()
    encoder = load_encoder(release.folder)
    key = workspace.key()
    labelled = False
    rules = ValueRules(len(encoder.scheme.tags), encoder.representer.value_bound)
    with ShuffledWriter(out, dim=encoder.representer.config.dim, rules=rules) as writer:
        for block in encoded_blocks(encoder, documents, progress):
            writer.append(block)
            labelled = labelled or bool(block.tags.any())
        if not writer.sentences:
            raise CorpusError("expected notes with at least one token, got none; check the folder")
        if not labelled:
            raise CorpusError("expected labelled notes, got not one label; check the folder and --format")
    try:
        workspace, sequence = workspace.next_sequence()
        fields = ShareFields(
            site=workspace.site,
            sequence=sequence,
            release=release.digest,
            label_scheme=encoder.scheme.name,
            tags=rules.tags,
            value_bound=rules.value_bound,
            created=datetime.date.today(),
            software=f"deid-commons {version('deid-commons')}",
            protection=protection(encoder),
        )
        return seal_share(out, fields, key, checked=writer.checked)
    except BaseException:
        # A payload without its manifest is of no use to anybody, nor is the manifest of a payload that it replaced.
        for left in (out, manifest_path(out)):
            with suppress(OSError):
                left.unlink()
        raise


def protection(encoder: Encoder) -> dict[str, float]:
    """What protects a share, in numbers.

    - "surrogates", 1 where labelled PHI is replaced by public PHI before anything is computed from it.
    - "cluster_size", the least number of words that look alike, of those that are not public.
    - With output noise of standard deviation s_i, its smallest and mean, and "mu_per_token": the representation of a token
      lies in the unit ball, so two of them are at most 2 apart, and in Gaussian differential privacy (Dong, Roth and Su
      2022) that gives at worst mu = 2 / min(s_i). A word moves every token of its sentence, and k tokens compose to
      mu * sqrt(k).
    """
    stated: dict[str, float] = {"surrogates": float(encoder.surrogates is not None)}
    if isinstance(encoder.vectors, GeneralisedVectors):
        stated["cluster_size"] = float(encoder.vectors.k)
    scales = np.array(encoder.representer.noise_scales()["output"])
    if scales.min() > 0:
        stated |= {
            "noise_sigma_min": float(scales.min()),
            "noise_sigma_mean": float(scales.mean()),
            "mu_per_token": float(2 / scales.min()),
        }
    return stated
