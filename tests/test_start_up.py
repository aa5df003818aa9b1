"""Help and small commands answer at once: what each command may load, held against a process that runs it.

A command stands in SMALL, TORCHLESS or HEAVY; a new one that stands nowhere fails the first test.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import torch

import aggregator.commands.cli
import site_client.commands.cli
from aggregator.commands import options as provider_options
from aggregator.demo import demonstration
from aggregator.registry.states import AccountRole, ShareState
from aggregator.repository import tuf_keys
from aggregator.training.defences import registry as defences
from aggregator.training.judging.influence import InfluenceMode
from command_line.commands import Computation
from protocols.keys import rotation
from protocols.release import repository
from protocols.share import fragments
from shared.constructions import registry, training
from shared.federated import strategies
from shared.privacy import audit
from site_client import keys
from site_client.commands import options as site_options
from site_client.deid.choices.vault import VaultKey, new_vault
from site_client.policy import site_policy
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, provider, refused, share, values

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {"aggregator": aggregator.commands.cli.main, "site-client": site_client.commands.cli.main}

# What trains, measures and draws; no command that stands in SMALL or TORCHLESS needs any of it.
COMPUTING = (
    "dp_accounting",
    "faker",
    "gensim",
    "matplotlib",
    "mpmath",
    "optuna",
    "pandas",
    "safetensors",
    "sklearn",
    "tokenizers",
    "torch",
    "transformers",
)
# What reads payloads, keeps a registry, verifies a repository, talks to others, draws bars, or says how sure a score is.
WORKING = (
    "alembic",
    "h5py",
    "httpx",
    "jinja2",
    "obstore",
    "pyarrow",
    "rich",
    "scipy",
    "sqlalchemy",
    "starlette",
    "tuf",
    "uvicorn",
)

SMALL = {
    "site-client init": "new --site st-anne",
    "site-client enrol": "--out st-anne.request.json --workspace new",
    "site-client keys show": "--workspace new",
    "site-client ledger show": "--workspace new",
    "site-client ledger verify": "--workspace new",
    "site-client policy show": "--workspace new",
    "site-client policy set": "--least-cluster 500 --workspace new",
    "site-client keys protect": "--workspace new",
    "site-client keys unprotect": "--workspace new",
}
# In this order, on a copy of the loop.
TORCHLESS = {
    "aggregator init": "another",
    "aggregator site list": "--workspace provider",
    "aggregator site add": "newcomer.request.json --fingerprint FINGERPRINT --workspace provider",
    "site-client keys rotate": "--out north.rotation.json --workspace north",
    "aggregator site rotate": "north.rotation.json --workspace provider",
    "site-client keys accept": "north.rotation.accepted.json --workspace north",
    "site-client submit": "south.parquet --to-folder elsewhere --workspace south",
    "site-client receipts": "stick --workspace north",
    "site-client log export": "north.checkpoint --workspace north",
    "site-client log compare": "north.checkpoint --workspace north",
    "site-client release-code": "--workspace north",
    "site-client labels": "notes/north --workspace north",
    "site-client lists": "--workspace north",
    "site-client approve-fragments": "fingerprint --approver A --digest 0 --workspace north",
    "site-client vault": "south.vault --workspace south",
    "site-client review": "notes/north --export reviewed.jsonl --everything --workspace north",
    "site-client withdraw": "1 --to-folder elsewhere --workspace north",
    "aggregator ingest": "stick --workspace provider",
    "aggregator shares list": "--workspace provider",
    "aggregator shares show": "DIGEST --workspace provider",
    "aggregator shares accept": "DIGEST --name A --reason B --workspace provider",
    "aggregator shares reject": "DIGEST --name A --reason B --workspace provider",
    "aggregator shares withdraw": "DIGEST --name A --reason B --workspace provider",
    "aggregator alarms list": "--workspace provider",
    "aggregator status": "--workspace provider",
    "aggregator alarms acknowledge": "1 --name A --workspace provider",
    "aggregator audit-log verify": "--workspace provider",
    "aggregator audit-log show": "--workspace provider",
    "aggregator audit-log export": "log.jsonl --workspace provider",
    "aggregator keys list": "--workspace provider",
    "aggregator keys rotate": "--role timestamp --workspace provider",
    "aggregator keys protect": "--workspace provider",
    "aggregator keys unprotect": "--workspace provider",
    "aggregator renew": "--workspace provider",
    "aggregator announce": "--workspace provider",
    "aggregator keys export-offline": "away --workspace provider",
    "aggregator site revoke": "south --reason lost --workspace provider",
    "aggregator evaluate": "--gold notes/north --system notes/north",
    "aggregator serve": "--certificate fingerprint --key fingerprint --workspace provider",
    "aggregator account add": "anna --role viewer --through-proxy --workspace provider",
    "aggregator account list": "--workspace provider",
    "aggregator account role": "anna operator --workspace provider",
    "aggregator account password": "anna --password-file passphrase --workspace provider",
    "aggregator account remove": "anna --workspace provider",
}
# These find nothing to do in the loop; they say so after they have loaded what they work with.
IN_VAIN = {
    "site-client approve-fragments",
    "aggregator shares reject",
    "aggregator alarms acknowledge",
    "aggregator serve",
}
HEAVY = {
    "aggregator audit",
    "aggregator demo",
    "aggregator federate",
    "aggregator publish",
    "aggregator refresh",
    "aggregator release",
    "aggregator search-settings",
    "aggregator train-embeddings",
    "aggregator train-head",
    "aggregator train-lm",
    "aggregator train-repr",
    "site-client check",
    "site-client deid",
    "site-client deid-merge",
    "site-client encode",
    "site-client adapt",
    "site-client evaluate",
    "site-client federate",
    "site-client fragment",
    "site-client inspect",
    "site-client pull",
    "site-client serve-local",
}

RUN = """
import json, sys
from click.testing import CliRunner

watched = set(json.loads(sys.argv[1]))
for program, *arguments in json.loads(sys.argv[2]):
    if program == "aggregator":
        from aggregator.commands.cli import main
    else:
        from site_client.commands.cli import main
    result = CliRunner().invoke(main, arguments)
    loaded = sorted(watched & {name.partition(".")[0] for name in sys.modules})
    print(json.dumps([result.exit_code, loaded, result.output]))
"""


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below a group by what is typed for it."""
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


COMMANDS = {name: command for word, group in PROGRAMS.items() for name, command in commands(group, word)}


def run_all(lines: list[list[str]], watched: tuple[str, ...], folder: Path) -> list[tuple[int, list[str], str]]:
    """Run command lines in one fresh process; of each the code, what of `watched` is loaded by then, and its output."""
    passphrase = folder / "passphrase"
    passphrase.write_text("correct horse battery staple")
    passphrase.chmod(0o600)
    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(watched), json.dumps(lines)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "DEID_COMMONS_PASSPHRASE_FILE": str(passphrase)},
    )
    return [tuple(json.loads(line)) for line in ran.stdout.splitlines()]


def test_every_command_is_listed_and_those_that_compute_say_so() -> None:
    assert not SMALL.keys() & TORCHLESS.keys()
    assert COMMANDS.keys() == SMALL.keys() | TORCHLESS.keys() | HEAVY
    assert {name for name, command in COMMANDS.items() if isinstance(command, Computation)} == HEAVY


def test_help_and_small_commands_load_nothing_large(tmp_path: Path) -> None:
    helps = [[*name.split(), "--help"] for name in (*PROGRAMS, *COMMANDS)]
    small = [[*name.split(), *shlex.split(rest)] for name, rest in SMALL.items()]
    ran = run_all(helps + small, COMPUTING + WORKING, tmp_path)
    assert len(ran) == len(helps + small)
    for line, (code, loaded, output) in zip(helps + small, ran, strict=True):
        assert (code, loaded) == (0, []), (line, output)


def test_other_commands_load_no_network(loop: Loop) -> None:
    new = loop.root / "newcomer"
    done(hospital("init", new, "--site", "newcomer"))
    request = values(hospital("enrol", "--out", loop.root / "newcomer.request.json", "--workspace", new, "--json"))
    share(loop, "south")
    digest = values(provider("shares", "list", "--workspace", loop.provider, "--json"))["shares"][0]["digest"]
    with new_vault(loop.root / "south.vault", VaultKey(open_workspace(loop.site("south")).surrogates_secret(), False)):
        pass
    filled = {"FINGERPRINT": request["fingerprint"], "DIGEST": digest}
    lines = [
        [*name.split(), *(filled.get(word, word) for word in shlex.split(rest))] for name, rest in TORCHLESS.items()
    ]
    ran = run_all(lines, COMPUTING, loop.root)
    for name, (code, loaded, output) in zip(TORCHLESS, ran, strict=True):
        assert (code != 0, loaded) == (name in IN_VAIN, []), (name, output)


LOADING = """
import gc, sys
from command_line.commands import compute_on_one_thread

kept = []
for _ in range(2):
    compute_on_one_thread()
    kept.append([object()])
    print(gc.isenabled(), gc.get_freeze_count() > 100_000, any(one is kept[0] for one in gc.get_objects()))
import aggregator.training.head, site_client.releases.pull, shared.training.fine_tuning
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def loading() -> list[str]:
    """What a fresh process says that loads torch as a command does, and then what trains: to load them takes seconds."""
    ran = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, cwd=ROOT, check=True)
    return ran.stdout.splitlines()


def test_nothing_loads_transformers_until_such_a_tagger_is_asked_for(loading: list[str]) -> None:
    *_, loaded = loading
    assert "shared.taggers.transformer.transformer" in loaded.split()
    assert not {"transformers", "tokenizers", "optuna", "huggingface_hub"} & set(loaded.split())


def test_what_computes_runs_on_one_thread(tmp_path: Path) -> None:
    torch.set_num_threads(2)
    try:
        refused(hospital("encode", tmp_path, "--out", tmp_path / "a.parquet", "--workspace", tmp_path), 30)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(1)


def test_the_garbage_collector_looks_through_what_is_made_after_torch_and_not_through_torch(loading: list[str]) -> None:
    # A program that computes more than once, such as a service, does not put what it holds out of the collector's sight.
    assert loading[1] == "True True True"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (provider_options.PROCEDURES, registry.PROCEDURES),
        (provider_options.PRESETS, training.PRESETS),
        (provider_options.AUDIT_PRESETS, audit.PRESETS),
        (sorted(provider_options.DEFENCES), sorted(defences.DEFENCES)),
        (provider_options.DEFENCES[0], defences.DEFAULT),
        (provider_options.STRATEGIES, strategies.STRATEGIES),
        (provider_options.STRATEGIES[0], strategies.DEFAULT),
        (sorted(provider_options.INFLUENCE), sorted(InfluenceMode)),
        (provider_options.SHARE_STATES, [state.value for state in ShareState]),
        (provider_options.ACCOUNT_ROLES, [role.value for role in AccountRole]),
        (provider_options.ROLES, tuf_keys.ROLES),
        (range(provider_options.HOLDERS), range(tuf_keys.HOLDERS)),
        (provider_options.LANGUAGES, demonstration.NOTES),
        (site_options.PROCEDURES, registry.PROCEDURES),
        (site_options.PROCEDURES, site_policy.CONSTRUCTIONS),
        (site_options.AUDITS, [audit.value for audit in site_policy.DemandedAudit]),
        (range(site_options.OVERLAP_DAYS), range(keys.OVERLAP_DAYS)),
        (range(site_options.MAX_SIZE_MIB), range(repository.MAX_TOTAL_BYTES >> 20)),
        (range(site_options.LEAST_NOTES), range(fragments.LEAST_NOTES)),
        (range(site_options.MAX_OVERLAP_DAYS), range(rotation.MAX_OVERLAP_DAYS)),
    ],
)
def test_the_words_of_an_option_are_those_of_what_it_names(words: tuple[str, ...], named: tuple[str, ...]) -> None:
    assert list(words) == list(named)
