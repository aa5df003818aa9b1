"""`aggregator demo`: the whole loop on generated notes, by the same commands that people type.

A provider with public notes, three hospitals that share, and a fourth that shared nothing. Every step is a process of its
own with its own workspace, exactly as it would be in different houses; the only things that pass between them are the
files that would. The end is a table of the fourth hospital's scores with (a) a model from one hospital alone, (b) the
pipeline of pooled shares, (c) the unreachable ideal, a model from all raw notes together, and a page that shows it.
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aggregator.demo.pace import RAW, Pace, training_rate
from aggregator.demo.page import DemoResult, Score, Shown, write_page
from aggregator.demo.processes import forked, run_module
from aggregator.errors import AggregatorError, AuditError
from foundation.files import write_text
from shared.constructions.construction import Construction
from shared.constructions.procedures.narrowed import NarrowedVocabulary
from shared.constructions.proof import DEFAULT, WITHOUT_PROOF
from shared.constructions.registry import find_procedure, load_construction
from shared.corpus import read_corpus, write_corpus
from shared.document import Document
from shared.embeddings.files.artefact import load_vectors
from shared.errors import ConfigurationError
from shared.evaluation import binary_token_scores, evaluate_hospital, match_corpora, strict_entity
from shared.generate import generate_notes, public_site
from shared.pipeline.last_word import load_settings
from shared.pipeline.operating_points import load_points
from shared.pipeline.pipeline import RawEncoder
from shared.pipeline.raw_model import train_raw_model
from shared.privacy.statistics.cluster_bootstrap import cluster_interval
from shared.progress import Progress
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.training.tagging import TaggingConfig

# So many that the audit has names of patients enough to look for; with fewer it does not pass, and nothing is published.
NOTES = {"en": 60, "es": 120}
_SCHEMES = {"en": "i2b2_2014", "es": "meddocan"}
# Three that share, and the fourth.
_HOSPITALS = {
    "en": ("en_harbor", "en_prairie", "en_moor", "en_lagoon"),
    "es": ("es_ribera", "es_altiplano", "es_pampa", "es_cenote"),
}
# The vocabulary of a few hundred notes holds no thousand words for each cluster.
_CLUSTER = 100
_EPOCHS = 4
# For a fair comparison: few notes of one hospital alone would leave a model untrained in so many epochs.
_LEAST_STEPS = 400
_RESAMPLES = 2000
_FINGERPRINT = "fingerprint"
_RECORD = "demo.json"


@dataclass(frozen=True)
class Scale:
    """How large the demonstration is.

    Args:
        language: of the notes.
        notes: labelled notes of each hospital.
        seed: of notes and trainings.
        procedure: by which the representer is made.
    """

    language: str
    notes: int
    seed: int
    procedure: str = DEFAULT[0]

    @property
    def proved(self) -> bool:
        """Whether its files show what protects a share; what only attacks vouch for may have failed the audit here."""
        return self.procedure not in WITHOUT_PROOF


def run(folder: Path, scale: Scale, say: Callable[[str], None], progress: Progress) -> None:
    """Run the loop into a folder that is new or holds an earlier demonstration.

    Args:
        folder: where.
        scale: how large.
        say: takes what is told.
        progress: called as each step begins, with how much of the whole is done, in per cent.

    Raises:
        ConfigurationError: too few notes.
        AggregatorError: the folder holds something else, or a step failed.
    """
    began = time.monotonic()
    if scale.notes < NOTES[scale.language]:
        raise ConfigurationError(
            f"--notes: expected at least {NOTES[scale.language]}, got {scale.notes}; in fewer the audit finds too little to attack, "
            "and what is not audited is not published"
        )
    _make_room(folder, say)
    public, (*sharing, fourth) = public_site(scale.language), _HOSPITALS[scale.language]
    pace = Pace(_planned(len(sharing)), scale.notes, training_rate())
    more = ", and the training of a representer besides" if scale.procedure != DEFAULT[0] else ""
    say(f"# takes about {max(1, round(pace.seconds / 60))} minutes here, by a second of training{more}")
    say(f"# generated notes: public {public}; hospitals {', '.join(sharing)}; {fourth} shares nothing")
    for site in (public, *sharing, fourth):
        write_corpus(generate_notes(site, scale.notes, scale.seed), _notes(folder, site), "jsonl")
    loop = _Loop(folder, scale, say, pace, progress)
    loop.publish(public)
    for site in sharing:
        loop.share(site)
    loop.pool()
    private = loop.use(fourth)
    say("\n# for comparison, without privacy: models on raw notes, scored at the same hospital")
    progress(RAW, pace.percent, 100)
    compared, compared_seconds = _raw_scores(folder, public, sharing, fourth, scale, say)
    result = DemoResult(
        sharing=tuple(sharing),
        fourth=fourth,
        rows=(*compared, private),
        training=json.loads((folder / "provider" / "representer" / "training.json").read_text(encoding="utf-8")),
        audit=loop.audit,
        shown=tuple(one for site in sharing if (one := _shown(folder, site)) is not None),
        head=json.loads((folder / "provider" / "head" / "training.json").read_text(encoding="utf-8")),
        seconds=time.monotonic() - began,
        computing=loop.seconds + compared_seconds + time.process_time(),
    )
    page = write_page(result, folder / "report.html")
    write_text(folder / _RECORD, json.dumps(result.as_json(), indent=1), private=False)
    say(
        f"\n{result.table()}\n\nreport page: {page}   ({result.seconds:.0f} seconds in all, {result.computing:.0f} of computing)"
    )


def _planned(sharing: int) -> list[str]:
    """All steps, in order."""
    made = [f"aggregator {verb}" for verb in ("init", "train-embeddings", "train-repr", "audit", "publish")]
    joined = [f"site-client {verb}" for verb in ("init", "policy", "pull")]
    shared = [
        "site-client enrol",
        "aggregator site",
        *(f"site-client {verb}" for verb in ("encode", "inspect", "submit")),
    ]
    used = ["site-client deid"] * 2
    pooled = ["aggregator train-head", "aggregator release"]
    return [*made, *(joined + shared + ["aggregator ingest"]) * sharing, *pooled, *joined, *used, RAW]


def _make_room(folder: Path, say: Callable[[str], None]) -> None:
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _RECORD).exists():
            raise AggregatorError(f"{folder}: expected a new folder or an earlier demonstration; choose another")
        say(f"# {folder} holds an earlier demonstration, which makes room for this one")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / _RECORD, "{}", private=False)


def _notes(folder: Path, site: str) -> Path:
    target = folder / "notes" / f"{site}.jsonl"
    target.parent.mkdir(exist_ok=True)
    return target


class _Loop:
    """The steps, each by the command that a person would type."""

    def __init__(self, folder: Path, scale: Scale, say: Callable[[str], None], pace: Pace, progress: Progress) -> None:
        self.folder, self.scale, self.say, self.pace, self.progress = folder, scale, say, pace, progress
        self.provider = folder / "provider"
        self.stick = folder / "stick"
        self.processes = forked()
        self.seconds = 0.0
        self.fingerprint = ""
        self.audit: dict[str, Any] = {}

    def publish(self, public: str) -> None:
        notes, seed = str(_notes(self.folder, public)), str(self.scale.seed)
        self.say("\n# the provider makes a representer from public notes, attacks it, and publishes it")
        made = self.command("aggregator", "init", str(self.provider), "--scheme", _SCHEMES[self.scale.language])
        self.fingerprint = made[_FINGERPRINT]
        self.aggregator("train-embeddings", notes, "--seed", seed)
        clusters = ("--cluster-size", str(_CLUSTER)) if find_procedure(self.scale.procedure).clusters else ()
        how = ("--procedure", self.scale.procedure, *clusters, "--preset", "quick")
        trained = self.aggregator("train-repr", "--corpus", notes, *how, "--seed", seed)
        self.say(f"  {trained['sentences']} sentences, {trained['phi_tokens']} PHI tokens")
        for line in _made_lines(trained):
            self.say(f"  {line}")
        self.audit = self.aggregator("audit", "--corpus", notes, "--seed", seed)
        self.say(f"  {len(self.audit['findings'])} figures of an attacker who holds all that is published")
        self.say(f"  {self.audit['verdict']}")
        self.aggregator("publish", *self.audited)

    def share(self, site: str) -> None:
        self.say(f"\n# {site} encodes its labelled notes, and hands over what nobody reads its PHI from, and labels")
        request, share = self.folder / f"{site}.request.json", self.folder / site / "share.parquet"
        self.join(site)
        asked = self.site(site, "enrol", "--out", str(request))
        self.aggregator("site", "add", str(request), "--fingerprint", asked[_FINGERPRINT])
        notes = str(_notes(self.folder, site))
        encoded = self.site(site, "encode", notes, "--out", str(share))
        shown = f"{encoded['dim']} numbers" if encoded["dim"] else "a code"
        self.say(
            f"  {encoded['tokens']} tokens as {shown}, a label and a casing class each, {encoded['payload_bytes']} bytes"
        )
        inspected = self.site(site, "inspect", str(share), "--notes", notes)
        if (read := inspected["read"]) is not None:
            self.say(
                f"  whoever reads it sees no labelled PHI, {read['words_exact'] / read['words']:.0%} of the other words, and "
                f"{read['content_exact'] / max(read['content'], 1):.0%} of the content words"
            )
        handed = self.site(site, "submit", str(share), "--approver", "A. Demo", "--to-folder", str(self.stick))
        self.aggregator("ingest", handed["bundle"])

    def pool(self) -> None:
        self.say("\n# the provider pools the shares, trains the head and releases the pipeline")
        pooled = self.aggregator(
            "train-head",
            *("--epochs", str(_EPOCHS), "--influence", "none", "--seed", str(self.scale.seed)),
            # As the models that it is compared with, which read all sentences in every pass.
            *("--undersampling", "0"),
        )
        for row in pooled["sites"]:
            self.say(f"  held-out sentences of {row['site']:20} F1 {row['f1']:.3f}")
        self.aggregator("release", *self.audited)

    def use(self, site: str) -> Score:
        self.say(f"\n# {site}, which shared nothing, pulls the release and de-identifies its notes")
        self.join(site)
        tagged = self.folder / site / "tagged"
        notes = _notes(self.folder, site)
        # Its generated notes are labelled, to be scored by; the pipeline must not gain by that.
        self.site(site, "deid", str(notes), "--ignore-labels", "--out", str(tagged), "--mode", "tag")
        redacted = self.folder / site / "redacted"
        self.site(site, "deid", str(notes), "--ignore-labels", "--out", str(redacted), "--mode", "redact")
        return _score("(b) all shares pooled", list(read_corpus(notes)), read_corpus(tagged))

    def join(self, site: str) -> None:
        self.command("site-client", "init", str(self.folder / site), "--site", site.replace("_", "-"))
        # Its audit is a quick one and its shares may be of few notes, which no hospital with real notes should make do with.
        allowed = ("--enable", self.scale.procedure, *(() if self.scale.proved else ("--accept-failed-audit",)))
        self.site(site, "policy", "set", "--demonstration", "--audit", "quick", "--least-new-notes", "1", *allowed)
        self.site(site, "pull", str(self.provider / "releases"), "--fingerprint", self.fingerprint)

    @property
    def audited(self) -> tuple[str, ...]:
        """What is published says so where the audit failed."""
        return () if self.scale.proved else ("--with-failed-audit",)

    def aggregator(self, *arguments: str) -> dict[str, Any]:
        return self.command("aggregator", *arguments, "--workspace", str(self.provider))

    def site(self, site: str, *arguments: str) -> dict[str, Any]:
        return self.command("site-client", *arguments, "--workspace", str(self.folder / site))

    def command(self, program: str, *arguments: str) -> dict[str, Any]:
        """Run one command as a process of its own and return its JSON."""
        self.say(f"{self.pace.percent:3d}% $ " + shlex.join([program, *arguments]))
        self.progress(f"{program} {arguments[0]}", self.pace.percent, 100)
        done = run_module(self.processes, program.replace("-", "_"), [*arguments, "--json"])
        # Of what nothing proves the audit may fail: the page shows by how much.
        broken = arguments[0] == "audit" and done.code == AuditError.exit_code and not self.scale.proved
        if done.code and not broken:
            raise AggregatorError(
                f"the step `{program} {arguments[0]}` ended with code {done.code}: {done.errors.strip()}"
            )
        self.pace.step()
        self.seconds += done.seconds
        result: dict[str, Any] = json.loads(done.output)
        return result


def _made_lines(trained: dict[str, Any]) -> Iterator[str]:
    """What protects a share of what was made, in words."""
    if "public_words" in trained:
        yield (
            f"{trained['public_words']} words are public: {trained['common_words']} are shown as they are, the others only near PHI; all other words as "
            f"one of {trained['clusters']} clusters of at least {trained['smallest_cluster']} words; labelled PHI is replaced by one of "
            f"{trained['surrogate_spans']} public spans"
        )
    if "noise" in trained:
        least = min(trained["noise"]["output"])
        yield f"of which a network shows vectors of length 1 at most, under noise of standard deviation {least:.3f} at least"


def _shown(folder: Path, site: str) -> Shown | None:
    """What a share shows of a hospital's tokens, ahead of any noise; None where every word passes a network as it is."""
    construction = load_construction(folder / "provider" / "representer")
    if not isinstance(construction, NarrowedVocabulary):
        return None
    counts = [0, 0, 0]
    for chunk in tokenised_chunks(tokenise_documents(read_corpus(_notes(folder, site))), construction.scheme):
        labelled, exact = chunk.tags > 0, construction.codes(chunk) < len(construction.vectors)
        counts = [
            total + int(part.sum())
            for total, part in zip(counts, (labelled, ~labelled & ~exact, ~labelled & exact), strict=True)
        ]
    return Shown(site, *(count / sum(counts) for count in counts))


def _raw_scores(
    folder: Path, public: str, sharing: list[str], fourth: str, scale: Scale, say: Callable[[str], None]
) -> tuple[list[Score], float]:
    """What models on raw notes reach at the fourth hospital, two trained at a time; and the seconds of computing."""
    wanted = [
        ("(c) all raw notes, the ideal", [public, *sharing]),
        *((f"(a) {site} alone", [site]) for site in sharing),
    ]
    scores: list[Score] = []
    total = 0.0
    with ProcessPoolExecutor(2, mp_context=forked()) as workers:
        running = [workers.submit(_raw_score, label, folder, sites, fourth, scale) for label, sites in wanted]
        for done in running:
            score, seconds = done.result()
            say(f"  {score.label:30} {score.hidden:.1%} of its PHI hidden whole, F1 {score.f1:.3f}")
            scores.append(score)
            total += seconds
    return scores, total


def _raw_score(label: str, folder: Path, sites: list[str], fourth: str, scale: Scale) -> tuple[Score, float]:
    """One model, in a process of its own, on one thread."""
    torch.set_num_threads(1)
    began = time.process_time()
    made = load_construction(folder / "provider" / "representer")
    # The same inputs as the head of the release has, its threshold, and what follows the tagger there: what differs is what it learned from.
    encoder = made if made.shows_codes else _raw_encoder(folder, made)
    notes = [document for site in sites for document in read_corpus(_notes(folder, site))]
    model = train_raw_model(notes, encoder, TaggingConfig(epochs=_EPOCHS, least_steps=_LEAST_STEPS, seed=scale.seed))
    head = folder / "provider" / "head"
    points = load_points(head)
    compared = replace(model, stated=load_settings(head), point=None if points is None else points.default)
    gold = list(read_corpus(_notes(folder, fourth)))
    return _score(label, gold, compared.annotate(gold)), time.process_time() - began


def _raw_encoder(folder: Path, made: Construction) -> RawEncoder:
    return RawEncoder(load_vectors(folder / "provider" / "embeddings"), made.scheme, made.are_public)


def _score(label: str, gold: list[Document], system: Iterable[Document]) -> Score:
    pairs = match_corpora(gold, system)
    tokens, entities, hospital = binary_token_scores(pairs), strict_entity(pairs), evaluate_hospital(pairs)
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    note = np.repeat(np.arange(len(hidden)), [one.total for one in hidden])
    whole = np.concatenate([np.arange(one.total) < one.hits for one in hidden]).astype(np.float64)
    interval = cluster_interval(whole, note, np.random.default_rng(0), _RESAMPLES)
    return Score(
        label,
        hospital.recall.spans.value,
        interval,
        hospital.documents_with_miss.total,
        hospital.documents_with_miss.hits,
        tokens.precision,
        tokens.recall,
        tokens.f1,
        entities.f1,
        {name: one.tokens.value for name, one in hospital.per_type.items()},
    )
