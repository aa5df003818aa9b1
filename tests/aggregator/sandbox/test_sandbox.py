"""A child that does its worst: one clear error each time, the parent unharmed, nothing left behind."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aggregator.errors import KilledError, SandboxError, UnconfinedError
from aggregator.sandbox import parent
from aggregator.sandbox.child import READY
from aggregator.sandbox.parent import SandboxLimits, read_answer, run
from foundation.errors import StorageError
from protocols.canonical import Json
from protocols.errors import BoundsError
from tests.aggregator.sandbox import sandboxed
from tests.waiting import until

SHORT = SandboxLimits(memory_bytes=1 << 30, cpu_s=3, wall_s=60.0)


def descendants() -> set[int]:
    """Processes that this one started, and theirs; but for the database server of other tests, which starts some when it likes."""
    found, parents = {os.getpid()}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if b"postgres" in (folder / "cmdline").read_bytes():
                    continue
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    processes, descriptors = descendants(), len(os.listdir("/proc/self/fd"))
    yield
    assert descendants() <= processes
    # Fewer, where those of earlier tests were collected meanwhile.
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_the_result_comes_back_and_the_network_is_away() -> None:
    value: dict[str, Json] = {"names": ["Grüße", 1, None, True], "none": {}}
    answer = run(sandboxed.echo, value)
    assert answer.result == value
    assert answer.network


def test_the_child_inherits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEID_COMMONS_SECRET", "x")
    monkeypatch.setenv("PYTHONPATH", ".")
    with open(os.devnull) as file:
        os.set_inheritable(file.fileno(), True)
        found = run(sandboxed.environment, {}).result
    assert found == {
        "environment": ["LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"],
        "descriptors": 0,
        "folder": "/",
        "session": True,
        "path": [],
    }


def test_an_error_of_the_protocol_comes_back_as_it_is() -> None:
    with pytest.raises(BoundsError) as caught:
        run(sandboxed.protocol_error, {})
    assert str(caught.value) == str(BoundsError("7", received="8", advice="refuse it", place="block 3"))


def test_a_file_that_it_could_not_read_comes_back_as_that() -> None:
    with pytest.raises(StorageError) as caught:
        run(sandboxed.storage_error, {})
    assert str(caught.value) == "share.parquet: expected a file, received none; look for it"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (sandboxed.other_error, "ZeroDivisionError"),
        (sandboxed.memory_bomb, "MemoryError"),
        (sandboxed.mapped_memory, "OSError"),
        (sandboxed.endless_loop, "SIGKILL|SIGXCPU"),
        (sandboxed.fork_bomb, "PermissionError"),
        (sandboxed.start_thread, "RuntimeError"),
        (sandboxed.start_program, "PermissionError"),
        (sandboxed.kill_parent, "PermissionError"),
        (sandboxed.huge_answer, "65536 bytes"),
        (sandboxed.flood, "65536 bytes"),
        (sandboxed.say_nothing, "canonical JSON"),
        (sandboxed.speak_otherwise, "canonical JSON"),
        (sandboxed.hang_up, "SIGKILL"),
        (sandboxed.leave, "code 3"),
        (sandboxed.crash, "SIGSEGV"),
        (sandboxed.many_files, "OSError"),
        (sandboxed.no_number, "canonical JSON"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_whatever_it_does_is_one_clear_error(function: Callable[[dict[str, Json]], Json], words: str) -> None:
    with pytest.raises(SandboxError, match=words) as caught:
        run(function, {}, SHORT)
    assert not isinstance(caught.value, UnconfinedError)
    assert "\n" not in str(caught.value)
    assert "Brunhilda" not in str(caught.value)


def test_it_does_not_wait_for_ever() -> None:
    with pytest.raises(SandboxError, match=r"within 0\.5 s"):
        run(sandboxed.sleep, {}, SandboxLimits(wall_s=0.5))


def test_it_opens_no_socket_of_any_family() -> None:
    answer = run(sandboxed.open_socket, {})
    if "seccomp" in answer.network:
        assert answer.result is None


def test_it_reaches_no_server_on_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(SandboxError, match=r"PermissionError|OSError|ConnectionRefusedError"):
            run(sandboxed.reach, {"port": port}, SHORT)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls by their numbers on x86_64")
def test_raw_calls_touch_no_file_and_no_other_process(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ours")
    rights = path.stat().st_mode
    found = run(sandboxed.raw_calls, {"path": str(path), "parent": os.getpid()}, readable=[tmp_path]).result
    assert isinstance(found, dict)
    assert found.pop("own limits") == 0
    assert set(found.values()) == {errno.EPERM}
    assert path.read_bytes() == b"ours"
    assert path.stat().st_mode == rights


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls by their numbers on x86_64")
@pytest.mark.parametrize("landlock", [True, False], ids=["as it is", "on a kernel without Landlock"])
def test_raw_calls_open_no_file_but_to_read_it(landlock: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ours")
    if not landlock:
        without = "import main; from aggregator.sandbox import child; child.read_only_below = lambda *_: False;"
        monkeypatch.setattr(parent, "_START", parent._START.replace("import main;", without))
    found = run(sandboxed.raw_openings, {"path": str(path)}, readable=[tmp_path]).result
    assert isinstance(found, dict)
    assert [found.pop("open to read"), found.pop("openat to read"), found.pop("openat2")] == [0, 0, errno.ENOSYS]
    assert set(found.values()) == {errno.EPERM}
    assert path.read_bytes() == b"ours"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1, reason="this kernel has no Landlock")
def test_it_reads_no_file_but_those_of_its_folder(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "file").write_bytes(b"ours")
    (own / "way-out").symlink_to(other / "file")
    assert run(sandboxed.read_file, {"path": str(own / "file")}, readable=[own]).result == 4
    for path in (other / "file", own / "way-out", Path("/etc/passwd"), Path(f"/proc/{os.getpid()}/environ")):
        with pytest.raises(SandboxError, match="PermissionError"):
            run(sandboxed.read_file, {"path": str(path)}, readable=[own])


def test_not_even_a_file_that_is_open_takes_a_byte() -> None:
    assert run(sandboxed.file_size_limits, {}).result == [0, 0]


@pytest.mark.parametrize("there", [True, False])
def test_it_writes_no_file(there: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if there:
        path.write_bytes(b"ours")
    with pytest.raises(SandboxError, match=r"OSError|PermissionError"):
        run(sandboxed.write_file, {"path": str(path)})
    assert (path.read_bytes() if path.exists() else b"") == (b"ours" if there else b"")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ready\n",
        "{}",
        "[]",
        '{"network":[],"result":1}',
        '{"network":["none"],"result":1}',
        '{"network":[["seccomp"]],"result":1}',
        '{"result":1}',
        '{"network":["seccomp"], "result":1}',
        '{"error":"x"}',
        '{"error":{"advice":"","expected":"","kind":"Popen","place":"","received":""}}',
        '{"error":{"advice":"","expected":"","kind":"DatabaseError","place":"","received":""}}',
        '{"error":{"advice":"","expected":"","kind":"DeidError","place":"","received":""}}',
        '{"error":{"advice":"","expected":"","kind":"ExpectationError","place":"","received":""}}',
        '{"error":{"advice":"","expected":"a\\nb","kind":"SchemaError","place":"","received":""}}',
        '{"error":{"advice":"","expected":1,"kind":"SchemaError","place":"","received":""}}',
        '{"error":{"advice":"","expected":"' + "x" * 300 + '","kind":"SchemaError","place":"","received":""}}',
        "[" * 10_000,
        "\xff",
    ],
)
def test_an_answer_of_a_reader_that_was_taken_over_is_read_as_a_strangers(text: str) -> None:
    with pytest.raises(SandboxError):
        read_answer(text.encode("latin-1"))


def test_a_child_that_is_killed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def killed(*arguments: object, **settings: object) -> object:
        child = popen(*arguments, **settings)  # type: ignore[call-overload]
        threading.Timer(3.0, os.kill, (child.pid, signal.SIGKILL)).start()
        return child

    monkeypatch.setattr(subprocess, "Popen", killed)
    # Killed before or after it was ready: both are one error of the tree.
    with pytest.raises(SandboxError):
        run(sandboxed.sleep, {}, SandboxLimits(wall_s=60))


def test_a_check_that_somebody_killed_says_nothing_about_the_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system that runs out of memory kills the child first of all, as it asks to be."""
    before, true = descendants(), parent._read
    scores: list[str] = []

    def read(pipe: int, most: int, deadline: float) -> bytes | None:
        found = true(pipe, most, deadline) if not scores else b""
        if found == READY:
            [child] = descendants() - before
            scores.append((Path("/proc") / str(child) / "oom_score_adj").read_text())
            os.kill(child, signal.SIGKILL)
        return found

    monkeypatch.setattr(parent, "_read", read)
    with pytest.raises(KilledError, match="without memory"):
        run(sandboxed.sleep, {}, SHORT)
    assert scores == ["1000\n"]


def test_a_parent_that_is_killed_takes_the_child_with_it() -> None:
    code = "from aggregator.sandbox.parent import run; from tests.aggregator.sandbox import sandboxed; run(sandboxed.sleep, {})"
    with subprocess.Popen([sys.executable, "-c", code]) as killed:
        try:
            listed = Path(f"/proc/{killed.pid}/task/{killed.pid}/children")
            until(lambda: bool(listed.read_text()))
            child = Path("/proc") / listed.read_text().split()[0]
            # Ready, or at least past the call that asks for the signal.
            until(lambda: "Seccomp:\t2" in (child / "status").read_text())
        finally:
            killed.kill()
    until(lambda: not child.exists())


def test_a_machine_that_can_not_start_it_is_not_the_fault_of_the_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(UnconfinedError, match="No such file"):
        run(sandboxed.echo, {})


def test_it_asks_for_no_room_on_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert run(sandboxed.echo, {"a": 1}).result == {"a": 1}


def test_nor_is_one_that_can_not_confine_it() -> None:
    with pytest.raises(UnconfinedError, match="ended"):
        # Too little to import anything.
        run(sandboxed.echo, {}, SandboxLimits(memory_bytes=1 << 20))
