"""A copy of the checkout in which something may be broken: the checkout itself is never touched."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.mutants.breaks import Break

_LEFT_OUT = re.compile(r"\..*|__pycache__|.*\.egg-info")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_PASSED = re.compile(r"\b[1-9][0-9]* passed\b")
# Plugins of other packages that no test of ours uses, and that take seconds to import.
_PLUGINS = ("-p", "no:cacheprovider", "-p", "no:faker", "-p", "no:anyio", "-p", "no:xdist")
_WARM = Path(__file__).with_name("warm.py")
# pytest's exit codes for the two ends that say something about the tests.
_ALL_PASSED, _SOME_FAILED = 0, 1


@dataclass(frozen=True)
class TestRun:
    """What became of some tests.

    Args:
        code: exit code of pytest; None where the time was over first.
        seconds: by the clock.
        said: its output.
    """

    # pytest would take the class for one of tests.
    __test__ = False

    code: int | None
    seconds: float
    said: str

    @property
    def all_passed(self) -> bool:
        """Whether a test was run, and all passed or were skipped."""
        return self.code == _ALL_PASSED and bool(_PASSED.search(self.said))

    @property
    def some_failed(self) -> bool:
        """Whether a test ran and failed; tests that can't even be collected did not run."""
        return self.code == _SOME_FAILED

    @property
    def failed(self) -> str:
        """The test that failed first; "" for none."""
        found = _FAILED.search(self.said)
        return found[1] if found else ""

    @property
    def last_line(self) -> str:
        """What pytest said at the end, or that it came to none."""
        return "the time was over" if self.code is None else self.said.strip().rpartition("\n")[2]


class Copy:
    """A copy of the checkout, made once.

    Args:
        root: the checkout.
        folder: gets the copy, and beside it what its tests leave.
        modules: of other packages, imported before any test runs: what takes seconds is done once.
    """

    def __init__(self, root: Path, folder: Path, modules: Sequence[str] = ()) -> None:
        # Short names: the path of a socket, which some tests make, has 107 characters at most.
        self._root, self._scratch, self._said = folder / "c", folder / "t", folder / "said"
        self._modules = modules
        self._warm: subprocess.Popen[bytes] | None = None
        for name in copied_files(root):
            (self._root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, self._root / name)

    @contextmanager
    def apply_break(self, one: Break) -> Iterator[None]:
        """The copy with a break in it while the block runs.

        Raises:
            ConfigurationError: as `Break.apply_to`.
        """
        path = self._root / one.file
        whole = path.read_text(encoding="utf-8")
        _write(path, one.apply_to(whole))
        try:
            yield
        finally:
            _write(path, whole)

    def run(self, tests: Sequence[str], limit_s: float) -> TestRun:
        """Runs tests in the copy until the first failure; whatever they have started is ended afterwards.

        Args:
            tests: files and node ids.
            limit_s: after which they are ended.
        """
        if self._warm is None:
            self._warm = self._start()
        asked, answers = self._warm.stdin, self._warm.stdout
        assert asked is not None
        assert answers is not None
        self._scratch.mkdir()
        began = time.monotonic()
        asked.write(json.dumps([str(self._said), ["-x", *_PLUGINS, *tests]]).encode() + b"\n")
        fork = int(answers.readline())
        try:
            ended = bool(select.select([answers], [], [], limit_s)[0])
        finally:
            with suppress(ProcessLookupError):
                os.killpg(fork, signal.SIGKILL)
            code = int(answers.readline())
            shutil.rmtree(self._scratch, ignore_errors=True)
        said = self._said.read_text(encoding="utf-8", errors="replace")
        return TestRun(code if ended else None, time.monotonic() - began, said)

    def close(self) -> None:
        """Ends the process that tests are forked from; another is started when it is needed."""
        if self._warm is not None:
            self._warm.communicate()
            self._warm = None

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._root),
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(self._scratch),
            # What was compiled is kept, whatever is usual here: in the copy hardly anything changes.
            "PYTHONDONTWRITEBYTECODE": "",
        }
        # Not the folder of the program is where modules are looked for, but that of the copy. Nothing is buffered: an
        # answer that had been read ahead would be waited for.
        return subprocess.Popen(
            [sys.executable, "-P", str(_WARM), *self._modules],
            cwd=self._root,
            env=environment,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )


def copied_files(root: Path) -> Iterator[Path]:
    """What a copy holds, relative to the checkout, in order: all but hidden files and what Python has made."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _LEFT_OUT.fullmatch(name))
        for name in sorted(names):
            if not _LEFT_OUT.fullmatch(name):
                yield Path(folder, name).relative_to(root)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Python goes on with what it has compiled before where neither the size nor the second has changed.
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
