"""The intake with its registry on a real PostgreSQL, which may be stopped, crash, or end its connections in the middle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.exchange.postgres import Postgres
from bench.exchange.world import World, build
from bench.faults import intake
from bench.faults.intake import Scenario, Subject
from bench.faults.interruptions import run_undisturbed
from foundation.files import write_text

_DISTURBED = "disturbed"


def subject(scenario: Scenario, folder: Path, server: Postgres) -> Subject[World]:
    """A scenario with its world made ready below a folder, and in a database of its own."""
    database = scenario.name.replace("-", "_")
    template = build(folder / f"{scenario.name}-postgresql", database=server.copy_database(database))
    # In a process of its own, which takes its connections with it: nobody may be connected to what is copied.
    prepared = run_undisturbed(lambda: str(scenario.prepare(template)).encode())
    if prepared.said is None:
        raise RuntimeError(f"{scenario.name}: expected a world that can be made ready, got {prepared.error}")
    copied = partial(copy_world, template, folder, server, database)
    return replace(intake.subject_of(scenario, template, folder), name=f"{scenario.name}, on PostgreSQL", copied=copied)


@contextmanager
def copy_world(template: World, folder: Path, server: Postgres, database: str) -> Iterator[World]:
    """A world that may be disturbed, with its database."""
    with intake.copy_world(template, folder) as world:
        settings = world.provider / "aggregator.json"
        known = json.loads(settings.read_text(encoding="utf-8"))
        url = server.copy_database(_DISTURBED, database)
        write_text(settings, json.dumps(known | {"database": url}), private=False)
        try:
            yield world
        finally:
            server.drop_database(_DISTURBED)
