"""Notes and sentences are known again by digests that never leave and tell nothing; the ledger says which shares have left."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from protocols.canonical import Json
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.tokens import tokenise
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.ledger import Event
from site_client.policy.site_policy import DEFAULT
from site_client.policy.stored import set_policy
from site_client.sharing.digest_files import (
    ShareDigests,
    are_among,
    digest_of_known,
    join_digests,
    read_digests,
    sample_runs,
    save_digests,
)
from site_client.sharing.known_notes import (
    DigestKey,
    add_trained,
    give_up_lost,
    has_left,
    last_number,
    read_all,
    read_trained,
    shares_that_left,
)
from site_client.workspace import Workspace, create, open_workspace
from tests.site_client.sites import SCHEME
from tests.tiny_notes import note

LONG = " ".join(f"Word{number} , and" for number in range(100))
TEXTS = ["Brunhilda was seen.\n", "Quintus was not.\n", "Nobody came."]


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    made = create(tmp_path / "site", "north")
    # Nothing is kept before there is an entry.
    ledger.record(made, Event.ENROLMENT_REQUESTED, {})
    return made


def leave(site: Workspace, sequence: int, *, earlier: bool = False) -> None:
    details: dict[str, Json] = {
        "sequence": sequence,
        "manifest_sha256": "ab" * 32,
        "bundle_sha256": "cd" * 32,
        "to": "folder",
    }
    known: dict[str, Json] = {}
    if not earlier:
        known = {"known_notes": digest_of_known(site, sequence), "notes_key": DigestKey(site).fingerprint}
    ledger.record(site, Event.SUBMITTED, details | known)


def receipt(site: Workspace, sequence: int, state: str) -> None:
    ledger.record(site, Event.RECEIPT, {"sequence": sequence, "manifest_sha256": "ab" * 32, "state": state})


def digests(site: Workspace, texts: list[str] = TEXTS) -> ShareDigests:
    key = DigestKey(site)
    chunk = tokenised_corpus([note(str(number), text) for number, text in enumerate(texts)], SCHEME)
    words = np.concatenate([key.sentences(text, tokenise(text)) for text in texts])
    pairs = np.unique(np.stack([words, key.labelled(words, chunk)], 1), axis=0)
    cut = np.sort(np.concatenate([key.cut_sentences(tokenise(text)) for text in texts]))
    notes = frozenset(map(key.note, texts))
    runs = join_digests([key.runs(text) for text in [*texts, LONG]])
    return ShareDigests(notes, pairs[:, 0], pairs[:, 1], "ab" * 32, (1,), 3, cut, key.fingerprint, runs, 5)


def test_what_was_submitted_has_left_whatever_became_of_it(site: Workspace) -> None:
    assert shares_that_left(site) == {}
    for sequence, state in ((5, "accepted"), (2, "rejected"), (3, "withdrawn"), (4, "quarantined")):
        leave(site, sequence)
        receipt(site, sequence, state)
    leave(site, 6)
    assert shares_that_left(site) == {2: False, 3: False, 4: True, 5: True, 6: True}
    receipt(site, 6, "withdrawn")
    assert not shares_that_left(site)[6]


def test_what_was_kept_of_a_share_is_read_again(site: Workspace) -> None:
    kept = digests(site)
    save_digests(site, 7, kept)
    read = read_digests(site, 7)
    assert (read.notes, read.representer, read.again, read.new_notes) == (kept.notes, "ab" * 32, (1,), 3)
    assert read.notes_key == kept.notes_key == DigestKey(site).fingerprint
    assert read.sentences.tolist() == kept.sentences.tolist() == sorted(kept.sentences.tolist())
    assert read.labelled.tolist() == kept.labelled.tolist()
    assert read.by_tokens.tolist() == kept.by_tokens.tolist()
    assert read.runs.tolist() == kept.runs.tolist() == sorted(kept.runs.tolist())
    assert read.runs_known == 5
    assert len(read.sentences) == len(read.by_tokens) == 3
    assert len(read.known) == 6


def test_of_a_share_of_an_earlier_version_its_notes_are_known_or_nothing(site: Workspace) -> None:
    assert not read_digests(site, 1).notes
    (site.root / "known-notes").mkdir()
    (site.root / "known-notes" / "0001.digests").write_bytes(b"a" * 16 + b"b" * 16)
    read = read_digests(site, 1)
    assert read.notes == {b"a" * 16, b"b" * 16}
    assert read.of_earlier_version


def test_what_is_known_of_a_share_is_not_replaced_by_another_of_its_number(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    before = digest_of_known(site, 1)
    with pytest.raises(WorkspaceError, match=r"0001\.digests.*another share"):
        save_digests(site, 1, digests(site, TEXTS[:1]))
    assert digest_of_known(site, 1) == before


def test_settings_that_were_restored_alone_bring_no_number_back(site: Workspace) -> None:
    assert last_number(site) == 0
    leave(site, 3, earlier=True)
    add_trained(site, frozenset())
    assert last_number(site) == 3
    save_digests(site, 12345, digests(site))
    assert last_number(site) == 12345
    assert site.next_sequence(after=last_number(site))[1] == 12346
    assert open_workspace(site.root).next_sequence(after=7)[1] == 12347


def test_two_shares_of_one_number_are_two(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    leave(site, 1)
    other: dict[str, Json] = {"sequence": 1, "manifest_sha256": "ef" * 32, "bundle_sha256": "cd" * 32, "to": "folder"}
    ledger.record(site, Event.SUBMITTED, {**other, "known_notes": "12" * 32})
    receipt(site, 1, "rejected")
    assert shares_that_left(site) == {1: True}
    assert has_left(site, "ef" * 32)
    assert not has_left(site, "01" * 32)
    with pytest.raises(WorkspaceError, match="share 1"):
        list(read_all(site))


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: data[:-8], lambda data: b"{}\n", lambda data: b"x"]
)
def test_damaged_digests_are_refused(damage: object, site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    path = site.root / "known-notes" / "0001.sentences"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(WorkspaceError, match=r"0001\.sentences"):
        read_digests(site, 1)


def test_without_its_key_nobody_goes_on_as_if_nothing_had_left(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    site.notes_key.unlink()
    with pytest.raises(WorkspaceError, match=r"notes\.key"):
        DigestKey(site)
    assert not site.notes_key.exists()


def _draft_of_fragments(site: Workspace) -> None:
    (site.root / "fragments").mkdir()
    (site.root / "fragments" / "0001.notes").write_bytes(b"")


USES: dict[str, Callable[[Workspace], object]] = {
    "a share that left": lambda site: (
        save_digests(site, 1, digests(site)),
        leave(site, 1),
        shutil.rmtree(site.root / "known-notes"),
    ),
    "a share that left with an earlier version": lambda site: (
        ledger.record(site, Event.RELEASE_EXAMINED, {}),
        leave(site, 1, earlier=True),
    ),
    "a share that was encoded": lambda site: (
        ledger.ledger_path(site).write_bytes(b""),
        set_policy(site, DEFAULT),
        site.next_sequence(),
    ),
    "a draft of fragments": _draft_of_fragments,
    "fragments that left": lambda site: ledger.record(site, Event.FRAGMENTS_APPROVED, {"number": 1}),
    "a training": lambda site: ledger.record(site, Event.FEDERATED_ROUND, {}),
    "an adapted head": lambda site: ledger.record(site, Event.HEAD_ADAPTED, {}),
}


@pytest.mark.parametrize("use", USES)
def test_a_key_that_was_used_is_not_made_anew_though_its_digests_are_gone_as_well(use: str, site: Workspace) -> None:
    """An incomplete backup lacks both; another key would know nothing of what the digests tell once they are back."""
    USES[use](site)
    site.notes_key.unlink()
    site = open_workspace(site.root)
    with pytest.raises(WorkspaceError, match=r"notes\.key.*--lost-known-notes"):
        DigestKey(site)
    assert not site.notes_key.exists()


def test_a_workspace_of_before_there_were_digests_gets_its_key(site: Workspace) -> None:
    leave(site, 1, earlier=True)
    site.notes_key.unlink()
    assert DigestKey(open_workspace(site.next_sequence()[0].root)).note("a")


def test_another_key_knows_nothing_and_is_told(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    leave(site, 1)
    site.notes_key.write_bytes(b"k" * 32)
    with pytest.raises(WorkspaceError, match=r"share 1.*another keys/notes\.key.*--lost-known-notes"):
        list(read_all(site))


@pytest.mark.parametrize("earlier", [False, True])
def test_a_key_that_is_lost_for_good_is_given_up_and_counts_again_once_it_is_back(
    earlier: bool, site: Workspace
) -> None:
    ledger.record(site, Event.RELEASE_EXAMINED, {})
    save_digests(site, 1, digests(site))
    leave(site, 1, earlier=earlier)
    kept = site.notes_key.read_bytes()
    site.notes_key.unlink()
    assert give_up_lost(site) == give_up_lost(site) == (1,)
    told = [(entry.event, entry.details) for entry in ledger.entries(site)][-2:]
    assert told == [
        (Event.NOTES_KEY_MADE_ANEW, {"notes_key": DigestKey(site).fingerprint}),
        (Event.KNOWN_NOTES_GIVEN_UP, {"shares": [1]}),
    ]
    assert [bool(one.notes) for _, _, one in read_all(site)] == [False]
    save_digests(site, 2, digests(site))
    leave(site, 2)
    assert [bool(one.notes) for _, _, one in read_all(site)] == [False, True]
    site.notes_key.write_bytes(kept)
    with pytest.raises(WorkspaceError, match="share 2"):
        list(read_all(site))
    assert give_up_lost(site) == ((1, 2) if earlier else (2,))


LOSSES: dict[str, Callable[[Path], object]] = {
    "the folder": shutil.rmtree,
    "what is known of its notes": lambda folder: (folder / "0002.digests").unlink(),
    "what is known of its sentences": lambda folder: (folder / "0002.sentences").unlink(),
    "another share's files": lambda folder: shutil.copyfile(folder / "0001.sentences", folder / "0002.sentences"),
    "its notes emptied": lambda folder: (folder / "0002.digests").write_bytes(b""),
}


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_what_has_left_and_is_not_known_any_more_ends_whoever_asks(loss: str, earlier: bool, site: Workspace) -> None:
    """A ledger of before this was held to digests has none, and says by the release that was looked at that files were kept."""
    ledger.record(site, Event.RELEASE_EXAMINED, {})
    for sequence, texts in ((1, TEXTS[:1]), (2, TEXTS)):
        save_digests(site, sequence, digests(site, texts))
        leave(site, sequence, earlier=earlier)
    assert [sequence for sequence, _, _ in read_all(site)] == [1, 2]
    LOSSES[loss](site.root / "known-notes")
    if earlier and loss in ("another share's files", "its notes emptied"):
        # Nobody can tell.
        return
    first = 1 if loss == "the folder" else 2
    with pytest.raises(WorkspaceError, match=rf"{first:04}\.digests.*share {first}.*--lost-known-notes"):
        list(read_all(site))


def test_what_was_lost_goes_on_once_somebody_gives_it_up_and_is_known_again_once_it_is_back(site: Workspace) -> None:
    for sequence in (1, 2):
        save_digests(site, sequence, digests(site))
        leave(site, sequence)
    path = site.root / "known-notes" / "0002.digests"
    kept = path.read_bytes()
    path.unlink()
    assert give_up_lost(site) == give_up_lost(site) == (2,)
    assert [entry.details for entry in ledger.entries(site) if entry.event == Event.KNOWN_NOTES_GIVEN_UP] == [
        {"shares": [2]}
    ]
    assert [bool(one.notes) for _, _, one in read_all(site)] == [True, False]
    # One that is lost later is another matter.
    (site.root / "known-notes" / "0001.sentences").unlink()
    with pytest.raises(WorkspaceError, match="share 1"):
        list(read_all(site))
    path.write_bytes(kept)
    assert give_up_lost(site) == (1,)
    assert [bool(one.notes) for _, _, one in read_all(site)] == [False, True]


def test_of_shares_that_version_0_1_let_leave_nothing_need_be_known(site: Workspace) -> None:
    leave(site, 1, earlier=True)
    ledger.record(site, Event.RELEASE_EXAMINED, {})
    assert [one.notes for _, _, one in read_all(site)] == [frozenset()]
    assert give_up_lost(site) == ()


def test_a_training_after_the_digests_of_earlier_ones_were_lost_does_not_hide_it(site: Workspace) -> None:
    add_trained(site, frozenset([b"a" * 16]))
    ledger.record(site, Event.FEDERATED_ROUND, {})
    (site.root / "known-notes" / "trained.digests").unlink()
    add_trained(site, frozenset([b"b" * 16]))
    with pytest.raises(WorkspaceError, match="trained"):
        read_trained(site)


def test_a_training_is_not_known_by_another_key(site: Workspace) -> None:
    add_trained(site, frozenset([DigestKey(site).note("a")]))
    ledger.record(site, Event.FEDERATED_ROUND, {})
    site.notes_key.unlink()
    give_up_lost(site)
    with pytest.raises(WorkspaceError, match=r"trained.*another key"):
        read_trained(site)


def test_white_space_makes_no_other_note_and_a_word_does(site: Workspace) -> None:
    key = DigestKey(site)
    assert key.note("\r\n Brunhilda  was seen. ") == key.note(TEXTS[0])
    assert key.note("Brunhilda was seen") != key.note(TEXTS[0])


@pytest.mark.parametrize(
    "other", ["anna–quillen came", "Anna Quillen: came!", "Anna*Quillen (came)", "*ANNA_QUILLEN came"]
)
def test_a_sentence_is_its_letters_and_digits(other: str, site: Workspace) -> None:
    key = DigestKey(site)
    text = "Anna-Quillen came."
    assert key.sentences(text, tokenise(text)).tolist() == key.sentences(other, tokenise(other)).tolist()
    assert key.sentences(text, tokenise(text)).tolist() != key.sentences("Ana came.", tokenise("Ana came.")).tolist()
    assert not len(key.sentences(" \n", tokenise(" \n")))


def test_a_run_of_words_is_known_wherever_lines_break(site: Workspace) -> None:
    key = DigestKey(site)
    runs = key.runs(LONG)
    assert len(runs) == 193
    sample = sample_runs(runs, 8)
    assert 20 < len(sample) < 80
    assert are_among(sample, runs).all()
    assert sample_runs(runs, 100).tolist() == runs.tolist()
    assert key.runs(LONG.upper().replace(" ", "\n")).tolist() == runs.tolist()
    # The first half of the words has half of them; another order, or another key, none.
    half = key.runs(" ".join(LONG.split()[:150]))
    assert are_among(half, runs).all()
    assert len(half) == 93
    assert not are_among(key.runs(" ".join(LONG.split()[::-1])), runs).any()
    other = DigestKey(create(site.root.parent / "other", "north"))
    assert not are_among(other.runs(LONG), runs).any()
    assert not len(key.runs(" - \n"))


def test_what_a_version_wrote_that_knew_no_runs_is_read(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    path = site.root / "known-notes" / "0001.sentences"
    head, _, body = path.read_bytes().partition(b"\n")
    stated = json.loads(head)
    count = stated.pop("runs")
    del stated["runs_known"]
    path.write_bytes(json.dumps(stated | {"format": 2}).encode() + b"\n" + body[: -8 * count])
    read = read_digests(site, 1)
    assert len(read.by_tokens) == 3
    assert (len(read.runs), read.runs_known) == (0, 0)


def test_a_patient_is_no_note_that_says_the_same(site: Workspace) -> None:
    key = DigestKey(site)
    assert key.patient("4711") == key.patient("4711")
    assert len({key.patient("4711"), key.patient("4712"), key.note("4711")}) == 3


def test_a_sentence_is_its_words_and_its_labels_are_known_apart(site: Workspace) -> None:
    key = DigestKey(site)
    one, other = (key.sentences(text, tokenise(text)) for text in ("Anna came.\nBob left.", "BOB left.\n\nAnna  came."))
    assert one.tolist() == other.tolist()[::-1]
    words = ["Anna", "came", "."]
    chunks = [TokenisedSentences(words, np.array(tags, np.uint8), np.array([3])) for tags in ([0, 0, 0], [1, 0, 0])]
    plain, tagged = (key.labelled(one[:1], chunk).tolist() for chunk in chunks)
    assert plain != tagged


def test_what_is_kept_is_its_owners_alone_and_tells_no_order_and_no_text(site: Workspace) -> None:
    save_digests(site, 1, digests(site))
    save_digests(site, 2, digests(site, TEXTS[::-1]))
    folder = site.root / "known-notes"
    for suffix in ("digests", "sentences"):
        first, second = (folder / f"000{number}.{suffix}" for number in (1, 2))
        assert first.read_bytes() == second.read_bytes()
        assert stat.S_IMODE(first.stat().st_mode) == 0o600
        assert not any(word.encode() in first.read_bytes() for word in "Brunhilda seen Quintus Nobody".split())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(site.notes_key.stat().st_mode) == 0o600
    other = create(site.root.parent / "other", "north")
    assert not digests(other).notes & digests(site).notes
    assert not are_among(digests(other).sentences, digests(site).sentences).any()


def test_digests_are_found_among_others() -> None:
    known = np.array([2, 5, 5, 9], dtype=np.uint64)
    wanted = np.array([9, 1, 5, 10, 2, 0], dtype=np.uint64)
    assert are_among(wanted, known).tolist() == [value in (2, 5, 9) for value in wanted.tolist()]
    assert not are_among(wanted, known[:0]).any()
