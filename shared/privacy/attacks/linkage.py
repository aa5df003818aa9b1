"""Patient-list linkage: which of many people of a list is the one named in a sentence of a share?

The attacker knows the sentence but for the name, and a list of full names that holds it, as who has a hospital's register
or an electoral roll. Names are first scored token by token, so that a list of 10,000 costs only its different given names
and surnames; the best are then encoded as a whole, which decides among them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import LabelScheme
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.matching import true_rank
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.release_model import Candidates, Floats, ReleaseModel
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.statistics.finding import Finding, proportion
from shared.privacy.statistics.resampling import mean_interval
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.text.casing import cased_like

Name = tuple[str, ...]
"""The tokens of a full name, such as a given name and a surname."""
Scored = Callable[[Sequence[Name]], Floats]


@dataclass(frozen=True)
class LinkageSettings:
    """How the attack is run.

    Args:
        targets: names attacked.
        names: length of the list, the true name among them.
        shortlist: names that are encoded as a whole.
        draws: shares that the attacker makes of each candidate.
        shares: independent shares of the sentence that the attacker averages over.
        longest: sentences of more tokens are no targets.
        seed: of targets, lists, draws and ties.
    """

    targets: int = 100
    names: int = 10_000
    shortlist: int = 200
    draws: int = 16
    shares: int = 1
    longest: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.targets, self.names - 1, self.shortlist, self.draws, self.shares, self.longest) < 1:
            raise ConfigurationError("linkage: expected every setting from 1, names from 2")


@dataclass(frozen=True, slots=True, repr=False)
class NameTarget:
    """A full name in its sentence.

    Args:
        words: of the sentence. These may be PHI: never log them.
        tags: uint8 `[tokens]`.
        begin: first token of the name. parts: how many tokens it has.
    """

    words: tuple[str, ...]
    tags: NDArray[np.uint8]
    begin: int
    parts: int

    def __repr__(self) -> str:
        return f"NameTarget({self.parts} tokens from token {self.begin} of {len(self.words)})"

    @property
    def name(self) -> Name:
        """The true name. This is PHI: never log it."""
        return self.words[self.begin : self.begin + self.parts]

    def candidates(self, names: Iterable[Name]) -> Candidates:
        """The sentence with each of the names, which have as many tokens, in the place of the true one."""
        before, after = self.words[: self.begin], self.words[self.begin + self.parts :]
        return Candidates([(*before, *name, *after) for name in names], self.tags)


def linkage(
    encoder: SharingEncoder,
    documents: Iterable[Document],
    names: Sequence[Name],
    categories: Iterable[str],
    settings: LinkageSettings,
) -> list[Finding]:
    """Look for the true full name in a list.

    Args:
        encoder: the release.
        documents: labelled notes whose names are attacked.
        names: public full names, more than `settings.names` and each once; a note's name is attacked among those with
            as many tokens.
        categories: the PHI categories that hold names of people.
        settings: how many of everything.

    Returns:
        Top-1, top-10, and how far ahead of the false names the true one comes.

    Raises:
        ConfigurationError: there are too few names of each length, or no such category.
    """
    generator = np.random.default_rng(settings.seed)
    by_parts = names_by_parts(names, settings.names)
    targets = name_targets(documents, encoder.scheme, set(categories), frozenset(by_parts), settings, generator)
    model = ReleaseModel(encoder, draws=settings.draws, seed=settings.seed)
    ranks = [rank_of_name(model, target, by_parts[target.parts], settings, generator) for target in targets]
    return linkage_findings("linkage", "", np.array(ranks, dtype=np.int64), model, settings)


def names_by_parts(names: Iterable[Name], least: int) -> dict[int, list[Name]]:
    """Different names by their number of tokens, where there are so many at least.

    Raises:
        ConfigurationError: there are too few of each number.
    """
    by_parts: dict[int, list[Name]] = {}
    for name in dict.fromkeys(names):
        by_parts.setdefault(len(name), []).append(name)
    by_parts = {parts: listed for parts, listed in by_parts.items() if len(listed) >= least}
    if not by_parts:
        raise ConfigurationError(f"linkage: expected at least {least} names of one number of tokens, got fewer")
    return by_parts


def name_targets(
    documents: Iterable[Document],
    scheme: LabelScheme,
    categories: set[str],
    parts: frozenset[int],
    settings: LinkageSettings,
    generator: np.random.Generator,
) -> list[NameTarget]:
    """A random full name of each of some random sentences.

    Raises:
        ConfigurationError: a category is not in the scheme.
    """
    unknown = sorted(categories - set(scheme.categories))
    if unknown or not categories:
        raise ConfigurationError(f"linkage: expected categories of {scheme.name}, got {unknown or 'none'}")
    begins = np.array([2 * scheme.category_index[name] + 1 for name in sorted(categories)])
    found: list[NameTarget] = []
    for chunk in tokenised_chunks(tokenise_documents(documents), scheme):
        for words, tags in chunk.split():
            here = [
                NameTarget(words, tags, begin, size)
                for begin in np.flatnonzero(np.isin(tags, begins)).tolist()
                if (size := _span(tags, begin)) in parts and all(word.isalpha() for word in words[begin : begin + size])
            ]
            if here and len(words) <= settings.longest:
                found.append(here[int(generator.integers(len(here)))])
    chosen = generator.permutation(len(found))[: settings.targets]
    return [found[index] for index in chosen.tolist()]


def _span(tags: NDArray[np.uint8], begin: int) -> int:
    """Number of tokens of the span that begins here."""
    inside = tags[begin + 1 :] == tags[begin] + 1
    return 1 + int(np.argmin(np.append(inside, False)))


def rank_of_name(
    model: ReleaseModel,
    target: NameTarget,
    names: Sequence[Name],
    settings: LinkageSettings,
    generator: np.random.Generator,
) -> int:
    """Rank of the true name in a fresh random list."""
    # Two names of the list may be one in this casing.
    others: dict[Name, None] = {}
    for index in generator.permutation(len(names)).tolist():
        name = tuple(cased_like(part, true) for part, true in zip(names[index], target.name, strict=True))
        if name != target.name:
            others[name] = None
        if len(others) == settings.names - 1:
            break
    listed = list(others)
    truth = int(generator.integers(len(listed) + 1))
    listed.insert(truth, target.name)
    shares = model.show(target.candidates([target.name] * settings.shares))

    def scored(candidates: Sequence[Name]) -> Floats:
        total: Floats = model.log_likelihoods(target.candidates(candidates), shares).sum(1)
        return total

    scores = _by_tokens(listed, scored, generator)
    # In random order among equals, so that a list without any clue gives a random shortlist.
    order = np.lexsort((generator.random(len(listed)), -scores))[: settings.shortlist]
    exact = scored([listed[index] for index in order.tolist()])
    if truth in order:
        return true_rank(exact, int(np.flatnonzero(order == truth)[0]), generator)
    rest = np.setdiff1d(np.arange(len(listed)), order)
    return len(order) + true_rank(scores[rest], int(np.flatnonzero(rest == truth)[0]), generator)


def _by_tokens(listed: Sequence[Name], scored: Scored, generator: np.random.Generator) -> Floats:
    """Score of each name as the sum over its tokens, the others held at the best found so far."""
    best = list(listed[int(generator.integers(len(listed)))])
    total = np.zeros(len(listed))
    for place in range(len(best)):
        tokens = list(dict.fromkeys(name[place] for name in listed))
        column = {token: index for index, token in enumerate(tokens)}
        scores = scored([(*best[:place], token, *best[place + 1 :]) for token in tokens])
        best[place] = tokens[int(np.argmax(scores))]
        total += scores[[column[name[place]] for name in listed]]
    return total


def linkage_findings(
    attack: str, case: str, ranks: NDArray[np.int64], model: ReleaseModel, settings: LinkageSettings
) -> list[Finding]:
    """Top-1, top-10, and how far ahead of the false names the true one comes.

    Args:
        attack: its name.
        case: stands ahead of every measure.
        ranks: of the true names, int64 `[targets]`.
        model: that scored them.
        settings: of the attack.
    """
    means = "exact means of the noise" if model.knows_means else f"{model.draws} own shares of each candidate"
    knowledge = f"release, the sentence but for the name, a list of names that holds it, casing; {means}"
    name = f"of {settings.names} names, {settings.shares} share{'s' if settings.shares > 1 else ''}"
    found = [
        proportion(
            attack,
            f"{case}top-{top} {name}",
            int((ranks <= top).sum()),
            len(ranks),
            top / settings.names,
            knowledge,
            settings.seed,
        )
        for top in (1, 10)
    ]
    behind = (settings.names - ranks) / (settings.names - 1)
    interval = mean_interval(behind, np.random.default_rng((settings.seed, 1)))
    mean = float(behind.mean()) if len(ranks) else 0.0
    measure = f"{case}false names behind the true one {name}"
    return [*found, Finding(attack, measure, mean, 0.5, interval, len(ranks), knowledge, settings.seed)]


class Linkage(Attack[LinkageSettings]):
    """Which of many people of a list is named in a sentence."""

    name = "linkage"
    key = "linkage"
    quick = (LinkageSettings(targets=50, shortlist=100, draws=6),)
    full = (LinkageSettings(),)
    finds = ("linkage",)

    def obstacle(self, scene: Scene, settings: LinkageSettings) -> str | None:
        """It needs to know where names of people stand."""
        if scene.material.name_categories:
            return None
        return "the label scheme has no category that is known to hold names of people"

    def run(self, scene: Scene, settings: LinkageSettings) -> list[Finding]:
        """See `linkage`."""
        material = scene.material
        return linkage(scene.encoder, material.target, material.names, material.name_categories, settings)


LINKAGE = Linkage()
