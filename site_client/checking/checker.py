"""What looks for PHI that nobody has labelled in this hospital's notes; see `shared.pipeline.forgotten.checker`."""

from __future__ import annotations

from shared.labels import LabelScheme
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker, OwnLists
from shared.pipeline.pipeline import load_pipeline
from site_client.checking.given_lists import given_names
from site_client.workspace import Workspace


def make_checker(
    workspace: Workspace, scheme: LabelScheme, listed: OwnLists | None = None, above: float = HIDE_ABOVE
) -> Checker:
    """What looks at a hospital's notes: with the newest pipeline, where one was pulled, and the lists that the hospital gave.

    Args:
        workspace: of the site.
        scheme: of the labels of the notes.
        listed: finds what lists of the hospital's own name.
        above: how probable it must be that something is hidden.

    Raises:
        ProtocolError, EmbeddingError, ModelError: the pipeline has changed or does not load.
        WorkspaceError: the lists are damaged.
    """
    given = given_names(workspace)
    pipeline = None if workspace.pipeline is None else load_pipeline(workspace.pipeline_release().folder)
    return Checker(scheme, pipeline, listed, above, given)
