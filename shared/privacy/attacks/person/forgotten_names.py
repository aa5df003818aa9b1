"""Forgotten names: which of many people is named where a whole name was left without a label?

Surrogates protect what is labelled. What an annotator forgot is hidden where `encode` finds it by itself, and else shown as any other word:
by its cluster, or as it is if it is public. The attacker knows the sentence but for the name, and a list of full names that holds it, as for
labelled names; see `shared.privacy.attacks.linkage`. The audit comes before any pipeline, so `encode` is taken to look with patterns and
lists alone, as at a hospital's first share.

That a list of other names would have been hidden where this one was not is no part of the score: the names of an audit come from the lists
that `encode` looks with, and those of a hospital's patients do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import numpy as np

from shared.constructions.construction import Construction
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.linkage import (
    LinkageSettings,
    Name,
    NameTarget,
    linkage_findings,
    names_by_parts,
    rank_of_name,
)
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.release_model import ReleaseModel
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks

_FINDS = "forgotten name"


def forgotten_names(
    encoder: Construction,
    documents: Sequence[Document],
    names: Sequence[Name],
    categories: Iterable[str],
    settings: LinkageSettings,
    checkers: dict[str, Checker | None],
) -> list[Finding]:
    """Look for a full name in a list, after its label was forgotten.

    Args:
        encoder: the release.
        documents: labelled notes; names are forgotten one at a time.
        names, categories, settings: as for `linkage`.
        checkers: what `encode` looks with, by how a finding says it; None for nothing. Where the construction replaces no PHI, nothing is
            hidden, whatever looks.

    Returns:
        Top-1, top-10, and how far ahead of the false names the true one comes, for each of them.

    Raises:
        ConfigurationError: there are too few names of each length.
    """
    by_parts = names_by_parts(names, settings.names)
    found: list[Finding] = []
    for said, checker in checkers.items():
        # The same names are forgotten whatever looks.
        generator = np.random.default_rng(settings.seed)
        looking = checker if encoder.replaces_phi else None
        targets = forgotten_targets(encoder, documents, set(categories), by_parts.keys(), settings, looking)
        model = ReleaseModel(encoder, draws=settings.draws, seed=settings.seed)
        ranks = [_rank(model, target, by_parts[target.parts], settings, generator) for target in targets]
        found += linkage_findings(_FINDS, f"{said}: ", np.array(ranks, dtype=np.int64), model, settings)
    return found


def forgotten_targets(
    encoder: Construction,
    documents: Sequence[Document],
    categories: Set[str],
    parts: Set[int],
    settings: LinkageSettings,
    checker: Checker | None,
) -> list[NameTarget]:
    """Some random names, each alone without its label, as `encode` sees them: what was found in a name is tagged, the rest is O.

    Args:
        encoder: of the label scheme.
        documents, categories, settings: as in `forgotten_names`.
        parts: numbers of tokens that a name may have.
        checker: looks at the note without the label.
    """
    generator = np.random.default_rng(settings.seed)
    named = [(document, span) for document in documents for span in document.annotations if span.category in categories]
    targets: list[NameTarget] = []
    for index in generator.permutation(len(named)).tolist():
        document, span = named[index]
        target = _target(encoder, document, span, checker)
        if target is not None and target.parts in parts and len(target.words) <= settings.longest:
            targets.append(target)
        if len(targets) == settings.targets:
            break
    return targets


def _rank(
    model: ReleaseModel,
    target: NameTarget,
    names: Sequence[Name],
    settings: LinkageSettings,
    generator: np.random.Generator,
) -> int:
    """Rank of the true name. One that was found whole is replaced as if it were labelled, and that is attacked by `linkage`: chance decides."""
    if target.tags[target.begin : target.begin + target.parts].all():
        return 1 + int(generator.integers(settings.names))
    return rank_of_name(model, target, names, settings, generator)


def _target(encoder: Construction, document: Document, span: Annotation, checker: Checker | None) -> NameTarget | None:
    """The sentence of a name that has lost its label; None where it is not all of whole words of letters."""
    left = replace(document, annotations=tuple(one for one in document.annotations if one != span))
    if checker is not None:
        [checked] = checker.check([left])
        left = checked.with_doubts(HIDE_ABOVE)
    [(cut, tokens)] = tokenise_documents([left])
    chunk = TokenisedSentences.concatenate(list(tokenised_chunks([(cut, tokens)], encoder.scheme)))
    inside = np.flatnonzero((tokens.spans[:, 0] < span.end) & (tokens.spans[:, 1] > span.start))
    own = set(chunk.sentence_of_token[inside].tolist())
    if len(own) != 1 or not all(chunk.words[token].isalpha() for token in inside.tolist()):
        return None
    [sentence] = own
    start = int(chunk.starts[sentence])
    end = start + int(chunk.lengths[sentence])
    if encoder.token_local:
        # What stands farther from the name has no say in how it is shown.
        around = 0 if encoder.narrowed is None else encoder.narrowed.window
        start, end = max(start, int(inside[0]) - around), min(end, int(inside[-1]) + 1 + around)
    return NameTarget(tuple(chunk.words[start:end]), chunk.tags[start:end], int(inside[0]) - start, len(inside))


class ForgottenNames(Attack[LinkageSettings]):
    """Which of many people of a list is named in a sentence where nobody labelled it."""

    name = "forgotten names"
    key = "forgotten_names"
    full = (LinkageSettings(targets=200, draws=4),)
    finds = (_FINDS,)

    def obstacle(self, scene: Scene, settings: LinkageSettings) -> str | None:
        """It needs to know where names of people stand."""
        if scene.material.name_categories:
            return None
        return "the label scheme has no category that is known to hold names of people"

    def run(self, scene: Scene, settings: LinkageSettings) -> list[Finding]:
        """See `forgotten_names`."""
        material, scheme = scene.material, scene.encoder.scheme
        unknown = sorted(set(material.name_categories) - set(scheme.categories))
        if unknown:
            raise ConfigurationError(f"forgotten names: expected categories of {scheme.name}, got {unknown}")
        checkers = {"patterns and lists look": Checker(scheme), "nothing looks": None}
        return forgotten_names(
            scene.encoder, material.target, material.names, material.name_categories, settings, checkers
        )


FORGOTTEN_NAMES = ForgottenNames()
