import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from densevse.artifacts import schema
from densevse.artifacts.lineage import ancestors, lineage, made_from, metadata, without
from densevse.artifacts.schemas.sentences import WORDS
from densevse.runtime.errors import InputError


def words(path, made):
    schema.write([], WORDS, path, made)
    return path


def test_an_artifact_tells_of_its_parents_all_the_way_up(tmp_path):
    images = words(tmp_path / "images.parquet", lineage({"reader": "flickr"}))
    features = words(tmp_path / "features.parquet", lineage({"network": "vgg19"}, {"images": images}))
    save_file({"w": np.ones(2)}, tmp_path / "model.safetensors", metadata(lineage({"seed": 0}, {"whole": [features]})))
    made = lineage({"protocol": "full"}, {"model": tmp_path / "model.safetensors", "start": []})
    assert made["protocol"] == "full"
    assert dict(ancestors(made)) == {
        "model": {"seed": 0},
        "model/whole": {"network": "vgg19"},
        "model/whole/images": {"reader": "flickr"},
    }
    assert [way for way, _ in ancestors(without(made, "images"))] == ["model", "model/whole"]


def test_it_is_the_same_once_read_and_wherever_the_project_stands(tmp_path):
    found = []
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        images = words(tmp_path / place / "images.parquet", lineage({"options": {"sizes": (1, 2)}}))
        made = lineage({"layer": "fc7"}, {"images": images})
        assert made_from(words(tmp_path / place / "child.parquet", made)) == made
        found.append(json.dumps(made))
    assert found[0] == found[1]
    assert str(tmp_path) not in found[0]


def test_shards_made_from_different_things_are_named(tmp_path):
    shards = [words(tmp_path / f"{name}.parquet", lineage({"network": name})) for name in ("vgg19", "alexnet")]
    assert lineage({}, {"features": shards[:1] * 2})["parents"]["features"]["network"] == "vgg19"
    with pytest.raises(InputError, match=r"alexnet\.parquet: .*vgg19\.parquet: network: expected vgg19, found alexnet"):
        lineage({}, {"features": shards})


def test_files_of_other_software_are_named(tmp_path):
    save_file({"w": np.ones(2)}, tmp_path / "other.safetensors")
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "other.safetensors").read_bytes()[:20])
    with pytest.raises(InputError, match=r"other\.safetensors: expected an artifact with a lineage"):
        lineage({}, {"model": tmp_path / "other.safetensors"})
    with pytest.raises(InputError, match=r"cut\.safetensors: not a whole safetensors file"):
        made_from(tmp_path / "cut.safetensors")
    with pytest.raises(InputError, match="no such file"):
        made_from(tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match="may not be called"):
        lineage({"parents": 1})
