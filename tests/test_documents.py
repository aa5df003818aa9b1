"""Pages for people name only what is there: files, modules, sections, targets of make, decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PACKAGES = (
    "aggregator",
    "bench",
    "command_line",
    "deploy",
    "docs",
    "foundation",
    "protocols",
    "shared",
    "site_client",
    "tests",
)
# What the rooms to come are for may be said before they are there.
_, _, COMING = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("\n## Rooms to come\n")
ANNOUNCED = tuple(re.findall(r"`([\w/]+/)`", COMING.partition("\n## ")[0]))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([\w-]+):(?!=)", MAKEFILE, re.MULTILINE))
DECISIONS = ROOT / "docs" / "adr"
page = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What the headings of a page can be linked as."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def exists(name: str) -> bool:
    """Whether a path is there; NAME in it stands for any."""
    return any(ROOT.glob(name.replace("NAME", "*"))) or name.startswith(ANNOUNCED)


@page
def test_every_link_leads_somewhere(page: Path) -> None:
    # Links into the web begin with a scheme.
    for target in re.findall(r"\]\((?!\w+://)([^)\s]+)\)", prose(page)):
        name, _, section = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), target
        assert not section or section in anchors(linked), target


@page
def test_every_path_that_is_named_is_there(page: Path) -> None:
    # Beginning with a package: a folder, a file, or a test of one.
    for name in re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w./-]*)(?:::[\w:]+)?`", prose(page)):
        assert exists(name), name


@page
def test_every_module_that_is_named_is_there(page: Path) -> None:
    for name in re.findall(rf"`(?:python -m )?((?:{'|'.join(PACKAGES)})(?:\.\w+)+)", prose(page)):
        *folders, last = name.split(".")
        above = "/".join(folders)
        # The last part may be what a module holds.
        there = any(
            exists(f"{path}{ending}") for path in (above, f"{above}/{last}") for ending in (".py", "/__init__.py")
        )
        assert there or exists(f"{above}/{last}"), name


@page
def test_every_target_of_make_that_is_named_is_there(page: Path) -> None:
    assert set(re.findall(r"`make ([\w-]+)", page.read_text(encoding="utf-8"))) <= TARGETS


def test_what_is_not_there_is_noticed() -> None:
    assert exists("shared/corpus/formats/NAME.py")
    assert not exists("shared/corpus/NAME.txt")
    assert not exists("shared/nothing.py")
    assert "the-code" in anchors(ROOT / "README.md")


def test_the_makefile_says_what_its_targets_are_for() -> None:
    head = MAKEFILE.partition("\n\n")[0]
    said = set(re.findall(r"make ([\w-]+)", head))
    assert said == TARGETS - {"clean"}


def test_every_decision_is_in_the_index_under_its_title() -> None:
    rows = re.findall(
        r"^\| \[(\d{4})\]\(([\w-]+\.md)\) \| ([^|]+) \|", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    indexed = {name: (number, title.strip()) for number, name, title in rows}
    decided = {}
    for path in DECISIONS.glob("[0-9]*.md"):
        number, _, title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(": ")
        decided[path.name] = (number, title)
        assert path.name.startswith(number)
    assert indexed == decided
    assert len(rows) == len(indexed)


@pytest.mark.parametrize("path", sorted(DECISIONS.glob("[0-9]*.md")), ids=lambda path: path.stem)
def test_a_decision_is_read_in_two_minutes(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30, "tables and variants that lost belong into docs/results"
    assert "**Context.**" in "\n".join(lines)
    assert "**Decision.**" in "\n".join(lines)


def test_hooks_before_a_commit_are_what_make_runs_and_need_no_network() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (.+)", text) == ["local"]
    entries = re.findall(r"entry: (.+)", text)
    assert entries
    assert len(entries) == text.count("language: system") == text.count("- id: ")
    for entry in entries:
        assert f"\t{entry.replace('.venv/bin/', '$(BIN)/')}\n" in MAKEFILE, entry
