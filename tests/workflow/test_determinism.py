import copy

from tests.projects import SMALL_ROUNDS, job_counts
from tests.system.torture.trial import tables


def test_neither_cores_nor_shards_change_a_byte_of_a_table(finished_rounds, make_project):
    in_three = copy.deepcopy(SMALL_ROUNDS)
    in_three["datasets"]["scenes"]["shards"] = 3
    project = make_project(in_three)
    names = [f"results/tables/{name}" for name in tables(finished_rounds) if name.endswith(".md")]
    jobs = job_counts(project.run("--cores=1", *names).stdout)
    assert (jobs["extract_features"], jobs["extract_regions"], jobs["parse_by_grammar"]) == (3, 3, 3)
    assert tables(project) == tables(finished_rounds)
