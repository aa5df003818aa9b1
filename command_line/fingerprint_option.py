"""A fingerprint as a person types it, on any command line."""

from __future__ import annotations

import click

from protocols.errors import SchemaError
from protocols.keys.fingerprint import parse_fingerprint


class TypedFingerprint(click.ParamType[str]):
    """Written or spoken, in capitals or not, parted or not; becomes the written one, in digits.

    One that is mistyped is a wrong command line (2); that it is another one is for the command to say.
    """

    name = "fingerprint"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The digits."""
        try:
            return parse_fingerprint(value)
        except SchemaError as error:
            self.fail(str(error), param, ctx)


FINGERPRINT = TypedFingerprint()
