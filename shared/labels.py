"""Label schemes, the mappings between them, and the BIO tags that stand for spans.

Schemes and mappings are data files in `shared/schemes`; a hospital writes a mapping of its own labels in the same form.

Tags run over the whole document. A token that a span touches is inside the span, so a span that cuts a token grows to
the whole token: more is hidden, never less. Labelled notes are cut so that no token reaches beyond a span, see
`shared.text.labelled`. `I-X` at the start of a sentence continues the span of the sentence before.

A hospital may label more than the scheme has categories for. Such spans are HIDDEN on their way into a share: their tokens
have HIDDEN_TAG, which is no tag of any scheme, so that what forgets to hide them is refused by whatever checks tags.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_text
from foundation.os_errors import storage_error
from foundation.reading import read_text
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import ConfigurationError, LabelError, ModelError

Note = TypeVar("Note", bound=AnnotatedText)

MAX_CATEGORIES = 127  # tags travel as uint8: 1 + 2 * 127 = 255
HIDDEN = ""
"""Category of a span that is PHI of no category of the scheme."""
OTHER = "OTHER"
"""What such spans are called where people see them, or where something stands in their place."""
HIDDEN_TAG = 255
"""Tag of each of its tokens: one more than any scheme can have."""
UNKNOWN_TAG = HIDDEN_TAG
"""In a share, and in a training: tag of a token of which nobody knows whether it is PHI. Any may stand there, so it teaches nothing and is not scored."""
_LABEL = re.compile(r"[A-Z][A-Z0-9_.:/-]*|[a-z][a-z0-9_.:/-]*")


@dataclass(frozen=True)
class LabelScheme:
    """The PHI categories of a corpus and their BIO tags.

    Args:
        name: short name that manifests carry.
        categories: the categories in tag order, none twice.

    Raises:
        ConfigurationError: no categories, one twice, more than MAX_CATEGORIES, or a name that is no line of a screen.
    """

    name: str
    categories: tuple[str, ...]

    def __post_init__(self) -> None:
        unique = len(set(self.categories)) == len(self.categories)
        # A name that ends a line would write others on the screen of who approves a share, and into notes.
        named = all(0 < len(one) <= 100 and one.isprintable() for one in self.categories)
        if not (1 <= len(self.categories) <= MAX_CATEGORIES and unique and named):
            of = f"1 to {MAX_CATEGORIES} different categories of 1 to 100 printable characters"
            raise ConfigurationError(f"label scheme {self.name!r}: expected {of}, got {len(self.categories)}")

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """First "O", then "B-X" and "I-X" of each category: the tag of index 2c+1 begins category c, 2c+2 continues it."""
        return ("O", *(f"{prefix}-{category}" for category in self.categories for prefix in "BI"))

    @cached_property
    def category_index(self) -> dict[str, int]:
        """Number of each category."""
        return {category: index for index, category in enumerate(self.categories)}


def scheme_names() -> tuple[str, ...]:
    """Names of the schemes that come with the project."""
    folder = resources.files("shared") / "schemes"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def _bundled(name: str) -> dict[str, object]:
    if name not in scheme_names():
        raise ConfigurationError(
            f"expected a label scheme among {', '.join(scheme_names())} or a .toml file, got {name!r}"
        )
    return tomllib.loads((resources.files("shared") / "schemes" / f"{name}.toml").read_text(encoding="utf-8"))


def _read(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise storage_error(path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path.name}: expected TOML in UTF-8; correct the file") from error


def load_scheme(name: str) -> LabelScheme:
    """A scheme by its name, or from a TOML file with `name` and `categories`.

    Raises:
        ConfigurationError: there is none of that name, or the file is not in the form of `shared/schemes`.
    """
    data = _read(Path(name)) if name.endswith(".toml") else _bundled(name)
    categories = data.get("categories")
    if not isinstance(categories, list) or not all(isinstance(category, str) for category in categories):
        raise ConfigurationError(f"{name}: expected a list of strings under `categories`")
    return LabelScheme(str(data.get("name", name)), tuple(categories))


def save_scheme(scheme: LabelScheme, folder: Path) -> None:
    """Write scheme.json."""
    write_text(
        folder / "scheme.json",
        json.dumps({"name": scheme.name, "categories": scheme.categories}, indent=1),
        private=False,
    )


_MAX_SCHEME_BYTES = 1 << 20
_BETWEEN = re.compile(r"[\W_]+")


def load_scheme_file(folder: Path) -> LabelScheme:
    """The label scheme in scheme.json.

    Raises:
        ModelError: the file is not what `save_scheme` writes.
    """
    try:
        data = json.loads(read_text(folder / "scheme.json", _MAX_SCHEME_BYTES))
        return LabelScheme(str(data["name"]), tuple(map(str, data["categories"])))
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise ModelError("scheme.json: expected a label scheme; pull the release again") from error


@cache
def _listed_in_schemes(key: str) -> frozenset[str]:
    named: set[str] = set()
    for name in scheme_names():
        listed = _bundled(name).get(key, [])
        assert isinstance(listed, list)
        named.update(map(plain_name, listed))
    return frozenset(named)


def plain_name(category: str) -> str:
    """A category's name as people compare it: without capitals and what stands between words."""
    return _BETWEEN.sub("", category).casefold()


def categories_of_any_form(scheme: LabelScheme) -> frozenset[int]:
    """Categories whose spans are of many lengths and forms, such as addresses, so that these would tell a person; by their numbers.

    Told by the names that the schemes of the project have for them, and so is any category that none of them knows: no release can say
    otherwise, by spelling a name in another way or by inventing one.
    """
    known = _listed_in_schemes("categories")
    own = {index for category, index in scheme.category_index.items() if plain_name(category) not in known}
    return _numbers(scheme, "any_form") | own


def categories_known_of_patients(scheme: LabelScheme) -> frozenset[int]:
    """Categories that people know of a patient whom they look for: name, dates, numbers, where somebody lives and is treated; by their numbers."""
    return _numbers(scheme, "known_of_patients")


def categories_of_dates(scheme: LabelScheme) -> frozenset[int]:
    """Categories of days, by their numbers."""
    return _numbers(scheme, "dates")


def categories_of_names(scheme: LabelScheme, named: str) -> frozenset[str]:
    """Categories of names.

    Args:
        scheme: whose.
        named: "people", "institutions", "towns", "dates" or "ages".
    """
    listed = _listed_in_schemes(named)
    return frozenset(category for category in scheme.categories if plain_name(category) in listed)


def _numbers(scheme: LabelScheme, key: str) -> frozenset[int]:
    listed = _listed_in_schemes(key)
    return frozenset(index for category, index in scheme.category_index.items() if plain_name(category) in listed)


def load_mapping(source: str, target: str) -> dict[str, str]:
    """The bundled mapping from one scheme to another, "" for what the target does not count as PHI.

    Raises:
        ConfigurationError: there is none.
    """
    if source == target:
        return {category: category for category in load_scheme(source).categories}
    tables = _bundled(source).get("to", {})
    assert isinstance(tables, dict)
    if target not in tables:
        raise ConfigurationError(
            f"expected a mapping from {source!r} to one of {', '.join(tables) or 'none'}, got {target!r}; write a file of your own"
        )
    return dict(tables[target])


def load_mapping_file(path: Path, target: LabelScheme) -> dict[str, str]:
    """A hospital's own mapping: a TOML table `[map]` from its labels to the target's categories, "" for none.

    Raises:
        ConfigurationError: the file is not in that form, or maps to a category that the target does not have.
    """
    table = _read(path).get("map")
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise ConfigurationError(
            f'{path.name}: expected a table [map] with lines such as OUR_LABEL = "{target.categories[0]}"'
        )
    unknown = sorted(set(table.values()) - set(target.categories) - {""})
    if unknown:
        raise ConfigurationError(
            f"{path.name}: {unknown[0]!r} is no category of {target.name}; it has {', '.join(target.categories)}"
        )
    return dict(table)


def name_label(name: str) -> str:
    """A label for a message, which may hold no PHI: quoted where it is written like one."""
    return repr(name) if _LABEL.fullmatch(name) else "one that is not shown, for people write names there, too"


def map_document(document: Note, mapping: Mapping[str, str], *, to_share: bool = False) -> Note:
    """The document in the words of another scheme.

    Args:
        document: its categories are keys of `mapping`.
        mapping: to the other scheme, "" for what that does not count as PHI.
        to_share: whether spans that map to "" are kept, as HIDDEN, and not dropped.

    Raises:
        LabelError: a category is not in the mapping: nothing is guessed and nothing is dropped silently.
    """
    kept = []
    for span in document.annotations:
        if span.category not in mapping:
            raise LabelError(
                f'expected labels of the mapping, got {name_label(span.category)}; add a line for it, with "" if the release has no category for it',
                document=document.identifier,
                place=f"characters {span.start}-{span.end}",
            )
        if mapping[span.category] or to_share:
            kept.append(replace(span, category=mapping[span.category]))
    return replace(document, annotations=tuple(kept))


def with_other(document: Note) -> Note:
    """The document with OTHER in the place of HIDDEN."""
    if not any(span.category == HIDDEN for span in document.annotations):
        return document
    return replace(
        document, annotations=tuple(replace(span, category=span.category or OTHER) for span in document.annotations)
    )


def with_known(document: Note, known: Set[str]) -> Note:
    """The document with OTHER in the place of every label that is no category: people write anything into that field, names too.

    Args:
        document: with its labels.
        known: the categories.
    """
    if all(span.category in known for span in document.annotations):
        return document
    return replace(
        document,
        annotations=tuple(
            span if span.category in known else replace(span, category=OTHER) for span in document.annotations
        ),
    )


def without_unmapped(document: Note) -> Note:
    """The document without spans of no category."""
    return replace(document, annotations=tuple(span for span in document.annotations if span.category != HIDDEN))


def encode_tags(spans: NDArray[np.int32], document: Document, scheme: LabelScheme) -> NDArray[np.uint8]:
    """BIO tags of a document's tokens.

    Args:
        spans: int32 `[tokens, 2]`, offsets of the tokens, ascending.
        document: its annotations are encoded.
        scheme: gives each category its tags.

    Returns:
        uint8 `[tokens]`, indices into `scheme.tags`, or HIDDEN_TAG. Where two spans touch one token, the earlier one has it.

    Raises:
        LabelError: a category is not in the scheme.
    """
    tags = np.zeros(len(spans), dtype=np.uint8)
    if not document.annotations:
        return tags
    own = np.array([_own_tags(span, document, scheme) for span in document.annotations], dtype=np.uint8)
    edges = np.array([(span.start, span.end) for span in document.annotations], dtype=np.int64)
    last = np.searchsorted(spans[:, 0], edges[:, 1], side="left")
    first = np.searchsorted(spans[:, 1], edges[:, 0], side="right")
    # Annotations are sorted and do not overlap, so the one ahead is all that can hold a token of this one.
    np.maximum(first[1:], last[:-1], out=first[1:])
    lengths = np.maximum(last - first, 0)
    inside = np.repeat(first - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    tags[inside] = np.repeat(own[:, 1], lengths)
    touched = lengths > 0
    tags[first[touched]] = own[touched, 0]
    return tags


def doubtful_tokens(spans: NDArray[np.int32], document: Document) -> NDArray[np.bool_]:
    """Which tokens are of a span that nobody has labelled, bool `[tokens]`.

    Args:
        spans: as in `encode_tags`, by which a token that two spans touch is of the earlier one.
        document: its annotations are looked at.
    """
    marked = np.zeros(len(spans), dtype=np.bool_)
    if not any(span.doubtful for span in document.annotations):
        return marked
    for span in reversed(document.annotations):
        first = np.searchsorted(spans[:, 1], span.start, side="right")
        last = np.searchsorted(spans[:, 0], span.end, side="left")
        marked[first:last] = span.doubtful
    return marked


def without_hidden(tags: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The tags with O in the place of HIDDEN_TAG."""
    return np.where(tags == HIDDEN_TAG, np.uint8(0), tags)


def _own_tags(span: Annotation, document: Document, scheme: LabelScheme) -> tuple[int, int]:
    """The tags of a span's first token and of its others."""
    if span.category == HIDDEN:
        return HIDDEN_TAG, HIDDEN_TAG
    category = scheme.category_index.get(span.category)
    if category is None:
        raise LabelError(
            f"expected labels of scheme {scheme.name}, got {name_label(span.category)}; map it with --labels FILE",
            document=document.identifier,
            place=f"characters {span.start}-{span.end}",
        )
    return 2 * category + 1, 2 * category + 2


def repair_tags(tags: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The tags with every `I-X` that continues no X turned into `B-X`, so that no token of PHI is lost."""
    repaired = tags.copy()
    inside = (tags > 0) & (tags % 2 == 0)
    before = np.concatenate([np.zeros(1, dtype=tags.dtype), tags[:-1]])
    continues = (before == tags) | (before == tags - inside)
    stray = inside & ~continues
    repaired[stray] -= 1
    return repaired


def tag_categories(tags: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The category that each BIO tag is of, an index into `scheme.categories`, -1 for O; int64 of the same shape."""
    return (tags.astype(np.int64) + 1) // 2 - 1


def tag_spans(tags: NDArray[np.uint8]) -> Iterator[tuple[int, int, int]]:
    """The spans that BIO tags stand for: first token, end (half-open) and category of each, ascending.

    A stray `I-X`, which continues no X, begins a span; every HIDDEN_TAG is a span of its own.
    """
    marked = np.flatnonzero(tags)
    if not len(marked):
        return
    kinds = tag_categories(tags[marked])
    begins = (tags[marked] % 2 == 1) | (np.diff(marked, prepend=-2) > 1) | (np.diff(kinds, prepend=-1) != 0)
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], len(marked)) - 1
    yield from zip(marked[firsts].tolist(), (marked[lasts] + 1).tolist(), kinds[firsts].tolist(), strict=True)


def decode_tags(tags: NDArray[np.uint8], spans: NDArray[np.int32], scheme: LabelScheme) -> tuple[Annotation, ...]:
    """The annotations that BIO tags stand for; see `tag_spans`.

    Args:
        tags: uint8 `[tokens]`, indices into `scheme.tags`.
        spans: int32 `[tokens, 2]`, offsets of the tokens.
    """
    return tuple(
        Annotation(int(spans[begin, 0]), int(spans[end - 1, 1]), scheme.categories[category])
        for begin, end, category in tag_spans(tags)
    )
