"""What an inspection says, and its page."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregator import workspace as provider_workspace
from aggregator.publishing import releases
from protocols.errors import ProtocolError
from protocols.keys.signing import REPORT_CONTEXT, SHARE_CONTEXT, PrivateKey
from protocols.payload.opening import open_payload
from protocols.share.sealing import read_manifest
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Protection
from shared.labels import LabelScheme, load_scheme
from site_client.errors import SiteError
from site_client.policy.stored import load_policy
from site_client.releases.pull import pull
from site_client.sharing.drafts import report_path
from site_client.sharing.encode_report import CategoryReport, EncodeReport, Looked, looked_lines, read_report
from site_client.sharing.inspect import attacker_lines, inspect, inspection_lines
from site_client.sharing.inspect_page import write_page
from site_client.sharing.readable.chance import Chance
from site_client.sharing.readable.side_channels import channels
from site_client.workspace import open_workspace
from tests import constructions
from tests.audited import write_audit
from tests.loop import Loop, done, hospital, refused, values
from tests.protocols.payload.blocks import make_block
from tests.site_client import sites
from tests.tiny_notes import tiny_notes, write_notes

SCHEME = LabelScheme("tiny", ("PATIENT", "DATE"))
NOTES = list(tiny_notes(24, 1, "north"))
DRAWN = Chance.stated(SCHEME, {"surrogates": 1})


def test_the_channels_are_counted_over_all_blocks() -> None:
    blocks = [make_block([3, 4, 1], seed=seed) for seed in range(4)]
    found = channels(blocks, SCHEME, DRAWN)
    tags = np.concatenate([block.tags for block in blocks])
    assert {one.name: (one.spans, one.tokens) for one in found.categories} == {
        name: (int((tags == begin).sum()), int(((tags == begin) | (tags == begin + 1)).sum()))
        for name, begin in (("PATIENT", 1), ("DATE", 3))
    }
    assert found.other.tokens == int((tags == 0).sum())
    for one in (*found.categories, found.other):
        assert sum(one.casing.values()) == one.tokens
        assert all(first >= second for first, second in pairwise(one.casing.values()))
    assert found.lengths == {1: 4, 3: 4, 4: 4}


def test_what_casing_adds_to_the_best_attacker_stands_beside_what_the_numbers_tell() -> None:
    doctor, date = CategoryReport(0.6, 0.65, 0.68, 0.7, 0.848, 9), CategoryReport(0.5, 0.5, 0.5, 0.5, None, 4)
    report = EncodeReport(Protection.NOISE, 100, True, {"DOCTOR": doctor, "DATE": date}, Looked(0.5, None, 0, 1, 0), 0)
    _, head, *lines = attacker_lines(report)
    assert head.endswith("maximum  mean with casing")
    assert [line.split() for line in lines] == [
        ["DOCTOR", "60.0%", "65.0%", "68.0%", "70.0%", "84.8%"],
        ["DATE", "50.0%", "50.0%", "50.0%", "50.0%", "-"],
    ]
    assert {len(line) for line in lines} == {len(head)}


def test_a_sentence_stands_alone_if_no_other_shows_the_same() -> None:
    block = make_block([3, 4])
    assert channels([block], SCHEME, DRAWN).alone == 2
    # The same labels and casing under other representations is the same pattern.
    other = make_block([2], seed=9)
    assert channels([block, block, other], SCHEME, DRAWN).alone == 1


def test_which_sentences_stand_alone_by_vectors_is_not_counted() -> None:
    assert channels([make_block([3, 4])], SCHEME, DRAWN).alone_in_words is None


@pytest.mark.parametrize("hides_casing", [False, True])
def test_a_guess_is_said_to_be_one_from_the_representation_alone(hides_casing: bool, tmp_path: Path) -> None:
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)], hides_casing=hides_casing)
    site = sites.site(tmp_path, sites.surrogates(bank))
    share, at = site.root / "a.parquet", ("--workspace", site.root)
    said = done(hospital("encode", write_notes(tmp_path / "notes", NOTES[:4]), "--out", share, *at)).stdout
    done(hospital("inspect", share, "--page", tmp_path / "page.html", *at))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "all that is left from the representation" in page
    for text in (said, page):
        assert ("tells a number from a word for sure" in text) != hides_casing


def test_a_share_is_said_in_words_and_numbers(built_loop: Loop) -> None:
    opened = open_workspace(built_loop.site("north"))
    found = inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), NOTES)
    assert found.manifest.site == "north"
    assert sum(one.tokens for one in found.channels.categories) == sum(found.manifest.tag_counts[1:])
    assert sum(found.channels.lengths.values()) == found.manifest.sentences
    assert found.manifest.protection["surrogates"] == 1
    assert 0 < found.format_bytes < 5000
    text = "\n".join(inspection_lines(found))
    for column in found.columns:
        assert column.name in text
        assert f"{column.bytes} bytes" in text
    assert "none stands in it as text" in text
    assert "labelled PHI is replaced by public PHI" in text
    assert f"judged by this hospital's policy {load_policy(opened).digest[:12]}: the release keeps it" in text
    counted = found.channels
    assert counted.alone_in_words is not None
    assert counted.alone <= counted.alone_in_words
    assert f"{counted.alone_in_words} of {found.manifest.sentences} sentences stand alone" in text
    assert f"{counted.alone} of them by length, labels and casing" in text
    assert "who already holds the text of such a sentence can tell that it is here" in text
    assert found.as_json()["sentences_alone_in_words"] == counted.alone_in_words


@pytest.mark.parametrize("suffix", ["parquet", "h5"])
def test_the_columns_are_all_of_the_file_but_its_format(suffix: str, loop: Loop) -> None:
    out = loop.root / f"again.{suffix}"
    done(hospital("encode", loop.notes("north"), "--out", out, "--workspace", loop.site("north")))
    found = inspect(open_workspace(loop.site("north")), out, load_scheme("i2b2_2014"), NOTES)
    with open_payload(out) as reader:
        assert sum(column.bytes for column in found.columns) + found.format_bytes == reader.file_bytes
    # HDF5 pads its columns to whole chunks.
    assert 0 < found.format_bytes < (5000 if suffix == "parquet" else 200_000)


def test_the_page_says_all_of_it(built_loop: Loop, tmp_path: Path) -> None:
    at = ("--workspace", built_loop.site("north"))
    share = built_loop.root / "north.parquet"
    command = ("inspect", share, "--notes", built_loop.notes("north"), "--page", tmp_path / "page.html", *at)
    found = values(hospital(*command, "--json"))
    page = (tmp_path / "page.html").read_text()
    assert "No text of the notes stands in the file as text" in page
    assert "the release keeps it" in page
    assert found["manifest_sha256"] in page
    for name, value in found["manifest"].items():
        assert f"<code>{name}</code>" in page
        if isinstance(value, str):
            assert value in page
    for name in found["phi_tokens"]:
        assert f"<td>{name}</td>" in page
    assert "<script" not in page
    assert "://" not in page.replace("http://www.w3.org/", "")


def test_without_notes_the_page_claims_no_search(built_loop: Loop, tmp_path: Path) -> None:
    opened = open_workspace(built_loop.site("north"))
    found = inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), None)
    page = write_page(found, tmp_path / "page.html").read_text()
    assert "was not searched" in page
    assert "No text of the notes" not in page


def test_the_report_beside_a_share_is_of_every_category(built_loop: Loop) -> None:
    share = built_loop.root / "north.parquet"
    found = read_report(share, read_manifest(share), open_workspace(built_loop.site("north")).public_keys)
    assert found is not None
    assert found.known_ahead
    counted = inspect(open_workspace(built_loop.site("north")), share, load_scheme("i2b2_2014"), None).channels
    in_notes = {name: one.tokens for name, one in found.categories.items() if name != "all"}
    shown = {one.name: one.tokens for one in counted.categories}
    assert in_notes.keys() == shown.keys()
    # Hospitals are named in as many words as public ones.
    assert {name for name in shown if shown[name] != in_notes[name]} <= {"HOSPITAL"}
    assert {(one.mean, one.p95, one.p99, one.maximum) for one in found.categories.values()} == {(0.5, 0.5, 0.5, 0.5)}


def test_the_report_does_not_leave(built_loop: Loop) -> None:
    assert report_path(built_loop.root / "north.parquet").exists()
    assert not list(built_loop.stick.glob("*report*"))


def test_without_its_report_a_share_is_inspected_all_the_same(loop: Loop, tmp_path: Path) -> None:
    share = loop.root / "north.parquet"
    report_path(share).unlink()
    found = inspect(open_workspace(loop.site("north")), share, load_scheme("i2b2_2014"), None)
    assert found.report is None
    assert found.as_json()["looked"] is None
    page = write_page(found, tmp_path / "page.html").read_text()
    assert "Figures for each category are missing" in page
    # Copied without it, a share that nothing looked at must not pass for one that was.
    said = "hether anything looked for PHI that nobody labelled is not known here"
    assert f'<div class="warning"><p>W{said}' in page
    text = "\n".join(inspection_lines(found))
    assert f"WARNING: w{said}" in text
    for shown in (text, page):
        assert "hat looked for PHI that nobody labelled is not recorded" in shown


def test_who_copies_a_share_is_told_to_copy_its_report(loop: Loop, tmp_path: Path) -> None:
    copied = shutil.copy(loop.root / "north.parquet", tmp_path)
    line = refused(hospital("inspect", copied, "--workspace", loop.site("north")), 8, "share, manifest and report")
    assert "all three files" in line


def _other_share(envelope: dict[str, Any]) -> None:
    envelope["report"]["payload_sha256"] = "ab" * 32


def _as_if_looked_at(envelope: dict[str, Any]) -> None:
    envelope["report"]["looked"] |= {"hide_above": 0.5, "pipeline": "ab" * 32, "hidden": 31}


def _signed_by_another(envelope: dict[str, Any]) -> None:
    stated, key = envelope["report"], PrivateKey.generate()
    signed = key.sign(REPORT_CONTEXT, json.dumps(stated, sort_keys=True).encode())
    envelope["signature"] = signed.to_json()


def _signed_for_another_purpose(envelope: dict[str, Any]) -> None:
    envelope["signature"]["context"] = SHARE_CONTEXT


@pytest.mark.parametrize(
    "written", ["", "[]", "{}", '{"format": 2}', '{"report": 1, "signature": 2}', "\x00", "[" * 4000]
)
def test_what_is_no_report_is_refused(written: str, loop: Loop) -> None:
    report_path(loop.root / "north.parquet").write_text(written)
    _refused_report(loop)


@pytest.mark.parametrize(
    "change",
    [
        _other_share,
        _as_if_looked_at,
        lambda envelope: envelope["report"].update(format=1),
        _signed_by_another,
        _signed_for_another_purpose,
        lambda envelope: envelope.pop("signature"),
        lambda envelope: envelope["report"].pop("looked"),
    ],
)
def test_attack_a_report_that_was_changed_does_not_stand_beside_the_share(
    change: Callable[[dict[str, Any]], object], loop: Loop
) -> None:
    path = report_path(loop.root / "north.parquet")
    envelope = json.loads(path.read_text())
    change(envelope)
    path.write_text(json.dumps(envelope))
    _refused_report(loop)


def test_attack_a_report_passes_for_one_of_an_earlier_version(loop: Loop, tmp_path: Path) -> None:
    """Those signed none: what it says of who looked is not believed, and the approver is told."""
    share = loop.root / "north.parquet"
    path = report_path(share)
    stated = json.loads(path.read_text())["report"] | {"format": 1}
    path.write_text(json.dumps(stated))
    found = inspect(open_workspace(loop.site("north")), share, load_scheme("i2b2_2014"), None)
    assert found.report is not None
    assert (found.report.looked, found.report.hidden_words, found.as_json()["looked"]) == (None, None, None)
    said = "hether anything looked for PHI that nobody labelled is not known: the report of the share"
    page = write_page(found, tmp_path / "page.html").read_text()
    assert f"WARNING: w{said}" in "\n".join(inspection_lines(found))
    assert f'<div class="warning"><p>W{said}' in page
    for other in ("ab" * 32, None):
        path.write_text(json.dumps(stated | {"payload_sha256": other}))
        _refused_report(loop)


def _refused_report(loop: Loop) -> None:
    share, site = loop.root / "north.parquet", open_workspace(loop.site("north"))
    with pytest.raises(SiteError, match="report of this share as this site signed it"):
        read_report(share, read_manifest(share), site.public_keys)
    line = refused(hospital("inspect", share, "--workspace", site.root), 30, "north.parquet.report.json")
    assert "encode the notes again, or remove it" in line


def test_the_share_of_another_site_is_not_inspected(built_loop: Loop) -> None:
    opened = open_workspace(built_loop.site("south"))
    with pytest.raises(ProtocolError):
        inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), None)


def test_a_page_tells_that_nothing_looked_for_forgotten_labels(loop: Loop, tmp_path: Path) -> None:
    site = open_workspace(loop.site("north"))
    share, notes = (
        loop.root / "b.parquet",
        write_notes(tmp_path / "notes", [*NOTES[:5], replace(NOTES[5], annotations=())]),
    )
    at = ("--workspace", site.root)
    done(hospital("encode", notes, "--out", share, "--no-check", *at))
    found = inspect(site, share, load_scheme("i2b2_2014"), None)
    assert found.report is not None
    assert found.report.looked == Looked(None, None, 0, 6, 1)
    page = write_page(found, tmp_path / "page.html").read_text()
    warning = "othing looked for PHI that nobody labelled"
    assert f"WARNING: n{warning}" in "\n".join(inspection_lines(found))
    assert re.search(rf'class="warning"[^<]*<p>N{warning}', page)
    assert "1 of 6 notes have no label" in page
    assert values(hospital("inspect", share, *at, "--json"))["looked"]["hide_above"] is None


def test_a_page_tells_that_no_pipeline_looked_and_how_sure_it_had_to_be(loop: Loop, tmp_path: Path) -> None:
    site = open_workspace(loop.site("north"))
    assert site.pipeline is None
    share = loop.root / "b.parquet"
    done(hospital("encode", loop.notes("north"), "--out", share, "--hide-above", 0.9, "--workspace", site.root))
    found = inspect(site, share, load_scheme("i2b2_2014"), None)
    text, page = "\n".join(inspection_lines(found)), write_page(found, tmp_path / "page.html").read_text()
    for said in (text, page):
        assert "o pipeline looked for PHI that nobody labelled" in said
        assert "at least 90% sure" in said
        assert "the usual 50%" in said
        assert "othing looked" not in said


def test_with_a_pipeline_there_is_nothing_to_warn_of_and_it_is_named(loop: Loop, tmp_path: Path) -> None:
    site = open_workspace(loop.site("fourth"))
    assert site.pipeline is not None
    share = loop.root / "b.parquet"
    done(hospital("encode", loop.notes("north"), "--out", share, "--workspace", site.root))
    found = inspect(site, share, load_scheme("i2b2_2014"), None)
    assert found.report is not None
    assert found.report.looked is not None
    assert found.report.looked.pipeline == site.pipeline.digest
    text, page = "\n".join(inspection_lines(found)), write_page(found, tmp_path / "page.html").read_text()
    assert "WARNING" not in text
    assert 'class="warning"' not in page
    assert f"the pipeline {site.pipeline.digest[:12]}" in text


def test_earlier_shares_that_leave_again_and_notes_that_nobody_knows_are_said() -> None:
    told = "\n".join(looked_lines(Looked(0.5, "ab" * 32, 2, 9, 0, again=True, given_up=(1, 3))))
    assert "2 stretches" in told
    assert "leave again" in told
    assert "(1, 3)" in told


def test_the_page_says_what_a_withdrawal_leaves_and_what_is_not_protected(built_loop: Loop, tmp_path: Path) -> None:
    opened = open_workspace(built_loop.site("north"))
    found = inspect(opened, built_loop.root / "north.parquet", load_scheme("i2b2_2014"), None)
    page = write_page(found, tmp_path / "page.html").read_text()
    back = page[page.index("It can be taken back later") :]
    for stays in ("releases that are out", "backups", "until it is trained again"):
        assert stays in back
    limits = page[page.index("What this does not protect") : page.index("The accompanying statement")]
    assert "patterns and lists of names" in limits
    assert "stands as any other word" in limits
    assert "which sentences are of one note" in limits
    assert "tell some patients apart" in limits


def _pull_one_of_other_labels(root: Path, categories: tuple[str, ...]) -> None:
    """The provider publishes a second release, with other categories under the same name, and the hospital takes it into use."""
    central = provider_workspace.open_workspace(root / "provider")
    scheme = LabelScheme(load_scheme("i2b2_2014").name, categories)
    constructions.surrogates(sites.vocabulary(), scheme, SurrogateBank([(0, ("Anna",))])).save(central.representer)
    write_audit(central.root / "audit", releases.representer_digest(central))
    releases.publish_representer(central)
    pull(open_workspace(root / "site"))


@pytest.mark.parametrize("keep", [-1, 5], ids=["in another order", "fewer"])
def test_attack_a_later_release_names_the_labels_of_an_earlier_share(keep: int, tmp_path: Path) -> None:
    """Who approves, or looks back at what left, would read of dates where names are; or the program would fail."""
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)])
    site, all_of_them = sites.site(tmp_path, sites.surrogates(bank)), load_scheme("i2b2_2014").categories
    share, notes, at = tmp_path / "a.parquet", write_notes(tmp_path / "notes", NOTES[:4]), ("--workspace", site.root)
    done(hospital("encode", notes, "--out", share, *at))
    before = values(hospital("inspect", share, "--notes", notes, "--json", *at))
    _pull_one_of_other_labels(tmp_path, all_of_them[::-1] if keep < 0 else all_of_them[:keep])
    after = values(hospital("inspect", share, "--notes", notes, "--json", *at))
    assert after["phi_tokens"] == before["phi_tokens"]
    assert (after["read"], after["sentences_alone"]) == (before["read"], before["sentences_alone"])
    shutil.rmtree(site.root / "releases" / "0001-representer")
    line = hospital("inspect", share, *at)
    if keep < 0:
        assert "can NOT be listed here without its release" in done(line).stdout
    else:
        refused(line, 10, "release")


@pytest.mark.parametrize("hides_casing", [False, True])
def test_the_form_of_phi_tells_patients_apart_unless_it_is_hidden(hides_casing: bool, tmp_path: Path) -> None:
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)], hides_casing=hides_casing)
    site = sites.site(tmp_path, sites.surrogates(bank))
    share, at = site.root / "a.parquet", ("--workspace", site.root)
    done(hospital("encode", write_notes(tmp_path / "notes", NOTES[:4]), "--out", share, *at))
    done(hospital("inspect", share, "--page", tmp_path / "page.html", *at))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("tell some patients apart" in page) != hides_casing


@pytest.mark.parametrize("replaces", [False, True])
def test_what_nobody_labelled_is_said_to_be_looked_for_only_where_it_is(replaces: bool, tmp_path: Path) -> None:
    bank = SurrogateBank([(kind, ("Anna",)) for kind in range(8)])
    site = sites.site(tmp_path, sites.surrogates(bank) if replaces else sites.revealing())
    share, at = site.root / "a.parquet", ("--workspace", site.root)
    done(hospital("encode", write_notes(tmp_path / "notes", NOTES[:4]), "--out", share, *at))
    done(hospital("inspect", share, "--page", tmp_path / "page.html", *at))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("Nothing looked for it" in page) != replaces
    assert ("It was looked for with patterns" in page) == replaces
