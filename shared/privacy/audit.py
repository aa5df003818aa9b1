"""The audit of a representer: every attack on one encoder, the bounds that can be proved, and a verdict by a policy.

The attacker holds everything that is published (weights, vocabulary, surrogates, code) and labelled public notes; it is
judged on other notes. An audit shows what was tried and how well it went. It can't show that no better attack exists;
only the parts that are proved (see `Accounting`) hold against any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.document import Document
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.models.representer import Representer
from shared.pipeline.pipeline import Encoder
from shared.privacy.accounting import (
    Accounting,
    Anonymity,
    Reach,
    anonymity_accounting,
    independence_accounting,
    no_accounting,
    noise_accounting,
)
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.attacks.inversion import InversionSettings, token_inversion
from shared.privacy.attacks.linkage import LinkageSettings, linkage
from shared.privacy.attacks.matching import MatchingSettings, OwnSet, cased_like, matching
from shared.privacy.attacks.membership import MembershipSettings, encoded_notes, membership
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.attacks.reassembly import ReassemblySettings, reassembly
from shared.privacy.attacks.task_only import task_only
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.statistics.finding import Finding
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.progress import Progress, silent
from shared.sentences.tokenised import TokenisedSentences, tokenised, tokenised_corpus
from shared.text.casing import casing_class
from shared.training.tagging import TaggingConfig

_Attack = tuple[str, Callable[[], list[Finding]]]
# A number stands among so many others at the most.
_NUMBERS = 1000


@dataclass(frozen=True)
class AuditSettings:
    """How hard every attack tries; None leaves an attack out.

    Args:
        neighbours: N, candidates for every PHI word.
        adversary_sentences: with PHI, from which adversaries learn; from fewer they break nothing, so they prove nothing.
        control_epochs: of the training of a representer for the task alone, which the same adversaries must break.
        longest_note: tokens of the longest note that the accounting covers.
        seed: of all attacks.
    """

    white_box: WhiteBoxSettings
    adversary: AdversarySettings | None
    inversion: InversionSettings | None
    matching: tuple[MatchingSettings, ...]
    linkage: LinkageSettings | None
    reassembly: ReassemblySettings | None
    readability: ReadabilitySettings | None
    membership: MembershipSettings | None
    neighbours: int = 1000
    adversary_sentences: int = 2000
    control_epochs: int = 4
    seed: int = 0


QUICK = AuditSettings(
    WhiteBoxSettings(draws=2, sentences=0.2),
    # On few notes adversaries do not even break clear vectors within minutes, and then prove nothing.
    None,
    InversionSettings(GuesserSettings(epochs=3, sentences=2000, hidden=64), judged=1500, resamples=1000),
    (MatchingSettings(targets=200, draws=6, shares=(1, 100)),),
    LinkageSettings(targets=50, shortlist=100, draws=6),
    ReassemblySettings(notes=12, resamples=100),
    ReadabilitySettings(GuesserSettings(epochs=2, sentences=2000, vocabulary=4000, hidden=64), judged=500),
    None,
)
FULL = AuditSettings(
    WhiteBoxSettings(),
    # Half the units of the paper, and half the pairs of our default, so that all of it ends within the hour on two cores.
    AdversarySettings(pairs=1000, hidden=150),
    InversionSettings(),
    (MatchingSettings(targets=500), MatchingSettings(targets=60, candidates=10_000, draws=8, shares=(1,), longest=30)),
    LinkageSettings(),
    ReassemblySettings(),
    ReadabilitySettings(),
    MembershipSettings(recipe=TaggingConfig(epochs=6)),
)
PRESETS: Mapping[str, AuditSettings] = {"quick": QUICK, "full": FULL}


@dataclass(frozen=True)
class AuditMaterial:
    """What the attacker has, and what it is judged on.

    Args:
        vectors: public word vectors as they are, from which neighbours come.
        known: the attacker's labelled public notes.
        target: labelled notes that are attacked; none of them known.
        names: public full names for the linkage attack; without enough of them it is left out.
        name_categories: PHI categories that hold names of people.
    """

    vectors: WordVectors
    known: Sequence[Document]
    target: Sequence[Document]
    names: Sequence[tuple[str, ...]] = ()
    name_categories: Sequence[str] = ()


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Args:
        findings: of all attacks.
        accounting: what can be proved.
        left_out: attacks that were not run, each with the reason.
        own_set: whether the construction has one; see `own_set`.
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    left_out: tuple[str, ...]
    own_set: bool = True


def run_audit(encoder: Encoder, material: AuditMaterial, settings: AuditSettings, progress: Progress = silent) -> Audit:
    """Run every attack of the settings. One that can't be run on these notes is left out, with the reason.

    Args:
        encoder: frozen.
        material: notes and names.
        settings: see PRESETS.
        progress: called as each attack begins, and by those that train.

    Raises:
        ConfigurationError: there are too few notes on either side, or no word that is labelled PHI.
    """
    if len(material.known) < 2 or len(material.target) < 2:
        raise ConfigurationError(
            f"audit: expected at least 2 notes to learn on and 2 to attack, got {len(material.known)} and "
            f"{len(material.target)}; give more labelled public notes"
        )
    known, target = (_sentences(notes, encoder) for notes in (material.known, material.target))
    if not (known.tags > 0).any() or not (target.tags > 0).any():
        raise ConfigurationError("audit: expected labelled PHI in the notes on either side, got none; label some")
    planned, left_out = _planned(_Scene(encoder, material, known, target), settings, progress)
    findings: list[Finding] = []
    for done, (name, attack) in enumerate(planned):
        progress(name, done, len(planned))
        try:
            findings += attack()
        except (ConfigurationError, TrainingError, EvaluationError) as error:
            left_out.append(f"{name}: {error}")
    proved = accounted(encoder, target, material.target)
    return Audit(tuple(findings), proved, tuple(left_out), own_set(encoder) is not None)


@dataclass(frozen=True, repr=False)
class _Scene:
    """What all attacks share."""

    encoder: Encoder
    material: AuditMaterial
    known: TokenisedSentences
    target: TokenisedSentences


def _planned(scene: _Scene, settings: AuditSettings, progress: Progress) -> tuple[list[_Attack], list[str]]:
    """The attacks of the settings, and those that are left out from the start."""
    encoder, material, known, target = scene.encoder, scene.material, scene.known, scene.target
    vectors = material.vectors
    neighbours = Neighbours(vectors)
    pseudonyms = Pseudonymiser(neighbours, min(settings.neighbours, len(vectors)))
    planned: list[_Attack] = [
        ("white box", lambda: white_box(encoder, [target], pseudonyms, settings.white_box).findings()),
        *(("match", partial(_matched, scene, neighbours, one)) for one in settings.matching),
    ]
    left_out: list[str] = []
    longest = max(one.candidates for one in FULL.matching)
    if not any(one.candidates == longest for one in settings.matching):
        left_out.append(f"match among {longest:,} candidates: part of the full audit only")
    if (linked := settings.linkage) is not None:
        if material.name_categories:
            names, kinds = material.names, material.name_categories
            planned.append(("linkage", lambda: linkage(encoder, material.target, names, kinds, linked)))
        else:
            left_out.append("linkage: the label scheme has no category that is known to hold names of people")
    if (paired := settings.reassembly) is not None:
        planned.append(("reassembly", lambda: reassembly(encoder, material.known, material.target, paired)))
    if (read := settings.readability) is not None:
        planned.append(("readability", lambda: readability(encoder, vectors, known, target, read, progress=progress)))
    if (inverted := settings.inversion) is not None:
        planned.append(
            ("token inversion", lambda: token_inversion(encoder, vectors, known, target, inverted, progress=progress))
        )
    if settings.adversary is None:
        left_out.append("fresh adversaries: part of the full audit only")
    else:
        fresh, marked = replace(settings.adversary, neighbours=pseudonyms.n), len(known.rows_with_phi())
        if marked < settings.adversary_sentences:
            left_out.append(
                f"fresh adversaries: {marked} sentences with PHI to learn from; from fewer than {settings.adversary_sentences} "
                "they do not even break clear word vectors"
            )
        else:
            planned.append(
                ("fresh adversaries", partial(_adversaries, scene, fresh, settings.control_epochs, progress))
            )
    if (asked := settings.membership) is not None:
        planned.append(("membership", lambda: _membership(encoder, material.target, asked)))
    else:
        left_out.append("membership: part of the full audit only")
    return planned, left_out


def _matched(scene: _Scene, neighbours: Neighbours, settings: MatchingSettings) -> list[Finding]:
    return matching(scene.encoder, scene.material.target, neighbours, settings, own_set(scene.encoder))


def _adversaries(scene: _Scene, settings: AdversarySettings, epochs: int, progress: Progress) -> list[Finding]:
    vectors, known = scene.material.vectors, scene.known
    control = task_only(vectors, known, scene.encoder.scheme, epochs, settings.seed, progress)
    controls = {"task only": control}
    return fresh_adversaries(
        scene.encoder, vectors, known, scene.target, settings, controls=controls, progress=progress
    )


def _sentences(notes: Sequence[Document], encoder: Encoder) -> TokenisedSentences:
    return tokenised_corpus(notes, encoder.scheme)


def _membership(encoder: Encoder, notes: Sequence[Document], settings: MembershipSettings) -> list[Finding]:
    pool, asked = (encoded_notes(encoder, notes, settings.seed + draw) for draw in (0, 1))
    return membership(pool, asked, len(encoder.scheme.tags), settings)


def own_set(encoder: Encoder) -> OwnSet | None:
    """The words that a construction shows exactly like a word; None where it has no such set."""
    vectors = encoder.vectors
    if encoder.surrogates is not None:
        return _SameCasing(vectors.words)
    if isinstance(vectors, GeneralisedVectors):
        members: dict[int, list[str]] = {}
        for word, own in zip(vectors.words, vectors.classes.tolist(), strict=True):
            if own != PUBLIC:
                members.setdefault(own, []).append(word)
        return lambda word: members.get(int(vectors.cluster([word])[0]), [])
    return None


class _SameCasing:
    """All words that can be written in the casing class of a word, which travels; numbers of as many digits for a number.

    Args:
        words: of the vocabulary.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [word for word in words if not is_punctuation(word)]
        self._known: dict[tuple[object, ...], list[str]] = {}

    def __call__(self, word: str) -> list[str]:
        if word.isdecimal():
            return _numbers(len(word))
        kind = (casing_class(word), word.islower(), word.isupper(), word[0].isupper())
        if kind not in self._known:
            cased = dict.fromkeys(cased_like(other, word) for other in self._words)
            self._known[kind] = [other for other in cased if casing_class(other) == kind[0]]
        return self._known[kind]


def _numbers(digits: int) -> list[str]:
    """Numbers of so many digits, all of them or some that lie evenly."""
    step = max(1, 10**digits // _NUMBERS)
    return [f"{number:0{digits}}" for number in range(0, 10**digits, step)]


def accounted(encoder: Encoder, target: TokenisedSentences, notes: Sequence[Document]) -> Accounting:
    """What can be proved of an encoder, for the longest sentence and note at hand."""
    if encoder.surrogates is not None:
        return independence_accounting(encoder.surrogates.hides_casing)
    noise = None
    if isinstance(encoder.representer, Representer):
        sigma = min(encoder.representer.noise_scales()["output"])
        longest = max(len(tokens) for _, tokens in tokenised(notes))
        noise = noise_accounting(
            sigma, Reach.SENTENCE, sentence_tokens=int(np.max(target.lengths)), note_tokens=longest
        )
    vectors = encoder.vectors
    if isinstance(vectors, GeneralisedVectors):
        return anonymity_accounting(Anonymity(vectors.k, vectors.k_in_casing, vectors.largest_share), noise)
    return noise or no_accounting()


def settings_as_json(settings: AuditSettings) -> dict[str, object]:
    """The settings, for the record."""
    return asdict(settings)
