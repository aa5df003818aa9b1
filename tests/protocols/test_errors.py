from __future__ import annotations

import inspect

import pytest

from protocols import errors

TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.ProtocolError)]


@pytest.mark.parametrize("kind", TREE)
def test_every_error_has_an_exit_code_of_its_own_range_and_stands_in_the_drawing(
    kind: type[errors.ProtocolError],
) -> None:
    assert 9 <= kind.exit_code <= 16
    assert kind.__name__ in (errors.__doc__ or "")


def test_exit_codes_are_stable() -> None:
    codes = {kind.__name__: kind.exit_code for kind in errors.ProtocolError.__subclasses__()}
    assert codes == {
        "SchemaError": 10,
        "BoundsError": 11,
        "SignatureError": 12,
        "DigestError": 13,
        "DuplicateError": 14,
        "EncryptionError": 15,
        "ConflictError": 16,
    }


def test_a_message_is_one_line_with_place_expected_received_and_advice() -> None:
    error = errors.SchemaError("four\ncolumns", received="three", advice="refuse it", place="share.parquet")
    assert str(error) == "share.parquet: expected four columns, received three; refuse it"
