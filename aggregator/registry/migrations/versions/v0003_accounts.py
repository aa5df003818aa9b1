"""People who may sign in at the dashboard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Makes their table; nobody stands in it before somebody is added."""
    op.create_table(
        "accounts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("added_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_accounts"),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'approver')", name="ck_accounts_role"),
    )
