"""How often the clinical sentence of a share that is most like another one is of the same note.

Whoever holds the share compares what it shows of the sentences. Here that is done as the audit's attacker does (`clinical reassembly`),
by the words and the pairs of words that two sentences have in common, each weighed by how few sentences of the share have it. The
audit's attacker learns besides on public notes, and may find more. Which sentence is of which note only the hospital knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import SentenceBlock
from shared.privacy.reassembly.clinical import LEAST_TOKENS, MOST_PHI, clinical_rows
from shared.privacy.reassembly.likeness import Likeness
from shared.privacy.reassembly.shares import OwnedSentences
from shared.sentences.ragged import RaggedSentences
from site_client.sharing.readable.figures import NEAREST_SENTENCES, Figure

MOST_SENTENCES = 1500
"""So many are compared at most, each with each."""
_SEED = 0
_WHAT = "nearest clinical sentence is of the same note"
_CLINICAL = f"at least {LEAST_TOKENS} tokens, at most {MOST_PHI:.0%} of them labelled PHI"


class SameNote:
    """The clinical sentences of a share."""

    def __init__(self) -> None:
        self._clinical: list[NDArray[np.int64]] = []
        self._sentences = 0

    def add(self, block: SentenceBlock) -> None:
        """Take in the next block of the share."""
        self._clinical.append(self._sentences + clinical_rows(_shown(block)))
        self._sentences += block.sentences

    @staticmethod
    def not_counted(why: str) -> Figure:
        """In the place of the figure."""
        return Figure(NEAREST_SENTENCES, _WHAT, why)

    def figure(self, notes: Mapping[int, int], blocks: Iterable[SentenceBlock]) -> Figure:
        """Compare them.

        Args:
            notes: the note of each sentence that was found, by its place in the share.
            blocks: all of the share, once more.
        """
        clinical = np.concatenate([np.zeros(0, dtype=np.int64), *self._clinical])
        found = np.array([place for place in clinical.tolist() if place in notes], dtype=np.int64)
        owners = np.array([notes[place] for place in found.tolist()], dtype=np.int64)
        chosen = drawn_notes(owners, MOST_SENTENCES)
        places, own = found[chosen], owners[chosen]
        several = len(np.unique(own))
        if several < 2 or several == len(own):
            return self.not_counted(
                f"for that takes two notes, one of them with two such sentences ({_CLINICAL}), and these were not found"
            )
        compared = OwnedSentences(_chosen(blocks, places), own)
        hits, chance = float(compared.hits(_likeness(compared.shown)).mean()), float(compared.chances().mean())
        counts = {
            "sentences": len(own),
            "notes": several,
            "clinical_sentences": len(clinical),
            "found": len(found),
            "of_same_note": round(hits, 4),
            "by_chance": round(chance, 4),
        }
        return Figure(NEAREST_SENTENCES, _WHAT, _said(counts), counts)


def drawn_notes(owners: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Which sentences are compared, ascending: those of whole notes, drawn with a fixed seed as long as they fit.

    Whole notes, since of a note that lost sentences fewer are found again; and fewer notes make it easier, not harder.

    Args:
        owners: note of each sentence.
        most: so many sentences.
    """
    notes, sizes = np.unique(owners, return_counts=True)
    kept, left = list[int](), most
    for place in np.random.default_rng(_SEED).permutation(len(notes)).tolist():
        if sizes[place] <= left:
            kept.append(int(notes[place]))
            left -= int(sizes[place])
    return np.flatnonzero(np.isin(owners, kept))


def _shown(block: SentenceBlock) -> RaggedSentences:
    """A row of one number for each code: rows are asked only whether they are equal, and this type tells all codes of a share apart."""
    rows = block.values.astype(np.float64)[:, None]
    return RaggedSentences(rows, block.casing, block.tags, block.lengths.astype(np.int64))


def _chosen(blocks: Iterable[SentenceBlock], places: NDArray[np.int64]) -> RaggedSentences:
    """Some sentences of a share, in the order of their places."""
    pieces, done = list[RaggedSentences](), 0
    for block in blocks:
        here = places[(places >= done) & (places < done + block.sentences)] - done
        if len(here):
            pieces.append(_shown(block).select(here))
        done += block.sentences
    return RaggedSentences.concatenate(pieces)


def _likeness(shown: RaggedSentences) -> NDArray[np.float64]:
    """Of all pairs: words and pairs of words in common, both with the same spread."""
    found = Likeness.of(shown)
    upper = np.triu_indices(shown.sentences, 1)
    # Rounded, so that pairs without any difference are tied.
    scores: NDArray[np.float64] = np.round(
        sum(kind / max(float(kind[upper].std()), 1e-9) for kind in (found.words, found.pairs)), 6
    )
    return scores


def _said(counts: Mapping[str, float]) -> str:
    sentences, notes, clinical, found = (
        int(counts[name]) for name in ("sentences", "notes", "clinical_sentences", "found")
    )
    which = f"{sentences} of {clinical}" if sentences < clinical else f"the {clinical}"
    why = [
        *([f"{clinical - found} were not found in these notes"] if found < clinical else []),
        *(
            ["those of whole notes were drawn with a fixed seed, and among more notes it is less often so"]
            if sentences < found
            else []
        ),
        "who learns from public notes what sentences of one note have in common may find more",
    ]
    return (
        f"{counts['of_same_note']:.1%}, by chance {counts['by_chance']:.1%}, for {which} clinical sentences of this share ({_CLINICAL}), of {notes} "
        f"notes; the nearest has most words and pairs of words in common with it, as the share shows them; {'; '.join(why)}"
    )
