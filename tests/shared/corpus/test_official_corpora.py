"""The corpora beside the checkout, read in full; an independent parser gives the text and the quoted spans."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from shared.corpus import read_corpus
from tests.data import corpus
from tests.shared.corpus.samples import essence

FOLDERS = (
    ("meddocan/train/xml", "meddocan", 500),
    ("meddocan/dev/xml", "meddocan", 250),
    *((f"en_sites/site_{site}", "i2b2_2014", 300) for site in "abcde"),
)


@pytest.mark.parametrize(("folder", "format_name", "count"), FOLDERS)
def test_every_offset_selects_its_text(folder: str, format_name: str, count: int) -> None:
    path = corpus(folder)
    opened = read_corpus(path)
    documents = {document.identifier: document for document in opened}
    assert opened.format == format_name
    assert (len(documents), opened.report.notes) == (count, {})
    for file in path.rglob("*.xml"):
        root = ElementTree.parse(file).getroot()
        document = documents[file.stem]
        assert document.text == root.findtext("TEXT")
        quoted = sorted(
            (int(tag.attrib["start"]), tag.attrib["text"], tag.attrib["TYPE"]) for tag in root.find("TAGS") or ()
        )
        assert quoted == [(span.start, document.covered_text(span), span.category) for span in document.annotations]


@pytest.mark.parametrize("part", ["train", "dev"])
def test_meddocan_is_the_same_in_both_formats(part: str) -> None:
    from_xml, from_brat = (read_corpus(corpus(f"meddocan/{part}/{kind}")) for kind in ("xml", "brat"))
    assert (from_xml.format, from_brat.format) == ("meddocan", "brat")
    for left, right in zip(from_xml, from_brat, strict=True):
        assert essence(left) == essence(right)


@pytest.mark.parametrize(
    ("file", "format_name", "documents", "spans"),
    [
        ("presidio_synth/synth_dataset_v2.json", "presidio", 1500, 2863),
        ("wnut17/wnut17train.conll", "conll", 1, 1975),
        ("wnut17/emerging.dev.conll", "conll", 1, 836),
        ("meddocan/background/background.jsonl.gz", "jsonl", 2530, 0),
    ],
)
def test_counts_of_other_formats(file: str, format_name: str, documents: int, spans: int) -> None:
    opened = read_corpus(corpus(file))
    assert sum(len(document.annotations) for document in opened) == spans
    assert (opened.format, opened.report.read) == (format_name, documents)


def test_the_bad_samples_of_presidio_are_set_aside(tmp_path: Path) -> None:
    """One with a label of other text, and one whose line ends are written as two signs."""
    opened = read_corpus(corpus("presidio_synth/generated_small.json"), quarantine=tmp_path)
    assert sum(len(document.annotations) for document in opened) <= 172
    assert (opened.report.read, opened.report.reasons) == (98, {"AnnotationError": 1, "FormatError": 1})
