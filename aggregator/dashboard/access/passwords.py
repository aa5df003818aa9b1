"""Passwords of accounts: kept as Argon2id (RFC 9106) in PHC's form, compared in constant time.

Threat: who copies the database has hashes, and pays 64 MiB and a tenth of a second for every guess at one of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from shared.errors import ConfigurationError

LEAST_CHARACTERS = 12
MOST_BYTES = 1024
_SALT_BYTES, _HASH_BYTES = 16, 32


@dataclass(frozen=True)
class Cost:
    """What a guess costs.

    Args:
        iterations: passes over the memory.
        memory_kib: that one guess takes.
    """

    iterations: int = 3
    memory_kib: int = 64 << 10


COST = Cost()


def hash_password(password: bytes, cost: Cost | None = None) -> str:
    """A password as it is kept.

    Args:
        password: in UTF-8.
        cost: of a guess; None for COST.

    Raises:
        ConfigurationError: it is shorter than LEAST_CHARACTERS, or longer than anybody types.
    """
    if len(password.decode("utf-8", "replace")) < LEAST_CHARACTERS or len(password) > MOST_BYTES:
        raise ConfigurationError(
            f"password: expected {LEAST_CHARACTERS} to {MOST_BYTES} characters, got fewer or more; take four or five words "
            "that nobody else would put together"
        )
    cost = cost or COST
    derived = Argon2id(
        salt=os.urandom(_SALT_BYTES),
        length=_HASH_BYTES,
        iterations=cost.iterations,
        lanes=1,
        memory_cost=cost.memory_kib,
    )
    return derived.derive_phc_encoded(password)


def password_matches(password: bytes, kept: str | None) -> bool:
    """Whether a password is the one that is kept; where none is, the answer is no, and takes as long."""
    try:
        Argon2id.verify_phc_encoded(password[:MOST_BYTES], _nobodys(COST) if kept is None else kept)
    except InvalidKey:
        return False
    return kept is not None and len(password) <= MOST_BYTES


@cache
def _nobodys(cost: Cost) -> str:
    """A hash of what nobody knows: who asks for a name that is not there waits as long as for one that is."""
    return hash_password(os.urandom(32).hex().encode(), cost)
