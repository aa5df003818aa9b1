"""What sites take back before it is decided."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes their table."""
    op.create_table(
        "withdrawals",
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("sequence", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("manifest_sha256", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("site", "sequence", "manifest_sha256", name="pk_withdrawals"),
        sa.ForeignKeyConstraint(["site"], ["sites.name"], name="fk_withdrawals_site"),
    )
