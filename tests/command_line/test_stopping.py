"""SIGTERM and SIGHUP end a command as Ctrl+C does: what is half-written goes, one line, a code of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from command_line.commands import Program
from command_line.stopping import StoppedError, heed_stop_signals
from foundation.files import stage_file
from foundation.folders import new_folder
from tests.loop import refused


@pytest.fixture(autouse=True)
def unheeded() -> Iterator[None]:
    """Whoever started the tests may ignore signals, as nohup and a shell's `&` do."""
    handlers: dict[int, Any] = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def working(work: Callable[[], None]) -> click.Group:
    @click.group(cls=Program)
    def program() -> None:
        pass

    program.command("work")(work)
    return program


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_what_is_half_written_goes(number: int, code: int, tmp_path: Path) -> None:
    def work() -> None:
        with new_folder(tmp_path / "out", private=True) as folder, stage_file(folder / "note") as draft:
            draft.write_text("Ana")
            os.kill(os.getpid(), number)
            signal.pause()

    refused(CliRunner().invoke(working(work), ["work"]), code, "nothing half-written")
    assert not list(tmp_path.iterdir())


def test_a_second_signal_does_not_cut_the_cleaning_up_short(tmp_path: Path) -> None:
    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        finally:
            for number in (signal.SIGTERM, signal.SIGHUP):
                os.kill(os.getpid(), number)
            (tmp_path / "cleaned").touch()

    refused(CliRunner().invoke(working(work), ["work"]), 143)
    assert (tmp_path / "cleaned").exists()


def test_afterwards_signals_are_what_they_were() -> None:
    with suppress(StoppedError), heed_stop_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with heed_stop_signals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_a_thread_it_changes_nothing() -> None:
    found = []

    def look() -> None:
        with heed_stop_signals():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]
