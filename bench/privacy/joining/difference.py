"""What successive shares of one hospital tell together: the real client encodes and submits MEDDOCAN's development notes in turns.

Every time it is given all notes so far, 20 of them new, and lets leave what may.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aggregator import workspace
from aggregator.enrolled import sites
from aggregator.publishing import releases
from aggregator.training import representer as train_repr
from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.joining.reassembly import DATA, KNOWN, MOST, times_chance
from bench.privacy.worth.meddocan import public_material
from bench.results import Entry
from protocols.keys.enrolment import write_request
from protocols.payload.opening import open_payload
from shared.constructions.procedures.coded import Coded
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.privacy.attacks.joining.difference import ATTACK, WITHIN, all_rows, recurrence_findings, sift
from shared.privacy.attacks.joining.joined import JoiningSettings, join_shares
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.reassembly.clinical import clinical_rows
from shared.privacy.reassembly.recurrence import sentence_keys
from shared.privacy.reassembly.shares import OwnedSentences, shares_of
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from site_client import workspace as site_workspace
from site_client.exchange.submit import require_policy, submit_to_folder
from site_client.policy.enforcing import Acceptance
from site_client.releases import pull as site_pull
from site_client.sharing.encode import encode
from site_client.workspace import Workspace

COMMAND = "python -m bench.results_privacy difference"
FIRST, NEW = 50, 20
# No release of a measurement is audited.
_ACCEPTANCE = Acceptance("a measurement")


def measure() -> list[Entry]:
    """The entries."""
    run = load_or_measure("difference", _attack)
    found = {name: Finding(**one) for name, one in run["findings"].items()}
    turns, shared = run["turns"], f"MEDDOCAN's development notes in shares of {FIRST}, then {NEW} new notes"
    recurring = []
    for kind in ("clinical", "all"):
        one = found[kind]
        chance = one.baseline or 0.0
        recurring.append(
            _entry(
                f"second share: {kind} sentences of the first that recur in later ones, above unrelated notes",
                round(one.value - chance, 4),
                (round(one.interval[0] - chance, 4), round(one.interval[1] - chance, 4)),
                f"{one.value:.4f} of {one.trials}, in as many unrelated notes {chance:.4f}; surrogates passed over; {shared}; interval: exact",
                run["commit"],
            )
        )
    unexplained = _entry(
        "second share: sentences of later shares that no new note explains",
        run["unexplained"],
        None,
        f"of {run['sentences']} in {turns} shares, each encoded from all notes so far; {shared}",
        run["commit"],
        unit="sentences",
        target=0,
    )
    joined = [
        times_chance(
            f"second share: nearest {kind} is of the same note, among its {NEW} new notes",
            found[name],
            MOST,
            COMMAND,
            run["commit"],
        )
        for kind, name in (("sentence", "within"), ("clinical sentence", "within, clinical"))
    ]
    return [unexplained, *recurring, *joined]


def _entry(
    measure: str,
    value: float,
    interval: tuple[float, float] | None,
    note: str,
    commit: str,
    unit: str = "share",
    target: float | None = None,
) -> Entry:
    direction = "" if target is None else "<="
    return Entry(measure, value, target, direction, unit, interval, 1, DATA, COMMAND, note, commit)


def _attack() -> dict[str, Any]:
    notes, known = corpora.meddocan("dev"), corpora.meddocan("train")[KNOWN]
    with tempfile.TemporaryDirectory() as folder:
        client = _hospital(Path(folder))
        made = load_construction(client.release().folder)
        assert isinstance(made, Coded)
        shares = list(_shares(client, made, notes, Path(folder)))
    (first, _), later = shares[0], shares[1:]
    owned = [own_sentences(shown, new, made) for shown, new in later]
    settings, rng = JoiningSettings(NEW), np.random.default_rng(0)
    noise = torch.Generator().manual_seed(0)
    left = tokenised_corpus(notes[:FIRST], made.scheme)
    unrelated = draw_share(made, sift(tokenised_corpus(known[: len(later) * NEW], made.scheme), left), noise)
    everything = RaggedSentences.concatenate([shown for shown, _ in later])
    clinical, every = recurrence_findings(first, everything, [unrelated], settings)
    found = {"clinical": clinical, "all": every}
    for name, chosen in (("within", all_rows), ("within, clinical", clinical_rows)):
        half = len(known) // 2
        learning, choosing = (
            shares_of(made, part, chosen, NEW, settings.public_shares, rng) for part in (known[:half], known[half:])
        )
        asked = [
            OwnedSentences(one.shown.select(rows), one.notes[rows]) for one, _ in owned for rows in [chosen(one.shown)]
        ]
        found[name] = join_shares(learning, choosing, asked, settings).nearest(ATTACK, WITHIN)
    return {
        "findings": {name: asdict(one) for name, one in found.items()},
        "turns": len(later),
        "sentences": sum(shown.sentences for shown, _ in later),
        "unexplained": sum(unexplained for _, unexplained in owned),
    }


def _hospital(root: Path) -> Workspace:
    """Of a provider with the default construction, which the hospital has pulled."""
    provider = workspace.create(root / "provider", "bench", "meddocan")
    train_repr.train(provider, public_material(), RepresenterOptions())
    release = releases.publish_representer(provider, releases.Publishing(audited=False))
    client = site_workspace.create(root / "hospital", "hospital")
    request = write_request(
        root / "request.json",
        client.key(),
        site="hospital",
        contact="",
        created=release.manifest.created,
        valid_until=release.manifest.created + datetime.timedelta(days=1),
    )
    sites.enrol(provider, root / "request.json", request.fingerprint)
    fingerprint = provider.repository().fingerprint.key_id
    return site_pull.pull(client, str(provider.releases), fingerprint, acceptance=_ACCEPTANCE)[0]


def _shares(
    client: Workspace, made: Coded, notes: Sequence[Document], root: Path
) -> Iterator[tuple[RaggedSentences, list[TokenisedSentences]]]:
    """Each share as its holder reads it, and the sentences of each of its new notes that may leave."""
    left = TokenisedSentences.concatenate([])
    for turn, end in enumerate(range(FIRST, len(notes) + 1, NEW)):
        payload = root / f"{turn}.parquet"
        encode(client, notes[:end], payload, hide_above=None, acceptance=_ACCEPTANCE)
        require_policy(client, payload, _ACCEPTANCE)
        submit_to_folder(client, payload, root / "stick", _ACCEPTANCE.approver)
        added = notes[end - (NEW if turn else FIRST) : end]
        new = [sift(tokenised_corpus([note], made.scheme), left) for note in added]
        left = TokenisedSentences.concatenate([left, *new])
        yield _read(payload, made), new


def _read(payload: Path, made: Coded) -> RaggedSentences:
    """A share with a row for each code."""
    with open_payload(payload) as reader:
        blocks = list(reader)
    codes, casing, tags, lengths = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("values", "casing", "tags", "lengths")
    )
    different, line = np.unique(codes, return_inverse=True)
    return RaggedSentences(made.code_rows(different)[line], casing, tags, lengths.astype(np.int64))


def own_sentences(
    shown: RaggedSentences, new: Sequence[TokenisedSentences], made: SharingEncoder
) -> tuple[OwnedSentences, int]:
    """The sentences of a share with their notes, and how many are of none.

    They are known by all but their surrogates; which of several alike is which does not matter.

    Args:
        shown: the share.
        new: the sentences of each note that may leave with it.
        made: the release.
    """
    noise = torch.Generator().manual_seed(0)
    notes: dict[bytes, list[int]] = {}
    for number, sentences in enumerate(new):
        for key in sentence_keys(draw_share(made, sentences, noise)) if sentences.sentences else ():
            notes.setdefault(key, []).append(number)
    found = [notes[key].pop() if notes.get(key) else -1 for key in sentence_keys(shown)]
    owners = np.array(found, dtype=np.int64)
    known = np.flatnonzero(owners >= 0)
    _, numbered = np.unique(owners[known], return_inverse=True)
    return OwnedSentences(shown.select(known), numbered.astype(np.int64)), len(owners) - len(known)
