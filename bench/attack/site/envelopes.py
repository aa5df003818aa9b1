"""Manifests, seals and signatures that say what is not so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aggregator.enrolled.sites import revoke
from aggregator.ingestion.ingest import Decision
from bench.attack.share import SEQUENCE, SITE, Changes, Liar, Lie, Sealing
from protocols.canonical import Json
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey

_OTHER = "ab" * 32
_NOBODY = "-".join(["0000"] * 8)


def _stating(change: Callable[[Changes], Changes]) -> Lie:
    """The honest file under a manifest that was changed."""

    def lie(liar: Liar) -> Decision:
        stated = liar.state(liar.world.honest)
        return liar.send(liar.world.honest, stated | change(stated))

    return lie


def _says(**stated: Json) -> Lie:
    return _stating(lambda true: stated)


def _more(name: str, by: int) -> Callable[[Changes], Changes]:
    def change(true: Changes) -> Changes:
        value = true[name]
        assert isinstance(value, int)
        return {name: value + by}

    return change


def _counts(true: Changes) -> list[int]:
    counts = true["tag_counts"]
    assert isinstance(counts, list)
    return [count for count in counts if isinstance(count, int)]


def _one_token_more(true: Changes) -> Changes:
    first, *others = _counts(true)
    return {"tokens": first + 1 + sum(others), "tag_counts": [first + 1, *others]}


def _moved_counts(true: Changes) -> Changes:
    # As if ten more tokens were PHI.
    first, second, *others = _counts(true)
    return {"tag_counts": [first - 10, second + 10, *others]}


def _few_tags(true: Changes) -> Changes:
    first, *others = _counts(true)
    return {"tags": 3, "tag_counts": [first, sum(others), 0]}


def _sealed(make: Callable[[Liar], Sealing]) -> Lie:
    """An honest share in another seal."""
    return lambda liar: liar.send(liar.world.honest, liar.state(liar.world.honest), make(liar))


def send_after_being_revoked(liar: Liar) -> Decision:
    """The hospital was revoked a moment ago."""
    revoke(liar.provider, SITE, "key lost")
    return liar.send_payload(liar.world.honest)


def send_under_a_taken_number(liar: Liar) -> Decision:
    """Another share under the number of the one in the pool."""
    return liar.send_payload(liar.world.honest, sequence=1)


def _whole(change: Callable[[bytes], bytes]) -> Lie:
    """An honest bundle, its bytes changed."""

    def lie(liar: Liar) -> Decision:
        bundle = liar.bundle(liar.world.honest, liar.state(liar.world.honest), Sealing())
        bundle.write_bytes(change(bundle.read_bytes()))
        return liar.take_in(bundle)

    return lie


def _flip(data: bytes) -> bytes:
    return data[:-100] + bytes([data[-100] ^ 1]) + data[-99:]


LIES: Mapping[str, Lie] = {
    "more tokens stated than there are": _stating(_one_token_more),
    "more sentences stated than there are": _stating(_more("sentences", 1)),
    "other counts of tags": _stating(_moved_counts),
    "another width": _stating(_more("dim", 1)),
    "another digest of the payload": _says(payload_sha256=_OTHER),
    "another size of the payload": _stating(_more("payload_bytes", 1)),
    "another format of the payload": _says(payload_format="hdf5"),
    "a larger bound of the rows": _says(value_bound="1000"),
    "a bound that the rows do not keep": _says(value_bound="0.001"),
    "a share made with another release": _says(release=_OTHER),
    "a share meant for another provider": _says(recipient=_NOBODY),
    "another label scheme": _says(label_scheme="meddocan"),
    "another number of tags": _stating(_few_tags),
    "a manifest with a field of text": _says(text="seen on the ward"),
    "a measure of protection in the form of text": _says(protection={"seen on the ward": "1"}),
    "a manifest of a format to come": _says(format_version=9),
    "the name of another hospital, signed by this one": lambda liar: liar.send(
        liar.world.honest,
        liar.state(liar.world.honest, site="south"),
        Sealing(inner=liar.key(), outer=liar.key()),
    ),
    "another hospital's share in an own seal": lambda liar: liar.send(
        liar.world.root / "south-1.parquet",
        liar.state(liar.world.root / "south-1.parquet", liar.block(liar.world.root / "south-1.parquet"), site="south"),
        Sealing(inner=liar.key("south"), outer=liar.key(), site=SITE),
    ),
    "signed by a key that nobody enrolled": _sealed(lambda _: Sealing(PrivateKey.generate(), PrivateKey.generate())),
    "another key within than without": _sealed(lambda _: Sealing(inner=PrivateKey.generate())),
    "another number within than without": _sealed(lambda _: Sealing(sequence=SEQUENCE + 1)),
    "encrypted to a key that nobody has": _sealed(
        lambda liar: Sealing(
            recipient=RecipientPrivateKey.generate().public_key, named=liar.provider.recipient().public_key.key_id
        )
    ),
    "encrypted to another provider": _sealed(lambda _: Sealing(recipient=RecipientPrivateKey.generate().public_key)),
    "a manifest of four gigabytes": _sealed(lambda _: Sealing(length=lambda _: (1 << 32) - 1)),
    "a manifest of no length": _sealed(lambda _: Sealing(length=lambda _: 0)),
    "a byte of the ciphertext, signed": _sealed(lambda _: Sealing(cipher=_flip)),
    "a byte of the ciphertext, on the way": _whole(_flip),
    "a bundle that was cut": _whole(lambda data: data[:-1000]),
    "a bundle with text behind its end": _whole(lambda data: data + b"seen on the ward"),
    "a hospital that was revoked": send_after_being_revoked,
    "another share under a number that is taken": send_under_a_taken_number,
}
