"""What the child process of the sandbox does with a share: `open_share`, which parses the payload and checks every value.

The checks ahead of the payload run here a second time. That costs little, and keeps their order in one place: bytes of the
payload are parsed only after all that does not need them has passed.

Imports no more than a reader of payloads needs, for the child starts anew with every share.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from aggregator.ingestion.sentence_digests import SentenceDigests, from_text, to_text
from protocols.canonical import Json
from protocols.errors import SchemaError
from protocols.keys.signing import PublicKey
from protocols.payload.codebook import read_codebook
from protocols.payload.codes import CodeList, read_code_rules
from protocols.payload.opening import PayloadLimits
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import ShareExpectation, open_share

_ANSWER = {"counts", "commonest_row", "digests", "known_sentences", "said", "distinct"}


@dataclass(frozen=True)
class PayloadQuestion:
    """What the child is asked to check.

    Args:
        payload: the decrypted payload, its signed manifest beside it; the child works in another folder.
        site: whose share it is.
        key: that signed the bundle.
        expected: what the share must fit.
        limits: what to accept at most.
        overlap_key: the provider's secret for digests of sentences, in hexadecimal digits.
        codebook: file of the rows that its release can show; None for any within the bound.
        exact: as in `Codebook`.
        codes: where the codes of its release may stand; None where tokens are shown by rows.
    """

    payload: Path
    site: str
    key: PublicKey
    expected: ShareExpectation
    limits: PayloadLimits
    overlap_key: str
    codebook: Path | None = None
    exact: bool = True
    codes: CodeList | None = None

    def to_json(self) -> dict[str, Json]:
        """For the way to the child."""
        return {
            "payload": str(self.payload.absolute()),
            "site": self.site,
            "key": self.key.hex,
            "expected": self.expected.to_json(),
            "limits": asdict(self.limits),
            "overlap_key": self.overlap_key,
            "codebook": None if self.codebook is None else str(self.codebook.absolute()),
            "exact": self.exact,
            "places": None if self.codes is None else str(self.codes.places.absolute()),
            "window": None if self.codes is None else self.codes.window,
        }

    @classmethod
    def from_json(cls, values: dict[str, Json]) -> PayloadQuestion:
        """What `to_json` gave.

        Raises:
            SchemaError: something else.
        """
        expected, limits = values["expected"], values["limits"]
        if not isinstance(expected, dict) or not isinstance(limits, dict):
            raise SchemaError("the arguments of the check", received="others", place="payload check")
        return cls(
            Path(str(values["payload"])),
            str(values["site"]),
            PublicKey.from_hex(str(values["key"])),
            ShareExpectation.from_json(expected),
            PayloadLimits(**limits),  # type: ignore[arg-type]
            str(values["overlap_key"]),
            None if values["codebook"] is None else Path(str(values["codebook"])),
            bool(values["exact"]),
            None if values["places"] is None else CodeList(Path(str(values["places"])), int(str(values["window"]))),
        )


@dataclass(frozen=True)
class PayloadFindings:
    """What was found in a payload, beside that it is sound.

    Args:
        counts: those of `stated_counts`.
        commonest_row: how many tokens show the row that most show; 0 where any row is possible.
        digests: of its sentences, see `SentenceDigests`.
        known_sentences: how many sentences have one of these digests, each as often as it stands in the share.
        said: how many are more than a word or two, see `SentenceDigests`.
        distinct: how many different ones are among those.
    """

    counts: Json
    commonest_row: int
    digests: bytes
    known_sentences: int = 0
    said: int = 0
    distinct: int = 0

    @classmethod
    def from_json(cls, answer: Json) -> PayloadFindings | None:
        """What `check_payload` returned, or None: the child may say anything."""
        if not isinstance(answer, dict) or set(answer) != _ANSWER:
            return None
        commonest, known, digests = answer["commonest_row"], answer["known_sentences"], from_text(answer["digests"])
        said, distinct = answer["said"], answer["distinct"]
        if type(commonest) is not int or type(known) is not int or digests is None:
            return None
        if type(said) is not int or type(distinct) is not int or min(said, distinct) < (said > 0 or distinct > 0):
            return None
        # No payload holds so many, and no float.
        if max(commonest, known, said, distinct) >= 1 << 63:
            return None
        return cls(answer["counts"], commonest, digests, known, said, distinct)


def stated_counts(manifest: ShareManifest) -> Json:
    """The counts of a manifest, in the form in which `check_payload` gives those that it found."""
    return {"sentences": manifest.sentences, "tokens": manifest.tokens, "tag_counts": list(manifest.tag_counts)}


def check_payload(values: dict[str, Json]) -> Json:
    """Verifies a share.

    Args:
        values: a `PayloadQuestion`.

    Returns:
        `PayloadFindings`.

    Raises:
        ProtocolError: anything of it is not as stated, beyond the limits, or nothing that its release can show.
    """
    asked = PayloadQuestion.from_json(values)
    codebook = None
    if asked.codebook is not None:
        codebook = read_codebook(asked.codebook, asked.expected.dim or 0, exact=asked.exact)
    codes = None if asked.codes is None else read_code_rules(asked.codes.places, asked.codes.window)
    # Where noise hides words instead of a list, all rows of a sentence come again.
    digests = SentenceDigests(bytes.fromhex(asked.overlap_key), whole=codebook is None and codes is None)
    share = open_share(
        asked.payload,
        public_keys={asked.site: [asked.key]},
        limits=asked.limits,
        expected=asked.expected,
        codebook=codebook,
        codes=codes,
        look=digests.add,
    )
    return {
        "counts": stated_counts(share.manifest),
        "commonest_row": share.commonest_row,
        "digests": to_text(digests.to_bytes()),
        "known_sentences": digests.sentences,
        "said": digests.said,
        "distinct": digests.distinct,
    }
