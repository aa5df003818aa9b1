"""Feature columns beside codes: what is read is what was written, and no other columns or classes than were declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest

from foundation.feature_columns import FeatureColumn
from protocols.canonical import canonical_bytes
from protocols.errors import BoundsError, MismatchError, ProtocolError, SchemaError
from protocols.features import MAX_CLASSES, MAX_COLUMNS, MAX_JSON_BYTES, columns_to_json
from protocols.payload import shuffled_writer
from protocols.payload.opening import PayloadLimits, SentenceBlock, create_payload, open_payload
from protocols.payload.sentence_block import CODES
from protocols.payload.shuffled_writer import ShuffledWriter
from protocols.share.sealing import ShareExpectation, open_share, seal_share
from tests.protocols.payload.blocks import assert_same, make_block, replaced
from tests.protocols.payload.payload_contract import PayloadContract
from tests.protocols.payload.test_payload_hdf5 import plain
from tests.protocols.payload.test_payload_parquet import Columns, write
from tests.protocols.share.shares import KEY, KEYS, fields

SUFFIXES = (".parquet", ".h5")
LENGTH, SHAPE = FeatureColumn("length_class", 4), FeatureColumn("shape", 255)
MOST = tuple(FeatureColumn(f"{number:02}_{'x' * 29}", MAX_CLASSES) for number in range(MAX_COLUMNS))


def featured(lengths: Sequence[int], columns: Sequence[FeatureColumn], seed: int = 0) -> SentenceBlock:
    """Random codes, and random classes of these columns."""
    random = np.random.default_rng(seed)
    tokens = int(sum(lengths))
    classes = [random.integers(0, column.classes, tokens, dtype=np.uint8) for column in columns]
    features = np.stack(classes, axis=1) if classes else np.zeros((tokens, 0), dtype=np.uint8)
    codes = random.integers(0, 2**32, tokens, dtype="<u4")
    return replaced(make_block(lengths, seed=seed), values=codes, features=features)


def written(path: Path, blocks: Sequence[SentenceBlock], columns: Sequence[FeatureColumn]) -> Path:
    with create_payload(path, dim=CODES, features=columns) as writer:
        for block in blocks:
            writer.append(block)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("columns", [(LENGTH,), (SHAPE, LENGTH), MOST])
def test_round_trip(tmp_path: Path, suffix: str, columns: tuple[FeatureColumn, ...]) -> None:
    blocks = [featured(lengths, columns, seed) for seed, lengths in enumerate(([3, 1, 5], [2], [13] * 700))]
    with open_payload(written(tmp_path / f"share{suffix}", blocks, columns)) as reader:
        assert (reader.dim, reader.features) == (CODES, columns)
        for read, block in zip(reader, blocks, strict=True):
            assert_same(read, block)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_columns_a_file_names_none(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"share{suffix}", [featured([3, 1], ())], ())
    with open_payload(path) as reader:
        assert reader.features == ()
        assert reader.read_block(0).columns == 0
    assert b"feature" not in path.read_bytes()


@pytest.mark.parametrize("in_memory", [0, 32 << 20])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_shuffled_sentences_keep_their_classes(
    tmp_path: Path, suffix: str, in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffled_writer, "_IN_MEMORY", in_memory)
    blocks = [featured(list(range(1, 30)), (SHAPE, LENGTH), seed) for seed in range(3)]
    path = tmp_path / f"share{suffix}"
    with ShuffledWriter(path, dim=CODES, features=(SHAPE, LENGTH)) as writer:
        for block in blocks:
            writer.append(block)

    def sentences(block: SentenceBlock) -> list[bytes]:
        told = np.column_stack([block.values, block.features])
        return [part.tobytes() for part in np.split(told, block.offsets[1:-1])]

    with open_payload(path) as reader:
        assert sorted(one for block in reader for one in sentences(block)) == sorted(
            one for block in blocks for one in sentences(block)
        )


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ([FeatureColumn("Shape", 4)], SchemaError),
        ([FeatureColumn("", 4)], SchemaError),
        ([FeatureColumn("a" * 33, 4)], SchemaError),
        ([FeatureColumn("a-b", 4)], SchemaError),
        ([LENGTH, SHAPE, FeatureColumn("length_class", 5)], SchemaError),
        ([FeatureColumn("a", 0)], BoundsError),
        ([FeatureColumn("a", 256)], BoundsError),
        ([*MOST, LENGTH], BoundsError),
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_that_can_not_be_are_neither_written_nor_read(
    tmp_path: Path, suffix: str, columns: list[FeatureColumn], error: type[ProtocolError]
) -> None:
    with pytest.raises(error):
        create_payload(tmp_path / f"share{suffix}", dim=CODES, features=columns)
    path = tmp_path / f"forged{suffix}"
    forged = canonical_bytes(columns_to_json(columns)).decode()
    if suffix == ".h5":
        hdf5(path, forged.encode(), {})
    else:
        parquet(path, f'{{"dim":0,"features":{forged},"format_version":2}}')
    with pytest.raises(ProtocolError):
        open_payload(path)


def test_names_and_classes_of_the_most_columns_have_room() -> None:
    assert len(canonical_bytes(columns_to_json(MOST))) <= MAX_JSON_BYTES


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_they_do_not_stand_beside_representations(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(SchemaError, match="beside codes alone"):
        create_payload(tmp_path / f"share{suffix}", dim=6, features=(LENGTH,))
    block = make_block([3])
    with pytest.raises(SchemaError, match="beside codes alone"):
        replaced(block, features=np.zeros((3, 1), dtype=np.uint8))


@pytest.mark.parametrize(
    "features",
    [
        np.zeros((4, 1), dtype=np.uint8),
        np.zeros((3, 1), dtype=np.int64),
        np.zeros(3, dtype=np.uint8),
        np.zeros((3, 1, 1), dtype=np.uint8),
    ],
)
def test_features_of_another_type_or_shape_are_refused(features: np.ndarray) -> None:
    with pytest.raises(SchemaError, match="features"):
        replaced(featured([2, 1], ()), features=features)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_writer_takes_the_declared_columns_and_classes_alone(tmp_path: Path, suffix: str) -> None:
    for columns in ((), (LENGTH,), (LENGTH, LENGTH, LENGTH)):
        with (
            pytest.raises(SchemaError, match="2 feature columns"),
            create_payload(tmp_path / f"share{suffix}", dim=CODES, features=(LENGTH, SHAPE)) as writer,
        ):
            writer.append(featured([2, 1], columns))
    block = featured([2, 1], (LENGTH,))
    block.features[1] = LENGTH.classes
    with (
        pytest.raises(BoundsError, match="classes below 4, received 4"),
        create_payload(tmp_path / f"share{suffix}", dim=CODES, features=(LENGTH,)) as writer,
    ):
        writer.append(block)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_limit_of_a_block_counts_them(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"share{suffix}", [featured([10] * 1000, MOST)], MOST)
    # 4 bytes of a code, tag, casing class and 16 classes a token, 16 a sentence; Parquet has no more in the file.
    size = 10_000 * 22 + 16 * 1000
    with pytest.raises(BoundsError, match="a block of"):
        open_payload(path, PayloadLimits(max_block_bytes=size - 1))
    if suffix == ".h5":
        open_payload(path, PayloadLimits(max_block_bytes=size)).close()
    writer = create_payload(path, dim=CODES, features=MOST, limits=PayloadLimits(max_block_bytes=size - 1))
    with pytest.raises(BoundsError, match="a block of"), writer:
        writer.append(featured([10] * 1000, MOST))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_cut_and_changed_files_are_refused_or_read_as_they_stand(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"share{suffix}", [featured([3, 4, 5], (LENGTH, SHAPE))], (LENGTH, SHAPE))
    data, other = path.read_bytes(), tmp_path / f"other{suffix}"
    for cut in range(0, len(data), max(1, len(data) // 25)):
        other.write_bytes(data[:cut])
        with pytest.raises(ProtocolError), open_payload(other) as reader:
            list(reader)
    for place in range(0, len(data), max(1, len(data) // 90)):
        other.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            with open_payload(other) as reader:
                assert [block.sentences for block in reader] == [3]
        except ProtocolError:
            pass


NAMED = '[{"classes":4,"name":"length_class"}]'
SOUND = f'{{"dim":0,"features":{NAMED},"format_version":2}}'


def columns_of(**changed: Any) -> Columns:
    """Sound columns of a payload with one feature, for tests to spoil."""
    binary = pa.binary()
    lengths = [3, 1]
    each = [bytes(length) for length in lengths]
    sound: Columns = {
        "codes": ([bytes(4 * length) for length in lengths], binary),
        "tags": (each, binary),
        "casing": (each, binary),
        "tokens": (lengths, pa.int32()),
        "feature_length_class": (each, binary),
    }
    return sound | changed


def parquet(path: Path, entry: str = SOUND, data: Columns | None = None) -> Path:
    return write(path, columns_of() if data is None else data, metadata={"deid-commons": entry})


def test_a_sound_parquet_of_a_stranger_is_read(tmp_path: Path) -> None:
    with open_payload(parquet(tmp_path / "share")) as reader:
        assert reader.features == (LENGTH,)
        assert reader.read_block(0).features.tolist() == [[0]] * 4


@pytest.mark.parametrize(
    "entry",
    [
        '{"dim":0,"format_version":2}',
        '{"dim":0,"features":[],"format_version":2}',
        '{"dim":0,"features":{},"format_version":2}',
        '{"dim":0,"features":["length_class"],"format_version":2}',
        SOUND.replace("length_class", "other"),
        SOUND.replace("[{", '[{"classes":4,"name":"another"},{'),
        SOUND.replace('"classes":4', '"classes":true'),
        SOUND.replace('"classes":4,', ""),
        SOUND.replace("4,", '4,"meaning":"x",'),
        SOUND.replace('"format_version":2', '"format_version":1'),
        SOUND.replace('"dim":0', '"dim":6'),
        SOUND.replace('"format_version":2', '"format_version":1').replace('"dim":0', '"dim":6'),
    ],
)
def test_a_parquet_that_names_other_columns_than_it_has_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises((SchemaError, BoundsError)):
        open_payload(parquet(tmp_path / "share", entry))


@pytest.mark.parametrize(
    "change",
    [
        lambda: {name: one for name, one in columns_of().items() if name != "feature_length_class"},
        lambda: columns_of(feature_shape=([b"abc", b"a"], pa.binary())),
        lambda: dict(reversed(columns_of().items())),
        lambda: {"length_class" if name.startswith("feature") else name: one for name, one in columns_of().items()},
        lambda: columns_of(feature_length_class=(["aaa", "a"], pa.string())),
        lambda: columns_of(feature_length_class=([1, 1], pa.int32())),
        lambda: columns_of(feature_length_class=([b"\0\0", b"\0\0"], pa.binary())),
        lambda: columns_of(feature_length_class=([b"\0\0\0", b"\0\0"], pa.binary())),
        lambda: columns_of(feature_length_class=([b"\0\0\0", b"\4"], pa.binary())),
    ],
)
def test_a_parquet_with_other_feature_columns_is_refused(tmp_path: Path, change: Callable[[], Columns]) -> None:
    path = parquet(tmp_path / "share", data=change())
    with pytest.raises((SchemaError, BoundsError)):
        PayloadContract.read_all(path)


def test_a_feature_column_that_expands_is_refused_before_it_is_read(tmp_path: Path) -> None:
    longer = columns_of(feature_length_class=([bytes(100_000), b"\0"], pa.binary()))
    with pytest.raises(SchemaError, match="feature columns as long as their tokens"):
        open_payload(parquet(tmp_path / "share", data=longer))


def test_a_compressed_feature_column_is_refused(tmp_path: Path) -> None:
    plainly = dict.fromkeys(["codes", "tags", "casing", "tokens"], "none")
    entry = {"deid-commons": SOUND}
    for options in (
        {"compression": plainly | {"feature_length_class": "zstd"}},
        {"use_dictionary": ["feature_length_class"], "column_encoding": None},
    ):
        path = write(tmp_path / "share", columns_of(), metadata=entry, **options)
        with pytest.raises(SchemaError, match="plain"):
            open_payload(path)


def hdf5(path: Path, named: Any, arrays: dict[str, Any] | None = None, *, version: int = 2) -> Path:
    """An HDF5 payload of codes as a stranger would write it, with an attribute of this content."""
    held: dict[str, Any] = {"codes": np.zeros(4, "<u4"), "tags": np.zeros(4, "u1"), "casing": np.zeros(4, "u1")}
    held |= {"offsets": np.array([0, 3, 4], "<i8"), "blocks": np.array([0, 2], "<i8")}
    held |= {"feature_length_class": np.zeros(4, "u1")} if arrays is None else arrays
    with h5py.File(path, "w", libver=("v108", "v110")) as file:
        file.attrs.create("format_version", version, dtype="<i4")
        if named is not None:
            file.attrs.create("features", np.frombuffer(named, "u1") if isinstance(named, bytes) else named)
        for name, array in held.items():
            plain(file, name, array)
    return path


def test_a_sound_hdf5_of_a_stranger_is_read(tmp_path: Path) -> None:
    with open_payload(hdf5(tmp_path / "share", NAMED.encode())) as reader:
        assert reader.features == (LENGTH,)
        assert reader.read_block(0).features.tolist() == [[0]] * 4


@pytest.mark.parametrize(
    "named",
    [
        None,
        b"[]",
        b"{}",
        b"[",
        b"\xff",
        NAMED.encode() + b" ",
        NAMED.replace("length_class", "other").encode(),
        b" " * (MAX_JSON_BYTES + 1),
        NAMED,
        np.frombuffer(NAMED.encode(), "u1").astype("<i4"),
        np.frombuffer(NAMED.encode(), "u1")[None],
        np.uint8(7),
    ],
)
def test_an_hdf5_that_names_other_columns_than_it_has_is_refused(tmp_path: Path, named: Any) -> None:
    with pytest.raises((SchemaError, BoundsError)):
        open_payload(hdf5(tmp_path / "share", named))


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"feature_length_class": np.zeros(4, "u1"), "feature_shape": np.zeros(4, "u1")},
        {"length_class": np.zeros(4, "u1")},
        {"feature_length_class": np.zeros(4, "<u2")},
        {"feature_length_class": np.zeros(4, "i1")},
        {"feature_length_class": np.zeros((4, 1), "u1")},
        {"feature_length_class": np.zeros(3, "u1")},
        {"feature_length_class": np.zeros(5, "u1")},
        {"feature_length_class": np.array([0, 3, 4, 0], "u1")},
    ],
)
def test_an_hdf5_with_other_feature_columns_is_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = hdf5(tmp_path / "share", NAMED.encode(), arrays)
    with pytest.raises((SchemaError, BoundsError)):
        PayloadContract.read_all(path)


def test_an_hdf5_of_version_1_has_none(tmp_path: Path) -> None:
    values = {"values": np.zeros((4, 6), "<f2"), "feature_length_class": np.zeros(4, "u1")}
    path = hdf5(tmp_path / "share", NAMED.encode(), values, version=1)
    with h5py.File(path, "r+") as file:
        del file["codes"]
    with pytest.raises(SchemaError, match="beside codes"):
        open_payload(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_share_has_the_columns_that_are_expected_in_their_order(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"share{suffix}", [featured([3, 4], (LENGTH, SHAPE))], (LENGTH, SHAPE))
    seal_share(path, fields(value_bound=1.0), KEY)
    for expected in (None, (LENGTH, SHAPE)):
        open_share(path, public_keys=KEYS, expected=ShareExpectation(features=expected))
    for other in ((), (LENGTH,), (SHAPE, LENGTH), (LENGTH, FeatureColumn("shape", 254))):
        with pytest.raises(MismatchError, match=f"the {len(other)} feature columns that the release declares"):
            open_share(path, public_keys=KEYS, expected=ShareExpectation(features=other))


@pytest.mark.parametrize("features", [None, (), (LENGTH, SHAPE)])
def test_what_is_expected_reaches_another_process(features: tuple[FeatureColumn, ...] | None) -> None:
    expected = ShareExpectation(dim=CODES, features=features)
    assert ShareExpectation.from_json(expected.to_json()) == expected
