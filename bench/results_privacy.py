"""Measures utility and worth of sharing for docs/results/privacy.json: `python -m bench.results_privacy [PART...]`.

Like bench/results_loop.py: every run is kept in bench/.runs, one torch thread, parts may run side by side. The provider's
word vectors never see a hospital's text: they are trained on public text, and on MEDDOCAN also on the provider's 50 notes.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from faker.providers.person import en_US as person

from aggregator import audit as audits
from aggregator import train_repr, workspace
from aggregator.train_repr import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.results import Entry, record
from bench.results_loop import RUNS, SEEDS, Outcome, f1, f1_entry, judged, kept, outcome, private_pipeline, vectors
from shared.anonymity.names import full_names, read_names
from shared.corpus import read_corpus
from shared.document import Document
from shared.embeddings.generalised import folded
from shared.embeddings.training import FastTextSettings
from shared.embeddings.vectors import WordVectors
from shared.encoding import TokenisedSentences, tokenised, tokenised_chunks
from shared.errors import ConfigurationError
from shared.evaluation import clopper_pearson
from shared.labels import load_scheme
from shared.models.noise_source import PrivateNoise
from shared.pipeline import Encoder, Pipeline, load_encoder
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.attacks.matching import MatchingSettings
from shared.privacy.attacks.sharing import joined
from shared.privacy.audit import FULL, AuditMaterial, run_audit
from shared.privacy.policy import load_policy
from shared.privacy.word_pairs import WHILE_ENCODING
from shared.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig
from site_client.guard import Guard

COMMAND = "make results-privacy"
SETTINGS = FastTextSettings(dim=100, epochs=8)
PROVIDER_NOTES = 50
CLUSTERS = (1000, 100)
# The same budget for every model of a comparison; the provider alone, with fewer notes, passes over them more often.
MEDDOCAN_EPOCHS = 12
SITE_EPOCHS = 6
ALONE_TIMES = 3
_RESAMPLES = 1000
# Smaller than the paper's 300 units and every pair an epoch, so that fifteen runs end within the hour; the positive
# control of the same size breaks clear vectors.
ADVERSARY_HIDDEN = 100
ADVERSARY_PAIRS = 500


@cache
def spanish() -> WordVectors:
    """Vectors of the provider's public text."""
    return vectors("es-provider", lambda: _lower(_spanish_texts()), SETTINGS)


@cache
def english() -> WordVectors:
    """Vectors of public English text, without any hospital's."""
    return vectors("en-public", lambda: _lower(corpora.public_english_texts()), SETTINGS)


def _lower(texts: Iterator[str]) -> Iterator[str]:
    # The k-anonymous vocabulary ignores casing, and the model that it is compared with shall have the same vectors.
    return (text.lower() for text in texts)


def _spanish_texts() -> Iterator[str]:
    for document in corpora.meddocan("train")[:PROVIDER_NOTES]:
        yield document.text
    yield from background()


def background() -> Iterator[str]:
    """Public Spanish text without labels."""
    for document in read_corpus(corpora.path("meddocan/background/background.jsonl.gz")):
        yield document.text


@cache
def spanish_names() -> tuple[tuple[str, ...], ...]:
    """Given names and surnames of Spain."""
    return tuple(read_names(corpora.path(f"lists_es/{name}.csv")) for name in ("hombres", "mujeres", "apellidos"))


@cache
def american_names() -> tuple[tuple[str, ...], ...]:
    """Faker's given names, frequent surnames and all cities of the United States."""
    with corpora.path("lists_us/us_cities.csv").open(encoding="utf-8", newline="") as file:
        cities = dict.fromkeys(word for row in csv.DictReader(file) for word in row["CITY"].split() if len(word) > 2)
    surnames = read_names(corpora.path("lists_us/surnames_census2000_top1000.csv"))
    return tuple(person.Provider.first_names), surnames, tuple(cities)


def private(
    material: PublicMaterial,
    shared: dict[str, list[Document]],
    scheme: str,
    cluster_size: int,
    config: TaggingConfig,
) -> Pipeline:
    """The released pipeline of a provider and the sites that share, by the default procedure."""
    return private_pipeline(material, shared, scheme, RepresenterOptions(cluster_size=cluster_size), config)


@dataclass(frozen=True)
class Comparison:
    """What sharing is worth on one split: runs by seed, or by rotation.

    Args:
        alone: the provider's notes, raw.
        ideal: the notes of all pooled, raw: the unreachable.
        private: all pooled by shares.
    """

    alone: list[Outcome]
    ideal: list[Outcome]
    private: list[Outcome]

    def gain(self, kind: str) -> tuple[float, tuple[float, float]]:
        """(private - alone) / (ideal - alone) of the mean F1, with a bootstrap interval over documents.

        Args:
            kind: "tokens" or "entities".
        """
        sides = [self.alone, self.ideal, self.private]
        return _with_interval(sides, kind, lambda alone, ideal, private: (private - alone) / (ideal - alone))


def _with_interval(
    sides: list[list[Outcome]], kind: str, figure: Callable[..., float]
) -> tuple[float, tuple[float, float]]:
    """A figure of the mean F1 of each side, with a bootstrap interval over documents, the same ones for all sides."""
    runs = [[np.array(getattr(one, kind), dtype=np.int64) for one in side] for side in sides]
    generator = np.random.default_rng(0)

    def means(chance: np.random.Generator | None) -> list[float]:
        totals = [0.0] * len(runs)
        for index in range(len(runs[0])):
            documents = len(runs[0][index])
            chosen = np.arange(documents) if chance is None else chance.integers(documents, size=documents)
            for side, outcomes in enumerate(runs):
                totals[side] += f1(outcomes[index][chosen].tolist())
        return [total / len(runs[0]) for total in totals]

    low, high = np.quantile([figure(*means(generator)) for _ in range(_RESAMPLES)], [0.025, 0.975])
    return figure(*means(None)), (float(low), float(high))


def _lost_entry(measure: str, sides: list[list[Outcome]], kind: str, target: float, data: str, note: str) -> Entry:
    """What the second side loses against the first."""
    value, (low, high) = _with_interval(sides, kind, lambda raw, private: raw - private)
    commits = ", ".join(sorted({one.commit for side in sides for one in side}))
    interval = round(low, 4), round(high, 4)
    note = f"{note}; interval: bootstrap over documents"
    return Entry(measure, round(value, 4), target, "<=", "F1", interval, len(sides[0]), data, COMMAND, note, commits)


def meddocan() -> None:
    """Worth and utility on MEDDOCAN: the provider holds 50 notes, hospitals 450."""
    train, dev = corpora.meddocan("train"), corpora.meddocan("dev")
    provider, hospital = train[:PROVIDER_NOTES], train[PROVIDER_NOTES:]
    scheme = load_scheme("meddocan")
    for seed in SEEDS:
        config = TaggingConfig(epochs=MEDDOCAN_EPOCHS, seed=seed)
        alone = TaggingConfig(epochs=ALONE_TIMES * MEDDOCAN_EPOCHS, seed=seed)
        runs: dict[str, Callable[[], Pipeline]] = {
            "ideal": lambda config=config: train_raw_model(train, folded(spanish(), spanish_names()), scheme, config),  # type: ignore[misc]
            "alone": lambda alone=alone: train_raw_model(provider, folded(spanish(), spanish_names()), scheme, alone),  # type: ignore[misc]
            "k1000": lambda config=config: private(  # type: ignore[misc]
                PublicMaterial(provider, spanish(), background(), spanish_names()),
                {"hospital": hospital}, "meddocan", 1000, config,
            ),
        }  # fmt: skip
        for name, build in runs.items():
            outcome(f"privacy-meddocan-{name}-{seed}", lambda build=build: judged(build(), dev))  # type: ignore[misc]
    meddocan_table()


def meddocan_table() -> None:
    """Record the seeds that are there."""
    found: dict[str, list[Outcome]] = {"ideal": [], "alone": [], "k1000": []}
    for seed in SEEDS:
        paths = {name: RUNS / f"privacy-meddocan-{name}-{seed}.json" for name in found}
        if all(path.exists() for path in paths.values()):
            for name, path in paths.items():
                found[name].append(Outcome(**json.loads(path.read_text(encoding="utf-8"))))
    record("privacy", _meddocan_entries(found))


def _meddocan_entries(found: dict[str, list[Outcome]]) -> list[Entry]:
    compared = Comparison(found["alone"], found["ideal"], found["k1000"])
    setting = f"provider {PROVIDER_NOTES} notes, hospitals 450; fastText 100d of public text, {MEDDOCAN_EPOCHS} epochs"
    entries = []
    for kind, words, lost, worth in (
        ("tokens", "token-binary", 0.004, None),
        ("entities", "strict entity", 0.015, 0.65),
    ):
        for name, label in (
            ("ideal", "raw notes pooled"),
            ("alone", "provider alone, raw"),
            ("k1000", "default preset, K=1000"),
        ):
            entries.append(
                f1_entry(
                    f"MEDDOCAN 50+450, dev, {words} F1, {label}",
                    found[name],
                    kind,
                    None,
                    "meddocan/dev",
                    setting,
                    COMMAND,
                )
            )
        measure = f"MEDDOCAN 50+450, dev, {words} F1 lost against raw pooling, default preset"
        entries.append(_lost_entry(measure, [found["ideal"], found["k1000"]], kind, lost, "meddocan/dev", setting))
        gain, interval = compared.gain(kind)
        entries.append(
            Entry(f"MEDDOCAN 50+450, dev, worth of sharing, {words} F1, default preset", round(gain, 3), worth,
                  ">=" if worth else "", "of the ideal gain", (round(interval[0], 3), round(interval[1], 3)),
                  len(found["ideal"]), "meddocan/dev", COMMAND, setting)
        )  # fmt: skip
    state = ", ".join(sorted({one.commit for side in found.values() for one in side}))
    return [replace(entry, commit=state) for entry in entries]


def utility() -> None:
    """Utility on MEDDOCAN where the provider holds all 500 notes, as in the paper: what the vocabulary alone costs."""
    train, dev = corpora.meddocan("train"), corpora.meddocan("dev")
    found: list[Outcome] = []
    for seed in SEEDS:
        config = TaggingConfig(epochs=MEDDOCAN_EPOCHS, seed=seed)
        material = PublicMaterial(train, spanish(), background(), spanish_names())
        found.append(
            outcome(
                f"privacy-meddocan-public-{seed}",
                lambda material=material, config=config: judged(  # type: ignore[misc]
                    private(material, {}, "meddocan", 1000, config), dev
                ),
            )
        )
    ideal = [Outcome(**kept(f"privacy-meddocan-ideal-{seed}", _missing)) for seed in SEEDS]  # type: ignore[arg-type]
    setting = f"the provider holds all 500 notes; {MEDDOCAN_EPOCHS} epochs, fastText 100d of public text; raw with the same inputs"
    entries = []
    for kind, words, lost in (("tokens", "token-binary", 0.004), ("entities", "strict entity", 0.015)):
        entries.append(
            f1_entry(f"MEDDOCAN dev, {words} F1, default preset", found, kind, None, "meddocan/dev", setting, COMMAND)
        )
        measure = f"MEDDOCAN dev, {words} F1 lost against the non-private tagger, default preset"
        entries.append(_lost_entry(measure, [ideal, found], kind, lost, "meddocan/dev", setting))
    record("privacy", entries)


def utility_sites() -> None:
    """The same on `en_sites`: the provider holds the notes of all five sites."""
    notes = [note for site in corpora.SITES for note in corpora.en_site(site, "train")]
    test = {site: corpora.en_site(site, "test") for site in corpora.SITES}
    scheme = load_scheme("i2b2_2014")
    raw: list[Outcome] = []
    public: list[Outcome] = []

    def private_model(config: TaggingConfig) -> Pipeline:
        material = PublicMaterial(notes, english(), corpora.public_english_texts(), american_names())
        return private(material, {}, "i2b2_2014", 1000, config)

    for seed in SEEDS:
        config = TaggingConfig(epochs=SITE_EPOCHS, seed=seed)
        builds: list[tuple[str, list[Outcome], Callable[[], Pipeline]]] = [
            ("raw", raw, lambda config=config: train_raw_model(notes, folded(english(), american_names()), scheme, config)),  # type: ignore[misc]
            ("public", public, lambda config=config: private_model(config)),  # type: ignore[misc]
        ]  # fmt: skip
        for name, side, build in builds:
            found = kept(f"privacy-sites-all-{name}-{seed}", lambda build=build: _on_all(build(), test))  # type: ignore[misc]
            side += [Outcome(**{**found[site], "commit": found["commit"]}) for site in corpora.SITES]  # type: ignore[dict-item]
    setting = f"the provider holds the notes of all five sites; mean over their tests, {SITE_EPOCHS} epochs; raw with the same inputs"
    entries = [
        _lost_entry(
            f"en_sites, {words} F1 lost against the non-private tagger, default preset",
            [raw, public],
            kind,
            lost,
            "en_sites/test",
            setting,
        )
        for kind, words, lost in (("tokens", "token-binary", 0.004), ("entities", "strict entity", 0.015))
    ]
    record("privacy", [replace(entry, seeds=len(SEEDS)) for entry in entries])


def _missing() -> dict[str, object]:
    raise ConfigurationError(
        "expected the models on raw notes, found none; run `python -m bench.results_privacy meddocan`"
    )


def sites() -> None:
    """Worth at hospitals: each site in turn is the provider, the next three share, the last is unseen."""
    train = {site: corpora.en_site(site, "train") for site in corpora.SITES}
    test = {site: corpora.en_site(site, "test") for site in corpora.SITES}
    scheme = load_scheme("i2b2_2014")
    config = TaggingConfig(epochs=SITE_EPOCHS, seed=1)
    alone = TaggingConfig(epochs=ALONE_TIMES * SITE_EPOCHS, seed=1)
    builds: dict[str, Callable[[str, list[str]], Pipeline]] = {
        "alone": lambda provider, _: train_raw_model(train[provider], folded(english(), american_names()), scheme, alone),
        "ideal": lambda provider, sharing: train_raw_model(
            [note for site in (provider, *sharing) for note in train[site]],
            folded(english(), american_names()), scheme, config,
        ),
    }  # fmt: skip
    for size in CLUSTERS:
        builds[f"k{size}"] = lambda provider, sharing, size=size: private(  # type: ignore[misc]
            PublicMaterial(train[provider], english(), corpora.public_english_texts(), american_names()),
            {f"site-{site}": train[site] for site in sharing}, "i2b2_2014", size, config,
        )  # fmt: skip
    # Rotation after rotation, so that a run that is cut leaves whole ones; the smaller clusters last.
    for names in (("alone", "ideal", "k1000"), ("k100",)):
        for turn in range(len(corpora.SITES)):
            provider, *sharing = (corpora.SITES[turn:] + corpora.SITES[:turn])[:4]
            for name in names:
                kept(
                    f"privacy-sites-{provider}-{name}",
                    lambda name=name, provider=provider, sharing=sharing: _on_all(  # type: ignore[misc]
                        builds[name](provider, sharing), test
                    ),
                )
    sites_table()


def _on_all(pipeline: Pipeline, test: dict[str, list[Document]]) -> dict[str, object]:
    found = {site: judged(pipeline, notes) for site, notes in test.items()}
    print({site: (round(one.token_f1, 4), round(one.entity_f1, 4)) for site, one in found.items()}, flush=True)
    return {site: asdict(one) for site, one in found.items()}


def sites_table() -> None:
    """Record the rotations that are there."""
    entries: list[Entry] = []
    for size, unseen_target, sharing_target in ((1000, 0.5, 0.9), (100, 0.75, None)):
        for where, target in (("unseen", unseen_target), ("sharing", sharing_target)):
            compared, turns = _rotations(f"k{size}", where)
            if not turns:
                continue
            for kind, words in (("tokens", "token-binary"), ("entities", "strict entity")):
                gain, interval = compared.gain(kind)
                aimed = target if kind == "tokens" else None
                scores = [statistics.fmean(f1(getattr(one, kind)) for one in side)
                          for side in (compared.alone, compared.ideal, compared.private)]  # fmt: skip
                entries.append(
                    Entry(f"en_sites, {where} sites, worth of sharing, {words} F1, K={size}", round(gain, 3), aimed,
                          ">=" if aimed else "", "of the ideal gain", (round(interval[0], 3), round(interval[1], 3)),
                          1, "en_sites/test", COMMAND,
                          f"{turns} rotations; mean F1 provider alone {scores[0]:.4f}, raw pooled {scores[1]:.4f}, private {scores[2]:.4f}; "
                          f"{SITE_EPOCHS} epochs, interval over documents only",
                          ", ".join(sorted({one.commit for one in compared.private})))
                )  # fmt: skip
    record("privacy", entries)


def _rotations(name: str, where: str) -> tuple[Comparison, int]:
    """All rotations that were run, at the unseen site or at the sharing ones."""
    compared = Comparison([], [], [])
    turns = 0
    for turn, provider in enumerate(corpora.SITES):
        paths = [RUNS / f"privacy-sites-{provider}-{run}.json" for run in ("alone", "ideal", name)]
        if not all(path.exists() for path in paths):
            continue
        turns += 1
        order = corpora.SITES[turn:] + corpora.SITES[:turn]
        for side, path in zip((compared.alone, compared.ideal, compared.private), paths, strict=True):
            found = json.loads(path.read_text(encoding="utf-8"))
            for site in order[4:] if where == "unseen" else order[1:4]:
                side.append(Outcome(**{**found[site], "commit": found["commit"]}))
    return compared, turns


def _encoder() -> Encoder:
    """The default preset, made by the provider of the MEDDOCAN comparison."""
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    material = PublicMaterial(provider, spanish(), background(), spanish_names())
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        began = time.monotonic()
        train_repr.train(place, material, RepresenterOptions())
        print(f"train-repr: {time.monotonic() - began:.0f} s", flush=True)
        return load_encoder(place.representer)


def adversaries() -> None:
    """The paper's criterion: fresh T1 and T2 after 50 epochs, N = 100, 500 and 1000, five seeds."""
    encoder = _encoder()
    known, target = (_sentences(corpora.meddocan("train")[200:300]), _sentences(corpora.meddocan("dev")))
    for candidates in (100, 500, 1000):
        for seed in range(1, 6):
            kept(f"privacy-adversaries-{candidates}-{seed}", lambda candidates=candidates, seed=seed: {  # type: ignore[misc, arg-type]
                "findings": [asdict(one) for one in fresh_adversaries(
                    encoder, spanish(), known, target,
                    AdversarySettings(candidates, pairs=ADVERSARY_PAIRS, hidden=ADVERSARY_HIDDEN, seed=seed),
                )]
            })  # fmt: skip
    entries = []
    for candidates in (100, 500, 1000):
        runs = [json.loads((RUNS / f"privacy-adversaries-{candidates}-{seed}.json").read_text(encoding="utf-8"))
                for seed in range(1, 6)]  # fmt: skip
        for name in ("T1", "T2"):
            hits = trials = 0
            outside = 0
            for run in runs:
                one = next(one for one in run["findings"] if one["attack"] == f"fresh adversary {name}")
                hits, trials = hits + round(one["value"] * one["trials"]), trials + one["trials"]
                outside += one["interval"][0] > 0.5
            controls = [one["value"] for run in runs for one in run["findings"]
                        if "control" in one["attack"] and name in one["attack"]]  # fmt: skip
            low, high = clopper_pearson(hits, trials)
            entries.append(
                Entry(f"fresh adversary {name}, 50 epochs, N={candidates}: lower end of the 95% interval", round(low, 4), 0.5,
                      "<=", "decisions right", (round(low, 4), round(high, 4)), 5, "meddocan/dev", COMMAND,
                      f"accuracy {hits / trials:.4f} of {trials} decisions of five seeds, seeds whose own interval lies above chance: {outside}; "
                      f"positive control (clear vectors) {min(controls):.3f} to {max(controls):.3f}; {ADVERSARY_HIDDEN} units, {ADVERSARY_PAIRS} pairs an epoch",
                      str(runs[0]["commit"]))
            )  # fmt: skip
    record("privacy", entries)


def _sentences(notes: list[Document]) -> TokenisedSentences:
    return joined(list(tokenised_chunks(tokenised(notes), load_scheme("meddocan"))))


def strong() -> None:
    """The strong criterion, for the default preset at N = K = 1000: the full audit on MEDDOCAN dev."""

    def measure() -> dict[str, object]:
        encoder = _encoder()
        material = AuditMaterial(
            spanish(), corpora.meddocan("train")[100:400], corpora.meddocan("dev"), full_names("meddocan", 12_000, 0),
            ["NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA"],
        )  # fmt: skip
        settings = replace(
            FULL,
            adversary=None,
            membership=None,
            matching=(MatchingSettings(targets=2000, shares=(1, 100)), FULL.matching[1]),
        )  # fmt: skip
        began = time.monotonic()

        def told(name: str, done: int, total: int) -> None:
            # Attacks that train report their own epochs, too.
            print(f"{time.monotonic() - began:.0f} s: {name} {done}/{total}", flush=True)

        found = run_audit(encoder, material, settings, told)
        return {"findings": [asdict(one) for one in found.findings], "seconds": time.monotonic() - began}

    found = kept("privacy-strong", measure)
    listed = found["findings"]
    assert isinstance(listed, list)
    by_measure = {(one["attack"], one["measure"]): one for one in listed}
    entries = []
    for attack, name, target, label in (
        ("match", "top-1 of 100, nearest neighbours, 1 share", 0.015, "match top-1 of 100 nearest neighbours"),
        ("match", "top-1 of 100, nearest neighbours, 100 shares", 0.015, "match top-1 of 100 nearest neighbours, 100 shares averaged"),
        ("match", "top-1 of 100, own set, 1 share", 0.015, "match top-1 of 100 of the own set"),
        ("match", "top-1 of 100, own set, 100 shares", 0.015, "match top-1 of 100 of the own set, 100 shares averaged"),
        ("white box", "Bayes accuracy, representation, all PHI, mean", 0.52, "white box, mean Bayes accuracy, N=1000"),
        ("white box", "Bayes accuracy, representation, all PHI, 99th percentile", 0.60, "white box, 99th percentile of Bayes accuracy, N=1000"),
        ("token inversion", "categories in which top-1 lies above context-only, jointly at 95%", 0, "PHI categories whose inversion top-1 lies above context-only"),
        ("linkage", "top-1 of 10000 names, 1 share", None, "patient-list linkage, top-1 of 10,000 names"),
        ("token inversion", "top-1, all categories", None, "PHI inversion, top-1, all categories"),
    ):  # fmt: skip
        one = by_measure[attack, name]
        without = "" if one["baseline"] is None else f"; without the share {one['baseline']:.4f}"
        entries.append(
            Entry(f"default preset, N=K=1000: {label}", round(one["value"], 4), target, "" if target is None else "<=",
                  one["unit"] or "share", (round(one["interval"][0], 4), round(one["interval"][1], 4)), 1, "meddocan/dev",
                  COMMAND, f"{one['trials']} trials{without}; casing included where it can tell", str(found["commit"]))
        )  # fmt: skip
    record("privacy", entries)


def times() -> None:
    """Wall clock on MEDDOCAN's 500 training notes, one thread; then the cost of the white-box bound.

    Of the procedures that train a network the slowest is measured, too.
    """
    notes = corpora.meddocan("train")
    note = "one thread, other processes on the machine"

    def entry(measure: str, file: str, target: float, run: Callable[[], str]) -> Entry:
        def timed() -> dict[str, object]:
            began = time.monotonic()
            remark = run()
            return {"minutes": (time.monotonic() - began) / 60, "remark": remark}

        found = kept(f"privacy-times-{file}", timed)
        value = round(float(str(found["minutes"])), 2)
        remarks = f"{note}{found['remark']}"
        return Entry(
            measure, value, target, "<=", "min", None, 1, "meddocan/train", COMMAND, remarks, str(found["commit"])
        )

    with tempfile.TemporaryDirectory() as name:

        def trained(procedure: str, preset: str) -> workspace.Workspace:
            place = workspace.create(Path(name) / f"{procedure}-{preset}", "bench", "meddocan")
            material = PublicMaterial(notes, spanish(), background(), spanish_names())
            train_repr.train(place, material, RepresenterOptions(procedure, preset=preset))
            return place

        def training(procedure: str, preset: str, target: float) -> Entry:
            def run() -> str:
                trained(procedure, preset)
                return ""

            measure = f"train-repr --procedure {procedure} --preset {preset}, MEDDOCAN train"
            return entry(measure, f"{procedure}-{preset}", target, run)

        def audit(preset: str, target: float) -> Entry:
            def run() -> str:
                result = audits.audit(place, notes, spanish(), load_policy(), preset)
                return f"; the verdict was {'pass' if result.passed else 'FAIL'}"

            return entry(f"audit --preset {preset}, default procedure, MEDDOCAN train", f"audit-{preset}", target, run)

        spanish()
        entries = [
            training("surrogates", "standard", 60),
            training("three-part", "quick", 5),
            training("three-part", "standard", 60),
        ]
        place = trained("surrogates", "quick")
        entries += [audit("quick", 5), audit("full", 60)]
    entries += [_guard_entry(procedure) for procedure in ("surrogates", "k-anonymous", "three-part")]
    record("privacy", entries)


def _guard_entry(procedure: str) -> Entry:
    """What `site-client encode` does for the bound, as a ratio to the encoding itself, on all 500 notes."""
    provider = corpora.meddocan("train")[:PROVIDER_NOTES]
    with tempfile.TemporaryDirectory() as name:
        place = workspace.create(Path(name) / "provider", "bench", "meddocan")
        material = PublicMaterial(provider, spanish(), background(), spanish_names())
        train_repr.train(place, material, RepresenterOptions(procedure, preset="quick"))
        encoder = load_encoder(place.representer)
    chunks = list(tokenised_chunks(tokenised(corpora.meddocan("train")), encoder.scheme))
    seconds = {"encoded": 0.0, "bounded": 0.0}
    # Side by side and three times, since the machine's speed drifts.
    for _ in range(3):
        began = time.monotonic()
        for chunk in chunks:
            encoder.shared(chunk, PrivateNoise())
        seconds["encoded"] += time.monotonic() - began
        began = time.monotonic()
        guard = Guard(encoder, 100, None, PrivateNoise())
        for chunk in chunks:
            guard.passed(chunk)
        guard.result()
        seconds["bounded"] += time.monotonic() - began
    looked = f"a sample: {WHILE_ENCODING.sentences:.0%} of the sentences, {WHILE_ENCODING.neighbours} neighbours drawn of 100"
    if encoder.surrogates is not None:
        looked = "known ahead, no pair is looked at"
    return Entry(
        f"white-box bound during encode, 100 neighbours, against encoding, {procedure}",
        round(seconds["bounded"] / seconds["encoded"], 3), 1, "<=", "times", None, 1, "meddocan/train", COMMAND,
        f"{looked}; one thread, other processes on the machine",
    )  # fmt: skip


PARTS = {
    "meddocan": meddocan,
    "utility": utility,
    "utility-sites": utility_sites,
    "sites": sites,
    "meddocan-table": meddocan_table,
    "sites-table": sites_table,
    "adversaries": adversaries,
    "strong": strong,
    "times": times,
}


def main() -> None:
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ("meddocan", "utility", "utility-sites", "sites", "strong", "adversaries", "times"):
        PARTS[part]()


if __name__ == "__main__":
    main()
