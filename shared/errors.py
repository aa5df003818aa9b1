"""Every error that `shared` raises on purpose, as one tree.

DeidError (foundation)
├── ConfigurationError      a setting that cannot work
│   └── MissingExtraError   what is asked for needs libraries that are not installed
├── CorpusError             notes or annotations that can't be trusted as they are
│   ├── FormatError         a file is not in the format it claims, or in none we know
│   ├── AnnotationError     a span that does not fit its text or another span; none where there must be labels
│   └── LabelError          a label that the scheme in use does not know
├── EmbeddingError          word vectors that are damaged or do not fit
├── ModelError              weights that do not fit the model that should load them
├── TrainingError           a training that can't start or has diverged
│   └── ProcessLostError    one of the processes that train together has ended or is silent
├── LostReaderError         one of the processes that read notes together has ended
└── EvaluationError         gold and system that can't be compared

What goes wrong with a file is a `foundation.errors.StorageError`.

A message says what was expected, what came instead and what to do, on one line. It names a document by its id
and a place by its offset; it never quotes the text of a note.

`exit_code` is what the command line returns for the error; docs/exit-codes.md lists them.
"""

from __future__ import annotations

from foundation.errors import DeidError


class ConfigurationError(DeidError):
    """A setting that cannot work."""

    exit_code = 2


class MissingExtraError(ConfigurationError):
    """What is asked for needs the libraries of an extra of this package, which is not installed."""


class CorpusError(DeidError):
    """Notes that can't be used as they are.

    Args:
        problem: what was expected, what came, what to do; no text of the note.
        document: id of the document or name of the file, where known.
        place: where in it, such as "line 3" or "characters 10-14".
    """

    exit_code = 3

    def __init__(self, problem: str, *, document: str = "", place: str = "") -> None:
        self.problem = problem
        self.document = document
        self.place = place
        where = ", ".join(part for part in (document, place) if part)
        super().__init__(f"{where}: {problem}" if where else problem)


class FormatError(CorpusError):
    """A file is not in the format it claims, or in none we know."""


class AnnotationError(CorpusError):
    """A span that does not fit its text or another span; none where there must be labels."""


class LabelError(CorpusError):
    """A label that the scheme in use does not know."""


class EmbeddingError(DeidError):
    """Word vectors that are damaged or do not fit."""

    exit_code = 4


class ModelError(DeidError):
    """Weights that do not fit the model that should load them."""

    exit_code = 5


class TrainingError(DeidError):
    """A training that can't start or has diverged."""

    exit_code = 6


class ProcessLostError(TrainingError):
    """One of the processes that train together has ended or is silent."""


class LostReaderError(DeidError):
    """One of the processes that read notes together has ended."""

    exit_code = 6


class EvaluationError(DeidError):
    """Gold and system that can't be compared."""

    exit_code = 7
