import errno
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.pages import RowsDigest
from snakeproof.seals import seal_parquet
from snakeproof.store import GROUP_ROWS, FeatureStore, FeatureWriter
from snakeproof.tests.kinds import BOXES, VECTORS, WORDS

MADE_FROM = {"network": "alexnet", "layer": "fc7", "precision": "bf16"}


def some(count, shape, seed=0):
    return np.random.default_rng(seed).standard_normal((count, *shape), dtype=np.float32)


def ids(count, prefix="image"):
    return pd.DataFrame({"image_id": [f"{prefix}{number}" for number in range(count)]})


def write(path, vectors, dtype="float16", step=100, found=MADE_FROM, prefix="image"):
    rows = ids(len(vectors), prefix)
    with FeatureWriter(path, VECTORS, vectors.shape[1:], dtype, **found) as writer:
        for start in range(0, len(vectors), step):
            writer.append(rows.iloc[start : start + step], vectors[start : start + step])
    return path


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(1,), (7,), (512,), (6, 5)])
@pytest.mark.parametrize("step", [1, 999, 5000])
def test_what_is_written_is_gathered_bit_by_bit(tmp_path, dtype, shape, step):
    vectors = some(2 * GROUP_ROWS + 17, shape)
    store = FeatureStore([write(tmp_path / "a.parquet", vectors, dtype, step)], VECTORS)
    order = np.random.default_rng(1).permutation(len(vectors))
    assert (len(store), store.shape, store.dtype) == (len(vectors), shape, np.dtype(dtype))
    assert store.statement.found == MADE_FROM
    assert np.array_equal(store.gather(order), vectors.astype(dtype)[order])
    assert list(store.rows["image_id"]) == list(ids(len(vectors))["image_id"])


def test_pandas_and_duckdb_compute_with_the_same_values(tmp_path):
    vectors = some(3000, (9,)).astype(np.float16)
    path = write(tmp_path / "a.parquet", vectors)
    frame = pd.read_parquet(path)
    assert frame["vector"][0].dtype == np.float16
    assert np.array_equal(np.stack(frame["vector"]), vectors)
    query = f"SELECT vector, list_dot_product(vector, vector) FROM '{path}' WHERE image_id = 'image2345'"
    values, square = duckdb.sql(query).fetchall()[0]
    assert np.array_equal(np.float16(values), vectors[2345])
    assert square == pytest.approx((vectors[2345].astype(float) ** 2).sum(), rel=1e-5)
    assert str(duckdb.sql(query).types[0]) == "FLOAT[]"
    assert np.array_equal(FeatureStore([path], VECTORS).gather([2345])[0], vectors[2345])


def test_a_grid_keeps_its_shape_in_arrow_and_is_a_flat_list_elsewhere(tmp_path):
    vectors = some(40, (6, 5)).astype(np.float16)
    path = write(tmp_path / "a.parquet", vectors)
    column = pq.read_table(path)["vector"].combine_chunks()
    assert np.array_equal(column.to_numpy_ndarray(), vectors)
    assert np.array_equal(np.stack(pd.read_parquet(path)["vector"]), vectors.reshape(40, -1))
    assert np.array_equal(np.float16(duckdb.sql(f"SELECT vector FROM '{path}'").fetchall()[7][0]), vectors[7].ravel())


def test_the_values_of_a_row_group_are_one_plain_page_of_required_values(tmp_path):
    path = write(tmp_path / "a.parquet", some(2 * GROUP_ROWS, (64,)))
    footer = pq.read_metadata(path)
    assert footer.num_row_groups == 2
    column = footer.row_group(1).column(1)
    assert (column.compression, column.has_dictionary_page) == ("UNCOMPRESSED", False)
    assert 0 < column.total_compressed_size - GROUP_ROWS * 128 < 8192
    values = pq.read_schema(path).field("vector").type.value_field
    assert (values.type, values.nullable) == (pa.float16(), False)


def resident():
    """Bytes of files that are mapped into this process's memory."""
    return 1024 * int(re.search(r"RssFile:\s+(\d+)", Path("/proc/self/status").read_text())[1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says what is mapped")
def test_a_large_store_maps_no_more_than_its_limit_and_gives_the_same_vectors(tmp_path, monkeypatch):
    vectors = some(40_000, (512,))
    paths = [write(tmp_path / f"{shard}.parquet", vectors[shard::2], step=10_000) for shard in (0, 1)]
    order = np.random.default_rng(1).permutation(len(vectors))
    expected = np.concatenate((vectors[0::2], vectors[1::2])).astype("float16")
    for limit, most in ((2**31, 64), (2**23, 24)):  # bytes; MB that may be mapped besides
        monkeypatch.setattr("snakeproof.store.RESIDENT", limit)
        store, before = FeatureStore(paths, VECTORS), resident()
        for rows in np.array_split(order, 400):
            assert np.array_equal(store.gather(rows), expected[rows])
        assert resident() - before < most * 2**20
    assert resident() - before < 12 * 2**20 < sum(path.stat().st_size for path in paths)


def test_shards_are_one_array_in_the_order_given(tmp_path):
    vectors = some(70, (4,)).astype(np.float16)
    paths = [
        write(tmp_path / "0", vectors[:30]),
        write(tmp_path / "1", vectors[30:30]),
        write(tmp_path / "2", vectors[30:]),
    ]
    store = FeatureStore(iter(paths), VECTORS)
    assert np.array_equal(store.gather([69, 0, 29, 30, 0]), vectors[[69, 0, 29, 30, 0]])
    assert store.gather([]).shape == (0, 4)
    assert len(store.rows) == 70
    with pytest.raises(IndexError):
        store.gather([70])


def test_other_columns_are_kept(tmp_path):
    rows = pd.DataFrame({"image_id": ["a", "a"], "rank": [0, 1], "x": [0.0, 3.5]})
    with FeatureWriter(tmp_path / "a", BOXES, (3,), "float16", **MADE_FROM) as writer:
        writer.append(rows, np.ones((2, 3)))
    store = FeatureStore([tmp_path / "a"], BOXES)
    assert store.rows.to_dict("records") == rows.to_dict("records")
    assert store.schema == BOXES


def test_same_features_same_bytes_however_they_are_appended(tmp_path):
    vectors = some(1500, (3,))
    one, other = write(tmp_path / "a", vectors, step=7), write(tmp_path / "b", vectors, step=1100)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
def test_a_vector_that_is_not_finite_as_stored_is_named(tmp_path, value):
    vectors = some(10, (4,))
    vectors[7, 2] = value
    with pytest.raises(InputError, match=r"image7.*not finite as float16"):
        write(tmp_path / "a.parquet", vectors)
    assert list(tmp_path.iterdir()) == [], "no half-written file"


def append(path, rows, vectors, then=None):
    with FeatureWriter(path, VECTORS, (4,), "float16", **MADE_FROM) as writer:
        writer.append(rows, vectors)
        if then is not None:
            raise then


def test_wrong_shapes_and_columns_are_errors_and_leave_no_file(tmp_path):
    with pytest.raises(InputError, match=r"expected vectors of shape \(2, 4\), got \(2, 5\)"):
        append(tmp_path / "a", ids(2), some(2, (5,)))
    with pytest.raises(InputError, match=r"a: a vectors artifact has the columns .*extra"):
        append(tmp_path / "a", ids(2).assign(extra=1), some(2, (4,)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_a_shard_may_have_no_rows(tmp_path, shape):
    with FeatureWriter(tmp_path / "a", VECTORS, shape, "float16", **MADE_FROM) as writer:
        writer.append(ids(0), some(0, shape))
    store = FeatureStore([tmp_path / "a"], VECTORS)
    assert (len(store), store.shape) == (0, shape)


def test_a_file_that_cannot_be_begun_leaves_nothing_and_says_so(tmp_path, monkeypatch):
    def full(writer, path):
        Path(path).touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FeatureWriter, "_parquet_writer", full)
    with pytest.raises(InputError, match=r"cannot write .*a: .*No space left on device.* Make room there"):
        write(tmp_path / "a", some(5, (4,)))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_between_leaves_the_old_file(tmp_path):
    path = write(tmp_path / "a", some(5, (4,)))
    old = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        append(path, ids(3), some(3, (4,)), then=KeyboardInterrupt)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"found": {**MADE_FROM, "network": "vgg19"}}, r"network: expected alexnet, found vgg19\. Delete"),
        ({"dtype": "float32"}, r"dtype: expected float16, found float32\. Delete"),
        ({"vectors": some(5, (3,))}, r"shape: expected \(2,\), found \(3,\)\. Delete"),
    ],
)
def test_shards_that_disagree_are_named(tmp_path, change, message):
    paths = [
        write(tmp_path / "00-of-02.parquet", some(5, (2,))),
        write(tmp_path / "01-of-02.parquet", **({"vectors": some(5, (2,))} | change)),
    ]
    with pytest.raises(
        InputError,
        match=rf"01-of-02\.parquet: (of|made from) other (features|things) than .*00-of-02\.parquet: {message}",
    ):
        FeatureStore(paths, VECTORS)


@pytest.mark.parametrize("kept", [0, 10, 5000, -1])
def test_a_truncated_file_is_an_error(tmp_path, kept):
    path = write(tmp_path / "a.parquet", some(2000, (8,)))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"a\.parquet: not a whole Parquet file"):
        FeatureStore([path], VECTORS)


def test_other_artifacts_and_rewritten_files_are_errors(tmp_path):
    schema.write([], WORDS, tmp_path / "words")
    with pytest.raises(InputError, match="expected a vectors artifact of version 2, found words"):
        FeatureStore([tmp_path / "words"], VECTORS)
    path = write(tmp_path / "a", some(50, (8,)))
    for options in ({"compression": "zstd"}, {"use_dictionary": False, "data_page_size": 64, "write_batch_size": 4}):
        known = {key: value for key, value in pq.read_metadata(path).metadata.items() if key != b"ARROW:schema"}
        table = pq.read_table(path).replace_schema_metadata(known)
        pq.write_table(table, tmp_path / "rewritten", **({"compression": "none"} | options))
        seal_parquet(tmp_path / "rewritten", RowsDigest().hexdigest())
        with pytest.raises(InputError, match="expected the vectors of each row group in one plain page"):
            FeatureStore([tmp_path / "rewritten"], VECTORS)
    with pytest.raises(InputError, match="at least one file"):
        FeatureStore([], VECTORS)


def test_memory_stays_flat_while_100_000_rows_are_written(tmp_path):
    program = """
import resource, sys
import numpy as np, pandas as pd
from snakeproof.store import FeatureWriter
from snakeproof.tests.kinds import VECTORS
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
vectors, peaks = np.ones((1000, 512), np.float32), []
with FeatureWriter(sys.argv[1], VECTORS, (512,), "float16") as writer:
    for part in range(100):
        writer.append(pd.DataFrame({"image_id": [f"{part}_{row}" for row in range(1000)]}), vectors)
        peaks.append(peak())
print(peaks[-1] - peaks[10])
"""
    run = subprocess.run([sys.executable, "-c", program, tmp_path / "a"], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 10, "MB more after 100,000 rows (98 MB of vectors) than after 11,000"
    assert len(FeatureStore([tmp_path / "a"], VECTORS)) == 100_000
