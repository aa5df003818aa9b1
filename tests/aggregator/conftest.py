"""Fixtures of the provider's tests."""

from tests.aggregator.ingestion.taking_in import quick, small, small_template, world

__all__ = ["quick", "small", "small_template", "world"]
