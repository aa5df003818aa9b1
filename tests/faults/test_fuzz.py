"""A few mutants for every reader; `make fuzz` makes a hundred thousand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.fuzz import child as fuzz_child
from bench.fuzz.child import Counts, by_property, count_outcomes
from bench.fuzz.run import Extent, entries, run
from bench.fuzz.seeds import prepare
from bench.fuzz.targets import CANARY, ForgedError, Target, Watch, load
from protocols.errors import SchemaError


def test_every_mutant_is_refused_or_sound(tmp_path: Path) -> None:
    readers, provider = run(tmp_path, Extent({"hypothesis": 40}, 2))
    assert (readers.tried, provider.tried) == (160, 2)
    assert 0 < readers.accepted < 80
    assert [entry.value for entry in entries(readers, provider)][1:4] == [0, 0, 0]
    assert readers.died == 0


class TestTheInstruments:
    """What can't see a defect would find none."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        prepare(tmp_path)
        fuzz_child.reset_counts(tmp_path / fuzz_child.COUNTS)
        return tmp_path

    def test_a_reader_that_fails_in_its_own_way_is_seen(self, folder: Path) -> None:
        tried = 0

        def take(data: bytes) -> None:
            nonlocal tried
            tried += 1
            if len(data) % 7 == 0:
                raise IndexError
            raise SchemaError("a", received="b")

        target = Target("manifest", (bytes(100), bytes(30)), take)
        counts = Counts(folder / fuzz_child.COUNTS)
        with pytest.raises(IndexError):
            by_property(target, count_outcomes(target, counts, Watch(folder)), 200, 1, folder)
        assert 0 < fuzz_child.read_counts(folder / fuzz_child.COUNTS)[0] < tried

    @pytest.mark.parametrize("name", ["header", "manifest"])
    def test_what_nobody_signed_is_seen_where_it_is_accepted(self, name: str, folder: Path) -> None:
        target = load(name, folder)
        for seed in target.seeds:
            target.take(seed)
        strict = load(name, folder)
        for path in (folder / name).iterdir():
            path.write_bytes(b"other")
        forgiving = load(name, folder)
        with pytest.raises(ForgedError):
            forgiving.take(strict.seeds[0])

    def test_a_file_that_is_opened_beside_the_given_one_is_seen(
        self, folder: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        watch = Watch(folder)
        (folder / CANARY).read_bytes()
        assert watch.outside == 0
        other = tmp_path_factory.mktemp("elsewhere") / "file"
        other.write_bytes(b"x")
        assert watch.outside == 1

    def test_files_that_point_at_the_canary_do_not_get_it_read(self, folder: Path) -> None:
        target = load("hdf5", folder)
        pointing = [seed for seed in target.seeds if os.fsencode(folder / CANARY) in seed]
        assert len(pointing) == 3
        for seed in pointing:
            with pytest.raises(SchemaError):
                target.take(seed)
