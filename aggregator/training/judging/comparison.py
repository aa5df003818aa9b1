"""The new head against that of the last release, on the same held-out sentences.

The held-out tenth of a share is always the same, so neither head has seen it; unless the head of the release was trained with
--no-hold-out. That one knows these sentences by heart, so nothing is compared with it. Its model card tells, also of a release of an
earlier version. Where the head is a student, it is held against its teacher as well, which nobody else will ever see.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from aggregator.publishing.changes import CARD
from aggregator.publishing.head_record import FURTHER_HEAD_FILES, HEAD_FILES
from aggregator.publishing.model_card import held_nothing_back
from aggregator.publishing.releases import last_pipeline
from aggregator.training.defences.defence import Defended, Lesson, PoolMaterial
from aggregator.training.judging.recall import RecallChange, compare_recall
from aggregator.workspace import Workspace
from foundation.files import write_bytes
from shared.errors import TrainingError
from shared.labels import LabelScheme
from shared.taggers.registry import load_head
from shared.taggers.tagger import Tagger


@dataclass(frozen=True)
class Comparison:
    """A head against a release.

    Args:
        release: its number.
        digest: its identity.
        changes: recall of the head against that of the release, by category, and false alarms.
        unfair: whether the head of the release has learned from what is held out, so that there are no changes.
    """

    release: int
    digest: str
    changes: tuple[RecallChange, ...]
    unfair: bool = False

    def as_json(self) -> dict[str, object]:
        """The record."""
        return ({"unfair": True} if self.unfair else {}) | {
            "release": self.release,
            "digest": self.digest,
            "changes": [change.as_json() for change in self.changes],
        }


@dataclass(frozen=True)
class Distilled:
    """A head that learned from public text in the place of the pool.

    Args:
        text: digest of the text.
        tokens, sure, phi: as in `Lesson`.
        changes: its recall against that of the head that labelled the text, by category, and false alarms; nothing where nothing was held out.
    """

    text: str
    tokens: int
    sure: int
    phi: int
    changes: tuple[RecallChange, ...] = ()

    @classmethod
    def of(cls, text: str, lesson: Lesson) -> Distilled:
        """What is known of it before anything is compared.

        Raises:
            TrainingError: the teacher is sure of no PHI in the text, so that a student learns from it that there is none.
        """
        if not lesson.phi:
            raise TrainingError(
                f"--distil: expected text in which the head of the pool is sure of some PHI, got {lesson.tokens} tokens without; distil text that is "
                "written as the notes are, or train without --distil"
            )
        return cls(text, lesson.tokens, lesson.sure, lesson.phi)

    def compare_with_teacher(self, defended: Defended, material: PoolMaterial, scheme: LabelScheme) -> Distilled:
        """The same with what the student finds on the tenth that is held out, of which neither has seen anything."""
        assert defended.lesson is not None
        held_out = material.held_out_pool(material.files)
        return replace(self, changes=compare_recall(defended.head, defended.lesson.teacher, held_out, scheme))

    def as_json(self) -> dict[str, object]:
        """The record."""
        return asdict(self) | {"changes": [change.as_json() for change in self.changes]}


def compare_with_last(workspace: Workspace, head: Tagger, material: PoolMaterial) -> Comparison | None:
    """What a head finds against the last release; None where none with a head has this representer.

    Args:
        workspace: with the release repository.
        head: the new one.
        material: that it was trained on, a tenth held out.
    """
    release = last_pipeline(workspace)
    if release is None:
        return None
    repository = workspace.repository()
    if CARD in release.manifest.files and held_nothing_back(repository.read(f"{release.name}/{CARD}").decode()):
        return Comparison(release.manifest.sequence, release.digest, (), unfair=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        further = (file for file in FURTHER_HEAD_FILES if file in release.manifest.files)
        for file in (*HEAD_FILES, *further):
            write_bytes(folder / file, repository.read(f"{release.name}/{file}"), private=False)
        before = load_head(folder)
    changes = compare_recall(
        head,
        before,
        material.held_out_pool(material.files),
        workspace.scheme,
        read_by_other=material.read_by(before).held_out_pool(material.files),
    )
    return Comparison(release.manifest.sequence, release.digest, changes)
