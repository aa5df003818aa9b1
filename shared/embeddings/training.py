"""Training fastText word vectors (Bojanowski et al. 2017) on public texts with gensim's skip-gram.

The texts may come from a stream that is read once: they are cut into tokens as they come, and the tokens go as numbers
to an unnamed temporary file, four bytes each. Memory holds the distinct words only, and no text lies readable on the
disk.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import numpy as np

from foundation.errors import StorageError
from shared.embeddings.subwords import LONGEST_NGRAM, Subwords
from shared.embeddings.vectors import WordVectors, all_finite, unit_rows
from shared.errors import ConfigurationError, TrainingError

# Tokens read back at a time; a negative number in the file ends a sentence.
_BLOCK_TOKENS = 1 << 16
_END = -1


@dataclass(frozen=True, slots=True)
class FastTextSettings:
    """How to train.

    Args:
        dim: numbers in a vector.
        epochs: passes over the texts.
        window: most tokens between a word and its context.
        min_count: a rarer word gets no vector of its own, only that of its n-grams.
        buckets: rows for n-grams, all of which a release carries; fastText's own 2,000,000 serve texts a thousand times
            ours.
        minn: characters of the shortest n-gram.
        maxn: characters of the longest n-gram.
        workers: threads; only with 1 does the same seed give the same vectors.
    """

    dim: int = 100
    epochs: int = 8
    window: int = 5
    min_count: int = 2
    buckets: int = 50_000
    minn: int = 3
    maxn: int = 6
    workers: int = 1

    def __post_init__(self) -> None:
        for name in ("dim", "epochs", "window", "min_count", "buckets", "minn", "workers"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"expected {name} of at least 1, got {getattr(self, name)}; raise it")
        if not self.minn <= self.maxn <= LONGEST_NGRAM:
            raise ConfigurationError(
                f"expected n-grams with minn <= maxn <= {LONGEST_NGRAM}, got {self.minn} to {self.maxn}; choose others"
            )


def train_fasttext(
    texts: Iterable[str],
    settings: FastTextSettings | None = None,
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: Path | None = None,
) -> WordVectors:
    """Train word vectors of kind "subwords", or go on with a training that was cut: with one worker it ends in the same vectors.

    Args:
        texts: notes or other texts, public ones: word vectors remember rare words. Read once.
        settings: how to train; the defaults if None.
        seed: starting point of the training.
        progress: called with tokens passed and tokens in all while training; from another thread.
        checkpoint: file that keeps the training after each epoch; None keeps nothing.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: no word is frequent enough, or the training diverged.
        StorageError: the temporary file can't be written.
    """
    settings = settings or FastTextSettings()
    with _spool_errors():
        spool = tempfile.TemporaryFile(prefix="deid-commons-")  # noqa: SIM115 - closed by the with below
    with spool:
        return _trained(_Sentences(spool, texts, settings, progress), settings, seed, checkpoint)


@contextmanager
def _spool_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError("a temporary file for training", received=reason, advice="free space in TMPDIR") from error


class _Sentences:
    """Sentences of words, over and over, from numbers on the disk."""

    def __init__(
        self,
        spool: IO[bytes],
        texts: Iterable[str],
        settings: FastTextSettings,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._spool = spool
        self._progress = progress
        self._passed = 0
        self._digest = hashlib.sha256()
        self.counts: dict[str, int] = {}
        self.sentences = 0
        self._spool_all(texts)
        self.tokens = sum(self.counts.values())
        self._total = self.tokens * settings.epochs
        self._words = list(self.counts)

    def _spool_all(self, texts: Iterable[str]) -> None:
        # Imported here: the table of combining marks costs time that reading vectors need not pay.
        from shared.text.tokens import tokenise

        numbers: dict[str, int] = {}
        for text in texts:
            tokens = tokenise(text)
            flat: list[int] = []
            for start, end in tokens.sentences():
                flat += [numbers.setdefault(word, len(numbers)) for word in tokens.words[start:end]]
                flat.append(_END)
                self.sentences += 1
            for word in tokens.words:
                self.counts[word] = self.counts.get(word, 0) + 1
            data = np.array(flat, dtype=np.int32).tobytes()
            self._digest.update(data)
            with _spool_errors():
                self._spool.write(data)
        with _spool_errors():
            self._spool.flush()

    @property
    def digest(self) -> str:
        """SHA-256 of all words in their order."""
        words = json.dumps(self._words).encode()
        return hashlib.sha256(words + self._digest.digest()).hexdigest()

    def pass_over(self, epochs: int) -> None:
        """Go on where so many passes are done."""
        self._passed = self.tokens * epochs
        if self._progress is not None:
            self._progress(self._passed, self._total)

    def __iter__(self) -> Iterator[list[str]]:
        self._spool.seek(0)
        rest = np.zeros(0, dtype=np.int32)
        while block := self._spool.read(4 * _BLOCK_TOKENS):
            flat = np.concatenate([rest, np.frombuffer(block, dtype=np.int32)])
            ends = np.flatnonzero(flat == _END).tolist()
            start = 0
            for end in ends:
                yield [self._words[number] for number in flat[start:end].tolist()]
                start = end + 1
            rest = flat[start:]
            if self._progress is not None:
                self._passed = min(self._passed + len(flat) - len(rest) - len(ends), self._total)
                self._progress(self._passed, self._total)


def _trained(sentences: _Sentences, settings: FastTextSettings, seed: int, checkpoint: Path | None) -> WordVectors:
    if max(sentences.counts.values(), default=0) < settings.min_count:
        raise TrainingError(
            f"expected words seen at least {settings.min_count} times, got none; give more text or lower min_count"
        )
    # gensim takes seconds to import and is needed for training only.
    from shared.embeddings.epochs import EpochwiseFastText

    model = EpochwiseFastText(
        vector_size=settings.dim,
        window=settings.window,
        min_count=settings.min_count,
        bucket=settings.buckets,
        min_n=settings.minn,
        max_n=settings.maxn,
        workers=settings.workers,
        sg=1,
        seed=seed,
    )
    model.build_vocab_from_freq(sentences.counts, corpus_count=sentences.sentences)
    if checkpoint is not None:
        told = {"settings": asdict(settings), "seed": seed, "texts": sentences.digest}
        model.keep_epochs(checkpoint, told)
        sentences.pass_over(model.epochs_done)
    model.train(
        corpus_iterable=sentences,
        total_examples=sentences.sentences,
        total_words=sentences.tokens,
        epochs=settings.epochs,
    )
    return _taken_over(model.wv.index_to_key, model.wv.vectors, model.wv.vectors_ngrams, settings)


def _taken_over(words: list[str], matrix: object, buckets: object, settings: FastTextSettings) -> WordVectors:
    own = np.array(matrix, dtype=np.float32)
    grams = np.array(buckets, dtype=np.float32)
    if not all_finite(own) or not all_finite(grams):
        raise TrainingError("expected finite vectors, but the training diverged; use fewer epochs or more text")
    return WordVectors(words, unit_rows(own), Subwords(settings.minn, settings.maxn, grams))
