"""The whole loop by the ordinary commands, over files; and every way in which it must refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aggregator.publishing.releases import representer_digest
from aggregator.workspace import open_workspace
from protocols.payload.opening import open_payload
from shared.corpus import read_corpus
from tests.audited import write_audit
from tests.loop import (
    Loop,
    begin,
    but_for_what_was_seen,
    done,
    enrol,
    forget,
    forget_shares,
    hospital,
    provider,
    refused,
    share,
    snapshot,
    values,
)
from tests.tiny_notes import phi_strings

# What each site does to the others is measured once, in the loop itself.
ONE_PASS = ("train-head", "--epochs", 1, "--influence", "none", "--no-operating-points")
UNKNOWN_KEY = "0000-0000-0000-0000-0000-0000-0000-0000"


def at_provider(loop: Loop) -> tuple[str, Path]:
    return ("--workspace", loop.provider)


def at_site(loop: Loop, name: str) -> tuple[str, Path]:
    return ("--workspace", loop.site(name))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)


class TestTheLoop:
    def test_the_pipeline_finds_phi_of_a_hospital_that_shared_nothing(self, built_loop: Loop) -> None:
        found = values(hospital("evaluate", built_loop.notes("fourth"), "--json", *at_site(built_loop, "fourth")))
        assert found["blocks"]["Token binary"]["f1"] > 0.9
        assert found["quarantined"] == 0

    def test_the_pool_holds_every_site_and_the_public_notes(self, built_loop: Loop) -> None:
        record = json.loads((built_loop.provider / "head" / "training.json").read_text())
        assert [row["site"] for row in record["sites"]] == ["(public notes)", "north", "south"]
        assert record["left_out"] == 0
        shares = values(provider("shares", "list", "--json", *at_provider(built_loop)))["shares"]
        assert [(row["site"], row["sequence"]) for row in shares] == [("north", 1), ("south", 1)]
        sizes = {row["site"]: row["tokens"] for row in shares}
        with open_payload(built_loop.provider / "representer" / "public.parquet") as public:
            total = sum(sizes.values()) + public.tokens
        scored = sum(row["tokens"] for row in record["sites"])
        # Half of the sentences without PHI sit out a pass, and nothing else does.
        assert (total - scored) / 2 < record["tokens"] < total - scored
        assert 0.05 < scored / total < 0.2

    def test_every_record_is_strict_json(self, built_loop: Loop) -> None:
        for path in built_loop.provider.rglob("*.json"):
            json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} in a JSON file"))

    @pytest.mark.parametrize("form", ["brat", "txt"])
    def test_redacted_notes_hold_no_phi_of_labelled_notes(self, form: str, built_loop: Loop, tmp_path: Path) -> None:
        gold = list(read_corpus(built_loop.notes("fourth")))
        out = tmp_path / "safe"
        done(hospital("deid", built_loop.notes("fourth"), "--out", out, *at_site(built_loop, "fourth")))
        files = sorted(out.iterdir())
        assert [path.stem for path in files] == [document.identifier for document in gold]
        for path, document in zip(files, gold, strict=True):
            text = path.read_text()
            assert not [word for word in phi_strings([document]) if word in text]
            assert "[PATIENT]" in text
            assert "advised rest" in text

    def test_tagged_notes_keep_their_text(self, built_loop: Loop, tmp_path: Path) -> None:
        out = tmp_path / "tagged"
        done(
            hospital("deid", built_loop.notes("fourth"), "--out", out, "--mode", "tag", *at_site(built_loop, "fourth"))
        )
        tagged, gold = read_corpus(out), read_corpus(built_loop.notes("fourth"))
        texts = {document.identifier: document.text for document in gold}
        found = list(tagged)
        assert {document.identifier: document.text for document in found} == texts
        assert sum(len(document.annotations) for document in found) > 4 * len(found)

    def test_workspaces_may_be_moved_and_copied(self, loop: Loop, tmp_path: Path) -> None:
        moved = Loop(tmp_path / "elsewhere")
        shutil.move(loop.root, moved.root)
        done(provider("shares", "list", *at_provider(moved)))
        done(provider(*ONE_PASS, *at_provider(moved)))
        # After a single pass.
        done(provider("release", "--accept-drop", "--approver", "A. Weiss", *at_provider(moved)))
        done(hospital("pull", moved.releases, *at_site(moved, "north")))
        done(hospital("deid", moved.notes("north"), "--out", tmp_path / "safe", *at_site(moved, "north")))
        share(moved, "south")

    def test_a_head_of_one_site_alone(self, loop: Loop) -> None:
        summary = values(provider(*ONE_PASS, "--site", "north", "--no-public", "--json", *at_provider(loop)))
        assert [row["site"] for row in summary["sites"]] == ["north"]
        refused(provider("train-head", "--site", "nowhere", *at_provider(loop)), 21, "nowhere")

    def test_the_share_is_verified_and_searched(self, built_loop: Loop) -> None:
        found = values(
            hospital(
                "inspect",
                built_loop.root / "north.parquet",
                "--notes",
                built_loop.notes("north"),
                "--json",
                *at_site(built_loop, "north"),
            )
        )
        gold = list(read_corpus(built_loop.notes("north")))
        assert set(found["phi_tokens"]) == {span.category for note in gold for span in note.annotations}
        assert found["searched"]["stretches"] > 10


class TestShares:
    def listed(self, loop: Loop) -> list[tuple[str, int, str]]:
        rows = values(provider("shares", "list", "--json", *at_provider(loop)))["shares"]
        return [(row["site"], row["sequence"], row["state"]) for row in rows]

    def test_a_share_sent_again_gets_the_same_receipt(self, loop: Loop) -> None:
        receipt = loop.submitted("north").with_suffix(".receipt.json")
        before = receipt.read_bytes()
        receipt.unlink()
        done(provider("ingest", loop.submitted("north"), *at_provider(loop)))
        assert receipt.read_bytes() == before
        assert self.listed(loop) == [("north", 1, "accepted"), ("south", 1, "accepted")]

    def test_a_sequence_number_used_twice_is_a_conflict_and_an_alarm(self, loop: Loop) -> None:
        # The hospital's own program counts on from what ledger and known notes tell, too.
        settings = loop.site("north") / "site.json"
        settings.write_text(settings.read_text().replace('"sequence": 1', '"sequence": 0'))
        forget_shares(loop.site("north"))
        forget(loop.site("north"))
        loop.submitted("north").unlink()
        again = share(loop, "north")
        refused(provider("ingest", again, *at_provider(loop)), 16, "share 1 of north")
        [alarm] = values(provider("alarms", "list", "--json", *at_provider(loop)))["alarms"]
        assert (alarm["site"], alarm["kind"]) == ("north", "conflict")
        seen = provider("alarms", "acknowledge", alarm["id"], "--name", "A. Weiss", "--json", *at_provider(loop))
        assert values(seen) == {"alarm": alarm["id"]}
        assert done(provider("alarms", "list", *at_provider(loop))).stdout == "no alarms\n"

    def test_a_damaged_share_does_not_hold_up_the_others(self, loop: Loop) -> None:
        bad, good = share(loop, "north"), share(loop, "south")
        flip(bad, -1)
        result = provider("ingest", bad, good, *at_provider(loop))
        refused(result, 13)
        assert "south share 2: accepted" in result.stdout
        assert ("south", 2, "accepted") in self.listed(loop)

    def test_a_share_of_a_revoked_site_is_refused(self, loop: Loop) -> None:
        fresh = share(loop, "north")
        done(provider("site", "revoke", "north", "--reason", "key lost", *at_provider(loop)))
        refused(provider("ingest", fresh, *at_provider(loop)), 12, "one of a site that was revoked")
        assert len(self.listed(loop)) == 2
        rows = values(provider("site", "list", "--json", *at_provider(loop)))["sites"]
        assert [(row["site"], row["revoked"]) for row in rows] == [("north", "key lost"), ("south", None)]

    def test_a_share_that_another_site_signed_is_refused(self, loop: Loop) -> None:
        fresh = share(loop, "north")
        fresh.write_bytes(fresh.read_bytes().replace(b'"site":"north"', b'"site":"south"'))
        refused(provider("ingest", fresh, *at_provider(loop)), 12)

    def test_a_truncated_share_is_refused(self, loop: Loop) -> None:
        fresh = share(loop, "north")
        fresh.write_bytes(fresh.read_bytes()[:-100])
        refused(provider("ingest", fresh, *at_provider(loop)), 13, "bytes")
        assert len(self.listed(loop)) == 2

    def test_a_site_takes_its_share_back_and_the_next_head_does_without_it(self, loop: Loop) -> None:
        stick = loop.root / "back"
        done(hospital("withdraw", 1, "--reason", "asked", "--to-folder", stick, *at_site(loop, "north")))
        done(provider("ingest", stick, *at_provider(loop)))
        assert self.listed(loop) == [("north", 1, "withdrawn"), ("south", 1, "accepted")]
        shown = values(provider("shares", "list", "--state", "withdrawn", "--json", *at_provider(loop)))["shares"][0]
        found = values(provider("shares", "show", shown["bundle"], "--json", *at_provider(loop)))
        assert found["releases"] == ["0002-pipeline"]
        refused(provider("release", *at_provider(loop)), 20, "withdrawn")
        summary = values(provider(*ONE_PASS, "--json", *at_provider(loop)))
        assert [row["site"] for row in summary["shares"]] == ["south"]
        # One pass over half of the notes finds nothing, which half of the notes less does not account for.
        refused(provider("release", *at_provider(loop)), 25, "does not account for it")
        done(provider("release", "--accept-drop", "--approver", "D. Engel", *at_provider(loop)))

    def test_a_share_made_with_another_release_is_refused(self, loop: Loop) -> None:
        fresh = share(loop, "north")
        done(
            provider(
                "train-repr",
                "--corpus",
                loop.notes("public"),
                "--cluster-size",
                9,
                "--dim",
                8,
                *at_provider(loop),
            )
        )
        refused(provider("publish", *at_provider(loop)), 22, "audit")
        write_audit(loop.provider / "audit", representer_digest(open_workspace(loop.provider)))
        done(provider("publish", *at_provider(loop)))
        result = provider("ingest", fresh, *at_provider(loop))
        refused(result, 24)
        assert "release" in result.stdout
        assert ("north", 2, "rejected") in self.listed(loop)
        # What came in with the representer before has no place in the pool of this one, though its size is the same.
        summary = values(provider(*ONE_PASS, "--json", *at_provider(loop)))
        assert summary["left_out"] == 2
        assert [row["site"] for row in summary["sites"]] == ["(public notes)"]
        refused(provider("train-head", "--site", "north", *at_provider(loop)), 21)

    def test_the_head_of_another_representer_is_not_released(self, loop: Loop) -> None:
        done(
            provider(
                "train-repr",
                "--corpus",
                loop.notes("public"),
                "--cluster-size",
                10,
                "--dim",
                8,
                *at_provider(loop),
            )
        )
        refused(provider("release", *at_provider(loop)), 22, "audit")
        write_audit(loop.provider / "audit", representer_digest(open_workspace(loop.provider)))
        refused(provider("release", *at_provider(loop)), 20, "another representer")
        assert not list((loop.releases / "targets").glob("0003-*"))

    def test_a_share_submitted_again_is_the_same_file(self, loop: Loop) -> None:
        before = snapshot(loop.stick)
        done(hospital("submit", loop.root / "north.parquet", "--to-folder", loop.stick, *at_site(loop, "north")))
        assert snapshot(loop.stick) == before

    def test_a_site_submits_its_own_shares_only(self, loop: Loop, tmp_path: Path) -> None:
        stick = tmp_path / "stick"
        way = ("--approver", "Dr Ünal", "--to-folder", stick)
        refused(hospital("submit", loop.root / "north.parquet", *way, *at_site(loop, "south")), 12)
        assert not stick.exists()


class TestReleases:
    def test_the_first_pull_needs_the_right_fingerprint(self, loop: Loop) -> None:
        begin(loop, "fifth")
        before = snapshot(loop.site("fifth"))
        pull = ("pull", loop.releases, *at_site(loop, "fifth"))
        refused(hospital(*pull), 30, "fingerprint", "none")
        refused(hospital(*pull, "--fingerprint", UNKNOWN_KEY), 30, "fingerprint", "another")
        assert snapshot(loop.site("fifth")) == before
        done(hospital(*pull, "--fingerprint", loop.fingerprint))

    def test_a_later_pull_keeps_to_the_pinned_root(self, loop: Loop, tmp_path: Path) -> None:
        before = snapshot(loop.site("north"))
        refused(hospital("pull", loop.releases, "--fingerprint", UNKNOWN_KEY, *at_site(loop, "north")), 30)
        other = values(provider("init", tmp_path / "stranger", "--json"))["fingerprint"]
        forged = tmp_path / "stranger" / "releases"
        refused(hospital("pull", forged, *at_site(loop, "north")), 12)
        refused(hospital("pull", forged, "--fingerprint", other, *at_site(loop, "north")), 30)
        assert snapshot(loop.site("north")) == before

    @pytest.mark.parametrize(
        "name", ["representer.safetensors", "head.safetensors", "scheme.json", "vocabulary.json", "release.json"]
    )
    def test_a_tampered_release_is_refused(self, name: str, loop: Loop) -> None:
        flip(loop.target(f"0002-pipeline/{name}"), -3)
        # What the hospital holds already it does not fetch again.
        shutil.rmtree(loop.site("north") / "releases" / "0001-representer")
        before = but_for_what_was_seen(loop.site("north"))
        refused(hospital("pull", loop.releases, *at_site(loop, "north")), 13)
        assert but_for_what_was_seen(loop.site("north")) == before

    def test_the_source_is_remembered(self, loop: Loop) -> None:
        done(hospital("pull", loop.releases, *at_site(loop, "north")))
        done(provider("publish", *at_provider(loop)))
        assert values(hospital("pull", "--json", *at_site(loop, "north")))["sequence"] == 3

    def test_deid_goes_on_with_the_pipeline_when_a_representer_follows(self, loop: Loop, tmp_path: Path) -> None:
        done(provider("publish", *at_provider(loop)))
        refused(provider("publish", *at_provider(loop)), 20, "release 3 holds already", "aggregator renew")
        for name in ("fourth", "north"):
            # One had the pipeline, the other sees both at once.
            found = values(hospital("pull", loop.releases, "--json", *at_site(loop, name)))
            assert (found["sequence"], found["kind"], found["pipeline"]) == (3, "representer", 2)
            assert found["remarks"] == []
        way = ("--out", tmp_path / "safe", *at_site(loop, "fourth"))
        assert "found by release 2" in done(hospital("deid", loop.notes("fourth"), *way)).stdout
        found = values(hospital("evaluate", loop.notes("fourth"), "--json", *at_site(loop, "north")))
        assert found["blocks"]["Token binary"]["f1"] > 0.9

    def test_an_older_release_is_refused(self, loop: Loop, tmp_path: Path) -> None:
        stick = shutil.copytree(loop.releases, tmp_path / "stick")
        done(provider("publish", *at_provider(loop)))
        done(hospital("pull", loop.releases, *at_site(loop, "fourth")))
        before = snapshot(loop.site("fourth"))
        refused(hospital("pull", stick, *at_site(loop, "fourth")), 12, "older")
        assert snapshot(loop.site("fourth")) == before

    def test_a_release_that_changed_in_the_workspace_is_not_used(self, loop: Loop, tmp_path: Path) -> None:
        flip(loop.site("fourth") / "releases" / "0002-pipeline" / "head.safetensors", -3)
        result = hospital("deid", loop.notes("fourth"), "--out", tmp_path / "safe", *at_site(loop, "fourth"))
        refused(result, 13)
        assert not (tmp_path / "safe").exists()

    def test_pulling_twice_changes_nothing(self, loop: Loop) -> None:
        before = snapshot(loop.site("fourth"))
        done(hospital("pull", loop.releases, *at_site(loop, "fourth")))
        after = snapshot(loop.site("fourth"))
        # The time of the last look, which a clock that was set back is known by.
        changed = {Path(name).name for name in before if after[name] != before[name]}
        assert changed <= {"trust.json"}
        assert set(after) == set(before)

    def test_a_representer_alone_does_not_deidentify(self, built_loop: Loop, tmp_path: Path) -> None:
        result = hospital("deid", built_loop.notes("north"), "--out", tmp_path / "safe", *at_site(built_loop, "north"))
        refused(result, 30, "representer")
        assert not (tmp_path / "safe").exists()


class TestSites:
    def test_a_wrong_fingerprint_is_refused(self, loop: Loop) -> None:
        done(hospital("init", loop.site("fifth"), "--site", "fifth"))
        request = loop.root / "fifth.request.json"
        done(hospital("enrol", "--out", request, *at_site(loop, "fifth")))
        before = snapshot(loop.provider)
        refused(provider("site", "add", request, "--fingerprint", UNKNOWN_KEY, *at_provider(loop)), 21)
        assert snapshot(loop.provider) == before

    def test_a_name_is_given_once(self, loop: Loop) -> None:
        before = snapshot(loop.provider)
        done(hospital("init", loop.root / "imposter", "--site", "north"))
        request = loop.root / "imposter.request.json"
        found = values(hospital("enrol", "--out", request, "--workspace", loop.root / "imposter", "--json"))
        refused(provider("site", "add", request, "--fingerprint", found["spoken"], *at_provider(loop)), 21, "already")
        assert snapshot(loop.provider) == before

    def test_a_changed_request_is_refused(self, loop: Loop) -> None:
        done(hospital("init", loop.site("fifth"), "--site", "fifth"))
        request = loop.root / "fifth.request.json"
        found = values(hospital("enrol", "--out", request, "--json", *at_site(loop, "fifth")))
        request.write_text(request.read_text().replace('"site":"fifth"', '"site":"sixth"'))
        refused(provider("site", "add", request, "--fingerprint", found["fingerprint"], *at_provider(loop)), 12)

    def test_an_enrolled_site_can_share(self, loop: Loop) -> None:
        shutil.copytree(loop.notes("fourth"), loop.notes("fifth"))
        enrol(loop, "fifth")
        done(provider("ingest", share(loop, "fifth"), *at_provider(loop)))
        rows = values(provider("shares", "list", "--json", *at_provider(loop)))["shares"]
        assert "fifth" in {row["site"] for row in rows}

    def test_an_unknown_site_is_not_revoked(self, loop: Loop) -> None:
        refused(provider("site", "revoke", "nowhere", "--reason", "x", *at_provider(loop)), 21)
