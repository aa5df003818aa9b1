"""The units: systemd reads them, they may do little, and what they start exists."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.release import units
from tests.expected import do_without
from tests.test_documented_commands import parsed

SERVICES = units.services()
EXAMPLE = units.UNITS / "provider.env.example"
TIMERS = sorted(units.UNITS.glob("*.timer"))

each = pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def systemd() -> None:
    if shutil.which("systemd-analyze") is None:
        do_without("systemd", "systemd-analyze is not installed")


def values(unit: Path, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)


@each
@pytest.mark.usefixtures("systemd")
def test_it_is_exposed_to_little(unit: Path) -> None:
    assert units.exposure(unit) <= units.MOST


@pytest.mark.usefixtures("systemd")
def test_a_unit_without_hardening_is_exposed_to_much(tmp_path: Path) -> None:
    bare = tmp_path / "bare.service"
    bare.write_text("[Service]\nExecStart=/bin/true\n")
    assert units.exposure(bare) > 8


@pytest.mark.usefixtures("systemd")
def test_systemd_reads_them_all(tmp_path: Path) -> None:
    for path in (*SERVICES, *TIMERS):
        # The programs are not installed here.
        text = re.sub(r"/opt/deid-commons/bin/[\w-]+", "/bin/true", path.read_text(encoding="utf-8"))
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    about_ours = [line for line in done.stderr.splitlines() if "deid-" in line or str(tmp_path) in line]
    assert about_ours == []


@each
def test_it_starts_a_command_that_there_is_as_somebody_without_rights(unit: Path) -> None:
    (line,) = values(unit, "ExecStart")
    # Options that the example of the environment shows.
    (more,) = re.findall(r"^# DEID_COMMONS_SERVE=(.*)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
    parsed(line.removeprefix("/opt/deid-commons/bin/").replace("$DEID_COMMONS_SERVE", more))
    assert values(unit, "User") == ["deid"]
    # What stands in a unit or in an environment file is read by all.
    assert not re.search(r"(?i)password=|passphrase=[^%]*$", unit.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_address_of_the_example_is_that_at_which_the_server_listens() -> None:
    (port,) = re.findall(r"--port (\d+)", (units.UNITS / "deid-serve.service").read_text(encoding="utf-8"))
    (address,) = values(EXAMPLE, "DEID_COMMONS_ADDRESS")
    assert urlsplit(address).port == int(port)


def test_a_renewed_certificate_is_read_where_it_was_renewed() -> None:
    """What `LoadCredential=` hands over is a copy of when the service started."""
    unit = units.UNITS / "deid-serve.service"
    assert values(unit, "ExecReload") == ["/bin/kill -HUP $MAINPID"]
    (line,) = values(unit, "ExecStart")
    assert not re.search(r"--(certificate|key) %d", line)


def test_every_timer_has_its_service_and_a_day() -> None:
    for timer in TIMERS:
        assert timer.with_suffix(".service") in SERVICES
        assert values(timer, "OnCalendar")
        assert values(timer, "Persistent") == ["true"]


@pytest.mark.usefixtures("systemd")
@pytest.mark.parametrize("timer", TIMERS, ids=lambda path: path.stem)
def test_systemd_knows_when(timer: Path) -> None:
    subprocess.run(["systemd-analyze", "calendar", *values(timer, "OnCalendar")], capture_output=True, check=True)
