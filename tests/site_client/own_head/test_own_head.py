"""Whoever takes an adapted head into use has seen what it gains, and takes no other; what is in use outlives a program that is killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from shared.pipeline.operating_points import OperatingPoint, OperatingPoints
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger
from site_client.errors import AdaptationError, ApprovalError
from site_client.own_head import decided
from site_client.own_head.decided import read_decided, record_made, shown_digest, use_waiting
from site_client.own_head.record import heads_folder, read_own_head, save_own_head
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import KnownNotes
from site_client.workspace import Workspace, create, open_workspace
from tests.loop import done, hospital, refused, values

NAME = ("--approver", "A. Weiss")
POINTS = OperatingPoints(1, (OperatingPoint(0.9, 0.5, 0.95, 0.9, 0.95),))
RELEASE: Any = SimpleNamespace(digest="ab" * 32, manifest=SimpleNamespace(sequence=7))


def gain(verdict: str, before: float, after: float) -> Mapping[str, object]:
    """As `Gain.as_json` has it, with the same figures for all that is measured."""
    figures = {
        "before": {"value": before, "interval": [before - 0.01, before + 0.01]},
        "after": {"value": after, "interval": [after - 0.01, after + 0.01]},
        "difference": {"value": after - before, "interval": [-0.01, 0.02]},
        "notes_that_differ": 12,
        "shown": verdict == "better",
    }
    compared = dict.fromkeys(("strict_f1", "hidden_whole", "hidden_words_that_are_phi"), figures)
    return {"notes": 12, "independent": 12, "independent_by": "text", "verdict": verdict, **compared}


BETTER, OPEN = gain("better", 0.71, 0.95), gain("no gain is shown", 0.71, 0.64)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    create(tmp_path / "site", "st-anne")
    monkeypatch.setattr(Workspace, "pipeline_release", lambda self: RELEASE)
    return tmp_path / "site"


@pytest.fixture
def made(site: Path) -> Callable[..., str]:
    """Adapts a head that waits then; another seed makes another one."""

    def make(showed: Mapping[str, object], seed: int) -> str:
        torch.manual_seed(seed)
        workspace, head = open_workspace(site), build_tagger(BiLSTMCRFConfig(4, 5, hidden=4))
        learned = KnownNotes.of(DigestKey(workspace), [f"Note {seed}."])
        digest = save_own_head(workspace, RELEASE, head, POINTS, ["AGE"], learned, showed)
        record_made(workspace, digest, {"release": RELEASE.digest, "notes": 12, "verdict": str(showed["verdict"])})
        return digest

    return make


def test_attack_a_head_that_was_made_since_is_not_taken_in_place_of_the_one_whose_gain_was_shown(
    site: Path, made: Callable[..., str]
) -> None:
    shown = shown_digest(made(BETTER, 1))
    other = made(OPEN, 2)
    line = refused(hospital("adapt", "--use", shown, *NAME, "--workspace", site), 32, "another")
    # Nobody has seen what the other gains, so its digest is not handed out by a refusal.
    assert shown_digest(other) not in line
    assert read_decided(open_workspace(site)).in_use == ""
    done(hospital("adapt", "--use", shown_digest(other).upper(), *NAME, "--workspace", site))
    assert read_decided(open_workspace(site)).in_use == other


@pytest.mark.parametrize("given", ["", "all", "1613cfb472b39a2", "--approver"])
def test_what_no_head_is_known_by_is_refused_in_one_line(site: Path, made: Callable[..., str], given: str) -> None:
    made(BETTER, 1)
    refused(hospital("adapt", "--use", given, *NAME, "--workspace", site), 2, "digest of 16 digits or more")
    assert read_decided(open_workspace(site)).in_use == ""


def test_a_part_of_the_digest_is_not_enough_for_programs_either(site: Path, made: Callable[..., str]) -> None:
    digest = made(BETTER, 1)
    for given in ("", digest[:15], digest[1:17]):
        with pytest.raises(ApprovalError):
            use_waiting(open_workspace(site), "A. Weiss", given)
    assert use_waiting(open_workspace(site), "A. Weiss", digest).digest == digest


@pytest.mark.parametrize(("showed", "said"), [(BETTER, "BETTER"), (OPEN, "NO GAIN IS SHOWN, stay with the release")])
def test_the_gain_is_shown_as_it_was_when_the_head_was_made_wherever_it_is_decided_on(
    site: Path, made: Callable[..., str], showed: Mapping[str, Any], said: str
) -> None:
    digest = made(showed, 1)
    after = f"{100 * showed['strict_f1']['after']['value']:.1f}%"
    expected = ("strict F1", "71.0%", after, "95% intervals over 12 notes", "AGE: fewer than", said)
    status = done(hospital("adapt", "--workspace", site)).stdout
    assert f"site-client adapt --use {shown_digest(digest)} --approver NAME" in status
    told = values(hospital("adapt", "--json", "--workspace", site))
    assert (told["waiting"], told["head"], told["gain"]) == (True, digest, showed)
    used = done(hospital("adapt", "--use", shown_digest(digest), *NAME, "--workspace", site)).stdout
    for part in expected:
        assert part in status
        assert part in used
    assert f"head {shown_digest(digest)}" in used
    # What is in use waits no more.
    assert "--use" not in done(hospital("adapt", "--workspace", site)).stdout


def test_a_head_that_waits_and_has_changed_does_not_hide_which_one_is_in_use(
    site: Path, made: Callable[..., str]
) -> None:
    digest = made(BETTER, 1)
    (heads_folder(open_workspace(site)) / digest[:32] / "head.json").unlink()
    said = done(hospital("adapt", "--workspace", site)).stdout
    assert "the head of release 7 is in use" in said
    assert "adapt again" in said
    assert "--use" not in said
    refused(hospital("adapt", "--use", shown_digest(digest), *NAME, "--workspace", site), 39, "changed")


def test_the_same_head_made_again_by_a_program_that_is_killed_leaves_the_one_in_use(
    site: Path, made: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = made(BETTER, 1)
    use_waiting(open_workspace(site), "A. Weiss", digest)

    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(Path, "rename", killed)
        patch.setattr(decided, "remove_others", lambda workspace, used: None)
        made(BETTER, 1)
    assert not (heads_folder(open_workspace(site)) / "new").exists()
    assert read_own_head(open_workspace(site), digest).gain == BETTER
    assert made(BETTER, 1) == digest
    assert [path.name for path in heads_folder(open_workspace(site)).iterdir()] == [digest[:32]]


def test_the_same_head_made_again_takes_the_place_of_one_that_has_changed(site: Path, made: Callable[..., str]) -> None:
    digest = made(BETTER, 1)
    (heads_folder(open_workspace(site)) / digest[:32] / "head.safetensors").write_bytes(b"other weights")
    with pytest.raises(AdaptationError):
        read_own_head(open_workspace(site), digest)
    assert made(BETTER, 1) == digest
    assert read_own_head(open_workspace(site), digest).gain == BETTER
