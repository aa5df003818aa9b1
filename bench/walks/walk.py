"""A walk: a script of commands as people type them, run from an installed wheel in an empty folder, with all that it printed."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.exchange.certificates import make_certificates
from bench.exchange.ports import unused_port
from bench.walks import tutorials
from shared.corpus import write_corpus
from shared.document import Document
from shared.generate import generate_notes

SHORT = "short.sh"
"""From nothing to two hospitals' shares over HTTPS."""
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_PUBLIC, _SITES = "en_commons", {"st-anne": "en_harbor", "st-bede": "en_moor"}
# As many as a quick audit needs, and fewer for hospitals.
_PUBLIC_NOTES, _NOTES, _NEW, _MANY = 60, 24, 8, 600


@dataclass(frozen=True)
class Walked:
    """A walk that has ended.

    Args:
        name: of its script.
        code: its exit code.
        transcript: the script, with what each line printed behind it.
    """

    name: str
    code: int
    transcript: str

    @property
    def title(self) -> str:
        """What the script is about: its first line."""
        return script_of(self.name).splitlines()[0].removeprefix("# ").removesuffix(".")


def script_of(name: str) -> str:
    """What is typed in a walk: a script of this folder, or what the tutorials show."""
    return tutorials.script() if name == tutorials.NAME else (HERE / name).read_text(encoding="utf-8")


def walks(folder: Path) -> Iterator[Walked]:
    """All walks, two at a time; the second hospital-to-be pulls what the first walk has released.

    Args:
        folder: empty.
    """
    installed, named = install(folder), prepare(folder)
    first = folder / "hospitals"
    given = {"RELEASES": str(first / "provider" / "releases"), "FINGERPRINTS": str(first / "provider.txt")}
    with ThreadPoolExecutor(2) as both:
        # Each has a server, so a port, of its own.
        pages = both.submit(walk_through_tutorials, installed, folder / "pages", named)
        yield walk("hospitals.sh", installed, first, named)
        short = both.submit(walk, SHORT, installed, folder / "short", named | listening())
        yield walk("csv.sh", installed, folder / "csv", named | given)
        yield pages.result()
        yield short.result()


def walk_through_tutorials(installed: Path, folder: Path, named: dict[str, str]) -> Walked:
    """Type what both tutorials show, in a folder in which a demonstration left its notes.

    Args:
        installed: see `install`.
        folder: made here.
        named: see `prepare`.
    """
    notes = folder / "demo" / "notes"
    notes.mkdir(parents=True)
    for site, count in ((_PUBLIC, _PUBLIC_NOTES), ("en_harbor", _NOTES), ("en_lagoon", _NOTES)):
        write_corpus(generate_notes(site, count, 1), notes / f"{site}.jsonl", "jsonl")
    return walk(tutorials.NAME, installed, folder, named | {"START": str(folder)})


def install(folder: Path) -> Path:
    """Build the wheel, and install it alone into a folder, beside the dependencies that are here; where its commands are."""
    # Of a copy: what an earlier build left in the checkout would come along.
    source = folder / "source"
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "demo", "bench", "tests", "docs", "*.egg-info")
    )
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)], check=True
    )
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder / "installed"), str(wheel)], check=True)
    return folder / "installed"


def prepare(folder: Path) -> dict[str, str]:
    """Notes, certificates, a passphrase and a port; what scripts call them."""
    notes = folder / "notes"
    notes.mkdir()
    write_corpus(generate_notes(_PUBLIC, _PUBLIC_NOTES, 1), notes / "public.jsonl", "jsonl")
    for name, site in _SITES.items():
        write_corpus(generate_notes(site, _NOTES, 1), notes / f"{name}.jsonl", "jsonl")
    # Phrases leave only if many notes have them.
    write_corpus(generate_notes("en_lagoon", _MANY, 3), notes / "many.jsonl", "jsonl")
    new = [Document(one.identifier, one.text) for one in generate_notes("en_lagoon", _NEW, 2)]
    write_corpus(new, notes / "new", "txt")
    for name, encoding in (("new", "utf-8"), ("latin", "windows-1252")):
        with open(notes / f"{name}.csv", "w", encoding=encoding, errors="ignore", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "ward", "note"])
            table.writerows([one.identifier, "café" if name == "latin" else "3 W", one.text] for one in new)
    made = make_certificates(folder / "tls", "localhost")
    (folder / "tls" / "ca.pem").write_bytes(made.authority.read_bytes())
    (folder / "tls" / "chain.pem").write_bytes(made.certificate.read_bytes())
    (folder / "tls" / "key.pem").touch(mode=0o600)
    (folder / "tls" / "key.pem").write_bytes(made.key.read_bytes())
    passphrase = folder / "passphrase"
    passphrase.write_text("five words that nobody guesses\n")
    passphrase.chmod(0o400)
    return {"NOTES": str(notes), "TLS": str(folder / "tls"), "PASSPHRASE": str(passphrase)} | listening()


def listening() -> dict[str, str]:
    """Where a server of a walk may listen."""
    port = unused_port()
    return {"PORT": str(port), "SERVER": f"https://localhost:{port}"}


def walk(script: str, installed: Path, folder: Path, named: dict[str, str]) -> Walked:
    """Run a script in an empty folder.

    Args:
        script: its name.
        installed: see `install`.
        folder: made here, if it is not there.
        named: see `prepare`.
    """
    folder.mkdir(exist_ok=True)
    text = script_of(script)
    # Verbose from here on: each line is printed, and behind it what it prints.
    given = folder.parent / script
    given.write_text(f"source '{HERE / 'prelude.sh'}'\nset -euv -o pipefail\n{text}", encoding="utf-8")
    paths = os.pathsep.join([str(installed / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | named | {"PATH": paths, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["bash", str(given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )
    return Walked(script, done.returncode, done.stdout)
