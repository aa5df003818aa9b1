"""The real corpora that the measurements need; see tests/data.py for where they are looked for."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from shared.corpus import read_corpus
from shared.document import Document
from shared.errors import ConfigurationError

ROOT = Path(os.environ.get("DEID_COMMONS_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
SITES = ("a", "b", "c", "d", "e")


def path(name: str) -> Path:
    """The folder or file `name` of the corpora.

    Raises:
        ConfigurationError: it is absent.
    """
    found = ROOT / name
    if not found.exists():
        raise ConfigurationError(f"{name}: expected this corpus in the data folder, found none; set DEID_COMMONS_DATA")
    return found


def meddocan(split: str) -> list[Document]:
    """Labelled notes of MEDDOCAN."""
    return list(read_corpus(path(f"meddocan/{split}/xml")))


def meddocan_texts() -> Iterator[str]:
    """Public Spanish text: the training notes and the unlabelled background, of which none overlaps dev or test."""
    for document in meddocan("train"):
        yield document.text
    for document in read_corpus(path("meddocan/background/background.jsonl.gz")):
        yield document.text


def en_site(site: str, split: str) -> list[Document]:
    """Labelled notes of one hospital of `en_sites`."""
    return list(read_corpus(path(f"en_sites/site_{site}/{split}")))


def public_english_texts() -> Iterator[str]:
    """Public English text: medical transcriptions and dialogues."""
    for document in read_corpus(path("mtsamples/mtsamples_dev.jsonl.gz"), text_column="transcription"):
        yield document.text
    with path("mts_dialog/MTS-Dialog-TrainingSet.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["section_text"]


def english_texts() -> Iterator[str]:
    """Public English text, and the provider's own notes, those of site A."""
    yield from public_english_texts()
    for document in en_site("a", "train"):
        yield document.text
