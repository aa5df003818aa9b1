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
from protocols.sentence_block import SentenceBlock
from protocols.share import manifest_path, seal_share
from protocols.shuffled_writer import ShuffledWriter
from shared.document import Document
from shared.encoding import embedded, represented, tokenised, tokenised_chunks
from shared.errors import CorpusError
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer
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
        yield block_of(represented(embedded(chunk, encoder.vectors), encoder.representer, noise))
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
    with ShuffledWriter(out, dim=encoder.representer.config.dim) as writer:
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
            tags=len(encoder.scheme.tags),
            value_bound=encoder.representer.value_bound,
            created=datetime.date.today(),
            software=f"deid-commons {version('deid-commons')}",
            protection=protection(encoder.representer),
        )
        return seal_share(out, fields, key)
    except BaseException:
        # A payload without its manifest is of no use to anybody, nor is the manifest of a payload that it replaced.
        for left in (out, manifest_path(out)):
            with suppress(OSError):
                left.unlink()
        raise


def protection(representer: Representer) -> dict[str, float]:
    """What the output noise guarantees by itself, whatever the attacker knows: see `mu_per_token`.

    The representation of a token lies in the unit ball, so two of them are at most 2 apart. In Gaussian differential
    privacy (Dong, Roth and Su 2022) noise of standard deviation s_i gives at worst mu = 2 / min(s_i) for one token. A word
    moves every token of its sentence, and k tokens compose to mu * sqrt(k).
    """
    scales = np.array(representer.noise_scales()["output"])
    return {
        "noise_sigma_min": float(scales.min()),
        "noise_sigma_mean": float(scales.mean()),
        "mu_per_token": float(2 / scales.min()),
    }
