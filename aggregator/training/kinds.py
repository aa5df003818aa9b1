"""Which kind of tagger `train-head` trains, what a training begins with, and how the pool is read for it.

The paper's first tagger takes vectors, which the codes of a share are read into. One that reads words is shown those that a draw of the codes
writes, and nothing else of a share: what it learns of a hospital is what the share tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from aggregator.training.defences.defence import Learn
from foundation.reading import file_sha256
from shared.constructions.construction import Construction
from shared.constructions.drawn_words import DrawnWords, drawn_for
from shared.constructions.files import digest_of
from shared.errors import ConfigurationError
from shared.models.language_model import load_language_model
from shared.progress import Progress, silent
from shared.sentences.ragged import SentenceSource
from shared.taggers.khin2018 import Khin2018, Khin2018Config
from shared.taggers.registry import DEFAULT, TAGGERS
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.taggers.transformer.checkpoint import CONFIG, TOKENIZER, WEIGHTS, start_from_checkpoint
from shared.taggers.transformer.transformer import Transformer
from shared.text.language import guess_vocabulary
from shared.text.parts_of_speech import LANGUAGES
from shared.training.fine_tuning.recipe import RECIPE
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig, train_tagger


@dataclass(frozen=True)
class TaggerOptions:
    """What was asked for.

    Args:
        kind: of TAGGERS.
        language_model: folder of one of `train-lm`, for khin2018; None for none.
        checkpoint: folder of a pretrained network, for the transformer, which needs it.
        window: pieces that a transformer reads at a time; None for the paper's.
        crf: whether a transformer scores the tags of a sentence together, by our CRF.

    Raises:
        ConfigurationError: what does not go together.
    """

    kind: str = DEFAULT
    language_model: Path | None = None
    checkpoint: Path | None = None
    window: int | None = None
    crf: bool = False

    def __post_init__(self) -> None:
        if self.kind not in TAGGERS:
            raise ConfigurationError(f"--tagger: expected one of {', '.join(TAGGERS)}, got {self.kind!r}")
        if self.language_model is not None and self.kind != Khin2018.kind:
            raise ConfigurationError(f"--language-model is read by --tagger {Khin2018.kind}: give both, or neither")
        if (self.checkpoint is not None) != (self.kind == Transformer.kind):
            raise ConfigurationError(
                f"--tagger {Transformer.kind} begins with the network of --checkpoint FOLDER: give both, or neither"
            )
        if self.settings and self.kind != Transformer.kind:
            raise ConfigurationError(
                f"--window and --crf are of --tagger {Transformer.kind}: leave them out, or give it"
            )

    @property
    def settings(self) -> dict[str, int]:
        """What a transformer has otherwise than its paper."""
        window = {} if self.window is None else {"window": self.window}
        return window | ({"crf": 1} if self.crf else {})

    def facts(self) -> dict[str, str | int | None]:
        """What decides the head, for its record, and which extra whoever gets it needs."""
        extra = TAGGERS[self.kind].extra
        return {
            "kind": self.kind,
            **({"extra": extra} if extra else {}),
            "language model": _digest(self.language_model, ("language.safetensors", "language.json")),
            "checkpoint": _digest(self.checkpoint, (WEIGHTS, CONFIG, TOKENIZER)),
            **self.settings,
        }


def _digest(folder: Path | None, names: Sequence[str]) -> str | None:
    """Of all files there that decide a head."""
    return None if folder is None else digest_of([file_sha256(folder / name) for name in names])


def recipe_of(kind: str, epochs: int, seed: int, batch: int | None = None) -> TaggingConfig:
    """How heads of a kind are trained: a transformer as its paper fine-tunes, the others as ours.

    Args:
        kind: of TAGGERS.
        epochs, seed: of the training.
        batch: sentences a step; None for as many as the kind's recipe has.
    """
    recipe = RECIPE if kind == Transformer.kind else TaggingConfig()
    return replace(recipe, epochs=epochs, seed=seed, batch=batch or recipe.batch)


@dataclass(frozen=True)
class HeadKind:
    """How heads of one kind come about.

    Args:
        drawn: reads the codes of the pool for one that reads words; None for one that takes vectors.
        learn: trains one.
    """

    drawn: DrawnWords | None
    learn: Learn


@dataclass(frozen=True)
class _Begun:
    """Trains taggers that begin with more than fresh weights; those of a shape that is given begin as ever."""

    begin: Callable[[int], Tagger]
    train: Callable[..., Tagger]

    def __call__(
        self,
        source: SentenceSource,
        tags: int,
        config: TaggingConfig,
        *,
        shape: TaggerConfig | None = None,
        progress: Progress = silent,
        checkpoint: Path | None = None,
    ) -> Tagger:
        start = self.begin(config.seed) if shape is None else None
        return self.train(source, tags, config, shape=shape, progress=progress, checkpoint=checkpoint, start=start)


def head_kind(
    options: TaggerOptions, construction: Construction, train: Callable[..., Tagger] = train_tagger
) -> HeadKind:
    """What trains heads of the kind that was asked for on shares of a construction.

    Args:
        options: what was asked for.
        construction: that made the shares.
        train: `train_tagger`, or what stands in for it.

    Raises:
        ConfigurationError: a kind that reads words, and shares that hold none, or the language model is of another size.
        ModelError: what it begins with is missing, damaged or of another kind.
    """
    if not TAGGERS[options.kind].reads_words:
        return HeadKind(None, train)
    decoding = construction.decoding()
    if decoding is None:
        raise ConfigurationError(
            f"--tagger {options.kind}: expected shares of codes, which can be read as words, got those of a construction without; use "
            f"--tagger {DEFAULT}"
        )
    begin = partial(_khin if options.checkpoint is None else _transformer, options, construction)
    return HeadKind(drawn_for(begin(0), decoding), _Begun(begin, train))


def _khin(options: TaggerOptions, construction: Construction, seed: int) -> Tagger:
    model = None if options.language_model is None else load_language_model(options.language_model)
    spoken = guess_vocabulary(construction.vectors.words)
    config = Khin2018Config(
        construction.dim,
        len(construction.scheme.tags),
        context=0 if model is None else model.config.units,
        language=LANGUAGES.index(spoken) if spoken in LANGUAGES else 0,
    )
    with seed_training(seed):
        head = Khin2018(config)
    if model is not None:
        head.take_language_model(model)
    return head


def _transformer(options: TaggerOptions, construction: Construction, seed: int) -> Tagger:
    assert options.checkpoint is not None
    tags = len(construction.scheme.tags)
    return start_from_checkpoint(options.checkpoint, construction.dim, tags, seed, **options.settings)
