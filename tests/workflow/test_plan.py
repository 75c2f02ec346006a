import json
import re
import subprocess
import sys

import pytest

from tools import rule_graph

TABLES = ["flickr8k", "flickr30k", "coco", "pascal1k", "scenes", "vse_1", "sco_4"]


@pytest.fixture(scope="module")
def empty(make_project):
    return make_project({})


def test_a_table_can_be_planned_with_no_data_present(empty):
    planned = empty.planned("results/tables/flickr8k.md")
    assert {"read_dataset", "extract_features", "count_words", "train", "retrieve", "table"} <= set(planned)


@pytest.mark.slow
def test_files_to_obtain_by_hand_stop_a_run_before_its_first_job(empty):
    done = empty.run("results/tables/flickr30k_clip.md", check=False)
    assert done.returncode
    assert done.stdout.count("flickr30k-images.tar.gz: obtain this file by hand. Fill in the form at https://") == 1
    assert not (empty.folder / "results/logs").exists()


def test_a_table_of_published_rows_alone_needs_no_data(make_project):
    printed = {"title": "Timesteps, as printed", "sections": [{"dataset": "flickr30k"}]}
    printed |= {"published": [{"paper": "sm_lstm", "table": "3"}], "measure": []}
    project = make_project({"tables": {"printed": printed}})
    assert project.planned("results/tables/printed.md") == {"table": 1}


@pytest.mark.slow
def test_a_job_names_its_log_as_it_starts_and_a_run_its_tables_at_the_end(make_project):
    printed = {"title": "Timesteps, as printed", "sections": [{"dataset": "flickr30k"}]}
    printed |= {"published": [{"paper": "sm_lstm", "table": "3"}], "measure": []}
    said = make_project({"tables": {"printed": printed}}).run("results/tables/printed.md").stdout
    assert "writing the table printed\n    log: results/logs/table/printed.log\n" in said
    assert said.count("Table: results/tables/printed.md\n") == 1


def test_an_unknown_row_of_a_printed_table_stops_the_run(make_project):
    published = [{"paper": "sco", "table": "4", "rows": ["Theirs"]}]
    project = make_project({"tables": {"flickr30k": {"published": published}}})
    status, text = project.plan("results/tables/scenes.md")
    assert status != 0
    assert "tables.flickr30k.published: Table 4 of sco has no rows ['Theirs']" in text


def test_a_table_with_the_name_of_what_another_rule_makes_stops_the_run(make_project):
    entry = {"title": "Mine", "sections": [{"dataset": "scenes"}]}
    project = make_project({"tables": {"scenes_rounds": entry}})
    status, text = project.plan("results/tables/scenes.md")
    assert status != 0
    assert "tables.scenes_rounds: the rule table_of_rounds makes results/tables/scenes_rounds.md too" in text


def test_rounds_of_correspondences_are_all_in_the_plan(empty):
    planned = empty.planned("results/flickr30k/models/hm_lstm/seed0/round3/model.safetensors")
    assert (planned["train"], planned["train_round"], planned["correspond"]) == (1, 3, 3)


def test_only_a_variant_that_names_dependencies_of_2014_has_them_parsed(empty):
    model = "results/flickr8k/models/{}/seed0/round0/model.safetensors"
    today, original = (empty.planned(model.format(variant)) for variant in ("defrag", "defrag_original"))
    assert today.pop("parse") == original.pop("parse_original") > 0
    assert today == original


def test_more_shards_are_more_jobs(make_project):
    project = make_project({"datasets": {"flickr8k": {"shards": 7}}, "tables": {"flickr8k": {"measure": ["vse"]}}})
    assert project.planned("results/tables/flickr8k.md")["extract_features"] == 7


def test_a_key_that_does_not_exist_stops_the_run_and_is_named(make_project):
    project = make_project({"datasets": {"scenes": {"shard": 3}}})
    done = project.run("--dry-run", "results/tables/scenes.md", check=False)
    assert done.returncode != 0
    assert "datasets.scenes.shard" in done.stdout


def test_own_files_are_used_and_not_downloaded(make_project, tmp_path):
    (tmp_path / "text.zip").write_bytes(b"")
    (tmp_path / "images").mkdir()
    local = {"images": str(tmp_path / "images"), "text": str(tmp_path / "text.zip")}
    project = make_project({"datasets": {"flickr8k": {"local": local}}})
    planned = project.planned("results/flickr8k/images.parquet")
    assert planned == {"read_dataset": 1}


def test_the_drawing_of_the_rules_is_of_these_rules():
    assert rule_graph.PATH.read_text(encoding="utf-8") == rule_graph.graph_page(), "`make rule-graph` draws it anew"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("results/tables/flickr30.md", "is 'results/tables/flickr30k.md' meant?"),
        ("al", "is 'all' meant?"),
        ("results/tables/nothing_like_it.md", "no rule makes this"),
    ],
)
def test_a_misspelt_target_is_answered_with_the_near_one(empty, target, said):
    status, text = empty.plan(target)
    assert status != 0
    assert said in text
    assert "MissingRuleException" not in text


WRONG = {"seed": "1_0", "round": "1_0", "fold": "007", "shard": "0-of"}
"""A wrong value of each wildcard that is a number; of the others no_such."""
PRODUCTS = """
import json
from snakemake.api import DAGApi
from snakemake.cli import main
found = []
DAGApi.execute_workflow = lambda self, *_, **options: found.extend(self.workflow_api._workflow.rules)
try:
    main(["--dry-run", "--cores", "1", "--quiet", "all", "--", "results/scenes/images.parquet"])
except SystemExit:
    pass
print(json.dumps({rule.name: [str(file) for file in rule.output] for rule in found}))
"""
BRACES = re.compile(r"\{(\w+)(?:,((?:[^{}]|\{[^{}]*\})*))?\}")


def test_no_output_of_a_rule_takes_a_wrong_value_of_a_wildcard(empty):
    """A mistyped name in a target is then answered with the near one, and never planned."""
    done = subprocess.run(
        [sys.executable, "-c", PRODUCTS], cwd=empty.folder, capture_output=True, text=True, check=True
    )
    outputs = json.loads(done.stdout.splitlines()[-1])
    assert {"train_round", "correspond", "correspondence_accuracy", "score_with_fold_head"} <= outputs.keys()
    free = [
        f"{rule}: {output}: {name}"
        for rule, files in outputs.items()
        if rule not in ("absent", "unknown")
        for output in files
        for name, pattern in BRACES.findall(output)
        if re.fullmatch(pattern or ".+", WRONG.get(name, "no_such"))
    ]
    assert free == []


@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("hm_lstm/seed1_0/round1/model.safetensors", "hm_lstm/seed0/round1/model.safetensors' meant?"),
        ("hm_lstm/seed007/round0/model.safetensors", "hm_lstm/seed0/round0/model.safetensors' meant?"),
        ("hm_lstn/seed0/round1/history.parquet", "hm_lstm/seed0/round1/history.parquet' meant?"),
        ("hm_lstm/seed0/round1/correspondence.parquet", "round1/correspondence_accuracy.parquet' meant?"),
        ("hm_lstn/seed0/round1/correspondence_accuracy.parquet", "round1/correspondence_accuracy.parquet' meant?"),
    ],
)
def test_a_mistyped_file_of_a_round_is_not_planned(empty, target, near):
    status, text = empty.plan(f"results/scenes/models/{target}")
    assert status != 0
    assert near in text


@pytest.mark.long
def test_every_table_can_be_planned_and_asks_for_no_unknown_target(empty):
    planned = empty.planned("all", *(f"results/tables/{table}.md" for table in TABLES))
    assert planned["table"] >= len(TABLES)
    assert not {"unknown", "absent"} & set(planned)
