import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from densevse.artifacts import schema
from densevse.artifacts.lineage import ancestors, check_contents, lineage, made_from, metadata, stated, without
from densevse.artifacts.schemas.sentences import WORDS
from densevse.artifacts.seals import sealed
from densevse.runtime.errors import InputError


def words(path, made):
    schema.write([], WORDS, path, made)
    return path


def test_an_artifact_tells_of_its_parents_all_the_way_up(tmp_path):
    images = words(tmp_path / "images.parquet", lineage({"reader": "flickr"}))
    features = words(tmp_path / "features.parquet", lineage({"network": "vgg19"}, {"images": images}))
    with sealed(tmp_path / "model.safetensors") as model:
        save_file({"w": np.ones(2)}, model, metadata(lineage({"seed": 0}, {"whole": [features]})))
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


def words_of(path, *names, made=None):
    rows = [{"word": name, "index": number, "count": 1} for number, name in enumerate(names)]
    schema.write(rows, WORDS, path, made or lineage({}))
    return path


@pytest.fixture
def scenes(tmp_path):
    folder = tmp_path / "results/scenes"
    folder.mkdir(parents=True)
    words_of(folder / "captions.parquet", "a", "dog")
    words_of(folder / "tokens.parquet", "dog", made=lineage({}, {"captions": folder / "captions.parquet"}))
    words_of(folder / "model.parquet", "m", made=lineage({"seed": 0}, {"tokens": folder / "tokens.parquet"}))
    return folder


def test_a_lineage_names_the_contents_of_each_file_by_its_place_in_results(scenes):
    digests = lineage({}, {"model": scenes / "model.parquet"})["parents"]["model"]
    assert list(digests["digests"]) == ["scenes/model.parquet"]
    assert list(digests["parents"]["tokens"]["digests"]) == ["scenes/tokens.parquet"]
    before = digests["parents"]["tokens"]["parents"]["captions"]["digests"]
    words_of(scenes / "captions.parquet", "a", "cat")
    after = lineage({}, {"captions": scenes / "captions.parquet"})["parents"]["captions"]["digests"]
    assert before.keys() == after.keys() == {"scenes/captions.parquet"}
    assert before != after
    assert stated(made_from(scenes / "model.parquet")) == {
        "seed": 0,
        "parents": {"tokens": {"parents": {"captions": {"parents": {}}}}},
    }


def test_what_was_made_from_other_contents_than_are_there_now_is_refused(scenes):
    retrieval = words_of(scenes / "retrieval.parquet", made=lineage({}, {"model": scenes / "model.parquet"}))
    check_contents([retrieval])
    words_of(scenes / "captions.parquet", "a", "dog")  # made again, with the same rows
    check_contents([retrieval])
    words_of(scenes / "captions.parquet", "a", "cat")
    with pytest.raises(
        InputError, match=r"(?s)scenes/captions\.parquet: .*than it has now.*retrieval\.parquet.*tokens\.p"
    ):
        check_contents([retrieval])
    (scenes / "captions.parquet").unlink()  # made, used and deleted
    check_contents([retrieval])


def test_what_was_made_from_two_contents_of_one_file_is_refused(scenes):
    first = words_of(scenes / "first.parquet", made=lineage({}, {"tokens": scenes / "tokens.parquet"}))
    words_of(scenes / "captions.parquet", "a", "cat")
    second = words_of(scenes / "second.parquet", made=lineage({}, {"captions": scenes / "captions.parquet"}))
    (scenes / "captions.parquet").unlink()
    with pytest.raises(InputError, match=r"(?s)scenes/captions\.parquet: .*first\.parquet.*second\.parquet"):
        check_contents([first, second])


def test_shards_may_have_parents_of_their_own(scenes):
    shards = []
    for shard in ("00-of-02", "01-of-02"):
        proposals = words_of(scenes / f"proposals-{shard}.parquet", shard)
        parents = {"proposals": proposals, "captions": scenes / "captions.parquet"}
        shards.append(words_of(scenes / f"{shard}.parquet", shard, made=lineage({}, parents)))
    regions = lineage({}, {"regions": shards})["parents"]["regions"]
    assert list(regions["digests"]) == ["scenes/00-of-02.parquet", "scenes/01-of-02.parquet"]
    assert len(regions["parents"]["proposals"]["digests"]) == 2
    assert len(regions["parents"]["captions"]["digests"]) == 1
    words_of(scenes / "captions.parquet", "a", "cat")
    words_of(shards[1], "x", made=lineage({}, {"proposals": proposals, "captions": scenes / "captions.parquet"}))
    with pytest.raises(InputError, match=r"01-of-02\.parquet: made from other contents of scenes/captions\.parquet"):
        lineage({}, {"regions": shards})
