"""What alembic executes for an upgrade, on the connection that `aggregator.registry.schema` hands over."""

from __future__ import annotations

from alembic import context

from aggregator.registry.tables import Table

# The caller began the transaction and commits it, so that a version is there whole or not at all.
context.configure(connection=context.config.attributes["connection"], target_metadata=Table.metadata)
context.run_migrations()
