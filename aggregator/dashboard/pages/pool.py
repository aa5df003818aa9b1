"""The pool: how it grew, and what it is worth to each hospital, before and after pooling, by kind of PHI."""

from __future__ import annotations

from aggregator.dashboard.blocks import Block, Cell, Facts, Field, Form, Page, Plot, Table, Words, count, part
from aggregator.dashboard.pages.marks import ratio
from aggregator.dashboard.pages.reading import Reading, Record, fitting_releases
from aggregator.enrolled.share_counts import Grown, growth
from aggregator.publishing.head_record import OWN_NOTES
from aggregator.publishing.quality_gate import trained_with_hospitals
from aggregator.registry.states import AccountRole, ShareState
from shared.report import light

_SITES = 15
"""So many hospitals a drawing shows; the table beside it pages through all of them."""
_MONTHS = 36
_HEAD = "The head in the workspace"
_NOTHING_HELD_OUT = "Nothing was held out, so nothing is known."


def pool(reading: Reading) -> Page:
    """Growth, and recall of the head in the workspace."""
    record = reading.head_record()
    blocks: list[Block] = [_growth(growth(reading.workspace), fitting_releases(reading.workspace))]
    if record and trained_with_hospitals(record):
        blocks += [_together(record), _own_recall(record)]
    elif record:
        blocks += [_trained(record), *_recall(reading), *_by_category(record)]
    else:
        blocks.append(Words("What it is worth", ("No head is trained yet.",)))
    blocks.append(
        Form(
            "Train the head",
            "train-head",
            (
                Field("epochs", "Passes over the pool", "number", "20", most=3),
                Field("resume", "Go on with a training that was cut", "tick", optional=True),
            ),
            "Train",
            AccountRole.OPERATOR,
            "As `aggregator train-head` does without options; it takes minutes to hours, and this page shows how far it is.",
        )
    )
    return Page("Pool", blocks)


def _growth(months: list[Grown], fitting: frozenset[str]) -> Plot:
    names = sorted({one.month for one in months})
    accepted = [one for one in months if one.state == ShareState.ACCEPTED]
    counted = {name: [one for one in accepted if one.month == name and one.release in fitting] for name in names}
    earlier = {name: [one for one in accepted if one.month == name and one.release not in fitting] for name in names}
    gone = {name: [one for one in months if one.month == name and one.state == ShareState.WITHDRAWN] for name in names}
    rows, total, points = [], 0, []
    for number, name in enumerate(names):
        tokens = sum(one.tokens for one in counted[name])
        total += tokens
        points.append((float(number), float(total)))
        shares, sentences = (
            sum(values)
            for values in zip(*[(one.shares, one.sentences) for one in counted[name]] or [(0, 0)], strict=True)
        )
        rows.append(
            (
                name,
                f"{shares:,}",
                f"{sentences:,}",
                f"{tokens:,}",
                f"{total:,}",
                f"{sum(one.shares for one in earlier[name]):,}",
                str(sum(one.shares for one in gone[name])),
            )
        )
    head = ("month", "shares", "sentences", "tokens", "tokens in all", "of an earlier representer", "withdrawn since")
    drawn = light.lines(
        "Tokens in the pool, by month",
        {"tokens": points},
        light.Axis("month in which the shares came", names=names),
        light.Axis("tokens in the pool", low=0),
    )
    return Plot(
        "How the pool grew",
        drawn,
        Table("Shares that count today, by the month in which they came", head, rows[::-1][:_MONTHS]),
        "What was withdrawn or refused does not count, whenever it came; shares of an earlier representer do not enter the next head.",
    )


def _together(record: Record) -> Facts:
    """Of a head that hospitals trained with their notes at home: what the model card says of it."""
    together = record["federated"]
    hospitals = {site for one in together["rounds"] for site in one["norms"]} - {OWN_NOTES}
    last = together["rounds"][-1]["sentences"] if together["rounds"] else {}
    sentences = sum(told for site, told in last.items() if site != OWN_NOTES)
    rounds = f"{count(len(together['rounds']), 'round')} ({together['plan']['strategy']})"
    pairs: list[tuple[str, Cell | str]] = [
        ("trained by", f"{count(len(hospitals), 'hospital')} together in {rounds}, and the provider's own notes"),
        ("of hospitals", f"{sentences:,} sentences in the last round, by their own word"),
        ("your own notes", f"{record.get('sentences', 0):,} sentences, {record.get('tokens', 0):,} tokens in a pass"),
    ]
    return Facts(_HEAD, pairs)


def _own_recall(record: Record) -> Block:
    """Recall on the held-out tenth of the provider's own notes, which is all that was here to measure on."""
    found = [one for one in record.get("sites", []) if one["site"] == OWN_NOTES]
    if not found:
        return Words("Recall on your own notes", (_NOTHING_HELD_OUT,))
    (score,) = found
    known = score if score["phi_tokens"] else {}
    pairs: list[tuple[str, Cell | str]] = [
        ("recall", ratio(known.get("recall"))),
        ("precision", ratio(known.get("precision"))),
        ("PHI tokens held out", f"{score['phi_tokens']:,}"),
        ("at hospitals", "not measured: their notes stayed with them, and no score is of them"),
    ]
    return Facts("Recall on the tenth of your own notes that the training never saw", pairs)


def _trained(record: Record) -> Facts:
    defence = record.get("defence") or {}
    not_counted = sum((defence.get("not_counted") or {}).values())
    pairs: list[tuple[str, Cell | str]] = [
        (
            "trained on",
            f"{record.get('sentences', 0):,} sentences, {record.get('tokens', 0):,} tokens in a pass, {len(record.get('shares', []))} shares",
        ),
        ("defence", f"{defence.get('name', 'none')}; the labels of {not_counted:,} tokens did not count"),
        ("your own notes", "in the pool" if record.get("public") else "not in the pool"),
    ]
    if record.get("distilled"):
        pairs.append(("the head itself", "a student: all of that trained its teacher, and it has seen no share"))
    if record.get("self_distilled"):
        said = (
            f"learned no label of a share: {record['self_distilled']} others labelled them, each what it had not seen"
        )
        pairs.append(("the head itself", said))
    if record.get("undersampling"):
        pairs.append(
            ("sat out each pass", f"{record['undersampling']:.0%} of the sentences without PHI, others every time")
        )
    if record.get("left_out"):
        pairs.append(("left out", f"{record['left_out']} accepted shares of another representer"))
    return Facts(_HEAD, pairs)


def _recall(reading: Reading) -> list[Block]:
    """Recall on the held-out tenth of each site: with your own notes alone, and with the pool."""
    scores = reading.head_scores()
    if not scores:
        return [Words("Recall at each hospital", (_NOTHING_HELD_OUT,))]
    # Whom it serves least comes first, and last of whom nobody knows.
    scores.sort(key=lambda one: (one["recall"] is None, one["recall"], one["site"]))
    shown, pager = part(scores, reading.page, "/pool", _SITES)
    page = scores[shown]
    rows = [
        (
            Cell(one["site"], f"/sites/{one['site']}"),
            ratio(one.get("alone_recall")),
            ratio(one["recall"]),
            ratio(one["precision"]),
            f"{one['phi_tokens']:,}",
        )
        for one in page
    ]
    drawn = light.dots(
        "Recall at each hospital, before and after pooling",
        [one["site"] for one in page],
        {
            "your own notes alone": [one.get("alone_recall") for one in page],
            "the pool": [one["recall"] for one in page],
        },
    )
    head = ("hospital", "recall, your notes alone", "recall, the pool", "precision", "PHI tokens held out")
    return [
        Plot(
            "Recall at each hospital, before and after pooling",
            drawn,
            Table("Held-out tenth of each hospital, lowest recall first", head, rows, pager),
            "Share of the PHI tokens that are found, in sentences that no training saw. The grey dot is a head that has seen your own notes only.",
        )
    ]


def _by_category(record: Record) -> list[Block]:
    """Recall of each kind of PHI over all hospitals, and where it is least."""
    sums: dict[str, list[tuple[int, float, str]]] = {}
    for one in record.get("sites", []):
        if one["site"] != OWN_NOTES:
            for name, (tokens, recall) in (one.get("categories") or {}).items():
                sums.setdefault(name, []).append((tokens, recall, one["site"]))
    if not sums:
        return []
    totals = {name: sum(tokens for tokens, _, _ in found) for name, found in sums.items()}
    means = {name: sum(tokens * recall for tokens, recall, _ in found) / totals[name] for name, found in sums.items()}
    order = sorted(sums, key=lambda name: (means[name], name))
    least = {name: min(sums[name], key=lambda one: (one[1], one[2])) for name in order}
    rows = [
        (
            name,
            ratio(means[name]),
            f"{totals[name]:,}",
            str(len(sums[name])),
            Cell(f"{ratio(least[name][1])} at {least[name][2]}", f"/sites/{least[name][2]}"),
        )
        for name in order
    ]
    drawn = light.dots(
        "Recall of each kind of PHI",
        order,
        {"where it is least": [least[name][1] for name in order], "all hospitals": [means[name] for name in order]},
    )
    head = ("kind of PHI", "recall", "tokens held out", "hospitals", "least")
    return [
        Plot(
            "Recall of each kind of PHI, and at which hospital it is least",
            drawn,
            Table("Held-out tenth of all hospitals", head, rows),
            "Of fewer than 20 tokens at a hospital nothing is said.",
        )
    ]
