"""Measures worth and utility for docs/results/privacy.json, and starts the rest: `python -m bench.results_privacy [PART...]`.

Like bench/results_loop.py: every run is kept in bench/.runs, one torch thread, parts may run side by side. The provider's
word vectors never see a hospital's text: they are trained on public text, and on MEDDOCAN also on the provider's 50 notes.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, replace

import torch

from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench import corpora
from bench.outcomes import (
    RUNS,
    Comparison,
    Outcome,
    f1,
    f1_entry,
    load_or_measure,
    outcome,
    score_pipeline,
    with_interval,
)
from bench.privacy import audited
from bench.privacy import worth_sites as worth_sites_module
from bench.privacy.attacks import adversaries, adversaries_invariance, memberships, strong, vocabularies
from bench.privacy.difference import measure as difference_entries
from bench.privacy.forgotten import forgotten
from bench.privacy.material import (
    COMMAND,
    PROVIDER_NOTES,
    american_names,
    background,
    english,
    spanish,
    spanish_names,
)
from bench.privacy.noisy import measure as noisy_entries
from bench.privacy.noninterference import noninterference_entry
from bench.privacy.reading import measure as reading_entries
from bench.privacy.reassembly import measure as reassembly_entries
from bench.privacy.times import times
from bench.privacy.worth import measure as worth_entries
from bench.results import Entry, record
from bench.results_loop import SEEDS, private_pipeline
from shared.document import Document
from shared.embeddings.generalised import fold_casing
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig

CLUSTERS = (1000, 100)
# The same budget for every model of a comparison; the provider alone, with fewer notes, passes over them more often.
MEDDOCAN_EPOCHS = 12
SITE_EPOCHS = 6
ALONE_TIMES = 3


def train_private(
    material: PublicMaterial,
    shared: dict[str, list[Document]],
    scheme: str,
    cluster_size: int,
    config: TaggingConfig,
) -> Pipeline:
    """The released pipeline of a provider and the sites that share, by the default procedure."""
    return private_pipeline(material, shared, scheme, RepresenterOptions(cluster_size=cluster_size), config)


def _lost_entry(measure: str, sides: list[list[Outcome]], kind: str, target: float, data: str, note: str) -> Entry:
    """What the second side loses against the first."""
    value, (low, high) = with_interval(sides, kind, lambda raw, private: raw - private)
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
            "ideal": lambda config=config: train_raw_model(
                train, fold_casing(spanish(), spanish_names()), scheme, config
            ),  # type: ignore[misc]
            "alone": lambda alone=alone: train_raw_model(
                provider, fold_casing(spanish(), spanish_names()), scheme, alone
            ),  # type: ignore[misc]
            "k1000": lambda config=config: train_private(  # type: ignore[misc]
                PublicMaterial(provider, spanish(), background(), spanish_names()),
                {"hospital": hospital},
                "meddocan",
                1000,
                config,
            ),
        }
        for name, build in runs.items():
            outcome(f"privacy-meddocan-{name}-{seed}", lambda build=build: score_pipeline(build(), dev))  # type: ignore[misc]
    meddocan_table()


def meddocan_table() -> None:
    """Record the seeds that are there."""
    found: dict[str, list[Outcome]] = {"ideal": [], "alone": [], "k1000": []}
    for seed in SEEDS:
        paths = {name: RUNS / f"privacy-meddocan-{name}-{seed}.json" for name in found}
        if all(path.exists() for path in paths.values()):
            for name, path in paths.items():
                found[name].append(Outcome.of(json.loads(path.read_text(encoding="utf-8"))))
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
            Entry(
                f"MEDDOCAN 50+450, dev, worth of sharing, {words} F1, default preset",
                round(gain, 3),
                worth,
                ">=" if worth else "",
                "of the ideal gain",
                (round(interval[0], 3), round(interval[1], 3)),
                len(found["ideal"]),
                "meddocan/dev",
                COMMAND,
                setting,
            )
        )
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
                lambda material=material, config=config: score_pipeline(  # type: ignore[misc]
                    train_private(material, {}, "meddocan", 1000, config), dev
                ),
            )
        )
    ideal = [Outcome.of(load_or_measure(f"privacy-meddocan-ideal-{seed}", _missing)) for seed in SEEDS]
    setting = f"the provider holds all 500 notes, half of each pass under surrogates, and nobody shares; {MEDDOCAN_EPOCHS} epochs, fastText 100d of public text; raw with the same inputs"
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
        return train_private(material, {}, "i2b2_2014", 1000, config)

    for seed in SEEDS:
        config = TaggingConfig(epochs=SITE_EPOCHS, seed=seed)
        builds: list[tuple[str, list[Outcome], Callable[[], Pipeline]]] = [
            (
                "raw",
                raw,
                lambda config=config: train_raw_model(notes, fold_casing(english(), american_names()), scheme, config),  # type: ignore[misc]
            ),
            ("public", public, lambda config=config: private_model(config)),  # type: ignore[misc]
        ]
        for name, side, build in builds:
            found = load_or_measure(f"privacy-sites-all-{name}-{seed}", lambda build=build: _on_all(build(), test))  # type: ignore[misc]
            side += [Outcome.of(found[site], found["commit"]) for site in corpora.SITES]
    setting = f"the provider holds the notes of all five sites, half of each pass under surrogates, and nobody shares; mean over their tests, {SITE_EPOCHS} epochs; raw with the same inputs"
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
        "alone": lambda provider, _: train_raw_model(
            train[provider], fold_casing(english(), american_names()), scheme, alone
        ),
        "ideal": lambda provider, sharing: train_raw_model(
            [note for site in (provider, *sharing) for note in train[site]],
            fold_casing(english(), american_names()),
            scheme,
            config,
        ),
    }
    for size in CLUSTERS:
        builds[f"k{size}"] = lambda provider, sharing, size=size: train_private(  # type: ignore[misc]
            PublicMaterial(train[provider], english(), corpora.public_english_texts(), american_names()),
            {f"site-{site}": train[site] for site in sharing},
            "i2b2_2014",
            size,
            config,
        )
    # Rotation after rotation, so that a run that is cut leaves whole ones; the smaller clusters last.
    for names in (("alone", "ideal", "k1000"), ("k100",)):
        for turn in range(len(corpora.SITES)):
            provider, *sharing = (corpora.SITES[turn:] + corpora.SITES[:turn])[:4]
            for name in names:
                load_or_measure(
                    f"privacy-sites-{provider}-{name}",
                    lambda name=name, provider=provider, sharing=sharing: _on_all(  # type: ignore[misc]
                        builds[name](provider, sharing), test
                    ),
                )
    sites_table()


def _on_all(pipeline: Pipeline, test: dict[str, list[Document]]) -> dict[str, object]:
    found = {site: score_pipeline(pipeline, notes) for site, notes in test.items()}
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
                scores = [
                    statistics.fmean(f1(getattr(one, kind)) for one in side)
                    for side in (compared.alone, compared.ideal, compared.private)
                ]
                entries.append(
                    Entry(
                        f"en_sites, {where} sites, worth of sharing, {words} F1, K={size}",
                        round(gain, 3),
                        aimed,
                        ">=" if aimed else "",
                        "of the ideal gain",
                        (round(interval[0], 3), round(interval[1], 3)),
                        1,
                        "en_sites/test",
                        COMMAND,
                        f"{turns} rotations; mean F1 provider alone {scores[0]:.4f}, raw pooled {scores[1]:.4f}, private {scores[2]:.4f}; "
                        f"{SITE_EPOCHS} epochs, interval over documents only",
                        ", ".join(sorted({one.commit for one in compared.private})),
                    )
                )
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
                side.append(Outcome.of(found[site], found["commit"]))
    return compared, turns


def noninterference() -> None:
    """Whether a share changes with labelled PHI, in every format."""
    record("privacy", [noninterference_entry()])


def worth() -> None:
    """What shares of codes are worth, and what is read in them."""
    record("privacy", worth_entries())


def worth_sites() -> None:
    """The same at English hospitals, one of which nobody has seen."""
    record("privacy", worth_sites_module.measure())


def worth_sites_table() -> None:
    """Record the rotations that are there."""
    record("privacy", worth_sites_module.entries())


def reading() -> None:
    """What is read in shares of codes with a language model's help."""
    record("privacy", reading_entries())


def reassembly() -> None:
    """Which clinical sentences are of one note."""
    record("privacy", reassembly_entries())


def difference() -> None:
    """What successive shares of a hospital tell together."""
    record("privacy", difference_entries())


def noisy() -> None:
    """What the paper's noise adds over surrogates, and what it costs."""
    record("privacy", noisy_entries())


def pattern() -> None:
    """Who looks like no other by the pattern of PHI."""
    record("privacy", audited.pattern_entries())


def forgotten_name() -> None:
    """Who is named where a label was forgotten."""
    record("privacy", audited.forgotten_name_entries())


PARTS = {
    "worth": worth,
    "worth-sites": worth_sites,
    "worth-sites-table": worth_sites_table,
    "reading": reading,
    "reassembly": reassembly,
    "difference": difference,
    "noisy": noisy,
    "meddocan": meddocan,
    "utility": utility,
    "utility-sites": utility_sites,
    "sites": sites,
    "meddocan-table": meddocan_table,
    "sites-table": sites_table,
    "adversaries": adversaries,
    "adversaries-invariance": adversaries_invariance,
    "strong": strong,
    "vocabulary": vocabularies,
    "membership": memberships,
    "forgotten": forgotten,
    "times": times,
    "noninterference": noninterference,
    "pattern": pattern,
    "forgotten-names": forgotten_name,
}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for part in sys.argv[1:] or (name for name in PARTS if not name.endswith("-table")):
        PARTS[part]()


if __name__ == "__main__":
    main()
