"""A head that has never seen a share: the head of the pool labels public text, and the one that is released learns from that.

A head remembers what it learned from, so whoever has a note and its labels can tell whether the note was in the pool. A student remembers public text.
Of a share it knows what its teacher makes of public words, and nothing else (Hinton et al. 2015, section 2; Papernot et al. 2017, section 2.2, without its noise:
there is no epsilon here). Where the teacher isn't sure nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregator.training.defences.defence import Defence, Defended, Lesson, PoolMaterial
from aggregator.training.pool import PUBLIC, as_sentences
from aggregator.training.representer import block_of
from protocols.payload.opening import create_payload, open_payload
from protocols.payload.sentence_block import CODES
from shared.constructions.construction import Construction
from shared.corpus import read_corpus
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG
from shared.models.noise_source import PrivateNoise
from shared.sentences.codes import SharedCodes
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.taggers.pseudo_labels import pseudo_labels
from shared.taggers.tagger import Tagger

LEAST_SURE = 0.9
"""Probability from which on a label of the teacher counts."""
_TEXT = "(public text)"
_FILE = "text.parquet"


def digest_of_text(sources: Sequence[Path]) -> str | None:
    """Of all that is learned from; None where there is none.

    Raises:
        CorpusError, StorageError: notes that can't be read.
    """
    if not sources:
        return None
    found = sha256()
    for note in _notes(sources):
        found.update(note.digest.encode())
    return found.hexdigest()


def encode_text(sources: Sequence[Path], construction: Construction, folder: Path) -> Path:
    """Public text as codes, in the order of its notes.

    Args:
        sources: files and folders of notes; their labels, if they have any, are left out.
        construction: that made the shares.
        folder: for the payload.

    Raises:
        ConfigurationError: the construction makes no codes, or there is no token.
        CorpusError, StorageError: notes that can't be read, no room.
    """
    if construction.decoding() is None:
        raise ConfigurationError(
            "--distil: expected shares of codes, as which public text can be read, too, got those of a construction without; leave it out"
        )
    path, noise = folder / _FILE, PrivateNoise()
    bare = (Document(note.identifier, note.text) for note in _notes(sources))
    with create_payload(path, dim=CODES, features=construction.rows().features) as writer:
        for chunk in tokenised_chunks(tokenise_documents(bare), construction.scheme):
            shown = construction.share_public_sentences(index_sentences([chunk], construction.vectors)[0], noise)
            assert isinstance(shown, SharedCodes)
            writer.append(block_of(shown))
        if not writer.sentences:
            raise ConfigurationError("--distil: expected notes with at least one token, got none; check the folder")
    return path


def _notes(sources: Sequence[Path]) -> Iterator[Document]:
    for source in sources:
        yield from read_corpus(source)


class Distillation(Defence):
    """Another defence's head is the teacher; what it finds in public text, and the provider's own notes, train the one that is released.

    Args:
        teaching: trains the teacher on the pool.
        text: payload of `encode_text`.
    """

    name = "distillation"
    title = "the head learns from public text, as that of the pool labels it"

    def __init__(self, teaching: Defence, text: Path) -> None:
        self._teaching, self._text = teaching, text

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence. The student takes as many steps as the teacher, in whole passes; sizes and counts are of the teacher's training."""
        taught = self._teaching.train(material)
        steps = material.config.epochs * -(-taught.sentences // material.batch)
        with TemporaryDirectory() as folder:
            labelled = Path(folder) / _FILE
            lesson = self._label(taught.head, material, labelled)
            shown = _shown(material, labelled, steps)
            with shown.pool() as pool:
                student = shown.learn_from(pool, "student")
        return replace(taught, head=student, lesson=lesson)

    def steps(self, material: PoolMaterial) -> tuple[int, ...]:
        """See Defence. The text counts as if it held no PHI: where it does, nobody knows yet."""
        taught = self._teaching.steps(material)
        shown = _shown(material, self._text, taught[-1])
        with shown.pool() as pool:
            return (*taught, shown.config.epochs * -(-pool.sentences // material.batch))

    def _label(self, teacher: Tagger, material: PoolMaterial, path: Path) -> Lesson:
        tokens = sure = phi = 0
        with open_payload(self._text) as text, create_payload(path, dim=CODES, features=text.features) as writer:
            for index in range(text.blocks):
                block = text.read_block(index)
                tags = pseudo_labels(teacher, material.read(as_sentences(block)), LEAST_SURE)
                writer.append(replace(block, tags=tags))
                known = tags != UNKNOWN_TAG
                tokens, sure, phi = tokens + len(tags), sure + int(known.sum()), phi + int((known & (tags > 0)).sum())
        return Lesson(teacher, tokens, sure, phi)


def _shown(material: PoolMaterial, text: Path, steps: int) -> PoolMaterial:
    """What a student learns from, in whole passes of at least so many steps together."""
    public = {site: paths for site, paths in material.payloads.items() if site == PUBLIC}
    shown = replace(material, payloads={**public, _TEXT: (text,)})
    with shown.pool() as pool:
        passes = max(1, -(-steps * material.batch // max(1, pool.sentences)))
    return replace(shown, config=replace(material.config, epochs=passes, least_steps=0))
