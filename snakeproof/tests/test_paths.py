"""Patterns of paths become paths, by wildcards and by what the configuration decides."""

from functools import partial
from types import SimpleNamespace

import pytest

from snakeproof.paths import Paths, from_wildcards

PATHS = Paths(results="out", resources="out/downloads", logs="<results>/logs", model="<results>/{dataset}/seed{seed}")
JOB = SimpleNamespace(dataset="scenes", seed="3", round="02", shard="00-of-02")


def filled(pattern, decide):
    return PATHS.path(pattern, decide)(JOB)


def nothing():
    return {}


def test_nothing_decided_is_no_file():
    assert filled("<results>/{dataset}/boxes.parquet", lambda dataset: None) == []
    assert filled("<results>/{dataset}/boxes.parquet", lambda dataset: []) == []


def test_no_values_leave_the_wildcards():
    assert filled("<results>/{dataset}/boxes.parquet", nothing) == "out/scenes/boxes.parquet"


def test_values_are_one_path_and_come_before_wildcards():
    path = filled("<results>/{dataset}/{network}/{shard}.parquet", lambda: {"network": "vgg", "dataset": "coco"})
    assert path == "out/coco/vgg/00-of-02.parquet"


def test_a_list_is_as_many_paths_in_its_order():
    shards = [{"shard": "01-of-02"}, {"shard": "00-of-02"}]
    paths = filled("<results>/{dataset}/{shard}.parquet", lambda dataset: shards)
    assert paths == ["out/scenes/01-of-02.parquet", "out/scenes/00-of-02.parquet"]


def test_one_path_that_is_decided_twice_is_there_once():
    twice = [{"dataset": "coco"}, {"dataset": "scenes"}, {"dataset": "coco"}]
    assert filled("<results>/{dataset}/images.parquet", lambda: twice) == [
        "out/coco/images.parquet",
        "out/scenes/images.parquet",
    ]


def test_two_sources_in_one_folder_are_there_twice():
    """A job pairs the paths of sources with their names."""
    assert filled("<resources>/{dataset}/{file}", lambda: ["mine", "mine"]) == ["mine", "mine"]


def test_text_is_a_path_of_the_user_s_as_it_is_written():
    assert filled("<resources>/{dataset}/{file}", lambda: "/data/{a}//<b>.zip") == "/data/{a}//<b>.zip"
    given = filled("<resources>/{dataset}/{file}", lambda: ["mine.zip", {"file": "theirs.zip"}])
    assert given == ["mine.zip", "out/downloads/scenes/theirs.zip"]


def test_what_is_filled_in_is_no_pattern():
    assert filled("<results>/{name}", lambda: {"name": "{dataset}<results>"}) == "out/{dataset}<results>"


def test_folders_may_stand_for_patterns_with_folders():
    assert filled("<model>/round{round}.parquet", lambda: {"round": 1}) == "out/scenes/seed3/round1.parquet"
    assert PATHS.expand_pathvars("<logs>/train.log") == "out/logs/train.log"
    assert Paths(project=".").expand_pathvars("<project>/config/a.csv") == "config/a.csv"


def test_an_unknown_folder_or_name_is_an_error():
    with pytest.raises(KeyError, match="reslts"):
        PATHS.path("<reslts>/a", nothing)
    with pytest.raises(AttributeError, match="network"):
        filled("<results>/{network}", nothing)


def test_functions_are_given_the_wildcards_that_they_name_seeds_and_rounds_as_numbers():
    decided = from_wildcards(lambda dataset, seed, round: (dataset, seed, round))(JOB)
    assert decided == ("scenes", 3, 2)
    assert from_wildcards(lambda shard: shard)(JOB) == "00-of-02"
    assert from_wildcards(lambda: "nothing")(JOB) == "nothing"


def test_a_parameter_that_may_be_left_out_is_where_there_is_no_such_wildcard():
    def decide(dataset, round=7, variant="vse"):
        return dataset, round, variant

    assert from_wildcards(decide)(JOB) == ("scenes", 2, "vse")
    assert from_wildcards(decide)(SimpleNamespace(dataset="coco")) == ("coco", 7, "vse")


def test_a_wildcard_that_must_be_there_is_asked_for():
    with pytest.raises(AttributeError, match="variant"):
        from_wildcards(lambda variant: variant)(JOB)


def test_bound_functions_are_given_the_other_parameters():
    def decide(project, dataset, seed):
        return {"file": f"{project}-{dataset}{seed + 1}"}

    assert filled("<results>/{file}", partial(decide, "mine")) == "out/mine-scenes4"


def test_there_are_no_files_for_a_job_without_the_condition():
    found = PATHS.path("<results>/{dataset}.txt", when=lambda seed: seed == 3)
    assert (found(JOB), found(SimpleNamespace(dataset="scenes", seed="4"))) == ("out/scenes.txt", [])
    own = PATHS.contents("<results>/{name}", lambda: {"name": __file__}, when=lambda seed: seed == 4)
    assert own(JOB) == []
