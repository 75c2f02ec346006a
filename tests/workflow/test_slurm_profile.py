"""The profile of Slurm: which jobs share a cluster job, which are arrays, and what jobs ask for."""

import re
from types import SimpleNamespace

import pytest

from densevse.dag import datasets, tables
from densevse.dag.project import Project as Configured
from densevse.dag.project import Stage
from snakeproof.jobs import growing
from tests.cluster import GPU_RULES, ROOT, profile, requests
from tests.rules import rules

GROUPS = profile()["groups"]
ARRAYS = profile()["slurm-array-jobs"].split(", ")
OF_SHARDS = sorted(name for name, rule in rules().items() if "{shard}" in rule.sections.get("output", ""))


def test_a_rule_that_wants_a_gpu_asks_for_it_in_one_way():
    assert len(GPU_RULES) > 20
    assert not [name for name, rule in rules().items() if "gpu=" in rule.sections.get("resources", "")]


def test_no_group_holds_a_rule_that_wants_a_gpu():
    assert not set(GROUPS) & set(GPU_RULES)


def test_a_group_holds_rules_that_there_are_and_that_say_how_long_they_take():
    assert [name for name in GROUPS if "runtime=growing(" not in rules()[name].sections["resources"]] == []


def test_the_shards_of_a_data_set_are_an_array():
    assert sorted(ARRAYS) == OF_SHARDS
    assert not set(ARRAYS) & set(GROUPS)
    assert profile()["jobs"] >= 1000, "an array of which some jobs must wait is lost"


def test_a_training_goes_on_where_it_was_and_asks_for_no_more_time():
    trainings = [name for name in GPU_RULES if name.startswith("train") and not rules()[name].base]
    assert len(trainings) == 5
    assert not [name for name in trainings if "runtime=growing" in rules()[name].sections["resources"]]


def partitions_by_hand():
    """The keys of the profile that name two partitions rule by rule, without the plugin's file of them."""
    defaults = {**profile()["default-resources"], "slurm_partition": "cpu"}
    return {
        "default-resources": defaults,
        "set-resources": {rule: {"slurm_partition": "gpu"} for rule in GPU_RULES},
    }


def check(found):
    """Jobs with a GPU stand alone, in their partition; a group has time for all of its jobs, one after another."""
    for request in found:
        assert request.resources["slurm_partition"] == ("gpu" if request.wants_gpu else "cpu"), request
        assert request.wants_gpu == bool(set(request.rules) & set(GPU_RULES)), request
        assert len(request.rules) == 1 or not request.wants_gpu, request
        assert request.resources["runtime"] == sum(request.runtimes), request


@pytest.mark.slow
def test_a_job_that_failed_asks_for_more_and_a_training_for_no_more_time(make_project):
    table = "results/tables/scenes_rounds.md"
    project = make_project({"gpu": 1})
    found = requests(project, table, failing="train,count_words,retrieve", changes=partitions_by_hand())
    check(found)
    asked = {(request.rules[0], request.attempt): request.resources for request in found if len(request.rules) == 1}
    for rule in ("train", "count_words", "retrieve"):
        first, second = asked[rule, 1], asked[rule, 2]
        assert second["mem_mb"] == 2 * first["mem_mb"]
        assert second["runtime"] == (1 if rule == "train" else 2) * first["runtime"]


@pytest.mark.slow
def test_no_job_asks_for_more_than_the_profile_allows(make_project):
    most = {"mem_mb": 3000, "runtime": 40}
    found = requests(
        make_project({"gpu": 1}),
        "results/scenes/vocabulary/words.parquet",
        failing="count_words",
        changes={"resources": {**profile()["resources"], **most}},
    )
    again = found[-1].resources
    assert (found[-1].attempt, again["mem_mb"], again["runtime"]) == (2, 3000, 40)


@pytest.mark.long
def test_every_table_of_two_partitions_asks_for_what_fits(make_project):
    # scenes_pretraining has no regions, which some methods of a main table read.
    names = set(Stage(Configured(ROOT, {}), tables).names()) - {"scenes_pretraining"}
    found = requests(
        make_project({"gpu": 1}), "all", *(f"results/tables/{name}.md" for name in names), changes=partitions_by_hand()
    )
    check(found)
    assert {request.group for request in found} == {None, *GROUPS.values()}
    longest = max(request.resources["runtime"] for request in found if request.group)
    jobs = sum(len(request.rules) for request in found)
    print(f"{jobs} jobs are {len(found)} requests; the longest group has {longest} minutes")
    assert longest <= 12 * 60


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"gpu": 1, "gres": "gpu:1"}, "gres: 'gpu:1' is neither gpu nor gpu:<model>"),
        ({"gres": "gpu"}, "gres: gpu is asked for by jobs with a GPU; say how many, as `gpu: 1`"),
    ],
)
def test_a_wrong_gres_is_an_error(values, said):
    with pytest.raises(Exception, match=re.escape(said)):
        Configured(ROOT, values)


def test_a_gpu_is_asked_for_by_one_resource():
    assert Configured(ROOT, {"gpu": 2}).config.accelerator == {"gpu": 2}
    assert Configured(ROOT, {"gpu": 2, "gres": "gpu:a100"}).config.accelerator == {"gres": "gpu:a100:2"}
    assert Configured(ROOT, {}).config.accelerator == {"gpu": 0}


def test_memory_grows_with_the_images_of_a_data_set():
    stage = Stage(Configured(ROOT, {"datasets": {"flickr8k": {"about_images": None}}}), datasets)
    of = stage.memory(3000, 170)
    assert of("scenes") < 4000
    assert of("flickr8k") == of("flickr30k") > 6613  # MB, measured for HM-LSTM
    assert of("coco") - 3000 == 170 * 123_287 // 1000


def test_each_attempt_asks_for_as_much_again():
    job = SimpleNamespace(dataset="scenes")
    assert [growing(500)(job, attempt) for attempt in (1, 2, 3)] == [500, 1000, 1500]
    assert growing(lambda dataset: len(dataset))(job, 2) == 12
