"""What people type and hand over by mistake: one plain line each, two at most, a documented code, and nothing left behind.

A row is a command line, its exit code, and what the line must say. `{name}` stands for a place of the small world below.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.loop import Loop, done, hospital, provider
from tests.test_exit_codes import TABLE

HEX = "0001-0203-0405-0607-0809-0a0b-0c0d-0e0f"
SPOKEN = "babad-bamag-bibaj-bimal-boban-bomar-bubat-bumaz"

# No regular expression and no name of a class belongs into a message to a person.
PROGRAMMER = re.compile(
    r"\[\^|\[0-9|\[a-z|\\[dwsx]|\(\?|<class|\b(?!DocumentReference|DiagnosticReport|OperationOutcome|WebAnno|WordNet)[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b[A-Za-z]+Error\b|\bNone\b"
)

# command line, exit code, what its line says.
ROWS: list[tuple[str, int, str]] = [
    # A fingerprint that nobody can have said, and one that is another.
    (f"site-client pull {{releases}} --fingerprint {HEX[:-1]} --workspace {{bare}}", 2, "31 digits"),
    (f"site-client pull {{releases}} --fingerprint {HEX[:-1]}g --workspace {{bare}}", 2, "mistyped"),
    (f"site-client pull {{releases}} --fingerprint {HEX}-0e0f --workspace {{bare}}", 2, "36 digits"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN[:-1]} --workspace {{bare}}", 2, "39 letters"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN[:-1]}e --workspace {{bare}}", 2, "group 8"),
    ("site-client pull {releases} --fingerprint '' --workspace {bare}", 2, "0 digits"),
    (f"site-client pull {{releases}} --fingerprint {HEX} --workspace {{bare}}", 30, "another one"),
    (f"site-client pull {{releases}} --fingerprint '{HEX.upper()}' --workspace {{bare}}", 30, "another one"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN} --workspace {{bare}}", 30, "another one"),
    ("site-client pull {releases} --workspace {bare}", 30, "--fingerprint"),
    (f"aggregator site add {{request}} --fingerprint {HEX[1:]} --workspace {{provider}}", 2, "31 digits"),
    (f"aggregator site add {{request}} --fingerprint {HEX} --workspace {{provider}}", 21, "another"),
    (
        f"aggregator site add {{request}} --fingerprint '{SPOKEN.replace('-', ' ')}' --workspace {{provider}}",
        21,
        "another",
    ),
    ("site-client release-code --compare zzz --workspace {north}", 2, "mistyped"),
    (f"site-client release-code --compare {SPOKEN} --workspace {{north}}", 36, "another one"),
    # Settings, tables and vaults of `deid` that are none.
    ("site-client deid {folder} --out out --mode surrogate --config {text} --workspace {north}", 2, "expected TOML"),
    (
        "site-client deid {folder} --out out --mode surrogate --patients {text} --workspace {north}",
        2,
        "and patient, got another",
    ),
    # A link that leads to itself.
    ("site-client deid {notes} --ignore-labels --out {ring} --workspace {fourth}", 8, "a link"),
    ("site-client deid {notes} --ignore-labels --out {ring}/out --workspace {fourth}", 8, "File exists"),
    ("site-client encode {notes} --out {ring}/share.parquet --workspace {fourth}", 8, "symbolic links"),
    (
        "site-client check {notes} --out {ring}/b --corrected {ring}/a --workspace {fourth}",
        8,
        "expected a file or folder",
    ),
    ("site-client deid {rings} --ignore-labels --out out --quarantine aside --workspace {fourth}", 8, "symbolic links"),
    ("site-client pull {ring} --workspace {fourth}", 30, "a release repository"),
    ("site-client deid {folder} --out out --mode redact --link-key --workspace {north}", 2, "--mode surrogate"),
    ("site-client deid {folder} --out out --mode tag --vault out.vault --workspace {north}", 2, "a mode that hides"),
    ("site-client vault {text} --workspace {north}", 2, "expected a vault"),
    # What is no share, or another hospital's.
    ("site-client inspect {text} --workspace {north}", 8, "a file without it"),
    ("site-client inspect {folder} --workspace {north}", 8, "a folder"),
    ("site-client inspect {alone} --workspace {north}", 8, "copy all three files together"),
    ("site-client inspect {south}.parquet --workspace {north}", 12, "a share of this workspace"),
    ("site-client inspect nothing.parquet --workspace {north}", 2, "does not exist"),
    ("site-client submit {text} --to-folder stick --workspace {north}", 8, "a file without it"),
    ("site-client submit {alone} --to-folder stick --workspace {north}", 8, "copy all three files together"),
    ("site-client submit {south}.parquet --to-folder stick --workspace {north}", 12, "a share of this workspace"),
    ("site-client submit {south}.parquet --to-folder stick --workspace {bare}", 12, "a share of this workspace"),
    ("site-client submit {folder} --to-folder stick --workspace {north}", 2, "is a directory"),
    ("site-client submit {north}.parquet --to-folder stick --ca {text} --workspace {north}", 2, "--to-folder"),
    ("site-client withdraw 99 --to-folder stick --workspace {north}", 30, "share 99"),
    ("site-client withdraw 1 --to-folder stick --ca {text} --workspace {north}", 2, "give one way"),
    ("site-client withdraw 1 --to-folder stick --proxy foo:bar --workspace {north}", 2, "give one way"),
    ("site-client keys rotate --out a.json --ca {text} --workspace {bare}", 2, "give one way"),
    ("site-client keys rotate --out a.json --proxy foo:bar --workspace {bare}", 2, "give one way"),
    (
        f"site-client withdraw 1 --to-folder stick --reason {'a' * 201} --workspace {{north}}",
        10,
        "reason: expected one line of up to 200 characters",
    ),
    ("site-client withdraw 1 --to-folder stick --reason 'a\nb' --workspace {north}", 10, "one line of up to 200"),
    ("site-client withdraw 1 --to-folder stick --reason 'b\udcfcro' --workspace {north}", 10, "expected text in UTF-8"),
    (
        "site-client submit {north}.parquet --to-folder stick --approver \u200b --workspace {north}",
        32,
        "a letter or digit",
    ),
    (
        "site-client submit {north}.parquet --to-folder stick --approver ... --workspace {north}",
        32,
        "a letter or digit",
    ),
    ("site-client submit {north}.parquet --to-folder stick --approver 'W\udcfcst' --workspace {north}", 32, "UTF-8"),
    ("site-client withdraw zz --to-folder stick --workspace {north}", 8, "zz: expected a share"),
    ("site-client withdraw {south}.parquet --to-folder stick --workspace {north}", 12, "a share of this workspace"),
    ("site-client receipts {folder} --workspace {north}", 30, "found none"),
    ("site-client receipts {text} --workspace {north}", 2, "is a file"),
    # Reviews, and the service for other programs.
    ("site-client review --workspace {north}", 2, "expected notes"),
    ("site-client review {text} --everything --workspace {north}", 2, "--export"),
    ("site-client review --compare {folder} {folder}", 38, "found none"),
    ("site-client review --compare {folder}", 2, "requires 2 arguments"),
    ("site-client review --project {folder} --export a.jsonl", 38, "found none"),
    ("site-client review {text} --workspace {folder}", 30, "site-client init"),
    ("site-client review missing --workspace {north}", 2, "does not exist"),
    ("site-client review {text} --port 99999 --workspace {north}", 2, "--port"),
    ("site-client serve-local --workspace {folder}", 30, "site-client init"),
    ("site-client serve-local --workspace {north}", 30, "pull a pipeline release"),
    ("site-client serve-local --socket s/service --port 9000 --workspace {fourth}", 2, "expected no --port beside it"),
    ("site-client serve-local --socket s/service --port 8791 --workspace {fourth}", 2, "expected no --port beside it"),
    ("site-client serve-local --token-file {text} --workspace {fourth}", 8, "only its owner can read"),
    # Ledger, log, keys.
    ("site-client ledger verify --known zzz --workspace {north}", 2, "3 characters; it is mistyped"),
    (f"site-client ledger verify --known {'z' * 64} --workspace {{north}}", 2, "some of which are in none"),
    ("site-client ledger verify --known '' --workspace {north}", 2, "0 characters"),
    (f"site-client ledger verify --known {'ab' * 32} --workspace {{north}}", 31, "found none"),
    ("site-client log compare {text} --workspace {north}", 10, "checkpoint"),
    ("site-client log compare {empty} --workspace {north}", 10, "checkpoint"),
    ("site-client log export missing/a.checkpoint --workspace {north}", 8, "make the folder"),
    ("site-client log export a.checkpoint --workspace {bare}", 30, "site-client pull"),
    ("site-client keys accept {text} --workspace {north}", 10, "JSON"),
    ("site-client keys rotate --workspace {bare}", 30, "site-client pull"),
    ("site-client keys rotate --out missing/a.json --overlap-days 400 --workspace {north}", 2, "overlap-days"),
    # Making and joining.
    ("site-client init {text} --site a", 30, "found a file"),
    ("site-client init {north} --site a", 30, "found a workspace"),
    ("site-client init new", 2, "--site"),
    ("site-client init new --site 'St Anne'", 2, "lower-case letters"),
    ("site-client init new --site ''", 2, "lower-case letters"),
    ("site-client init new --site a --nonsense", 2, "--nonsense"),
    ("site-client enrol --out missing/a.json --workspace {bare}", 8, "make the folder"),
    ("site-client enrol --out {folder} --workspace {bare}", 2, "is a directory"),
    ("site-client enrol --workspace {bare}", 2, "--out"),
    ("site-client enrol --out a.json --workspace {folder}", 30, "site-client init"),
    ("site-client enrol --out a.json --workspace {text}", 30, "site-client init"),
    ("site-client enrol --out a.json", 30, "site-client init"),
    ("aggregator init {text}", 20, "found a file"),
    ("aggregator init {provider}", 20, "found a workspace"),
    ("aggregator init new --scheme nothing", 2, "label scheme"),
    ("aggregator init new --name 'two words'", 2, "two words"),
    ("aggregator init new --database postgresql://u:secret@127.0.0.1:1/x", 2, "without a password"),
    ("aggregator init new --database postgresql://u@127.0.0.1:1/x", 8, "database"),
    ("aggregator init new --database mysql://u@127.0.0.1:1/x", 2, "database"),
    ("aggregator site add {text} --fingerprint " + HEX + " --workspace {provider}", 10, "JSON"),
    ("aggregator site revoke zz --reason lost --workspace {provider}", 21, "zz: expected an enrolled site"),
    ("aggregator site list --workspace {folder}", 20, "aggregator init"),
    ("aggregator status --workspace {folder}", 20, "aggregator init"),
    ("aggregator status --hook nothing --workspace {provider}", 2, "does not exist"),
    ("aggregator status --hook {text} --workspace {provider}", 2, "is not executable"),
    ("aggregator status --hook {folder} --workspace {provider}", 2, "is a directory"),
    ("aggregator status --hook 'mail -s alerts' --workspace {provider}", 2, "does not exist"),
    # The provider's shares.
    ("aggregator shares show zz --workspace {provider}", 21, "zz: expected the first digits"),
    ("aggregator shares show '' --workspace {provider}", 21, "an empty digest"),
    (f"aggregator shares show {'ab' * 32} --workspace {{provider}}", 21, "no share with it"),
    ("aggregator shares withdraw zz --name A --reason B --workspace {provider}", 21, "no share with it"),
    ("aggregator ingest {text} --workspace {provider}", 10, "expected a bundle"),
    ("aggregator ingest {empty} --workspace {provider}", 13, "fewer bytes"),
    ("aggregator ingest --workspace {provider}", 2, "files or folders"),
    ("aggregator ingest nothing --workspace {provider}", 2, "does not exist"),
    # Trainings that were cut, or not.
    ("aggregator train-head --resume --workspace {provider}", 20, "without --resume"),
    ("aggregator train-repr --corpus {notes} --resume --workspace {provider}", 20, "without --resume"),
    ("aggregator train-embeddings {notes} --resume --workspace {provider}", 20, "without --resume"),
    ("aggregator train-lm {notes} --resume --workspace {provider}", 20, "without --resume"),
    ("aggregator train-lm {notes} --units 0 --workspace {provider}", 2, "--units"),
    ("aggregator train-lm nothing --workspace {provider}", 2, "does not exist"),
    ("aggregator train-head --resume --epochs 0 --workspace {provider}", 2, "epochs"),
    ("aggregator train-head --window 20 --workspace {provider}", 2, "--tagger transformer"),
    ("aggregator train-head --undersampling 1 --workspace {provider}", 2, "undersampling"),
    ("aggregator train-head --undersampling nan --workspace {provider}", 2, "below 1"),
    ("aggregator search-settings {notes} --checkpoint {empty} --workspace {provider}", 2, ""),
    ("aggregator search-settings {notes} --checkpoint {folder} --workspace {provider}", 8, "model.safetensors"),
    # Copies of sentences.
    ("aggregator train-head --augment phi,nonsense --workspace {provider}", 2, "phi, context, shorthand, recase"),
    ("aggregator train-head --augment phi,phi --workspace {provider}", 2, "parted by commas"),
    ("aggregator train-head --augment '' --workspace {provider}", 2, "parted by commas"),
    ("aggregator train-head --augment context --workspace {provider}", 2, "--wordnet"),
    ("aggregator train-head --augment context --wordnet {folder} --workspace {provider}", 2, "found none"),
    ("aggregator train-head --augment phi --entities {text} --workspace {provider}", 2, "CATEGORY,entity"),
    ("aggregator train-head --entities {text} --workspace {provider}", 2, "--augment phi"),
    ("aggregator train-head --augment phi --alpha 17 --workspace {provider}", 2, "alpha"),
    ("aggregator train-repr --corpus {notes} --augment recase --workspace {provider}", 2, "phi, context"),
    (
        "aggregator train-repr --corpus {notes} --procedure k-anonymous --augment phi --workspace {provider}",
        2,
        "would change nothing",
    ),
    # Where releases come from.
    ("site-client pull {folder} --workspace {bare}", 30, "release repository"),
    ("site-client pull nothing --workspace {bare}", 30, "release repository"),
    ("site-client pull --workspace {bare}", 30, "give it once"),
    ("site-client pull ftp://localhost/releases --workspace {bare}", 30, "https://"),
    ("site-client pull {releases} --ca {text} --workspace {bare}", 2, "leave them out"),
    ("site-client pull {releases} --proxy http://proxy:3128 --workspace {north}", 2, "leave them out"),
    ("site-client pull https://127.0.0.1:1/releases --workspace {bare}", 33, "nothing listens there"),
    ("site-client pull https://no-such-host.invalid/releases --workspace {bare}", 33, "no host has that name"),
    ("site-client pull https://127.0.0.1:1/releases --ca {text} --workspace {bare}", 30, "certificates in PEM"),
    ("site-client pull https://127.0.0.1:1/releases --proxy nonsense --workspace {bare}", 30, "proxy"),
    ("site-client pull {releases} --max-size 0 --workspace {bare}", 2, "max-size"),
    ("site-client pull {releases} --accept-unprotected --workspace {north}", 32, "--approver"),
    # Text.
    ("site-client fragment {notes} --out a.fragments --workspace {fourth}", 35, "policy set --text-fragments"),
    ("site-client fragment {notes} --out a.fragments --least-notes 9 --workspace {fourth}", 2, "least-notes"),
    ("site-client fragment {notes} --out {text} --workspace {fourth}", 2, "no draft of fragments"),
    ("site-client fragment {notes} --out a.fragments --patients {text} --workspace {fourth}", 2, "columns note"),
    ("site-client fragment {notes} --out a.fragments --workspace {bare}", 30, "site-client pull"),
    ("site-client fragment {notes} --out a.fragments --parser stanza --workspace {fourth}", 2, "--stanza-model"),
    (
        "site-client fragment {notes} --out a.fragments --stanza-model {folder} --workspace {fourth}",
        2,
        "--parser stanza",
    ),
    (
        "site-client fragment {notes} --out a.fragments --parser stanza --stanza-model {text} --workspace {fourth}",
        2,
        "stanza-model",
    ),
    ("site-client fragment {notes} --workspace {fourth}", 2, "--out"),
    ("site-client approve-fragments {text} --digest 0 --workspace {fourth}", 2, "--approver"),
    ("site-client approve-fragments {text} --approver A --workspace {fourth}", 2, "--digest"),
    ("site-client approve-fragments {text} --approver A --digest 0 --workspace {fourth}", 10, "site-client fragment"),
    ("site-client approve-fragments {torn} --approver A --digest 0 --workspace {fourth}", 13, "fewer bytes"),
    ("site-client approve-fragments {text} --approver '' --digest 0 --workspace {fourth}", 32, "expected a name"),
    ("site-client inspect {torn} --workspace {fourth}", 13, "fewer bytes"),
    ("site-client submit {torn} --to-folder stick --workspace {fourth}", 10, "text fragments"),
    ("aggregator ingest {torn} --workspace {provider}", 10, "text fragments"),
    # Notes.
    ("site-client deid {word} --out out --workspace {fourth}", 3, "save it as plain text"),
    ("site-client deid {word} --format txt --out out --workspace {fourth}", 3, "save it as plain text"),
    ("site-client deid {mixed} --out out --workspace {fourth}", 3, "b.docx, c.pdf"),
    ("site-client deid {latin} --out out --workspace {fourth}", 3, "--encoding windows-1252"),
    ("site-client deid {latin} --encoding klingon --out out --workspace {fourth}", 2, "windows-1252"),
    ("site-client deid {nothing} --out out --workspace {fourth}", 3, "got empty files"),
    ("site-client deid {folder} --out out --workspace {fourth}", 3, "got none"),
    ("site-client deid {text} --format klingon --out out --workspace {fourth}", 2, "expected a format"),
    ("site-client deid {text} --format jsonl --out out --workspace {fourth}", 3, ""),
    ("site-client deid {table} --out out --workspace {fourth}", 3, "--text-column"),
    ("site-client deid {table} --text-column zz --out out --workspace {fourth}", 3, "'zz'"),
    ("site-client deid {parquet} --out out --workspace {fourth}", 3, "whole Parquet file"),
    ("site-client deid {fhir} --out out --workspace {fourth}", 3, "another resource"),
    ("site-client deid {nojson} --out out --workspace {fourth}", 3, "JSON"),
    ("site-client deid {notext} --out out --workspace {fourth}", 3, "got nothing"),
    ("site-client deid {text} --out {mixed} --workspace {fourth}", 2, "new folder"),
    ("site-client deid {text} --out out --mode klingon --workspace {fourth}", 2, "redact"),
    ("site-client deid {text} --workspace {fourth}", 2, "--out"),
    ("site-client deid nothing --out out --workspace {fourth}", 2, "does not exist"),
    ("site-client deid {text} --out out --workspace {north}", 30, "pull a pipeline release"),
    ("site-client deid {text} --out out --workspace {bare}", 30, "site-client pull"),
    ("site-client evaluate {text} --workspace {fourth}", 3, "nobody has labelled"),
    ("site-client evaluate {unknown} --workspace {fourth}", 3, "'SPACESHIP' (1), 'STARDATE' (1)"),
    ("site-client encode {text} --out a.parquet --workspace {north}", 3, "nobody has labelled"),
    ("site-client encode {unknown} --out a.parquet --workspace {north}", 3, "site-client labels"),
    ("site-client encode {notes} --out a.csv --workspace {north}", 10, ""),
    ("site-client encode {notes} --out missing/a.parquet --workspace {north}", 8, "make the folder"),
    ("site-client encode {notes} --out {north}.parquet --workspace {north}", 2, "which was submitted"),
    ("site-client encode {notes} --out a.parquet --labels {text} --workspace {north}", 2, "TOML"),
    ("site-client encode {notes} --out a.parquet --labels nothing.toml --workspace {north}", 8, "nothing.toml"),
    ("site-client encode {notes} --out a.parquet --advantage-quantile 0.5 --workspace {north}", 2, "--max-advantage"),
    ("site-client encode {notes} --out a.parquet --hide-above 2 --workspace {north}", 2, "hide-above"),
    ("site-client encode {notes} --out a.parquet --quarantine {notes} --workspace {north}", 2, "another"),
    # What is set aside is in clear, and goes into nothing that is written.
    ("site-client deid {notes} --out safe --quarantine safe --workspace {fourth}", 2, "apart from --out, got the same"),
    ("site-client deid {notes} --out safe --quarantine safe/a/b --workspace {fourth}", 2, "apart from --out"),
    ("site-client deid {notes} --out safe --quarantine x/../safe --workspace {fourth}", 2, "apart from --out"),
    ("site-client deid {notes} --out {notes} --quarantine aside --workspace {fourth}", 2, "apart from the notes"),
    ("site-client encode {notes} --out a --quarantine a --workspace {north}", 2, "apart from --out"),
    ("site-client encode {notes} --out a --quarantine a/b --workspace {north}", 2, "apart from --out"),
    ("site-client check {notes} --out a --quarantine a --workspace {north}", 2, "apart from --out"),
    ("site-client check {notes} --corrected a --quarantine a/b --workspace {north}", 2, "apart from --corrected"),
    ("site-client labels {notes} --out a --quarantine a --workspace {north}", 2, "apart from --out"),
    ("site-client evaluate {notes} --page a --quarantine a --workspace {fourth}", 2, "apart from --page"),
    ("site-client inspect {alone} --notes {notes} --page a --quarantine a --workspace {north}", 2, "apart from --page"),
    ("site-client review {notes} --project a --quarantine a --workspace {north}", 2, "apart from --project"),
    (
        "site-client review {notes} --project p --export a --quarantine a/b --workspace {north}",
        2,
        "apart from --export",
    ),
    # Nothing that is written takes the place of notes, or of any other file.
    ("site-client check {unknown} --out {unknown} --workspace {north}", 2, "a list of this command to replace"),
    ("site-client check {unknown} --corrected {unknown} --workspace {north}", 2, "new file"),
    ("site-client check {notes} --out {text} --workspace {north}", 2, "choose another name"),
    ("site-client check {notes} --corrected {text} --workspace {north}", 2, "choose another name"),
    ("site-client check {notes} --out {notes}/a.json --workspace {north}", 2, "apart from the notes"),
    ("site-client check {notes} --corrected {notes}/a.jsonl --workspace {north}", 2, "apart from the notes"),
    ("site-client labels {notes} --out {notes}/a.toml --workspace {north}", 2, "apart from the notes"),
    ("site-client encode {unknown} --out {unknown} --workspace {north}", 2, "apart from the notes"),
    ("site-client encode {notes} --out {notes}/a.parquet --workspace {north}", 2, "apart from the notes"),
    ("site-client encode {notes} --out {parquet} --workspace {north}", 2, "choose another name"),
    ("site-client encode {notes} --out {alone} --workspace {north}", 2, "choose another name"),
    ("site-client encode {notes} --out {south}.parquet --workspace {north}", 2, "choose another name"),
    ("site-client evaluate {notes} --page {notes}/a.html --workspace {fourth}", 2, "apart from the notes"),
    # The next run would read them as notes.
    (
        "site-client deid {notes} --out {notes}/safe --workspace {fourth}",
        2,
        "--out: expected a place apart from the notes",
    ),
    ("site-client deid {notes} --out {notes}/x/../safe --workspace {fourth}", 2, "apart from the notes"),
    (
        "site-client deid {notes} --out safe --mode surrogate --vault {notes}/a.vault --workspace {fourth}",
        2,
        "--vault: expected a place apart",
    ),
    ("site-client deid {notes} --out {notes}/.. --workspace {fourth}", 2, "expected a new folder"),
    ("site-client fragment {notes} --out {notes}/a.fragments --workspace {fourth}", 2, "apart from the notes"),
    ("site-client federate --node-key {text} --workspace {north}", 2, "choose another name"),
    ("aggregator audit-log export {text} --workspace {provider}", 2, "choose another name"),
    ("aggregator site rotate {text} --out {text} --workspace {provider}", 2, "choose another name"),
    ("aggregator train-embeddings {notes} --bin {text} --workspace {provider}", 2, "choose another name"),
    ("site-client review {notes} --export {notes}/a.jsonl --workspace {north}", 2, "apart from the notes"),
    ("site-client fragment {notes} --out a --quarantine a --workspace {fourth}", 2, "apart from --out"),
    ("site-client encode {notes} --out a.parquet --accept-unprotected --workspace {north}", 32, "--approver"),
    ("site-client labels {text} --workspace {north}", 3, "got none"),
    # Lists of names that are none.
    ("site-client lists --people {empty} --workspace {north}", 2, "a name with a letter"),
    ("site-client lists --streets {parquet} --workspace {north}", 2, "expected"),
    ("site-client lists --places {folder} --workspace {north}", 2, "is a directory"),
    ("site-client lists --people {text} --remove people --workspace {north}", 2, "give one"),
    ("site-client lists --people {text} --workspace {folder}", 30, "site-client init"),
    ("site-client labels {unknown} --out {text} --workspace {north}", 2, "new file"),
    ("site-client labels {unknown} --workspace {bare}", 30, "site-client pull"),
    ("site-client check {text} --workspace {north}", 3, "nobody has labelled"),
    ("site-client check {notes} --least 3 --workspace {north}", 2, "least"),
    # Policy, and what is no command.
    ("site-client policy set --least-cluster 0 --workspace {north}", 2, ""),
    ("site-client policy set --enable klingon --workspace {north}", 2, "klingon"),
    ("site-client policy show --workspace {folder}", 30, "site-client init"),
    ("site-client fly", 2, "fly"),
    ("aggregator fly", 2, "fly"),
    ("site-client ledger fly", 2, "fly"),
]
# The same, and what a program reads then.
JSON = [
    "site-client ledger verify --known zzz --workspace {north} --json",
    "site-client inspect {text} --workspace {north} --json",
    "aggregator shares show zz --workspace {provider} --json",
    "site-client deid {word} --out out --workspace {fourth} --json",
    "site-client fly --json",
    "aggregator ingest {text} --workspace {provider} --json",
]


@pytest.fixture(scope="module")
def world(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The places that rows name; nobody may change anything in them."""
    root = tmp_path_factory.mktemp("world")
    # What stands in the log beside the database would be written into it whenever the last connection of an earlier test goes.
    gc.collect()
    with closing(sqlite3.connect(built_loop.provider / "registry.sqlite")) as registry:
        registry.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    bare = root / "bare"
    assert hospital("init", bare, "--site", "bare").exit_code == 0
    request = root / "bare.request.json"
    assert hospital("enrol", "--out", request, "--workspace", bare).exit_code == 0
    made: dict[str, bytes] = {
        "text": b"Seen by Ana Marchbanks.",
        "word": b"PK\3\4\0\0",
        "latin": "Se\u00f1ora Marchbanks".encode("latin-1"),
        "empty": b"",
        "torn": b"deid-commons fragments\n{",
        "nothing": b"",
        "table": b"id,note\n1,Seen\n",
        "parquet": b"PAR1" + bytes(40),
        "fhir": b'{"resourceType": "Patient", "id": "4711"}\n',
        "nojson": b"{",
        "notext": b'{"id": "a", "text": null}\n',
        "unknown": b'{"id": "a", "text": "Ana, 2019", "annotations": [{"start": 0, "end": 3, "category": "SPACESHIP"}, '
        b'{"start": 5, "end": 9, "category": "STARDATE"}]}\n',
    }
    endings = {"word": "docx", "table": "csv", "parquet": "parquet", "fhir": "ndjson"}
    endings |= dict.fromkeys(("nothing", "nojson", "notext", "unknown"), "jsonl")
    places = {name: root / f"{name}.{endings.get(name, 'txt')}" for name in made}
    for name, data in made.items():
        places[name].write_bytes(data)
    for name in ("folder", "mixed"):
        (root / name).mkdir()
    (root / "ring").symlink_to("ring")
    (root / "rings").mkdir()
    (root / "rings" / "ring").symlink_to("ring")
    for name in ("a.txt", "b.docx", "c.pdf"):
        (root / "mixed" / name).write_bytes(b"Seen")
    shutil.copy(built_loop.root / "north.parquet", root / "alone.parquet")
    return {
        **places,
        "root": root,
        "folder": root / "folder",
        "mixed": root / "mixed",
        "ring": root / "ring",
        "rings": root / "rings",
        "alone": root / "alone.parquet",
        "notes": built_loop.notes("north"),
        "south": built_loop.site("south"),
        "bare": bare,
        "request": request,
        "north": built_loop.site("north"),
        "fourth": built_loop.site("fourth"),
        "provider": built_loop.provider,
        "releases": built_loop.releases,
    }


def traces(*folders: Path) -> dict[str, tuple[int, int]]:
    """Every file below, with its size and when it was changed, but for what an open database keeps beside it."""
    found = {}
    for folder in folders:
        for inside, _, names in os.walk(folder):
            for name in names:
                if not name.endswith(("-shm", "-wal")):
                    stated = os.lstat(path := os.path.join(inside, name))
                    found[path] = (stated.st_size, stated.st_mtime_ns)
    return found


@pytest.mark.parametrize(("line", "code", "says"), ROWS, ids=[line for line, _, _ in ROWS])
def test_one_plain_line_its_code_and_nothing_left(
    line: str, code: int, says: str, world: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # A workspace that the environment names would take part.
    monkeypatch.delenv("DEID_COMMONS_SITE", raising=False)
    watched = {world["root"], world["north"], world["fourth"], world["provider"]}
    before = traces(*watched)
    program, *words = [word.format(**world) for word in shlex.split(line)]
    result = {"site-client": hospital, "aggregator": provider}[program](*words)
    assert result.exit_code == code, (result.output, result.exception)
    assert code in TABLE
    errors = result.stderr.splitlines()
    assert errors
    assert len(errors) <= 2
    assert errors[-1].startswith("error: ")
    assert says in result.stderr
    assert "Traceback" not in result.output
    plain = result.stderr
    for place in sorted(map(str, world.values()), key=len, reverse=True):
        plain = plain.replace(place, "")
    assert not PROGRAMMER.search(plain), PROGRAMMER.search(plain)
    assert traces(*watched) == before
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("line", JSON)
def test_a_program_reads_the_same(
    line: str, world: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = [word.format(**world) for word in shlex.split(line)]
    result = {"site-client": hospital, "aggregator": provider}[program](*words)
    told = json.loads(result.stdout)
    if "ingest" in words:
        # What was done is told whatever ends the run.
        assert told["shares"] or "error" in told
        return
    assert told == {"error": result.stderr.removeprefix("error: ").strip(), "exit_code": result.exit_code}


def test_a_stick_that_was_taken_in_before_says_so(built_loop: Loop, tmp_path: Path) -> None:
    stick = shutil.copytree(built_loop.stick, tmp_path / "stick")
    told = done(provider("ingest", stick, "--workspace", built_loop.provider)).stdout
    assert told.splitlines() == ["north share 1: accepted, already here", "south share 1: accepted, already here"]
