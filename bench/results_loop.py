"""Measures the figures of docs/results/loop.json that need a training: `python -m bench.results_loop [PART...]`.

Each part leaves what it has measured in bench/.runs, so that a run that was cut goes on where it stopped; remove the folder to
measure afresh. One torch thread; parts may run side by side in processes of their own.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

from aggregator import workspace
from aggregator.enrolled import sites
from aggregator.ingestion.ingest import ingest
from aggregator.publishing import releases
from aggregator.registry.states import ShareState
from aggregator.training import head as train_head
from aggregator.training import representer as train_repr
from aggregator.training.augmenting import AugmentOptions
from bench import corpora
from bench.outcomes import RUNS, Outcome, f1_entry, load_or_measure, outcome, score_pipeline
from bench.results import RESULTS, Entry, record
from foundation.files import write_text
from foundation.folders import new_folder
from protocols.keys.enrolment import write_request
from protocols.share.bundle import seal_bundle
from shared.document import Document
from shared.embeddings.files.artefact import load_vectors, save_vectors
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline, RawEncoder, load_pipeline
from shared.pipeline.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig
from site_client import workspace as site_workspace
from site_client.policy.enforcing import Acceptance
from site_client.releases import pull as site_pull
from site_client.sharing.encode import encode

SEEDS = (1, 2, 3)
COMMAND = "make results-loop"
SPANISH = FastTextSettings(dim=200, epochs=12)
ENGLISH = FastTextSettings(dim=100, epochs=8)
# Sites are compared with one another, each under the same budget.
SITE_EPOCHS = 12


def vectors(name: str, texts: Callable[[], object], settings: FastTextSettings) -> WordVectors:
    """Word vectors, trained once."""
    folder = RUNS / f"vectors-{name}"
    if not folder.exists():
        RUNS.mkdir(exist_ok=True)
        with new_folder(folder) as staged:
            save_vectors(train_fasttext(texts(), settings, seed=1), staged)  # type: ignore[arg-type]
    return load_vectors(folder)


# No release of a measurement is audited.
_MEASUREMENT = Acceptance("a measurement")


ALONE = train_head.HeadOptions(
    hold_out=False, last_word=False, operating_points=False, undersampling=0.0, augment=AugmentOptions(methods=())
)


def private_pipeline(
    material: train_repr.PublicMaterial,
    shared: dict[str, list[Document]],
    scheme: str,
    options: train_repr.RepresenterOptions,
    config: TaggingConfig,
    head: train_head.HeadOptions = ALONE,
    folder: Path | None = None,
) -> Pipeline:
    """The whole loop: provider with public notes, sites with notes to share, pool, release.

    Args:
        material: what the provider has.
        shared: the notes of each site.
        scheme: name of the label scheme.
        options: of the representer.
        config: of the head.
        head: what it learns from, and what follows it; by default a tagger alone that holds nothing back, like the models on raw notes that
            it is compared with.
        folder: keeps all workspaces, that of a hospital with the release as `user`; None keeps nothing.
    """
    with tempfile.TemporaryDirectory() as name:
        root = folder or Path(name)
        provider = workspace.create(root / "provider", "bench", scheme)
        train_repr.train(provider, material, options)
        release = releases.publish_representer(provider, releases.Publishing(audited=False))
        fingerprint = provider.repository().fingerprint.key_id
        for site, notes in shared.items():
            client = site_workspace.create(root / site, site)
            created = release.manifest.created
            request = write_request(
                root / f"{site}.json",
                client.key(),
                site=site,
                contact="",
                created=created,
                valid_until=created + datetime.timedelta(days=1),
            )
            sites.enrol(provider, root / f"{site}.json", request.fingerprint)
            client, _ = site_pull.pull(client, str(provider.releases), fingerprint, acceptance=_MEASUREMENT)
            payload, bundle = root / f"{site}.parquet", root / f"{site}.share"
            encode(client, notes, payload, acceptance=_MEASUREMENT)
            seal_bundle(payload, bundle, key=client.key(), recipient=client.pinned_provider().recipient)
            decision = ingest(provider, bundle)
            if decision.state != ShareState.ACCEPTED:
                raise RuntimeError(
                    f"{site}: expected a share that is accepted, it is {decision.state}: {decision.reason}"
                )
        train_head.train(provider, config, head)
        releases.publish_pipeline(provider, releases.Publishing(audited=False))
        user = site_workspace.create(root / "user", "user")
        _, pulled = site_pull.pull(user, str(provider.releases), fingerprint, acceptance=_MEASUREMENT)
        return load_pipeline(pulled.folder)


def _three_part(
    notes: list[Document],
    shared: dict[str, list[Document]],
    words: WordVectors,
    scheme: str,
    seed: int,
    epochs: int,
) -> Pipeline:
    """The loop with the paper's training."""
    options = train_repr.RepresenterOptions("three-part", neighbours=100, dim=50, seed=seed)
    material = train_repr.PublicMaterial(notes, words)
    return private_pipeline(material, shared, scheme, options, TaggingConfig(epochs=epochs, seed=seed))


def meddocan_raw() -> None:
    """Non-private tagger on MEDDOCAN."""
    words = vectors("es", corpora.meddocan_texts, SPANISH)
    train, dev = corpora.meddocan("train"), corpora.meddocan("dev")
    scheme = load_scheme("meddocan")
    runs = [
        outcome(
            f"meddocan-raw-{seed}",
            lambda seed=seed: score_pipeline(
                train_raw_model(train, RawEncoder(words, scheme), TaggingConfig(seed=seed)), dev
            ),  # type: ignore[misc]
        )
        for seed in SEEDS
    ]
    note = "fastText 200d on train + background, casing, 20 epochs"
    record(
        "loop",
        [
            f1_entry(
                "MEDDOCAN dev, token-binary F1, non-private tagger",
                runs,
                "tokens",
                0.987,
                "meddocan/dev",
                note,
                COMMAND,
            ),
            f1_entry(
                "MEDDOCAN dev, strict entity F1, non-private tagger",
                runs,
                "entities",
                0.956,
                "meddocan/dev",
                note,
                COMMAND,
            ),
        ],
    )


def meddocan_private() -> None:
    """Private pipeline on MEDDOCAN, N = 100, d = 50."""
    words = vectors("es", corpora.meddocan_texts, SPANISH)
    train, dev = corpora.meddocan("train"), corpora.meddocan("dev")
    runs = [
        outcome(
            f"meddocan-private-{seed}",
            lambda seed=seed: score_pipeline(_three_part(train, {}, words, "meddocan", seed, 20), dev),  # type: ignore[misc]
        )
        for seed in SEEDS
    ]
    note = "three-part training, preset standard; head on one noisy draw, inference in-house without noise"
    record(
        "loop",
        [
            f1_entry(
                "MEDDOCAN dev, token-binary F1, private pipeline N=100 d=50",
                runs,
                "tokens",
                0.978,
                "meddocan/dev",
                note,
                COMMAND,
            ),
            f1_entry(
                "MEDDOCAN dev, strict entity F1, private pipeline N=100 d=50",
                runs,
                "entities",
                None,
                "meddocan/dev",
                note,
                COMMAND,
            ),
        ],
    )


def en_sites() -> None:
    """One site alone against the pooled pipeline, on every site of `en_sites`."""
    words = vectors("en", corpora.english_texts, ENGLISH)
    scheme = load_scheme("i2b2_2014")
    train = {site: corpora.en_site(site, "train") for site in corpora.SITES}
    test = {site: corpora.en_site(site, "test") for site in corpora.SITES}
    entries: list[Entry] = []
    table: dict[str, dict[str, Outcome]] = {}

    def measured(name: str, label: str, build: Callable[[], Pipeline], note: str) -> None:
        def measure() -> dict[str, object]:
            model = build()
            return {site: asdict(score_pipeline(model, test[site])) for site in corpora.SITES}

        found = load_or_measure(name, measure)
        state = str(found.pop("commit"))
        for site, one in found.items():
            run = table.setdefault(label, {})[site] = Outcome.of(one, state)
            print(f"{label} -> {site}: {run.token_f1:.3f} / {run.entity_f1:.3f}", flush=True)
            for kind, counts in (("token-binary", "tokens"), ("strict entity", "entities")):
                entries.append(
                    f1_entry(
                        f"en_sites, {label}, tested on {site.upper()}, {kind} F1",
                        [run],
                        counts,
                        None,
                        f"en_sites/site_{site}/test",
                        note,
                        COMMAND,
                    )
                )

    for site in corpora.SITES:
        measured(
            f"en-raw-{site}",
            f"raw notes of {site.upper()} alone",
            lambda site=site: train_raw_model(
                train[site], RawEncoder(words, scheme), TaggingConfig(epochs=SITE_EPOCHS, seed=1)
            ),  # type: ignore[misc]
            f"fastText 100d on public text and site A, {SITE_EPOCHS} epochs",
        )
    for name, sharing in (("A-E", "bcde"), ("A-D", "bcd")):
        measured(
            f"en-private-{name}",
            f"shares of three-part {name} pooled",
            lambda sharing=sharing: _three_part(  # type: ignore[misc]
                train["a"], {f"site-{site}": train[site] for site in sharing}, words, "i2b2_2014", 1, SITE_EPOCHS
            ),
            f"provider holds A and trains the representer (N=100, d=50, standard); the others share; {SITE_EPOCHS} epochs",
        )
    measured(
        "en-raw-all",
        "raw notes of A-E pooled (the unreachable ideal)",
        lambda: train_raw_model(
            [note for notes in train.values() for note in notes],
            RawEncoder(words, scheme),
            TaggingConfig(epochs=SITE_EPOCHS, seed=1),
        ),
        f"fastText 100d on public text and site A, {SITE_EPOCHS} epochs",
    )
    record("loop", entries)
    write_text(RESULTS / "loop_en_sites.md", _sites_table(table), private=False)


def _sites_table(table: dict[str, dict[str, Outcome]]) -> str:
    """Every model on every hospital, as Markdown."""
    lines = [
        "# One hospital alone against pooled shares of three-part, hospital by hospital",
        "",
        f"Written by `{COMMAND}`; do not edit. Token-binary F1 / strict entity F1 on the test notes of each hospital of `en_sites`; one seed.",
        "Without intervals: one seed tells little of small differences. Templates recur within a hospital, so scores at hospitals that a model learned from flatter it;",
        "the honest comparison is the pool A-D against a model of one hospital, at E, which is in neither.",
        f"Measured at {', '.join(sorted({one.commit for found in table.values() for one in found.values()}))}; what shares of the default are worth at these "
        "hospitals stands in [privacy.md](privacy.md).",
        "",
        f"| trained on | {' | '.join(site.upper() for site in corpora.SITES)} |",
        "|---|" + "---|" * len(corpora.SITES),
    ]
    lines += [
        f"| {label} | "
        + " | ".join(f"{found[site].token_f1:.3f} / {found[site].entity_f1:.3f}" for site in corpora.SITES)
        + " |"
        for label, found in table.items()
    ]
    return "\n".join([*lines, ""])


def times() -> None:
    """How long the demonstration and the tests take, as a person would start them."""
    entries = []
    for name, command, limit in (
        ("make demo, after installation", [sys.executable, "-m", "aggregator", "demo"], 600.0),
        ("make test", [sys.executable, "-m", "pytest", "-q", "-n", "2"], 600.0),
    ):
        with tempfile.TemporaryDirectory() as folder:
            extra = [f"{folder}/demo"] if "demo" in name else []
            began = time.monotonic()
            subprocess.run([*command, *extra], check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parent.parent)
            seconds = time.monotonic() - began
        entries.append(
            Entry(name, round(seconds), limit, "<=", "s", None, 1, "generated notes", COMMAND, "wall clock on 2 cores")
        )
    record("loop", entries)


PARTS = {"meddocan-raw": meddocan_raw, "meddocan-private": meddocan_private, "en-sites": en_sites, "times": times}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
