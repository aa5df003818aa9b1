"""Tells every lie, and an honest release and share by the same way: without these no refusal would show anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.attack.outcome import Outcome
from bench.attack.provider import table as provider
from bench.attack.release import forged, put_release
from bench.attack.share import put_share
from bench.attack.site import table as site
from bench.attack.world import BrokenWorldError, World

Put = Callable[[World, str, Any], Outcome]


@dataclass(frozen=True)
class Told:
    """What became of all lies of one side.

    Args:
        who: "release" or "share".
        lies: that are to be refused.
        known: of which the threat model says that they are not.
    """

    who: str
    lies: tuple[Outcome, ...]
    known: tuple[Outcome, ...]

    @property
    def passed(self) -> tuple[Outcome, ...]:
        """The lies that nothing refused."""
        return tuple(one for one in self.lies if one.passed)

    @property
    def unseen(self) -> tuple[Outcome, ...]:
        """Of these, the ones of which nothing was said."""
        return tuple(one for one in self.lies if one.unseen)

    @property
    def faults(self) -> tuple[Outcome, ...]:
        """The lies that a fault of our own program stopped: by luck."""
        return tuple(one for one in (*self.lies, *self.known) if one.code == "1")


def check_honest(world: World) -> None:
    """Returns if an honest release is encoded with, and an honest share is in the pool, without a word.

    Raises:
        BrokenWorldError: one is refused.
    """
    honest = (
        put_release(world, "an honest release", forged(lambda draft: None)),
        put_share(world, "an honest share", lambda liar: liar.send_as_made(liar.world.honest)),
    )
    for outcome in honest:
        if not outcome.unseen:
            raise BrokenWorldError(f"expected {outcome.lie} to pass, {outcome.refused_by} refused it: {outcome.said}")


def tell_all(world: World, say: Callable[[str], object]) -> tuple[Told, Told]:
    """What becomes of all lies, first of the provider's.

    Args:
        world: of which each lie gets a copy.
        say: takes a line for each.

    Raises:
        BrokenWorldError: what is honest is refused, too.
    """
    check_honest(world)

    def told(put: Put, lies: Mapping[str, Any]) -> Iterator[Outcome]:
        for name, lie in lies.items():
            outcome = put(world, name, lie)
            say(f"{outcome.lie}: {describe(outcome)}")
            yield outcome

    return (
        Told("release", tuple(told(put_release, provider.LIES)), tuple(told(put_release, provider.KNOWN))),
        Told("share", tuple(told(put_share, site.LIES)), tuple(told(put_share, site.KNOWN))),
    )


def describe(outcome: Outcome) -> str:
    """What became of a lie, in some words."""
    if outcome.passed:
        return "PASSED UNSEEN" if outcome.unseen else f"passed, and was told: {outcome.said}"
    return f"{outcome.step}, {outcome.refused_by} ({outcome.code})"
