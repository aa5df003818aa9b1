"""The lies of `make attack`: enough of them, each side with an honest run by the same way, and a check that fails is reported."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.attack import __main__ as program
from bench.attack import run
from bench.attack.outcome import Outcome, shorten
from bench.attack.provider import table as provider
from bench.attack.release import put_release
from bench.attack.report import LEAST, entries, page
from bench.attack.run import Told, check_honest, describe
from bench.attack.share import put_share, quickly
from bench.attack.site import table as site
from bench.attack.world import NEXT, BrokenWorldError, World
from tests.loop import Loop, done, hospital
from tests.tiny_notes import long_notes, phi_strings


@pytest.fixture(scope="module")
def world(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The small loop in the place of the world that the command makes; all is asked for that tiny notes can keep."""
    made = World(Path(shutil.copytree(built_loop.root, tmp_path_factory.mktemp("attack") / "world")))
    fewer = ("--least-cluster", 8, "--bank-spans", 0, "--workspace", made.site("north"))
    done(hospital("policy", "set", *fewer))
    made.write_notes(NEXT, long_notes(20, 1))
    done(made.encode("north", made.notes(NEXT), made.honest))
    with quickly():
        yield made


def test_there_are_enough_lies_of_each_side() -> None:
    assert len(provider.LIES) >= LEAST
    assert len(site.LIES) >= LEAST
    assert not provider.LIES.keys() & provider.KNOWN.keys()
    assert not site.LIES.keys() & site.KNOWN.keys()


def test_what_is_honest_passes_by_the_same_way(world: World) -> None:
    check_honest(world)


def test_nothing_is_reported_where_what_is_honest_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("site_client.policy.judging._young", lambda *one: False)
    with pytest.raises(BrokenWorldError, match="an honest release to pass, age refused it"):
        run.tell_all(world, lambda line: None)


@pytest.mark.parametrize(
    ("lie", "step", "refused_by", "code"),
    [
        ("no bank, and no record", "pull", "construction", "35"),
        ("clusters of one word, all with one vector", "pull", "cluster size", "35"),
        ("a hidden word among numbers", "pull", "cluster size", "35"),
        ("a group of one word among symbols", "pull", "narrowing", "35"),
        ("one bit of one float16 number of one word of a cluster", "pull", "EmbeddingError", "4"),
        ("a bank with such a name in a list of single words", "pull", "ModelError", "5"),
        ("a bank with a full name of the hospital's own notes", "encode", "bank", "35"),
    ],
)
def test_releases_that_lie_are_refused(lie: str, step: str, refused_by: str, code: str, world: World) -> None:
    found = put_release(world, lie, provider.LIES[lie])
    assert (found.step, found.refused_by, found.code, found.passed) == (step, refused_by, code, False)
    assert not [text for text in phi_strings(world.documents(NEXT)) if text in found.said]


@pytest.mark.parametrize(
    ("lie", "refused_by", "code"),
    [
        ("words by their own codes, hidden or not", "codebook", "rejected"),
        ("the same bundle twice", "counted once", "accepted"),
        ("another share under a number that is taken", "ConflictError", "16"),
        ("Parquet: a column of text", "schema", "rejected"),
    ],
)
def test_shares_that_lie_are_refused(lie: str, refused_by: str, code: str, world: World) -> None:
    found = put_share(world, lie, site.LIES[lie])
    assert (found.refused_by, found.code, found.passed) == (refused_by, code, False)


def test_a_lie_that_comes_through_is_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checks are taken away: the run must fail, or it could not."""
    monkeypatch.setattr("site_client.policy.judging._young", lambda *one: True)
    monkeypatch.setattr("aggregator.ingestion.verdict.describe_row_frequency", lambda *one: None)
    name, other = "a release of 800 days ago", "one word again and again"
    release, share = put_release(world, name, provider.LIES[name]), put_share(world, other, site.LIES[other])
    assert release.unseen
    assert share.unseen
    told = (Told("release", (release,), ()), Told("share", (share,), ()))
    found = {entry.measure: entry for entry in entries(told)}
    for measure in ("lying releases that encode", "lying releases that pass unseen", "lying shares that pass unseen"):
        assert (found[f"attack: {measure}"].value, found[f"attack: {measure}"].reached) == (1, False)
    assert name in found["attack: lying releases that encode"].note
    assert page(told).count("PASSED UNSEEN") == 2
    monkeypatch.setattr(program, "tell_all", lambda world, say: told)
    monkeypatch.setattr(program, "build", lambda root: world)
    assert program.main([]) == 1


def test_what_was_told_is_no_more_unseen_but_passed() -> None:
    warned = Outcome("a lie", "submit", said="PROTECTION FALLS", warned=True)
    assert (warned.passed, warned.unseen) == (True, False)
    assert describe(warned) == "passed, and was told: PROTECTION FALLS"
    told = (Told("release", (warned,), (warned,)), Told("share", (), ()))
    found = {entry.measure: entry.value for entry in entries(told)}
    assert found["attack: lying releases that encode"] == 1
    assert found["attack: lying releases that pass unseen"] == 0


def test_a_fault_of_our_own_program_is_no_refusal_to_be_proud_of() -> None:
    told = (Told("release", (Outcome("a lie", "pull", "ValueError", "1"),), ()), Told("share", (), ()))
    found = {entry.measure: entry for entry in entries(told)}
    assert found["attack: lying releases that end in a fault of our program"].reached is False


def test_no_line_names_the_folder_of_a_run() -> None:
    said = shorten(f"error: {Path('/some/where')}/a.share: expected {'ab' * 32}, received\n more", "/some/where")
    assert said == "a.share: expected ..., received more"
