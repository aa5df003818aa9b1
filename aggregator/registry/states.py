"""The states of what the registry holds. Their values are what stands in the database, in receipts and in what commands print."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from aggregator.errors import DatabaseError


class SiteState(StrEnum):
    """Whether anything of a site is taken."""

    ENROLLED = "enrolled"
    REVOKED = "revoked"


class KeyState(StrEnum):
    """Of a site's key; a retired one, which another has followed, counts for some days more."""

    ACTIVE = "active"
    RETIRED = "retired"
    REVOKED = "revoked"


class ShareState(StrEnum):
    """Of a share; see `aggregator.enrolled.shares` for the ways from one to the next."""

    RECEIVED = "received"
    QUARANTINED = "quarantined"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class UploadState(StrEnum):
    """Of a bundle that comes in pieces."""

    OPEN = "open"
    FINISHED = "finished"
    ABORTED = "aborted"


class AlarmKind(StrEnum):
    """What a person must look at: another share under a number that is taken, or a site that stands out in the pool."""

    CONFLICT = "conflict"
    INFLUENCE = "influence"


class AccountRole(StrEnum):
    """What a person may do at the dashboard; each may do what those before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"

    def may(self, needed: AccountRole) -> bool:
        """Whether this role suffices where another is needed."""
        return [*AccountRole].index(self) >= [*AccountRole].index(needed)


class StoredWord(TypeDecorator[StrEnum]):
    """A column of text that is read as a word of an enumeration; one that is none of its words is an error when it is read.

    Args:
        words: the enumeration.
    """

    impl = Text
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The bare text: what is no word of the list is for the database to refuse."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """The word."""
        if value is None:
            return None
        try:
            return self.words(value)
        except ValueError as error:
            raise DatabaseError(
                f"registry: expected one of {', '.join(self.words)}, found another word; update this program, or restore "
                "the database from a backup"
            ) from error
