"""Tables as entries of the configuration: their inputs, and the wrong names that are refused."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.artifacts.identity import Identity
from densevse.dag import ensembles, rows, tables, training
from densevse.dag.project import Project, Stage
from densevse.dag.tables import check_tables
from densevse.report.plan import Difference, GainsPlan, RoundsPlan, TablePlan
from densevse.report.published import read_published_rows
from snakeproof.errors import InputError
from tests.rules import input_of

ROOT = Path(__file__).parents[2]
PRINTED = [f"{paper}_{number}" for paper, numbers in (
    ("hm_lstm", (1, 2, 3, 4)), ("vse", (1,)), ("sm_lstm", (1, 2, 3, 4)), ("defrag", (1, 2, 3)), ("sco", (2, 3, 4, 5))
) for number in numbers]  # fmt: skip

OF_REGIONS = {"sections": [{"dataset": "flickr8k", "protocol": "regions"}]}


def project(**overrides):
    return Project(ROOT, overrides)


def read(name, decide, table):
    """The paths of an input of the rule `table`."""
    return input_of("table", name, decide, table=table)


def test_every_printed_table_and_every_data_set_has_an_entry():
    made = project()
    check_tables(made)
    for_networks = {network.trained_on for network in made.config.networks.values()}
    divided = {name for name, dataset in made.config.datasets.items() if dataset.resplit}
    assert set(PRINTED) | set(made.config.datasets) - for_networks - divided <= set(made.config.tables)


def test_each_entry_shows_all_rows_of_its_printed_table():
    made = project()
    rows = read_published_rows(sorted((ROOT / "config/published").glob("*.csv")))
    for name in PRINTED:
        paper, _, number = name.rpartition("_")
        entry = made.config.tables[name]
        places = {(section.published or section.dataset, section.protocol) for section in entry.sections}
        of_table = [row for row in rows if (row.paper, row.table) == (paper, number)]
        assert of_table
        assert {(row.dataset, row.protocol) for row in of_table} == places
        assert [(printed.paper, printed.table, printed.rows) for printed in entry.published] == [(paper, number, None)]


def test_published_variants_are_known():
    config = project().config
    known = {*config.variant_names(), *config.ensembles(), "random", ""}
    rows = read_published_rows(sorted((ROOT / "config/published").glob("*.csv")))
    assert {row.variant for row in rows} <= known


def test_a_table_reads_the_retrievals_of_its_sections_variants_and_seeds():
    overrides = {
        "datasets": {"flickr30k": {"seeds": [0, 1]}, "coco": {"seeds": [3]}},
        "tables": {"sco_4": {"measure": ["vse", "hm_lstm"], "reference": "vse"}},
    }
    tables_stage = Stage(project(**overrides), tables)
    assert read("retrievals", tables_stage.retrievals, "sco_4") == [
        "results/flickr30k/retrieval/full/vse/seed0/round0.parquet",
        "results/flickr30k/retrieval/full/vse/seed1/round0.parquet",
        "results/flickr30k/retrieval/full/hm_lstm/seed0/round3.parquet",
        "results/flickr30k/retrieval/full/hm_lstm/seed1/round3.parquet",
        "results/coco/retrieval/five_folds/vse/seed3/round0.parquet",
        "results/coco/retrieval/five_folds/hm_lstm/seed3/round3.parquet",
    ]
    assert read("images", tables_stage.section_datasets, "sco_4") == [
        "results/flickr30k/images.parquet",
        "results/coco/images.parquet",
    ]
    plan = tables_stage.plan("sco_4")
    assert [list(section.measured) for section in plan.sections] == [["vse", "hm_lstm"]] * 2


def test_every_table_can_be_planned():
    tables_stage = Stage(project(), tables)
    for name in tables_stage.project.config.tables:
        assert tables_stage.plan(name).sections, name


def test_a_table_reads_the_metrics_of_the_papers_that_it_cites_and_of_no_others():
    tables_stage = Stage(project(), tables)
    assert [Path(file).name for file in read("published", tables_stage.papers, "pascal1k")] == ["defrag.csv"]
    assert [Path(file).name for file in read("papers", tables_stage.papers, "flickr8k")] == [
        "hm_lstm.yaml",
        "vse.yaml",
        "defrag.yaml",
    ]


def test_ablations_are_trained_for_the_paper_s_own_table_only():
    tables_stage = Stage(project(), tables)
    assert "hm_lstm_untyped" in tables_stage.find_table("hm_lstm_1").measure
    assert "hm_lstm_untyped" not in tables_stage.variants("flickr8k")


def test_regions_are_measured_where_phrases_have_boxes():
    tables_stage = Stage(project(), tables)
    assert read("retrievals", tables_stage.retrievals, "hm_lstm_4") == []
    assert (
        read("retrievals", tables_stage.retrievals, "scenes_regions")[0]
        == "results/scenes/region_ranking/hm_lstm/seed0/round2.parquet"
    )
    # The families of regions are those of images.
    assert read("images", tables_stage.section_datasets, "scenes_regions") == ["results/scenes/images.parquet"]
    assert read("captions", tables_stage.image_section_datasets, "scenes_regions") == []
    boxes = {"datasets": {"flickr30k": {"boxes": "entities.zip"}}}
    tables_stage = Stage(project(**boxes), tables)
    assert read("retrievals", tables_stage.retrievals, "hm_lstm_4") == [
        "results/flickr30k/region_ranking/hm_lstm/seed0/round3.parquet"
    ]


def test_a_table_knows_what_is_not_as_config_datasets_says():
    """So that figures of another network or split are not subtracted from a paper's; of the views that are read."""
    mine = {"networks": {"whole": "mobilenet_v2"}, "options": {"splits": {"test": "mine.txt"}}, "seeds": [1]}
    tables_stage = Stage(project(datasets={"flickr8k": mine}), tables)
    splits = {"options.splits.test": Difference(own="Flickr_8k.testImages.txt", here="mine.txt")}
    measured = tables_stage.plan("flickr8k").sections[0].measured
    networks = {"networks.whole": Difference(own="vgg19", here="mobilenet_v2")}
    assert measured["vse"].replaced == {**splits, **networks}
    assert measured["hm_lstm"].replaced == splits
    own = tables_stage.project.config.datasets["flickr8k"].model_dump(exclude_unset=True)
    table = {"title": "Mine", "sections": [{"dataset": "mine"}], "measure": ["vse"]}
    tables_stage = Stage(project(datasets={"mine": {**own, "title": "Mine"}}, tables={"mine": table}), tables)
    for name in ("flickr8k", "mine"):
        assert tables_stage.plan(name).sections[0].measured["vse"].replaced == {}


def test_images_that_are_there_alone_are_not_what_the_papers_ranked():
    tables_stage = Stage(project(datasets={"flickr8k": {"only_available": True}}), tables)
    measured = tables_stage.plan("flickr8k").sections[0].measured
    assert measured["hm_lstm"].replaced == {"only_available": Difference(own=False, here=True)}


def test_an_ensemble_stands_beside_its_members():
    overrides = {
        "methods": {"vse": {"ensembles": {"vse_all": {"title": "VSE*", "members": ["vse", "vsepp"]}}}},
        "tables": {"flickr8k": {"measure": ["vse", "vse_all"]}},
    }
    made = project(**overrides)
    check_tables(made)
    tables_stage = Stage(made, tables)
    assert (
        read("retrievals", tables_stage.retrievals, "flickr8k")[-1]
        == "results/flickr8k/retrieval/full/vse_all/seed0/ensemble.parquet"
    )
    entry = tables_stage.plan("flickr8k").sections[0].measured["vse_all"]
    assert entry.title == "VSE*"
    assert entry.identity("flickr8k", "full", 0) == Identity("flickr8k", "vse_all", 0, None, "full", "test")


def test_a_data_set_of_one_s_own_has_a_table():
    mine = {"title": "Mine", "reader": "flickr", "networks": {"whole": "vgg19"}, "local": {"images": "a", "text": "b"}}
    mine["options"] = {"captions": "tokens.txt", "splits": {name: f"{name}.txt" for name in ("train", "val", "test")}}
    made = project(datasets={"mine": mine})
    check_tables(made)
    tables_stage = Stage(made, tables)
    assert "mine" in tables_stage.names()
    assert list(tables_stage.variants("mine")) == [name for name in made.config.methods if name != "clip"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"measure": ["vse2"]},
            r"tables\.flickr8k\.measure: no variants, ensembles or given rows \['vse2'\]; .* others; is 'vse' meant\?",
        ),
        ({"measure": ["vse", "vse"]}, r"tables\.flickr8k\.measure: \['vse'\] more than once"),
        ({"reference": "hm_lstm_untyped"}, r"tables\.flickr8k\.reference"),
        ({"measure": ["hm_lstm"]}, r"tables\.flickr8k\.reference: 'vse' .* set it to one of \['hm_lstm'\], or to null"),
        ({"sections": [{"dataset": "flickr9k"}]}, r"tables\.flickr8k\.sections: no data set \['flickr9k'\]"),
        (
            {"sections": [{"dataset": "flickr8k", "published": "coco_regoin"}]},
            r"tables\.flickr8k\.sections: no published rows of \['coco_regoin'\]",
        ),
        ({"sections": [{"dataset": "flickr8k"}] * 2}, r"tables\.flickr8k\.sections: .* more than once"),
        (
            {**OF_REGIONS, "measure": ["vse", "hm_lstm"]},
            r"tables\.flickr8k\.measure: vse of methods\.vse yields no phrases on flickr8k",
        ),
        (
            {**OF_REGIONS, "measure": ["hm_lstm", "sm_lstm_ensemble"], "reference": None},
            r"tables\.flickr8k\.measure: sm_lstm_ensemble of methods\.sm_lstm yields no phrases",
        ),
        ({"published": [{"paper": "sco2", "table": "4"}]}, r"tables\.flickr8k\.published: no paper \['sco2'\]"),
        ({"published": [{"paper": "sco", "table": "9"}]}, r"sco has no table \['9'\]"),
        ({"published": [{"paper": "sco", "table": "5", "rows": ["SCO"]}]}, r"Table 5 of sco has no rows \['SCO'\]"),
        ({"title": "Scenes"}, r"more than one table has the title \['Scenes'\]"),
    ],
)
def test_unknown_names_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        check_tables(project(tables={"flickr8k": changes}))


def test_a_method_is_of_a_paper_that_is_there():
    with pytest.raises(InputError, match=r"methods\.vse\.paper: no paper \['nonsense'\]; known: .*vse"):
        check_tables(project(methods={"vse": {"paper": "nonsense"}}))


def test_a_method_of_your_own_has_no_paper_or_one_without_printed_rows(tmp_path, monkeypatch):
    check_tables(project(methods={"vse": {"paper": None}}))
    shutil.copytree(ROOT / "config/published", tmp_path / "config/published")
    heading = (ROOT / "config/published/vse.csv").read_text().partition("\n")[0]
    (tmp_path / "config/published/mine.csv").write_text(f"{heading}\n")
    own = project(methods={"vse": {"paper": "mine"}})
    monkeypatch.setattr(own, "root", tmp_path)
    check_tables(own)


@pytest.mark.parametrize(
    "changes", [{"sections": []}, {"protocol": "full"}, {"sections": [{"dataset": "scenes", "protocol": "all"}]}]
)
def test_what_does_not_fit_is_refused_with_its_path(changes):
    with pytest.raises(InputError, match=r"tables\.flickr8k"):
        project(tables={"flickr8k": changes})


def test_a_table_may_not_have_the_name_of_what_another_rule_makes():
    mine = {"title": "Mine", "sections": [{"dataset": "coco"}], "measure": ["vse"]}
    makers = {f"results/tables/{name}.md": ["table"] for name in ("scenes", "mine")}
    Stage(project(tables={"mine": mine}), tables).check_table_names(lambda path: makers.get(path, []))
    makers["results/tables/mine.md"] = ["table", "table_of_rounds"]
    with pytest.raises(InputError, match=r"^tables\.mine: the rule table_of_rounds makes results/tables/mine\.md too"):
        Stage(project(tables={"mine": mine}), tables).check_table_names(lambda path: makers.get(path, []))


def test_training_starts_from_the_variant_that_the_configuration_names():
    training_stage, of = Stage(project(), training), {"dataset": "scenes", "seed": 3}
    start = input_of("train", "start", training_stage.origin, **of, variant="sm_lstm")
    assert start == "results/scenes/models/vse/seed3/round0/model.safetensors"
    assert input_of("train", "start", training_stage.origin, **of, variant="sm_lstm_mean") == []
    start = input_of("train_round", "start", training_stage.previous_round, **of, variant="hm_lstm", round=2)
    assert start == "results/scenes/models/hm_lstm/seed3/round1/model.safetensors"


def plan_of(job):
    return RoundsPlan.model_validate(job.settings["plan"])


def test_a_table_of_rounds_asks_for_a_shared_round_0_by_the_name_of_its_trainer():
    with_both = {"tables": {"scenes": {"measure": ["hm_lstm", "hm_lstm_sentences"], "reference": None}}}
    stage = Stage(project(**with_both), tables)
    rounds = {(one.variant, one.number): one for one in plan_of(stage.rounds_job("scenes")).rounds}
    shared = [rounds["hm_lstm_sentences", number] for number in range(3)]
    assert [one.model for one in shared] == ["hm_lstm", "hm_lstm_sentences", "hm_lstm_sentences"]
    assert [one.correspondences for one in shared] == [None, "hm_lstm", "hm_lstm_sentences"]


def test_an_ensemble_reads_what_its_members_read():
    ensembles_stage = Stage(project(), ensembles)
    wildcards = SimpleNamespace(dataset="scenes", seed="0", ensemble="sm_lstm_ensemble")
    assert {"view_grid", "view_whole", "words"} <= set(ensembles_stage.inputs(wildcards))
    models = input_of("retrieve_by_ensemble", "models", ensembles_stage.models, **vars(wildcards))
    assert len(models) == 4
    assert models[0] == "results/scenes/models/sm_lstm_mean/seed0/round0/model.safetensors"


def test_an_ensemble_of_several_seeds_shares_no_model_with_that_of_another_seed():
    ensembles_stage = Stage(project(), ensembles)
    found = [[model["seed"] for model in ensembles_stage.models("scenes", "vse_four", seed)] for seed in (0, 1)]
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_an_ensemble_of_several_seeds_reads_no_sentences_that_differ_by_seed():
    two = {"title": "Two", "members": ["sco_ctx_sen"], "seeds_each": 2}
    ensembles_stage = Stage(project(methods={"sco": {"ensembles": {"two": two}}}), ensembles)
    with pytest.raises(InputError, match=r"ensembles\.two\.seeds_each: sco_ctx_sen reads a generator's sentences"):
        ensembles_stage.inputs(SimpleNamespace(dataset="scenes", seed="0", ensemble="two"))


def mixed_with(members, **own):
    """A project with an ensemble `mixed` of some members, and given rows `fixed`, of one file, and `drawn`, of two."""
    given = {"fixed": {"given": {"scores": "f.npy", "image_ids": "ids.txt"}}}
    given["drawn"] = {"given": {"images": ["i0.npy", "i1.npy"], "sentences": ["s0.npy", "s1.npy"], "similarity": "dot"}}
    entry = {"title": "Mixed", "members": members, **own}
    return project(methods={"vse": {"ensembles": {"mixed": entry}}, **given}, datasets={"scenes": {"seeds": [0, 1]}})


def test_an_ensemble_has_the_given_files_of_its_seed_beside_its_models():
    ensembles_stage = Stage(mixed_with(["vse", "fixed", "drawn"]), ensembles)
    assert [model["seed"] for model in ensembles_stage.models("scenes", "mixed", 1)] == [1]
    assert ensembles_stage.given_files("scenes", "mixed", 1) == ["f.npy", "ids.txt", "i1.npy", "s1.npy"]
    described = ensembles_stage.job("scenes", "mixed", 1).settings["given_members"]
    assert [(one["name"], one["keys"]) for one in described] == [
        ("fixed", ["scores", "image_ids"]),
        ("drawn", ["images", "sentences"]),
    ]
    with pytest.raises(
        InputError, match=r"ensembles\.mixed: its seed 2 adds up the seeds 2 of methods\.drawn, which has files of 2"
    ):
        ensembles_stage.given_files("scenes", "mixed", 2)


def test_an_ensemble_of_one_given_model_twice_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in {"f.npy": b"one", "other.npy": b"one"}.items():
        (tmp_path / name).write_bytes(content)
    given = {name: {"given": {"scores": file}} for name, file in (("fixed", "f.npy"), ("again", "other.npy"))}
    ensemble = {"vse": {"ensembles": {"mixed": {"title": "Mixed", "members": ["vse", "fixed", "again"]}}}}
    with pytest.raises(InputError, match=r"ensembles\.mixed: fixed and again have the same contents: f\.npy and other"):
        Stage(project(methods=ensemble | given), ensembles).given_files("scenes", "mixed", 0)
    given["again"]["given"]["lower_is_better"] = True
    found = Stage(project(methods=ensemble | given), ensembles).given_files("scenes", "mixed", 0)
    assert found == ["f.npy", "other.npy"]


def test_a_given_member_of_one_file_does_not_stand_for_several_seeds():
    ensembles_stage = Stage(mixed_with(["vse", "fixed"], seeds_each=2), ensembles)
    with pytest.raises(InputError, match=r"its seed 0 adds up the seeds 0, 1 of methods\.fixed, which has files of 1"):
        ensembles_stage.given_files("scenes", "mixed", 0)


@pytest.mark.parametrize(
    ("members", "seeds"),
    [(["vse", "fixed"], [0, 1]), (["clip", "fixed"], [0]), (["drawn", "fixed"], [0, 1])],
)
def test_an_ensemble_of_what_is_not_trained_has_one_seed(members, seeds):
    made = mixed_with(members)
    made.config.tables["scenes"].measure.append("mixed")
    assert Stage(made, tables).plan("scenes").sections[0].measured["mixed"].seeds == seeds


def test_a_table_knows_which_settings_are_changed_for_its_data_set():
    overrides = {
        "methods": {"vse": {"datasets": {"scenes": {"parameters": {"dimension": 32}, "training": {"patience": None}}}}},
        "tables": {"scenes": {"measure": ["vse", "sm_lstm_ensemble"]}},
    }
    measured = Stage(project(**overrides), tables).plan("scenes").sections[0].measured
    changed = measured["vse"].changed
    assert changed["parameters.dimension"] == Difference(own=1024, here=32)
    assert changed["training.patience"] == Difference(own=5, here=None)
    assert "parameters.margin" not in changed
    assert measured["sm_lstm_ensemble"].changed == {}


def test_gains_are_drawn_of_tables_with_a_reference_and_rows_to_compare():
    tables_stage = Stage(project(), tables)
    assert {"scenes", "flickr8k"} <= set(tables_stage.gain_tables())
    assert "hm_lstm_4" not in tables_stage.gain_tables()  # which names no reference
    assert "results/figures/scenes_gains.svg" in tables_stage.target_files("scenes")
    alone = Stage(project(tables={"scenes": {"measure": ["vse"], "reference": "vse"}}), tables)
    assert "scenes" not in alone.gain_tables()
    assert "results/figures/scenes_gains.svg" not in alone.target_files("scenes")


def test_a_picture_of_gains_knows_its_reference_and_its_sections():
    plan = GainsPlan.model_validate(Stage(project(), tables).gains_job("scenes").settings["plan"])
    assert (plan.title, plan.reference) == ("Scenes: gains on VSE", "VSE")
    assert [(one.dataset, one.protocol) for one in plan.sections] == [("scenes", "full")]


def test_latex_has_intervals_where_the_table_asks_for_them_and_so_have_its_rounds():
    chosen = Stage(project(tables={"scenes": {"latex_intervals": True}}), tables)
    assert chosen.plan("scenes").latex_intervals
    assert plan_of(chosen.rounds_job("scenes")).latex_intervals
    assert not chosen.plan("flickr8k").latex_intervals
    with pytest.raises(InputError, match=r"tables\.scenes\.latex_intervals: .*bool"):
        project(tables={"scenes": {"latex_intervals": "sometimes"}})


def test_a_plan_comes_through_plain_values_unchanged_and_names_no_folder():
    made = project(networks={"vgg19": {"local": "/somewhere/vgg19.pth"}})
    tables_stage = Stage(made, tables)
    assert TablePlan.model_validate(tables_stage.table_job("sco_4").settings["plan"]) == tables_stage.plan("sco_4")
    for job in (tables_stage.table_job("sco_4"), tables_stage.rounds_job("scenes")):
        text = json.dumps(job.settings)
        assert "results/" not in text
        assert "/somewhere" not in text


def with_given(**given):
    table = {"title": "Given", "sections": [{"dataset": "flickr8k"}, {"dataset": "coco"}], "measure": ["vse", "mine"]}
    of_coco = {"coco": {"given": {"images": "i.npz", "sentences": "s.npz", "similarity": "cosine", "copies": 5}}}
    return project(tables={"given": table}, methods={"mine": {"given": given, "datasets": of_coco}})


def test_a_given_row_stands_beside_trained_ones_with_a_seed_for_each_file():
    made = with_given(scores=["/mine/a.npy", "/mine/b.npy"])
    check_tables(made)
    tables_stage = Stage(made, tables)
    assert read("retrievals", tables_stage.retrievals, "given") == [
        "results/flickr8k/retrieval/full/vse/seed0/round0.parquet",
        "results/flickr8k/retrieval/full/mine/seed0/given.parquet",
        "results/flickr8k/retrieval/full/mine/seed1/given.parquet",
        "results/coco/retrieval/full/vse/seed0/round0.parquet",
        "results/coco/retrieval/full/mine/seed0/given.parquet",
    ]
    assert rows.given_file(made, "scores", "flickr8k", "mine", 1) == "/mine/b.npy"
    assert rows.given_file(made, "images", "flickr8k", "mine", 1) is None
    assert rows.given_file(made, "images", "coco", "mine", 0) == "i.npz"
    settings = rows.given_job(made, "coco", "mine").settings
    assert settings["layout"] == {
        "similarity": "cosine",
        "copies": 5,
        "unscored": None,
        "lower_is_better": False,
    }
    assert settings.keys() == {"layout", "ranked_sentences", "top"}
    plan = tables_stage.plan("given")
    first, _ = (section.measured["mine"] for section in plan.sections)
    assert (first.title, first.seeds, first.round) == ("mine", [0, 1], None)
    assert first.identity("flickr8k", "full", 1) == Identity("flickr8k", "mine", 1, None, "full", "test")
    assert [section.sentences for section in plan.sections] == ["all", "first_five"]
    assert "/mine/" not in json.dumps(plan.model_dump(mode="json"))
    assert "mine" not in tables_stage.variants("flickr8k")


def test_a_given_row_ranks_no_regions():
    table = {"title": "Given", "sections": [{"dataset": "scenes", "protocol": "regions"}], "measure": ["mine"]}
    made = project(tables={"given": table}, methods={"mine": {"given": {"scores": "a.npy"}}})
    with pytest.raises(
        InputError, match=r"tables\.given\.measure: methods\.mine is given and has no scores of regions"
    ):
        check_tables(made)


def test_other_sentences_than_published_rows_rank_leave_no_difference():
    """The papers rank five sentences of each image of MS-COCO."""
    measured = Stage(project(datasets={"coco": {"sentences": "all"}}), tables).plan("coco").sections[0].measured
    assert measured["vse"].replaced == {"sentences": Difference(own="first_five", here="all")}
