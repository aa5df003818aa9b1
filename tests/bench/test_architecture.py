"""docs/architecture.md and its drawing: made from the code, true of the code, legible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.architecture.__main__ import DRAWING, main
from bench.architecture.drawing import WIDTH, draw
from bench.architecture.house import ROOT, House, Package, essential, read_house
from bench.architecture.plan import crossings, plan

SVG = "{http://www.w3.org/2000/svg}"
PYPROJECT = """
[tool.setuptools.packages.find]
include = ["upper*", "lower*"]

[[tool.importlinter.contracts]]
type = "layers"
layers = ["checks", "upper", "lower"]

[[tool.importlinter.contracts]]
type = "layers"
containers = ["upper"]
layers = ["__main__", "roof", "hall | stairs", "errors"]
"""
SOURCES = {
    "upper/__init__.py": '"""Where people live: on three floors."""',
    "upper/__main__.py": "from upper.roof import tiles",
    "upper/roof.py": "import upper.hall.door\nfrom upper import stairs\nfrom upper.errors import UpperError\n"
    + "#\n" * 700,
    "upper/hall/__init__.py": "",
    "upper/hall/door.py": "from ..errors import UpperError",
    "upper/stairs.py": "",
    "upper/errors.py": "from lower.cellar import dark",
    "lower/__init__.py": '"""What carries."""',
    "lower/cellar.py": "",
    "checks/__init__.py": "",
    "checks/deep/__init__.py": "",
    "checks/test_upper.py": "import upper.roof, lower.cellar",
}


@pytest.fixture(scope="module")
def house() -> House:
    return read_house()


@pytest.fixture(scope="module")
def drawing(house: House) -> str:
    return draw(house)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    for name, source in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return tmp_path


def packages(house: House) -> dict[str, Package]:
    return {package.name: package for floor in house.floors for package in floor}


def floors(package: Package) -> list[list[str]]:
    return [[room.name for room in floor] for floor in package.floors]


def ways(arrows: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """From where arrows lead to where, over any number of them."""
    found = set(arrows)
    while longer := {(start, end) for start, via in found for other, end in found if via == other} - found:
        found |= longer
    return found


def test_the_drawing_is_that_of_the_code(drawing: str) -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing, "the house has changed: run `make architecture` and commit"


class TestHouse:
    def test_floors_are_those_of_the_contracts(self, toy: Path) -> None:
        house = read_house(toy)
        assert [[package.name for package in floor] for floor in house.floors] == [["checks"], ["upper"], ["lower"]]
        assert floors(packages(house)["upper"]) == [["roof"], ["hall", "stairs"], ["errors"]]

    def test_without_a_contract_folders_are_one_floor_and_else_modules(self, toy: Path) -> None:
        assert floors(packages(read_house(toy))["checks"]) == [["deep"]]
        assert floors(packages(read_house(toy))["lower"]) == [["cellar"]]

    def test_a_room_says_whether_it_is_a_folder_and_how_long_it_is(self, toy: Path) -> None:
        (roof,), (hall, _), _ = packages(read_house(toy))["upper"].floors
        assert (roof.folder, roof.lines) == (False, 703)
        assert (hall.folder, hall.lines) == (True, 1)

    def test_a_purpose_is_the_beginning_of_the_docstring(self, toy: Path) -> None:
        assert packages(read_house(toy))["upper"].purpose == "Where people live"

    def test_arrows_are_imports_but_those_of_errors(self, toy: Path) -> None:
        assert packages(read_house(toy))["upper"].arrows == {("roof", "hall"), ("roof", "stairs")}

    def test_an_import_that_follows_from_others_has_no_arrow(self, toy: Path) -> None:
        assert read_house(toy).arrows == {("checks", "upper"), ("upper", "lower")}

    def test_an_import_in_the_dots_of_a_package_is_seen(self, toy: Path) -> None:
        (toy / "upper/roof.py").write_text("")
        (toy / "upper/hall/__init__.py").write_text("from ..lower_hall import a\nfrom . import door")
        (toy / "upper/lower_hall.py").write_text("")
        changed = PYPROJECT.replace('"errors"', '"lower_hall", "errors"')
        (toy / "pyproject.toml").write_text(changed)
        assert packages(read_house(toy))["upper"].arrows == {("hall", "lower_hall")}

    @given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1])))
    def test_the_fewest_arrows_that_lead_wherever_imports_lead(self, pairs: set[tuple[int, int]]) -> None:
        imports = {(str(upper), str(lower)) for upper, lower in pairs}
        arrows = essential(imports)
        assert arrows <= imports
        assert ways(arrows) == ways(imports)
        assert all(ways(arrows - {arrow}) != ways(imports) for arrow in arrows)


class TestPlan:
    def test_arrows_that_need_not_cross_do_not(self) -> None:
        arrows = frozenset({("a", "z"), ("b", "y"), ("c", "x")})
        laid = plan([["a", "b", "c"], ["x", "y", "z"]], arrows, lambda _: 10, 5, 100)
        assert crossings(laid.rows, laid.links) == 0

    def test_an_arrow_passes_every_floor_between_its_ends(self) -> None:
        laid = plan([["a"], ["b"], ["c"], ["d"]], frozenset({("a", "d")}), lambda _: 10, 5, 100)
        passage = ("a", "d")
        assert [set(row) for row in laid.rows] == [{"a"}, {"b", passage}, {"c", passage}, {"d"}]
        assert laid.links == [[("a", passage)], [(passage, passage)], [(passage, "d")]]

    def test_nodes_of_a_floor_stand_apart(self) -> None:
        rooms = list("abcde")
        laid = plan([["top"], rooms], frozenset(("top", room) for room in rooms), lambda _: 10, 5, 100)
        below = sorted(laid.centres[1].values())
        assert all(right - left >= 15 for left, right in pairwise(below))
        assert laid.centres[0]["top"] == pytest.approx(50)


class Rectangle:
    """A rect of the drawing."""

    def __init__(self, element: ElementTree.Element) -> None:
        left, top, width, height = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
        self.left, self.right, self.top, self.bottom = left, left + width, top, top + height

    def overlaps(self, other: Rectangle) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: Rectangle) -> bool:
        inside = self.left <= other.left and other.right <= self.right
        return inside and self.top <= other.top and other.bottom <= self.bottom


class TestDrawing:
    def rectangles(self, drawing: str, kind: str) -> list[Rectangle]:
        tree = ElementTree.fromstring(drawing)
        return [Rectangle(element) for element in tree.iter(f"{SVG}rect") if element.get("class") == kind]

    def test_every_room_is_in_its_package_and_in_nobodys_way(self, house: House, drawing: str) -> None:
        rooms, homes = self.rectangles(drawing, "room"), self.rectangles(drawing, "package")
        assert len(rooms) == sum(len(floor) for package in packages(house).values() for floor in package.floors)
        assert all(sum(home.holds(room) for home in homes) == 1 for room in rooms)
        assert not any(one.overlaps(other) for one, other in combinations(rooms, 2))

    def test_it_is_legible_in_the_width_of_a_page(self, drawing: str) -> None:
        tree = ElementTree.fromstring(drawing)
        assert tree.get("viewBox", "").split()[2] == str(WIDTH)
        (ground,) = self.rectangles(drawing, "ground")
        assert all(ground.holds(home) for home in self.rectangles(drawing, "package"))

    def test_both_modes_colour_the_same_things(self, drawing: str) -> None:
        style = next(ElementTree.fromstring(drawing).iter(f"{SVG}style")).text or ""
        light, dark = style.split("@media")
        drawn = {element.get("class") for element in ElementTree.fromstring(drawing).iter() if element.get("class")}
        for mode in (light, dark):
            assert drawn <= {
                kind
                for rule in re.findall(r"([^{}]+)\{[^{}]*(?:fill|stroke): #", mode)
                for kind in re.findall(r"\.([\w-]+)", rule)
            }


def rooms_of(text: str) -> Iterator[str]:
    """Rooms that a document gives a line in a table: `package/room/`, `package/module.py`, or several in one line."""
    for cells in re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE):
        yield from re.findall(r"`([^`]+)`", cells)


class TestDocument:
    TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

    def test_every_room_has_its_line_and_no_line_has_no_room(self, house: House) -> None:
        existing, _, coming = self.TEXT.partition("\n## Rooms to come\n")
        installed = [package for package in packages(house).values() if package.floors[0][0].lines]
        expected = {
            f"{package.name}/{room.name}" + ("/" if room.folder else ".py")
            for package in installed
            for floor in package.floors
            for room in floor
        }
        named = {name for name in rooms_of(existing) if name.split("/")[0] in packages(house)}
        assert named == expected, "give every room one line in docs/architecture.md"
        assert not expected & set(rooms_of(coming)), "a room that came is still announced"


def test_the_command_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 2
    assert "usage" in capsys.readouterr().err
