"""docs/licences.md: under what licence each package is that an installation brings along, from what the packages say themselves."""

from __future__ import annotations

from importlib import metadata

from bench.release.packages import ROOT, runtime

PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("fragments",)
_LONG = 60
_INTRODUCTION = """# Licences

Written by `make licences`; do not edit. deid-commons is under Apache-2.0. An installation brings these packages along, in the versions of `requirements.lock`; each says for itself under what it is.
Tools that only build and test are not in the list, since they are not handed on. `make sbom` writes the same as a CycloneDX bill of materials, for programs.

| package | version | licence |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    rows = [f"| {name} | {version} | {licence_of(name)} |" for name, version in runtime(EXTRAS).items()]
    return _INTRODUCTION + "\n".join(rows) + "\n"


def licence_of(name: str) -> str:
    """What a package states: an expression, else its classifiers, else its words; "not stated" for none."""
    stated = metadata.metadata(name).json
    if expression := str(stated.get("license_expression", "")):
        return expression
    classes = [
        str(one).rpartition(" :: ")[2] for one in stated.get("classifier", ()) if str(one).startswith("License ::")
    ]
    if named := [one for one in classes if one != "OSI Approved"]:
        return ", ".join(named)
    words = " ".join(str(stated.get("license", "")).split())
    return words[:_LONG].replace("|", "/") if words and words != "UNKNOWN" else "not stated"
