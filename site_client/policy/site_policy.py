"""What a hospital asks of a release before it encodes, shares or runs anything with it, whoever signed it, and of what leaves.

    policy.json     the values below as JSON, numbers with a fraction as decimal strings; see docs/formats/keys.md

On by default is only the construction that replaces labelled PHI, for a release without its bank would else be one of `k-anonymous` that
keeps every promise; the others are off until the hospital enables them by name, those that only attacks vouch for among them. What is
recomputed is always asked for, and no value turns it off.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from protocols.canonical import MAX_INTEGER, Json, canonical_bytes, decimal_text
from protocols.errors import SchemaError
from protocols.fields import LINE, SHA256, Fields
from shared.constructions.proof import DEFAULT as DEFAULT_CONSTRUCTIONS
from shared.constructions.proof import RECOMPUTABLE, WITHOUT_PROOF
from shared.errors import ConfigurationError

FORMAT = 1
CONSTRUCTIONS = (*RECOMPUTABLE, *WITHOUT_PROOF)
_PLACE = "policy.json"
_MOST = 64
MAX_AGE_DAYS = 36_500
_LEAST_EPSILON = 0.01
_MARK = " (of a DEMONSTRATION: not for work with real notes)"
_PRESET = re.compile("full|quick")


class DemandedAudit(StrEnum):
    """Which audit a release must have passed; that there is one at all is never waived."""

    FULL = "full"
    QUICK = "quick"


@dataclass(frozen=True)
class OwnWords:
    """The hospital's own list of public words.

    Args:
        path: below the workspace.
        sha256: digest of the file.
    """

    path: str
    sha256: str

    def to_json(self) -> dict[str, Json]:
        """As canonical JSON."""
        return {"path": self.path, "sha256": self.sha256}


@dataclass(frozen=True)
class SitePolicy:
    """A hospital's policy.

    Args:
        constructions: procedures whose releases are taken.
        accept_failed_audit: those among them whose audit may have failed; only what nothing proves can be here.
        least_cluster: words that must at least be shown alike; 1 asks for none.
        most_common_words: words that may at most be shown as they are far from labelled PHI; None for any number of them.
        exact_window: tokens from labelled PHI within which other public words may be shown, where these are limited.
        hide_casing: whether casing and punctuation of labelled PHI must be hidden.
        max_mu: most that the noise may leave of one token, as mu of Gaussian differential privacy; None for any finite one.
        max_advantage: most that the best attacker may gain on the hospital's own PHI words, 95th percentile; None for no limit.
        most_bank_spans: spans of the surrogate bank that may stand in the hospital's own notes.
        least_new_notes: notes that have not left before which a share must hold; among fewer, a sentence can be told to be of
            a certain note. 0 asks for none.
        audit: that a release must have passed.
        max_age_days: of a release and of its audit.
        max_bytes: of all files of a release.
        own_words: the hospital's own public words; None for those of the program alone.
        approval: whether a person has to approve by name before a share leaves.
        text_fragments: whether files of short phrases may leave, which are text.
        federated_rounds: most rounds, of all trainings together, in which this hospital trains with others over a connection; 0 for none.
        federated_epsilon: most that all these rounds may tell of one note, at delta 1e-5; None for rounds without noise, of which
            nothing can be proved.
        federated_on_shares: whether these rounds see only what a share of the notes would show.
        demonstration: whether it is that of `aggregator demo`, which nobody should work with.

    Raises:
        ConfigurationError: a value out of range, or an unknown construction.
    """

    constructions: tuple[str, ...] = DEFAULT_CONSTRUCTIONS
    accept_failed_audit: tuple[str, ...] = ()
    least_cluster: int = 100
    most_common_words: int | None = 30
    exact_window: int = 3
    hide_casing: bool = False
    max_mu: float | None = None
    max_advantage: float | None = None
    most_bank_spans: int = 0
    least_new_notes: int = 20
    audit: DemandedAudit = DemandedAudit.FULL
    max_age_days: int = 400
    max_bytes: int = 8 << 30
    own_words: OwnWords | None = None
    approval: bool = True
    text_fragments: bool = False
    federated_rounds: int = 0
    federated_epsilon: float | None = 8.0
    federated_on_shares: bool = False
    demonstration: bool = False

    def __post_init__(self) -> None:
        if unknown := set(self.constructions) - set(CONSTRUCTIONS):
            raise ConfigurationError(
                f"policy: expected constructions among {', '.join(CONSTRUCTIONS)}, got {min(unknown)!r}; correct the name"
            )
        if not set(self.accept_failed_audit) <= set(WITHOUT_PROOF) & set(self.constructions):
            raise ConfigurationError(
                f"policy: expected --accept-failed-audit for enabled constructions among {', '.join(WITHOUT_PROOF)}, got another; "
                "the audit of the others must pass"
            )
        _check_range("least cluster", self.least_cluster, 1)
        _check_range("number of common words", self.most_common_words, 0)
        _check_range("window", self.exact_window, 0)
        _check_range("largest age in days", self.max_age_days, 1, MAX_AGE_DAYS)
        _check_range("largest size in bytes", self.max_bytes, 1)
        _check_range("spans of the bank", self.most_bank_spans, 0)
        _check_range("least number of new notes", self.least_new_notes, 0)
        _check_range("largest mu", self.max_mu, 0)
        _check_range("number of federated rounds", self.federated_rounds, 0)
        _check_range("federated epsilon", self.federated_epsilon, _LEAST_EPSILON)
        if self.max_advantage is not None and not 0 < self.max_advantage < 1:
            raise ConfigurationError(
                f"policy: expected a largest advantage between 0 and 1, got {self.max_advantage}; correct it"
            )

    @property
    def digest(self) -> str:
        """SHA-256 of the values, whatever the spacing of their file."""
        return digest_of_values(self.to_json())

    def to_json(self) -> dict[str, Json]:
        """As canonical JSON."""
        return {
            "format": FORMAT,
            "constructions": [*self.constructions],
            "accept_failed_audit": [*self.accept_failed_audit],
            "least_cluster": self.least_cluster,
            "most_common_words": self.most_common_words,
            "exact_window": self.exact_window,
            "hide_casing": self.hide_casing,
            "max_mu": None if self.max_mu is None else decimal_text(self.max_mu),
            "max_advantage": None if self.max_advantage is None else decimal_text(self.max_advantage),
            "most_bank_spans": self.most_bank_spans,
            "least_new_notes": self.least_new_notes,
            "audit": self.audit.value,
            "max_age_days": self.max_age_days,
            "max_bytes": self.max_bytes,
            "own_words": None if self.own_words is None else self.own_words.to_json(),
            "approval": self.approval,
            "text_fragments": self.text_fragments,
            "federated_rounds": self.federated_rounds,
            "federated_epsilon": None if self.federated_epsilon is None else decimal_text(self.federated_epsilon),
            "federated_on_shares": self.federated_on_shares,
            "demonstration": self.demonstration,
        }

    @classmethod
    def from_json(cls, value: Json) -> SitePolicy:
        """The policy in parsed JSON; what it does not state has its default, what nobody knows is refused.

        Raises:
            ProtocolError, ConfigurationError: it is none.
        """
        if not isinstance(value, dict):
            raise SchemaError("an object", received=type(value).__name__, advice="restore the file", place=_PLACE)
        stated = value
        read = Fields({**DEFAULT.to_json(), **stated}, DEFAULT.to_json().keys(), _PLACE)
        read.version("format", FORMAT)
        return cls(
            constructions=_names(read, "constructions"),
            accept_failed_audit=_names(read, "accept_failed_audit"),
            least_cluster=read.integer("least_cluster"),
            most_common_words=_count(read, stated, "most_common_words", DEFAULT.most_common_words),
            exact_window=read.integer("exact_window"),
            hide_casing=_flag(read, stated, "hide_casing"),
            max_mu=_limit(read, stated, "max_mu"),
            max_advantage=_limit(read, stated, "max_advantage"),
            most_bank_spans=read.integer("most_bank_spans"),
            least_new_notes=read.integer("least_new_notes"),
            audit=DemandedAudit(read.text("audit", _PRESET)),
            # An earlier version took any, and the ledger keeps what it recorded.
            max_age_days=min(read.integer("max_age_days"), MAX_AGE_DAYS),
            max_bytes=read.integer("max_bytes"),
            own_words=None if stated.get("own_words") is None else _own_words(read),
            approval=_flag(read, stated, "approval", default=True),
            text_fragments=_flag(read, stated, "text_fragments"),
            federated_rounds=read.integer("federated_rounds"),
            federated_epsilon=_epsilon(read, stated),
            federated_on_shares=_flag(read, stated, "federated_on_shares"),
            demonstration=_flag(read, stated, "demonstration"),
        )


def digest_of_values(values: Json) -> str:
    """SHA-256 of a policy as canonical JSON."""
    return hashlib.sha256(canonical_bytes(values)).hexdigest()


def list_changes(before: SitePolicy, after: SitePolicy) -> list[str]:
    """Names and values of what differs, in words."""
    old, new = before.to_json(), after.to_json()
    return [f"{name}: {_said(old[name])} -> {_said(new[name])}" for name in old if old[name] != new[name]]


def name_policy(policy: SitePolicy) -> str:
    """Which policy, in a few words."""
    return f"policy {policy.digest[:12]}{_MARK if policy.demonstration else ''}"


def policy_lines(policy: SitePolicy) -> list[str]:
    """A policy in words."""
    failed = (
        f" (also with a failed audit: {', '.join(policy.accept_failed_audit)})" if policy.accept_failed_audit else ""
    )
    lines = [
        name_policy(policy),
        f"  constructions      {', '.join(policy.constructions) or 'none'}{failed}",
    ]
    values = policy.to_json()
    shown = (field.name for field in fields(policy) if field.name not in _SHOWN_ABOVE)
    return lines + [f"  {name:18} {_said(values[name])}" for name in shown]


def noise_in_words(policy: SitePolicy, unit: str = "note") -> str:
    """For whom the noise of trainings over a connection holds, and for whom it does not."""
    if policy.federated_epsilon is None:
        return "without noise: what the rounds tell of a note is not bounded"
    if unit == "patient":
        return f"epsilon {policy.federated_epsilon:g} holds for one patient, with all notes, who is there or not; see docs/federated.md"
    return (
        f"epsilon {policy.federated_epsilon:g} holds for one note that is there or not; of a patient with several notes the rounds may tell far more "
        "unless `federate --patients` says whose they are, see docs/federated.md"
    )


_SHOWN_ABOVE = {"constructions", "accept_failed_audit", "demonstration"}


def _said(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return f"{value['path']} ({str(value['sha256'])[:12]})"
    return "none" if value is None else str(value)


def _check_range(name: str, value: float | None, least: float, most: int = MAX_INTEGER) -> None:
    # Written so that a NaN is none; what is too large may be too large to be formatted, too.
    if value is not None and not least <= value <= most:
        got = "a larger one" if value > most else f"{value:g}"
        raise ConfigurationError(f"policy: expected a {name} of {least:g} to {most}, got {got}; correct it")


def _names(read: Fields, key: str) -> tuple[str, ...]:
    return tuple(str(name) for name in read.items(key, most=_MOST))


def _flag(read: Fields, stated: Mapping[str, Json], key: str, *, default: bool = False) -> bool:
    value = stated.get(key, default)
    if not isinstance(value, bool):
        raise read.refuse_field(key, "true or false")
    return value


def _limit(read: Fields, stated: Mapping[str, Json], key: str) -> float | None:
    return None if stated.get(key) is None else read.decimal(key)


def _epsilon(read: Fields, stated: Mapping[str, Json]) -> float | None:
    """What is not stated has the default; only null means that there is no noise."""
    return None if stated.get("federated_epsilon", "") is None else read.decimal("federated_epsilon")


def _count(read: Fields, stated: Mapping[str, Json], key: str, default: int | None) -> int | None:
    return None if stated.get(key, default) is None else read.integer(key)


def _own_words(read: Fields) -> OwnWords:
    words = Fields(read.mapping("own_words", most=2), {"path", "sha256"}, f"{_PLACE}, own_words")
    return OwnWords(words.text("path", LINE), words.text("sha256", SHA256))


DEFAULT = SitePolicy()
"""Of a workspace whose hospital has set nothing."""
