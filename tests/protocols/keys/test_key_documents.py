"""The test vectors of docs/formats/keys.md are what this implementation makes, and its tables name every key."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pytest

from protocols.canonical import parse_canonical
from protocols.keys.enrolment import parse_request, write_request
from protocols.keys.rotation import Acceptance, Rotation, parse_rotation, read_acceptance
from protocols.keys.signing import PrivateKey

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "formats" / "keys.md").read_text(encoding="utf-8")
VECTORS = {name: text.encode() for name, text in re.findall(r"```vector ([a-z-]+)\n(.*?)\n```", TEXT, re.DOTALL)}
OLD, NEW, PROVIDER = (PrivateKey.from_seed(bytes(range(first, first + 32))) for first in range(3))
DAY, UNTIL = datetime.date(2026, 1, 31), datetime.date(2028, 1, 31)


def test_every_vector_is_tested() -> None:
    assert set(VECTORS) == {"request", "rotation", "acceptance"}


def test_the_request(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    made = write_request(path, OLD, site="hospital-a", contact="data office", created=DAY, valid_until=UNTIL)
    assert path.read_bytes() == VECTORS["request"]
    assert parse_request(VECTORS["request"]) == made


def test_the_rotation() -> None:
    rotation = Rotation("hospital-a", OLD.public_key, NEW.public_key, DAY, UNTIL, 30)
    assert rotation.to_bytes(OLD, NEW) == VECTORS["rotation"]
    assert parse_rotation(VECTORS["rotation"]) == rotation


def test_the_acceptance() -> None:
    acceptance = Acceptance("hospital-a", NEW.public_key, DAY, UNTIL, datetime.date(2026, 3, 2))
    assert acceptance.to_bytes(PROVIDER) == VECTORS["acceptance"]
    assert read_acceptance(VECTORS["acceptance"], PROVIDER.public_key) == acceptance


@pytest.mark.parametrize("name", ["request", "rotation", "acceptance"])
def test_every_key_is_documented(name: str) -> None:
    section = next(part for part in TEXT.split("\n## ") if f"```vector {name}\n" in part)
    rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    value: Any = parse_canonical(VECTORS[name], max_bytes=1 << 16)
    assert set(value[name]) == documented
