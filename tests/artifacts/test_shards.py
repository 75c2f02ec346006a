import os

import pytest

from densevse.artifacts.shards import remove_old_shards, shard_names, shard_slice


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 100])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_shards_in_order_are_all_rows_once(rows, count):
    parts = [list(range(rows))[shard_slice(name, rows)] for name in shard_names(count)]
    assert [row for part in parts for row in part] == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_shards_of_another_division_are_removed_and_no_others(tmp_path):
    for name in ["00-of-02", "01-of-02", "00-of-03", "00-of-01"]:
        (tmp_path / f"{name}.parquet").touch()
    (tmp_path / "readme.parquet").touch()
    remove_old_shards(tmp_path / "00-of-02.parquet")
    assert sorted(os.listdir(tmp_path)) == ["00-of-02.parquet", "01-of-02.parquet", "readme.parquet"]
