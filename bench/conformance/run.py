"""`python -m bench.conformance [--record]`: the suites of others against our own client and functions; prints what they said.

A suite that can't be had here is left out, with one line. --record writes the counts into docs/results/gate.json.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.conformance import tuf_suite, wycheproof
from bench.conformance.sources import Suite, obtain_suite
from bench.results import Entry, record
from shared.errors import ConfigurationError

_COMMAND = "make conformance"
TUF = Suite(
    "TUF conformance", "TUF_CONFORMANCE", "https://github.com/theupdateframework/tuf-conformance", tuf_suite.COMMIT
)
WYCHEPROOF = Suite("Wycheproof", "WYCHEPROOF", "https://github.com/C2SP/wycheproof", wycheproof.COMMIT)


def main(arguments: Sequence[str]) -> int:
    """Runs both; 1 if anything failed that is not so on purpose."""
    failed = False
    entries: list[Entry] = []
    with tempfile.TemporaryDirectory() as place:
        for suite, run in ((WYCHEPROOF, _run_wycheproof), (TUF, _run_tuf)):
            found = obtain_suite(suite, Path(place) / suite.variable.lower())
            if found is None:
                print(f"{suite.title}: left out, it can't be fetched here; name a checkout in {suite.variable}")
                continue
            made, sound = run(found, Path(place))
            entries += made
            failed = failed or not sound
    if "--record" in arguments and entries:
        record("gate", entries)
    return int(failed)


def _run_wycheproof(folder: Path, scratch: Path) -> tuple[list[Entry], bool]:
    """One entry for each algorithm, and whether all vectors passed."""
    try:
        outcomes = wycheproof.run_wycheproof(folder)
    except ConfigurationError as error:
        print(f"Wycheproof: {error}")
        return [], False
    for one in outcomes:
        print(f"Wycheproof {one.name}: {one.passed} of {one.run} passed, {one.left_out} not ours, failed: {one.failed}")
    return [_wycheproof_entry(one) for one in outcomes], not any(one.failed for one in outcomes)


def _wycheproof_entry(outcome: wycheproof.Outcome) -> Entry:
    note = f"of {outcome.run} vectors through our own functions"
    if outcome.left_out:
        note += f"; {outcome.left_out} about nonces of another length, which our stream never makes, are left out"
    return Entry(
        measure=f"Wycheproof, {outcome.name}: vectors that did not come out as they should",
        value=len(outcome.failed),
        target=0,
        direction="<=",
        unit="vectors",
        interval=None,
        seeds=1,
        data=f"C2SP/wycheproof {wycheproof.COMMIT[:12]}",
        command=_COMMAND,
        note=note,
    )


def _run_tuf(folder: Path, scratch: Path) -> tuple[list[Entry], bool]:
    """The entries, and whether all tests passed but those that ours fails on purpose."""
    try:
        said = tuf_suite.run_tuf_suite(folder, scratch)
    except ConfigurationError as error:
        print(f"TUF conformance: {error}")
        return [], False
    print(f"TUF conformance: {len(said.passed)} of {said.run} passed")
    for name in said.on_purpose:
        print(f"  otherwise on purpose: {name}: {tuf_suite.ON_PURPOSE[name]}")
    for name in said.failed:
        print(f"  FAILED: {name}")
    data = f"theupdateframework/tuf-conformance {tuf_suite.COMMIT[:12]}"
    note = f"of {said.run}; {len(said.on_purpose)} otherwise on purpose: " + "; ".join(
        f"{name} ({tuf_suite.ON_PURPOSE[name]})" for name in said.on_purpose
    )
    passed = Entry("TUF conformance: tests passed", len(said.passed), None, "", "tests", None, 1, data, _COMMAND, note)
    unexplained = Entry(
        "TUF conformance: tests failed that are not so on purpose",
        len(said.failed),
        0,
        "<=",
        "tests",
        None,
        1,
        data,
        _COMMAND,
    )
    return [passed, unexplained], not said.failed
