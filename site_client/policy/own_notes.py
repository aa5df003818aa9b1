"""What the hospital's own notes show of a release, judged by its policy before anything is encoded from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.constructions.construction import Construction
from shared.document import Document
from shared.privacy.enforcement import AdvantageBound
from shared.privacy.own_notes import recompute_on_notes
from site_client.policy.enforcing import Judgement
from site_client.policy.examining import public_lists
from site_client.policy.judging import breaches_on_notes
from site_client.workspace import Workspace


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
