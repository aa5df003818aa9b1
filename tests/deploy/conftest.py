"""Fixtures of the tests of deploy/."""

from tests.deploy.wheels import wheelhouse

__all__ = ["wheelhouse"]
