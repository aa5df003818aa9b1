"""`site-client encode`: the hospital's labelled notes as a signed share of codes (or noisy tensors) and labels. Nothing leaves yet.

What a share holds: the code or the representation, the tag and the casing class of each token, sentence by sentence, in random order
over the whole share. What it does not hold: text, offsets, token lengths, ids or order of documents, file names, times.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

from protocols.errors import ProtocolError
from protocols.payload.codebook import Codebook
from protocols.payload.codes import CodeRules
from protocols.payload.sentence_block import SentenceBlock, ValueRules
from protocols.payload.shuffled_writer import ShuffledWriter
from protocols.share.manifest import ShareFields, ShareManifest
from protocols.share.sealing import manifest_path, seal_share
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.errors import ConfigurationError, CorpusError
from shared.labels import UNKNOWN_TAG
from shared.models.noise import SharingNoise
from shared.pipeline.forgotten.checker import HIDE_ABOVE, OwnLists
from shared.privacy.enforcement import AdvantageBound
from shared.progress import Progress, silent
from shared.sentences.codes import SharedCodes
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from site_client.checking.checker import make_checker
from site_client.ledger import Event, entries, record
from site_client.noise_secret import make_noise_secret, noise_secret
from site_client.policy.enforcing import Acceptance, Judgement, Step, judge_release, require_kept
from site_client.policy.examining import digest_of_representer, public_lists
from site_client.policy.own_notes import BankWatch, judge_on_notes
from site_client.sharing.approval import signed_manifest
from site_client.sharing.drafts import drafted_share, put_in_place
from site_client.sharing.encode_report import Looked, write_report
from site_client.sharing.guard import Guard, Guarded, neighbours_of
from site_client.sharing.known_notes import give_up_lost, last_number
from site_client.sharing.new_notes import Sieve
from site_client.sharing.protection import protection
from site_client.sharing.sifting.sifted import Sifted
from site_client.workspace import Workspace

# So many notes are looked at before anything is written.
_LOOKED_AT = 500


@dataclass(frozen=True)
class Encoded:
    """A share, and what was found in the notes on the way.

    Args:
        manifest: as it was signed.
        guarded: what the best attacker tells of these notes.
        without_labels: notes in which nothing is labelled PHI.
        sifted: what was left out because it has left before.
        doubtful: stretches that nobody had labelled, and that were hidden like PHI; those of notes that were left out count, too.
        judgement: of the release, by the hospital's policy.
        given_up: earlier shares of whose notes nobody knows any more, which had to be said.
    """

    manifest: ShareManifest
    guarded: Guarded
    without_labels: int
    sifted: Sifted
    doubtful: int
    judgement: Judgement
    given_up: tuple[int, ...] = ()


def encoded_blocks(
    construction: Construction,
    documents: Iterable[Document],
    guard: Guard,
    noise: SharingNoise,
    progress: Progress = silent,
    watch: Callable[[Sequence[str]], object] = lambda words: None,
    sieve: Sieve | None = None,
) -> Iterator[SentenceBlock]:
    """The documents' sentences as they leave, in the order of the notes; the writer shuffles them.

    Args:
        construction: of the release.
        documents: labelled notes.
        guard: every chunk passes it.
        noise: of the share.
        progress: called after every chunk with the tokens done.
        watch: takes the words of every chunk, as they stand in the notes.
        sieve: keeps back what has left before; None lets everything through, as measurements need it.

    Raises:
        LabelError: a label is not in the scheme of the release.
    """
    done = 0
    notes = tokenise_documents(documents)
    for chunk in tokenised_chunks(notes if sieve is None else sieve.notes(notes), construction.scheme):
        watch(chunk.words)
        new = chunk if sieve is None else sieve.sentences(chunk)
        passed, factors = guard.admit_sentences(new)
        if sieve is not None:
            sieve.admitted(guard.admitted)
        if len(passed.lengths):
            sent = construction.with_public_lengths(passed, noise)
            yield block_of(construction.share_sentences(sent, noise, factors))
        done += len(chunk.words)
        progress("tokens", done, 0)


def block_of(sentences: SharedSentences | SharedCodes) -> SentenceBlock:
    """What may leave, in the layout of a payload.

    Raises:
        TypeError: these sentences may not leave.
    """
    if not isinstance(sentences, SharedSentences | SharedCodes):
        raise TypeError(
            f"expected what a share holds, got {type(sentences).__name__}; see `Construction.share_sentences`"
        )
    lengths = sentences.lengths.astype("<i4")
    return SentenceBlock(sentences.stored, sentences.tags, sentences.casing, lengths, sentences.features)


def encode(
    workspace: Workspace,
    documents: Iterable[Document],
    out: Path,
    progress: Progress = silent,
    bound: AdvantageBound | None = None,
    *,
    new_noise: bool = False,
    again: bool = False,
    lost_known_notes: bool = False,
    hide_above: float | None = HIDE_ABOVE,
    listed: OwnLists | None = None,
    acceptance: Acceptance | None = None,
) -> Encoded:
    """Write a payload and, beside it, its signed manifest and the report that stays in the house.

    Args:
        workspace: of the site, with a pulled release.
        documents: labelled notes, their labels those of the release or HIDDEN.
        out: the payload, .parquet or .h5.
        progress: called after every chunk with the tokens done.
        bound: what the best attacker may tell of each sentence; None only measures it.
        new_noise: whether a lost secret of the noise may be made anew; the ledger tells of it.
        again: earlier shares leave again, and nothing else; see `site_client.sharing.new_notes`.
        lost_known_notes: whether to go on where nobody knows any more which notes left with earlier shares; the ledger tells of it.
        hide_above: how probable it must be that something which nobody labelled is PHI, for it to be hidden like labelled PHI, where
            labelled PHI is replaced; its tag is then unknown. None looks for nothing.
        listed: finds what lists of the hospital's own name, which is looked for, too; None where it gave none.
        acceptance: who takes the responsibility for a release that does not keep the hospital's policy; recorded.

    Raises:
        PolicyError: the release, or what it shows of the first notes, does not keep the policy, or there are too few notes that
            have not left before; nothing was written.
        ConfigurationError: no sentence with PHI keeps the bound, or `out` is a share that was submitted.
        CorpusError: there is no token to share, or not one label: a head would learn from it that nothing is PHI.
        WorkspaceError, ProtocolError, StorageError: see there; a share that is there already stays as it is.
    """
    _require_not_submitted(workspace, out)
    release, provider = workspace.release(), workspace.pinned_provider()
    judgement = judge_release(workspace, release.digest)
    if acceptance is None:
        require_kept(workspace, judgement, Step.ENCODE)
    construction = load_construction(release.folder)
    # A key that can't be read shows now, not after hours.
    workspace.key()
    given_up = give_up_lost(workspace) if lost_known_notes else ()
    looks = hide_above is not None and hide_above <= HIDE_ABOVE and construction.replaces_phi
    sieve = Sieve(workspace, digest_of_representer(release), again=again, checked=looks)
    first, documents = first_notes(documents)
    judgement = judge_on_notes(workspace, judgement, construction, first, bound)
    require_kept(workspace, judgement, Step.ENCODE, acceptance)
    bank = BankWatch(construction, public_lists(workspace, judgement.policy))
    above = hide_above if construction.replaces_phi else None
    checker = None if above is None else make_checker(workspace, construction.scheme, listed, above)
    labelled, notes, without_labels, hidden = False, 0, 0, 0

    def counted() -> Iterator[Document]:
        nonlocal notes, without_labels
        for document in documents:
            notes += 1
            without_labels += not document.annotations
            yield document

    def checked() -> Iterator[Document]:
        nonlocal hidden
        if above is None or checker is None:
            yield from counted()
            return
        for found in checker.check(counted()):
            document = found.with_doubts(above)
            hidden += len(document.annotations) - len(found.document.annotations)
            yield document

    noise, checking = noises_of(workspace, construction, release.folder, new_noise=new_noise)
    guard = Guard(construction, neighbours_of(release.folder), bound, checking)
    rules = _rules(construction, guard)
    rows = construction.rows()
    with drafted_share(workspace, out) as draft:
        with ShuffledWriter(draft, dim=rows.dim, rules=rules, features=rows.features) as writer:
            for block in encoded_blocks(construction, checked(), guard, noise, progress, bank.add, sieve):
                writer.append(block)
                labelled = labelled or bool((block.tags[block.tags != UNKNOWN_TAG] > 0).any())
            guarded = guard.result()
            if (seen := bank.judged(judgement)) != judgement:
                judgement = seen
                require_kept(workspace, judgement, Step.ENCODE, acceptance)
            if guarded.left_out and not labelled:
                raise ConfigurationError(
                    f"--max-advantage: expected a bound that a sentence with PHI can keep, got one for which all {guarded.left_out} "
                    "would be left out; choose a larger one, or ask for a release with more noise"
                )
            if not labelled and (writer.sentences or guarded.hidden_words):
                raise CorpusError(
                    "expected labelled notes, got not one label that the release has a category for; check the folder, "
                    "--format and --labels"
                )
            if not (writer.sentences or sieve.left_out):
                raise CorpusError(
                    "expected notes with at least one token, got none; check the folder, and what --quarantine set aside"
                )
            sifted = sieve.finish(judgement.policy.least_new_notes)
        workspace, sequence = workspace.next_sequence(after=last_number(workspace))
        fields = ShareFields(
            site=workspace.site,
            sequence=sequence,
            recipient=provider.signing_key.key_id,
            release=release.digest,
            label_scheme=construction.scheme.name,
            tags=rules.tags,
            value_bound=rules.value_bound,
            created=datetime.date.today(),
            software=f"deid-commons {version('deid-commons')}",
            protection=protection(construction, guarded),
        )
        # The key in use now: it may have been replaced meanwhile, and the ledger knows no other.
        key = workspace.key()
        manifest = seal_share(draft, fields, key, checked=writer.checked)
        pipeline = None if above is None or workspace.pipeline is None else workspace.pipeline.digest
        lists = checker is not None and checker.own_lists
        looked = Looked(above, pipeline, hidden, notes, without_labels, again, given_up, lists=lists)
        write_report(draft, manifest, guarded, looked, key)
        sieve.save(sequence)
        put_in_place(draft, out)
        return Encoded(manifest, guarded, without_labels, sifted, hidden, judgement, given_up)


def _require_not_submitted(workspace: Workspace, out: Path) -> None:
    """What was handed over must be there to be looked at, sent again and withdrawn."""
    if not out.exists() or not manifest_path(out).exists():
        return
    try:
        manifest = signed_manifest(workspace, out)
    except ProtocolError:
        # No share of this site, as far as anybody can tell.
        return
    submitted = (entry for entry in entries(workspace) if entry.event == Event.SUBMITTED)
    if any(entry.details.get("manifest_sha256") == manifest.sha256 for entry in submitted):
        raise ConfigurationError(
            f"{out.name}: expected a new name, got that of share {manifest.manifest.sequence}, which was submitted; choose another"
        )


def _rules(construction: Construction, guard: Guard) -> ValueRules:
    """What every block is held to on its way to the disk: the provider will hold it to the same."""
    rows = construction.codebook()
    codebook = None if rows is None else Codebook(rows.astype("<f2", copy=False), exact=construction.exact)
    found = construction.code_places()
    codes = None if found is None else CodeRules(found.places, found.window)
    return ValueRules(len(construction.scheme.tags), guard.value_bound, codebook, codes)


def first_notes(documents: Iterable[Document]) -> tuple[list[Document], Iterable[Document]]:
    """The first notes, by which a release is judged, and all of them; they are read once."""
    source = iter(documents)
    first = list(islice(source, _LOOKED_AT))
    return first, chain(first, source)


def noises_of(
    workspace: Workspace, construction: Construction, release: Path, *, new_noise: bool = False
) -> tuple[SharingNoise, SharingNoise]:
    """The noise of a share, and that of the check ahead of it.

    Args:
        workspace: of the site.
        construction: of the release.
        release: its folder.
        new_noise: as for `encode`.

    Raises:
        WorkspaceError: the secret that it hangs on is gone.
    """
    secret = _noise_secret(workspace, new_noise) if construction.memoises_noise else b""
    return construction.sharing_noise(secret, release), construction.sharing_noise(secret, release, b"bound ")


def _noise_secret(workspace: Workspace, new_noise: bool) -> bytes:
    # Rounds of a training hang on it, too.
    trained = any(entry.event == Event.FEDERATED_ROUND for entry in entries(workspace))
    if new_noise and (workspace.sequence or trained) and not workspace.noise_key.exists():
        record(workspace, Event.NOISE_SECRET_MADE_ANEW, {"shares": workspace.sequence})
        make_noise_secret(workspace.noise_key)
    return noise_secret(workspace.noise_key) if trained else workspace.noise_secret()
