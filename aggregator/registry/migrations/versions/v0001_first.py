"""The first version of the registry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NOT_REJECTED = sa.text("state <> 'rejected'")


def upgrade() -> None:
    """Makes all tables, and the triggers that keep the audit log."""
    _sites()
    _shares()
    _uploads()
    _events()
    _releases()


def _sites() -> None:
    op.create_table(
        "sites",
        _text("name"),
        _text("state"),
        _text("contact", nullable=True),
        _text("enrolled_at"),
        _text("revoked_reason", nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_sites"),
        _states("sites", "enrolled", "revoked"),
    )
    op.create_table(
        "site_keys",
        _text("key_id"),
        _text("site"),
        _text("public_key"),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        _text("valid_from"),
        _text("valid_until"),
        _text("state"),
        sa.PrimaryKeyConstraint("key_id", name="pk_site_keys"),
        sa.ForeignKeyConstraint(["site"], ["sites.name"], name="fk_site_keys_site"),
        _states("site_keys", "active", "retired", "revoked"),
    )
    op.create_index("ix_site_keys_site", "site_keys", ["site"])


def _shares() -> None:
    op.create_table(
        "shares",
        _number("id"),
        _text("site"),
        _number("sequence"),
        _text("bundle_sha256"),
        _number("bundle_bytes"),
        _text("manifest_sha256", nullable=True),
        sa.Column("manifest", sa.LargeBinary(), nullable=True),
        _text("payload_sha256", nullable=True),
        _text("payload_format", nullable=True),
        _text("release", nullable=True),
        _number("sentences", nullable=True),
        _number("tokens", nullable=True),
        _text("tag_counts", nullable=True),
        _text("state"),
        _text("reason_code", nullable=True),
        _text("reason", nullable=True),
        _text("received_at"),
        _text("decided_at", nullable=True),
        sa.Column("receipt", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_shares"),
        sa.ForeignKeyConstraint(["site"], ["sites.name"], name="fk_shares_site"),
        sa.UniqueConstraint("bundle_sha256", name="uq_shares_bundle_sha256"),
        _states("shares", "received", "quarantined", "accepted", "rejected", "withdrawn"),
    )
    op.create_index("ix_shares_state", "shares", ["state"])
    op.create_index(
        "uq_shares_site_sequence",
        "shares",
        ["site", "sequence"],
        unique=True,
        sqlite_where=_NOT_REJECTED,
        postgresql_where=_NOT_REJECTED,
    )


def _uploads() -> None:
    op.create_table(
        "uploads",
        _text("id"),
        _text("site"),
        _text("bundle_sha256"),
        _number("bundle_bytes"),
        _number("offset"),
        _text("state"),
        _text("created_at"),
        _text("expires_at"),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
        sa.ForeignKeyConstraint(["site"], ["sites.name"], name="fk_uploads_site"),
        _states("uploads", "open", "finished", "aborted"),
    )
    op.create_index("ix_uploads_site", "uploads", ["site"])
    op.create_table(
        "nonces",
        _text("key_id"),
        _text("nonce"),
        _text("expires_at"),
        sa.PrimaryKeyConstraint("key_id", "nonce", name="pk_nonces"),
    )
    op.create_index("ix_nonces_expires_at", "nonces", ["expires_at"])


def _events() -> None:
    op.create_table(
        "events",
        _number("seq", autoincrement=False),
        _text("at"),
        _text("actor"),
        _text("action"),
        _text("details"),
        _text("previous"),
        _text("hash"),
        sa.PrimaryKeyConstraint("seq", name="pk_events"),
        sa.UniqueConstraint("previous", name="uq_events_previous"),
    )
    for statement in _KEEP_EVENTS[op.get_bind().dialect.name]:
        op.execute(statement)
    op.create_table(
        "alarms",
        _number("id"),
        _text("at"),
        _text("site"),
        _text("kind"),
        _text("detail"),
        _text("acknowledged_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_alarms"),
    )


def _releases() -> None:
    op.create_table(
        "releases",
        _number("sequence", autoincrement=False),
        _text("kind"),
        _text("name"),
        _text("digest"),
        _text("published_at"),
        sa.PrimaryKeyConstraint("sequence", name="pk_releases"),
    )
    op.create_table(
        "release_shares",
        _number("release", autoincrement=False),
        _number("share", autoincrement=False),
        sa.PrimaryKeyConstraint("release", "share", name="pk_release_shares"),
        sa.ForeignKeyConstraint(["release"], ["releases.sequence"], name="fk_release_shares_release"),
        sa.ForeignKeyConstraint(["share"], ["shares.id"], name="fk_release_shares_share"),
    )
    op.create_index("ix_release_shares_share", "release_shares", ["share"])


# An event is neither changed nor removed, and a new one follows the last, whoever writes it and with whatever statement
# (SQLite's REPLACE removes rows without asking a trigger of DELETE).
_KEEP_EVENTS = {
    "sqlite": (
        *(
            f"CREATE TRIGGER events_no_{word.lower()} BEFORE {word} ON events "
            "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"
            for word in ("UPDATE", "DELETE")
        ),
        "CREATE TRIGGER events_follow BEFORE INSERT ON events "
        "WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events) "
        "OR NEW.previous <> coalesce((SELECT hash FROM events ORDER BY seq DESC LIMIT 1), NEW.previous) "
        "BEGIN SELECT RAISE(ABORT, 'an event follows the last one'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION events_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'the audit log only grows' USING ERRCODE = 'restrict_violation'; END $$",
        "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION events_only_grow()",
        "CREATE FUNCTION events_follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events) "
        "OR NEW.previous <> coalesce((SELECT hash FROM events ORDER BY seq DESC LIMIT 1), NEW.previous) THEN "
        "RAISE EXCEPTION 'an event follows the last one' USING ERRCODE = 'restrict_violation'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER events_follow BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION events_follow()",
    ),
}


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False, autoincrement: bool = True) -> sa.Column[int]:
    return sa.Column(name, _NUMBER, nullable=nullable, autoincrement=autoincrement)


def _states(table: str, *words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"state IN ({listed})", name=f"ck_{table}_state")
