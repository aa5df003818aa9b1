"""Files that are not what a release may hold, or not what it says of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

from bench.attack.release import BANK, VECTORS, VOCABULARY, Draft, Forgery, Lie, drafted, forged
from bench.attack.world import World
from protocols.canonical import Json, canonical_bytes
from protocols.release.manifest import FileEntry
from protocols.release.repository import REFERENCE

_DIGEST = "ab" * 32
_WEIGHTS = "representer.safetensors"
_LENGTH_BYTES = 8


def _bytes(name: str, data: bytes | Callable[[], bytes]) -> Forgery:
    """A file of the release holds these bytes."""

    def apply(draft: Draft) -> None:
        path = draft.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data())

    return apply


class _Planted:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("a release that runs code",)


def _bogus_header(size: int) -> bytes:
    return size.to_bytes(_LENGTH_BYTES, "little") + b"{" + bytes(64)


def _listed(name: str, entry: FileEntry) -> Forgery:
    """`release.json` says this of a file."""

    def apply(draft: Draft) -> None:
        draft.listed[name] = entry

    return apply


def _state(**stated: Any) -> Forgery:
    """Fields of `release.json` are otherwise."""

    def apply(draft: Draft) -> None:
        draft.stated |= stated

    return apply


def _in_vocabulary(**changed: Any) -> Forgery:
    """Fields of the vocabulary are otherwise."""
    return lambda draft: draft.change_vectors(lambda _, vocabulary: vocabulary.update(changed))


def put_other_tensors_in_place(draft: Draft) -> None:
    """The vocabulary names other tensors than those beside it."""
    draft.write(VOCABULARY, draft.read(VOCABULARY) | {"tensors_sha256": _DIGEST})


def ask_for_endless_weights(draft: Draft) -> None:
    """The description of the representer asks for a terabyte."""
    described = draft.read("representer.json")
    draft.write("representer.json", described | {"inputs": 1 << 20, "dim": 1 << 18})


def shrink_the_scheme(draft: Draft) -> None:
    """The label scheme has one category, that no name is in, and so has the bank."""
    draft.write("scheme.json", draft.read("scheme.json") | {"categories": ["AGE"]})
    bank = draft.read(BANK)
    draft.write(BANK, bank | {"spans": [[0, *words] for _, *words in bank["spans"]], "later": []})
    draft.record = None


def call_it_a_pipeline(world: World) -> None:
    """A pipeline without a head."""
    with drafted(world) as draft:
        draft.sign(kind="pipeline")


def refer_to_plain_http(draft: Draft) -> None:
    """Word vectors by an address without TLS."""
    stated: Json = {"bytes": 1, "file": VECTORS, "format_version": 1, "sha256": _DIGEST, "url": "http://x"}
    (draft.folder / REFERENCE).write_bytes(canonical_bytes(stated))


LIES: Mapping[str, Lie] = {
    "a pickle under the name of weights": forged(_bytes(_WEIGHTS, lambda: pickle.dumps(_Planted()))),
    "a pickle under a name of its own": forged(_bytes("weights.pkl", lambda: pickle.dumps(_Planted()))),
    "a program beside the files": forged(_bytes("setup.py", b"print('x')")),
    "a header of tensors without an end": forged(_bytes(_WEIGHTS, _bogus_header(1 << 62))),
    "a header of tensors that is no JSON": forged(_bytes(_WEIGHTS, _bogus_header(32))),
    "weights in the place of the vectors": forged(
        lambda draft: _bytes(VECTORS, (draft.folder / _WEIGHTS).read_bytes())(draft)
    ),
    "a vocabulary that names other tensors": forged(put_other_tensors_in_place),
    "a vocabulary of JSON without an end": forged(_bytes(VOCABULARY, b"[" * 200_000)),
    "a vocabulary of 2^40 n-grams": forged(_in_vocabulary(buckets=1 << 40)),
    "a vocabulary of vectors of no width": forged(_in_vocabulary(dim=0)),
    "a representer of a terabyte": forged(ask_for_endless_weights),
    "a label scheme without names of persons": forged(shrink_the_scheme),
    "a label scheme that is none": forged(_bytes("scheme.json", b"{}")),
    "another label scheme in the list than in the files": forged(_state(label_scheme="meddocan")),
    "a file larger than it is listed": forged(_listed(_WEIGHTS, FileEntry(1, _DIGEST))),
    "a file that is listed and not there": forged(_listed("more.json", FileEntry(1, _DIGEST))),
    "a release of 9 GiB": forged(_listed("more.safetensors", FileEntry(9 << 30, _DIGEST))),
    "a release of 900 files of 16 GiB": forged(
        lambda draft: draft.listed.update({f"{one}.safetensors": FileEntry(16 << 30, _DIGEST) for one in range(900)})
    ),
    "a file that leaves the folder": forged(_listed("../ledger.json", FileEntry(1, _DIGEST))),
    "a number of the release that its name does not have": forged(_state(sequence=9)),
    "a format of the release to come": forged(_state(format_version=2)),
    "a pipeline without a head": call_it_a_pipeline,
    "word vectors by an address without TLS": forged(refer_to_plain_http),
}
