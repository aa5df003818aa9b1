"""What the child process of the sandbox does with a share: `open_share`, which parses the payload and checks every value.

The checks ahead of the payload run here a second time. That costs little, and keeps their order in one place: bytes of the
payload are parsed only after all that does not need them has passed.

Imports no more than a reader of payloads needs, for the child starts anew with every share.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from protocols.canonical import Json
from protocols.errors import SchemaError
from protocols.keys.signing import PublicKey
from protocols.payload.opening import PayloadLimits
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import ShareExpectation, open_share


@dataclass(frozen=True)
class PayloadQuestion:
    """What the child is asked to check.

    Args:
        payload: the decrypted payload, its signed manifest beside it; the child works in another folder.
        site: whose share it is.
        key: that signed the bundle.
        expected: what the share must fit.
        limits: what to accept at most.
    """

    payload: Path
    site: str
    key: PublicKey
    expected: ShareExpectation
    limits: PayloadLimits

    def to_json(self) -> dict[str, Json]:
        """For the way to the child."""
        return {
            "payload": str(self.payload.absolute()),
            "site": self.site,
            "key": self.key.hex,
            "expected": asdict(self.expected),
            "limits": asdict(self.limits),
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
            ShareExpectation(**expected),  # type: ignore[arg-type]
            PayloadLimits(**limits),  # type: ignore[arg-type]
        )


def stated_counts(manifest: ShareManifest) -> Json:
    """The counts of a manifest, as `check_payload` gives those that it found."""
    return {"sentences": manifest.sentences, "tokens": manifest.tokens, "tag_counts": list(manifest.tag_counts)}


def check_payload(values: dict[str, Json]) -> Json:
    """Verifies a share.

    Args:
        values: a `PayloadQuestion`.

    Returns:
        the counts that were found: sentences, tokens, and tokens of each tag.

    Raises:
        ProtocolError: anything of it is not as stated, or beyond the limits.
    """
    asked = PayloadQuestion.from_json(values)
    share = open_share(
        asked.payload, public_keys={asked.site: [asked.key]}, limits=asked.limits, expected=asked.expected
    )
    return stated_counts(share.manifest)
