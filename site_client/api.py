"""The pipeline of a release for programs in Python: text in, spans or de-identified text out. docs/python.md shows it.

    pipeline = Pipeline.load("deid")                    # a workspace; or the folder of a release, as it is
    for span in pipeline.annotate(text): ...
    safe = pipeline.deidentify(text, mode="redact").text

Nothing here logs, and no `repr` shows text of a note. What goes wrong raises a `foundation.errors.DeidError`; a text that can't be de-identified is
never handed back.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shared.corpus.checks import check_document
from shared.document import Document
from shared.errors import ConfigurationError
from shared.pipeline.pipeline import load_pipeline
from site_client import workspace
from site_client.deid.choices.config import DeidConfig, read_config
from site_client.deid.deidentify import Tally, deidentify
from site_client.deid.journal import Annotator
from site_client.deid.mode import Hiding, Mode, Setting
from site_client.deid.registry import DEFAULT, MODES
from site_client.own_head.in_use import load_in_use
from site_client.policy.enforcing import Step, judge_release, require_kept

_SETTINGS = "site.json"
_DECIDING = (_SETTINGS, "policy.json", "ledger.jsonl")
"""Files of a workspace that say which release and which head are in use, and what the policy allows."""


@dataclass(frozen=True)
class Span:
    """One stretch of PHI.

    Args:
        start, end: half-open, in code points, as Python slices a `str`.
        category: of the release's scheme, such as "PATIENT".
        confidence: probability that it is PHI; None where nobody knows.
    """

    start: int
    end: int
    category: str
    confidence: float | None = None


@dataclass(frozen=True)
class Deidentified:
    """A text that may be handed on as far as the pipeline is right.

    Args:
        text: it.
        spans: what was hidden, as offsets of the ORIGINAL text.
        mode: how.
    """

    text: str = field(repr=False)
    spans: tuple[Span, ...]
    mode: str


class Pipeline:
    """What finds PHI, and hides it.

    Args:
        annotator: the pipeline of a release; `load` makes it.
        categories: of its scheme.
        head_lines: which head it has, for people; empty where a hospital never adapted any.
        release: number of the release; None for a folder of one, or where there is none.
        config: what the hospital has settled: its lists, modes by category, surrogates; None for nothing.
    """

    def __init__(
        self,
        annotator: Annotator,
        categories: tuple[str, ...],
        head_lines: Sequence[str] = (),
        release: int | None = None,
        config: DeidConfig | None = None,
    ) -> None:
        self._annotator = annotator
        self.release = release
        self.categories = categories
        self.head_lines = tuple(head_lines)
        self._config = config

    @classmethod
    def load(cls, folder: str | Path, *, min_recall: float | None = None, config: str | Path | None = None) -> Pipeline:
        """The pipeline of a hospital's workspace, verified and held to the hospital's policy as `site-client deid` does, with the head that it has adapted where
        it uses one; or of a release's folder, as it is: nothing is verified there, and no policy is asked.

        Args:
            folder: of a workspace, or of a pulled release.
            min_recall: which of the operating points that the release promises: how many of the entities are hidden whole at a hospital that
                nobody has seen; None for its default point, or the best tags where it has none.
            config: the file that `site-client deid --config` takes: what it says holds in `deidentify`, lists among it; None for none.

        Raises:
            ConfigurationError: the release promises no such point, or the file says what no setting is.
            WorkspaceError: no pipeline was pulled.
            PolicyError: the release does not keep the hospital's policy.
            AdaptationError: the hospital uses a head that it has adapted, and its files have changed.
            ProtocolError, EmbeddingError, ModelError: the files have changed, or are damaged.
        """
        root, lines, number = Path(folder), list[str](), None
        if (root / _SETTINGS).is_file():
            opened = workspace.open_workspace(root)
            release = opened.pipeline_release()
            require_kept(opened, judge_release(opened, release.digest), Step.DEID)
            loaded, used = load_in_use(opened, release)
            lines, number = used.lines(), release.manifest.sequence
        else:
            loaded = load_pipeline(root)
        loaded = loaded if min_recall is None else loaded.at(min_recall)
        settled = None if config is None else read_config(Path(config))
        return cls(loaded, loaded.encoder.scheme.categories, lines, number, settled)

    def annotate(self, text: str) -> list[Span]:
        """The spans that are PHI, in order.

        Raises:
            FormatError: the text holds NUL or half a surrogate pair.
        """
        (found,) = self.annotate_batch([text])
        return found

    def annotate_batch(self, texts: Iterable[str]) -> Iterator[list[Span]]:
        """The same for many texts, which is faster; they are read as they are needed, and answered in their order."""
        for found in self._annotator.annotate(_documents(texts)):
            yield _spans(found)

    def deidentify(self, text: str, mode: str | Mode = DEFAULT.name) -> Deidentified:
        """The text with what is PHI hidden.

        Args:
            text: a note.
            mode: a name as `--mode` of `site-client deid` takes, beside which categories have those of the settings, or a mode, for all.

        Raises:
            ConfigurationError: no such mode, or one that hides nothing.
            FormatError: the text holds NUL or half a surrogate pair.
        """
        (done,) = self.deidentify_batch([text], mode)
        return done

    def deidentify_batch(self, texts: Iterable[str], mode: str | Mode = DEFAULT.name) -> Iterator[Deidentified]:
        """The same for many texts, which is faster; they are read as they are needed, and answered in their order."""
        chosen = mode if isinstance(mode, Mode) else self._settled(hiding_mode(mode))
        if not chosen.hides:
            raise _hides_nothing(chosen.name)
        name = chosen.name if isinstance(mode, Mode) else mode
        seen, lists = _Seen(chosen), None if self._config is None else self._config.lists
        for document in deidentify(self._annotator, _documents(texts), seen, Tally(), lists):
            yield Deidentified(document.text, seen.spans, name)

    def _settled(self, usual: Hiding) -> Mode:
        """A mode as the hospital wants it, with keys of its own; as usual where nothing is settled."""
        if self._config is None:
            return usual.prepared(Setting())
        return self._config.mode(usual).prepared(Setting(self._config.surrogates))


class CurrentPipeline:
    """The pipeline of a workspace as it is now, for a program that runs for long: what was pulled, adapted or forbidden since counts.

    Args:
        folder: of the workspace.
        min_recall, config: as for `Pipeline.load`.
    """

    def __init__(
        self, folder: str | Path, *, min_recall: float | None = None, config: str | Path | None = None
    ) -> None:
        self._root, self._min_recall, self._config = Path(folder), min_recall, config
        self._seen: object = None
        self._pipeline: Pipeline | None = None
        self._loading = threading.Lock()

    def __call__(self) -> Pipeline:
        """The pipeline, loaded anew where anything that decides about it has changed, or another day has come: a release may be too old by then.

        Raises:
            DeidError: as `Pipeline.load`, and again until that is put right; the one before is not handed out meanwhile.
        """
        with self._loading:
            # Before it is loaded: what changes meanwhile is seen the next time.
            deciding = [self._root / name for name in _DECIDING]
            if self._config is not None:
                deciding.append(Path(self._config))
            seen = (datetime.date.today(), *map(_version, deciding))
            if self._pipeline is None or seen != self._seen:
                self._pipeline = None
                self._pipeline = Pipeline.load(self._root, min_recall=self._min_recall, config=self._config)
                self._seen = seen
            return self._pipeline


def _version(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def hiding_mode(name: str) -> Hiding:
    """A mode by its name.

    Raises:
        ConfigurationError: there is none, or it hides nothing.
    """
    if name not in MODES:
        raise ConfigurationError(f"mode: expected one of {', '.join(hiding_modes())}, got another; choose one of these")
    mode = MODES[name]
    if not isinstance(mode, Hiding):
        raise _hides_nothing(name)
    return mode


def hiding_modes() -> list[str]:
    """The names of modes that hide."""
    return [name for name, mode in MODES.items() if mode.hides]


def _hides_nothing(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"mode {name}: expected one that hides, got one that does not; ask for spans by `annotate`"
    )


class _Seen(Mode):
    """Another mode, and what it was last given."""

    name = "seen"
    writes = ""
    format = "txt"
    hides = True

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self.spans: tuple[Span, ...] = ()

    def turn(self, document: Document) -> Document:
        """As the other does."""
        self.spans = tuple(_spans(document))
        return self._mode.turn(document)


def _documents(texts: Iterable[str]) -> Iterator[Document]:
    # Each of its letters would be a note of its own, in which nothing is found.
    if isinstance(texts, str | bytes):
        raise ConfigurationError("texts: expected several notes, got one; put it into a list")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ConfigurationError(f"text {number}: expected a note as a str, got something else")
        document = Document(str(number), text)
        check_document(document)
        yield document


def _spans(document: Document) -> list[Span]:
    return [Span(one.start, one.end, one.category, one.confidence) for one in document.annotations]
