"""Runs the TUF conformance suite (theupdateframework/tuf-conformance) against the client of `site-client pull`, and reads what it said.

The suite is not in this repository; it runs in a process of its own, from where a person has laid it, and only if it is the one that
was looked at.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from bench.results import ROOT
from shared.errors import ConfigurationError

COMMIT = "eec841c186f81f2d9d8d30460c7e7deefa615f9e"
DIGEST = "4d1fa4a68fd32c4a4b4140ea1f582c4f0766d202ffb923737605458444c54492"
_PACKAGE = "tuf_conformance"
_LIMIT_S = 3600
# What ours does otherwise on purpose; each by the name of the test.
ON_PURPOSE: dict[str, str] = {
    "test_artifact_cache": "a small document is read anew each time; what a release in use holds already is taken from there by its digest",
    "test_static_repository[tuf-on-ci-0.11]": "metadata that live longer than ours are refused: they are how a clock that is behind shows",
}


@dataclass(frozen=True)
class Said:
    """What the suite said.

    Args:
        passed: names of tests.
        on_purpose: tests that fail since ours is stricter or keeps less, as `ON_PURPOSE` says why.
        failed: all other tests that failed.
    """

    passed: tuple[str, ...]
    on_purpose: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def run(self) -> int:
        """How many tests ran."""
        return len(self.passed) + len(self.on_purpose) + len(self.failed)


def run_tuf_suite(suite: Path, folder: Path) -> Said:
    """Runs all of the suite.

    Args:
        suite: a checkout of the project at `COMMIT`.
        folder: an empty one, for what the suite reports.

    Raises:
        ConfigurationError: it is another suite, `faketime` is missing, or the suite did not come to its end.
    """
    if tree_digest(suite / _PACKAGE) != DIGEST:
        raise ConfigurationError(
            f"{suite.name}: expected theupdateframework/tuf-conformance at commit {COMMIT[:12]}, got another or none; check that commit out"
        )
    if shutil.which("faketime") is None:
        raise ConfigurationError("expected the program faketime, which the TUF suite calls, found none; install it")
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(suite), str(suite / _PACKAGE), f"--junitxml={report}"]
    command += ["--entrypoint", f"{sys.executable} -m bench.conformance.tuf_client"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(suite))), "OMP_NUM_THREADS": "1"}
    with (folder / "suite.log").open("wb") as log:
        subprocess.run(
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, timeout=_LIMIT_S, check=False
        )
    if not report.exists():
        raise ConfigurationError("expected the suite to come to its end, it did not; look at suite.log")
    return read_report(report.read_text(encoding="utf-8"))


def read_report(text: str) -> Said:
    """What a report in the form of JUnit says; a test that was left out counts as failed.

    Args:
        text: the report, which pytest wrote.
    """
    passed, on_purpose, failed = [], [], []
    for case in ElementTree.fromstring(text).iter("testcase"):  # noqa: S314 - pytest of this machine wrote it
        name = str(case.get("name"))
        if not len(case.findall("failure") + case.findall("error") + case.findall("skipped")):
            passed.append(name)
        elif name in ON_PURPOSE:
            on_purpose.append(name)
        else:
            failed.append(name)
    return Said(tuple(passed), tuple(on_purpose), tuple(failed))


def tree_digest(folder: Path) -> str:
    """SHA-256 over names and digests of all files below a folder that are no leftovers of Python."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
