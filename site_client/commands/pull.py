"""`site-client pull`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import Computation, examples, json_option, report
from command_line.fingerprint_option import FINGERPRINT
from site_client.commands.approval import accept_option, answering_option, read_acceptance
from site_client.commands.keys import tell, warn_of_expiry
from site_client.commands.options import MAX_SIZE_MIB, ca_option, existing_file, folder_option, proxy_option

if TYPE_CHECKING:
    from site_client.workspace import Workspace


@click.command(
    "pull",
    cls=Computation,
    epilog=examples(
        "site-client pull /media/stick/releases --fingerprint 1f2e-...-90ab",
        "site-client pull https://deid.example.org/releases",
        "site-client pull",
        'site-client pull --accept-unprotected --approver "Dr M. Ünal"',
    ),
)
@click.argument("source", required=False)
@click.option(
    "--fingerprint",
    type=FINGERPRINT,
    help="The provider's, as told over another channel, in digits or spoken; needed once.",
)
@click.option(
    "--embeddings",
    type=existing_file,
    help="The word vectors that the release refers to, where this machine can't download them; from a folder nothing is fetched.",
)
@click.option(
    "--max-size",
    metavar="MIB",
    type=click.IntRange(1, MAX_SIZE_MIB),
    default=MAX_SIZE_MIB,
    show_default=True,
    help="Refuse a release whose files are larger than this together.",
)
@accept_option
@answering_option
@ca_option
@proxy_option
@folder_option
@json_option
def pull_release(
    source: str | None,
    fingerprint: str | None,
    embeddings: Path | None,
    max_size: int,
    accepted: bool,
    approver: str | None,
    ca: Path | None,
    proxy: str | None,
    root: Path,
    as_json: bool,
) -> None:
    """Take the newest release into use, if the provider has signed it and it keeps this hospital's policy.

    Where it is a representer only, `deid` and `evaluate` go on with the newest pipeline, which is pulled too. A pipeline that needs an extra that
    is not installed is refused where there is another to go on with, and else taken to encode and share with; `deid` then refuses.

    SOURCE is the provider's folder releases/ or an https address; it is remembered.
    """
    from site_client import workspace
    from site_client.own_head.decided import stale_since
    from site_client.policy.comparing import compare_protection
    from site_client.policy.enforcing import find_facts_in_use, judge_release
    from site_client.policy.facts import readable_line
    from site_client.release_log import code_in_use
    from site_client.releases.pull import pull
    from site_client.releases.source import Network

    opened = workspace.open_workspace(root)
    told: list[str] = []
    before, acceptance = find_facts_in_use(opened), read_acceptance(accepted, approver)
    updated, pulled = pull(
        opened,
        source,
        fingerprint,
        embeddings=embeddings,
        network=Network(ca, proxy, tell=tell),
        max_bytes=max_size << 20,
        acceptance=acceptance,
        tell=told.append,
    )
    warn_of_expiry(updated)
    manifest, judged, code = pulled.manifest, judge_release(updated, pulled.digest), code_in_use(updated)
    narrowed = judged.facts.figures.narrowed
    change = None if before is None else compare_protection(before, judged.facts)
    lines = [
        *([] if change is None else change.lines()),
        f"release {manifest.sequence}, {manifest.kind}, labels {manifest.label_scheme}: signatures and digests are right; in use now",
        *judged.lines(),
        *filter(None, [readable_line(judged.facts)]),
        f"what it is and is not: {pulled.folder / 'MODEL_CARD.md'}",
        _pipeline_line(updated, lacking=manifest.kind == "pipeline"),
        *stale_since(updated),
        *told,
        f"release code, to compare with other hospitals: {code}",
    ]
    result = {
        "sequence": manifest.sequence,
        "kind": manifest.kind,
        "digest": pulled.digest,
        "pipeline": None if updated.pipeline is None else updated.pipeline.sequence,
        "remarks": told,
        "release_code": code,
        "protection_falls": [] if change is None else list(change.falls),
        "protection_changes": [] if change is None else list(change.others),
        "readable_words": [] if narrowed is None else list(narrowed.words),
        "judgement": judged.as_json(),
    }
    report(result, lines, as_json=as_json)


def _pipeline_line(updated: Workspace, *, lacking: bool) -> str:
    if updated.pipeline is None:
        return "no pipeline is here yet: deid and evaluate wait for the first" + (
            " that can run here" if lacking else ""
        )
    same = (
        "the same release"
        if updated.pipeline == updated.current
        else f"release {updated.pipeline.sequence}, the newest pipeline"
    )
    return f"deid and evaluate use {same}"
