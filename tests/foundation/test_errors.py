"""The drawing of the tree against the classes of all packages."""

from __future__ import annotations

import re

import pytest

import aggregator.errors
import protocols.errors
import shared.errors
import site_client.errors
from foundation import errors
from foundation.errors import DeidError, ExpectationError, StorageError

DRAWN = dict(re.findall(r"(\w+Error)(?: \((\d+)\))?", errors.__doc__ or ""))
PACKAGES = (aggregator.errors, protocols.errors, shared.errors, site_client.errors)


def test_all_errors_have_one_root() -> None:
    named = [kind for module in PACKAGES for kind in vars(module).values()]
    kinds = [kind for kind in named if isinstance(kind, type) and issubclass(kind, BaseException)]
    assert len(kinds) > 40
    assert all(issubclass(kind, DeidError) for kind in kinds)


def test_the_drawing_has_every_branch_with_its_code() -> None:
    branches: set[type[DeidError]] = {
        DeidError,
        ExpectationError,
        *ExpectationError.__subclasses__(),
        *StorageError.__subclasses__(),
    }
    branches |= {kind for kind in DeidError.__subclasses__() if kind.__module__ != "shared.errors"}
    ours = {kind for kind in branches if not kind.__module__.startswith("tests.")}
    assert {kind.__name__ for kind in ours} == set(DRAWN)
    for kind in ours:
        assert DRAWN[kind.__name__] in ("", str(kind.exit_code))


@pytest.mark.parametrize("name", ["DeidError", "StorageError"])
@pytest.mark.parametrize("module", [shared.errors, protocols.errors], ids=lambda module: module.__name__)
def test_there_is_one_of_each_name(name: str, module: object) -> None:
    assert getattr(module, name, None) in (None, getattr(errors, name))


def test_a_full_disk_is_no_fault_of_what_a_stranger_sent() -> None:
    # What refuses bad messages catches ProtocolError; a share that meets a full disk must be left to wait instead.
    assert not issubclass(StorageError, protocols.errors.ProtocolError)
    assert not issubclass(protocols.errors.ProtocolError, StorageError)


def test_a_message_is_one_line_with_place_expected_received_and_advice() -> None:
    error = StorageError("a\nfile", received="none", advice="look for it", place="share.parquet")
    assert str(error) == "share.parquet: expected a file, received none; look for it"
    assert str(StorageError("a file")) == "expected a file"
