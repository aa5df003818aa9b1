"""What a person at the hospital types and says to a training."""

from __future__ import annotations

import http.client
import ssl
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared.errors import ConfigurationError, TrainingError
from site_client import ledger
from site_client.federated import running
from site_client.federated.control import Wish
from site_client.federated.running import Connection, begun, control_of, say, take_part
from site_client.policy.site_policy import SitePolicy
from site_client.workspace import Workspace
from tests.loop import done, hospital, refused
from tests.site_client.exchange.paired import site


@pytest.mark.parametrize(
    ("server", "host", "port"),
    [("deid.example.org:9443", "deid.example.org", 9443), ("10.0.0.7:1", "10.0.0.7", 1), ("[::1]:65535", "::1", 65535)],
)
def test_an_address_is_a_host_and_a_port(server: str, host: str, port: int) -> None:
    made = Connection.parse(server, None, 1)
    assert (made.host, made.port) == (host, port)


@pytest.mark.parametrize(
    "server", ["", "host", "host:", ":9443", "host:0", "host:65536", "host:-1", "https://host:9443", "host:9443/path"]
)
def test_any_other_is_refused(server: str) -> None:
    with pytest.raises(ConfigurationError, match="expected HOST:PORT"):
        Connection.parse(server, None, 1)


def test_a_trainer_that_has_gone_ends_what_would_wait_for_it(tmp_path: Path) -> None:
    control = control_of(site(tmp_path / "site"))
    control.say(Wish.RUN)
    ended: list[bool] = []
    node: Any = SimpleNamespace(code=None, end=lambda: ended.append(True))
    with pytest.raises(TrainingError, match="expected the trainer to go on, it has ended"):
        running._keep_node(lambda: node, lambda: False, control, tmp_path, lambda line: None)
    assert ended == [True]
    # Where the hospital wants an end, the trainer has ended for that.
    control.say(Wish.END)
    running._keep_node(lambda: node, lambda: False, control, tmp_path, lambda line: None)


@pytest.mark.parametrize("word", ["pause", "run", "end"])
def test_a_word_is_heard_and_stands_in_the_ledger(word: str, tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    with running.begun(workspace):
        done(hospital("federate", "--say", word, "--workspace", workspace.root))
        assert control_of(workspace).wish() is Wish(word)
    (entry,) = ledger.entries(workspace)
    assert entry.event == ledger.Event.FEDERATED_SAID
    assert entry.details == {"word": word}


def test_a_word_that_nobody_hears_is_told_as_that(tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    ask = ("federate", "--say", "pause", "--workspace", workspace.root)
    refused(hospital(*ask), 2, "nobody has heard it")
    with running.begun(workspace):
        assert done(hospital(*ask)).stdout == "told to pause\n"


def test_a_training_that_ends_at_once_has_heard_that_it_is_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = site(tmp_path / "site")
    training = ExitStack()
    training.enter_context(begun(workspace))
    # The log is long, or another command writes into it.
    monkeypatch.setattr(running, "record", lambda *told: training.close())
    assert say(workspace, Wish.END)


@pytest.mark.parametrize("beside", ["--patients", "--ca", "--node-key"])
def test_nothing_beside_a_word_is_passed_over(beside: str, tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    given = tmp_path / "given"
    if beside != "--node-key":
        given.write_text("note,patient\n")
    refused = hospital("federate", "--say", "pause", beside, given, "--workspace", workspace.root)
    assert refused.exit_code == 2
    assert "got several" in refused.stderr
    assert not list(ledger.entries(workspace))


def test_a_word_that_somebody_damaged_ends_a_training(tmp_path: Path) -> None:
    control = control_of(site(tmp_path / "site"))
    assert control.wish() is Wish.END
    control.say(Wish.RUN)
    (tmp_path / "site" / "federated" / "wish").write_bytes(b"\xff\xfe go on")
    assert control.wish() is Wish.END


def test_the_key_of_the_node_is_the_same_the_second_time(tmp_path: Path) -> None:
    root = site(tmp_path / "site").root
    for name in ("first.pub", "second.pub", "second.pub"):
        done(hospital("federate", "--node-key", tmp_path / name, "--workspace", root))
    assert (tmp_path / "first.pub").read_bytes() == (tmp_path / "second.pub").read_bytes()


def test_what_lacks_notes_or_a_server_is_told_what_to_give(tmp_path: Path) -> None:
    root = site(tmp_path / "site").root
    for words in ((), (tmp_path,), ("--server", "host:1")):
        refused(hospital("federate", *words, "--workspace", root), 2, "--server HOST:PORT")


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that were started, none of them Flower's."""
    started: list[str] = []

    class Node:
        code = None

        def __init__(self, *given: object) -> None:
            started.append("node")

        def end(self) -> None: ...

    flower = SimpleNamespace(
        app_digest=lambda: "ab" * 32,
        allows_app=lambda digest: lambda answer: True,
        NodeFiles=lambda folder, key, certificate, place: SimpleNamespace(socket=place),
        RunWatch=lambda *given: lambda run, node: lambda: False,
        FlowerNode=Node,
    )
    monkeypatch.setitem(sys.modules, "site_client.federated.flower.node", flower)
    monkeypatch.setattr(running, "_LOOK_S", 0.02)
    return started


CONNECTION = Connection("127.0.0.1", 9, None, 1 << 20)


def takes_part(workspace: Workspace) -> list[str]:
    notes = SimpleNamespace(notes=[1], as_shared=False, unit="note")
    trainer: Any = SimpleNamespace(notes=notes, policy=SitePolicy(federated_rounds=40))
    told: list[str] = []
    take_part(workspace, trainer, CONNECTION, told.append)
    return told


def test_an_end_that_is_said_while_notes_are_read_starts_no_node(nodes: list[str], tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    say(workspace, Wish.END)
    with begun(workspace):
        # What was said to the training before is not said to this one.
        assert control_of(workspace).wish() is Wish.RUN
        say(workspace, Wish.END)
        told = takes_part(workspace)
    assert told == ["told to end before it began"]
    assert nodes == []


def test_a_pause_that_is_said_while_notes_are_read_holds_until_another_word(nodes: list[str], tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    with begun(workspace):
        say(workspace, Wish.PAUSE)
        later = threading.Timer(1.0, say, (workspace, Wish.END))
        seen: list[Wish] = []
        looked = threading.Timer(0.5, lambda: seen.append(control_of(workspace).wish()))
        for one in (later, looked):
            one.start()
        told = takes_part(workspace)
    assert seen == [Wish.PAUSE]
    # Whoever starts it reads what leaves, and for whom the noise holds.
    assert told[1].startswith("it learns from the notes as they are")
    assert told[2].startswith("epsilon 8 holds for one note that is there or not; of a patient with several notes")


def test_ctrl_c_in_a_pause_ends_the_trainer_that_the_pause_holds(
    nodes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = site(tmp_path / "site")

    def interrupted(*given: object) -> None:
        say(workspace, Wish.PAUSE)
        time.sleep(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_keep_node", interrupted)
    with begun(workspace):
        with pytest.raises(KeyboardInterrupt):
            takes_part(workspace)
        # It was told of the end, and not only waited for.
        assert "trainer" not in [thread.name for thread in threading.enumerate()]


def test_what_fits_no_more_through_the_gate_ends_the_training(
    nodes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = site(tmp_path / "site")
    flower: Any = sys.modules["site_client.federated.flower.node"]

    class Pushes(flower.FlowerNode):  # type: ignore[misc]
        def __init__(self, files: object, port: int) -> None:
            super().__init__()
            trusted = ssl.create_default_context(cafile=workspace.root / "federated" / "gate.pem")
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusted, timeout=10)
            connection.request("POST", "/v1/fleet/push-object", bytes(CONNECTION.most_bytes + 1))
            assert connection.getresponse().status == 403
            connection.close()

    flower.FlowerNode = Pushes
    with begun(workspace):
        told = takes_part(workspace)
        assert control_of(workspace).wish() is Wish.END
    assert nodes == ["node"]
    assert told[-1].startswith("no more bytes may leave (--most-mb): the training ends")
