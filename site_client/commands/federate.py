"""`site-client federate`: train the head together with others, over a connection; notes stay here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from command_line.commands import Computation, examples, json_option, report, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.written_file import WrittenFile
from shared.errors import ConfigurationError
from site_client.commands.options import ca_option, existing_file, existing_path, folder_option

_WISHES = ("pause", "run", "end")


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client federate --node-key st-anne.pub",
        "site-client federate labelled-notes/ --server deid.example.org:9443 --ca ca.pem",
        "site-client federate labelled-notes/ --patients whose.csv --server deid.example.org:9443",
        "site-client federate --say pause",
    ),
)
@click.argument("notes", type=existing_path, required=False)
@click.option("--server", metavar="HOST:PORT", help="The provider's address for this, from the provider.")
@ca_option
@click.option(
    "--patients",
    type=existing_file,
    help="A CSV table with the columns note and patient: noise covers a patient with all notes, and not a note.",
)
@click.option(
    "--most-mb",
    default=1024,
    show_default=True,
    type=click.IntRange(1),
    help="MB that may leave through the gate before it closes.",
)
@click.option(
    "--node-key",
    type=WrittenFile("a public key of a node", b"ecdsa-sha2-nistp384 "),
    help="Only write the public key of this site's node here, for the provider.",
)
@click.option("--say", type=click.Choice(_WISHES), help="Only tell the one that runs here to pause, go on or end.")
@folder_option
@json_option
@notes_options
def federate(
    notes: Path | None,
    server: str | None,
    ca: Path | None,
    patients: Path | None,
    most_mb: int,
    node_key: Path | None,
    say: str | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """Train the head together with other hospitals. What your policy allows leaves, weights alone; every round stands in the ledger."""
    from foundation.files import write_bytes
    from site_client import workspace
    from site_client.federated.control import Wish
    from site_client.federated.node_key import make_node_key
    from site_client.federated.running import Connection, begun, state_folder, take_part
    from site_client.federated.running import say as tell_training

    if (say is not None) + (node_key is not None) + any((notes, server, ca, patients)) > 1:
        raise click.UsageError(
            "expected NOTES and what goes with them, --node-key or --say, got several; give one of them."
        )
    opened = workspace.open_workspace(root)
    if say is not None:
        if not tell_training(opened, Wish(say)):
            raise ConfigurationError(
                f"--say {say}: expected a training that runs in this workspace, found none, so nobody has heard it; give the workspace of the "
                "training by --workspace"
            )
        report({"said": say}, [f"told to {say}"], as_json=as_json)
        return
    if node_key is not None:
        _, public = make_node_key(state_folder(opened))
        write_bytes(node_key, public.read_bytes(), private=False)
        report(
            {"node_key": str(node_key)}, [f"key of the node in {node_key}: give it to the provider"], as_json=as_json
        )
        return
    if notes is None or server is None:
        raise click.UsageError("expected NOTES and --server HOST:PORT, or --node-key FILE, or --say WORD.")
    connection = Connection.parse(server, ca, most_mb << 20)
    from command_line.flower import prepare_flower
    from command_line.notes import Notes
    from shared.labels import load_scheme_file
    from site_client.federated.trainer import make_trainer
    from site_client.patients import read_patients
    from site_client.sharing.known_notes import DigestKey

    prepare_flower()
    said = (lambda line: None) if as_json else click.echo
    with begun(opened):
        read = Notes(
            notes, NotesOptions.of(reading), load_scheme_file(opened.release().folder), to_hide=True, labelled=True
        )
        whose = None if patients is None else read_patients(patients)
        trainer = make_trainer(opened, read, DigestKey(opened).note, whose)
        if whose is not None and (unnamed := sum(one not in whose for one in trainer.notes.identifiers)):
            warn(f"{unnamed} notes are of no patient that --patients names: each stands for itself")
        left_out = trainer.notes.left_out
        if left_out:
            said(
                f"{left_out} notes were left out: their text had come before, and noise covers a note that is there once; other notes of a patient, and versions of a note, each count as one"
            )
        take_part(opened, trainer, connection, said)
    from site_client.federated.budget import read_past

    past = read_past(opened)
    lines = [f"ended; {past.rounds} rounds in all stand in the ledger: site-client ledger show"]
    told = {
        "rounds": past.rounds,
        "notes": len(trainer.notes.notes),
        "notes_left_out": left_out,
        "unit": trainer.notes.unit,
    }
    report(told, lines, as_json=as_json)
