"""What `systemd-analyze security` says of the units in `deploy/systemd`: 0 is a service that can do nothing, 10 one that can do all."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bench.release.packages import ROOT
from bench.results import Entry

UNITS = ROOT / "deploy" / "systemd"
MOST = 1.5
"""What a unit of ours may be exposed at the most."""


def services() -> list[Path]:
    """The services, by name."""
    return sorted(UNITS.glob("*.service"))


def exposure(unit: Path) -> float:
    """The level of exposure of a unit.

    Raises:
        LookupError: systemd-analyze says none.
    """
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", said)
    if found is None:
        raise LookupError(f"{unit.name}: expected a level from systemd-analyze, got none")
    return float(found[1])


def measure() -> list[Entry]:
    """How exposed each unit is."""
    said = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout
    return [
        Entry(
            f"deploy/systemd/{unit.name}, exposure of 10",
            exposure(unit),
            MOST,
            "<=",
            "",
            None,
            1,
            "deploy/systemd",
            "python -m bench.results_show deploy",
            f"systemd-analyze security --offline=true of {' '.join(said.split()[:2])}",
        )
        for unit in services()
    ]
