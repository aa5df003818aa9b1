"""The parts of a de-identification laid together: what one run would have written, byte for byte, or nothing.

Notes that are files of their own are copied. Rows of tables go back to their places, which their numbers tell.
"""

from __future__ import annotations

import heapq
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from foundation.folders import new_folder
from foundation.os_errors import map_os_errors
from shared.corpus import read_corpus, rewrite_corpus
from shared.corpus.formats.csv_table import CsvTable
from shared.document import Document
from shared.errors import ConfigurationError
from shared.progress import Progress, silent
from site_client.deid.deidentify import require_empty
from site_client.deid.parts.receipt import PartReceipt, part_files, read_receipt


@dataclass(frozen=True)
class Merged:
    """What came of the parts.

    Args:
        parts: how many.
        documents: notes that were written.
        set_aside: notes that were not: they are in the quarantines of the parts.
        spans: by category.
    """

    parts: int
    documents: int
    set_aside: int
    spans: Mapping[str, int]


def merge_parts(folders: Sequence[Path], out: Path, progress: Progress = silent) -> Merged:
    """Lay all parts of a run together.

    Args:
        folders: of the parts, in any order.
        out: new, or an empty folder.
        progress: takes the parts that were checked, then what is written.

    Raises:
        ConfigurationError: parts of different runs, one that is missing or comes twice, or a note that is in two of them.
        StorageError: a part has changed since it was written, or there is no room.
    """
    require_empty(out)
    receipts: dict[Path, PartReceipt] = {}
    for number, folder in enumerate(folders, start=1):
        receipts[folder] = read_receipt(folder)
        progress("parts checked", number, len(folders))
    _require_whole(list(receipts.values()), len(folders))
    first = next(iter(receipts.values()))
    if first.rewritten:
        _rewrite(receipts, first, out, progress)
    else:
        _copy(receipts, out, progress)
    spans: Counter[str] = Counter()
    for receipt in receipts.values():
        spans.update(receipt.spans)
    written = sum(receipt.documents for receipt in receipts.values())
    return Merged(len(receipts), written, first.seen - written, dict(spans))


def _require_whole(receipts: Sequence[PartReceipt], given: int) -> None:
    """
    Raises:
        ConfigurationError: they are not all parts of one run, each once.
    """
    first = receipts[0]
    for other in receipts[1:]:
        common = {**first.run, "notes seen": str(first.seen), "number of parts": str(first.of)}
        theirs = {**other.run, "notes seen": str(other.seen), "number of parts": str(other.of)}
        differing = sorted(name for name in {*common, *theirs} if common.get(name) != theirs.get(name))
        if differing:
            raise ConfigurationError(
                f"expected parts of one run, got parts {first.part} and {other.part} with other {', '.join(differing)}; run one of them again, "
                "with the same options on the same notes"
            )
    numbers = Counter(receipt.number for receipt in receipts)
    missing = [str(number) for number in range(1, first.of + 1) if number not in numbers]
    if missing:
        raise ConfigurationError(
            f"expected all {first.of} parts, got none of {', '.join(missing)}; run what is missing"
        )
    if len(receipts) != given or len(receipts) != first.of:
        raise ConfigurationError("expected each part once, got one a second time; name each folder once")


def _copy(receipts: Mapping[Path, PartReceipt], out: Path, progress: Progress) -> None:
    total = sum(receipt.files for receipt in receipts.values())
    done: set[str] = set()
    with new_folder(out, replace=False, private=True) as staged:
        for folder in receipts:
            for name in part_files(folder):
                if name in done:
                    raise ConfigurationError(
                        f"{name}: expected each note in one part, got it in two; two notes have one id: rename one, and run their parts again"
                    )
                done.add(name)
                with map_os_errors(staged / name):
                    (staged / name).parent.mkdir(mode=0o700, exist_ok=True)
                    shutil.copyfile(folder / name, staged / name)
                    (staged / name).chmod(0o600)
                progress("files", len(done), total)


def _rewrite(receipts: Mapping[Path, PartReceipt], first: PartReceipt, out: Path, progress: Progress) -> None:
    total = sum(receipt.documents for receipt in receipts.values())
    # Of a part's rows the first may have an id that the others are not like, in the table they all were read from.
    own = {CsvTable.name: CsvTable(first.text_column, own=True)}
    readers = {
        folder: read_corpus(folder, format=receipt.rewritten, text_column=receipt.text_column, readers=own)
        for folder, receipt in receipts.items()
        if receipt.documents
    }

    def numbered(folder: Path) -> Iterator[tuple[int, Document]]:
        return zip(receipts[folder].notes(), readers[folder], strict=True)

    def in_order() -> Iterator[Document]:
        rows = heapq.merge(*map(numbered, readers), key=itemgetter(0))
        for done, (_, document) in enumerate(rows, start=1):
            yield document
            progress("notes", done, total)

    if readers:
        rewrite_corpus(in_order(), next(iter(readers.values())).reader, out)
    else:
        with new_folder(out, replace=False, private=True):
            pass
