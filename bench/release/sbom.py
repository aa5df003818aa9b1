"""The bill of materials of an installation, in CycloneDX, by the tool of that project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.release.packages import ROOT, SHIPPED, runtime

FORMAT = "1.6"


def make_sbom(path: Path) -> None:
    """Write it, validated against its schema and the same each time.

    Args:
        path: of the JSON file.
    """
    packages = "".join(f"{name}=={version}\n" for name, version in runtime(SHIPPED).items())
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "--pyproject", str(ROOT / "pyproject.toml")]
    options = ["--output-reproducible", "--spec-version", FORMAT, "--output-format", "JSON", "--validate"]
    subprocess.run([*command, *options, "--output-file", str(path), "-"], input=packages.encode(), check=True)
