"""What is signed and no more true, or not signed for this hospital."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace

from aggregator.repository.tuf_repository import NewRelease, utc_now
from aggregator.workspace import create, open_workspace
from bench.attack.release import SITE, Lie, drafted, publish
from bench.attack.world import World, hospital, require
from protocols.release.repository import LATEST, latest_bytes
from shared.constructions.files import RECORD

_LONG = datetime.timedelta(days=400)


def _sign_a_second(world: World) -> None:
    """An honest second release, which the hospital takes."""
    with drafted(world) as draft:
        draft.sign(2)
    require(hospital("pull", world.releases, "--workspace", world.site(SITE)))


def serve_the_metadata_of_before(world: World) -> None:
    """The whole repository as it was before the second release."""
    before = shutil.copytree(world.releases, world.root / "before")
    _sign_a_second(world)
    shutil.rmtree(world.releases)
    before.rename(world.releases)


def name_the_older_release_the_latest(world: World) -> None:
    """New metadata, which name the first release the latest."""
    _sign_a_second(world)
    central = open_workspace(world.provider)
    central.repository().publish({LATEST: latest_bytes("0001-representer")})


def sign_a_second_of_one_number(world: World) -> None:
    """Another release under the number of the one in use: a pipeline, for names must differ."""
    with drafted(world) as draft:
        draft.sign(1, "pipeline")


def sign_with_a_clock_ahead(world: World) -> None:
    """Metadata of a year to come, which would never run out."""
    _sign_at(world, utc_now() + _LONG)


def serve_what_ran_out(world: World) -> None:
    """Metadata of a year ago, newer than those seen."""
    _sign_at(world, utc_now() - _LONG)


def _sign_at(world: World, moment: datetime.datetime) -> None:
    repository = replace(open_workspace(world.provider).repository(), now=lambda: moment)
    with drafted(world) as draft:
        draft.sign()
    repository.refresh(with_offline=True, renewed=["0002-representer"])


def serve_another_provider(world: World) -> None:
    """The repository of another provider in the place of the known one."""
    other = create(world.root / "other", "other", "i2b2_2014")
    with drafted(world) as draft:
        draft.sign()
        folder = shutil.copytree(draft.folder, world.root / "theirs")
    names = tuple(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    publish(other, NewRelease("0001-representer", folder, names))
    shutil.rmtree(world.releases)
    other.repository().folder.rename(world.releases)


def change_a_file_after_it_was_signed(world: World) -> None:
    """Another record of the training under the name of the one that was signed."""
    with drafted(world) as draft:
        draft.sign()
    [path] = (world.releases / "targets" / "0002-representer").glob(f"*.{RECORD}")
    path.write_bytes(path.read_bytes().replace(b"surrogates", b"Surrogates"))


def keep_it_out_of_the_log(world: World) -> None:
    """A release for this hospital alone, of which the log of releases says nothing."""
    with drafted(world) as draft:
        draft.sign(logged=False)


def sign_by_the_online_keys_alone(world: World) -> None:
    """The keys of targets are not at hand: a release of somebody who took over the server."""
    with drafted(world) as draft:
        draft.sign()
    [path] = (world.releases / "metadata").glob("*.0002-representer.json")
    signed = json.loads(path.read_bytes())
    for signature in signed["signatures"]:
        signature["sig"] = "00" * 64
    path.write_text(json.dumps(signed))


LIES: Mapping[str, Lie] = {
    "older metadata of the repository": serve_the_metadata_of_before,
    "an older release, named the latest": name_the_older_release_the_latest,
    "a second release under the number of the one in use": sign_a_second_of_one_number,
    "a release that the log of releases does not name": keep_it_out_of_the_log,
    "metadata that ran out": serve_what_ran_out,
    "metadata of a year to come": sign_with_a_clock_ahead,
    "the repository of another provider": serve_another_provider,
    "a file changed after it was signed": change_a_file_after_it_was_signed,
    "a release that the keys of releases did not sign": sign_by_the_online_keys_alone,
}
