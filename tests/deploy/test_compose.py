"""The compose files, read by Docker's own reader of them, and the proxy's configuration, read by a parser of nginx's."""

from __future__ import annotations

import ipaddress
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import crossplane
import pytest

from aggregator.objects import S3Store, open_store
from aggregator.registry import database_url
from protocols.http import messages
from tests.test_documented_commands import parsed

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "deploy" / "compose"
NAMES = ("provider", "site")
SET = {"DEID_COMMONS_VERSION": "1.0.0", "DEID_COMMONS_HOST": "deid.example.org"}
# Made by the container files of the checkout, and pinned by the wheels in them.
OWN = re.compile(r"deid-commons/(aggregator|site-client):\d+\.\d+\.\d+")


def read(name: str, **changed: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [
        Path(sys.executable).parent / "docker-compose",
        "--file",
        COMPOSE / f"{name}.compose.yaml",
        "--profile",
        "*",
    ]
    return subprocess.run(
        [*command, "config", "--format", "json"],
        capture_output=True,
        text=True,
        env=SET | {"PATH": ""} | changed,
        check=False,
    )


@pytest.fixture(scope="module", params=NAMES)
def services(request: pytest.FixtureRequest) -> dict[str, Any]:
    done = read(request.param)
    # The package that brings it along hands no exit code on: what it refuses has no output.
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["services"]
    return found


def test_every_service_is_read_only_without_rights_and_within_bounds(services: dict[str, Any]) -> None:
    for name, one in services.items():
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"], name
        assert int(one["mem_limit"]) > 0, name
        assert one["pids_limit"] > 0, name
        assert name == "proxy" or int(one["user"].partition(":")[0]) > 0, name
        assert not one.get("privileged"), name


def test_every_image_is_pinned(services: dict[str, Any]) -> None:
    for name, one in services.items():
        assert OWN.fullmatch(one["image"]) or re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", one["image"]), name


def test_no_secret_stands_in_a_file_or_in_an_environment(services: dict[str, Any]) -> None:
    for name, one in services.items():
        for variable, value in (one.get("environment") or {}).items():
            secret = re.search("PASS|SECRET|KEY|CREDENTIAL|ROOT_USER", variable)
            assert not secret or value.startswith("/run/secrets/"), (name, variable)
    assert not list(COMPOSE.rglob("secrets"))


def test_what_must_be_set_is_asked_for() -> None:
    done = read("provider", DEID_COMMONS_HOST="")
    assert not done.stdout
    assert "the name that hospitals know" in done.stderr


def test_only_the_proxy_is_to_be_reached_from_outside() -> None:
    found = json.loads(read("provider").stdout)
    assert [name for name, one in found["services"].items() if one.get("ports")] == ["proxy"]
    assert found["networks"]["inside"]["internal"] is True
    assert {name for name, one in found["services"].items() if "outside" in one["networks"]} == {"proxy"}


def test_nothing_is_given_the_address_that_the_server_believes() -> None:
    """A service that took the proxy's first would be believed about who calls, and keep the proxy from starting."""
    found = json.loads(read("provider").stdout)
    (given,) = found["networks"]["inside"]["ipam"]["config"]
    fixed = {
        one["networks"]["inside"]["ipv4_address"]
        for one in found["services"].values()
        if (one["networks"]["inside"] or {})
    }
    assert {f"--trusted-proxy={address}" for address in fixed} <= set(found["services"]["server"]["command"])
    for address in map(ipaddress.ip_address, fixed):
        assert address in ipaddress.ip_network(given["subnet"])
        assert address not in ipaddress.ip_network(given["ip_range"])


def test_what_is_spooled_lies_on_a_disk() -> None:
    services = json.loads(read("provider").stdout)["services"]
    for name in ("server", "refresh"):
        volumes = {volume["target"]: volume["type"] for volume in services[name]["volumes"]}
        assert volumes[services[name]["environment"]["TMPDIR"]] == "volume"


def test_only_the_round_sees_what_was_brought_on_a_stick() -> None:
    services = json.loads(read("provider").stdout)["services"]
    seeing = {
        name for name, one in services.items() if any(v["target"] == "/srv/inbox" for v in one.get("volumes", []))
    }
    assert seeing == {"refresh"}


def test_what_reads_notes_has_no_network_and_what_has_a_network_no_notes() -> None:
    for name, one in json.loads(read("site").stdout)["services"].items():
        notes = any(volume["target"] == "/notes" for volume in one["volumes"])
        assert notes == (one.get("network_mode") == "none"), name


def test_what_has_a_network_sees_nothing_that_is_made_of_notes_but_what_may_be_submitted() -> None:
    found = json.loads(read("site").stdout)["services"]
    mounts = {
        name: {volume["source"]: volume.get("read_only", False) for volume in one["volumes"]}
        for name, one in found.items()
    }
    connected = [name for name, one in found.items() if one.get("network_mode") != "none"]
    assert connected == ["exchange"]
    kept = {"workspace"} | {source for source in mounts["exchange"] if source.endswith("/outbox")}
    assert set(mounts["exchange"]) == kept
    assert len(kept) == 2
    assert all(only_read for source, only_read in mounts["exchange"].items() if source != "workspace")
    # What is written by who reads notes lies elsewhere, but for the outbox and the workspace.
    written = {source for name in ("deid", "notes") for source, only_read in mounts[name].items() if not only_read}
    assert {Path(source).name for source in written - kept} == {"out"}
    # Nor does a path that nobody thought about lie in the workspace.
    assert {found[name]["working_dir"] for name in ("deid", "notes")} == {"/out"}


def test_a_share_is_written_to_where_it_is_submitted_from_and_all_else_is_not() -> None:
    """As the page types it."""
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    found = json.loads(read("site").stdout)["services"]
    typed = re.findall(r"^\$site (\w+) (.+)$", page, re.MULTILINE)
    assert {service for service, _ in typed} == {"exchange", "notes", "deid"}
    for service, words in typed:
        one = found[service]
        parsed(f"{' '.join(one.get('entrypoint') or ['site-client'])} {words}")
        seen = {volume["target"] for volume in one["volumes"]}
        for path in re.findall(r"(?<= )/\S+", words):
            assert any(path == one or path.startswith(f"{one}/") for one in seen), (service, words)


def test_the_programs_take_what_the_services_give_them() -> None:
    for name in NAMES:
        for one in json.loads(read(name).stdout)["services"].values():
            if match := OWN.fullmatch(one["image"]):
                words = [
                    *(one.get("entrypoint") or [match[1]])[:1],
                    *(one.get("entrypoint") or [])[1:],
                    *(one.get("command") or []),
                ]
                parsed(" ".join(words))


def test_the_registry_and_the_store_of_the_page_are_opened_and_are_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    urls = {name: re.findall(rf'--{name} "?([^\s"`]+)', page) for name in ("database", "objects")}
    services = json.loads(read("provider").stdout)["services"]
    for url in urls["database"]:
        assert database_url(url, Path()).host in services
    for url in urls["objects"]:
        assert isinstance(open_store(url), S3Store)
        assert urlsplit(dict(parse_qsl(urlsplit(url).query))["endpoint"]).hostname in services
    assert all(urls.values())


class TestProxy:
    def test_a_parser_of_nginx_takes_it(self) -> None:
        found = crossplane.parse(str(COMPOSE / "nginx.conf"), catch_errors=True)
        assert found["errors"] == []

    def test_the_parser_notices(self, tmp_path: Path) -> None:
        (tmp_path / "nginx.conf").write_text("http { limit_con addresses 32; }\n")
        assert crossplane.parse(str(tmp_path / "nginx.conf"), strict=True)["errors"]

    def test_it_keeps_what_the_server_asks_of_a_proxy(self) -> None:
        (config,) = crossplane.parse(str(COMPOSE / "nginx.conf"))["config"]
        said: dict[str, list[str]] = {}

        def gather(block: list[dict[str, Any]]) -> None:
            for one in block:
                said.setdefault(one["directive"], []).append(" ".join(one["args"]))
                gather(one.get("block") or [])

        gather(config["parsed"])
        # Bodies pass as they come, and no larger than a piece of a bundle; the last address of X-Forwarded-For is the client's.
        assert int(said["client_max_body_size"][0].removesuffix("m")) << 20 > messages.MAX_CHUNK_BYTES
        assert said["proxy_request_buffering"] == ["off"]
        assert "X-Forwarded-For $remote_addr" in said["proxy_set_header"]
        assert int(said["proxy_read_timeout"][0].removesuffix("s")) >= 30
        assert {"limit_conn", "limit_req", "client_header_timeout", "client_body_timeout"} <= said.keys()
        assert said["proxy_ssl_verify"] == ["on"]
        assert said["ssl_protocols"] == ["TLSv1.2 TLSv1.3"]
        assert "request_uri" not in said["log_format"][0]
