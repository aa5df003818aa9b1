"""Pages that are written from the code and the packages, and every place that states the version."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from bench.release import configuration, licences
from bench.release.packages import ROOT, SHIPPED, runtime
from bench.release.sbom import make_sbom
from tests.test_start_up import COMMANDS


def test_the_configuration_reference_is_that_of_the_code() -> None:
    assert configuration.PAGE.read_text(encoding="utf-8") == configuration.page(), "run `make configuration`"


def test_it_has_every_option_of_every_command() -> None:
    text = configuration.PAGE.read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        (section,) = re.findall(rf"^### {re.escape(name)}\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
        for param in command.params:
            if param.param_type_name == "option" and not getattr(param, "hidden", False):
                assert all(f"`{option}`" in section for option in param.opts), (name, param.opts)


def test_it_has_every_variable() -> None:
    assert configuration.variables_in_code() == set(configuration.VARIABLES)


def test_the_licences_are_those_that_the_packages_state() -> None:
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page(), "run `make licences`"
    assert "not stated" not in licences.PAGE.read_text(encoding="utf-8")


def test_the_bill_of_materials_names_every_package(tmp_path: Path) -> None:
    make_sbom(tmp_path / "sbom.json")
    made = json.loads((tmp_path / "sbom.json").read_text())
    named = {one["name"].lower().replace("_", "-"): one["version"] for one in made["components"]}
    assert (made["bomFormat"], named) == ("CycloneDX", runtime(SHIPPED))


def test_nobody_is_told_to_install_a_name_of_an_index() -> None:
    """The project is on none: whoever takes the name there would be run at every hospital that follows our pages."""
    told = [*(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"), *(ROOT / "docs").glob("*.md")]
    told += [
        path for name in ("aggregator", "site_client", "shared", "command_line") for path in (ROOT / name).rglob("*.py")
    ]
    for path in told:
        assert not re.search(r"install\W+(\w+ )?deid-commons", path.read_text(encoding="utf-8")), path


def test_another_build_of_torch_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    required = metadata.requires

    def of_gpu(name: str) -> list[str]:
        return [*(required(name) or ()), *(["nvidia-cublas==13.1.0.3"] if name == "torch" else ())]

    monkeypatch.setattr(metadata, "requires", of_gpu)
    with pytest.raises(
        LookupError, match=r"expected the CPU build of torch, got one that needs nvidia-cublas; install"
    ):
        runtime()


@pytest.mark.parametrize("name", ["aggregator", "site-client"])
def test_the_programs_say_the_version_of_the_one_place(name: str) -> None:
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert metadata.version("deid-commons") == version
    program = Path(sys.executable).parent / name
    assert version in subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout


def test_every_other_place_that_states_the_version_states_the_same() -> None:
    version = metadata.version("deid-commons")
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version  # type: ignore[index]
    for name in ("provider", "site"):
        example = (ROOT / "deploy" / "compose" / f"{name}.env.example").read_text()
        assert f"DEID_COMMONS_VERSION={version}\n" in example
    stated = re.findall(
        r"(?:deid-commons-|aggregator:|site-client:)(\d+\.\d+\.\d+)", (ROOT / "docs" / "deployment.md").read_text()
    )
    assert stated
    assert set(stated) == {version}
