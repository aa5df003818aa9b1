"""The registry's tables, for SQLite and PostgreSQL alike.

Times are UTC text of second precision (see `aggregator.registry.times`), digests lower-case hexadecimal text; states are
words that the database itself holds to those of `aggregator.registry.states`. What may be unknown yet is NULL, never an empty text.

The schema of a database is made and changed by the migrations only; `tests/aggregator/registry` holds the two against
each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Integer, LargeBinary, MetaData, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeEngine

from aggregator.registry.states import AccountRole, AlarmKind, KeyState, ShareState, SiteState, StoredWord, UploadState

# SQLite numbers rows by itself only where the type is exactly INTEGER; PostgreSQL's INTEGER ends at 2 thousand million.
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")
_COLUMN_TYPES: dict[type, TypeEngine[Any]] = {
    str: Text(),
    bytes: LargeBinary(),
    int: _NUMBER,
    **{words: StoredWord(words) for words in (SiteState, KeyState, ShareState, UploadState, AlarmKind, AccountRole)},
}


class Table(DeclarativeBase):
    """Base of all tables."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "ix": "ix_%(table_name)s_%(column_0_name)s",
        }
    )
    type_annotation_map = _COLUMN_TYPES


def one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    """The constraint that a column holds one of the words."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


class SiteRow(Table):
    """An enrolled hospital."""

    __tablename__ = "sites"
    __table_args__ = (one_of("state", SiteState),)

    name: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[SiteState]
    contact: Mapped[str | None]
    enrolled_at: Mapped[str]
    revoked_reason: Mapped[str | None]


class SiteKeyRow(Table):
    """One of a site's signing keys; several over time."""

    __tablename__ = "site_keys"
    __table_args__ = (one_of("state", KeyState),)

    key_id: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name"), index=True)
    public_key: Mapped[str]
    request: Mapped[bytes]
    valid_from: Mapped[str]
    valid_until: Mapped[str]
    state: Mapped[KeyState]


class ShareRow(Table):
    """A share, from the moment its bytes are safe; what only the sealed manifest says is NULL until it was opened."""

    __tablename__ = "shares"
    __table_args__ = (
        one_of("state", ShareState),
        # A rejected share does not use up its number.
        Index(
            "uq_shares_site_sequence",
            "site",
            "sequence",
            unique=True,
            sqlite_where=text("state <> 'rejected'"),
            postgresql_where=text("state <> 'rejected'"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name"))
    sequence: Mapped[int]
    bundle_sha256: Mapped[str] = mapped_column(unique=True)
    bundle_bytes: Mapped[int]
    manifest_sha256: Mapped[str | None]
    manifest: Mapped[bytes | None]
    payload_sha256: Mapped[str | None]
    payload_format: Mapped[str | None]
    release: Mapped[str | None]
    sentences: Mapped[int | None]
    tokens: Mapped[int | None]
    tag_counts: Mapped[str | None]
    state: Mapped[ShareState] = mapped_column(index=True)
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    received_at: Mapped[str]
    decided_at: Mapped[str | None]
    receipt: Mapped[bytes | None]


class ShareDigestsRow(Table):
    """Digests of the sentences of a share that is kept, see `aggregator.ingestion.sentence_digests`; gone with its payload."""

    __tablename__ = "share_digests"

    share: Mapped[int] = mapped_column(ForeignKey("shares.id"), primary_key=True, autoincrement=False)
    digests: Mapped[bytes]


class WithdrawalRow(Table):
    """A withdrawal, verified, of a share that is not decided: which share a manifest is of is known only when it is opened."""

    __tablename__ = "withdrawals"

    site: Mapped[str] = mapped_column(ForeignKey("sites.name"), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    manifest_sha256: Mapped[str] = mapped_column(primary_key=True)
    reason: Mapped[str]


class UploadRow(Table):
    """A bundle that comes in pieces."""

    __tablename__ = "uploads"
    __table_args__ = (one_of("state", UploadState),)

    id: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name"), index=True)
    bundle_sha256: Mapped[str]
    bundle_bytes: Mapped[int]
    offset: Mapped[int]
    state: Mapped[UploadState]
    created_at: Mapped[str]
    expires_at: Mapped[str]


def upload_file(name: str) -> str:
    """The name of the file that holds what has arrived of an upload."""
    return f"{name}.part"


class NonceRow(Table):
    """A nonce that a signed request has used up."""

    __tablename__ = "nonces"

    key_id: Mapped[str] = mapped_column(primary_key=True)
    nonce: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[str] = mapped_column(index=True)


class EventRow(Table):
    """An event of the audit log, written by `aggregator.registry.audit_log` only; triggers refuse to change or remove it."""

    __tablename__ = "events"

    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[str]
    actor: Mapped[str]
    action: Mapped[str]
    details: Mapped[str]
    # Unique: two events can't both follow one, so the chain can't fork.
    previous: Mapped[str] = mapped_column(unique=True)
    hash: Mapped[str]


class ReleaseRow(Table):
    """A published release."""

    __tablename__ = "releases"

    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    name: Mapped[str]
    digest: Mapped[str]
    published_at: Mapped[str]


class ReleaseShareRow(Table):
    """A share whose sentences trained the head of a release."""

    __tablename__ = "release_shares"

    release: Mapped[int] = mapped_column(ForeignKey("releases.sequence"), primary_key=True, autoincrement=False)
    share: Mapped[int] = mapped_column(ForeignKey("shares.id"), primary_key=True, autoincrement=False, index=True)


class AlarmRow(Table):
    """Something that a person must look at; `site` need not be one that is enrolled."""

    __tablename__ = "alarms"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[str]
    site: Mapped[str]
    kind: Mapped[AlarmKind]
    detail: Mapped[str]
    acknowledged_at: Mapped[str | None]


class AccountRow(Table):
    """A person who may sign in at the dashboard; `password` is NULL for one whom a proxy in front vouches for."""

    __tablename__ = "accounts"
    __table_args__ = (one_of("role", AccountRole),)

    name: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[AccountRole]
    password: Mapped[str | None]
    added_at: Mapped[str]
