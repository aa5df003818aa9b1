"""A document with surrogates in the place of its PHI: what reads, shares out the budget and writes.

>>> from shared.document import Annotation, Document
>>> note = Document("n-1", "Seen on 3 May 2020.", (Annotation(8, 18, "DATE"),))
>>> replaced = Surrogates(SurrogateSettings(language="English")).replace(note)
>>> replaced.budget.spent == replaced.budget.limit
True
"""

from __future__ import annotations

import datetime
import hashlib
import secrets
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shared.document import Document
from shared.surrogates.budget import Budget, PrivacyFilter, split_evenly
from shared.surrogates.kinds import kind_of
from shared.surrogates.maker import Mention, Plan
from shared.surrogates.mechanisms.randomness import KeyedRandomness, Randomness
from shared.surrogates.registry import makers
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.spelling import folded, with_line_ends
from shared.surrogates.time.languages import DEFAULT, Language, languages
from shared.surrogates.time.maker import SHIFT
from shared.text.language import guess_language

KEY_BYTES = 32


@dataclass(frozen=True, repr=False)
class Replacement:
    """Who was what. This is PHI.

    Args:
        start, end: of the surrogate in the text that is written.
        category: of the span.
        original: the text that it covered.
        surrogate: what stands in its place.
    """

    start: int
    end: int
    category: str
    original: str
    surrogate: str


@dataclass(frozen=True, repr=False)
class Replaced:
    """A note with surrogates.

    Args:
        text: as it is written.
        mapping: what was replaced, in the order of the text.
        budget: what it has spent.
    """

    text: str
    mapping: tuple[Replacement, ...]
    budget: Budget


@dataclass(frozen=True)
class _Scope:
    """See `shared.surrogates.maker.Scope`."""

    key: bytes
    language: Language
    settings: SurrogateSettings
    today: datetime.date
    lasts: bool

    def randomness(self, *entity: str) -> Randomness:
        return KeyedRandomness(self.key, *entity)


class Surrogates:
    """Makes surrogates, one note after another; holds nothing of a note but, where notes have patients, what these have spent.

    Args:
        settings: of the hospital.
        patients: the patient of a note, by the id of the note; a note that is not named is a patient of its own. With patients all notes of
            one get the same surrogates, one budget, and one shift of their dates, whatever the settings say.
        key: secret bytes under which all is drawn, so that another run draws the same again of the same note, by id and text; None to draw anew, under a key that nobody
            keeps. Without it a note that is replaced twice has spent twice its budget. With it every entity gets the fixed part of the budget that it
            has where notes have patients, so that what else is found changes no draw.
        today: of the run; no date is much later.
    """

    def __init__(
        self,
        settings: SurrogateSettings | None = None,
        *,
        patients: Mapping[str, str] | None = None,
        key: bytes | None = None,
        today: datetime.date | None = None,
    ) -> None:
        settings = settings or SurrogateSettings()
        if patients is not None:
            # Only a shift gives the same date the same surrogate in notes that hold different others.
            settings = replace(settings, time=replace(settings.time, shift=True))
        self.settings = settings
        self._patients = patients
        self._key = key
        self._run_key = secrets.token_bytes(KEY_BYTES) if key is None else key
        self._today = today or datetime.date.today()
        self._makers = makers(self.settings.places)
        self._filters: dict[bytes, PrivacyFilter] = {}

    def replace(
        self, document: Document, redact: Callable[[str, str], str] = lambda category, text: f"[{category}]"
    ) -> Replaced:
        """A note with a surrogate in the place of every span.

        Args:
            document: with its PHI.
            redact: what stands where no surrogate can be made, from category and text of a span.
        """
        surrogates, budget = self.surrogates(document)
        pieces: list[str] = []
        mapping: list[Replacement] = []
        position = length = 0
        for span, surrogate in zip(document.annotations, surrogates, strict=True):
            original = document.covered_text(span)
            written = redact(span.category, original) if surrogate is None else surrogate
            before = document.text[position : span.start]
            pieces += [before, written]
            start = length + len(before)
            length = start + len(written)
            mapping.append(Replacement(start, length, span.category, original, written))
            position = span.end
        pieces.append(document.text[position:])
        return Replaced("".join(pieces), tuple(mapping), budget)

    def surrogates(self, document: Document) -> tuple[list[str | None], Budget]:
        """For every span of a note what takes its place, None where none can be made; and what the note has spent."""
        scope = self._scope(document)
        found: list[str | None] = [None] * len(document.annotations)
        plans = list(self._plans(document, scope))
        protected = {name: one for _, plan in plans for name, one in plan.entities.items()}
        stated = {
            name: one.epsilon if one.epsilon is not None else self.settings.epsilons.get(one.category)
            for name, one in protected.items()
        }
        account = self._account(document, scope)
        if scope.lasts or self._key is not None:
            # Fixed, or a note in which one entity more is found would have all others drawn anew.
            even = self.settings.epsilon / self.settings.patient_entities
            shares = {name: even if epsilon is None else epsilon for name, epsilon in stated.items()}
        else:
            shares = split_evenly(self.settings.epsilon, stated)
        paid = {name: share if account.pay(_digest(name), share) else None for name, share in shares.items()}
        for places, plan in plans:
            for place, surrogate in zip(places, plan.write(paid), strict=True):
                original = document.covered_text(document.annotations[place])
                found[place] = surrogate and with_line_ends(surrogate, original)
        replaced = sum(one is not None for one in found)
        unmoved = sum(
            one is not None and folded(one) == folded(document.covered_text(span))
            for one, span in zip(found, document.annotations, strict=True)
        )
        refused = sum(epsilon is None for epsilon in paid.values())
        budget = Budget(
            self.settings.epsilon,
            account.spent,
            len(protected),
            replaced,
            len(found) - replaced,
            refused,
            SHIFT in protected,
            unmoved,
        )
        return found, budget

    def _plans(self, document: Document, scope: _Scope) -> Iterator[tuple[Sequence[int], Plan]]:
        """For every maker the spans that it makes, read."""
        by_maker: dict[int, list[int]] = {}
        texts = [unicodedata.normalize("NFC", document.covered_text(span)) for span in document.annotations]
        kinds = [kind_of(span.category, self.settings.kinds) for span in document.annotations]
        for place, kind in enumerate(kinds):
            if kind and _is_of_letters(texts[place]):
                by_maker.setdefault(id(self._makers[kind]), []).append(place)
        for places in by_maker.values():
            mentions = [Mention(texts[place], document.annotations[place].category, kinds[place]) for place in places]
            yield places, self._makers[kinds[places[0]]].read(mentions, scope)

    def _scope(self, document: Document) -> _Scope:
        name = self.settings.language or guess_language([document.text])
        language = languages().get(name or DEFAULT, languages()[DEFAULT])
        patient = self._patient(document)
        if patient is None and self._key is None:
            key = secrets.token_bytes(KEY_BYTES)
        else:
            # Ids come again: without the text, a note of another patient would be moved by the same days.
            note = (document.identifier, _digest(document.text).hex())
            key = _derived(self._run_key, *(("note", *note) if patient is None else ("patient", patient)))
        return _Scope(key, language, self.settings, self._today, lasts=patient is not None)

    def _patient(self, document: Document) -> str | None:
        return None if self._patients is None else self._patients.get(document.identifier)

    def _account(self, document: Document, scope: _Scope) -> PrivacyFilter:
        if not scope.lasts:
            return PrivacyFilter(self.settings.epsilon)
        return self._filters.setdefault(_digest(self._patient(document) or ""), PrivacyFilter(self.settings.epsilon))


def _is_of_letters(text: str) -> bool:
    """Whether no sign of a text is a mark upon another, or none at all: nobody here knows what such signs say, and they would be left."""
    return text.isascii() or not any(unicodedata.category(sign)[0] in "MC" and not sign.isspace() for sign in text)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _derived(key: bytes, *purpose: str) -> bytes:
    chance = KeyedRandomness(key, *purpose)
    return chance.below(1 << 8 * KEY_BYTES).to_bytes(KEY_BYTES, "big")
