"""docs/exit-codes.md against the error classes, and what the command line makes of any error at all."""

from __future__ import annotations

import errno
import re
import signal
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import aggregator.errors
import foundation.errors
import protocols.errors
import shared.errors
import site_client.errors
from command_line.commands import Program
from command_line.stopping import StoppedError
from tests.loop import hospital, provider, refused

TABLE = {
    int(code): meaning
    for code, meaning in re.findall(
        r"^\| (\d+) \| (.+) \|$", (Path(__file__).parent.parent / "docs" / "exit-codes.md").read_text(), re.MULTILINE
    )
}


def kinds(root: type[BaseException]) -> list[type[BaseException]]:
    return [root, *(kind for child in root.__subclasses__() for kind in kinds(child))]


ERRORS = sorted(set(kinds(foundation.errors.DeidError)), key=lambda kind: (kind.__qualname__, kind.__module__))

# Where each code of the table comes from; a code that nothing makes, or an error without a line, fails the test.
MEANINGS = {
    0: "done",
    1: "fault in the program",
    2: "command line or a setting",
    3: "notes or annotations",
    4: "word vectors",
    5: "weights",
    6: "training",
    7: "compared",
    8: "storage",
    9: "exchange: any other",
    10: "schema",
    11: "bounds",
    12: "signature",
    13: "digest",
    14: "there already",
    15: "not encrypted for this key",
    16: "has this number already",
    17: "passphrase",
    20: "provider's workspace",
    21: "site or share",
    22: "audit",
    23: "sandbox",
    24: "refused",
    25: "finds less than the last release",
    26: "needs a person",
    27: "--hook",
    28: "too few results",
    30: "hospital's workspace",
    31: "log of what left",
    32: "nobody has approved",
    33: "did not answer, or refused",
    34: "does not take the share",
    35: "the hospital's own policy",
    36: "shows other releases",
    37: "hides what it promises",
    38: "folder of a review",
    39: "adapted in-house",
    129: "terminal went away",
    130: "interrupted",
    143: "told to end",
}
CODES = {
    shared.errors.ConfigurationError: 2,
    shared.errors.CorpusError: 3,
    shared.errors.EmbeddingError: 4,
    shared.errors.ModelError: 5,
    shared.errors.TrainingError: 6,
    shared.errors.EvaluationError: 7,
    foundation.errors.StorageError: 8,
    protocols.errors.ProtocolError: 9,
    protocols.errors.SchemaError: 10,
    protocols.errors.BoundsError: 11,
    protocols.errors.SignatureError: 12,
    protocols.errors.DigestError: 13,
    protocols.errors.DuplicateError: 14,
    protocols.errors.EncryptionError: 15,
    protocols.errors.ConflictError: 16,
    protocols.errors.PassphraseError: 17,
    aggregator.errors.DatabaseError: 8,
    aggregator.errors.WorkspaceError: 20,
    aggregator.errors.RegistryError: 21,
    aggregator.errors.AuditError: 22,
    aggregator.errors.SandboxError: 23,
    aggregator.errors.RefusedError: 24,
    aggregator.errors.DropError: 25,
    aggregator.errors.AttentionError: 26,
    aggregator.errors.HookError: 27,
    aggregator.errors.FederatedError: 28,
    site_client.errors.WorkspaceError: 30,
    site_client.errors.LedgerError: 31,
    site_client.errors.ApprovalError: 32,
    site_client.errors.TransportError: 33,
    site_client.errors.RejectedError: 34,
    site_client.errors.PolicyError: 35,
    site_client.errors.ForkError: 36,
}


def made_by(error: BaseException) -> click.Group:
    """A program with one command, which raises."""

    @click.group(cls=Program)
    def program() -> None:
        pass

    @program.command()
    def work() -> None:
        raise error

    return program


def test_the_table_has_every_code_with_its_meaning() -> None:
    assert list(TABLE) == list(MEANINGS)
    for code, meaning in MEANINGS.items():
        assert meaning in TABLE[code]


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_each_branch_has_the_code_of_the_table(kind: type[Exception]) -> None:
    assert kind.exit_code == CODES[kind]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_error_ends_in_one_line_and_a_code_of_the_table(kind: type[Exception]) -> None:
    result = CliRunner().invoke(made_by(kind("a\nline\tof its own")), ["work"])
    assert result.exit_code == kind.exit_code  # type: ignore[attr-defined]
    assert result.exit_code in TABLE
    assert re.fullmatch(r"error: .*a line of its own\n", result.stderr)
    assert not result.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "notes.jsonl"), 8),
        (PermissionError(errno.EACCES, "Permission denied"), 8),
        (KeyboardInterrupt(), 130),
        (StoppedError(signal.SIGTERM), 143),
        (StoppedError(signal.SIGHUP), 129),
        (ZeroDivisionError("Brunhilda"), 1),
        (MemoryError(), 8),
        (OSError(errno.ENOMEM, "Brunhilda"), 8),
        (OSError(errno.EMFILE, "Brunhilda"), 8),
        (RecursionError("Brunhilda"), 1),
        (UnicodeDecodeError("utf-8", b"Brunhilda\xff", 9, 10, "Brunhilda"), 1),
        (KeyError("Brunhilda"), 1),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_whatever_else_happens_is_one_line_without_its_text(error: BaseException, code: int) -> None:
    line = refused(CliRunner().invoke(made_by(error), ["work"]), code)
    assert "Brunhilda" not in line
    if code == 1:
        assert type(error).__name__ in line


def unloaded() -> ImportError:
    """As of a module that found no memory for a library, and said something else."""
    error = ImportError("Brunhilda")
    error.__cause__ = ImportError("libarrow.so: failed to map segment from shared object")
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Brunhilda"),
        unloaded(),
        RuntimeError(
            "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes. Brunhilda"
        ),
        RuntimeError("can't start new thread"),
        RuntimeError("could not create a primitive"),
        OSError(errno.ENOMEM, "Brunhilda"),
    ],
)
def test_too_little_memory_is_no_fault_of_the_program(error: BaseException) -> None:
    line = refused(CliRunner().invoke(made_by(error), ["work"]), 8, "memory", "ulimit -v")
    assert "Brunhilda" not in line


@pytest.mark.parametrize(
    "error", [RuntimeError("a memory of Brunhilda"), ValueError("out of memory"), ImportError("no torch")]
)
def test_what_speaks_of_memory_otherwise_stays_a_fault(error: BaseException) -> None:
    refused(CliRunner().invoke(made_by(error), ["work"]), 1, "a fault in this program")


def test_too_many_open_files_are_told_as_that() -> None:
    refused(CliRunner().invoke(made_by(OSError(errno.EMFILE, "x", "/a/b")), ["work"]), 8, "ulimit -n")


def test_debugging_shows_the_error_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEID_COMMONS_DEBUG", "1")
    result = CliRunner().invoke(made_by(ZeroDivisionError("x")), ["work"])
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize("run", [provider, hospital])
@pytest.mark.parametrize("arguments", [["--none"], ["nothing"], ["evaluate", "--none"], ["init"]])
def test_a_wrong_command_line_is_one_line_too(run: object, arguments: list[str]) -> None:
    line = refused(run(*arguments), 2, "--help")  # type: ignore[operator]
    assert line.count("error") == 1


def test_a_path_that_is_not_there_is_a_wrong_command_line(tmp_path: Path) -> None:
    refused(hospital("deid", tmp_path / "none", "--out", tmp_path / "out"), 2, "none")


@pytest.mark.parametrize("run", [provider, hospital])
def test_help_and_version_are_no_errors(run: object) -> None:
    for arguments in (["--help"], ["-h"], ["--version"], ["init", "--help"]):
        result = run(*arguments)  # type: ignore[operator]
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout
    bare = run()  # type: ignore[operator]
    assert bare.exit_code == 2
    assert "Usage" in bare.output
