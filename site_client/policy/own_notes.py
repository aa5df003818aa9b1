"""What the hospital's own notes show of a release, judged by its policy before anything is encoded from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.anonymity.public_lists import PublicList
from shared.anonymity.telling_spans import SpanSearch
from shared.constructions.construction import Construction
from shared.document import Document
from shared.privacy.enforcement import AdvantageBound
from shared.privacy.own_notes import recompute_on_notes
from site_client.policy.enforcing import Judgement
from site_client.policy.examining import public_lists
from site_client.policy.judging import Demand, breach_of_bank, breaches_on_notes
from site_client.workspace import Workspace


class BankWatch:
    """Looks for surrogates of the release in all notes while they are encoded: a sample could miss the one that was planted.

    Args:
        construction: of the release.
        lists: public words, none of them the provider's.
    """

    def __init__(self, construction: Construction, lists: Sequence[PublicList]) -> None:
        bank = construction.surrogate_bank
        spans = () if bank is None else tuple(words for _, words in (*bank.spans, *bank.later))
        self._search = SpanSearch(spans, lists)

    def add(self, words: Sequence[str]) -> None:
        """Looks at some words of the notes, in their order."""
        self._search.add(words)

    def judged(self, judgement: Judgement) -> Judgement:
        """The judgement with what was found until now."""
        others = [one for one in judgement.broken if one.demand is not Demand.BANK]
        return replace(judgement, broken=(*others, *breach_of_bank(judgement.policy, self._search.found)))


def judge_on_notes(
    workspace: Workspace,
    judgement: Judgement,
    construction: Construction,
    documents: Sequence[Document],
    bound: AdvantageBound | None,
) -> Judgement:
    """The judgement of a release with what some notes add to it.

    Args:
        workspace: of the site.
        judgement: of the release alone.
        construction: of the release.
        documents: labelled notes of the hospital.
        bound: what every sentence of the share is held to.

    Raises:
        LabelError: a label is not in the scheme of the release.
    """
    found = recompute_on_notes(construction, documents, public_lists(workspace, judgement.policy))
    held = None if bound is None else (bound.advantage, bound.quantile)
    return replace(judgement, broken=(*judgement.broken, *breaches_on_notes(judgement.policy, found, held)))
