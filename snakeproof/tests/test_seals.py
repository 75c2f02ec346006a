"""A file proves its bytes: each changed one is an error that names the file."""

import random

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.seals import CHUNK, sealed_file, verify_file
from snakeproof.statements import Statement, making, read_statement, statement_metadata
from snakeproof.store import FeatureStore, FeatureWriter
from snakeproof.tests.kinds import VECTORS, WORDS

ROWS = 300


def table(path):
    rows = [{"word": f"word{number}", "index": number, "count": number + 1} for number in range(ROWS)]
    schema.write(rows, WORDS, path, minimum=1)
    return lambda file: schema.read(file, WORDS)


def features(path):
    vectors = np.random.default_rng(0).normal(size=(ROWS, 1024))
    with FeatureWriter(path, VECTORS, (1024,), np.float16, network="n") as file:
        file.append(pd.DataFrame({"image_id": [f"image{number}" for number in range(ROWS)]}), vectors)
    return lambda file: FeatureStore([file], VECTORS).gather(np.arange(ROWS))


def weights(path):
    with sealed_file(path) as temporary:
        save_file({"w": np.arange(ROWS, dtype=np.float32)}, temporary, statement_metadata(seed=0))
    return lambda file: (read_statement(file), verify_file(file), load_file(file))


KINDS = {"table.parquet": table, "00-of-01.parquet": features, "model.safetensors": weights}


@pytest.mark.parametrize("name", KINDS)
def test_no_changed_bit_is_read(tmp_path, name):
    path, draw = tmp_path / name, random.Random(name)
    read = KINDS[name](path)
    read(path)
    written = path.read_bytes()
    ends = [*range(300), *range(len(written) - 64, len(written))]
    for place in [*ends, *(draw.randrange(len(written)) for _ in range(120))]:
        changed = bytearray(written)
        changed[place] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(InputError, match=name):
            read(path)


@pytest.mark.parametrize("name", KINDS)
def test_zeros_and_cut_off_ends_are_not_read(tmp_path, name):
    path = tmp_path / name
    read = KINDS[name](path)
    written = path.read_bytes()
    half = len(written) // 2
    for damaged in (written[:half] + bytes(len(written) - half), written[:-1], written[:half], b"", written + b"\0"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=name):
            read(path)


def test_only_the_part_that_is_read_is_checked(tmp_path):
    path = tmp_path / "00-of-01.parquet"
    features(path)
    written = bytearray(path.read_bytes())
    written[2 * CHUNK + 5] ^= 1
    path.write_bytes(written)
    store = FeatureStore([path], VECTORS)
    assert store.gather([0]).shape == (1, 1024)
    with pytest.raises(InputError, match=f"damaged in the bytes from {2 * CHUNK:,} on"):
        store.gather(np.arange(ROWS))


def test_the_same_rows_have_the_same_digest(tmp_path):
    digests = []
    for name, given in (("one", {}), ("two", {"minimum": 2})):
        with making(Statement(given=given)):
            schema.write([{"word": "a", "index": 0, "count": 3}], WORDS, tmp_path / f"{name}.parquet")
        digests.append(verify_file(tmp_path / f"{name}.parquet"))
    schema.write([{"word": "a", "index": 0, "count": 4}], WORDS, tmp_path / "three.parquet")
    assert digests[0] == digests[1] != verify_file(tmp_path / "three.parquet")


def test_the_same_weights_have_the_same_digest(tmp_path):
    digests = []
    for seed, values in enumerate((np.arange(3.0), np.arange(3.0), np.ones(3))):
        with sealed_file(tmp_path / f"{seed}.safetensors") as temporary:
            save_file({"w": values}, temporary, statement_metadata(seed=seed))
        digests.append(verify_file(tmp_path / f"{seed}.safetensors"))
    assert digests[0] == digests[1] != digests[2]


def test_other_software_reads_a_sealed_file(tmp_path):
    table(tmp_path / "table.parquet")
    features(tmp_path / "00-of-01.parquet")
    assert len(pq.read_table(tmp_path / "table.parquet")) == ROWS
    assert np.stack(pd.read_parquet(tmp_path / "00-of-01.parquet")["vector"]).shape == (ROWS, 1024)
    query = f"SELECT count(*), sum(list_sum(vector)) FROM '{tmp_path}/00-of-01.parquet'"
    assert len(duckdb.sql(query).fetchall()) == 1


def test_files_without_a_seal_are_refused(tmp_path):
    pd.DataFrame({"word": ["a"]}).to_parquet(tmp_path / "table.parquet")
    save_file({"w": np.ones(2)}, tmp_path / "model.safetensors", {"densevse.made_from": "{}"})
    for name in ("table.parquet", "model.safetensors"):
        with pytest.raises(InputError, match=f"{name}: expected a file that proves its contents"):
            verify_file(tmp_path / name)


@pytest.mark.parametrize("header", [b"[]", b"3", b'{"__metadata__": 3}', b"[" * 100_000, b"{", b"\xff\xff"])
def test_a_header_of_another_form_is_named(tmp_path, header):
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match=r"model\.safetensors: not a"):
        read_statement(path)
    path.write_bytes((2**62).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match=r"model\.safetensors: not a whole safetensors file"):
        verify_file(path)
