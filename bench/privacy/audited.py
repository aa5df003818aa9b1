"""What the attacks on a person find at the default construction, on MEDDOCAN's development notes, for docs/results/privacy.json.

The construction is that of `bench.privacy.worth.meddocan`: a provider of 50 notes and public text. The attacker holds the release and MEDDOCAN's training
notes; what is reported has trained nothing.
"""

from __future__ import annotations

from dataclasses import replace

from bench import corpora
from bench.privacy.material import PROVIDER_NOTES, spanish
from bench.privacy.worth.meddocan import construction
from bench.results import Entry
from shared.anonymity.names import full_names
from shared.constructions.procedures.codes import CodedSurrogates
from shared.pipeline.forgotten.checker import Checker
from shared.pipeline.pipeline import Pipeline
from shared.privacy.attacks.linkage import LinkageSettings
from shared.privacy.attacks.person.attributes import attribute_inference
from shared.privacy.attacks.person.forgotten_names import forgotten_names
from shared.privacy.attacks.person.pattern import PatternSettings, residual_pattern
from shared.privacy.attacks.person.told import AttributeSettings
from shared.privacy.material.sharing import ClearEncoder, SharingEncoder
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import TaggingConfig, train_tagger

DATA = "meddocan/dev"
_COMMAND = "python -m bench.results_privacy"
_REACHED = {
    "with telephone and hospital too": ("NUMERO_TELEFONO", "HOSPITAL"),
    "with age and sex too": ("EDAD_SUJETO_ASISTENCIA", "SEXO_SUJETO_ASISTENCIA"),
}
_KNOWN = "patients who look like no other by what people know of them"
_NAMES = ("NOMBRE_SUJETO_ASISTENCIA",)
_LIST = 12_000
# As the provider's own notes make a first pipeline, see `bench.privacy.forgotten`.
_EPOCHS = 30


def pattern_entries() -> list[Entry]:
    """How many patients look like no other, with casing shown and hidden."""
    shown = construction()
    known, attacked = corpora.meddocan("train"), corpora.meddocan("dev")
    entries = []
    for casing, encoder, target in (("casing shown", shown, 0.05), ("casing hidden", _hiding(shown), 0.01)):
        for one in residual_pattern(encoder, known, attacked, PatternSettings(), _REACHED):
            wanted = target if one.measure.startswith(_KNOWN) else None
            entries.append(_entry(one, f"residual pattern, {casing}", "pattern", wanted))
    return entries


def forgotten_name_entries() -> list[Entry]:
    """Who is named where a label was forgotten, with all that may look, with what looks at a first share, and with nothing."""
    made = construction()
    checkers = {
        "pipeline, patterns and lists look": Checker(made.scheme, _first_pipeline(made)),
        "patterns and lists look": Checker(made.scheme),
        "nothing looks": None,
    }
    names, notes = full_names("meddocan", _LIST, 0), corpora.meddocan("dev")
    found = forgotten_names(made, notes, names, _NAMES, LinkageSettings(targets=250, draws=4), checkers)
    aimed = "pipeline, patterns and lists look: top-1"
    return [
        _entry(
            one, "whole forgotten name of a patient", "forgotten-names", 0.02 if one.measure.startswith(aimed) else None
        )
        for one in found
    ]


def attribute_entries() -> list[Entry]:
    """Whether a fact that is known of a patient finds another, under the default and in clear word vectors."""
    made = construction()
    known, attacked = (tokenised_corpus(corpora.meddocan(split), made.scheme) for split in ("train", "dev"))
    encoders: dict[str, SharingEncoder] = {"default": made, "clear word vectors": ClearEncoder(spanish(), made.scheme)}
    return [
        _entry(one, f"attribute inference, {name}", "attributes", None)
        for name, encoder in encoders.items()
        for one in attribute_inference(encoder, known, attacked, AttributeSettings(targets=500))
    ]


def _hiding(made: CodedSurrogates) -> CodedSurrogates:
    """The construction that `--hide-casing` makes of the same notes."""
    bank = made.bank
    return replace(
        made, bank=type(bank)(bank.spans, bank.lists, hides_casing=True, later=bank.later, any_form=bank.any_form)
    )


def _first_pipeline(made: CodedSurrogates) -> Pipeline:
    source = made.noise_free(tokenised_corpus(corpora.meddocan("train")[:PROVIDER_NOTES], made.scheme))
    return Pipeline(made, train_tagger(source, len(made.scheme.tags), TaggingConfig(epochs=_EPOCHS, seed=1)))


def _entry(found: Finding, attack: str, part: str, target: float | None) -> Entry:
    baseline = "" if found.baseline is None else f"; without the share {found.baseline:.4g}"
    return Entry(
        f"{attack}: {found.measure}",
        round(found.value, 4),
        target,
        "" if target is None else "<=",
        found.unit or "share",
        (round(found.interval[0], 4), round(found.interval[1], 4)),
        1,
        DATA,
        f"{_COMMAND} {part}",
        f"{found.trials} trials{baseline}; attacker: {found.knowledge}; K=1000, provider {PROVIDER_NOTES} notes; seed {found.seed}",
    )
