"""A training that was cut: what it keeps, who may go on with it, and that it ends in the same bits."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest

from aggregator import workspace as workspaces
from aggregator.enrolled.unfinished_trainings import COMMANDS
from aggregator.errors import WorkspaceError
from aggregator.training import embeddings, head, language
from aggregator.training.judging.influence import InfluenceMode
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from aggregator.training.representer import train as train_representer
from aggregator.training.unfinished import keep_unfinished
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.locks import lock_number
from shared.embeddings.files.artefact import load_vectors
from shared.embeddings.training import FastTextSettings
from shared.errors import ConfigurationError
from shared.models.language_model import load_language_model
from shared.progress import Watch
from shared.training.language import LanguageSettings
from shared.training.tagging import TaggingConfig
from tests.aggregator.copied import new_workspace
from tests.loop import Loop, done, provider, refused, small_heads, snapshot
from tests.tiny_notes import tiny_notes

CONFIG = TaggingConfig(epochs=2)
INPUTS = {"seed": 1, "epochs": 20}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "provider")


def cut_in(phase: str, steps: int = 0) -> Watch:
    """Ctrl+C in the phase of that name, after so many steps."""
    told = 0

    def watch(name: str, share: float, left_s: float | None) -> None:
        nonlocal told
        told += name.startswith(phase)
        if told > steps:
            raise KeyboardInterrupt

    return watch


def interrupted(run: Callable[[], object]) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        run()
    assert "--resume" in caught.value.__notes__[0]


@pytest.fixture(scope="module")
def told(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list[str]]:
    """Of a head that nobody has cut: digests of its files, and the phases that it said, each once."""
    import shutil

    root = shutil.copytree(built_loop.root, tmp_path_factory.mktemp("whole") / "loop")
    seen: dict[str, None] = {}
    made = head_of(workspaces.open_workspace(root / "provider"), lambda name, *said: seen.setdefault(name))
    return made, list(seen)


@pytest.fixture
def uninterrupted(told: tuple[dict[str, str], list[str]]) -> dict[str, str]:
    return told[0]


def head_of(opened: Workspace, watch: Watch = lambda *told: None, resume: bool = False) -> dict[str, str]:
    with small_heads():
        head.train(opened, CONFIG, head.HeadOptions(), watch, resume=resume)
    return {Path(name).name: digest for name, digest in snapshot(opened.head).items()}


def test_a_head_that_was_cut_again_and_again_ends_in_the_same_bits(loop: Loop, uninterrupted: dict[str, str]) -> None:
    opened, seen = workspaces.open_workspace(loop.provider), Counter[str]()
    # In the first phase only after an epoch: there is nothing to go on with before.
    interrupted(lambda: head_of(opened, cut_in("head (", 12)))

    def counted(cut: Watch) -> Watch:
        def watch(name: str, share: float, left_s: float | None) -> None:
            seen[name] += 1
            cut(name, share, left_s)

        return watch

    for phase in ("head of your own", "influence, without south"):
        interrupted(partial(head_of, opened, counted(cut_in(phase)), resume=True))
        kept = list((loop.provider / "unfinished" / "train-head").rglob("*"))
        assert any(path.suffix == ".safetensors" for path in kept)
        for path in (loop.provider / "unfinished", *kept):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        # Of two epochs of nine steps the first is read, and not learned again.
        assert seen["head (1 of 10)"] < 2 * 9
    assert head_of(opened, resume=True) == uninterrupted
    assert not (loop.provider / "unfinished" / "train-head").exists()


def test_what_was_cut_does_not_go_on_with_other_inputs(loop: Loop) -> None:
    opened, at = workspaces.open_workspace(loop.provider), ("--workspace", loop.provider)
    interrupted(lambda: head_of(opened, cut_in("head (", 12)))
    before = snapshot(loop.provider / "unfinished")
    command = ("train-head", "--resume", "--epochs", CONFIG.epochs)
    refused(provider(*command, "--seed", 1, "--defence", "none", *at), 2, "got other defence, seed;")
    refused(provider(*command, "--no-public", *at), 2, "got other own notes, with_public;")
    assert snapshot(loop.provider / "unfinished") == before
    # With other shares it could not go on either: what it has learned from the one that was taken back goes with that.
    done(provider("shares", "withdraw", shares(loop), "--name", "A", "--reason", "asked", *at))
    assert not (loop.provider / "unfinished" / "train-head").exists()
    refused(provider(*command, *at), 20, "found none")


def shares(loop: Loop) -> str:
    import json

    listed = json.loads(provider("shares", "list", "--json", "--workspace", loop.provider).stdout)
    return str(listed["shares"][0]["digest"])


def test_words_that_were_cut_end_in_the_same_bits(workspace: Workspace) -> None:
    settings = FastTextSettings(dim=8, epochs=3, min_count=1, buckets=50)

    def train(watch: Watch = lambda *told: None, resume: bool = False) -> str:
        texts = [note.text for note in tiny_notes(20, 1, "public")]
        return embeddings.train(workspace, texts, settings, 5, watch, resume=resume).digest

    whole = train()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embeddings, "save_vectors", ended)
        interrupted(train)
    assert train(resume=True) == whole
    assert not (workspace.root / "unfinished" / "train-embeddings").exists()


def test_a_language_model_that_was_cut_ends_in_the_same_bits(workspace: Workspace) -> None:
    settings = LanguageSettings(units=6, epochs=3, outputs=30)

    def train(watch: Watch = lambda *told: None, resume: bool = False) -> dict[str, str]:
        texts = [note.text for note in tiny_notes(12, 1, "public")]
        language.train(workspace, texts, settings, 5, watch, resume=resume)
        assert load_language_model(workspace.language_model).config.units == 6
        return snapshot(workspace.language_model)

    whole = train()
    assert {Path(name).name for name in whole} == {"language.safetensors", "language.json", "training.json"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "save_language_model", ended)
        interrupted(train)
    assert train(resume=True) == whole
    assert not (workspace.root / "unfinished" / "train-lm").exists()


def ended(*given: object, **named: object) -> None:
    raise KeyboardInterrupt


def test_a_representer_that_was_cut_ends_in_the_same_bits(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)
    vectors = load_vectors(opened.embeddings)

    def train(watch: Watch = lambda *told: None, notes: int = 24, resume: bool = False) -> dict[str, str]:
        material = PublicMaterial(list(tiny_notes(notes, 0, "public")), vectors)
        options = RepresenterOptions("invariance", neighbours=4, dim=8, preset="quick")
        train_representer(opened, material, options, watch, resume=resume)
        # The provider's own notes are encoded with fresh noise.
        made = {Path(name).name: digest for name, digest in snapshot(opened.representer).items()}
        return {name: digest for name, digest in made.items() if name != "public.parquet"}

    whole = train()
    interrupted(lambda: train(cut_in("your own notes")))
    with pytest.raises(ConfigurationError, match="of other notes or settings"):
        train(notes=23, resume=True)
    assert train(resume=True) == whole


def test_there_must_be_something_to_go_on_with(loop: Loop) -> None:
    for command in (
        ("train-head",),
        ("train-repr", "--corpus", loop.notes("public")),
        ("train-embeddings", loop.notes("public")),
    ):
        refused(provider(*command, "--resume", "--workspace", loop.provider), 20, "found none; run it without --resume")


def test_who_begins_anew_is_told_what_is_given_up(workspace: Workspace) -> None:
    told: list[str] = []

    def keep(resume: bool, inputs: Mapping[str, object] = INPUTS) -> None:
        with keep_unfinished(workspace, "train-head", inputs, resume=resume, tell=told.append) as folder:
            assert [path.name for path in folder.iterdir()] == ["inputs.json"]
            (folder / "checkpoint").touch()
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            keep(resume=False)
    assert len(told) == 1
    assert "begins anew" in told[0]


def test_two_at_once_do_not_mix(workspace: Workspace) -> None:
    (workspace.root / "unfinished").mkdir()
    number = COMMANDS.index("train-head")
    with lock_number(workspace.root / "unfinished" / "lock", number):
        with pytest.raises(StorageError, match="wait until it has ended"):
            keep_unfinished(workspace, "train-head", INPUTS, resume=False).__enter__()
        with keep_unfinished(workspace, "train-repr", INPUTS, resume=False):
            pass


def cut(checkpoint: Path) -> None:
    checkpoint.touch()
    raise KeyboardInterrupt


def fill_disk(folder: Path) -> None:
    folder.mkdir()
    raise StorageError("room", received="a full disk")


def test_what_is_left_of_another_version_is_not_gone_on_with(workspace: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt), keep_unfinished(workspace, "train-head", INPUTS, resume=False) as kept:
        cut(kept / "head.pt")
    path = workspace.root / "unfinished" / "train-head" / "inputs.json"
    path.write_text(path.read_text().replace('"torch": "', '"torch": "1.'))
    with pytest.raises(ConfigurationError, match="got other software"):
        keep_unfinished(workspace, "train-head", INPUTS, resume=True).__enter__()
    path.write_text("{")
    with pytest.raises(WorkspaceError, match="without --resume"):
        keep_unfinished(workspace, "train-head", INPUTS, resume=True).__enter__()


@pytest.mark.parametrize("all_of_them", [True, False])
def test_a_training_whose_folder_somebody_removed_has_ended_well_all_the_same(
    all_of_them: bool, workspace: Workspace
) -> None:
    with keep_unfinished(workspace, "train-head", INPUTS, resume=False) as kept:
        rmtree(kept.parent if all_of_them else kept)
    assert not kept.exists()


def test_a_training_that_failed_ahead_of_its_first_checkpoint_leaves_nothing(workspace: Workspace) -> None:
    with pytest.raises(StorageError), keep_unfinished(workspace, "train-head", INPUTS, resume=False) as kept:
        fill_disk(kept / "head")
    assert not kept.exists()


def test_a_head_says_all_its_phases_at_once(told: tuple[dict[str, str], list[str]]) -> None:
    names = ["head", *(f"operating points, {site} left out" for site in ("(public notes)", "north", "south"))]
    names += ["head of your own notes alone", "scores of each site", "influence, all sites"]
    names += ["influence, without north", "influence, without south", "the last release's head"]
    assert told[1] == [f"{name} ({number} of 10)" for number, name in enumerate(names, 1)]
    assert head.HeadOptions().influence == InfluenceMode.FAST
