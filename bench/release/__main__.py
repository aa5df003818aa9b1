"""`python -m bench.release dist|wheelhouse|sbom|configuration|licences`; `--small` makes a wheelhouse of what `--help` needs alone."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.release import building, configuration, licences, sbom, wheelhouse
from bench.release.packages import ROOT, SHIPPED, locked, runtime
from foundation.reading import file_sha256

_BUILD = ROOT / "build"


def dist() -> int:
    """Wheel and sdist into build/dist, built twice; 1 where the two differ."""
    first: dict[str, str] = {}
    second: dict[str, str] = {}
    for found in (first, second):
        with tempfile.TemporaryDirectory() as scratch:
            for path in building.build(_BUILD / "dist", Path(scratch)):
                found[path.name] = file_sha256(path)
    for name, digest in first.items():
        print(f"{digest}  build/dist/{name}" + ("" if second[name] == digest else f"  DIFFERS: {second[name]}"))
    return int(first != second)


def make_wheelhouse(small: bool) -> int:
    """build/wheelhouse, and the one file in it."""
    packages = {name: locked()[name] for name in ("click", "numpy")} if small else runtime(SHIPPED)
    made = wheelhouse.make_wheelhouse(_BUILD / "wheelhouse", packages)
    print(f"{file_sha256(made)}  {made.relative_to(ROOT)}  ({made.stat().st_size / 1e6:.0f} MB)")
    return 0


def main() -> int:
    """Do what the command line names."""
    match sys.argv[1:]:
        case ["dist"]:
            return dist()
        case ["wheelhouse", *rest]:
            return make_wheelhouse("--small" in rest)
        case ["sbom"]:
            _BUILD.mkdir(exist_ok=True)
            sbom.make_sbom(_BUILD / "sbom.json")
        case ["configuration"]:
            configuration.PAGE.write_text(configuration.page(), encoding="utf-8")
        case ["licences"]:
            licences.PAGE.write_text(licences.page(), encoding="utf-8")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LookupError as error:
        sys.exit(f"error: {error}")
