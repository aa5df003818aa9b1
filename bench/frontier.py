"""`make frontier`: worth of sharing against what is read, PHI and other words, for every construction; docs/results/frontier.{svg,md}.

Each point is one representer made from 50 public notes of MEDDOCAN, a pool with the 450 others, a head of short training, three
attacks on labelled PHI (the best of a list of 100 neighbours after averaging 100 shares, the white-box bound and inversion), and one on the content words
that are no PHI.
Construction after construction, or some of them side by side: `python -m bench.frontier invariance dann`; the last call reports.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.outcomes import Comparison, Outcome, f1_entry, is_there, load_or_measure, score_pipeline
from bench.privacy.frontier_figure import Point, frontier_figure
from bench.privacy.material import PROVIDER_NOTES, AnyCasing, public_documents, spanish
from bench.privacy.worth.meddocan import construction, public_material
from bench.results import RESULTS, Entry, record
from bench.results_loop import private_pipeline
from foundation.files import write_text
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Construction, Protection
from shared.embeddings.neighbours import Neighbours
from shared.pipeline.raw_model import train_raw_model
from shared.privacy.attacks.inversion import InversionSettings, token_inversion
from shared.privacy.attacks.matching import MatchingSettings, matching
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.material.sharing import ClearEncoder
from shared.privacy.statistics.finding import Finding
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks, tokenised_corpus
from shared.training.tagging import TaggingConfig

COMMAND = "make frontier"
DATA = "meddocan/dev"
_ENTRY = "frontier, "
RAW, ALONE = "raw notes pooled", "provider alone"
MATCH, WHITE_BOX = "match top-1 of 100 after 100 shares", "white box, mean Bayes accuracy"
INVERSION = "inversion, top-1"
READING = "content words that are no PHI, read"
HEAD = TaggingConfig(epochs=6, seed=1)
# As many steps, of a tenth of the notes.
HEAD_ALONE = replace(HEAD, epochs=10 * HEAD.epochs)
# By construction and setting.
POINTS: dict[tuple[str, str], RepresenterOptions] = {
    ("surrogates", "K=1000"): RepresenterOptions(cluster_size=1000),
    ("surrogates", "K=100"): RepresenterOptions(cluster_size=100),
    ("surrogates", "K=1000, casing hidden"): RepresenterOptions(cluster_size=1000, hide_casing=True),
    ("k-anonymous", "K=1000"): RepresenterOptions("k-anonymous", cluster_size=1000),
    ("k-anonymous", "K=100"): RepresenterOptions("k-anonymous", cluster_size=100),
    ("invariance", "N=100"): RepresenterOptions("invariance", neighbours=100),
    ("invariance", "N=1000"): RepresenterOptions("invariance", neighbours=1000),
    ("three-part", "N=100"): RepresenterOptions("three-part", neighbours=100),
    ("three-part", "N=1000"): RepresenterOptions("three-part", neighbours=1000),
    ("noisy-surrogates", "K=1000, N=100"): RepresenterOptions("noisy-surrogates", neighbours=100),
    ("k-anonymous-invariance", "K=1000, N=100"): RepresenterOptions("k-anonymous-invariance", neighbours=100),
    ("dann", "N=100"): RepresenterOptions("dann", neighbours=100),
}
# What a network shows of a candidate must be computed again for every sentence, so fewer words are matched.
_TARGETS, _TARGETS_OF_NETWORK = 1000, 200
_WHITE_BOX_NOTES = 60
# The attacker's own labelled notes: neither the provider's nor those attacked.
_KNOWN = slice(100, 400)
_INVERSION = InversionSettings(GuesserSettings(epochs=6), resamples=1000)


def _point(options: RepresenterOptions) -> dict[str, object]:
    hospital = {"hospital": corpora.meddocan("train")[PROVIDER_NOTES:]}
    pipeline = private_pipeline(public_material(), hospital, "meddocan", options, HEAD)
    encoder = pipeline.encoder
    assert isinstance(encoder, Construction)
    attacks = [_match(encoder), _white_box(encoder), _inversion(encoder), _reading(encoder)]
    return asdict(score_pipeline(pipeline, corpora.meddocan("dev"))) | {"attacks": list(map(asdict, attacks))}


def _raw(provider_only: bool) -> dict[str, object]:
    notes, made = corpora.meddocan("train"), construction()
    if provider_only:
        model, attacks = train_raw_model(notes[:PROVIDER_NOTES], made, HEAD_ALONE), []
    else:
        model = train_raw_model(notes, made, HEAD)
        # Clear vectors, which show that the attacks work.
        clear = ClearEncoder(spanish(), made.scheme)
        attacks = [_match(clear), _inversion(clear), _reading(clear)]
    return asdict(score_pipeline(model, corpora.meddocan("dev"))) | {"attacks": list(map(asdict, attacks))}


@dataclass(frozen=True)
class Attack:
    """What one attack reaches, and what is reached without a share.

    Args:
        name: of the figure.
        success: the share of words that are read, in [0, 1].
        without: the same for an attacker who sees no share.
        interval: 95%, of the success.
        trials: words attacked.
    """

    name: str
    success: float
    without: float
    interval: tuple[float, float]
    trials: int

    @classmethod
    def of(cls, name: str, finding: Finding) -> Attack:
        """From a finding that has a baseline."""
        assert finding.baseline is not None
        return cls(name, finding.value, finding.baseline, finding.interval, finding.trials)

    @property
    def advantage(self) -> float:
        """0 for an attacker as good as one without the share, 1 for one who is always right."""
        return (self.success - self.without) / (1 - self.without)


def _match(encoder: Construction | ClearEncoder) -> Attack:
    """Top-1 among 100 candidates after 100 shares, the worse of neighbours and own set."""
    made = encoder if isinstance(encoder, Construction) else None
    network = made is not None and made.protection is Protection.NOISE
    settings = MatchingSettings(targets=_TARGETS_OF_NETWORK if network else _TARGETS, shares=(100,))
    own = None if made is None else made.own_set()
    found = matching(encoder, corpora.meddocan("dev"), Neighbours(spanish()), settings, own)
    every = (one for one in found if one.measure.startswith("top-1 of") and one.measure.endswith("shares"))
    return Attack.of(MATCH, max(every, key=lambda one: one.value))


def _white_box(encoder: Construction) -> Attack:
    """Mean accuracy of the best attacker over pairs of neighbours; a sample of neighbours and sentences."""
    chunks = tokenised_chunks(tokenise_documents(corpora.meddocan("dev")[:_WHITE_BOX_NOTES]), encoder.scheme)
    settings = WhiteBoxSettings(draws=1, neighbours=20, sentences=0.2)
    found = white_box(encoder, chunks, Pseudonymiser(Neighbours(spanish()), 1000), settings).findings()
    mean = next(one for one in found if one.measure == "Bayes accuracy, representation, all PHI, mean")
    return Attack.of(WHITE_BOX, mean)


def _inversion(encoder: Construction | ClearEncoder) -> Attack:
    """Words read by a trained network; the interval is that of the difference to what is read without the share.

    That is what their surroundings give away; where PHI is replaced, a share of other PHI too, whichever difference is less sure: of a surrogate,
    drawn without a look at the word, a network that has not learned all of the surroundings reads more than without it.
    """
    train, dev = (
        tokenised_corpus(notes, encoder.scheme)
        for notes in (corpora.meddocan("train")[_KNOWN], corpora.meddocan("dev"))
    )
    found = {one.measure: one for one in token_inversion(encoder, spanish(), train, dev, _INVERSION)}
    replaced = isinstance(encoder, Construction) and encoder.replaces_phi
    top = found["top-1, all categories"]
    above = found[f"top-1 above {'context, casing and placebo' if replaced else 'context-only'}, all categories"]
    without = top.value - above.value
    low, high = (without + end for end in above.interval)
    return Attack.of(INVERSION, replace(top, baseline=without, interval=(low, high)))


def _reading(encoder: Construction | ClearEncoder) -> Attack:
    """Content words that are no PHI, read by look-up, a trained network or both; without the share the commonest word is said."""
    known, dev = (
        tokenised_corpus(notes, encoder.scheme)
        for notes in (corpora.meddocan("train")[_KNOWN], corpora.meddocan("dev"))
    )
    found = readability(encoder, spanish(), known, dev, ReadabilitySettings(), public=AnyCasing(public_documents()))
    return Attack.of(READING, next(one for one in found if one.measure.endswith(", content words")))


@dataclass(frozen=True)
class Row:
    """One construction with its scores.

    Args:
        family: name of the construction.
        setting: its parameter in short; "" for the two ends that share nothing or everything.
        outcome: scores on dev.
        attacks: what was attacked; nothing where nothing is shared.
    """

    family: str
    setting: str
    outcome: Outcome
    attacks: tuple[Attack, ...]

    @classmethod
    def of(cls, family: str, setting: str, found: dict[str, Any]) -> Row:
        """From a kept run."""
        attacks = (Attack(**{**one, "interval": tuple(one["interval"])}) for one in found["attacks"])
        return cls(family, setting, Outcome.of(found), tuple(attacks))

    @property
    def name(self) -> str:
        """Construction and setting."""
        return f"{self.family}, {self.setting}" if self.setting else self.family

    @property
    def strongest(self) -> Attack | None:
        """The attack on PHI of the largest advantage; None where nothing is shared."""
        on_phi = (attack for attack in self.attacks if attack.name != READING)
        return max(on_phi, key=lambda attack: attack.advantage, default=None)

    @property
    def read(self) -> float:
        """The share of the content words that is read; 0 where nothing is shared."""
        return next((attack.success for attack in self.attacks if attack.name == READING), 0.0)

    def entries(self, raw: Outcome, alone: Outcome) -> list[Entry]:
        """Token-binary and strict F1, worth of sharing, the attacks, the strongest of them.

        Args:
            raw: raw notes pooled, worth everything.
            alone: the provider alone, worth nothing.
        """
        note = f"{(HEAD_ALONE if self.name == ALONE else HEAD).epochs} epochs"

        def score(measure: str, kind: str) -> Entry:
            return f1_entry(f"{_ENTRY}{self.name}: {measure}", [self.outcome], kind, None, DATA, note, COMMAND)

        def entry(measure: str, value: float, unit: str, interval: tuple[float, float], note: str) -> Entry:
            name, commit = f"{_ENTRY}{self.name}: {measure}", self.outcome.commit
            ends = (round(interval[0], 4), round(interval[1], 4))
            return Entry(name, round(value, 4), None, "", unit, ends, 1, DATA, COMMAND, note, commit)

        gain, interval = Comparison([alone], [raw], [self.outcome]).gain("entities")
        entries = [
            score("token-binary F1", "tokens"),
            score("strict entity F1", "entities"),
            entry("worth of sharing, strict entity F1", gain, "of the ideal gain", interval, note),
        ]
        for attack in self.attacks:
            note = f"{attack.trials} words; without the share {attack.without:.4f}"
            entries.append(entry(attack.name, attack.success, "share", attack.interval, note))
        if (strongest := self.strongest) is not None:
            low, high = (replace(strongest, success=end).advantage for end in strongest.interval)
            note = f"of {strongest.name}: (success - without the share) / (1 - without the share)"
            entries.append(entry("strongest attack's advantage", strongest.advantage, "share", (low, high), note))
        return entries


def report(rows: list[Row]) -> None:
    """Plot, table and entries; the two ends first."""
    raw, alone = rows[0].outcome, rows[1].outcome
    points = [
        Point(
            row.family,
            row.setting,
            row.outcome.entity_f1,
            0 if row.strongest is None else row.strongest.advantage,
            row.read,
        )
        for row in rows
    ]
    write_text(RESULTS / "frontier.svg", frontier_figure(points, alone.entity_f1, raw.entity_f1), private=False)
    entries = {row.name: row.entries(raw, alone) for row in rows}
    columns = {
        "token-binary F1": "token-binary F1",
        "strict entity F1": "strict F1",
        "worth of sharing, strict entity F1": "worth of sharing",
        MATCH: MATCH,
        WHITE_BOX: WHITE_BOX,
        INVERSION: INVERSION,
        "strongest attack's advantage": "strongest attack's advantage",
        READING: READING,
    }
    without = [attack.without for row in rows for attack in row.attacks if attack.name == INVERSION]
    lines = [
        "# The frontier",
        "",
        f"Written by `{COMMAND}`; do not edit. One seed, heads of {HEAD.epochs} epochs (the provider alone takes as many steps), raw notes with both views of a word as "
        "a share of codes has them; the points compare with one another, not with other tables. Worth: share of the ideal gain in strict F1. Match: the worse of two lists of candidates, nearest neighbours and "
        f"the construction's own set; chance is 0.01; {_TARGETS:,} words a list, {_TARGETS_OF_NETWORK} where a network shows them. White box: the representation alone (with casing: privacy.md); chance is 0.5. "
        "Advantage: (success - success without the share) / (1 - success without the share), of the attack on PHI for which it is largest; of "
        "constructions at chance that is the luckiest of the attacks. Inversion: the same network without the share reads "
        f"{min(without):.2f} to {max(without):.2f}, from what surrounds a word, or, where PHI is replaced, from a share of other PHI if that is more: even of a surrogate, drawn without "
        "a look at the word, it reads more than from what surrounds it. Casing travels, and every attacker uses it: by it alone the true word is "
        "first among 100 a little more often than by chance. Content words (at least four letters, not among the 200 commonest): by look-up, a network that learned "
        "on 300 labelled notes and the same share, or both, whichever is best on notes of its own. Intervals, 95%: bootstrap over documents, the same ones on all sides of a worth; exact "
        "for the match and for content words; over words for the white box; over sentences for what inversion reads beyond the context.",
        "",
        "![frontier](frontier.svg)",
        "",
        f"| construction | {' | '.join(columns.values())} |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name, found in entries.items():
        by_measure = {entry.measure.removeprefix(f"{_ENTRY}{name}: "): entry for entry in found}
        lines.append(f"| {name} | {' | '.join(_cell(by_measure.get(measure)) for measure in columns)} |")
    write_text(RESULTS / "frontier.md", "\n".join([*lines, ""]), private=False)
    record("privacy", [entry for found in entries.values() for entry in found])


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return ""
    assert entry.interval is not None
    return f"{entry.value:.4f} ({entry.interval[0]:.4f} to {entry.interval[1]:.4f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that the command line names, and record them."""
    parser = argparse.ArgumentParser(prog="python -m bench.frontier", description=__doc__.splitlines()[0])
    families = [RAW, ALONE, *dict.fromkeys(family for family, _ in POINTS)]
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"among {', '.join(families)}; all by default")
    chosen = parser.parse_args(arguments).families or families
    if unknown := set(chosen) - set(families):
        parser.error(f"expected families among {', '.join(families)}, got {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)
    builds: dict[tuple[str, str], Callable[[], dict[str, object]]] = {
        (RAW, ""): lambda: _raw(False),
        (ALONE, ""): lambda: _raw(True),
    }
    for name, options in POINTS.items():
        builds[name] = lambda options=options: _point(options)  # type: ignore[misc]
    files = {name: "frontier-" + " ".join(name).strip().replace(" ", "_").replace(",", "") for name in builds}
    for name, build in builds.items():
        if name[0] in chosen:
            load_or_measure(files[name], build)
    if all(map(is_there, files.values())):
        report([Row.of(*name, load_or_measure(files[name], build)) for name, build in builds.items()])


if __name__ == "__main__":
    main()
