"""Alembic's environment. `aggregator.registry.schema` runs it; a new version is a file in versions/ written by hand."""
