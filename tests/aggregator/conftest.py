"""Fixtures of the provider's tests."""

from tests.aggregator.taking_in import quick, small, world

__all__ = ["quick", "small", "world"]
