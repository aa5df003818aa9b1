"""A construction: what protects a share, as one type that all others ask.

It owns the vocabulary, the representer and whatever takes the place of PHI; the noise of a share and how it is drawn again;
what can be proved, and what it claims to hide a word among; what it promises, in numbers and in words; how its rows and its
release are checked; and how it is stored. Nobody else looks at its parts to find out which it is.
A new one is a class here and a `Procedure` that makes it, in one file, and a line in `registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from foundation.feature_columns import FeatureColumn
from shared.anonymity.redrawing import Redrawing
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.accounting import Accounting
from shared.constructions.decoding import Decoding
from shared.constructions.promised import Clusters, Narrowed, PublicList, Recomputed, folder_bytes, gaussian_mu
from shared.constructions.rows import CodePlaces, ShareRows
from shared.embeddings.files.artefact import save_vectors
from shared.embeddings.vectors import WordVectors
from shared.errors import ModelError
from shared.labels import LabelScheme, save_scheme
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer
from shared.models.storage import save_representer
from shared.models.token_local import TokenLocal
from shared.sentences.codes import CodedSentences, SharedCodes
from shared.sentences.encoding import embed_sentences, represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences

OwnSet = Callable[[str], Sequence[str]]
"""The words that a construction claims can't be told from a word, always in the same order, the word itself among them or not."""


class Protection(StrEnum):
    """What hides labelled PHI, by the names that the report of an encoding has for it."""

    SURROGATES = "surrogates"
    NOISE = "noise"
    LIKENESS = "no noise"


@dataclass(frozen=True, repr=False)
class Parts:
    """What a folder of a construction holds.

    Args:
        vectors: word vectors.
        representer: frozen.
        scheme: the labels.
        bank: public PHI; None where there is none.
    """

    vectors: WordVectors
    representer: Representer | TokenLocal
    scheme: LabelScheme
    bank: SurrogateBank | None = None


@dataclass(frozen=True, repr=False)
class WordChanges:
    """One-word changes of labelled sentences, each of which an attacker is to tell from what was encoded.

    Args:
        tokens: the token that is changed, int64 `[pairs]`, ascending.
        places: what takes its place, as an index into `words`, int64 `[pairs]`.
        words: the other words. These may be PHI: never log them.
        alike: whether the casing that travels is the same for both, bool `[pairs]`.
    """

    tokens: NDArray[np.int64]
    places: NDArray[np.int64]
    words: Sequence[str]
    alike: NDArray[np.bool_]


@dataclass(frozen=True)
class Trials:
    """Under what chance a divergence is computed.

    Args:
        draws: how many.
        noise: of the input noise, where there is one; with a MemoisedNoise a sentence always gets the same.
        seed: of whatever else is drawn.
    """

    draws: int
    noise: RehearsalNoise
    seed: int


@dataclass(frozen=True)
class Construction(ABC):
    """What a hospital needs to share its notes, and what protects them when it does.

    Args:
        vectors: public word vectors.
        representer: frozen.
        scheme: the label scheme of the pool.

    Raises:
        ModelError: these are no parts of such a construction, or do not fit each other.
    """

    vectors: WordVectors
    representer: Representer | TokenLocal
    scheme: LabelScheme

    protection: ClassVar[Protection]
    vocabulary: ClassVar[type[WordVectors]]
    """Type of the word vectors: exactly this one."""
    network: ClassVar[type[Representer] | type[TokenLocal]]
    """Type of the representer."""
    made_by: ClassVar[tuple[str, ...]] = ()
    """Names of the procedures of the registry that make exactly such a construction."""
    formerly: ClassVar[tuple[str, ...]] = ()
    """Names that the records of earlier versions have for these procedures."""
    replaces_phi: ClassVar[bool] = False
    """Whether public PHI takes the place of labelled PHI before anything is computed."""
    shows_codes: ClassVar[bool] = False
    """Whether a share holds codes, which `decoding` turns into what a head gets."""
    memoises_noise: ClassVar[bool] = False
    """Whether a sentence that is shared again must get the same noise again, for which it takes a secret of the site."""

    def __post_init__(self) -> None:
        if not self.is_made_of(self._parts()):
            raise ModelError("expected the parts of one construction, got others; use those of one release")
        if self.vectors.dim != self.representer.config.inputs:
            raise ModelError(
                f"expected word vectors of {self.representer.config.inputs} dimensions for this representer, got {self.vectors.dim}; "
                "use the vectors of the same release"
            )

    @classmethod
    def is_made_of(cls, parts: Parts) -> bool:
        """Whether these parts are of such a construction, and of no other."""
        exact = type(parts.vectors) is cls.vocabulary and type(parts.representer) is cls.network
        return exact and (parts.bank is not None) == cls.replaces_phi

    @classmethod
    def assemble(cls, parts: Parts) -> Self:
        """The construction that some parts are of."""
        return cls(parts.vectors, parts.representer, parts.scheme)

    def _parts(self) -> Parts:
        return Parts(self.vectors, self.representer, self.scheme)

    @property
    def token_local(self) -> bool:
        """Whether each token is shown by itself, so that equal rows are one word, or words that nobody can tell apart."""
        return self.network is TokenLocal

    @property
    def dims(self) -> tuple[int, ...]:
        """What a head may take: all that there is for a token, or its first numbers alone, as older heads do."""
        return (self.representer.config.dim,)

    @property
    def dim(self) -> int:
        """The first of them."""
        return self.dims[0]

    # What is shown

    def with_public_lengths(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> TokenisedSentences:
        """The sentences with labelled spans whose length would tell as long as public ones; every share begins with this step.

        `share_sentences` keeps sentence lengths, so that whoever attacks or measures can follow its tokens; left out, it sees more.
        """
        return chunk

    @abstractmethod
    def share_sentences(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences | SharedCodes:
        """What a share holds of these sentences, in their order: the only thing that is ever shown to others.

        Args:
            chunk: labelled sentences.
            noise: of the share.
            factors: how many times its scale the output noise of each sentence has, `[sentences]`; None for once.

        Raises:
            TypeError: the noise is not private.
        """

    @abstractmethod
    def share_public_sentences(self, sentences: RaggedSentences, noise: PrivateSource) -> SharedSentences | SharedCodes:
        """What a share holds of sentences whose words are public, so that none of them has to be replaced.

        Args:
            sentences: word vectors of public notes.
            noise: of the share.
        """

    @abstractmethod
    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """What `share_sentences` would give under noise of any source, for attacks, audits and measurements, which draw the same again."""

    def rehearse_features(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> NDArray[np.uint8]:
        """The feature columns that `share_sentences` would give under this noise, uint8 `[tokens, columns]`."""
        return np.zeros((chunk.tokens, 0), dtype=np.uint8)

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets in-house: the words themselves, without noise. It must never leave the house."""
        return represent_noise_free(embed_sentences(chunk, self.vectors), self.representer)

    # Noise

    def sharing_noise(self, secret: bytes, folder: Path, use: bytes = b"") -> SharingNoise:
        """The noise of a site's shares; fresh where it is not memoised.

        Args:
            secret: of the site; not looked at where `memoises_noise` is false.
            folder: that the construction was loaded from.
            use: what it is for: another use draws anew.
        """
        return PrivateNoise()

    @property
    def gaussian_noise(self) -> tuple[NDArray[np.float64], int] | None:
        """Published scale of the output noise, float64 `[dim]`, and width of the input noise; None without noise."""
        return None

    def rows(self, factor: float = 1.0) -> ShareRows:
        """What every row of a share keeps to, where the output noise of a sentence has up to `factor` times its scale."""
        return ShareRows(self.dim, self.representer.raised_value_bound(factor))

    @property
    def features(self) -> tuple[FeatureColumn, ...]:
        """The feature columns that a share of codes has beside code, tag and casing class, in their order; today none has any."""
        return ()

    def codebook(self) -> NDArray[np.float16] | None:
        """The rows that a token can have, each once, float16 `[rows, dim]`; None where noise makes any row within the bound possible."""
        return None

    def code_places(self) -> CodePlaces | None:
        """Where each code may stand in a hospital's share; None for a construction without codes."""
        return None

    def rehearse_codes(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> CodedSentences | None:
        """What `share_sentences` would give under noise of any source, as codes; None for a construction without codes."""
        return None

    def decoding(self) -> Decoding | None:
        """What turns codes into what a head gets; None for a construction without codes."""
        return None

    @property
    def exact(self) -> bool:
        """Whether every processor computes the same bits; representers of version 0.1 don't."""
        return False

    # What is hidden, and what can be proved of it

    @property
    def hides_casing(self) -> bool:
        """Whether casing and punctuation of labelled PHI do not travel."""
        return False

    def are_public(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words a share shows as they are, where they are not labelled PHI, bool `[words]`."""
        return np.zeros(len(words), dtype=np.bool_)

    def distinct_vectors(self) -> WordVectors:
        """Vectors of words that are shown differently, so that a neighbour among them is one that can be told at all."""
        return self.vectors

    def own_set(self) -> OwnSet | None:
        """The words that are claimed to be shown exactly like a word; None where nothing is claimed."""
        return None

    @abstractmethod
    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """What can be proved.

        Args:
            sentence_tokens: length of the longest sentence that is to be covered.
            note_tokens: tokens of the longest note.
        """

    @abstractmethod
    def divergences(self, chunk: TokenisedSentences, changes: WordChanges, trials: Trials) -> NDArray[np.float64]:
        """How far the representation moves with each change, in units of the noise; see `shared.models.divergence`.

        Args:
            chunk: labelled sentences.
            changes: at least one, each for itself.
            trials: draws.

        Returns:
            Delta, float64 `[draws, pairs]`; without noise 0 or infinite, one draw for all.
        """

    def redrawing(self) -> Redrawing | None:
        """What draws the chance in a share anew while a head is trained on it; None where nobody but the site could."""
        return None

    # What is promised

    @abstractmethod
    def promises(self) -> dict[str, float]:
        """What the manifest of a share states of it, by measure; docs/formats/share.md explains each."""

    @staticmethod
    @abstractmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """What is stated of such a construction, in words.

        Args:
            stated: measures of a manifest, of any construction.
        """

    def facts(self) -> dict[str, object]:
        """What the record of a training states and the files of the construction show too, in JSON's types."""
        return {"surrogate_spans": 0}

    def check_record(self, record: Mapping[str, Any]) -> None:
        """Returns if what a release states of itself is what its files show.

        Args:
            record: of the training; what it does not state is not asked for.

        Raises:
            ModelError: it states something else.
        """
        for name, shown in self.facts().items():
            if record.get(name, shown) != shown:
                raise ModelError(
                    f"expected a release whose record states what its files show, got another {name}; tell the provider"
                )
        options = record.get("options")
        if isinstance(options, Mapping) and options.get("hide_casing", self.hides_casing) != self.hides_casing:
            raise ModelError("expected a release that hides casing as recorded, got another; tell the provider")

    # What is seen of it, whatever it promises

    def recompute(self, lists: Sequence[PublicList], folder: Path | None = None) -> Recomputed:
        """What the files show, whatever the release says of itself.

        Args:
            lists: public words, of the program and of the hospital; none of them the provider's.
            folder: of the release, whose files are to be counted.
        """
        noise, clusters = self.gaussian_noise, self.count_clusters(lists)
        return Recomputed(
            procedures=self.made_by,
            replaces_phi=self.replaces_phi,
            cluster_size=clusters.smallest,
            unlisted_public_words=clusters.unlisted_public_words,
            hides_casing=self.hides_casing,
            mu=None if noise is None else gaussian_mu(noise[0]),
            surrogate_spans=0 if self.surrogate_bank is None else len(self.surrogate_bank.spans),
            narrowed=self.narrowed,
            bytes=self._memory() if folder is None else folder_bytes(folder),
        )

    def count_clusters(self, lists: Sequence[PublicList]) -> Clusters:
        """How many hidden words are shown alike, for lists as in `recompute`; here none is hidden."""
        return Clusters(None, 0)

    @property
    def narrowed(self) -> Narrowed | None:
        """What words are shown far from PHI; None where all that are public are, or none is."""
        return None

    @property
    def surrogate_bank(self) -> SurrogateBank | None:
        """Where surrogates are drawn from; None where there are none."""
        return self._parts().bank

    def _memory(self) -> int:
        """Bytes that vectors and weights take."""
        grams = 0 if self.vectors.subwords is None else self.vectors.subwords.buckets.nbytes
        return int(
            self.vectors.matrix.nbytes + grams + sum(one.nbytes for one in self.representer.state_dict().values())
        )

    # On the disk

    def save(self, folder: Path) -> None:
        """Write all that `registry.load_construction` reads into a folder."""
        save_vectors(self.vectors, folder, dtype="float16")
        save_representer(self.representer, folder)
        save_scheme(self.scheme, folder)
