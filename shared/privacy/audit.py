"""The audit of a representer: every attack on one encoder, the bounds that can be proved, and a verdict by a policy.

The attacker holds everything that is published (weights, vocabulary, surrogates, code) and labelled public notes; it is
judged on other notes. An audit shows what was tried and how well it went. It can't show that no better attack exists;
only the parts that are proved (see `Accounting`) hold against any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.accounting import Accounting
from shared.constructions.construction import Construction
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.privacy.attacks.attack import Attack, S
from shared.privacy.attacks.registry import ATTACKS
from shared.privacy.attacks.scene import AuditMaterial, Scene
from shared.privacy.statistics.finding import Finding
from shared.progress import Progress, silent
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_corpus

# The order of format 2 of an audit's record; what later attacks add comes after it.
_RECORDED = (
    "white_box",
    "adversary",
    "inversion",
    "matching",
    "linkage",
    "reassembly",
    "readability",
    "membership",
    "neighbours",
    "adversary_sentences",
    "control_epochs",
    "seed",
)


@dataclass(frozen=True)
class AuditSettings:
    """How hard every attack tries.

    Args:
        rounds: of each attack by its name, each with settings of its own; an attack without any is left out.
        neighbours: N, candidates for every PHI word.
        seed: of all attacks.

    Raises:
        ConfigurationError: there is no such attack, or several rounds of one that can be run only once.
    """

    rounds: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    neighbours: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        names = [attack.name for attack in ATTACKS]
        for unknown in sorted(self.rounds.keys() - set(names)):
            raise ConfigurationError(f"audit: expected attacks among {', '.join(names)}, got {unknown!r}")
        for attack in ATTACKS:
            if len(self.rounds_of(attack)) > 1 and not attack.repeatable:
                raise ConfigurationError(f"audit: expected at most one round of {attack.name}")

    def rounds_of(self, attack: Attack[S]) -> tuple[S, ...]:
        """The rounds of an attack."""
        return self.rounds.get(attack.name, ())

    def with_rounds(self, attack: Attack[S], *rounds: S) -> AuditSettings:
        """The same settings with other rounds of an attack."""
        return replace(self, rounds={**self.rounds, attack.name: rounds})

    def without_attacks(self, *attacks: Attack[Any]) -> AuditSettings:
        """The same settings with some attacks left out."""
        names = {attack.name for attack in attacks}
        return replace(self, rounds={name: rounds for name, rounds in self.rounds.items() if name not in names})

    def with_seed(self, seed: int) -> AuditSettings:
        """The same settings, every attack with the seed."""
        rounds = {
            attack.name: tuple(attack.with_seed(one, seed) for one in self.rounds_of(attack)) for attack in ATTACKS
        }
        return replace(self, rounds=rounds, seed=seed)

    def as_json(self) -> dict[str, object]:
        """The settings, for the record."""
        parts: dict[str, object] = {"neighbours": self.neighbours, "seed": self.seed}
        for attack in ATTACKS:
            parts |= attack.as_json(self.rounds_of(attack))
        return {key: parts.pop(key) for key in _RECORDED} | parts


QUICK = AuditSettings({attack.name: attack.quick for attack in ATTACKS})
FULL = AuditSettings({attack.name: attack.full for attack in ATTACKS})
PRESETS: Mapping[str, AuditSettings] = {"quick": QUICK, "full": FULL}


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Args:
        findings: of all attacks.
        accounting: what can be proved.
        left_out: attacks that were not run, each with the reason.
        own_set: whether the construction has one; see `Construction.own_set`.
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    left_out: tuple[str, ...]
    own_set: bool = True


def run_audit(
    encoder: Construction, material: AuditMaterial, settings: AuditSettings, progress: Progress = silent
) -> Audit:
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
    pseudonyms = Pseudonymiser(Neighbours(material.vectors), min(settings.neighbours, len(material.vectors)))
    own = encoder.own_set()
    scene = Scene(encoder, material, known, target, pseudonyms, own, progress)
    planned, left_out = _planned(scene, settings)
    findings: list[Finding] = []
    for done, (attack, one) in enumerate(planned):
        progress(attack.name, done, len(planned))
        try:
            findings += attack.run(scene, one)
        except (ConfigurationError, TrainingError, EvaluationError) as error:
            left_out.append(f"{attack.name}: {error}")
    longest = max(len(tokens) for _, tokens in tokenise_documents(material.target))
    proved = encoder.account(int(np.max(target.lengths)), longest)
    return Audit(tuple(findings), proved, tuple(left_out), own is not None)


def _planned(scene: Scene, settings: AuditSettings) -> tuple[list[tuple[Attack[Any], Any]], list[str]]:
    """The rounds of the settings, and what is left out from the start."""
    planned: list[tuple[Attack[Any], Any]] = []
    left_out: list[str] = []
    for attack in ATTACKS:
        rounds = settings.rounds_of(attack)
        left_out += attack.gaps(rounds)
        for one in rounds:
            obstacle = attack.obstacle(scene, one)
            if obstacle is None:
                planned.append((attack, one))
            else:
                left_out.append(f"{attack.name}: {obstacle}")
    return planned, left_out


def _sentences(notes: Sequence[Document], encoder: Construction) -> TokenisedSentences:
    return tokenised_corpus(notes, encoder.scheme)
