"""What the site found out itself about a release, and keeps signed in its ledger: no command has to compute it twice.

Nothing in it is the release's word about itself, but for the findings of its audit and two dates. A release never changes, so
what was found holds as long as the program looks in the same way, and against the same lists of words.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from protocols.canonical import Json
from protocols.errors import ProtocolError
from protocols.fields import read_date
from shared.constructions.promised import Narrowed, Recomputed

_CODE = 5
"""How this program looks at a release: raised with every change of what is computed, so that it is computed anew."""
_DATA = (("shared.privacy", "policy.toml"), ("shared.anonymity", "clinical_words.toml"))
_UNBOUNDED = "unbounded"


@cache
def digest_method() -> str:
    """By what the program looks at a release: its own code, the limits of an audit, and its public words, as one digest."""
    total = hashlib.sha256(str(_CODE).encode())
    for package, name in _DATA:
        total.update((resources.files(package) / name).read_bytes())
    return total.hexdigest()


@dataclass(frozen=True)
class AuditFacts:
    """What became of the audit in a release.

    Args:
        ours: whether it is of the representer in this very release.
        preset: "quick" or "full".
        made: its day; None where it does not say.
        limits: of the policy that ships with this program, those that an audit of this preset is asked for.
        failed: those that its findings do not keep, in words.
    """

    ours: bool
    preset: str
    made: datetime.date | None
    limits: int
    failed: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """As canonical JSON."""
        return {
            "ours": self.ours,
            "preset": self.preset,
            "made": None if self.made is None else self.made.isoformat(),
            "limits": self.limits,
            "failed": [*self.failed],
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Json]) -> AuditFacts:
        """The same read back."""
        made = stated["made"]
        return cls(
            stated["ours"] is True,
            str(stated["preset"]),
            None if made is None else read_date(made, "ledger"),
            _integer(stated["limits"]),
            _texts(stated["failed"]),
        )


@dataclass(frozen=True)
class ReleaseFacts:
    """What the site found of a release.

    Args:
        release: its digest.
        sequence: its number.
        created: its day, as the provider signed it.
        figures: recomputed from its files.
        audit: judged anew; None where there is none that can be read.
    """

    release: str
    sequence: int
    created: datetime.date
    figures: Recomputed
    audit: AuditFacts | None

    def to_json(self, words: str) -> dict[str, Json]:
        """Details of a ledger entry.

        Args:
            words: digest of the hospital's own list, "" where it has none.
        """
        mu, narrowed = self.figures.mu, self.figures.narrowed
        figures: dict[str, Json] = {
            **vars(self.figures),
            "procedures": [*self.figures.procedures],
            # As it is written in Python: a provider's noise may be of any size, and decimals have an end.
            "mu": None if mu is None else repr(mu) if math.isfinite(mu) else _UNBOUNDED,
            "narrowed": None if narrowed is None else {**vars(narrowed), "words": [*narrowed.words]},
        }
        return {
            "looked": digest_method(),
            "words": words,
            "release": self.release,
            "sequence": self.sequence,
            "created": self.created.isoformat(),
            "figures": figures,
            "audit": None if self.audit is None else self.audit.to_json(),
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Json], release: str, words: str) -> ReleaseFacts | None:
        """What an entry tells of a release; None where it is of another, or was found in another way."""
        if (stated.get("looked"), stated.get("release"), stated.get("words")) != (digest_method(), release, words):
            return None
        try:
            audit, created = stated["audit"], read_date(stated["created"], "ledger")
            found = None if audit is None else AuditFacts.from_json(_object(audit))
            return cls(release, _integer(stated["sequence"]), created, _figures(_object(stated["figures"])), found)
        except (KeyError, TypeError, ValueError, ProtocolError):
            return None


def protection_line(facts: ReleaseFacts) -> str:
    """What protects shares of a release, in one line."""
    figures = facts.figures
    parts = [
        "labelled PHI is replaced by public PHI" if figures.replaces_phi else "labelled PHI is NOT replaced",
        "" if figures.cluster_size is None else f"hidden words look like at least {figures.cluster_size} others",
        ""
        if figures.narrowed is None
        else f"farther than {figures.narrowed.window} tokens from PHI only {figures.narrowed.common_words} common words can be read",
        "" if figures.mu is None else f"noise of mu {figures.mu:.4g} a token",
        "casing of PHI is hidden" if figures.hides_casing else "casing travels",
    ]
    made = "/".join(figures.procedures) or "of no known construction"
    return f"release {facts.sequence} ({facts.release[:12]}), {made}, recomputed here: {', '.join(filter(None, parts))}"


def readable_line(facts: ReleaseFacts) -> str | None:
    """Which words of a release can be read far from PHI, in one line; None where nothing is narrowed."""
    narrowed = facts.figures.narrowed
    if narrowed is None or not narrowed.words:
        return None
    more = narrowed.common_words - len(narrowed.words)
    return f"can be read wherever they stand: {name_words(narrowed.words)}{f' and {more} more' if more else ''}"


def name_words(words: Sequence[str]) -> str:
    """Words of a release for a screen, without what would move the cursor: who made the release chose them."""
    return " ".join(word if word.isprintable() else ascii(word) for word in words)


def audit_lines(facts: ReleaseFacts) -> list[str]:
    """The audit of a release, and every limit that it does not keep."""
    failed = () if facts.audit is None else facts.audit.failed
    return [f"audit: {audit_line(facts.audit)}", *(f"  NOT withstood: {limit}" for limit in failed)]


def audit_line(audit: AuditFacts | None) -> str:
    """An audit in a line."""
    if audit is None:
        return "none that can be read"
    if not audit.ours:
        return "of ANOTHER representer"
    kept = f"{audit.limits - len(audit.failed)} of {audit.limits} limits kept that are asked of it, judged here by findings that the provider states"
    return f"{audit.preset}, of {audit.made or 'no stated day'}; {kept}"


def _figures(stated: Mapping[str, Json]) -> Recomputed:
    cluster, mu, narrowed = stated["cluster_size"], stated["mu"], stated["narrowed"]
    return Recomputed(
        procedures=_texts(stated["procedures"]),
        replaces_phi=stated["replaces_phi"] is True,
        cluster_size=None if cluster is None else _integer(cluster),
        unlisted_public_words=_integer(stated["unlisted_public_words"]),
        hides_casing=stated["hides_casing"] is True,
        mu=None if mu is None else math.inf if mu == _UNBOUNDED else _number(mu),
        surrogate_spans=_integer(stated["surrogate_spans"]),
        bytes=_integer(stated["bytes"]),
        narrowed=None if narrowed is None else _narrowed(_object(narrowed)),
    )


def _narrowed(stated: Mapping[str, Json]) -> Narrowed:
    group = stated["smallest_group"]
    words, window = (_integer(stated[name]) for name in ("common_words", "window"))
    return Narrowed(words, window, None if group is None else _integer(group), _texts(stated["words"]))


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _integer(value: Json) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _number(value: Json) -> float:
    if not isinstance(value, str):
        raise TypeError
    return float(value)


def _texts(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(str, value))
