"""Payloads that broke naive readers, and children that do not say what they should: the provider refuses, and stays well."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aggregator.errors import KilledError, SandboxError, UnconfinedError
from aggregator.ingestion import ingest, opening
from aggregator.ingestion.ingest import Decision
from aggregator.ingestion.payload_check import check_payload
from aggregator.registry.states import ShareState
from aggregator.registry.times import as_text
from aggregator.sandbox import parent as sandbox
from bench.exchange.world import SCHEME, Sentences, World, invented_terms
from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.payload.opening import PayloadLimits
from shared.labels import load_scheme
from tests.aggregator.ingestion.taking_in import nothing_left, receipt_agrees, rows
from tests.protocols.share.shares import resign

pytestmark = pytest.mark.usefixtures("quick")

TAGS = len(load_scheme(SCHEME).tags)


class TestPayloads:
    """Payloads that broke naive readers, sealed by a site that means it: they reach the child, and no further."""

    def sealed(self, world: World, write: Callable[[Path], object], **changes: Any) -> Path:
        """A bundle whose manifest fits the bytes that `write` leaves."""
        payload = world.share("north", 1, Sentences())
        write(payload)

        def fit(manifest: dict[str, Any]) -> None:
            manifest |= {"payload_bytes": payload.stat().st_size, "payload_sha256": file_sha256(payload), **changes}

        resign(payload, fit, world.keys["north"])
        return world.seal(payload, "north")

    def refused(self, world: World, bundle: Path) -> Decision:
        workspace = world.workspace()
        with invented_terms():
            decision = ingest.ingest(workspace, bundle)
        assert decision.state == ShareState.REJECTED
        receipt_agrees(workspace, decision)
        nothing_left(workspace)
        return decision

    def test_a_parquet_that_expands(self, small: World) -> None:
        def write(path: Path) -> None:
            rows = 100
            columns = {
                "representation": pa.array([bytes(1 << 20)] * rows, pa.binary()),
                "tags": pa.array([b"\0"] * rows, pa.binary()),
                "casing": pa.array([b"\0"] * rows, pa.binary()),
                "tokens": pa.array([1] * rows, pa.int32()),
            }
            table = pa.table(columns)
            pq.write_table(table, path, compression="zstd", use_dictionary=True)
            assert path.stat().st_size < 1 << 20

        assert self.refused(small, self.sealed(small, write)).reason_code == "schema"

    def test_an_hdf5_that_claims_gigabytes(self, small: World) -> None:
        def write(path: Path) -> None:
            hdf5(path)
            with h5py.File(path, "r+", libver=("v108", "v110")) as file:
                for name in ("values", "tags", "casing"):
                    file[name].resize(2**31, axis=0)
            assert path.stat().st_size < 1 << 18

        changes = {"payload_format": "hdf5", "tokens": 2**31, "tag_counts": [2**31] + [0] * (TAGS - 1)}
        assert self.refused(small, self.sealed(small, write, **changes)).reason_code == "schema"

    def test_an_hdf5_that_stores_its_values_in_a_file_of_the_provider(self, small: World) -> None:
        secret = small.provider / "keys" / "provider.pem"

        def write(path: Path) -> None:
            hdf5(path, skip="tags")
            with h5py.File(path, "r+", libver=("v108", "v110")) as file:
                file.create_dataset("tags", shape=(9,), dtype="u1", external=[(str(secret), 0, 9)])

        decision = self.refused(small, self.sealed(small, write, payload_format="hdf5"))
        assert decision.reason_code == "schema"

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"sentences": 11}, "mismatch"),
            ({"tag_counts": [100] + [0] * 58}, "mismatch"),
            ({"payload_format": "hdf5"}, "mismatch"),
            ({"value_bound": "0.05"}, "bounds"),
        ],
    )
    def test_counts_and_bounds_that_are_not_those_of_the_manifest(
        self, changes: dict[str, Any], code: str, small: World
    ) -> None:
        changes = {**changes, "tag_counts": [100] + [0] * (TAGS - 1)} if "tag_counts" in changes else changes
        assert self.refused(small, self.sealed(small, lambda path: None, **changes)).reason_code == code

    def test_a_value_that_is_no_number(self, small: World) -> None:
        def write(path: Path) -> None:
            data = path.read_bytes()
            first = Sentences().block(0).values.tobytes()[:16]
            place = data.index(first)
            path.write_bytes(data[:place] + np.array([np.nan], "<f2").tobytes() + data[place + 2 :])

        assert self.refused(small, self.sealed(small, write)).reason_code == "non-finite"


def hdf5(path: Path, skip: str = "") -> None:
    """A sound payload of nine tokens, but for one dataset."""
    arrays = {
        "values": np.zeros((9, 8), "<f2"),
        "tags": np.zeros(9, "u1"),
        "casing": np.zeros(9, "u1"),
        "offsets": np.array([0, 3, 7, 9], "<i8"),
        "blocks": np.array([0, 3], "<i8"),
    }
    with h5py.File(path, "w", libver=("v108", "v110")) as file:
        file.attrs.create("format_version", 1, dtype="<i4")
        for name, array in arrays.items():
            if name != skip:
                file.create_dataset(
                    name,
                    data=array,
                    chunks=(4096, *array.shape[1:]),
                    maxshape=(None, *array.shape[1:]),
                    fletcher32=True,
                )


class TestChild:
    @pytest.mark.parametrize("answer", [None, {}, {"sentences": 10, "tokens": 100, "tag_counts": [100]}])
    def test_a_child_that_says_something_else_than_the_manifest_refuses_the_share(
        self, answer: object, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(opening, "check_payload", lambda values: answer)
        assert ingest.ingest(small.workspace(), small.bundle()).reason_code == "sandbox"
        nothing_left(small.workspace())

    @pytest.mark.parametrize(
        ("said", "distinct"), [(10, 0), (0, 10), (-1, -1), ("10", 10), (10, None), (True, True), (10**400, 1)]
    )
    def test_so_does_one_that_counts_sentences_as_nobody_can(
        self, said: object, distinct: object, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def answer(values: Any) -> Any:
            found: Any = check_payload(values)
            return {**found, "said": said, "distinct": distinct}

        monkeypatch.setattr(opening, "check_payload", answer)
        assert ingest.ingest(small.workspace(), small.bundle()).reason_code == "sandbox"
        nothing_left(small.workspace())

    @pytest.mark.parametrize(
        "error",
        [SandboxError("ended by SIGSEGV"), StorageError("a file that can be read")],
        ids=["died", "could not read"],
    )
    def test_so_does_one_that_dies(self, error: Exception, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        def dies(values: object) -> None:
            raise error

        monkeypatch.setattr(opening, "check_payload", dies)
        decision = ingest.ingest(small.workspace(), small.bundle())
        assert (decision.state, decision.reason_code) == (ShareState.REJECTED, "sandbox")

    def test_one_that_can_not_be_confined_says_nothing_about_the_share(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unconfined(values: object) -> None:
            raise UnconfinedError("no seccomp")

        workspace = small.workspace()
        with monkeypatch.context() as patch:
            patch.setattr(opening, "check_payload", unconfined)
            with pytest.raises(UnconfinedError):
                ingest.ingest(workspace, small.bundle())
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
        assert [decision.state for decision in ingest.resume(workspace)] == [ShareState.ACCEPTED]

    @pytest.mark.parametrize("hours", [1, 23, 25])
    def test_a_share_whose_checks_somebody_kills_waits_for_a_day(
        self, hours: int, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def killed(values: object) -> None:
            raise KilledError("the check of the payload: killed")

        workspace = small.workspace()
        ingest.receive(workspace, small.bundle())
        later = as_text(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours))
        with monkeypatch.context() as patch:
            patch.setattr(ingest, "now", lambda: later)
            patch.setattr(opening, "check_payload", killed)
            if hours < 24:
                with pytest.raises(KilledError):
                    ingest.resume(workspace)
                assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
            else:
                [decision] = ingest.resume(workspace)
                assert (decision.state, decision.reason_code) == (ShareState.REJECTED, "sandbox")
        assert [decision.state for decision in ingest.resume(workspace)] == (
            [ShareState.ACCEPTED] if hours < 24 else []
        )
        nothing_left(workspace)

    def test_its_limits_grow_with_the_payload(self, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        given: list[Any] = []
        run = sandbox.run
        monkeypatch.setattr(sandbox, "run", lambda *arguments: given.append(arguments[2]) or run(*arguments))
        ingest.ingest(small.workspace(), small.bundle())
        assert given[0].cpu_s >= 60
        assert PayloadLimits().max_file_bytes / 1e8 > given[0].cpu_s


@pytest.mark.parametrize("times", [1, 2])
def test_a_child_that_dies_is_asked_once_more(times: int, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel kills what it likes when memory is short; the share can't help it, or can help it twice."""
    left = [times]
    with invented_terms():
        run = sandbox.run

        def dying(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] >= 0:
                raise SandboxError("the check of the payload: expected an answer, got an end by SIGKILL")
            return run(*arguments)

        monkeypatch.setattr(sandbox, "run", dying)
        decision = ingest.ingest(small.workspace(), small.bundle())
    assert (decision.state, decision.reason_code) == (
        (ShareState.ACCEPTED, "") if times == 1 else (ShareState.REJECTED, "sandbox")
    )
