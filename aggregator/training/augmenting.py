"""What `--augment` asks for, as edits of sentences: of `train-head` and of `train-repr`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundation.reading import file_sha256
from shared.augment.augmentation import METHODS, Augmentation, Edit
from shared.augment.context import Context
from shared.augment.entities import entities_of, read_entities
from shared.augment.recasing import Recasing
from shared.augment.shorthand import Shorthand
from shared.augment.wordnet import WordNet, read_wordnet
from shared.constructions.augmented import AugmentedReading
from shared.constructions.construction import Construction
from shared.constructions.drawn_words import DrawnWords
from shared.errors import ConfigurationError
from shared.labels import LabelScheme
from shared.text.language import guess_vocabulary

PHI, CONTEXT, SHORTHAND, RECASE = METHODS
ALPHA = 2
"""The paper's recommendation; with the default share of recased copies, as many altered sentences in a pass as others."""


@dataclass(frozen=True)
class AugmentOptions:
    """What was asked for.

    Args:
        methods: some of METHODS; none for no copies; None for the default of whoever trains.
        alpha: copies for each sentence as it is.
        entities: lists of entities that categories are drawn from, in the place of ours; only for "phi".
        wordnet: folder of WordNet; only for "context", which needs it.

    Raises:
        ConfigurationError: what does not go together.
    """

    methods: tuple[str, ...] | None = None
    alpha: int = ALPHA
    entities: Path | None = None
    wordnet: Path | None = None

    def __post_init__(self) -> None:
        asked = self.methods or ()
        if unknown := sorted(set(asked) - set(METHODS)):
            raise ConfigurationError(f"--augment: expected some of {', '.join(METHODS)}, or none, got {unknown[0]!r}")
        if (CONTEXT in asked) != (self.wordnet is not None):
            raise ConfigurationError(
                "--augment context takes its synonyms from --wordnet FOLDER: give both, or neither"
            )
        if self.entities is not None and PHI not in asked:
            raise ConfigurationError("--entities are drawn by --augment phi: give both, or neither")
        # An alpha that can't be is refused before anything is read.
        Augmentation((), self.alpha)


@dataclass(frozen=True, repr=False)
class Augmenting:
    """What copies are made by, and what the record says of it.

    Args:
        augmentation: makes them; None for none.
        facts: in JSON's types.
    """

    augmentation: Augmentation | None
    facts: dict[str, Any]


def make_augmenting(
    options: AugmentOptions, scheme: LabelScheme, vocabulary: Sequence[str], default: tuple[str, ...] = ()
) -> Augmenting:
    """Read what is needed, and put it together.

    Args:
        options: what was asked for.
        scheme: of the labels.
        vocabulary: words of the release, the commonest first: WordNet is English.
        default: methods where none were asked for.

    Raises:
        ConfigurationError: a file is not what it should be, or the notes are of another language.
        StorageError: a file can't be read.
    """
    methods = default if options.methods is None else options.methods
    if not methods:
        return Augmenting(None, {"methods": []})
    edits: list[Edit] = []
    wordnet = None
    if PHI in methods:
        edits.append(entities_of(scheme, None if options.entities is None else read_entities(options.entities)))
    if CONTEXT in methods:
        wordnet = _wordnet(options.wordnet, vocabulary)
        edits.append(Context(wordnet))
    if SHORTHAND in methods:
        _require_english(SHORTHAND, "what it leaves out", vocabulary)
        edits.append(Shorthand())
    if RECASE in methods:
        edits.append(Recasing())
    facts = {
        "methods": [method for method in METHODS if method in methods],
        "alpha": options.alpha,
        "entities": None if options.entities is None else file_sha256(options.entities),
        "wordnet": None if wordnet is None else wordnet.digest,
    }
    return Augmenting(Augmentation(tuple(edits), options.alpha), facts)


def augmented_reading(
    options: AugmentOptions, construction: Construction, drawn: DrawnWords | None = None
) -> tuple[AugmentedReading | None, dict[str, Any]]:
    """What reads the codes of a pool for training, and the facts of it.

    By default, where shares hold codes, sentences are recased, and English ones written in shorthand.

    Args:
        options: what was asked for.
        construction: that made the shares.
        drawn: reads their codes for a head that reads words; None for one that takes vectors.

    Raises:
        ConfigurationError: as for `make_augmenting`, or the shares hold no words to be changed.
    """
    decoding = construction.decoding() if drawn is None else drawn
    if decoding is None and options.methods:
        raise ConfigurationError(
            "--augment: expected shares of codes, whose sentences can be written anew, got those of a construction without; "
            "use --augment none"
        )
    vocabulary = construction.vectors.words
    english = guess_vocabulary(vocabulary) == "English"
    default = () if decoding is None else (SHORTHAND, RECASE) if english else (RECASE,)
    made = make_augmenting(options, construction.scheme, vocabulary, default)
    if decoding is None or made.augmentation is None:
        return None, made.facts
    return AugmentedReading(decoding, made.augmentation), made.facts


def _require_english(method: str, what: str, vocabulary: Sequence[str]) -> None:
    if guess_vocabulary(vocabulary) not in (None, "English"):
        raise ConfigurationError(
            f"--augment {method}: expected English notes, since {what} is English, got word vectors of another language; leave it out"
        )


def _wordnet(folder: Path | None, vocabulary: Sequence[str]) -> WordNet:
    _require_english(CONTEXT, "WordNet", vocabulary)
    assert folder is not None
    return read_wordnet(folder)
