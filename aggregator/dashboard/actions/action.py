"""What a person may do at the dashboard: every action says first what will happen, and happens only after that was confirmed.

An action calls what the command of the same kind calls, and the audit log says who did it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from aggregator.dashboard.access.accounts import Account
from aggregator.dashboard.jobs.running import Jobs
from aggregator.errors import RequestError
from aggregator.registry.states import AccountRole
from aggregator.workspace import Workspace
from protocols.fields import LINE, check_text


@dataclass(frozen=True)
class Asked:
    """What somebody asks for.

    Args:
        workspace: of the provider.
        jobs: that long works become.
        account: who asks.
        values: of the form.
        offline: folders of offline keys, as the server was told of them.
    """

    workspace: Workspace
    jobs: Jobs
    account: Account
    values: Mapping[str, str]
    offline: tuple[Path, ...] = ()

    @property
    def actor(self) -> str:
        """Who, as the audit log says."""
        return self.account.actor

    def line(self, name: str, *, optional: bool = False) -> str:
        """A line of text of the form.

        Raises:
            RequestError: it is empty.
            SchemaError: it is no line.
        """
        value = self.values.get(name, "").strip()
        if not value and not optional:
            raise RequestError(f"{name}: expected some words, got none; go back and write them")
        check_text(value, LINE, name)
        return value

    def number(self, name: str, least: int, most: int) -> int:
        """A whole number of the form.

        Raises:
            RequestError: none, or one outside.
        """
        value = self.values.get(name, "").strip()
        if not value.isascii() or not value.isdecimal() or len(value) > 15 or not least <= int(value) <= most:
            raise RequestError(
                f"{name}: expected a whole number from {least} to {most}, got something else; go back and correct it"
            )
        return int(value)

    def ticked(self, name: str) -> bool:
        """Whether a box of the form was ticked."""
        return self.values.get(name) == "yes"


@dataclass(frozen=True)
class Foretold:
    """What will happen, for the page that asks whether it shall.

    Args:
        title: as a question.
        lines: what will happen, a sentence each.
        grave: whether something is deleted or leaves the house.
        bound: values that it is said of, of which no browser decides: they stand in the form when it is carried out.
    """

    title: str
    lines: tuple[str, ...]
    grave: bool = False
    bound: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Happened:
    """What has happened.

    Args:
        text: a sentence.
        href: the page that shows it.
    """

    text: str
    href: str


class Action(ABC):
    """Something that a person may do."""

    name: ClassVar[str]
    """Of the action, in its form."""
    role: ClassVar[AccountRole]
    """That it takes."""

    @abstractmethod
    def foretell(self, asked: Asked) -> Foretold:
        """What will happen; changes nothing.

        Raises:
            DeidError: it can't happen.
        """

    def require_as_shown(self, asked: Asked, what: str) -> None:
        """Returns if all that was bound when it was shown is as it was.

        Args:
            asked: what was shown, with what was bound.
            what: that is, in words.

        Raises:
            RequestError: something is another now.
            DeidError: as `foretell`.
        """
        bound = self.foretell(asked).bound
        if any(asked.values.get(name) != value for name, value in bound.items()):
            raise RequestError(
                f"expected what you were shown, found another {what} since; ask for it again", status=409
            )

    @abstractmethod
    def carry_out(self, asked: Asked) -> Happened:
        """Do it, with its event in the audit log.

        Raises:
            DeidError: it can't happen any more.
        """
