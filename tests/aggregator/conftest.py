"""Fixtures of the provider's tests."""

from tests.aggregator.ingestion.taking_in import quick, small, world

__all__ = ["quick", "small", "world"]
