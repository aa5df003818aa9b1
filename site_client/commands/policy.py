"""`site-client policy ...`: what this hospital asks of every release, whoever signed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Listing, examples, json_option, report
from shared.errors import ConfigurationError
from site_client.commands.options import AUDITS, PROCEDURES, existing_file, folder_option

if TYPE_CHECKING:
    from site_client.policy.site_policy import SitePolicy
    from site_client.workspace import Workspace

_NONE = "none"


class _Limit(click.ParamType[float | str]):
    """A number, or none."""

    name = "number|none"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float | str:
        """The number; the word where there is to be no limit."""
        return _NONE if value == _NONE else click.FLOAT.convert(value, parameter, context)


class _Count(click.ParamType[int | str]):
    """A whole number, or none."""

    name = "integer|none"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int | str:
        """The number; the word where there is to be no limit."""
        return _NONE if value == _NONE else click.INT.convert(value, parameter, context)


@click.group(cls=Listing)
def policy() -> None:
    """What this hospital asks of every release, whoever signed it."""


@policy.command("show", epilog=examples("site-client policy show"))
@folder_option
@json_option
def policy_show(root: Path, as_json: bool) -> None:
    """The policy in force, if it is the one that the ledger recorded last."""
    from site_client import workspace
    from site_client.policy.site_policy import policy_lines
    from site_client.policy.stored import load_policy

    found = load_policy(workspace.open_workspace(root))
    report(_as_json(found), policy_lines(found), as_json=as_json)


@policy.command(
    "set",
    epilog=examples(
        "site-client policy set --least-cluster 1000 --hide-casing",
        "site-client policy set --enable three-part --accept-failed-audit --max-advantage 0.4",
        "site-client policy set --public-words our-words.txt",
        "site-client policy set",
    ),
)
@click.option("--enable", multiple=True, type=click.Choice(PROCEDURES), help="Take releases of this construction.")
@click.option("--disable", multiple=True, type=click.Choice(PROCEDURES), help="Take none of this construction.")
@click.option(
    "--accept-failed-audit/--refuse-failed-audit",
    "failed",
    default=None,
    help="Whether the audit of what --enable names may have failed; only for constructions that nothing but attacks vouches for.",
)
@click.option("--least-cluster", type=click.IntRange(1), help="Words that must be shown alike; 1 asks for none.")
@click.option(
    "--common-words", "most_common_words", type=_Count(), help="Words that may be read far from labelled PHI."
)
@click.option(
    "--exact-window", type=click.IntRange(0), help="Tokens from labelled PHI within which other words may be read."
)
@click.option("--hide-casing/--any-casing", "hide_casing", default=None, help="Whether casing of PHI must be hidden.")
@click.option("--max-mu", type=_Limit(), help="Most that noise may leave of a token: mu of Gaussian DP.")
@click.option("--max-advantage", type=_Limit(), help="Most that the best attacker may gain on your PHI words, 0 to 1.")
@click.option(
    "--bank-spans", "most_bank_spans", type=click.IntRange(0), help="Surrogates that may stand in your notes."
)
@click.option(
    "--least-new-notes", type=click.IntRange(0), help="Notes that a share must hold which never left; 0: any."
)
@click.option(
    "--approval/--no-approval", default=None, help="Whether a person has to approve by name before a share leaves."
)
@click.option("--audit", type=click.Choice(AUDITS), help="The audit that a release must have passed.")
@click.option("--max-age-days", type=click.IntRange(1), help="Of a release and of its audit.")
@click.option("--max-bytes", type=click.IntRange(1), help="Of all files of a release.")
@click.option("--public-words", type=existing_file, help="Your own list of words that name nobody, one a line.")
@click.option("--no-public-words", is_flag=True, help="Only the lists that come with the program.")
@click.option(
    "--text-fragments/--no-text-fragments",
    default=None,
    help="Whether phrases may leave as text (`fragment`), once a person has approved them.",
)
@click.option(
    "--federated-rounds",
    type=click.IntRange(0),
    help="Rounds in which this hospital may train with others over a connection (`federate`), in all; 0: never.",
)
@click.option(
    "--federated-epsilon",
    type=_Limit(),
    help="Most that all these rounds may tell of one note, not of a patient with several (epsilon, delta 1e-5); none: weights leave without noise.",
)
@click.option(
    "--federated-on-shares/--federated-on-notes",
    "federated_on_shares",
    default=None,
    help="Whether these rounds see only what a share of the notes would show; docs/federated.md says what that hides.",
)
@click.option("--demonstration/--no-demonstration", default=None, help="Mark it as that of `aggregator demo`.")
@folder_option
@json_option
def policy_set(root: Path, as_json: bool, **options: Any) -> None:
    """Change the policy that the ledger recorded last, and record the change. Without an option the recorded one is put back."""
    from site_client import workspace
    from site_client.policy.site_policy import name_policy, noise_in_words
    from site_client.policy.stored import read_recorded_policy, set_policy

    _require_no_contradiction(options)
    opened = workspace.open_workspace(root)
    changed = _changed(opened, read_recorded_policy(opened), options)
    changes = set_policy(opened, changed)
    lines = [*changes, *([] if changes else ["nothing changed; the recorded policy is in force"]), name_policy(changed)]
    if changed.federated_rounds and any(
        options[name] is not None for name in ("federated_rounds", "federated_epsilon")
    ):
        lines.append(noise_in_words(changed))
    report({**_as_json(changed), "changes": changes}, lines, as_json=as_json)


def _require_no_contradiction(options: dict[str, Any]) -> None:
    if options["public_words"] is not None and options["no_public_words"]:
        raise click.UsageError("--public-words: expected no --no-public-words beside it; give one of them.")
    if both := {*options["enable"]} & {*options["disable"]}:
        raise click.UsageError(f"--enable, --disable: expected each name once, got {min(both)} in both; give one.")


def _changed(opened: Workspace, before: SitePolicy, options: dict[str, Any]) -> SitePolicy:
    from dataclasses import replace

    from site_client.policy.site_policy import DemandedAudit
    from site_client.policy.stored import keep_words

    plain = (
        "least_cluster",
        "exact_window",
        "hide_casing",
        "most_bank_spans",
        "least_new_notes",
        "max_age_days",
        "max_bytes",
        "approval",
        "text_fragments",
        "federated_rounds",
        "federated_on_shares",
        "demonstration",
    )
    given = {name: options[name] for name in plain if options[name] is not None}
    given |= {
        name: _number(options[name])
        for name in ("most_common_words", "max_mu", "max_advantage", "federated_epsilon")
        if options[name] is not None
    }
    if options["audit"] is not None:
        given["audit"] = DemandedAudit(options["audit"])
    given |= _constructions(before, options["enable"], options["disable"], options["failed"])
    # Judged as a whole before anything is written.
    changed = replace(before, **given)
    if options["no_public_words"]:
        changed = replace(changed, own_words=None)
    if options["public_words"] is not None:
        changed = replace(changed, own_words=keep_words(opened, options["public_words"]))
    return changed


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else value


def _constructions(
    before: SitePolicy, enable: tuple[str, ...], disable: tuple[str, ...], failed: bool | None
) -> dict[str, tuple[str, ...]]:
    """The constructions that are on, and those whose audit may have failed, after a change."""
    if failed is not None and not enable:
        raise ConfigurationError(
            "--accept-failed-audit, --refuse-failed-audit: expected --enable NAME beside it, got none; name the construction"
        )
    names = {*before.constructions, *enable} - {*disable}
    accepted = {*before.accept_failed_audit, *(enable if failed else ())} - {
        *(enable if failed is False else ()),
        *disable,
    }
    return {
        "constructions": tuple(name for name in PROCEDURES if name in names),
        "accept_failed_audit": tuple(name for name in PROCEDURES if name in accepted),
    }


def _as_json(found: SitePolicy) -> dict[str, Any]:
    return {"policy": found.to_json(), "policy_sha256": found.digest}
