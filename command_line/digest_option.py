"""A digest that was noted down, as a person types it, on any command line."""

from __future__ import annotations

import string

import click

_DIGITS = 64


class TypedDigest(click.ParamType[str]):
    """In capitals or not, parted or not; becomes the digits as logs write them.

    One that is mistyped is a wrong command line (2), and says nothing about the log in which it is looked for.
    """

    name = "digest"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The digits."""
        read = "".join(value.split()).lower()
        if len(read) != _DIGITS or set(read) - set(string.hexdigits):
            part = "" if len(read) != _DIGITS else ", some of which are in none"
            self.fail(
                f"expected a digest of {_DIGITS} digits from 0 to f, as `verify` prints it, got {len(read)} characters{part}; it is mistyped.",
                param,
                ctx,
            )
        return read


DIGEST = TypedDigest()
