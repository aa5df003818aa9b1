"""`site-client policy` as a person types it, and the commands that ask the policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from site_client.ledger import Event, entries
from site_client.policy import stored
from site_client.policy.site_policy import DEFAULT
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, refused, snapshot, values


@pytest.fixture
def at(tmp_path: Path) -> tuple[object, ...]:
    """A new hospital."""
    done(hospital("init", tmp_path / "site", "--site", "st-anne"))
    return ("--workspace", tmp_path / "site")


def test_init_writes_the_usual_policy_and_records_it(at: tuple[object, ...], tmp_path: Path) -> None:
    assert values(hospital("policy", "show", "--json", *at))["policy"] == DEFAULT.to_json()
    assert json.loads((tmp_path / "site" / "policy.json").read_text()) == DEFAULT.to_json()
    assert [entry.event for entry in entries(open_workspace(tmp_path / "site"))] == [Event.POLICY_SET]


def test_whether_approval_is_required_is_shown_and_every_change_recorded(tmp_path: Path) -> None:
    site = tmp_path / "free"
    at = ("--workspace", site)
    done(hospital("init", site, "--site", "st-anne", "--no-approval"))
    assert "\n  approval           no\n" in done(hospital("policy", "show", *at)).stdout
    assert values(hospital("policy", "set", "--approval", "--json", *at))["changes"] == ["approval: no -> yes"]
    assert "\n  approval           yes\n" in done(hospital("policy", "show", *at)).stdout
    assert [entry.event for entry in entries(open_workspace(site))] == [Event.POLICY_SET] * 2


def test_what_changed_is_said(at: tuple[object, ...]) -> None:
    paper = ("--enable", "three-part", "--accept-failed-audit", "--max-advantage", 0.4)
    said = values(hospital("policy", "set", *paper, "--json", *at))
    assert said["changes"] == [
        "constructions: surrogates -> surrogates, three-part",
        "accept_failed_audit: none -> three-part",
        "max_advantage: none -> 0.4",
    ]
    assert "three-part" in done(hospital("policy", "show", *at)).stdout
    back = ("--disable", "three-part", "--max-advantage", "none")
    assert len(values(hospital("policy", "set", *back, "--json", *at))["changes"]) == 3
    assert values(hospital("policy", "show", "--json", *at))["policy"] == DEFAULT.to_json()


BY_NOTE = (
    "epsilon 8 holds for one note that is there or not; of a patient with several notes the rounds may tell far more"
)


def test_who_lets_the_hospital_train_with_others_reads_for_whom_the_noise_holds(at: tuple[object, ...]) -> None:
    assert BY_NOTE in done(hospital("policy", "set", "--federated-rounds", 40, *at)).stdout
    assert BY_NOTE not in done(hospital("policy", "set", "--hide-casing", *at)).stdout
    bare = done(hospital("policy", "set", "--federated-epsilon", "none", *at)).stdout
    assert "without noise: what the rounds tell of a note is not bounded" in bare
    assert "noise" not in done(hospital("policy", "set", "--federated-rounds", 0, *at)).stdout
    assert "of one note, not of a patient" in " ".join(done(hospital("policy", "set", "--help")).stdout.split())


def test_an_accepted_failure_is_taken_back_by_name(at: tuple[object, ...]) -> None:
    done(hospital("policy", "set", "--enable", "dann", "--accept-failed-audit", *at))
    said = values(hospital("policy", "set", "--enable", "dann", "--refuse-failed-audit", "--json", *at))
    assert said["changes"] == ["accept_failed_audit: dann -> none"]
    refused(hospital("policy", "set", "--accept-failed-audit", *at), 2, "--enable")
    refused(hospital("policy", "set", "--enable", "surrogates", "--accept-failed-audit", *at), 2, "must pass")
    refused(hospital("policy", "set", "--max-mu", "much", *at), 2)


def test_the_demonstrations_policy_is_marked(at: tuple[object, ...]) -> None:
    done(hospital("policy", "set", "--demonstration", "--audit", "quick", *at))
    assert "DEMONSTRATION" in done(hospital("policy", "show", *at)).stdout


def test_own_words_lie_in_the_workspace(at: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "ours.txt").write_text("haemodialysis\n")
    done(hospital("policy", "set", "--public-words", tmp_path / "ours.txt", *at))
    assert [one.read_text() for one in lists_of(tmp_path)] == ["haemodialysis\n"]
    (tmp_path / "ours.txt").write_text("haemofiltration\n")
    done(hospital("policy", "set", "--public-words", tmp_path / "ours.txt", *at))
    assert [one.read_text() for one in lists_of(tmp_path)] == ["haemofiltration\n"]
    done(hospital("policy", "set", "--no-public-words", *at))
    assert values(hospital("policy", "show", "--json", *at))["policy"]["own_words"] is None
    assert not lists_of(tmp_path)


def lists_of(folder: Path) -> list[Path]:
    return list((folder / "site").glob("public-words*"))


@pytest.fixture
def with_words(at: tuple[object, ...], tmp_path: Path) -> tuple[object, ...]:
    """A hospital with a list of its own, and `new.txt` beside it."""
    (tmp_path / "ours.txt").write_text("haemodialysis\n")
    (tmp_path / "new.txt").write_text("haemofiltration\n")
    done(hospital("policy", "set", "--public-words", tmp_path / "ours.txt", *at))
    return at


def test_a_refused_list_of_words_leaves_the_recorded_one_in_force(
    with_words: tuple[object, ...], tmp_path: Path
) -> None:
    """Whatever keeps the ledger from being signed: the policy of before goes on, with its list."""
    at, before = with_words, done(hospital("policy", "show", *with_words)).stdout
    (key,) = (tmp_path / "site" / "keys").glob("*.pem")
    key.chmod(0o644)
    assert hospital("policy", "set", "--public-words", tmp_path / "new.txt", *at).exit_code
    key.chmod(0o600)
    assert done(hospital("policy", "show", *at)).stdout == before
    assert "nothing changed" in done(hospital("policy", "set", *at)).stdout
    assert [one.read_text() for one in lists_of(tmp_path)] == ["haemodialysis\n"]


def test_a_list_whose_policy_was_recorded_and_not_written_is_put_in_force(
    with_words: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine goes down between the ledger's entry and the policy's file."""
    at = with_words

    def cut(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stored, "write_text", cut)
        hospital("policy", "set", "--public-words", tmp_path / "new.txt", *at)
    refused(hospital("policy", "show", *at), 35, "changed outside")
    assert "the recorded policy is in force" in done(hospital("policy", "set", *at)).stdout
    assert "own_words" in done(hospital("policy", "show", *at)).stdout
    assert [one.read_text() for one in lists_of(tmp_path)] == ["haemofiltration\n"]


@pytest.mark.parametrize("change", [lambda path: path.write_text("quillfeather\n"), Path.unlink])
def test_policy_set_does_not_say_that_all_is_well_with_another_list(
    change: Callable[[Path], object], with_words: tuple[object, ...], tmp_path: Path
) -> None:
    at = with_words
    change(lists_of(tmp_path)[0])
    entries_before = len(list(entries(open_workspace(tmp_path / "site"))))
    for options in ((), ("--least-cluster", 500)):
        refused(hospital("policy", "set", *options, *at), 35, "list of words", "--public-words")
    assert len(list(entries(open_workspace(tmp_path / "site")))) == entries_before
    done(hospital("policy", "set", "--public-words", tmp_path / "ours.txt", *at))
    done(hospital("policy", "show", *at))
    change(lists_of(tmp_path)[0])
    done(hospital("policy", "set", "--no-public-words", *at))


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\xff", "h\u00e4mo".encode("latin-1"), b"", b" \n\n"], ids=range(4)
)
def test_what_is_no_list_of_words_is_not_kept(data: bytes, at: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "ours.txt").write_bytes(b"haemodialysis\n")
    done(hospital("policy", "set", "--public-words", tmp_path / "ours.txt", *at))
    before = snapshot(tmp_path / "site")
    (tmp_path / "other").write_bytes(data)
    refused(hospital("policy", "set", "--public-words", tmp_path / "other", *at), 2, "--public-words", "UTF-8")
    assert snapshot(tmp_path / "site") == before


@pytest.mark.parametrize(
    "options",
    [
        ("--max-age-days", 9_999_999_999),
        ("--common-words", "nan"),
        ("--common-words", "inf"),
        ("--common-words", "2.9"),
        ("--common-words", "-1"),
        ("--least-cluster", "1" + "0" * 400),
        ("--max-mu", "nan"),
        ("--max-mu", "1e300"),
        ("--public-words", "ours.txt", "--no-public-words"),
        ("--enable", "surrogates", "--disable", "surrogates"),
        ("--enable", "dann", "--enable", "three-part", "--disable", "dann"),
    ],
    ids=lambda options: " ".join(map(str, options))[:60],
)
def test_what_no_command_could_go_on_with_is_not_set(
    options: tuple[object, ...], at: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.txt").write_bytes(b"haemodialysis\n")
    before = snapshot(tmp_path / "site")
    refused(hospital("policy", "set", *options, *at), 2)
    assert snapshot(tmp_path / "site") == before
    done(hospital("policy", "set", "--common-words", 40, "--max-age-days", 36_500, *at))
    done(hospital("policy", "set", "--common-words", "none", *at))
    done(hospital("policy", "show", *at))


def test_deid_runs_only_what_the_policy_takes(loop: Loop) -> None:
    at, out = ("--workspace", loop.site("fourth")), loop.root / "safe"
    done(hospital("policy", "set", "--hide-casing", *at))
    refused(hospital("deid", loop.notes("fourth"), "--out", out, *at), 35, "casing")
    assert not out.exists()
    done(hospital("pull", "--accept-unprotected", "--approver", "Dr Ünal", *at))
    done(hospital("deid", loop.notes("fourth"), "--out", out, *at))
