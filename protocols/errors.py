"""Every error that `protocols` raises on purpose, as one tree.

ProtocolError (9)                of foundation's DeidError and ExpectationError
├── SchemaError (10)             not the layout that this version reads: JSON, Parquet, HDF5 or folder
│   ├── VersionError             a format version that this program does not know
│   └── MismatchError            sound, but made for something else: other labels, another width
│       ├── OtherReleaseError    made with another release than the one expected
│       └── OtherRecipientError  made for another provider
├── BoundsError (11)             a number outside its limits: too large, too many, out of range
│   ├── NonFiniteError           NaN or infinity in a tensor
│   ├── CodebookError            a row of a share that no word has under its release
│   └── TagSequenceError         a tag that goes on with a category that was not begun
├── SignatureError (12)          the signature is not that of these bytes by this key
│   ├── UnsignedError            no signature where one is needed
│   ├── UnknownSignerError       signed by nobody we know
│   └── StaleError               signed too long ago, or by a clock that is off
├── DigestError (13)             the bytes are not the ones that were signed for
│   └── TruncatedError           fewer bytes than were signed for
├── DuplicateError (14)          accepted before: a replay
├── EncryptionError (15)         not encrypted for this key, or not these bytes
└── ConflictError (16)           another share has this number already

What goes wrong with a file of this machine is no ProtocolError but a `foundation.errors.StorageError`: it says nothing about
what came, so that whoever refuses bad messages must not refuse for it. One kind of it is made here:

StorageError (8)                 of foundation
└── PassphraseError (17)         a private key lies under a passphrase that is missing or another one

A message says what was expected, what came instead and what to do, on one line. It names files, fields, sites and
numbers; it never quotes a value of a tensor together with a word, and there is no text of a note to quote.

`exit_code` is what the command line returns for the error; docs/exit-codes.md lists them.
"""

from __future__ import annotations

from foundation.errors import ExpectationError, StorageError


class ProtocolError(ExpectationError):
    """Root of what `protocols` raises."""

    exit_code = 9


class SchemaError(ProtocolError):
    """Not the layout that this version reads."""

    exit_code = 10


class VersionError(SchemaError):
    """A format version that this program does not know."""


class MismatchError(SchemaError):
    """Sound, but made for something else."""


class OtherReleaseError(MismatchError):
    """Made with another release than the one expected."""


class OtherRecipientError(MismatchError):
    """Made for another provider."""


class BoundsError(ProtocolError):
    """A number outside its limits: too large, too many, out of range."""

    exit_code = 11


class NonFiniteError(BoundsError):
    """NaN or infinity in a tensor."""


class CodebookError(BoundsError):
    """A row of a share that no word has under its release."""


class TagSequenceError(BoundsError):
    """A tag that goes on with a category that was not begun."""


class SignatureError(ProtocolError):
    """The signature is not that of these bytes by this key."""

    exit_code = 12


class UnsignedError(SignatureError):
    """No signature where one is needed."""


class UnknownSignerError(SignatureError):
    """Signed by nobody we know."""


class StaleError(SignatureError):
    """Signed too long ago, or by a clock that is off."""


class DigestError(ProtocolError):
    """The bytes are not the ones that were signed for."""

    exit_code = 13


class TruncatedError(DigestError):
    """Fewer bytes than were signed for."""


class DuplicateError(ProtocolError):
    """Accepted before: a replay."""

    exit_code = 14


class EncryptionError(ProtocolError):
    """Not encrypted for this key, or not these bytes."""

    exit_code = 15


class ConflictError(ProtocolError):
    """Another share has this number already."""

    exit_code = 16


class PassphraseError(StorageError):
    """A private key lies under a passphrase that is missing or another one."""

    exit_code = 17
