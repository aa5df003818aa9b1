"""What an S3-compatible store says where it does not do as it was asked, in a line that says what to do.

Its library has one error for nearly all of it, whose text quotes addresses, key ids and whole answers: of that no more is told than the
status of the answer and its code, a word of letters alone. An answer about the head of an object has no code; of most refusals the status
says enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from foundation.errors import StorageError


@dataclass(frozen=True)
class _Cause:
    """Why a store did not do it, and what helps."""

    received: str
    advice: str


_SETTING = "check the setting `objects`"
_BUCKET = _Cause("no such bucket", f"make it, or {_SETTING}")
_REGION = _Cause("a bucket of another region", f"{_SETTING}: its region, and its endpoint")
_RIGHTS = _Cause(
    "a refusal", "let the credentials in the environment list the bucket, and read, write and delete objects in it"
)
_KEYS = _Cause("credentials that it does not take", "check the credentials in the environment")
_EXPIRED = _Cause("credentials that have expired", "renew the credentials in the environment")
_NO_KEYS = _Cause(
    "no credentials in the environment, and none from this machine",
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file with them in AWS_SHARED_CREDENTIALS_FILE",
)
_CLOCK = _Cause("another time of day than its own", "set the clock of this machine")
_FULL = _Cause("a store without room", "make room in it, and repeat")
_BUSY = _Cause("a store that is busy, or has a fault", "repeat later, or ask who runs it")
_CERTIFICATE = _Cause("a certificate that this machine does not trust", f"{_SETTING}, and the certificate of the store")
_SILENCE = _Cause("no answer", f"{_SETTING} and the network")
_UNCLEAR = _Cause("a refusal", f"{_SETTING}, its region above all, the credentials in the environment and the bucket")
_OTHER = _Cause("what no such store answers", f"{_SETTING}: another program may answer at its endpoint")

_OF_CODES = {
    "NoSuchBucket": _BUCKET,
    "PermanentRedirect": _REGION,
    "TemporaryRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "AccessDenied": _RIGHTS,
    "AllAccessDisabled": _RIGHTS,
    "InvalidAccessKeyId": _KEYS,
    "SignatureDoesNotMatch": _KEYS,
    "InvalidToken": _KEYS,
    "ExpiredToken": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "RequestTimeTooSkewed": _CLOCK,
    "RequestExpired": _CLOCK,
    "QuotaExceeded": _FULL,
    "XMinioStorageFull": _FULL,
    "SlowDown": _BUSY,
    "InternalError": _BUSY,
    "ServiceUnavailable": _BUSY,
    "RequestTimeout": _BUSY,
}
_OF_STATUSES = {"401": _KEYS, "403": _RIGHTS, "404": _BUCKET, "429": _BUSY, "507": _FULL}
# Words of the library, where no answer of the store has a status.
_OF_WORDS = {
    "redirect without LOCATION": _REGION,
    "InvalidCertificate": _CERTIFICATE,
    "HTTP error": _SILENCE,
}
# Where the library looks for the credentials of a machine in a cloud; a status is then that machine's.
_MACHINE = ("/latest/api/token", "/latest/meta-data/")
_STATUS = re.compile(r"status code: (\d{3})\b")
_CODE = re.compile(r"<Code>([A-Za-z]{1,40})</Code>|\(code: ([A-Za-z]{1,40})\)")


def is_without_bucket(error: BaseException) -> bool:
    """Whether what is missing is the bucket, and not the object."""
    return _code(str(error)) == "NoSuchBucket"


def refusal(error: BaseException, place: str) -> StorageError:
    """What the error of the library means.

    Args:
        error: of the library.
        place: what was asked for.
    """
    text = str(error)
    if any(path in text for path in _MACHINE):
        status = code = ""
        cause = _NO_KEYS
    else:
        status, code = _status(text), _code(text)
        cause = _cause(text, status, code)
    said = " ".join(filter(None, (status, code)))
    return StorageError(
        "an object store that does as it is asked",
        received=f"{cause.received} ({said})" if said else cause.received,
        advice=cause.advice,
        place=place,
    )


def _cause(text: str, status: str, code: str) -> _Cause:
    if code in _OF_CODES:
        return _OF_CODES[code]
    if status:
        return _OF_STATUSES.get(status, _BUSY if status >= "500" else _UNCLEAR)
    if code:
        return _UNCLEAR
    return next((cause for words, cause in _OF_WORDS.items() if words in text), _OTHER)


def _status(text: str) -> str:
    found = _STATUS.search(text)
    return found[1] if found else ""


def _code(text: str) -> str:
    found = _CODE.search(text)
    return (found[1] or found[2]) if found else ""
