"""What the child process of the sandbox does with a share: `open_share`, which parses the payload and checks every value.

The checks ahead of the payload run here a second time. That costs little, and keeps their order in one place: bytes of the
payload are parsed only after all that does not need them has passed.

Imports no more than a reader of payloads needs, for the child starts anew with every share.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from protocols.canonical import Json
from protocols.errors import SchemaError
from protocols.keys.signing import PublicKey
from protocols.payload.opening import PayloadLimits
from protocols.share.sealing import ShareExpectation, open_share


def arguments(
    payload: Path, site: str, key: PublicKey, expected: ShareExpectation, limits: PayloadLimits
) -> dict[str, Json]:
    """What `check_payload` takes.

    Args:
        payload: the decrypted payload, its signed manifest beside it; the child works in another folder.
        site: whose share it is.
        key: that signed the bundle.
        expected: what the share must fit.
        limits: what to accept at most.
    """
    return {
        "payload": str(payload.absolute()), "site": site, "key": key.hex, "expected": asdict(expected), "limits": asdict(limits)
    }  # fmt: skip


def check_payload(values: dict[str, Json]) -> Json:
    """Verifies a share.

    Args:
        values: made by `arguments`.

    Returns:
        the counts that were found: sentences, tokens, and tokens of each tag.

    Raises:
        ProtocolError: anything of it is not as stated, or beyond the limits.
    """
    expected, limits = values["expected"], values["limits"]
    if not isinstance(expected, dict) or not isinstance(limits, dict):
        raise SchemaError("the arguments of the check", received="others", place="payload check")
    manifest = open_share(
        Path(str(values["payload"])),
        public_keys={str(values["site"]): [PublicKey.from_hex(str(values["key"]))]},
        limits=PayloadLimits(**limits),  # type: ignore[arg-type]
        expected=ShareExpectation(**expected),  # type: ignore[arg-type]
    ).manifest
    return {"sentences": manifest.sentences, "tokens": manifest.tokens, "tag_counts": list(manifest.tag_counts)}
