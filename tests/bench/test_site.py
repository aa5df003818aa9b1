"""The documentation as a site: pages are gathered whole, what would be fetched from elsewhere is found, tutorials are typed whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.site.gathering import ROOT, gather
from bench.site.looking import faults
from bench.site.own_files import ELSEWHERE, bring
from bench.walks import tutorials
from bench.walks.walk import script_of

PAGE = '<html><body id="top">{}</body></html>'


def site(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(PAGE.format(body), encoding="utf-8")
    return folder


class TestLooking:
    def test_finds_nothing_in_a_site_that_is_whole(self, tmp_path: Path) -> None:
        body = (
            '<a href="other.html#top">x</a><a href="https://elsewhere.example">y</a><img src="data:image/png;base64,">'
        )
        assert faults(site(tmp_path, index=body, other='<a href="#top">z</a>')) == []

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            ('<script src="https://cdn.example/a.js"></script>', "loads https://cdn.example/a.js"),
            ('<img src="//cdn.example/a.png">', "loads //cdn.example/a.png"),
            ('<link rel="stylesheet" href="https://fonts.example/css">', "loads https://fonts.example/css"),
            ('<a href="nothing.html">x</a>', "nothing.html leads nowhere"),
            ('<a href="index.html#nothing">x</a>', "index.html#nothing leads to no place of its page"),
            ('<a href="../outside.html">x</a>', "../outside.html leads nowhere"),
            ('<img src="nothing.png">', "nothing.png leads nowhere"),
        ],
    )
    def test_finds_what_is_wrong(self, tmp_path: Path, body: str, fault: str) -> None:
        folder = tmp_path / "site"
        folder.mkdir()
        (tmp_path / "outside.html").write_text("")
        assert f"index.html: {fault}" in faults(site(folder, index=body))

    def test_finds_what_a_style_sheet_loads(self, tmp_path: Path) -> None:
        (tmp_path / "a.css").write_text("@font-face{src:url('https://fonts.example/a.woff2')}b{background:url(data:x)}")
        assert faults(tmp_path) == ["a.css: loads https://fonts.example/a.woff2"]

    def test_names_of_pages_elsewhere_load_nothing(self, tmp_path: Path) -> None:
        assert faults(site(tmp_path, index='<link rel="canonical" href="https://elsewhere.example/">')) == []


def test_the_script_that_the_theme_would_fetch_lies_beside_the_pages(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for page in ("index.html", "deep/page.html"):
        (tmp_path / page).write_text(PAGE.format(f'<script src="{ELSEWHERE}"></script>'), encoding="utf-8")
    assert len(faults(tmp_path)) == 2
    assert bring(tmp_path) == 2
    assert faults(tmp_path) == []


def test_every_page_of_the_repository_is_gathered_at_its_place(tmp_path: Path) -> None:
    names = {path.as_posix() for path in gather(tmp_path / "pages")}
    assert {
        "README.md",
        "docs/README.md",
        "docs/results/privacy.md",
        "docs/results/privacy.svg",
        "docs/report.png",
    } <= names
    assert (tmp_path / "pages" / "docs" / "hospital.md").read_bytes() == (ROOT / "docs" / "hospital.md").read_bytes()


def test_the_navigation_has_every_page_for_people() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"([\w./-]+\.md)$", text, re.MULTILINE))
    there = {path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}
    assert named <= there
    # Decisions are reached by their index.
    assert {name for name in there - named if not name.startswith("docs/adr/0")} == set()


class TestTutorials:
    def test_are_typed_whole_and_in_turns(self) -> None:
        script = script_of(tutorials.NAME)
        pages = [ROOT / "docs" / f"tutorial-{side}.md" for side in ("provider", "hospital")]
        shown = [
            line
            for page in pages
            for block in re.findall(r"^```\n(.*?)^```", page.read_text(), re.M | re.S)
            for line in block.splitlines()
        ]
        typed = [re.sub(r' \| tee .*|"\$\(typed [^)]*\)"', "", line) for line in script.splitlines()]
        assert sorted(line.replace("1f2e-...-90ab", "") for line in shown) == sorted(
            line for line in typed[1:] if not line.startswith('cd "$START')
        )
        assert "1f2e" not in script
        assert script.index("aggregator publish") < script.index("site-client pull") < script.index("aggregator ingest")
        assert script.index("aggregator release") < script.rindex("site-client pull")

    @pytest.mark.parametrize(("more", "told"), [(0, "expected more blocks"), (12, "no turn takes")])
    def test_with_other_blocks_than_their_turns_are_refused(self, tmp_path: Path, more: int, told: str) -> None:
        for page in ("tutorial-provider.md", "tutorial-hospital.md"):
            (tmp_path / page).write_text("```\naggregator status\n```\n" * more, encoding="utf-8")
        with pytest.raises(ValueError, match=told):
            tutorials.script(tmp_path)
