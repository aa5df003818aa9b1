"""`site-client fragment`: phrases that many notes have, shuffled, as a draft that stays here until a person has approved it.

What such a file holds: every phrase once, in lines of four from four patients, or notes. What it does not hold: sentences, order, counts, digits,
names, casing, ids. That a phrase stands in it says that at least k notes have it, and a second file says nothing of the notes of the first:
see `site_client.fragments.sifting`, and phrases that have left do not leave again.
"""

from __future__ import annotations

import datetime
import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from foundation.files import write_bytes
from protocols.share.fragments import (
    LEAST_NOTES,
    FragmentLine,
    FragmentManifest,
    are_fragments,
    fragment_body,
    fragment_bytes,
)
from shared.document import Document
from shared.errors import ConfigurationError, CorpusError
from shared.pipeline.pipeline import load_pipeline
from shared.progress import Progress, silent
from site_client.errors import PolicyError
from site_client.fragments.approving import read_own, require_allowed
from site_client.fragments.careful import CarefulFinder
from site_client.fragments.constituents import load_stanza
from site_client.fragments.counting import Copies, Owned, PhraseCounts
from site_client.fragments.joining import join_phrases, texts_of
from site_client.fragments.parser import (
    LANGUAGE,
    load_parser,
    require_english,
    require_english_pipeline,
)
from site_client.fragments.sifting import Sieve, Tally, name_files
from site_client.fragments.store import Gone, next_number, read_gone, save_draft
from site_client.fragments.words import LeftOut, may_stand
from site_client.policy.enforcing import Step, judge_release, require_kept
from site_client.policy.examining import public_lists
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace


@dataclass(frozen=True)
class Choice:
    """What a person chooses.

    Args:
        least: patients, or notes, that a phrase stands in.
        patients: the patient of each note by its id; None where nobody says.
        left_out: phrases and words that stay here, with all that holds them.
        stanza: folder of a model of Stanza, which then parses; None for the parser that needs no model.
    """

    least: int = LEAST_NOTES
    patients: Mapping[str, str] | None = None
    left_out: LeftOut = field(default_factory=LeftOut)
    stanza: Path | None = None


@dataclass(frozen=True)
class Made:
    """A draft.

    Args:
        manifest: as it will be signed.
        tally: of the notes.
        unnamed: numbers of the files that have left before and of whose patients nobody knows.
    """

    manifest: FragmentManifest
    tally: Tally = field(default_factory=Tally)
    unnamed: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Stated:
    """What a manifest says of whom it is for, and what it was made with."""

    recipient: str
    release: str
    parser: str


def make_fragments(
    workspace: Workspace, documents: Iterable[Document], out: Path, choice: Choice, progress: Progress = silent
) -> Made:
    """Write a draft.

    Args:
        workspace: of the site, with a pulled pipeline.
        documents: notes, with whatever labels they have.
        out: the file; another draft is replaced, nothing else is.
        choice: of a person.
        progress: takes the notes that are done.

    Raises:
        PolicyError: the policy lets no text leave, or the release does not keep it, or there are too few new notes.
        ConfigurationError: another language, no parser, a note without a patient, or `out` is another file.
        CorpusError: no phrase stands in enough notes.
        WorkspaceError, ProtocolError, StorageError: see there; nothing was written.
    """
    _require_replaceable(workspace, out)
    release, provider = workspace.pipeline_release(), workspace.pinned_provider()
    judgement = judge_release(workspace, release.digest)
    require_allowed(judgement.policy)
    require_kept(workspace, judgement, Step.DEID)
    parser = load_parser() if choice.stanza is None else load_stanza(choice.stanza)
    gone, tally = read_gone(workspace), Tally()
    sieve = Sieve(DigestKey(workspace), gone, tally, choice.patients)
    pipeline, lists = load_pipeline(release.folder), public_lists(workspace, judgement.policy)
    language = None if pipeline.stated is None else pipeline.stated.language
    require_english_pipeline(language, pipeline.encoder.vectors.words)
    # What it draws protects notes, so it is not to be drawn again.
    chance = secrets.SystemRandom()
    counts = PhraseCounts(
        parser, lambda words: may_stand(words, lists), choice.least, chance, Copies(choice.patients or {})
    )
    given = require_english(_with_patients(documents, choice.patients))
    found = CarefulFinder(pipeline.encoder.scheme, pipeline, pipeline.encoder.are_public).find(given)
    for done, careful in enumerate(found, start=1):
        sieve.count(careful, counts)
        progress("notes", done, 0)
    tally.counted, tally.owners = counts.notes, counts.owners
    _require_enough(tally, max(choice.least, judgement.policy.least_new_notes), gone.numbers)
    lines = texts_of(join_phrases(_new_phrases(counts, choice, gone, tally), chance))
    if not lines:
        raise CorpusError(
            f"expected phrases that at least {choice.least} notes have, got too few for a line ({tally.phrases} new ones); nothing was "
            "written: wait until there are more notes"
        )
    stated = _Stated(provider.signing_key.key_id, release.digest, parser.name)
    manifest = _write(workspace, out, lines, choice, stated, sieve)
    return Made(manifest, tally, gone.unnamed)


def _require_replaceable(workspace: Workspace, out: Path) -> None:
    """Returns if nothing is lost where a draft is written."""
    if out.exists() and not (are_fragments(out) and read_own(workspace, out)[0].key is None):
        raise ConfigurationError(
            f"{out.name}: expected a new file, found one that is no draft of fragments; choose another"
        )


def _new_phrases(counts: PhraseCounts, choice: Choice, gone: Gone, tally: Tally) -> list[Owned]:
    """What may leave, has not left before, and is not kept here by a person."""
    kept = counts.kept()
    new = [one for one in kept if one.text not in gone.phrases]
    holding = [choice.left_out.lines_in(one.text) for one in new]
    left = [one for one, lines in zip(new, holding, strict=True) if not lines]
    tally.phrases, tally.earlier, tally.left_out = len(left), len(kept) - len(new), len(new) - len(left)
    tally.idle = tuple(sorted(set(choice.left_out.lines.values()).difference(*holding)))
    return left


def _with_patients(documents: Iterable[Document], patients: Mapping[str, str] | None) -> Iterator[Document]:
    for document in documents:
        if patients is not None and document.identifier not in patients:
            raise ConfigurationError(
                "--patients: expected a line for every note, found none for one of them; complete the table, or leave it out"
            )
        yield document


def _require_enough(tally: Tally, least: int, numbers: tuple[int, ...]) -> None:
    if tally.owners >= least:
        return
    out = [f"{tally.gone} others left as fragments in {name_files(numbers)}"] if tally.gone else []
    out += [f"{tally.returned} notes are of patients of whom fragments have left"] if tally.returned else []
    left = f" ({'; '.join(out)})" if out else ""
    raise PolicyError(
        f"expected at least {least} patients, or notes that are no copies of one another, of which no fragment has left before, got "
        f"{tally.owners}{left}; nothing was written: wait until there are more, and cut them together"
    )


def _write(
    workspace: Workspace,
    out: Path,
    lines: list[FragmentLine],
    choice: Choice,
    stated: _Stated,
    sieve: Sieve,
) -> FragmentManifest:
    body, words = fragment_body(lines)
    digest = hashlib.sha256(body).hexdigest()
    number = next_number(workspace)
    manifest = FragmentManifest(
        site=workspace.site,
        number=number,
        recipient=stated.recipient,
        release=stated.release,
        language=LANGUAGE,
        parser=stated.parser,
        least_notes=choice.least,
        created=datetime.date.today(),
        software=f"deid-commons {version('deid-commons')}",
        lines=len(lines),
        words=words,
        body_bytes=len(body),
        body_sha256=digest,
    )
    save_draft(workspace, number, sieve.draft(manifest.sha256))
    write_bytes(out, fragment_bytes(manifest, body, None))
    return manifest
