"""From a hospital's notes to an adapted head that waits in its workspace, tied to the release that it was adapted from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from foundation.locks import hold_scratch
from protocols.canonical import Json
from shared.document import AnnotatedText
from shared.pipeline.pipeline import load_pipeline
from shared.progress import Progress, silent
from shared.training.fine_tuning.adapting import AdaptingConfig
from site_client.adapting.adapt import Adapted, adapt_head
from site_client.adapting.gain import Verdict
from site_client.own_head.decided import record_made
from site_client.own_head.record import save_own_head
from site_client.policy.enforcing import Step, judge_release, require_kept
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import KnownNotes
from site_client.workspace import Workspace


def adapt(
    workspace: Workspace,
    notes: Sequence[AnnotatedText],
    patients: Mapping[str, str],
    config: AdaptingConfig,
    vocabulary: Callable[[Sequence[str]], object] = lambda words: None,
    tell: Progress = silent,
) -> tuple[Adapted, int, str]:
    """Adapt the head of the pipeline in use to notes, and let it wait for a person; one that is worse is not kept.

    Whatever was adapted before, the head begins at that of the release.

    Args:
        workspace: of the site.
        notes: labelled in the words of the release, or PHI of no category.
        patients: of whom a note is, by its id.
        config: the recipe.
        vocabulary: is told the words of the release, commonest first, before a note is read.
        tell: is told how far it is.

    Returns:
        what came of it, the number of the release, and the digest of the head that waits; "" where it is not kept.

    Raises:
        WorkspaceError: no pipeline was pulled.
        PolicyError: it does not keep the hospital's policy.
        TrainingError: too few notes.
        StorageError: another process is adapting here, there is no room, or the site's key can't be read.
        ProtocolError, EmbeddingError, ModelError: the release has changed, or does not load.
    """
    release = workspace.pipeline_release()
    require_kept(workspace, judge_release(workspace, release.digest), Step.DEID)
    number = release.manifest.sequence
    # A key that can't be read shows now, not behind the training whose end it signs.
    workspace.key()
    with hold_scratch(workspace.root / ".adapting"):
        key = DigestKey(workspace)
        pipeline = load_pipeline(release.folder)
        vocabulary(pipeline.encoder.vectors.words)
        made = adapt_head(pipeline, notes, patients, config, tell)
        digest = ""
        gain = made.gain.as_json()
        if made.points is not None and made.gain.verdict is not Verdict.WORSE:
            learned = KnownNotes.of(key, [note.text for note in notes])
            digest = save_own_head(workspace, release, made.head, made.points, made.kept, learned, gain)
        details: dict[str, Json] = {
            "release": release.digest,
            "notes": len(notes),
            "verdict": str(made.gain.verdict),
            # Numbers of the ledger are whole.
            "strict_f1_before_after_permille": [_permille(made.gain.strict.second), _permille(made.gain.strict.first)],
            "hidden_before_after_permille": [_permille(made.gain.hidden.second), _permille(made.gain.hidden.first)],
        }
        record_made(workspace, digest, details)
    return made, number, digest


def _permille(value: float) -> int:
    return round(1000 * value)
