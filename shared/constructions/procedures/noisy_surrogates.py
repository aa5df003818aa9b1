"""`noisy-surrogates`: the words of `surrogates`, and in the place of their codes what the paper's noisy representer makes of them.

Public PHI takes the place of what is labelled, other words are narrowed, and a noisy BiLSTM (Friedrich et al. 2019, section 5.2) hides
what is left: it is trained against adversaries who ask for clinical words and for the note, see `shared.training.adversarial.clinical`.

All of a share is made of the codes that `surrogates` would have shared, of casing, tags and lengths, and of chance. So whatever an attacker
does, with however many shares, it learns no more of a note than from those codes: labelled PHI has no way in. That much is proved; what
the noise hides of the codes beyond that, only attacks can show.

Noise hangs on the codes, once public PHI stands among them. A sentence without labelled PHI that is shared again is the same, bit for bit; one
with labelled PHI draws public PHI anew, and where that comes out otherwise, noise with it. Were either kept while the other changes, two
shares of a sentence could be subtracted, and the noise with them. So such shares add up, as far as to the codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.public_words import PublicRule
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.accounting import Accounting, Reach, independence_accounting, noise_accounting
from shared.constructions.procedures.narrowed import Codes, NarrowedVocabulary, explain_narrowing, narrow_words
from shared.constructions.procedures.recurrent import NoisyRecurrent, told_of
from shared.constructions.procedures.surrogates import Replacing, draw_bank
from shared.constructions.procedures.three_part import RECIPES
from shared.constructions.training import Procedure, Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.members import MemberVectors
from shared.models.noise import RehearsalNoise, SharingNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress
from shared.sentences.encoding import noise_for, rehearse, represent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from shared.training.adversarial.clinical import ClinicalWords, train_representer

# Of the public sentences that a representer learns from, as they look in-house; the others look as in a share.
_IN_HOUSE = 0.5


@dataclass(frozen=True)
class NoisySurrogates(NarrowedVocabulary, Replacing, NoisyRecurrent):
    """Public PHI in the place of a hospital's own, all words narrowed, behind noise."""

    vectors: MemberVectors
    representer: Representer

    vocabulary = MemberVectors
    made_by: ClassVar[tuple[str, ...]] = ("noisy-surrogates",)

    def share_sentences(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences:
        """See Construction."""
        replaced = self.replaced(chunk, noise)
        codes = self.codes(replaced)
        return represent(
            self.embed(replaced, codes), self.representer, noise_for(_without_words(replaced, codes), noise), factors
        )

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """See Construction."""
        replaced = self.replaced(chunk, noise)
        codes = self.codes(replaced)
        return rehearse(
            self.embed(replaced, codes), self.representer, noise_for(_without_words(replaced, codes), noise), factors
        )

    def embed(self, chunk: TokenisedSentences, codes: Codes) -> RaggedSentences:
        """The vectors of what some codes stand for: all that the representer gets to see of the words.

        Args:
            chunk: sentences.
            codes: uint32 `[tokens]`.
        """
        shown, ids = np.unique(codes, return_inverse=True)
        casing = casing_classes(chunk.words)
        return RaggedSentences(self.vectors_of(shown), casing, chunk.tags, chunk.lengths, ids.astype(np.int32))

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """See Construction."""
        sigma = min(self.representer.noise_scales()["output"])
        noise = noise_accounting(
            sigma, Reach.SENTENCE, sentence_tokens=sentence_tokens, note_tokens=note_tokens, memoised=False
        )
        return independence_accounting(self.hides_casing, noise)

    def promises(self) -> dict[str, float]:
        """Those of all three."""
        return NoisyRecurrent.promises(self) | super().promises()

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """Those of all three, in words."""
        return Replacing.explain(stated) + explain_narrowing(stated) + NoisyRecurrent.explain(stated)


def _without_words(chunk: TokenisedSentences, codes: Codes) -> TokenisedSentences:
    """The sentences with codes for words: whatever hangs on these alone tells nothing else of the words."""
    return chunk.with_words([str(code) for code in codes.tolist()])


def _train(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    vectors = narrow_words(material, options, NOISY_SURROGATES.rule)
    shape = RepresenterConfig(vectors.dim, options.dim or 50, normalised=int(options.normalise))
    bank = draw_bank(material, options, vectors)
    draft = NoisySurrogates(vectors, Representer(shape).eval(), material.scheme, bank)
    recipe = RECIPES.recipe(options.preset, options.seed)
    source = public_sentences(draft, material, options.seed)
    words = np.array([not is_punctuation(word) for word in vectors.words])
    asked = ClinicalWords(vectors.public & words, vectors.narrowing.common, options.neighbours)
    notes = np.zeros(source.sentences, dtype=np.int64) if material.notes is None else material.notes
    tags = len(material.scheme.tags)
    table, kept = asked.table(source), material.checkpoint
    representer, record = train_representer(source, table, notes, tags, shape, recipe, progress, kept)
    return Trained(replace(draft, representer=representer), told_of(asdict(recipe), record))


def public_sentences(draft: NoisySurrogates, material: TrainingMaterial, seed: int) -> RaggedSentences:
    """The public notes as ids into the vectors of all codes: some sentences as they look in a share, the others as in-house.

    A head learns from shares and reads notes in-house, where nothing says what is far from PHI. So the representer learns from both.

    Args:
        draft: whose vocabulary is used.
        material: the notes.
        seed: of which sentence looks how.
    """
    generator = np.random.default_rng(seed)
    pieces, codes = list(material.chunks), list[Codes]()
    for chunk in pieces:
        # Where everything is near PHI nothing is narrowed.
        whole = draft.codes(chunk.with_tags(np.ones_like(chunk.tags)))
        in_house = generator.random(chunk.sentences) < _IN_HOUSE
        codes.append(np.where(in_house[chunk.sentence_of_token], whole, draft.codes(chunk)))
    every = np.arange(len(draft.vectors) + len(draft.vectors.cluster_centres), dtype=np.uint32)
    chunk = TokenisedSentences.concatenate(pieces)
    ids = np.concatenate(codes).astype(np.int32)
    return RaggedSentences(draft.vectors_of(every), casing_classes(chunk.words), chunk.tags, chunk.lengths, ids)


NOISY_SURROGATES = Procedure(
    "noisy-surrogates",
    NoisySurrogates,
    _train,
    clusters=True,
    narrows=True,
    blurs=True,
    rule=PublicRule(),
    augments=("phi",),
)
