"""Digests of the sentences of shares, by which they are known when they come again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes their table. Shares that came before have none: nobody looks at their payloads again."""
    op.create_table(
        "share_digests",
        sa.Column("share", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("share", name="pk_share_digests"),
        sa.ForeignKeyConstraint(["share"], ["shares.id"], name="fk_share_digests_share"),
    )
