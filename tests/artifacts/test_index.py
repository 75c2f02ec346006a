"""Artifacts store their identity, and are found by it."""

from types import SimpleNamespace

import pytest

from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.index import ArtifactIndex
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, Column, Schema

COUNTS = Schema("counts", "a number", (Column("number", NUMBER, "a number"),))
VSE = Identity("scenes", "vse", 0, 1, "full", "test")


def written(path, of):
    schema.write([{"number": 1}], COUNTS, path, **of.values())
    return str(path)


@pytest.mark.parametrize(
    ("wildcards", "others", "expected"),
    [
        ({"dataset": "scenes", "variant": "vse", "seed": "3", "round": "0"}, {}, Identity("scenes", "vse", 3, 0)),
        (
            {"dataset": "coco", "ensemble": "all", "seed": "0"},
            {"split": "test"},
            Identity("coco", "all", 0, split="test"),
        ),
        ({"dataset": "coco", "writer": "person", "split": "val"}, {}, Identity("coco", "person", split="val")),
        ({"dataset": "coco", "shard": "00-of-04"}, {"protocol": "regions"}, Identity("coco", protocol="regions")),
    ],
)
def test_an_identity_comes_from_a_rule_s_wildcards(wildcards, others, expected):
    assert Identity.from_wildcards(SimpleNamespace(items=wildcards.items), **others) == expected


def test_an_artifact_says_of_what_it_is(tmp_path):
    assert read_identity(written(tmp_path / "a.parquet", VSE)) == VSE
    assert str(VSE) == "dataset scenes, variant vse, seed 0, round 1, protocol full, split test"
    schema.write([{"number": 1}], COUNTS, tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet does not name its data set and variant"):
        read_identity(tmp_path / "b.parquet")


def test_an_artifact_is_found_by_its_identity_alone(tmp_path):
    others = [Identity("scenes", "vse", 0, 0, "full", "test"), Identity("coco", "vse", 0, 1, "full", "test"), VSE]
    paths = [written(tmp_path / f"{n}.parquet", of) for n, of in enumerate(others)]
    assert [ArtifactIndex(paths, COUNTS).path(of) for of in others] == paths
    assert [ArtifactIndex(reversed(paths), COUNTS).path(of) for of in others] == paths


def test_what_is_missing_twice_or_of_another_kind_is_named(tmp_path):
    first, again = written(tmp_path / "first.parquet", VSE), written(tmp_path / "again.parquet", VSE)
    with pytest.raises(
        InputError, match=r"again\.parquet: a counts artifact of dataset scenes.* so is .*first\.parquet"
    ):
        ArtifactIndex([first, again], COUNTS)
    with pytest.raises(InputError, match="no counts artifact is of dataset coco; the given ones are of: dataset"):
        ArtifactIndex([first], COUNTS).path(Identity("coco"))
    with pytest.raises(InputError, match="expected a sums artifact"):
        ArtifactIndex([first], Schema("sums", "a sum", COUNTS.columns))
