import copy

from tests.projects import SMALL_ROUNDS, job_counts
from tests.torture.trial import tables

TABLES = ("results/tables/scenes.md", "results/tables/scenes_rounds.md")


def test_neither_cores_nor_shards_change_a_byte_of_a_table(make_project):
    project = make_project(SMALL_ROUNDS)
    project.run("--cores=2", *TABLES)
    before = tables(project)
    in_three = copy.deepcopy(SMALL_ROUNDS)
    in_three["datasets"]["scenes"]["shards"] = 3
    project.configure(in_three)
    jobs = job_counts(project.run("--cores=1", *TABLES).stdout)
    assert (jobs["extract_features"], jobs["extract_regions"], jobs["parse_by_grammar"]) == (3, 3, 3)
    assert (jobs["table"], jobs["table_of_rounds"]) == (1, 1), "the tables were not made again"
    assert tables(project) == before
