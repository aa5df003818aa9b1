"""The gate before a release: what is published has passed an audit of the very representer."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from aggregator.auditing import audit as audits
from aggregator.auditing.result import NOT_SHOWN
from aggregator.errors import WorkspaceError
from aggregator.publishing.audit_gate import PAGE, RECORD
from aggregator.publishing.releases import representer_digest
from aggregator.registry import audit_log
from aggregator.workspace import Workspace, create, open_workspace
from protocols.canonical import Json
from shared.corpus import read_corpus
from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.audit import Audit, run_audit
from shared.privacy.policy import load_policy
from shared.report import plots
from tests.audited import POLICY, policy, quick_takes_seconds
from tests.loop import Loop, audit, done, provider, refused, snapshot, values
from tests.tiny_notes import phi_strings

HARD = '[[limit]]\nattack = "white box"\nmeasure = "Bayes accuracy"\nwhy = "nobody can"\nmost = 0.1\n'


def record_path(loop: Loop) -> Path:
    return loop.provider / "audit" / RECORD


def record(loop: Loop) -> dict[str, object]:
    found: dict[str, object] = json.loads(record_path(loop).read_text())
    return found


def logged(loop: Loop) -> list[dict[str, Json]]:
    """What the registry knows of audits."""
    with open_workspace(loop.provider).registry().reading() as session:
        return [json.loads(one.details) for one in audit_log.events(session) if one.action == "representer-audited"]


def card(loop: Loop) -> str:
    """The model card of the newest release."""
    return sorted((loop.provider / "releases").rglob("*MODEL_CARD.md"))[-1].read_text()


def publish(loop: Loop) -> Result:
    return provider("publish", "--workspace", loop.provider)


def retrained(loop: Loop) -> None:
    command = ("train-repr", "--corpus", loop.notes("public"), "--cluster-size", 9, "--dim", 8)
    done(provider(*command, "--workspace", loop.provider))


@pytest.fixture(scope="module")
def built_loop(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """The loop with what its audit really found."""
    loop = Loop(Path(shutil.copytree(built_loop.root, tmp_path_factory.mktemp("attacked") / "loop")))
    shutil.move(record_path(loop), loop.root / "published.json")
    shutil.copy(loop.found, record_path(loop))
    return loop


@pytest.fixture(autouse=True)
def undrawn(built_loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plots are those of the loop's own page: drawing them anew takes half as long as all attacks on tiny notes."""
    monkeypatch.setattr(plots, "svg", lambda width, height, draw: "<svg></svg>")


_FOUND: list[Audit] = []


@pytest.fixture
def attacked_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Audit]:
    """For tests of what becomes of findings, whatever they are: those of the first attacks are found every time."""

    def found(*arguments: Any, **options: Any) -> Audit:
        if not _FOUND:
            _FOUND.append(run_audit(*arguments, **options))
        return _FOUND[0]

    monkeypatch.setattr(audits, "run_audit", found)
    return found


class TestWithTheTraining:
    @staticmethod
    def train(loop: Loop, limits: Path) -> Result:
        command = ("train-repr", "--corpus", loop.notes("public"), "--cluster-size", 9, "--dim", 8, "--audit", "quick")
        with quick_takes_seconds():
            return provider(*command, "--policy", limits, "--workspace", loop.provider)

    def test_the_representer_is_attacked_as_soon_as_it_is_made(self, loop: Loop, tmp_path: Path) -> None:
        result = done(self.train(loop, policy(tmp_path / "policy.toml")))
        assert "The representer passes its audit" in result.stdout
        assert record(loop)["representer"] == representer_digest(open_workspace(loop.provider))
        done(publish(loop))

    @pytest.mark.usefixtures("attacked_once")
    def test_one_that_fails_ends_it_with_its_code_and_stays_unpublished(self, loop: Loop, tmp_path: Path) -> None:
        limits = tmp_path / "hard.toml"
        limits.write_text(HARD)
        refused(self.train(loop, limits), 22, "white box")
        refused(publish(loop), 22, "white box")


class TestRecord:
    def test_it_names_what_was_attacked_and_under_which_limits(self, built_loop: Loop) -> None:
        found = record(built_loop)
        assert found["passed"] is True
        assert found["preset"] == "quick"
        assert found["representer"] == representer_digest(open_workspace(built_loop.provider))
        verdicts = found["verdicts"]
        assert isinstance(verdicts, list)
        assert [(one["attack"], one["most"], one["above_baseline"], one["trials"]) for one in verdicts] == [
            ("white box", 0.52, None, 1),
            ("match", None, 0.005, 10),
        ]
        assert all(one["findings"] and one["passed"] and not one["skipped"] for one in verdicts)

    def test_every_figure_tells_what_it_rests_on(self, built_loop: Loop) -> None:
        findings = record(built_loop)["findings"]
        assert isinstance(findings, list)
        assert len({one["attack"] for one in findings}) > 6
        for one in findings:
            assert one["knowledge"]
            low, high = one["interval"]
            assert (
                low <= one["value"] <= high or one["trials"] == 0 or one["unit"] or one["value"] == pytest.approx(low)
            )
            assert one["trials"] >= 0

    @pytest.mark.parametrize("name", [RECORD, PAGE])
    def test_it_holds_no_word_of_a_note(self, name: str, built_loop: Loop) -> None:
        text = (built_loop.provider / "audit" / name).read_text()
        notes = list(read_corpus(built_loop.notes("public")))
        assert not [word for word in phi_strings(notes) if word in text]
        assert not [word for word in ("swollen", "ankles", "cough", "rest.") if re.search(rf"\b{word}\b", text)]

    def test_another_seed_is_another_audit(self, loop: Loop) -> None:
        before = record(loop)["findings"]
        done(audit(loop, "--seed", 1))
        found = record(loop)
        assert found["settings"]["seed"] == 1  # type: ignore[index]
        assert found["findings"] != before

    @pytest.mark.usefixtures("attacked_once")
    def test_json_of_the_command_is_the_record(self, loop: Loop) -> None:
        assert values(audit(loop, "--json")) == record(loop)

    def test_it_names_all_that_it_depends_on(self, built_loop: Loop) -> None:
        found = record(built_loop)
        assert found["seed"] == 0
        assert found["policy"] == {
            "name": "policy.toml",
            "digest": hashlib.sha256(POLICY.encode()).hexdigest(),
            "ours": False,
        }
        inputs = found["inputs"]
        assert isinstance(inputs, dict)
        assert inputs.keys() == {"representer", "notes", "vectors", "names"}
        assert all(re.fullmatch(r"[0-9a-f]{64}", str(digest)) for digest in inputs.values())
        assert len(set(inputs.values())) == 4
        assert found["software"]["deid-commons"]  # type: ignore[index]

    def test_it_has_the_verdict_in_words_and_what_it_does_not_show(self, built_loop: Loop) -> None:
        found = record(built_loop)
        assert str(found["verdict"]).startswith("The representer passes its audit")
        assert found["not_shown"] == list(NOT_SHOWN)
        page = html.unescape((built_loop.provider / "audit" / PAGE).read_text())
        for line in (found["verdict"], *NOT_SHOWN, *found["caveats"]):  # type: ignore[misc]
            assert str(line) in page

    @pytest.mark.usefixtures("attacked_once")
    def test_it_says_that_the_notes_trained_what_they_are_attacked_with(self, loop: Loop) -> None:
        assert record(loop)["attacked_notes_trained_on"] > 0  # type: ignore[operator]
        assert "trained on, which flatters" in str(record(loop)["caveats"])
        north = ("audit", "--corpus", loop.notes("north"), "--policy", policy(loop.root / "policy.toml"))
        with quick_takes_seconds():
            shown = provider(*north, "--workspace", loop.provider).stdout
        assert record(loop)["attacked_notes_trained_on"] == 0
        assert "trained on" not in shown


@pytest.mark.usefixtures("attacked_once")
class TestRepeats:
    def test_every_audit_is_in_the_log(self, loop: Loop) -> None:
        (first,) = logged(loop)
        assert first == {
            "representer": representer_digest(open_workspace(loop.provider)),
            "preset": "quick",
            "seed": 0,
            "passed": True,
            "policy": hashlib.sha256(POLICY.encode()).hexdigest(),
        }
        assert record(loop)["number"] == 1
        shown = audit(loop, "--seed", 7).stdout
        assert "audit number 2 of this representer" in shown
        assert record(loop)["number"] == 2
        assert logged(loop)[1] == first | {"seed": 7}
        assert "audit number 2" in done(publish(loop)).stdout

    def test_one_that_failed_counts_and_one_of_another_representer_does_not(self, loop: Loop, tmp_path: Path) -> None:
        (tmp_path / "hard.toml").write_text(HARD)
        audit(loop, "--policy", tmp_path / "hard.toml")
        assert logged(loop)[1]["passed"] is False
        retrained(loop)
        done(audit(loop))
        assert record(loop)["number"] == 1


@pytest.mark.usefixtures("attacked_once")
class TestPage:
    def test_it_renders(self, built_loop: Loop) -> None:
        page = (built_loop.provider / "audit" / PAGE).read_text()
        assert "passes" in page
        assert "does NOT pass" not in page
        assert "does not depend on" in page
        assert page.count("<svg") == 4
        assert page.rstrip().endswith("</html>")
        assert "{{" not in page
        assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).lower().split()

    def test_every_figure_stands_under_what_its_attacker_has(self, built_loop: Loop) -> None:
        page = html.unescape((built_loop.provider / "audit" / PAGE).read_text())
        findings = record(built_loop)["findings"]
        assert isinstance(findings, list)
        for one in findings:
            block = page[: page.index(f">{one['measure']}</td>", page.index("Every figure"))].rpartition(
                "by an attacker who has: "
            )[2]
            assert any(block.startswith(other["knowledge"]) for other in findings if other["measure"] == one["measure"])
        casing = "the list, and the casing class of the true word"
        assert f"by an attacker who has: {casing}; seed" in page

    def test_it_says_how_to_repeat_it(self, built_loop: Loop) -> None:
        page = (built_loop.provider / "audit" / PAGE).read_text()
        assert "--corpus NOTES --embeddings VECTORS --preset quick --seed 0 --policy policy.toml" in page
        inputs = record(built_loop)["inputs"]
        assert isinstance(inputs, dict)
        assert all(digest in page for digest in inputs.values())

    def test_it_says_that_a_limit_is_broken(self, loop: Loop, tmp_path: Path) -> None:
        (tmp_path / "hard.toml").write_text(HARD)
        audit(loop, "--policy", tmp_path / "hard.toml")
        page = (loop.provider / "audit" / PAGE).read_text()
        assert "does NOT pass" in page
        assert "FAIL" in page


@pytest.mark.usefixtures("attacked_once")
class TestGate:
    def test_without_an_audit_nothing_is_published(self, loop: Loop) -> None:
        record_path(loop).unlink()
        before = snapshot(loop.provider)
        refused(publish(loop), 22, "aggregator audit")
        refused(provider("release", "--workspace", loop.provider), 22, "aggregator audit")
        assert snapshot(loop.provider) == before

    def test_an_audit_of_another_representer_does_not_count(self, loop: Loop) -> None:
        retrained(loop)
        before = snapshot(loop.provider)
        refused(publish(loop), 22, "another representer")
        refused(provider("release", "--workspace", loop.provider), 22, "another representer")
        assert snapshot(loop.provider) == before

    def test_any_file_that_decides_a_representation_counts(self, loop: Loop) -> None:
        path = loop.provider / "representer" / "surrogates.json"
        path.write_text(path.read_text() + " ")
        refused(publish(loop), 22, "another representer")

    def test_a_failed_audit_ends_with_its_own_code_and_stops_publishing(self, loop: Loop, tmp_path: Path) -> None:
        (tmp_path / "hard.toml").write_text(POLICY + HARD)
        result = audit(loop, "--policy", tmp_path / "hard.toml")
        refused(result, 22, "did not pass", "white box")
        assert "FAIL" in result.stdout
        assert "does NOT pass" in result.stdout
        assert record(loop)["passed"] is False
        before = snapshot(loop.provider)
        refused(publish(loop), 22, "did not pass")
        assert snapshot(loop.provider) == before

    @pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"format": 1}', "[" * 3000, b"\xff".decode("latin-1")])
    def test_a_damaged_record_does_not_count(self, text: str, loop: Loop) -> None:
        record_path(loop).write_text(text)
        refused(publish(loop), 22, "aggregator audit")

    @pytest.mark.parametrize(
        "change",
        [
            {"passed": 1},
            {"passed": "yes"},
            {"passed": False},
            {"verdicts": []},
            {"format": 1},
            {"representer": None},
            {"caveats": None},
            {"policy": "ours"},
        ],
    )
    def test_neither_does_a_record_that_says_no(self, change: dict[str, object], loop: Loop) -> None:
        record_path(loop).write_text(json.dumps(record(loop) | change))
        refused(publish(loop), 22)

    def test_one_broken_limit_outweighs_the_verdict(self, loop: Loop) -> None:
        found = record(loop)
        found["verdicts"][0]["passed"] = False  # type: ignore[index]
        record_path(loop).write_text(json.dumps(found))
        refused(publish(loop), 22, "white box")

    def test_an_interrupted_audit_leaves_the_earlier(self, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
        before = snapshot(loop.provider / "audit")

        def stopped(*arguments: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(audits, "write_page", stopped)
        assert audit(loop).exit_code == 130
        assert snapshot(loop.provider / "audit") == before
        # Whoever saw a verdict and stopped is in the log all the same.
        assert len(logged(loop)) == 2

    def test_a_representer_that_is_replaced_meanwhile_gets_no_record(
        self, attacked_once: Callable[..., Audit], loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = snapshot(loop.provider / "audit")

        def slow(*arguments: Any, **options: Any) -> Audit:
            found = attacked_once(*arguments, **options)
            retrained(loop)
            return found

        monkeypatch.setattr(audits, "run_audit", slow)
        refused(audit(loop), 22, "replaced")
        assert snapshot(loop.provider / "audit") == before
        refused(publish(loop), 22, "another representer")

    def test_a_representer_that_is_replaced_while_it_is_published_is_not_signed(
        self, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        passed = audits.require_passed

        def slow(workspace: Workspace, **asked: bool) -> list[str]:
            found = passed(workspace, **asked)
            retrained(loop)
            return found

        monkeypatch.setattr(audits, "require_passed", slow)
        before = snapshot(loop.provider / "releases")
        refused(publish(loop), 22, "another representer")
        assert snapshot(loop.provider / "releases") == before


class TestReleases:
    def test_the_terminal_and_the_card_say_what_the_audit_was(self, loop: Loop) -> None:
        shown = done(publish(loop)).stdout
        for text in (shown, card(loop)):
            assert "preset quick" in text
            assert "NOT the project's own" in text
            assert "quick audit, not tried: match among 10,000 candidates, membership" in text
            assert "trained on, which flatters" in text

    def test_our_policy_is_called_ours(self, loop: Loop) -> None:
        found = record(loop)
        ours = load_policy()
        found["policy"] = {"name": ours.name, "digest": ours.digest, "ours": ours.ours}
        record_path(loop).write_text(json.dumps(found))
        assert "policy policy.toml (the project's own, SHA-256 " in done(publish(loop)).stdout
        assert "(the project's own, SHA-256 " in card(loop)

    @pytest.mark.parametrize("kind", ["representer", "pipeline"])
    def test_a_release_carries_its_audit(self, kind: str, built_loop: Loop) -> None:
        release = {"representer": "0001-representer", "pipeline": "0002-pipeline"}[kind]
        listed = json.loads(built_loop.target(f"{release}/release.json").read_text())
        for name, source in ((RECORD, "published.json"), (PAGE, f"provider/audit/{PAGE}")):
            carried = built_loop.target(f"{release}/{name}").read_bytes()
            assert carried == (built_loop.root / source).read_bytes()
            assert f'"{name}"' in json.dumps(listed)

    def test_and_a_hospital_gets_it(self, built_loop: Loop) -> None:
        for site, release in (("north", "0001-representer"), ("fourth", "0002-pipeline")):
            pulled = built_loop.site(site) / "releases" / release
            assert (pulled / RECORD).read_bytes() == (built_loop.root / "published.json").read_bytes()
            assert (pulled / PAGE).exists()


class TestUse:
    def test_an_unknown_preset(self, built_loop: Loop) -> None:
        opened = open_workspace(built_loop.provider)
        with pytest.raises(ConfigurationError, match="preset"):
            audits.audit(opened, [], None, load_policy(), "slow")  # type: ignore[arg-type]

    def test_there_must_be_a_representer(self, tmp_path: Path) -> None:
        with pytest.raises(WorkspaceError, match="train-repr"):
            audits.audit(create(tmp_path, "p", "i2b2_2014"), [], None, load_policy(), "quick")  # type: ignore[arg-type]
        with pytest.raises(WorkspaceError, match="train-repr"):
            audits.require_passed(open_workspace(tmp_path))

    def test_too_few_notes(self, loop: Loop) -> None:
        for path in sorted(loop.notes("public").iterdir())[4:]:
            path.unlink()
        refused(audit(loop), 2, "notes")

    def test_labels_and_texts_decide_the_digest_of_notes_and_their_order_does_not(self, built_loop: Loop) -> None:
        notes = list(read_corpus(built_loop.notes("public")))

        def digest(some: list[Document]) -> str:
            return audits._digest(map(audits._labelled, some))

        unlabelled = [Document(notes[0].identifier, notes[0].text), *notes[1:]]
        renamed = [Document("other", notes[0].text, notes[0].annotations), *notes[1:]]
        assert digest(notes) == digest(notes[::-1]) == digest(renamed)
        assert len({digest(notes), digest(unlabelled), digest(notes[1:])}) == 3

    def test_copies_of_a_note_are_on_one_side(self, built_loop: Loop) -> None:
        notes = list(read_corpus(built_loop.notes("public")))
        known, target = audits._sides([*notes, *reversed(notes)])
        assert known
        assert target
        assert not {note.text for note in known} & {note.text for note in target}
        assert len(known) + len(target) == 2 * len(notes)
        assert {note.text for note in audits._sides(notes)[1]} == {note.text for note in target}

    @pytest.mark.parametrize(("count", "least", "most"), [(10, 4, 7), (60, 24, 30), (400, 90, 150)])
    def test_of_few_notes_enough_for_a_share_are_attacked(self, count: int, least: int, most: int) -> None:
        for seed in range(8):
            notes = [Document(str(number), f"{seed} {number}") for number in range(count)]
            assert least <= len(audits._sides(notes)[1]) <= most
