"""Who may sign in at the dashboard, and as what; every change with its event in the audit log.

An account has a password, or comes through a proxy that vouches for its name. Accounts are made at the terminal alone: whoever has
stolen a session can give nobody a way in.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.dashboard.access.passwords import hash_password
from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole
from aggregator.registry.tables import AccountRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace
from protocols.canonical import Json
from protocols.fields import check_text

# What a mail address has, too: that is what many proxies call a person by.
_NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_OPERATOR = "operator"


@dataclass(frozen=True)
class Account:
    """A person.

    Args:
        name: by which the person signs in.
        role: what the person may do.
        stamp: another one whenever the password is another one; says nothing of it.
        through_proxy: whether a proxy vouches for the name, and there is no password.
        added_at: when.
    """

    name: str
    role: AccountRole
    stamp: str
    through_proxy: bool
    added_at: str

    @property
    def actor(self) -> str:
        """How the audit log calls the person; no site can have such a name."""
        return f"{self.name} (dashboard)"


def add_account(workspace: Workspace, name: str, role: AccountRole, password: bytes | None) -> None:
    """Let a person sign in.

    Args:
        workspace: where.
        name: up to 64 letters, digits and `._@+-`.
        role: what the person may do.
        password: in UTF-8; None for one whom a proxy vouches for.

    Raises:
        SchemaError: a name of another kind.
        RegistryError: there is one of that name.
        ConfigurationError: a password that is too short.
    """
    check_text(name, _NAMES, "name of the account")
    kept = None if password is None else hash_password(password)
    with workspace.registry().transaction() as session:
        if session.get(AccountRow, name) is not None:
            raise RegistryError(f"{name}: there is an account of that name already; see `aggregator account list`")
        session.add(AccountRow(name=name, role=role, password=kept, added_at=now()))
        _record(session, "account-added", name, role=str(role), proxy=password is None)


def remove_account(workspace: Workspace, name: str) -> None:
    """Let a person sign in no more; whatever session the person has ends with the next request.

    Raises:
        RegistryError: there is none of that name.
    """
    with workspace.registry().transaction() as session:
        session.delete(_row(session, name))
        _record(session, "account-removed", name)


def set_role(workspace: Workspace, name: str, role: AccountRole) -> None:
    """Give a person another role, from the next request on.

    Raises:
        RegistryError: there is none of that name.
    """
    with workspace.registry().transaction() as session:
        _row(session, name).role = role
        _record(session, "account-role", name, role=str(role))


def set_password(workspace: Workspace, name: str, password: bytes) -> None:
    """Give a person another password; whatever sessions the person has end with the next request.

    Raises:
        RegistryError: there is none of that name.
        ConfigurationError: it is too short.
    """
    kept = hash_password(password)
    with workspace.registry().transaction() as session:
        _row(session, name).password = kept
        _record(session, "account-password", name)


def list_accounts(workspace: Workspace) -> list[Account]:
    """All accounts, by name."""
    with workspace.registry().reading() as session:
        return [_account(row) for row in session.scalars(select(AccountRow).order_by(AccountRow.name))]


def find_account(workspace: Workspace, name: str) -> tuple[Account, str | None] | None:
    """The account of a name and its hashed password; None where there is no such account."""
    with workspace.registry().reading() as session:
        row = session.get(AccountRow, name)
        return None if row is None else (_account(row), row.password)


def _account(row: AccountRow) -> Account:
    stamp = hashlib.sha256((row.password or "").encode()).hexdigest()[:32]
    return Account(row.name, row.role, stamp, row.password is None, row.added_at)


def _row(session: Session, name: str) -> AccountRow:
    row = session.get(AccountRow, name)
    if row is None:
        raise RegistryError(f"{name}: expected an account, found none of that name; see `aggregator account list`")
    return row


def _record(session: Session, action: str, name: str, **details: Json) -> None:
    audit_log.append(session, _OPERATOR, action, {"account": name, **details})
