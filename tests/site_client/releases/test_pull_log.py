"""A provider that shows two hospitals different releases, or one hospital another past, one test an attack."""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foundation.errors import StorageError
from protocols.errors import BoundsError, DigestError, SchemaError, SignatureError, UnknownSignerError
from protocols.keys.signing import PrivateKey
from protocols.log.checkpoint import LOG, LogHead, log_origin, read_checkpoint
from protocols.log.entry import ReleaseEntry
from protocols.release.repository import PROVIDER
from protocols.share.receipt import Receipt, ReceiptState
from site_client import ledger, workspace
from site_client.errors import ForkError, PolicyError
from site_client.exchange import receipts
from site_client.ledger import Event
from site_client.policy.site_policy import SitePolicy
from site_client.policy.stored import set_policy
from site_client.release_log import Relation, code_in_use, compare_log, require_shown
from site_client.releases import pull as module
from site_client.releases.pull import pull
from site_client.workspace import Workspace, open_workspace
from tests.facts import examined
from tests.loop import done, hospital, refused, values
from tests.protocols.log.naive import consistent, mth
from tests.release_repositories import KEY, RECORD, LoggedPublisher, Publisher

Join = Callable[[str, Publisher], Workspace]
OTHER = PrivateKey.from_seed(bytes(32))


@pytest.fixture(autouse=True)
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The releases here hold no models."""
    monkeypatch.setattr(module, "load_construction", lambda folder: None)
    monkeypatch.setattr(module, "check_record", lambda construction, path: None)
    monkeypatch.setattr(module, "load_head", lambda folder: None)
    monkeypatch.setattr(module, "Pipeline", lambda construction, head, stated: None)
    monkeypatch.setattr(module, "examine", examined)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> LoggedPublisher:
    """With releases 1 and 2; nobody may change it."""
    made = LoggedPublisher(tmp_path_factory.mktemp("published") / "provider")
    made.publish()
    made.publish("[2]")
    return made


@pytest.fixture
def publisher(published: LoggedPublisher, tmp_path: Path) -> LoggedPublisher:
    return published.copy(tmp_path / "provider")


@pytest.fixture
def join(tmp_path: Path) -> Join:
    """Makes a hospital that pulls from a provider."""

    def made(name: str, publisher: Publisher) -> Workspace:
        return pull(workspace.create(tmp_path / name, name), str(publisher.folder), publisher.fingerprint)[0]

    return made


def entries(publisher: LoggedPublisher) -> list[bytes]:
    """An honest log of all its releases."""
    return [publisher.entry(name).to_bytes() for name in publisher.repository.release_names()]


def forked(publisher: LoggedPublisher, root: Path) -> LoggedPublisher:
    """The provider's second face: the same until now, with metadata that pass for newer ones."""
    copy = publisher.copy(root)
    copy.repository.refresh(with_offline=False)
    return copy


def heads(site: Workspace) -> list[tuple[str, Any]]:
    return [(one.event, one.details["release_log"]) for one in ledger.entries(site) if "release_log" in one.details]


def refuses(
    site: Workspace, source: Publisher, error: type[Exception] = ForkError, words: str = "log of the releases"
) -> str:
    """The line with which a pull is refused; the release in use stays."""
    before = open_workspace(site.root).current
    with pytest.raises(error, match=words) as caught:
        pull(open_workspace(site.root), str(source.folder))
    assert open_workspace(site.root).current == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def evidence(site: Workspace) -> dict[str, Any]:
    [path] = (site.root / LOG).glob("fork-*.json")
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def test_a_pull_writes_down_release_and_head(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    root = mth(entries(publisher)).hex()
    assert heads(site) == [(Event.RELEASE_LOG_SEEN, {"root": root, "size": 2})]
    shown = require_shown(site)
    assert site.current is not None
    assert shown.release == site.current.digest
    assert (publisher.folder / LOG / "checkpoint").read_bytes() == shown.note
    # A pull that brings nothing new writes nothing down.
    pull(site)
    assert len(heads(site)) == 1
    publisher.publish("[3]")
    pull(open_workspace(site.root))
    assert [head["size"] for _, head in heads(site)] == [2, 3]


def test_hospitals_that_are_shown_the_same_have_the_same_code(publisher: LoggedPublisher, join: Join) -> None:
    one, other = join("st-anne", publisher), join("st-ben", publisher)
    assert code_in_use(one) == code_in_use(other)
    code = values(hospital("release-code", "--workspace", one.root, "--json"))["code"]
    assert code == values(hospital("pull", "--workspace", other.root, "--json"))["release_code"]
    assert done(hospital("release-code", "--compare", code.upper(), "--workspace", other.root)).stdout == "the same\n"
    publisher.publish("[3]")
    pull(one)
    refused(hospital("release-code", "--compare", code, "--workspace", one.root), 36, "log compare")


def test_two_hospitals_that_are_shown_different_releases_find_out(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    """Nothing is amiss at either alone: signatures, log and releases are sound. Together they see it, and can show it."""
    face = publisher.copy(tmp_path / "face")
    publisher.publish("[3]")
    face.publish("[4]")
    one, other = join("st-anne", publisher), join("st-ben", face)
    assert code_in_use(one) != code_in_use(other)
    note = tmp_path / "st-anne.checkpoint"
    exported = values(hospital("log", "export", note, "--workspace", one.root, "--json"))
    assert exported["origin"] == log_origin(publisher.fingerprint)
    refused(hospital("log", "compare", note, "--workspace", other.root), 36, "3 releases", "telephone")
    found = evidence(other)
    # Two heads of one size, both signed by the provider.
    seen, shown = (
        read_checkpoint(text.encode(), exported["origin"], [KEY.public_key])
        for text in (found["seen"]["checkpoint"], found["shown"])
    )
    assert seen.head.size == shown.head.size == 3
    assert seen.head.root != shown.head.root
    # And it stays refused.
    face.publish("[5]")
    refuses(other, face)


def test_another_release_for_one_hospital_is_refused_by_it_later(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    face = forked(publisher, tmp_path / "face")
    publisher.publish("[3]")
    site = join("st-anne", publisher)
    face.publish("[other]")
    face.publish("[4]")
    refuses(site, face, words="the 3 releases that were shown")
    found = evidence(site)
    # Whoever has the provider's key alone can see it: the newer log, by its own proof, had another past.
    origin = log_origin(publisher.fingerprint)
    seen = read_checkpoint(found["seen"]["checkpoint"].encode(), origin, [KEY.public_key]).head
    shown = read_checkpoint(found["shown"].encode(), origin, [KEY.public_key]).head
    then, proof = bytes.fromhex(found["root_then"]), [bytes.fromhex(one) for one in found["proof"]]
    assert consistent(seen.size, shown.size, then, bytes.fromhex(shown.root), proof)
    assert then.hex() != seen.root


def test_a_rewritten_past_is_refused(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    publisher.publish("[3]")
    first, *others = entries(publisher)
    publisher.state([ReleaseEntry(1, "representer", "ab" * 32).to_bytes(), *others])
    refuses(site, publisher, words="the 2 releases that were shown")
    assert first not in others


def test_a_log_that_became_shorter_is_refused(publisher: LoggedPublisher, join: Join) -> None:
    publisher.publish("[3]")
    site = join("st-anne", publisher)
    publisher.state(entries(publisher)[:2])
    refuses(site, publisher, words="at least 3 releases")
    assert evidence(site)["seen"]["release_log"]["size"] == 3


def test_a_log_that_went_away_is_refused(publisher: LoggedPublisher, join: Join, tmp_path: Path) -> None:
    site = join("st-anne", publisher)
    without = Publisher(publisher.copy(tmp_path / "face").root)
    without.repository.publish({})
    without.forge("targets", lambda targets: targets.targets.pop("log/checkpoint"))
    without.forge_upwards(without.metadata("targets"))
    refuses(site, without, words="got none")


def test_releases_of_before_have_no_log_and_are_taken_with_a_word(join: Join, tmp_path: Path) -> None:
    old = Publisher(tmp_path / "old")
    old.publish()
    told: list[str] = []
    site = workspace.create(tmp_path / "site", "st-anne")
    pull(site, str(old.folder), old.fingerprint, tell=told.append)
    assert told == [
        "these releases have no public log yet, so nobody can see whether other hospitals are shown the same"
    ]
    assert heads(site) == []
    assert len(code_in_use(open_workspace(site.root)).split("-")) == 8
    # The provider's next version lists what was before, too.
    newer = LoggedPublisher(old.root)
    newer.publish("[2]")
    pull(open_workspace(site.root))
    assert [head["size"] for _, head in heads(site)] == [2]


def test_two_releases_of_one_number_in_one_log_are_seen(publisher: LoggedPublisher, join: Join) -> None:
    """Both hospitals would hold the same checkpoint; but a number has one place in the log."""
    site = join("st-anne", publisher)
    publisher.publish("[3]")
    *others, third = entries(publisher)
    publisher.state([*others, ReleaseEntry(3, "representer", "ab" * 32).to_bytes(), third])
    refuses(site, publisher, words="release 3 in it")
    assert evidence(site)["shown_release"] == publisher.entry("0003-representer").digest


def test_a_release_that_is_not_in_the_log_is_refused(publisher: LoggedPublisher, join: Join) -> None:
    publisher.publish("[3]")
    publisher.state(entries(publisher)[:2])
    with pytest.raises(ForkError, match="release 3 in it"):
        join("st-anne", publisher)


def test_an_older_release_is_not_taken_for_the_newest(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    publisher.publish("[3]")
    publisher.state(entries(publisher), latest="0002-representer")
    refuses(site, publisher, words="release 3 as the newest, not 2")


def test_a_pipeline_beside_the_release_stands_in_the_log_too(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    publisher.publish(kind="pipeline")
    publisher.publish("[4]")
    first, second, _, fourth = entries(publisher)
    publisher.state([first, second, ReleaseEntry(3, "pipeline", "ab" * 32).to_bytes(), fourth])
    told: list[str] = []
    pull(site, tell=told.append)
    assert open_workspace(site.root).pipeline is None
    assert "release 3 in it" in told[0]


@pytest.mark.parametrize("key", [OTHER, KEY])
def test_a_checkpoint_of_another_log_or_key_is_refused(key: PrivateKey, publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    if key is KEY:
        publisher.state(entries(publisher), origin=log_origin("ffff-" * 7 + "ffff"))
        refuses(site, publisher, SchemaError, "another log")
    else:
        publisher.state(entries(publisher), key=OTHER)
        refuses(site, publisher, UnknownSignerError, "counts today")


def test_a_checkpoint_that_no_metadata_name_is_not_looked_at(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    """Who has the provider's signing key, and not the offline keys, can sign checkpoints; no site asks for them."""
    site = join("st-anne", publisher)
    stolen = publisher.copy(tmp_path / "thief")
    stolen.state([ReleaseEntry(1, "representer", "ab" * 32).to_bytes()] * 2)
    (publisher.folder / LOG / "checkpoint").write_bytes((stolen.folder / LOG / "checkpoint").read_bytes())
    pull(site)
    assert len(heads(site)) == 1


def test_a_tile_that_was_swapped_is_refused_and_taken_for_no_fork(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    publisher.publish("[3]")
    tile = publisher.folder / LOG / "tile/0/000.p/3"
    good = tile.read_bytes()
    for changed in (
        good[32:64] + good[:32] + good[64:],
        bytes(32) + good[32:],
        good[:64] + bytes(32),
    ):
        tile.write_bytes(changed)
        refuses(site, publisher, DigestError, "tiles of the signed checkpoint")
    tile.write_bytes(good[:-1])
    refuses(site, publisher, DigestError, "96 bytes")
    tile.write_bytes(good + b"x" * 9000)
    refuses(site, publisher, BoundsError, "size")
    tile.unlink()
    refuses(site, publisher, StorageError, "no such file")
    assert not list((site.root / LOG).glob("fork-*"))
    tile.write_bytes(good)
    assert pull(open_workspace(site.root))[1].manifest.sequence == 3


def test_a_new_key_of_the_provider_signs_the_log(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    tomorrow = datetime.date.today() + datetime.timedelta(days=1)
    record = type(RECORD)(
        RECORD.name, OTHER.public_key, RECORD.recipient, "", RECORD.valid_until, ((KEY.public_key, tomorrow),)
    )
    publisher.state(entries(publisher), key=OTHER)
    publisher.repository.publish({PROVIDER: record.to_bytes()})
    pull(site)
    assert [head["size"] for _, head in heads(site)] == [2, 2]


def test_a_provider_whose_record_has_run_out_is_pulled_from_still(publisher: LoggedPublisher, join: Join) -> None:
    """The metadata, which have not, vouch for the checkpoint; and another hospital, which has pulled before, is no liar."""
    site = join("st-anne", publisher)
    note = require_shown(site).note
    yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
    publisher.repository.publish({PROVIDER: replace(RECORD, valid_until=yesterday).to_bytes()})
    over, _ = pull(site)
    assert over.pinned_provider().valid_until == yesterday
    assert compare_log(over, note)[0] == Relation.SAME


def test_what_was_seen_stays_seen_where_the_pull_is_refused(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    site = join("st-anne", publisher)
    face = forked(publisher, tmp_path / "face")
    publisher.publish("[3]")
    set_policy(site, SitePolicy(least_cluster=1 << 20))
    refuses(site, publisher, PolicyError, "cluster size")
    assert heads(site)[-1][1]["size"] == 3
    face.publish("[4]")
    face.publish("[5]")
    refuses(site, face)


def test_the_checkpoints_of_hospitals_that_pulled_earlier_or_later(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    one, other = join("st-anne", publisher), join("st-ben", publisher)
    earlier = require_shown(one).note
    face = forked(publisher, tmp_path / "face")
    publisher.publish("[3]")
    pull(one)
    later = require_shown(open_workspace(one.root)).note
    assert compare_log(one, earlier) == (Relation.EARLIER, require_shown(other).head)
    assert compare_log(one, later)[0] == Relation.SAME
    assert compare_log(other, later)[0] == Relation.LATER
    # It is remembered: another release 3 is refused, the one that the other hospital has is taken.
    face.publish("[4]")
    refuses(other, face, words="the 3 releases")
    publisher.repository.refresh(with_offline=False)
    publisher.repository.refresh(with_offline=False)
    pull(open_workspace(other.root), str(publisher.folder))
    assert code_in_use(open_workspace(other.root)) == code_in_use(open_workspace(one.root))


def test_what_another_hospital_gives_must_be_signed_by_the_provider(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    note = require_shown(site).note
    with pytest.raises(SignatureError):
        compare_log(site, note.replace(b"\n2\n", b"\nx\n"))
    assert len(heads(site)) == 1
    publisher.state(entries(publisher), key=OTHER)
    with pytest.raises(UnknownSignerError):
        compare_log(site, (publisher.folder / LOG / "checkpoint").read_bytes())


def test_a_checkpoint_with_signatures_of_many_others_is_written_down_without_them(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    """A post-quantum one has 3 KB, and an entry of the ledger holds 16."""
    plain = (publisher.folder / LOG / "checkpoint").read_bytes()
    value = base64.b64encode(bytes(3000)).decode()
    witnesses = "".join(f"— witness-{number} {value}\n" for number in range(8)).encode()
    publisher.state(entries(publisher), witnesses=witnesses)
    one, other = join("st-anne", publisher), join("st-ben", publisher)
    assert require_shown(one).note == plain
    assert compare_log(one, plain + witnesses)[0] == Relation.SAME
    publisher.publish("[3]")
    publisher.state(entries(publisher), witnesses=witnesses)
    later = (publisher.folder / LOG / "checkpoint").read_bytes()
    pull(one)
    assert compare_log(other, require_shown(open_workspace(one.root)).note + witnesses)[0] == Relation.LATER
    assert heads(other)[-1][0] == Event.RELEASE_LOG_COMPARED
    pull(open_workspace(other.root))
    assert len(later) > 4096
    # What is kept is what a stranger can verify.
    kept = [entry.details["checkpoint"] for entry in ledger.entries(other) if "checkpoint" in entry.details]
    for note in kept:
        read_checkpoint(str(note).encode(), log_origin(publisher.fingerprint), [KEY.public_key])


def receipt(site: Workspace, head: LogHead, newest: str = "cd" * 32, log_head: str = "ee" * 32) -> bytes:
    if all(one.event != Event.SUBMITTED for one in ledger.entries(site)):
        ledger.record(site, Event.SUBMITTED, {"sequence": 1})
    day = datetime.date.today()
    stated = Receipt(site.site, 1, "ab" * 32, "cd" * 32, ReceiptState.ACCEPTED, "", day, log_head, newest, head)
    return stated.to_bytes(KEY)


def test_a_receipt_that_states_other_releases_is_kept_and_refused(
    publisher: LoggedPublisher, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "_left", lambda site, receipt: "cd" * 32)
    site = join("st-anne", publisher)
    shown = require_shown(site)
    receipts.take_receipt(site, receipt(site, shown.head, shown.release))
    # It says so of a log that was not pulled yet: the next pull is held against it.
    receipts.take_receipt(site, receipt(site, LogHead(3, "12" * 32), log_head="aa" * 32))
    assert [event for event, _ in heads(site)] == [Event.RELEASE_LOG_SEEN, Event.RECEIPT, Event.RECEIPT]
    publisher.publish("[3]")
    refuses(site, publisher, words="the 3 releases that were shown")


@pytest.mark.parametrize("way", ["receipt", "compare"])
def test_attack_two_heads_of_a_size_that_was_not_pulled_yet_show_a_fork(
    way: str, publisher: LoggedPublisher, join: Join, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A source that is frozen shows no log that long, and the two heads need none."""
    monkeypatch.setattr(receipts, "_left", lambda site, receipt: "cd" * 32)
    site = join("st-anne", publisher)
    receipts.take_receipt(site, receipt(site, LogHead(3, "12" * 32)))
    face = publisher.copy(tmp_path / "face")
    face.publish("[3]")
    take: Callable[[Workspace, bytes], object] = receipts.take_receipt if way == "receipt" else compare_log
    other_head = {
        "receipt": receipt(site, LogHead(3, "34" * 32), log_head="aa" * 32),
        "compare": (face.folder / LOG / "checkpoint").read_bytes(),
    }[way]
    with pytest.raises(ForkError, match=r"the 3 releases that were stated on .*, got another past of 3 releases"):
        take(site, other_head)
    found = evidence(site)
    one, other = found["seen"]["release_log"], found["other"]["release_log"]
    assert one["size"] == other["size"] == 3
    assert one["root"] != other["root"]
    # And nothing is taken from then on.
    refuses(site, publisher, words="the 3 releases that were stated")


@pytest.mark.parametrize("way", ["receipt", "compare"])
def test_a_source_that_shows_less_than_the_provider_has_stated_is_told(
    way: str, publisher: LoggedPublisher, join: Join, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(receipts, "_left", lambda site, receipt: "cd" * 32)
    site, face = join("st-anne", publisher), forked(publisher, tmp_path / "face")
    for text in ("[3]", "[4]"):
        face.publish(text)
        head = face.folder / LOG / "checkpoint"
        stated = read_checkpoint(head.read_bytes(), log_origin(publisher.fingerprint), [KEY.public_key]).head
        if way == "receipt":
            newest = face.entry(face.repository.release_names()[-1]).digest
            receipts.take_receipt(site, receipt(site, stated, newest, log_head=stated.root))
        else:
            compare_log(site, head.read_bytes())
    told: list[str] = []
    pull(site, tell=told.append)
    day = datetime.datetime.now(datetime.UTC).date()
    assert told == [f"the provider has stated 4 releases on {day}, this source shows 2: ask for a newer one"]
    told.clear()
    pull(open_workspace(site.root), str(face.folder), tell=told.append)
    assert told == []


@pytest.mark.parametrize("other", ["root", "release", "past"])
def test_a_receipt_of_another_log_is_recorded_and_told(
    other: str, publisher: LoggedPublisher, join: Join, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(receipts, "_left", lambda site, receipt: "cd" * 32)
    site = join("st-anne", publisher)
    shown = require_shown(site)
    stated = {
        "root": receipt(site, LogHead(2, "12" * 32), shown.release),
        "release": receipt(site, shown.head, "12" * 32),
        "past": receipt(site, LogHead(1, "12" * 32)),
    }[other]
    for _ in range(2):
        with pytest.raises(ForkError):
            receipts.take_receipt(site, stated)
    stick = tmp_path / "stick"
    stick.mkdir()
    for name, data in (("a", b"{}"), ("b", stated), ("c", b"{}")):
        (stick / f"{name}.receipt.json").write_bytes(data)
    # Of all that can't be taken it is the one that is told.
    with pytest.raises(ForkError):
        receipts.take_receipts(site, stick)
    assert [event for event, _ in heads(site)] == [Event.RELEASE_LOG_SEEN, Event.RECEIPT]
    assert len(list((site.root / "receipts").iterdir())) == 1
    assert evidence(site)["seen"]["event"] == Event.RECEIPT
