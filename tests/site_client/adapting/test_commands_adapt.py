"""`site-client adapt` as a person types it, on a whole small loop: shown, decided, in use, given up, out of date."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foundation.locks import hold_scratch
from shared.document import Annotation, Document
from shared.labels import HIDDEN, UNKNOWN_TAG
from shared.sentences.tokenised import tokenised_corpus
from shared.text.tokens import tokenise
from shared.training.fine_tuning import adapting
from site_client import api
from site_client.adapting import adapt, crossing, keeping
from site_client.adapting.adapt import Adapted
from site_client.adapting.counts import Asked
from site_client.evaluating.counting import Labelled
from site_client.ledger import Event, entries
from site_client.local_http import serving
from site_client.own_head import decided, record
from site_client.review import running
from site_client.sharing.known_notes import give_up_lost
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, refused, snapshot, values
from tests.once import made_once
from tests.tiny_notes import long_notes, note, phi_strings, tiny_notes, write_notes

WORDS = ("Brimblecombe", "Tattersall", "Featherstone", "Wigglesworth")
NAME = ("--approver", "Dr Ünal")


@contextmanager
def haste() -> Iterator[None]:
    """Tiny notes teach a tiny head in a few steps."""
    config = adapting.AdaptingConfig
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            adapting, "AdaptingConfig", lambda seed: config(steps=(10, 20), learning_rate=0.02, batch=32, seed=seed)
        )
        yield


@pytest.fixture(autouse=True)
def hasty() -> Iterator[None]:
    with haste():
        yield


def strange(count: int) -> list[Document]:
    """Notes of a hospital that calls its wards by codes, which it labels, and which no release has met."""
    found = []
    for number, one in enumerate(tiny_notes(count, 4, "own")):
        head = f"Bay {WORDS[number % 4]} seen.\n"
        spans = [replace(span, start=span.start + len(head), end=span.end + len(head)) for span in one.annotations]
        ward = Annotation(4, 4 + len(WORDS[number % 4]), "PATIENT")
        found.append(Document(one.identifier, head + one.text, (ward, *spans)))
    return found


def at(loop: Loop, *arguments: object) -> Any:
    return hospital("adapt", *arguments, "--workspace", loop.site("fourth"))


def use(loop: Loop) -> str:
    """The head that waits is taken into use by the digest that is shown with its gain."""
    digest: str = values(at(loop, "--json"))["head"]
    done(at(loop, "--use", digest, *NAME))
    return digest


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "own.jsonl", strange(20), "jsonl")


@pytest.fixture(scope="session")
def adapted(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """A loop whose fourth hospital has adapted a head that waits; six heads learn for it, so it is made once."""

    def make(folder: Path) -> None:
        made = Loop(Path(shutil.copytree(built_loop.root, folder / "loop")))
        own = write_notes(folder / "own.jsonl", strange(20), "jsonl")
        with haste():
            said = done(at(made, own)).stdout
        (folder / "said").write_text(said)
        assert values(at(made, "--json"))["gain"]["verdict"] != "worse"

    return Loop(made_once(tmp_path_factory, "adapted", make) / "loop")


@pytest.fixture
def waiting(adapted: Loop, tmp_path: Path) -> Loop:
    """A copy of it that the test may change."""
    return Loop(Path(shutil.copytree(adapted.root, tmp_path / "copied" / "loop")))


def test_the_gain_is_shown_and_nothing_is_hidden_with_the_head_until_a_person_decides(
    waiting: Loop, tmp_path: Path
) -> None:
    def head(out: str) -> Any:
        ask = (
            "deid",
            waiting.notes("fourth"),
            "--out",
            tmp_path / out,
            "--json",
            "--workspace",
            waiting.site("fourth"),
        )
        return values(hospital(*ask))["head"]

    assert not head("before")["adapted"]
    told = values(at(waiting, "--json"))
    (folder,) = (waiting.site("fourth") / "adapted").iterdir()
    assert told == {
        "adapted": False,
        "adapted_from_stale_release": None,
        "waiting": True,
        "head": told["head"],
        "gain": json.loads((folder / "adapted.json").read_text())["gain"],
    }
    refused(at(waiting, "--use", told["head"]), 32, "--approver")
    use(waiting)
    assert head("used")["adapted"]
    said = done(at(waiting)).stdout
    assert "20 notes of its own" in said
    done(at(waiting, "--undo", *NAME))
    assert not head("undone")["adapted"]
    refused(at(waiting, "--undo", *NAME), 39, "nothing to undo")
    noted = [entry for entry in entries(open_workspace(waiting.site("fourth"))) if "head" in entry.event]
    assert [entry.event for entry in noted] == [Event.HEAD_ADAPTED, Event.HEAD_USED, Event.HEAD_UNDONE]
    assert (noted[1].details["approver"], noted[1].details["head"]) == ("Dr Ünal", told["head"])


def test_what_is_shown_has_before_and_after_with_intervals_and_no_words(adapted: Loop, waiting: Loop) -> None:
    said = (adapted.root.parent / "said").read_text()
    # What is shown here is shown again, letter by letter, to whoever decides later.
    table = said[said.index("in your own notes") :]
    assert table in done(at(waiting)).stdout
    for part in ("strict F1", "entities hidden whole", "hidden words that are PHI", "95% intervals over 20 notes"):
        assert part in said
    # Fewer than ten ages, professions and so on: the release goes on to decide them.
    assert "PROFESSION" in said
    assert not [text for text in phi_strings(strange(20)) if text in said]


def test_few_notes_are_refused_in_one_line(loop: Loop, tmp_path: Path) -> None:
    few = write_notes(tmp_path / "few", strange(9))
    before = snapshot(loop.site("fourth"))
    refused(at(loop, few), 6, "at least 10", "got 9")
    copies = [replace(strange(1)[0], identifier=f"copy-{number}") for number in range(12)]
    refused(at(loop, write_notes(tmp_path / "copies", copies)), 6, "got 1")
    without = [note(f"plain-{number}", f"Nothing to report on day {number}.\n") for number in range(12)]
    refused(at(loop, write_notes(tmp_path / "plain", without)), 6, "got 0")
    assert snapshot(loop.site("fourth")) == before


def test_two_things_at_once_are_refused(loop: Loop, notes: Path) -> None:
    refused(at(loop, notes, "--use", "0" * 16), 2, "one of them")
    refused(at(loop, notes, *NAME), 2, "once the gain is shown")
    refused(at(loop, "--use", "0" * 16, *NAME), 39, "none")
    with hold_scratch(loop.site("fourth") / ".adapting"):
        refused(at(loop, notes), 8, "process")


@pytest.mark.parametrize("lost", ["passphrase", "key", "ledger"])
def test_what_the_end_needs_is_asked_for_before_the_training(
    lost: str, loop: Loop, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a head was adapted from is signed once it is; without a terminal nobody is asked for a passphrase."""
    site = loop.site("fourth")
    if lost == "passphrase":
        secret = tmp_path / "secret"
        secret.write_text("five words that nobody guesses")
        secret.chmod(0o400)
        done(hospital("keys", "protect", "--new-passphrase-file", secret, "--workspace", site))
    elif lost == "key":
        for key in (site / "keys").glob("*.pem"):
            key.unlink()
    else:
        (site / "ledger.jsonl").unlink()
    monkeypatch.setattr(keeping, "adapt_head", None)
    refused(at(loop, notes), {"passphrase": 17, "key": 8, "ledger": 31}[lost])
    assert not (site / "adapted").exists()


def test_another_release_leaves_the_head_behind_and_says_so(
    waiting: Loop, another_release: Path, tmp_path: Path
) -> None:
    digest = use(waiting)
    # The same provider, later.
    shutil.rmtree(waiting.provider)
    shutil.copytree(Loop(another_release).provider, waiting.provider)
    pulled = done(hospital("pull", waiting.releases, "--workspace", waiting.site("fourth"))).stdout
    assert "is not used any more" in pulled
    ask = ("deid", waiting.notes("fourth"), "--out", tmp_path / "out", "--workspace", waiting.site("fourth"))
    assert "is of release 2, and is not used" in done(hospital(*ask)).stdout
    refused(at(waiting, "--use", digest, *NAME), 39, "release 3", "release 2")


def test_whatever_hides_says_which_head_it_hides_with(
    waiting: Loop, another_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who works on a page or behind a port for months sees no `pull`."""
    monkeypatch.setattr(serving, "serve", lambda app, listener, ready: ready())
    monkeypatch.setattr(running, "run", lambda project, load, port, announce: load())
    site = waiting.site("fourth")

    def said() -> list[str]:
        served = hospital("serve-local", "--port", 0, "--workspace", site)
        reviewed = hospital("review", waiting.notes("fourth"), "--workspace", site)
        assert (served.exit_code, reviewed.exit_code) == (0, 0)
        return [served.stdout, reviewed.stdout, "\n".join(api.Pipeline.load(site).head_lines)]

    assert not any("adapted" in one for one in said())
    use(waiting)
    assert all("the head that this hospital adapted from release 2" in one for one in said())
    shutil.rmtree(waiting.provider)
    shutil.copytree(Loop(another_release).provider, waiting.provider)
    done(hospital("pull", waiting.releases, "--workspace", site))
    assert all("is of release 2, and is not used" in one for one in said())


@pytest.mark.parametrize("file", ["adapted.json", "head.safetensors", "operating_points.json"])
def test_a_head_that_other_hands_have_changed_hides_nothing(waiting: Loop, tmp_path: Path, file: str) -> None:
    use(waiting)
    (folder,) = (waiting.site("fourth") / "adapted").iterdir()
    data = (folder / file).read_bytes()
    (folder / file).write_bytes(data[:-3] + b"\0\1\2")
    out = tmp_path / "out"
    ask = ("deid", waiting.notes("fourth"), "--out", out, "--workspace", waiting.site("fourth"))
    refused(hospital(*ask), 39, "--undo")
    assert not out.exists()
    done(at(waiting, "--undo", *NAME))
    done(hospital(*ask))


def test_a_program_that_is_killed_leaves_the_head_that_was_in_use(
    waiting: Loop, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(waiting)
    used = decided.read_decided(open_workspace(waiting.site("fourth")))

    def killed(*given: object, **named: object) -> Iterator[Any]:
        raise KeyboardInterrupt

    # What is learned each time is the same; to learn it takes long.
    learned: list[Adapted] = []

    def learn_once(*given: Any) -> Adapted:
        if not learned:
            learned.append(adapt.adapt_head(*given))
        return learned[0]

    monkeypatch.setattr(keeping, "adapt_head", learn_once)
    for module, name in ((crossing, "adapt_tagger"), (record, "save_head"), (decided, "record")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, killed)
            assert at(waiting, notes, "--seed", 3).exit_code == 130
        assert decided.read_decided(open_workspace(waiting.site("fourth"))) == used
        assert "20 notes of its own" in done(at(waiting)).stdout
    values(at(waiting, notes, "--seed", 3, "--json"))
    # What the killed ones left is gone; the head in use and the new one that waits are there.
    assert len(list((waiting.site("fourth") / "adapted").iterdir())) == 2


def test_what_has_learned_from_notes_is_its_owners_alone(waiting: Loop) -> None:
    folder = waiting.site("fourth") / "adapted"
    assert [path.stat().st_mode & 0o077 for path in (folder, *folder.rglob("*"))] == [0] * 7


def test_evaluate_leaves_out_what_the_head_was_adapted_on_and_compares_the_released_head(
    waiting: Loop, tmp_path: Path
) -> None:
    use(waiting)
    # Half of them as somebody has signed them since.
    known = [replace(one, text=one.text + " Signed.") if place % 2 else one for place, one in enumerate(strange(20))]
    both = write_notes(tmp_path / "both", [*known, *long_notes(12, 9)])
    ask = ("evaluate", both, "--json", "--workspace", waiting.site("fourth"))
    report = values(hospital(*ask))["acceptance"]
    assert report["head"]["adapted"]
    assert (report["notes_that_the_head_was_adapted_on"], report["notes"]) == (20, 12)
    assert "the release with its own head" in report["compared"]
    alone = write_notes(tmp_path / "alone", strange(20))
    known = values(hospital("evaluate", alone, "--json", "--workspace", waiting.site("fourth")))["acceptance"]
    assert not known["judged_by_notes_that_never_left"]
    assert "holds" not in [one["verdict"] for one in known["promises"]]


def test_attack_notes_that_taught_the_head_are_not_new_because_a_key_was_lost(waiting: Loop, tmp_path: Path) -> None:
    use(waiting)
    root = waiting.site("fourth")
    (root / "keys" / "notes.key").unlink()
    give_up_lost(open_workspace(root))
    ask = ("evaluate", write_notes(tmp_path / "alone", strange(20)), "--workspace", root)
    report = values(hospital(*ask, "--json"))["acceptance"]
    assert report["notes_that_the_head_was_adapted_on"] is None
    assert not report["judged_by_notes_that_never_left"]
    assert "holds" not in [one["verdict"] for one in report["promises"]]
    assert "adapted on these notes is not known" in done(hospital(*ask)).stdout


def test_copies_of_one_example_are_one_example(loop: Loop, tmp_path: Path) -> None:
    one = note("0", "Known as ", ("Zwetschge", "PATIENT"), ", number ", ("123-45-6789", "SSN"), ", came.\n")
    copies = [replace(one, identifier=f"copy-{number}") for number in range(10)]
    made = values(at(loop, write_notes(tmp_path / "in.jsonl", [*strange(12), *copies], "jsonl"), "--json"))
    assert "SSN" in made["kept_by_the_release"]
    assert "PATIENT" not in made["kept_by_the_release"]


def test_options_of_notes_without_notes_are_refused(built_loop: Loop, tmp_path: Path) -> None:
    table = tmp_path / "whose.csv"
    table.write_text("note,patient\n")
    for given in (("--patients", table), ("--labels", "meddocan"), ("--quarantine", tmp_path / "aside")):
        refused(at(built_loop, *given), 2, "expected notes")


def test_the_record_says_which_release_it_is_of_and_holds_no_words(waiting: Loop) -> None:
    (folder,) = (waiting.site("fourth") / "adapted").iterdir()
    stated = json.loads((folder / "adapted.json").read_text())
    assert stated["release"] == open_workspace(waiting.site("fourth")).pipeline_release().digest
    assert not [text for text in phi_strings(strange(20)) if text in json.dumps(stated)]


def test_what_the_release_has_no_category_for_teaches_nothing(
    waiting: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wards = [
        replace(one, annotations=(replace(one.annotations[0], category="WARD"), *one.annotations[1:]))
        for one in strange(20)
    ]
    (tmp_path / "own.toml").write_text(
        '[map]\nWARD = ""\n'
        + "".join(
            f'{name} = "{name}"\n'
            for name in sorted({span.category for one in wards for span in one.annotations} - {"WARD"})
        )
    )
    tags: list[Any] = []

    def told(*given: Any) -> Any:
        learned = tokenised_corpus(*given)
        tags.append([tag for word, tag in zip(learned.words, learned.tags.tolist(), strict=True) if word in WORDS])
        raise KeyboardInterrupt

    monkeypatch.setattr(crossing, "tokenised_corpus", told)
    given = (write_notes(tmp_path / "wards.jsonl", wards, "jsonl"), "--labels", tmp_path / "own.toml")
    assert at(waiting, *given).exit_code == 130
    assert tags
    assert set(tags[0]) == {UNKNOWN_TAG}


def test_a_finder_is_judged_neither_by_what_has_no_category_nor_by_what_it_finds_there() -> None:
    note = Document("n", "Ward Brimblecombe: Tattersall came.", (Annotation(19, 29, "PATIENT"),))
    labelled = Labelled.of([note], {})
    asked = Asked(labelled, [tokenise(note.text)], [(Annotation(5, 17, HIDDEN),)])
    found = (Annotation(5, 17, "PATIENT", confidence=0.9), Annotation(19, 29, "PATIENT", confidence=0.9))
    with_it, without = (asked.count(0, Document("n", note.text, spans)) for spans in (found, found[1:]))
    assert with_it.strict.tolist() == without.strict.tolist() == [[1, 0, 0]]
    assert with_it.shown.tolist() == without.shown.tolist() == [[1, 1]]
    over = asked.count(0, Document("n", note.text, (Annotation(5, 29, "PATIENT"),)))
    assert over.hidden.tolist() == [[1, 1]]
