"""The formats by name."""

from __future__ import annotations

from shared.corpus.formats.brat import Brat
from shared.corpus.formats.conll import Conll
from shared.corpus.formats.csv_table import CsvTable
from shared.corpus.formats.i2b2_2006 import I2b2Records
from shared.corpus.formats.parquet_table import ParquetTable
from shared.corpus.formats.plain import PlainText
from shared.corpus.formats.records.doccano import Doccano
from shared.corpus.formats.records.fhir import Fhir
from shared.corpus.formats.records.jsonl import PlainJsonl
from shared.corpus.formats.records.label_studio import LabelStudio
from shared.corpus.formats.records.presidio import Presidio
from shared.corpus.formats.tagged_xml import TaggedXml
from shared.corpus.parsing.decoding import ENCODINGS
from shared.corpus.parsing.format import Format
from shared.errors import ConfigurationError

FORMAT_NAMES = (
    "i2b2_2014",
    "meddocan",
    "i2b2_2006",
    "brat",
    "conll",
    "jsonl",
    "presidio",
    "doccano",
    "labelstudio",
    "txt",
    "csv",
    "parquet",
    "fhir",
)


def make_format(name: str, text_column: str = "text", encoding: str = ENCODINGS[0]) -> Format:
    """The format of that name.

    Args:
        name: one of `FORMAT_NAMES`.
        text_column: where the text stands, in CSV, Parquet and plain JSONL.
        encoding: of text that is no UTF-8, one of ENCODINGS; FHIR asks, whose texts are wrapped, and CSV for the names of its columns.

    Raises:
        ConfigurationError: no such format.
    """
    formats: tuple[Format, ...] = (
        TaggedXml("i2b2_2014", "i2b2 2014 XML, one note a file", "deIdi2b2"),
        TaggedXml("meddocan", "MEDDOCAN XML, one note a file", "MEDDOCAN"),
        I2b2Records(),
        Brat(),
        Conll(),
        PlainJsonl(text_column),
        Presidio(),
        Doccano(),
        LabelStudio(),
        PlainText(),
        CsvTable(text_column, encoding),
        ParquetTable(text_column),
        Fhir(encoding),
    )
    for format in formats:
        if format.name == name:
            return format
    raise ConfigurationError(f"expected a format out of {', '.join(FORMAT_NAMES)}, got '{name}'; correct the name")
