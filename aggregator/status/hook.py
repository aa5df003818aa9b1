"""A program of the provider's own that is told what needs a person, such as one that mails it or posts it to a chat.

It is started without a shell and without arguments, so that nothing of what it is told can be taken for a command: that comes on
its standard input, as JSON. What the environment holds of our keys and stores is not handed on.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from aggregator.errors import HookError
from aggregator.registry.times import as_text
from aggregator.status.alerts import Alert
from aggregator.status.standing import Standing

ALERTS = "DEID_COMMONS_ALERTS"
_SECRET = ("DEID_COMMONS_", "AWS_", "PG")
_TIMEOUT_S = 60.0
_STANDARD_ERROR = 2


def run_hook(command: Path, standing: Standing, alerts: Sequence[Alert], timeout_s: float = _TIMEOUT_S) -> None:
    """Tell a program of all alerts; does nothing where there are none.

    Args:
        command: file of the program.
        standing: of whom, and when.
        alerts: to tell of.
        timeout_s: how long it may take; then it is ended.

    Raises:
        HookError: it can't be started, takes longer, or does not end with 0.
    """
    if not alerts:
        return
    message = {"provider": standing.provider, "at": as_text(standing.at), "alerts": [one.as_json() for one in alerts]}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
    try:
        # What it prints must not get between our own result.
        ended = subprocess.run(
            [command.absolute()],
            input=json.dumps(message).encode(),
            env=kept | {ALERTS: str(len(alerts))},
            stdout=_STANDARD_ERROR,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(command, f"one that has not ended after {timeout_s:g} seconds") from error
    except OSError as error:
        raise _failed(command, f"one that can't be started ({error.strerror})") from error
    if ended.returncode:
        raise _failed(command, f"code {ended.returncode}")


def _failed(command: Path, got: str) -> HookError:
    return HookError(
        f"{command.name}: expected a program that takes the alerts and ends with 0, got {got}; run it by hand with one"
    )
