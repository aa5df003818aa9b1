"""The result of a round, signed by the site: which weights it ended with, for which task, and how they are protected.

What a result says beside its weights is one number of sentences, rounded to two digits, and what noise is in it. There is no loss, no
score and no count of labels: each would tell of the notes. And it names results that the site signed before, by which whoever has the last of
them sees whether the site's ledger still knows it.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from protocols.canonical import Json, decimal_text
from protocols.federated.weights import digest_of
from protocols.fields import SHA256, SITE, check_range, check_text
from protocols.keys.signed_message import claimed_sender, open_message, seal_message
from protocols.keys.signing import FEDERATED_RESULT_CONTEXT, PrivateKey, PublicKey

FORMAT_VERSION = 1
EARLIER = 64
"""Results that one names. So many may be lost on the way, one after the other, before a whole ledger is taken for an older one."""
_MOST_SENTENCES = 10**10
_FILLING = b"deid-commons federated filling v1\x00"
_UNIT = re.compile("note|patient")


@dataclass(frozen=True)
class RoundResult:
    """What a site answers.

    Args:
        site: its name.
        task_sha256: digest of the task, as it was signed: a result is of no other round.
        sentences: that it learned from, of two digits; see `rounded`.
        weights_sha256: digest of the weights that go with it.
        epsilon: of all that the site's notes have given up to now, this round included, for one note and the site's own delta; 0 where no noise is added,
            and nothing is bounded.
        earlier: digests of the results before it, as they were signed; see `among_others`.
        unit: what epsilon is of one of, a note or a patient with all notes.

    Raises:
        BoundsError, SchemaError: a value out of range.
    """

    site: str
    task_sha256: str
    sentences: int
    weights_sha256: str
    epsilon: float = 0.0
    earlier: tuple[str, ...] = ()
    unit: str = "note"

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_text(self.task_sha256, SHA256, "task_sha256")
        check_text(self.weights_sha256, SHA256, "weights_sha256")
        check_range(self.sentences, 1, _MOST_SENTENCES, "sentences")
        check_range(self.epsilon, 0, 1e6, "epsilon")
        check_range(len(self.earlier), 0, EARLIER, "earlier")
        check_text(self.unit, _UNIT, "unit")
        for digest in self.earlier:
            check_text(digest, SHA256, "earlier")

    def to_bytes(self, key: PrivateKey) -> bytes:
        """The result, signed by the site."""
        stated: dict[str, Json] = {**vars(self), "format_version": FORMAT_VERSION}
        stated["epsilon"], stated["earlier"] = decimal_text(self.epsilon), list(self.earlier)
        return seal_message("result", FEDERATED_RESULT_CONTEXT, stated, key)


def result_sender(data: bytes) -> tuple[str, str]:
    """The site and the id of the key that a result claims. NOTHING is verified: for finding the key.

    Raises:
        SchemaError, UnsignedError: no result.
    """
    return claimed_sender(data, "result")


def read_result(data: bytes, public_key: PublicKey) -> RoundResult:
    """Reads and verifies what `RoundResult.to_bytes` wrote.

    Args:
        data: the result.
        public_key: a key of the site that it names.

    Raises:
        ProtocolError: unsigned, signed by another, or malformed.
    """
    fields = open_message(
        data, "result", FEDERATED_RESULT_CONTEXT, keys=_KEYS, version=FORMAT_VERSION, public_key=public_key
    )
    return RoundResult(
        site=fields.text("site", SITE),
        task_sha256=fields.text("task_sha256", SHA256),
        sentences=fields.integer("sentences"),
        weights_sha256=fields.text("weights_sha256", SHA256),
        epsilon=fields.decimal("epsilon"),
        earlier=tuple(map(str, fields.items("earlier", most=EARLIER))),
        unit=fields.text("unit", _UNIT),
    )


def among_others(digests: Sequence[str], key: PrivateKey) -> tuple[str, ...]:
    """The last of these digests, in no order and filled up with others: who knows one sees that it is there, and nobody how many there are.

    Those of results that never left are among them. A digest of a signed result tells nothing of it, for nobody else can make the signature.

    Args:
        digests: of results, as they were signed, the last one last.
        key: what they are filled up with are digests of its signatures, the same ones each time: drawn anew, they would be those that are in one
            result and not in the next.
    """
    last = digests[-EARLIER:]
    others = (digest_of(key.sign_bytes(_FILLING + bytes([place]))) for place in range(len(last), EARLIER))
    return tuple(sorted([*last, *others]))


def rounded(sentences: int) -> int:
    """A count with two digits, so that one note more or less shows in few of them.

    >>> [rounded(count) for count in (7, 99, 123, 4567, 129_999)]
    [7, 99, 120, 4600, 130000]
    """
    if sentences < 100:
        return sentences
    step = int(10 ** (math.floor(math.log10(sentences)) - 1))
    return round(sentences / step) * step


_KEYS = frozenset(field.name for field in dataclasses.fields(RoundResult)) | {"format_version"}
