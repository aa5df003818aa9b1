"""The audit of a representer: every attack on one encoder, the bounds that can be proved, and a verdict by a policy.

The attacker holds everything that is published (weights, vocabulary, surrogates, code) and labelled public notes; it is
judged on other notes. An audit shows what was tried and how well it went. It can't show that no better attack exists;
only the parts that are proved (see `Accounting`) hold against any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.document import Document
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.encoding import TokenisedSentences, tokenised, tokenised_chunks
from shared.errors import ConfigurationError
from shared.models.representer import Representer
from shared.pipeline import Encoder
from shared.privacy.accounting import (
    Accounting,
    Reach,
    anonymity_accounting,
    independence_accounting,
    no_accounting,
    noise_accounting,
)
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.attacks.inversion import InversionSettings, token_inversion
from shared.privacy.attacks.linkage import LinkageSettings, linkage
from shared.privacy.attacks.matching import MatchingSettings, OwnSet, matching
from shared.privacy.attacks.membership import MembershipSettings, encoded_notes, membership
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.attacks.reassembly import ReassemblySettings, reassembly
from shared.privacy.attacks.sharing import joined
from shared.privacy.attacks.word_guesser import GuesserSettings
from shared.privacy.finding import Finding
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.training.tagging import Progress, TaggingConfig, silent


@dataclass(frozen=True)
class AuditSettings:
    """How hard every attack tries; None leaves an attack out.

    Args:
        neighbours: N, candidates for every PHI word.
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
    seed: int = 0


QUICK = AuditSettings(
    WhiteBoxSettings(draws=2, sentences=0.2),
    AdversarySettings(epochs=3, pairs=400, judged=600, hidden=64),
    InversionSettings(GuesserSettings(epochs=3, sentences=2000, hidden=64), judged=1500, resamples=1000),
    (MatchingSettings(targets=200, shares=(1, 100)),),
    LinkageSettings(targets=50),
    ReassemblySettings(notes=12, resamples=100),
    ReadabilitySettings(GuesserSettings(epochs=2, sentences=2000, vocabulary=4000, hidden=64), judged=500),
    None,
)
FULL = AuditSettings(
    WhiteBoxSettings(),
    AdversarySettings(),
    InversionSettings(),
    (MatchingSettings(), MatchingSettings(targets=200, candidates=10_000, shares=(1,))),
    LinkageSettings(targets=200),
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
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    left_out: tuple[str, ...]


def run_audit(encoder: Encoder, material: AuditMaterial, settings: AuditSettings, progress: Progress = silent) -> Audit:
    """Run every attack of the settings.

    Args:
        encoder: frozen.
        material: notes and names.
        settings: see PRESETS.
        progress: called as each attack begins, and by those that train.

    Raises:
        ConfigurationError: there are too few notes on either side.
    """
    if len(material.known) < 2 or len(material.target) < 2:
        raise ConfigurationError(
            f"audit: expected at least 2 notes to learn on and 2 to attack, got {len(material.known)} and "
            f"{len(material.target)}; give more labelled public notes"
        )
    known, target = (_sentences(notes, encoder) for notes in (material.known, material.target))
    neighbours = Neighbours(material.vectors)
    pseudonyms = Pseudonymiser(neighbours, min(settings.neighbours, len(material.vectors)))
    left_out: list[str] = []
    attacks: list[tuple[str, Callable[[], list[Finding]]]] = [
        ("white box", lambda: white_box(encoder, [target], pseudonyms, settings.white_box).findings())
    ]
    for one in settings.matching:
        attacks.append(
            ("match", lambda one=one: matching(encoder, material.target, neighbours, one, own_set(encoder)))  # type: ignore[misc]
        )
    if settings.linkage is not None and len(material.names) > settings.linkage.names and material.name_categories:
        list_settings = settings.linkage
        attacks.append(
            (
                "linkage",
                lambda: linkage(encoder, material.target, material.names, material.name_categories, list_settings),
            )
        )
    elif settings.linkage is not None:
        left_out.append(f"linkage: fewer than {settings.linkage.names} public names, or no category of names")
    if settings.reassembly is not None:
        pairs = settings.reassembly
        attacks.append(("reassembly", lambda: reassembly(encoder, material.known, material.target, pairs)))
    if settings.inversion is not None:
        inverted = settings.inversion
        attacks.append(
            (
                "inversion",
                lambda: token_inversion(encoder, material.vectors, known, target, inverted, progress=progress),
            )
        )
    if settings.readability is not None:
        read = settings.readability
        attacks.append(
            ("readability", lambda: readability(encoder, material.vectors, known, target, read, progress=progress))
        )
    if settings.adversary is not None:
        fresh = replace(settings.adversary, neighbours=pseudonyms.n)
        attacks.append(
            (
                "adversaries",
                lambda: fresh_adversaries(encoder, material.vectors, known, target, fresh, progress=progress),
            )
        )
    if settings.membership is not None:
        asked = settings.membership
        attacks.append(("membership", lambda: _membership(encoder, material.target, asked)))
    else:
        left_out.append("membership: part of the full audit only")
    findings: list[Finding] = []
    for done, (name, attack) in enumerate(attacks):
        progress(name, done, len(attacks))
        findings += attack()
    return Audit(tuple(findings), accounted(encoder, target, material.target), tuple(left_out))


def _sentences(notes: Sequence[Document], encoder: Encoder) -> TokenisedSentences:
    return joined(list(tokenised_chunks(tokenised(notes), encoder.scheme)))


def _membership(encoder: Encoder, notes: Sequence[Document], settings: MembershipSettings) -> list[Finding]:
    pool, asked = (encoded_notes(encoder, notes, settings.seed + draw) for draw in (0, 1))
    return membership(pool, asked, len(encoder.scheme.tags), settings)


def own_set(encoder: Encoder) -> OwnSet | None:
    """The words that a construction shows exactly like a word; None where it has no such set."""
    vectors = encoder.vectors
    if encoder.surrogates is not None:
        everything = [word for word in vectors.words if not is_punctuation(word)]
        return lambda word: everything
    if isinstance(vectors, GeneralisedVectors):
        members: dict[int, list[str]] = {}
        for word, own in zip(vectors.words, vectors.classes.tolist(), strict=True):
            if own != PUBLIC:
                members.setdefault(own, []).append(word)
        return lambda word: members.get(int(vectors.cluster([word])[0]), [])
    return None


def accounted(encoder: Encoder, target: TokenisedSentences, notes: Sequence[Document]) -> Accounting:
    """What can be proved of an encoder, for the longest sentence and note at hand."""
    if encoder.surrogates is not None:
        return independence_accounting()
    if isinstance(encoder.representer, Representer):
        sigma = min(encoder.representer.noise_scales()["output"])
        longest = max(len(tokens) for _, tokens in tokenised(notes))
        return noise_accounting(sigma, Reach.SENTENCE, sentence_tokens=int(np.max(target.lengths)), note_tokens=longest)
    if isinstance(encoder.vectors, GeneralisedVectors):
        return anonymity_accounting(encoder.vectors.k)
    return no_accounting()


def settings_as_json(settings: AuditSettings) -> dict[str, object]:
    """The settings, for the record."""
    return asdict(settings)
