"""`python -m bench.site`, or `make site`: the documentation in build/site, to be opened from the disk or put on any server.

Runs under an environment of its own (`requirements-site.lock`), so it imports nothing of the project but its own room.
"""

from __future__ import annotations

import os
import subprocess
import sys

from bench.site.gathering import ROOT, gather
from bench.site.looking import faults
from bench.site.own_files import bring

_SITE = ROOT / "build" / "site"
# The theme tells of its successor at every build.
_QUIET = {"NO_MKDOCS_2_WARNING": "1"}


def main() -> None:
    """Gather, build, bring along, look; a warning of MkDocs or a fault ends it with code 1."""
    pages = gather(ROOT / "build" / "site-pages")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--clean", "--config-file", "mkdocs.yml"]
    if code := subprocess.run(
        [*command, "--site-dir", str(_SITE)], cwd=ROOT, env=os.environ | _QUIET, check=False
    ).returncode:
        sys.exit(code)
    bring(_SITE)
    if found := faults(_SITE):
        sys.exit("\n".join(found))
    print(f"{len(pages)} files of the repository are a site: {(_SITE / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
