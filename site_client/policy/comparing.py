"""What changes in the protection of shares when one release takes the place of another."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shared.constructions.promised import Narrowed
from shared.constructions.proof import RECOMPUTABLE
from site_client.policy.facts import AuditFacts, ReleaseFacts, audit_line, name_words


@dataclass(frozen=True)
class ProtectionChange:
    """What a new release changes.

    Args:
        falls: what protects less than before, in words.
        others: what is otherwise, or protects more.
    """

    falls: tuple[str, ...]
    others: tuple[str, ...]

    def lines(self) -> list[str]:
        """A fall first, and so that nobody reads over it."""
        first = [f"PROTECTION FALLS with this release: {'; '.join(self.falls)}"] if self.falls else []
        return first + [f"changed: {other}" for other in self.others]


def compare_protection(before: ReleaseFacts, after: ReleaseFacts) -> ProtectionChange:
    """What protects otherwise under a new release than under the one before.

    Args:
        before: the release in use until now.
        after: the new one.
    """
    falls: list[str] = []
    others: list[str] = []
    for name, old, new, worse in _compared(before, after):
        if old != new:
            (falls if worse else others).append(f"{name}: {old} -> {new}")
    if more := _newly_readable(before.figures.narrowed, after.figures.narrowed):
        falls.append(f"words that became readable far from PHI: {name_words(more)}")
    return ProtectionChange(tuple(falls), tuple(others))


def _newly_readable(old: Narrowed | None, new: Narrowed | None) -> list[str]:
    """Words that a release shows wherever they stand, and the one before did not; punctuation says nothing."""
    if old is None or new is None:
        return []
    known = frozenset(old.words)
    return [word for word in new.words if word not in known and any(map(str.isalnum, word))]


def _compared(before: ReleaseFacts, after: ReleaseFacts) -> list[tuple[str, str, str, bool]]:
    """Of each promise its name, its two values in words, and whether the second is the weaker."""
    old, new = before.figures, after.figures
    return [
        (
            "construction",
            _names(old.procedures),
            _names(new.procedures),
            _proved(old.procedures) and not _proved(new.procedures),
        ),
        ("labelled PHI", _phi(old.replaces_phi), _phi(new.replaces_phi), old.replaces_phi and not new.replaces_phi),
        (
            "words shown alike",
            _count(old.cluster_size),
            _count(new.cluster_size),
            _less(old.cluster_size, new.cluster_size),
        ),
        (
            "words that can be read far from PHI",
            _narrowed(old.narrowed),
            _narrowed(new.narrowed),
            _shows_more(old.narrowed, new.narrowed),
        ),
        (
            "casing of PHI",
            _casing(old.hides_casing),
            _casing(new.hides_casing),
            old.hides_casing and not new.hides_casing,
        ),
        ("noise", _mu(old.mu), _mu(new.mu), old.mu is not None and not _at_most(new.mu, old.mu)),
        ("audit", _kind(before.audit), _kind(after.audit), _rank(after.audit) < _rank(before.audit)),
    ]


def _proved(procedures: tuple[str, ...]) -> bool:
    return not set(procedures).isdisjoint(RECOMPUTABLE)


def _less(old: int | None, new: int | None) -> bool:
    return old is not None and (new is None or new < old)


def _shows_more(old: Narrowed | None, new: Narrowed | None) -> bool:
    if old is None or new is None:
        return old is not None
    smaller = new.smallest_group is not None and _less(old.smallest_group, new.smallest_group)
    return new.common_words > old.common_words or new.window > old.window or smaller


def _narrowed(found: Narrowed | None) -> str:
    return "all public ones" if found is None else _words(found)


def _words(found: Narrowed) -> str:
    groups = "" if found.smallest_group is None else f", else in groups of at least {found.smallest_group}"
    return f"{found.common_words} (others within {found.window} tokens of PHI{groups})"


def _at_most(new: float | None, old: float) -> bool:
    return new is not None and new <= old


def _names(procedures: tuple[str, ...]) -> str:
    return "/".join(procedures) or "unknown"


def _phi(replaced: bool) -> str:
    return "replaced" if replaced else "not replaced"


def _count(size: int | None) -> str:
    return "none" if size is None else f"at least {size}"


def _casing(hidden: bool) -> str:
    return "hidden" if hidden else "travels"


def _mu(mu: float | None) -> str:
    return "none" if mu is None else f"mu {mu:.4g}" if math.isfinite(mu) else "mu unbounded"


def _kind(audit: AuditFacts | None) -> str:
    if audit is None or not audit.ours:
        return audit_line(audit)
    return f"{audit.preset}, {'passed' if not audit.failed else f'{len(audit.failed)} limits broken'}"


def _rank(audit: AuditFacts | None) -> tuple[int, int]:
    """Better audits are larger."""
    if audit is None or not audit.ours:
        return (-1, 0)
    return (("quick", "full").index(audit.preset) if audit.preset in ("quick", "full") else -1, -len(audit.failed))
