"""The page of a training together: who took part in which round, how far each site's weights went, and who was clipped or refused.

It says of a site what the provider's terminal said, and nothing that the head's own record does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from aggregator.publishing.head_record import OWN_NOTES
from foundation.files import write_text
from shared.federated.screening import Limits
from shared.report import plots

_MOST_LINES = 12
"""More sites than this are drawn without their names: a legend of fifty says nothing."""
Rounds = Sequence[Mapping[str, Any]]


def write_page(federated: Mapping[str, Any], path: Path) -> None:
    """Write the page.

    Args:
        federated: of the head's record: plan and rounds.
        path: of the page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        (resources.files("aggregator.federated") / "page.html").read_text(encoding="utf-8")
    )
    rounds: Rounds = federated["rounds"]
    page = template.render(
        answer=answer(rounds),
        plan=federated["plan"],
        rounds=rounds,
        times=f"{federated['plan'].get('limits', asdict(Limits()))['times_median']:g}",
        norms=Markup(_lines(rounds, "norms", "Norm of each site's update")),
        sentences=Markup(_lines(rounds, "sentences", "Sentences of each site")),
    )
    write_text(path, page, private=False)


def answer(rounds: Rounds) -> str:
    """The page in a sentence: of hospitals, and whether the provider's own notes took part beside them."""
    sites = {site for one in rounds for site in one["norms"]} - {OWN_NOTES}
    beside = " beside the provider's own notes" if any(OWN_NOTES in one["norms"] for one in rounds) else ""
    # What nobody enrolled has signed has no site's name, but that of what brought it, which no site can have.
    nodes = {site for one in rounds for site in one["refused"] if site.startswith("(") and site != OWN_NOTES}
    missed = {site for one in rounds for site in (sites - set(one["norms"])) | set(one["refused"])} - nodes
    far = {
        "the provider's own notes" if site == OWN_NOTES else site for one in rounds for site in one.get("clipped", ())
    }
    more = f"; clipped in some: {', '.join(sorted(far))}" if far else ""
    more += f"; nodes that brought no site's result: {', '.join(sorted(nodes))}" if nodes else ""
    if not missed:
        nobody = "" if nodes else ", and nobody was refused"
        return f"{len(sites)} sites took part{beside} in all {len(rounds)} rounds{nobody}{more}"
    return f"{len(sites)} sites took part{beside} in {len(rounds)} rounds; missing or refused in some: {', '.join(sorted(missed))}{more}"


def _lines(rounds: Rounds, name: str, title: str) -> str:
    """One line a site, a point for each round that it took part in."""
    sites = sorted({site for one in rounds for site in one[name]})

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for site in sites:
            points = [(one["number"], one[name][site]) for one in rounds if site in one[name]]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, linewidth=1, label=site)
        axes.set_title(title)
        axes.set_xlabel("round")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if len(sites) <= _MOST_LINES:
            axes.legend(frameon=False, fontsize="small")

    return plots.svg(6.0, 3.0, draw)
