"""A run of sentences as flat arrays, the unit that a payload writes and reads; and the checks of its values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from protocols.errors import BoundsError, CodebookError, NonFiniteError, SchemaError, TagSequenceError
from protocols.payload.codebook import ABSENT, Codebook
from protocols.payload.codes import GROUP, CodeRules

Array: TypeAlias = NDArray[Any]

VALUE_TYPE = np.dtype("<f2")
CODE_TYPE = np.dtype("<u4")
CODES = 0
"""In the place of a width: a token is shown by its code, a number of the release's list."""

LENGTH_TYPE = np.dtype("<i4")
CLASS_TYPE = np.dtype("u1")
CASING_CLASSES = 7
MAX_DIM = 4096
UNKNOWN_TAG = 255
"""Nobody knows whether this token is PHI: nobody is to learn from its tag."""
# Rows that stay in the processor's cache.
_NORM_ROWS = 2048
_INFINITE_BITS = 0x7C00


def row_type(dim: int) -> np.dtype[Any]:
    """Of what shows a token: a number of its representation, or its code."""
    return VALUE_TYPE if dim else CODE_TYPE


def row_shape(dim: int) -> tuple[int, ...]:
    """Of what shows a token."""
    return (dim,) if dim else ()


def row_bytes(dim: int) -> int:
    """Bytes of what shows a token."""
    return VALUE_TYPE.itemsize * dim if dim else CODE_TYPE.itemsize


@dataclass(frozen=True, eq=False, repr=False)
class SentenceBlock:
    """Sentences one behind the other.

    Args:
        values: what shows each token: representations, float16 little-endian [tokens, dim], or codes, uint32 [tokens].
        tags: index of each token's tag in the label scheme, uint8 [tokens].
        casing: casing class of each token, uint8 [tokens].
        lengths: tokens of each sentence, int32 [sentences], each at least 1, `tokens` in sum.
        features: classes of each token, beside codes alone, uint8 [tokens, columns]; no column if nothing is given.

    Raises:
        SchemaError: another dtype or shape, or features beside representations.
        BoundsError: an empty sentence, or lengths that do not add up.
    """

    values: Array
    tags: Array
    casing: Array
    lengths: Array
    features: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=CLASS_TYPE))

    def __post_init__(self) -> None:
        tokens = len(self.values)
        if self.features.shape == (0, 0):
            object.__setattr__(self, "features", np.zeros((tokens, 0), dtype=CLASS_TYPE))
        for name, dtype, shape in (
            ("values", row_type(self.dim), (tokens, *row_shape(self.dim))),
            ("tags", CLASS_TYPE, (tokens,)),
            ("casing", CLASS_TYPE, (tokens,)),
            ("lengths", LENGTH_TYPE, (len(self.lengths),)),
            ("features", CLASS_TYPE, (tokens, self.columns)),
        ):
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise SchemaError(
                    f"{dtype} {shape}", received=f"{array.dtype} {array.shape}", advice="convert it", place=name
                )
        if self.dim and self.features.size:
            raise SchemaError("feature columns beside codes alone", received="representations", place="features")
        if self.dim > MAX_DIM:
            raise BoundsError(f"{MAX_DIM} dimensions at most", received=str(self.dim), place="values")
        if not len(self.lengths) or int(self.lengths.min()) < 1:
            raise BoundsError("sentences of at least one token", received="none or an empty one", place="lengths")
        if int(self.lengths.sum(dtype=np.int64)) != tokens:
            raise BoundsError(f"lengths that add up to {tokens} tokens", received="another sum", place="lengths")

    @property
    def dim(self) -> int:
        """Numbers of a token's representation, or CODES."""
        return int(self.values.shape[1]) if self.values.ndim == 2 else 0

    @property
    def columns(self) -> int:
        """How many feature columns."""
        return int(self.features.shape[1]) if self.features.ndim == 2 else 0

    @property
    def tokens(self) -> int:
        """Tokens of all sentences."""
        return len(self.values)

    @property
    def sentences(self) -> int:
        """How many sentences."""
        return len(self.lengths)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First token of each sentence and the end of the last, int64 [sentences + 1]."""
        offsets = np.zeros(self.sentences + 1, dtype=np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        return offsets

    def __repr__(self) -> str:
        return f"SentenceBlock(sentences={self.sentences}, tokens={self.tokens}, dim={self.dim})"


@dataclass(frozen=True)
class ValueRules:
    """What the values of every block must keep to.

    Args:
        tags: number of tags in the label scheme.
        value_bound: largest L2 norm of one token's representation, before it was rounded to float16.
        codebook: the rows that there are; None where noise makes any row possible. It follows from the release, so that
            rules are the same that differ in it alone.
        codes: where a code may stand, for payloads of codes; it follows from the release too.
    """

    tags: int
    value_bound: float
    codebook: Codebook | None = field(default=None, compare=False, repr=False)
    codes: CodeRules | None = field(default=None, compare=False, repr=False)


class CheckedValues:
    """Checks one block after the other, and counts the tokens of each tag and of each row.

    Args:
        rules: what every block must keep to.
        place: the payload, for errors.
    """

    def __init__(self, rules: ValueRules, place: str) -> None:
        self.rules = rules
        self._place = place
        self._blocks = 0
        self._counts = np.zeros(rules.tags, dtype=np.int64)
        listed = rules.codebook or rules.codes
        self._rows = np.zeros(0 if listed is None else len(listed), dtype=np.int64)

    def add(self, block: SentenceBlock) -> None:
        """Raises what `check_block` raises."""
        place = f"{self._place}, block {self._blocks}"
        check_block(block, replace(self.rules, codebook=None), place)
        if self.rules.codebook is not None:
            places = _find_places(block, self.rules.codebook, place)
            self._rows += np.bincount(places, minlength=len(self._rows))
        elif self.rules.codes is not None:
            self._rows += np.bincount(block.values, minlength=len(self._rows))
        self._blocks += 1
        self._counts += np.bincount(block.tags[block.tags != UNKNOWN_TAG], minlength=self.rules.tags)

    @property
    def tag_counts(self) -> tuple[int, ...]:
        """How often each tag was seen, in the order of the tags; what is unknown is not among them."""
        return tuple(self._counts.tolist())

    @property
    def commonest_row(self) -> int:
        """How many tokens show the row or code that most show; 0 without a list of them.

        That of a group counts half: it stands for many words, of which none is as common.
        """
        rows = self._rows
        if self.rules.codes is not None:
            rows = np.where(self.rules.codes.places == GROUP, rows // 2, rows)
        return int(rows.max(initial=0))


def check_block(block: SentenceBlock, rules: ValueRules, place: str = "block") -> None:
    """Returns if every value of `block` is one that `rules` allow.

    Raises:
        NonFiniteError: NaN or infinity in a representation.
        BoundsError: a norm beyond the bound, a tag or casing class that does not exist.
        TagSequenceError: a tag that goes on with what was not begun.
        CodebookError: a row or a code that no word has there.
    """
    tags = block.tags[block.tags != UNKNOWN_TAG]
    if int(tags.max(initial=0)) >= rules.tags:
        raise BoundsError(f"tags below {rules.tags}", received=str(tags.max()), advice="refuse it", place=place)
    if int(block.casing.max()) >= CASING_CLASSES:
        raise BoundsError(f"casing classes below {CASING_CLASSES}", received=str(block.casing.max()), place=place)
    _check_tag_sequence(block, place)
    if rules.codes is not None:
        rules.codes.check(block.values, block.tags, block.offsets, place)
    if block.dim:
        _check_values(block, rules, place)


def _check_values(block: SentenceBlock, rules: ValueRules, place: str) -> None:
    largest = largest_norm(block.values)
    if not np.isfinite(largest):
        raise NonFiniteError("finite values", received="NaN or infinity", advice="encode the notes again", place=place)
    if largest > rounded_bound(rules.value_bound, block.dim):
        raise BoundsError(
            f"representations of norm {rules.value_bound:g} at most",
            received=f"norm {largest:.6g}",
            advice="encode the notes again",
            place=place,
        )
    if rules.codebook is not None:
        _find_places(block, rules.codebook, place)


def _check_tag_sequence(block: SentenceBlock, place: str) -> None:
    """Tag 0 is outside; 2c + 1 begins category c, 2c + 2 goes on with it and stands behind one of the two."""
    before = np.zeros_like(block.tags)
    before[1:] = block.tags[:-1]
    before[block.offsets[:-1]] = 0
    goes_on = (block.tags > 0) & (block.tags % 2 == 0)
    wrong = goes_on & (before != block.tags) & (before != block.tags - 1)
    if wrong.any():
        raise TagSequenceError(
            "tags that go on with a category behind one that began it",
            received=f"{int(wrong.sum())} that do not",
            advice="encode the notes again",
            place=place,
        )


def _find_places(block: SentenceBlock, codebook: Codebook, place: str) -> NDArray[np.int64]:
    """Which row of the codebook each token shows."""
    places = codebook.places(block.values)
    absent = int((places == ABSENT).sum())
    if absent:
        raise CodebookError(
            f"rows of the {len(codebook)} that the release can show",
            received=f"{absent} of {block.tokens} that no word has",
            advice="encode the notes again with the release in use",
            place=place,
        )
    return places


def largest_norm(values: Array) -> float:
    """The largest L2 norm of a row of `values` [tokens, dim]; not finite if any value is not.

    A float16 is at most 65504 and a row at most 4096 wide, so a sum of squares in float32 can't overflow.
    """
    largest = 0.0
    for start in range(0, len(values), _NORM_ROWS):
        bits = values[start : start + _NORM_ROWS].view("<u2") & 0x7FFF
        if int(bits.max()) >= _INFINITE_BITS:
            return float("inf")
        rows = _widened(bits)
        largest = max(largest, float(np.einsum("td,td->t", rows, rows).max()))
    return float(np.sqrt(largest))


def _widened(bits: Array) -> NDArray[np.float32]:
    """Finite float16 without their signs as float32; numpy's own conversion takes four times as long.

    In its place in a float32 the exponent, whose bias is smaller by 112, says 2^-112 times the value.
    """
    wide = bits.astype("<u4")
    np.left_shift(wide, 13, out=wide)
    rows = wide.view("<f4")
    rows *= np.float32(2.0**112)
    return rows


def rounded_bound(bound: float, dim: int) -> float:
    """The largest norm in float32 arithmetic of a vector of norm `bound` that was rounded to float16.

    Rounding changes a coordinate by at most 2^-11 of itself, or by 2^-25 below the normal numbers; adding `dim`
    squares in float32 errs by at most dim * 2^-24 in the sum.
    """
    return bound * (1 + 2.0**-11) * (1 + dim * 2.0**-24) + float(np.sqrt(dim)) * 2.0**-25
