"""Pages of results from their entries: the answer, one plot, what was asked, and everything else in sections that open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.results.entries import TOPICS, Entry, read
from bench.results.figure import figure, rows_of
from bench.results.tables import asked_table, collapsed, how_measured, section, table
from bench.results.words import words_of

INDEX = "README.md"


def pages(topic: str, folder: Path) -> dict[str, str]:
    """Page and plot of a topic, by the names of their files.

    Args:
        topic: one of TOPICS that has figures, or words.
        folder: where the figures lie.

    Raises:
        ConfigurationError: figures or words are not in their form.
    """
    entries, words = figures(topic, folder), words_of(topic)
    rows = rows_of(words, entries)
    title = words.plot_title or words.title
    lines = [f"# {words.title}", "", *_answer(topic, entries), ""]
    if rows:
        lines += [f"![{title}: the figures of this plot are in the tables below]({topic}.svg)", ""]
    wanted = [entry for entry in entries if entry.target is not None]
    if wanted:
        lines += ["## What was asked", "", *asked_table(wanted), ""]
        lines += collapsed("How these were measured", how_measured(wanted))
    others = [entry for entry in entries if entry.target is None]
    if others:
        lines += ["## Everything else that was measured", ""]
    for command in dict.fromkeys(entry.command for entry in others):
        members = [entry for entry in others if entry.command == command]
        lines += section(words.commands.get(command, command), members)
    for part in words.more:
        lines += [
            f"## {part['title']}",
            "",
            part["text"],
            "",
            *table(part["head"], [words.cells(row, entries) for row in part["rows"]]),
            "",
        ]
    lines += [_footer(topic) if entries else "Written by `python -m bench.results`; do not edit.", ""]
    made = {f"{topic}.md": "\n".join(lines)}
    return made | ({f"{topic}.svg": figure(title, rows)} if rows else {})


def _footer(topic: str) -> str:
    """Whence the page is, and where the rest of what is known of its figures stands."""
    return (
        f"Written from [{topic}.json]({topic}.json) by `python -m bench.results`; do not edit. "
        "Each figure there has its data, seeds, command and the state of the code that measured it."
    )


def figures(topic: str, folder: Path) -> list[Entry]:
    """The entries of a topic; none where nothing is measured yet.

    Args:
        topic: one of TOPICS.
        folder: where its file may be.
    """
    return read(topic, folder) if (folder / f"{topic}.json").exists() else []


def index(folder: Path) -> dict[str, str]:
    """The page that lists all topics with their answers.

    Args:
        folder: where the figures lie.
    """
    rows = []
    for topic in TOPICS:
        if (folder / f"{topic}.md").exists():
            entries, words = figures(topic, folder), words_of(topic)
            said = words.sentences(entries)
            wanted = [entry for entry in entries if entry.target is not None]
            missed = sum(not entry.reached for entry in wanted)
            asked = f"Something was asked of {len(wanted)} of {len(entries)} figures; {missed} miss it."
            told = [*said[:1], *([asked] if wanted else [])]
            rows.append(f"- **[{words.title}]({topic}.md).** {' '.join(told)}")
    lines = [
        "# Results",
        "",
        "What was measured, by whom it can be measured again, and what misses what was asked. Every figure is written by the command that its page names, never by hand.",
        "",
        *rows,
        "",
        *_further(folder),
        "Written by `python -m bench.results`; do not edit.",
        "",
    ]
    return {INDEX: "\n".join(lines)}


def _further(folder: Path) -> list[str]:
    """Pages that other commands write, with more than a topic's page has room for."""
    own = {INDEX, *(f"{topic}.md" for topic in TOPICS)}
    found = [path for path in sorted(folder.glob("*.md")) if path.name not in own]
    if not found:
        return []
    names = (path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in found)
    links = [f"[{name}]({path.name})" for name, path in zip(names, found, strict=True)]
    return [f"More than a page of figures has room for: {', '.join(links)}.", ""]


def _answer(topic: str, entries: Sequence[Entry]) -> list[str]:
    """The answer, and how many of the asked figures are reached."""
    wanted = [entry for entry in entries if entry.target is not None]
    missed = sum(not entry.reached for entry in wanted)
    said = words_of(topic).sentences(entries)
    if wanted:
        rest = (
            "none is missed"
            if not missed
            else f"{missed} missed, first in the table"
            if missed > 1
            else "one missed, first in the table"
        )
        said.append(f"{len(wanted) - missed} of {len(wanted)} asked figures are reached; {rest}.")
    # A paragraph each: what an answer holds under is read before the next begins.
    return ["\n\n".join(said)]
