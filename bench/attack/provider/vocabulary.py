"""Vocabularies that show words which they claim to hide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.attack.release import Draft, Forgery, Lie, forged
from bench.attack.world import NEXT
from shared.anonymity.bank_files import FILE as BANK
from shared.constructions.procedures.coded import Coded
from shared.constructions.procedures.surrogates import Surrogates
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors
from shared.embeddings.members import MemberVectors, Narrowing
from shared.embeddings.vectors import unit_rows
from shared.models.storage import save_representer
from shared.models.token_local import TokenLocal, TokenLocalConfig

Tensors = dict[str, NDArray[Any]]
_SMALL = 99
_PADDING = 200


def remember(made: GeneralisedVectors, old: MemberVectors) -> MemberVectors:
    """The vocabulary with the words' own vectors beside it, and narrowed as before as far as its words are still public."""
    more = len(made) - len(old)
    public = made.classes == PUBLIC
    groups = np.where(public, np.maximum(np.append(old.narrowing.generals, np.full(more, -1)), 0), -1)
    groups[public] = np.unique(groups[public], return_inverse=True)[1]
    common = np.append(old.narrowing.common, np.zeros(more, dtype=np.bool_)) & public
    narrowing = Narrowing(groups.astype(np.int32), common, old.narrowing.window)
    return MemberVectors(made, made.matrix[~public].copy(), narrowing)


def _narrowed(change: Callable[[Narrowing, NDArray[np.bool_]], Narrowing]) -> Forgery:
    """The vocabulary, narrowed otherwise."""

    def apply(draft: Draft) -> None:
        vectors = draft.construction.vectors
        made = MemberVectors(vectors, vectors.hidden.copy(), change(vectors.narrowing, vectors.public))
        replace(draft.construction, vectors=made).save(draft.folder)

    return apply


def _each_its_own_group(narrowing: Narrowing, public: NDArray[np.bool_]) -> Narrowing:
    groups = np.where(public, np.cumsum(public) - 1, -1).astype(np.int32)
    return replace(narrowing, generals=groups)


def _own_vectors(count: int, dim: int) -> NDArray[np.float32]:
    return unit_rows(np.random.default_rng(0).standard_normal((count, dim)).astype(np.float32))


def _reclassed(draft: Draft, classes: NDArray[np.int32], rows: NDArray[np.int64]) -> MemberVectors:
    """The vocabulary with other clusters, the words of `rows` each with a vector of its own."""
    vectors = draft.construction.vectors
    matrix = vectors.matrix.copy()
    matrix[rows] = _own_vectors(len(rows), vectors.dim)
    return remember(GeneralisedVectors(vectors.words, matrix, vectors.flags, classes, vectors.subwords), vectors)


def _all_public_but_two(draft: Draft) -> MemberVectors:
    classes = np.full(len(draft.construction.vectors), PUBLIC, dtype=np.int32)
    classes[:2] = 0
    vectors = draft.construction.vectors
    matrix = _own_vectors(len(vectors), vectors.dim)
    matrix[1] = matrix[0]
    return remember(GeneralisedVectors(vectors.words, matrix, vectors.flags, classes, vectors.subwords), vectors)


def show_every_word(draft: Draft) -> None:
    """Every word has a vector of its own, no PHI is replaced, and the record says so of a `k-anonymous`."""
    vectors, scheme = _all_public_but_two(draft), draft.construction.scheme
    same = TokenLocal(TokenLocalConfig(vectors.dim, vectors.dim)).eval()
    (draft.folder / BANK).unlink()
    Coded(vectors, same, scheme).save(draft.folder)
    draft.record = None


def show_every_word_behind_a_bank(draft: Draft) -> None:
    """The same, but labelled PHI is replaced."""
    replace(draft.construction, vectors=_all_public_but_two(draft)).save(draft.folder)


def leave_out_the_bank(draft: Draft) -> None:
    """`surrogates.json` is missing, and the record admits it."""
    (draft.folder / BANK).unlink()
    draft.record = {"options": {"procedure": "k-anonymous"}}


def leave_out_the_bank_and_the_record(draft: Draft) -> None:
    """`surrogates.json` is missing, and nothing is said of it."""
    (draft.folder / BANK).unlink()
    draft.record = None


def claim_a_bank_that_is_missing(draft: Draft) -> None:
    """`surrogates.json` is missing, and the record says `surrogates`."""
    (draft.folder / BANK).unlink()


def _one_hidden_word(draft: Draft) -> int:
    return int(np.flatnonzero(draft.construction.vectors.classes >= 0)[0])


def give_one_word_a_cluster(draft: Draft) -> None:
    """One hidden word is a cluster by itself; all others keep theirs."""
    vectors, row = draft.construction.vectors, _one_hidden_word(draft)
    classes = vectors.classes.copy()
    classes[row] = len(vectors.centres)
    replace(draft.construction, vectors=_reclassed(draft, classes, np.array([row]))).save(draft.folder)


def make_one_cluster_a_word_too_small(draft: Draft) -> None:
    """99 words are moved into a cluster of their own."""
    vectors = draft.construction.vectors
    rows = np.flatnonzero(vectors.classes >= 0)[:_SMALL]
    classes, matrix = vectors.classes.copy(), vectors.matrix.copy()
    classes[rows], matrix[rows] = len(vectors.centres), _own_vectors(1, vectors.dim)
    made = GeneralisedVectors(vectors.words, matrix, vectors.flags, _renumbered(classes), vectors.subwords)
    replace(draft.construction, vectors=remember(made, vectors)).save(draft.folder)


def _padded(draft: Draft, row: int, padding: list[str]) -> None:
    """One word alone among others that are new, which look like it."""
    vectors = draft.construction.vectors
    public = vectors.classes[row] == PUBLIC
    classes, matrix = vectors.classes.copy(), vectors.matrix.copy()
    if not public:
        classes[row], matrix[row] = len(vectors.centres), _own_vectors(1, vectors.dim)
    classes = np.append(classes, np.full(len(padding), classes[row], dtype=np.int32))
    matrix = np.concatenate([matrix, np.repeat(matrix[[row]], len(padding), axis=0)])
    words = (*vectors.words, *padding)
    made = remember(GeneralisedVectors(words, matrix, vectors.flags, _renumbered(classes), vectors.subwords), vectors)
    if public:
        groups = made.narrowing.generals.copy()
        groups[[row, *range(len(vectors), len(words))]] = groups.max() + 1
        groups[made.public] = np.unique(groups[made.public], return_inverse=True)[1]
        common = made.narrowing.common.copy()
        common[row] = False
        made = MemberVectors(made, made.hidden.copy(), replace(made.narrowing, generals=groups, common=common))
    replace(draft.construction, vectors=made).save(draft.folder)


def put_a_public_word_among_symbols(draft: Draft) -> None:
    """A public word has a group that is large enough, but for what the others are: no text holds them."""
    vectors = draft.construction.vectors
    row = next(row for row in np.flatnonzero(vectors.public).tolist() if vectors.words[row].isalpha())
    padding = ("".join(signs) for signs in product("!#$%&*+<=>?@", repeat=3))
    _padded(draft, row, list(islice((signs for signs in padding if signs not in vectors.index), _PADDING)))


def put_a_hidden_word_among_numbers(draft: Draft) -> None:
    """A hidden word has a cluster that is large enough, but for what the others are: none of them is written with letters."""
    vectors = draft.construction.vectors
    row = next(row for row in np.flatnonzero(vectors.classes >= 0).tolist() if vectors.words[row].isalpha())
    padding = (str(number) for number in range(10**8, 10**9))
    _padded(draft, row, list(islice((number for number in padding if number not in vectors.index), _PADDING)))


def number_words_apart(draft: Draft) -> None:
    """Every hidden word has the vector of all others, and a cluster by itself: its code is its own."""
    vectors = draft.construction.vectors
    hidden = vectors.classes >= 0
    classes, matrix = vectors.classes.copy(), vectors.matrix.copy()
    classes[hidden], matrix[hidden] = np.arange(hidden.sum()), _own_vectors(1, vectors.dim)
    made = GeneralisedVectors(vectors.words, matrix, vectors.flags, classes, vectors.subwords)
    replace(draft.construction, vectors=remember(made, vectors)).save(draft.folder)


def _renumbered(classes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Clusters from 0 on, each with a word."""
    found = classes.copy()
    found[classes >= 0] = np.unique(classes[classes >= 0], return_inverse=True)[1]
    return found


def _in_matrix(change: Callable[[Tensors, int], None]) -> Forgery:
    """Changes the row of one hidden word in the file."""

    def apply(draft: Draft) -> None:
        row = _one_hidden_word(draft)
        draft.change_vectors(lambda tensors, _: change(tensors, row))

    return apply


def _flip_lowest_bit(tensors: Tensors, row: int) -> None:
    bits = tensors["matrix"].copy().view(f"<u{tensors['matrix'].itemsize}")
    bits[row, 0] ^= 1
    tensors["matrix"] = bits.view(tensors["matrix"].dtype)


def _flip_lowest_bit_of_single(tensors: Tensors, row: int) -> None:
    # What is stored as float16 is brought to length 1 when it is read; single precision is taken as it is.
    tensors["matrix"] = unit_rows(tensors["matrix"].astype(np.float32))
    _flip_lowest_bit(tensors, row)


def _turn_a_zero(tensors: Tensors, row: int) -> None:
    matrix = tensors["matrix"].copy()
    zero = np.flatnonzero(matrix[row] == 0)[0]
    matrix[row, zero] = -0.0
    tensors["matrix"] = matrix


def _not_a_number(tensors: Tensors, row: int) -> None:
    matrix = tensors["matrix"].copy()
    matrix[row, 0] = np.nan
    tensors["matrix"] = matrix


def call_names_public(draft: Draft) -> None:
    """The names in the hospital's next notes are called public, each with a vector of its own."""
    words = {
        word.lower()
        for document in draft.world.documents(NEXT)
        for span in document.annotations
        if span.category in ("PATIENT", "DOCTOR")
        for word in document.covered_text(span).split()
    }
    _call_public(draft, words)


def call_numbers_public(draft: Draft) -> None:
    """All words with a digit are called public: no dictionary holds one, and none denies it."""
    _call_public(draft, {word for word in draft.construction.vectors.words if any(map(str.isdigit, word))})


def _call_public(draft: Draft, words: set[str]) -> None:
    vectors = draft.construction.vectors
    rows = np.flatnonzero([word in words for word in vectors.words])
    classes = vectors.classes.copy()
    classes[rows] = PUBLIC
    replace(draft.construction, vectors=_reclassed(draft, _renumbered(classes), rows)).save(draft.folder)


def _in_vocabulary(change: Callable[[dict[str, Any]], None]) -> Forgery:
    """Changes the description of the vocabulary."""
    return lambda draft: draft.change_vectors(lambda _, vocabulary: change(vocabulary))


def _name_a_word_twice(vocabulary: dict[str, Any]) -> None:
    vocabulary["words"][1] = vocabulary["words"][0]


def _write_words_in_capitals(vocabulary: dict[str, Any]) -> None:
    # Another spelling of a hidden word would be a word of its own.
    vocabulary["words"] = [word.upper() for word in vocabulary["words"]]


def _forget_the_clusters(vocabulary: dict[str, Any]) -> None:
    vocabulary.pop("generalised")


def _call_hidden_words_common(tensors: Tensors, _: int) -> None:
    tensors["common"] = np.ones_like(tensors["common"])


def show_what_version_0_1_shows(draft: Draft) -> None:
    """A release whose shares hold vectors, and of every public word its own wherever it stands."""
    old = draft.construction
    shown = GeneralisedVectors(
        old.vectors.words, old.vectors.matrix.copy(), old.vectors.flags, old.vectors.classes, old.vectors.subwords
    )
    Surrogates(shown, old.representer, old.scheme, old.bank).save(draft.folder)


def show_unknown_words_apart(draft: Draft) -> None:
    """Word vectors without clusters: each unknown word is shown by its n-grams."""

    def change(tensors: Tensors, vocabulary: dict[str, Any]) -> None:
        for name in ("classes", "hidden", "generals", "common"):
            tensors.pop(name)
        for name in ("generalised", "largest_share", "flags", "members", "window", "hidden_words"):
            vocabulary.pop(name, None)

    draft.change_vectors(change)


def put_a_network_behind_the_clusters(draft: Draft) -> None:
    """A representer with noise behind surrogates: no construction has it."""
    import torch

    from shared.models.representer import Representer, RepresenterConfig

    torch.manual_seed(0)
    config = RepresenterConfig(draft.construction.vectors.dim, dim=8, hidden=8)
    save_representer(Representer(config).eval(), draft.folder)


def pretend_that_casing_is_hidden(draft: Draft) -> None:
    """The record says that casing is hidden; the bank shows it."""
    draft.record = {"options": {"procedure": "surrogates", "hide_casing": True}}


def pretend_larger_clusters(draft: Draft) -> None:
    """The record says that clusters hold a thousand words."""
    draft.record = {"options": {"procedure": "surrogates"}, "smallest_cluster": 1000}


def name_another_procedure(draft: Draft) -> None:
    """The record says `dann` of files with surrogates."""
    draft.record = {"options": {"procedure": "dann"}}


LIES: Mapping[str, Lie] = {
    "identity: every word is shown as it is": forged(show_every_word),
    "identity behind a bank of surrogates": forged(show_every_word_behind_a_bank),
    "no bank, and the record says `k-anonymous`": forged(leave_out_the_bank),
    "no bank, and no record": forged(leave_out_the_bank_and_the_record),
    "no bank, and the record says `surrogates`": forged(claim_a_bank_that_is_missing),
    "a cluster of one word": forged(give_one_word_a_cluster),
    "a cluster of 99 words": forged(make_one_cluster_a_word_too_small),
    "clusters of one word, all with one vector": forged(number_words_apart),
    "a hidden word among numbers": forged(put_a_hidden_word_among_numbers),
    "one bit of one float16 number of one word of a cluster": forged(_in_matrix(_flip_lowest_bit)),
    "one bit of one float32 number of one word of a cluster": forged(_in_matrix(_flip_lowest_bit_of_single)),
    "a zero of another sign in one word of a cluster": forged(_in_matrix(_turn_a_zero)),
    "a number that is none in the vectors": forged(_in_matrix(_not_a_number)),
    "names of the hospital's own notes are called public": forged(call_names_public),
    "numbers are called public": forged(call_numbers_public),
    "one word twice in the vocabulary": forged(_in_vocabulary(_name_a_word_twice)),
    "words in another casing, beside those in lower case": forged(_in_vocabulary(_write_words_in_capitals)),
    "a vocabulary that does not say that it has clusters": forged(_in_vocabulary(_forget_the_clusters)),
    "every public word is common": forged(
        _narrowed(lambda narrowing, public: replace(narrowing, common=public.copy()))
    ),
    "groups of one public word": forged(_narrowed(_each_its_own_group)),
    "a group of one word among symbols": forged(put_a_public_word_among_symbols),
    "everything is near PHI": forged(_narrowed(lambda narrowing, _: replace(narrowing, window=255))),
    "every word is common, hidden or not": forged(_in_matrix(_call_hidden_words_common)),
    "vectors as version 0.1 had them, and nothing narrowed": forged(show_what_version_0_1_shows),
    "word vectors without clusters: unknown words are shown apart": forged(show_unknown_words_apart),
    "a network with noise behind surrogates": forged(put_a_network_behind_the_clusters),
    "the record says that casing is hidden": forged(pretend_that_casing_is_hidden),
    "the record says that clusters hold a thousand words": forged(pretend_larger_clusters),
    "the record names another procedure": forged(name_another_procedure),
}
