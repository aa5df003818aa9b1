"""`site-client serve-local`: the pipeline for other programs of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import click

from command_line.commands import Computation, examples, json_option, say
from shared.errors import ConfigurationError
from site_client.commands.options import existing_file, folder_option, min_recall_option

_PORT = 8791


@click.command(
    "serve-local",
    cls=Computation,
    epilog=examples(
        "site-client serve-local",
        "site-client serve-local --socket deid/service",
        "site-client serve-local --port 9000 --token-file deid.token",
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Where to listen, where no --socket is given; 0: any (default: {_PORT}).",
)
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    help="Listen at a socket in a folder that no other account can write, in the place of a port, which any account can take while this is down.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The secret that callers send, made here where it is missing (default: keys/local-service.token of the workspace).",
)
@click.option(
    "--config",
    type=existing_file,
    help="The TOML file of settings that `deid` takes: modes by category, words that are always or never hidden, surrogates.",
)
@min_recall_option
@folder_option
@json_option
def serve_local(
    port: int | None,
    socket_path: Path | None,
    token_file: Path | None,
    config: Path | None,
    min_recall: float | None,
    root: Path,
    as_json: bool,
) -> None:
    """De-identify for other programs of this machine over HTTP, on loopback or at a socket alone. Ends on Ctrl+C or SIGTERM."""
    from site_client import workspace
    from site_client.api import CurrentPipeline
    from site_client.local_http.serving import HOST, listening, listening_at, serve
    from site_client.local_http.token_file import read_token
    from site_client.local_service import LocalService

    if port is not None and socket_path is not None:
        raise ConfigurationError(
            "--socket: expected no --port beside it, got both; it listens at one place alone, so leave one of them out"
        )
    opened = workspace.open_workspace(root)
    path = token_file or opened.keys_folder / "local-service.token"
    pipeline = CurrentPipeline(root, min_recall=min_recall, config=config)
    head_lines = pipeline().head_lines
    token = read_token(path)
    with listening(_PORT if port is None else port) if socket_path is None else listening_at(socket_path) as listener:
        number = None if socket_path else listener.getsockname()[1]
        address = f"unix:{socket_path}" if socket_path else f"http://{HOST}:{number}"
        app = LocalService(pipeline).guarded(number, token)

        def ready() -> None:
            said = {"address": address, "token_file": str(path), "head": head_lines}
            lines = [f"serving {address}; callers send the secret in {path}", *head_lines]
            say(json.dumps(said) if as_json else "\n".join(lines))

        serve(app, listener, ready)
