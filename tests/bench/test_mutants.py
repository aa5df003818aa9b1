"""The runner of `make mutants`: it tells breaks that tests notice from others, and its list fits the code of today."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from bench.mutants.breaks import Break, choose, read_breaks
from bench.mutants.copies import Copy, TestRun, copied_files
from bench.mutants.run import entries, main, summary
from bench.mutants.trials import Outcome, Trials, Verdict
from bench.results import ROOT
from shared.errors import ConfigurationError

BREAKS = read_breaks()
_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
CODE = "def double(number):\n    return 2 * number\n"
TESTS = """
import time
from toy import double

def test_of_two():
    assert double(2) == 4

def test_of_one():
    assert double(1) == 2

def test_that_waits():
    time.sleep(double(0))
"""


def toy(new: str, *tests: str, old: str = "2 * number", name: str = "a-break") -> Break:
    return Break(name, "toy", "toy.py", old, new, tests or ("test_toy.py",))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A program of one file, with its tests."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "toy.py").write_text(CODE, encoding="utf-8")
    (root / "test_toy.py").write_text(TESTS, encoding="utf-8")
    return root


@pytest.fixture
def trials(checkout: Path, tmp_path: Path) -> Trials:
    return Trials(checkout, tmp_path / "copies", tmp_path / "memory.json")


def tried(trials: Trials, *breaks: Break) -> list[Outcome]:
    return trials.outcomes(breaks, lambda one, outcome: None)


def test_a_break_that_a_test_notices_is_told_from_one_that_none_does(checkout: Path, trials: Trials) -> None:
    # The second text is as long as the first and written within the same second: nothing of the first may stay.
    killed, survived = tried(trials, toy("3 * number"), toy("number * 2"))
    assert (killed.verdict, killed.detail, killed.killed) == (Verdict.KILLED, "test_toy.py::test_of_two", True)
    assert (survived.verdict, survived.killed) == (Verdict.SURVIVED, False)
    assert (checkout / "toy.py").read_text(encoding="utf-8") == CODE


def test_tests_that_do_not_end_have_noticed_it(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.mutants.trials._LEAST_LIMIT_S", 0.5)
    monkeypatch.setattr("bench.mutants.trials._SLOWER", 1)
    (outcome,) = tried(trials, toy("2 * number or 600", "test_toy.py::test_that_waits"))
    assert (outcome.verdict, outcome.killed) == (Verdict.HUNG, True)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (toy("number", old="3 * number"), "found it 0 times"),
        (toy("numbers", old="number"), "found it 2 times"),
        (toy("2 *"), "expected Python"),
        (toy("def double(number) -> undefined:", old="def double(number):"), "can't even be collected"),
        (toy("number", "test_toy.py::test_of_three"), "do not pass without it"),
    ],
)
def test_a_break_that_can_not_be_tried_is_an_error(one: Break, words: str, trials: Trials) -> None:
    (outcome,) = tried(trials, one)
    assert outcome.verdict is Verdict.ERROR
    assert words in outcome.detail
    assert not outcome.killed


@pytest.mark.parametrize("said", ["1 failed", "3 skipped", "no tests ran"])
def test_tests_that_do_not_pass_without_the_break_say_nothing_about_it(
    said: str, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Copy, "run", lambda *_: TestRun(int("failed" in said), 1.0, said))
    (outcome,) = tried(trials, toy("number"))
    assert (outcome.verdict, said in outcome.detail) == (Verdict.ERROR, True)


def test_what_was_found_is_remembered_until_something_changes(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []

    def run(copy: Copy, tests: tuple[str, ...], limit_s: float) -> TestRun:
        runs.append("run")
        return TestRun(0, 1.0, "2 passed")

    monkeypatch.setattr(Copy, "run", run)
    memory = tmp_path / "memory.json"
    for number, (change, runs_so_far) in enumerate((("", 2), ("", 2), ("test_toy.py", 4), ("part/other.py", 6))):
        if change:
            (checkout / change).parent.mkdir(exist_ok=True)
            (checkout / change).write_text(f"{TESTS}\n", encoding="utf-8")
        (outcome,) = tried(Trials(checkout, tmp_path / str(number), memory), toy("number"))
        assert (outcome.verdict, len(runs)) == (Verdict.SURVIVED, runs_so_far)


def test_a_memory_of_something_else_is_refused(checkout: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.json"
    memory.write_text('{"key": {"verdict": "fine"}}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="remove it"):
        Trials(checkout, tmp_path / "copies", memory)


def test_hidden_and_made_files_are_not_copied(checkout: Path) -> None:
    for name in (".git/config", "__pycache__/toy.pyc", "part/.cache/x", "toy.egg-info/y"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(b"")
    assert [str(path) for path in copied_files(checkout)] == ["test_toy.py", "toy.py"]


def test_survivors_are_named_and_counted() -> None:
    breaks = [toy("1", name="one"), toy("2", name="two"), toy("3", name="three")]
    outcomes = [Outcome(Verdict.KILLED), Outcome(Verdict.HUNG), Outcome(Verdict.SURVIVED)]
    killed, number = entries(breaks, outcomes)
    assert killed.value == pytest.approx(2 / 3)
    assert (number.value, number.target, number.reached, killed.reached) == (3, 120, False, False)
    assert "three" in killed.note
    lines = "\n".join(summary(breaks, outcomes))
    assert "2 of 3 killed" in lines
    assert re.search(r"SURVIVED.*toy: three", lines)


@pytest.mark.parametrize("text", ["", "[[break]]\nname = 1", '[[break]]\nname = "x"\nfile = "y"', "break = 1", "[["])
def test_a_list_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "area.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"area\.toml"):
        read_breaks(tmp_path)


def test_an_area_or_one_break_is_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert {one.area for one in choose(BREAKS, "crypto")} == {"crypto"}
    assert choose(BREAKS, BREAKS[-1].name) == [BREAKS[-1]]
    assert main(["--only", "nothing-of-this-name"]) == 2
    assert "crypto" in capsys.readouterr().err


def test_there_are_as_many_breaks_as_were_promised() -> None:
    assert len(BREAKS) >= 120


def test_every_break_applies_to_the_code_of_today() -> None:
    problems = []
    for one in BREAKS:
        try:
            one.apply_to((ROOT / one.file).read_text(encoding="utf-8"))
        except (ConfigurationError, OSError) as error:
            problems.append(str(error))
    assert problems == []


def test_every_break_names_tests_that_are_there() -> None:
    asked = {test for one in BREAKS for test in one.tests}
    modules: dict[str, list[ast.stmt]] = {}
    problems = []
    for test in sorted(asked):
        name, *path = test.partition("[")[0].split("::")
        if not (ROOT / name).is_file():
            problems.append(test)
            continue
        if name not in modules:
            modules[name] = ast.parse((ROOT / name).read_text(encoding="utf-8")).body
        held = modules[name]
        for part in path:
            found = [node for node in held if isinstance(node, _NAMED) and node.name == part]
            held = found[0].body if found else []
            problems += [] if found else [test]
    assert problems == []
