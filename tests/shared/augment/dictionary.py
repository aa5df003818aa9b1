"""A WordNet of a few words, in the form of WordNet 3.0's files; what the tests ask for can be read off it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by ...  \n"
# Words of each sense and how often the first of them is meant so; senses of a word come in the order of its commonness.
SENSES: dict[str, list[tuple[str, ...]]] = {
    "noun": [("test", "trial", "Examen"), ("patient",), ("knee", "genu"), ("report", "account"), ("quiz", "test"), ("Washington", "president")],
    "verb": [("report", "describe", "tell"), ("stop", "halt"), ("carry", "transport"), ("write", "pen_down", "compose"), ("test", "try_out")],
    "adj": [("severe(p)", "grave"), ("quiet", "silent")],
    "adv": [("slowly", "easily"), ("silently", "quietly")],
}  # fmt: skip
COUNTS = {"verb": {"report": 60, "test": 3, "stop": 9, "carry": 7, "write": 8}, "noun": {"report": 20, "test": 30, "knee": 6, "patient": 9}, "adj": {"severe": 8, "quiet": 6}, "adv": {"slowly": 7, "silently": 6}}  # fmt: skip
EXCEPTIONS = {"verb": "wrote write\nwritten write\ntold tell\n", "noun": "genua genu\n", "adj": "", "adv": ""}
_TYPES = {"noun": ("1", "n"), "verb": ("2", "v"), "adj": ("3", "a"), "adv": ("4", "r")}


def write_wordnet(folder: Path) -> Path:
    folder.mkdir(parents=True)
    counts = []
    for part, senses in SENSES.items():
        number, letter = _TYPES[part]
        lines, index = [LICENCE], defaultdict(list)
        for row, words in enumerate(senses):
            offset = f"{1000 + row:08}"
            listed = " ".join(f"{word} 0" for word in words)
            lines.append(f"{offset} 00 {letter} {len(words):02x} {listed} 000 | what it means  \n")
            for word in words:
                index[word.partition("(")[0].lower()].append(offset)
        (folder / f"data.{part}").write_text("".join(lines))
        rows = [
            f"{word} {letter} {len(found)} 1 @ {len(found)} 1 {' '.join(found)}  \n"
            for word, found in sorted(index.items())
        ]
        (folder / f"index.{part}").write_text(LICENCE + "".join(rows))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
        counts += [f"{word}%{number}:04:00:: 1 {count}\n" for word, count in COUNTS[part].items()]
    (folder / "cntlist.rev").write_text("".join(counts))
    return folder
