"""From wildcards to files and settings: the functions of rules, stage by stage."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.rules import Rule

from densevse.config.readers import Flickr
from densevse.dag import datasets, downloads, features, inputs, proposals, training
from densevse.dag.fields import dump_entry as whole_entry
from densevse.dag.fields import dump_fields
from densevse.dag.project import Project, Stage, name_pattern
from snakeproof.errors import InputError
from snakeproof.jobs import Calls
from snakeproof.paths import uncompared_param
from tests.rule_values import constraint_of, evaluated, paths_of
from tests.rules import input_of, rules

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def whole():
    return Project(ROOT, {})


def changed(**overrides):
    return Project(ROOT, overrides)


def job(**wildcards):
    return SimpleNamespace(**{name: str(value) for name, value in {"seed": 0, **wildcards}.items()})


def test_a_variant_reads_its_views_and_structures_and_nothing_else(whole):
    inputs = Stage(whole, training).inputs(job(dataset="scenes", variant="vse"))
    assert set(inputs) == {"image_table", "caption_table", "tokens", "words", "view_whole"}
    assert inputs["view_whole"] == ["results/scenes/features/scenes_net/whole/00-of-01.parquet"]
    inputs = Stage(whole, training).inputs(job(dataset="scenes", variant="defrag"))
    assert {"parses", "relations", "view_regions"} <= set(inputs)
    assert inputs["relations"] == "results/scenes/vocabulary/relations-enhanced.parquet"


def test_a_variant_s_own_network_replaces_the_data_set_s():
    project = changed(datasets={"flickr8k": {"shards": 2}})
    inputs = Stage(project, training).inputs(job(dataset="flickr8k", variant="vse_alexnet"))
    assert inputs["view_whole"] == [
        f"results/flickr8k/features/alexnet/whole/0{shard}-of-02.parquet" for shard in (0, 1)
    ]


def test_dependencies_of_2014_are_read_from_parses_of_their_own(whole):
    project = changed(datasets={"flickr8k": {"shards": 2}})
    read = {
        variant: Stage(project, training).inputs(job(dataset="flickr8k", variant=variant))
        for variant in ("defrag", "defrag_original")
    }
    changes = {name for name in read["defrag"] if read["defrag"][name] != read["defrag_original"][name]}
    assert changes == {"parses", "relations"}
    shards = [f"results/flickr8k/original_parses/corenlp_pcfg/0{shard}-of-02.parquet" for shard in (0, 1)]
    assert read["defrag_original"]["parses"] == shards
    assert read["defrag_original"]["relations"] == "results/flickr8k/vocabulary/relations-original.parquet"
    counted = {
        kind: paths_of("count_relations", "parses", project, dataset="flickr8k", dependencies=kind)
        for kind in ("enhanced", "collapsed", "basic", "original")
    }
    assert counted.pop("original") == shards
    assert all("/flickr8k/parses/" in path for paths in counted.values() for path in paths)


def test_dependencies_of_2014_are_refused_of_the_grammar_s_parser(whole):
    with pytest.raises(InputError, match="dependencies: original: the parser grammar of scenes does not have these"):
        Stage(whole, training).inputs(job(dataset="scenes", variant="defrag_original"))


def test_a_view_without_a_network_is_refused_by_name():
    project = changed()
    del project.config.datasets["scenes"].networks["regions"]
    with pytest.raises(InputError, match=r"datasets\.scenes\.networks: hm_lstm reads the view regions"):
        Stage(project, training).inputs(job(dataset="scenes", variant="hm_lstm"))


def test_a_round_starts_from_the_one_before_it_and_ends_with_the_last(whole):
    training_stage, of = Stage(whole, training), {"dataset": "flickr8k", "variant": "hm_lstm", "seed": 2}
    start = "results/flickr8k/models/hm_lstm/seed2/round2/model.safetensors"
    for rule in ("train_round", "correspond"):
        assert input_of(rule, "start", training_stage.previous_round, **of, round=3) == start
    with pytest.raises(ValueError, match="round 0 has no round before it"):
        input_of("train_round", "start", training_stage.previous_round, **of, round=0)
    with pytest.raises(InputError, match="has the rounds 0 to 3 on flickr8k, and no round 9"):
        training_stage.job("flickr8k", "hm_lstm", seed=2, round=9)


def test_methods_start_from_nothing_or_from_the_same_seed_of_another(whole):
    of = {"rule": "train", "name": "start", "decide": Stage(whole, training).origin, "dataset": "scenes", "seed": 1}
    assert input_of(**of, variant="vse") == []
    assert input_of(**of, variant="sm_lstm") == "results/scenes/models/vse/seed1/round0/model.safetensors"


def test_variants_that_differ_in_later_rounds_share_their_round_0(whole):
    of = {"dataset": "scenes", "variant": "hm_lstm_uniform", "seed": 1}
    of |= {"rule": "train_round", "name": "start", "decide": Stage(whole, training).previous_round}
    assert input_of(**of, round=1) == "results/scenes/models/hm_lstm/seed1/round0/model.safetensors"
    assert input_of(**of, round=2) == "results/scenes/models/hm_lstm_uniform/seed1/round1/model.safetensors"


def test_and_the_correspondences_that_it_gives(whole):
    """The model of a round makes the correspondences of the next."""
    of = {"dataset": "scenes", "variant": "hm_lstm_uniform", "seed": 1}
    of |= {"rule": "train_round", "name": "correspondences", "decide": whole.round_correspondences}
    first = "results/scenes/models/hm_lstm/seed1/round1/correspondences.parquet"
    assert input_of(**of, round=1) == first
    second = "results/scenes/models/hm_lstm_uniform/seed1/round2/correspondences.parquet"
    assert input_of(**of, round=2) == second
    one_round = changed(methods={"hm_lstm": {"datasets": {"scenes": {"rounds": [["sentences"], ["phrases"]]}}}})
    last = Stage(one_round, training).last_correspondences("scenes", "hm_lstm_uniform")
    assert last == {"variant": "hm_lstm", "seed": 0, "round": 1}


def test_but_not_those_that_true_boxes_decide(whole):
    training_stage, of = Stage(whole, training), {"variant": "hm_lstm_true_boxes", "seed": 1, "round": 1}
    own = "results/scenes/models/hm_lstm_true_boxes/seed1/round1/correspondences.parquet"
    given = input_of(
        "train_round", "correspondences", training_stage.project.round_correspondences, dataset="scenes", **of
    )
    assert given == own
    boxes = {"rule": "correspond", "name": "true_boxes", "decide": training_stage.needs_true_boxes, "dataset": "scenes"}
    assert input_of(**boxes, **of) == "results/scenes/boxes.parquet"
    assert input_of(**boxes, variant="hm_lstm", seed=1, round=1) == []
    with pytest.raises(InputError, match=r"phrases of flickr8k have none; give some as datasets\.flickr8k\.boxes"):
        training_stage.needs_true_boxes("flickr8k", "hm_lstm_true_boxes")


@pytest.mark.parametrize(
    ("uniform", "message"),
    [
        ({"parameters": {"margin": 0.3}}, "hm_lstm differs in parameters.margin, so its round 0 differs"),
        ({"phases": {"sentences": {"epochs": 9}}}, "hm_lstm differs in phases"),
        ({"training": {"batch_size": 8}}, "hm_lstm differs in training"),
        ({"round_0_of": "hm_lstm_sentences"}, "hm_lstm_sentences itself uses the round 0 of hm_lstm; name that one"),
    ],
)
def test_a_round_0_that_would_be_another_is_not_shared(uniform, message):
    training_stage = Stage(changed(methods={"hm_lstm": {"variants": {"hm_lstm_uniform": uniform}}}), training)
    with pytest.raises(InputError, match=f"hm_lstm_uniform on flickr30k: round_0_of: {message}"):
        training_stage.previous_round("flickr30k", "hm_lstm_uniform", 1, 1)


def test_weights_are_the_user_s_the_workflow_s_or_those_obtained():
    features_stage = Stage(changed(networks={"vgg19": {"local": "/data/vgg.pth"}}), features)
    of = {"rule": "extract_features", "name": "weights", "decide": features_stage.weights}
    assert input_of(**of, dataset="flickr8k", network="vgg19") == "/data/vgg.pth"
    packaged = "resources/scenes_net/scenes_net.safetensors"
    assert input_of(**of, dataset="scenes", network="scenes_net") == packaged
    trained = {**of, "decide": Stage(changed(networks={"scenes_net": {"weights": None}}), features).weights}
    made_here = "results/scenes_pretraining/networks/scenes_net.safetensors"
    assert input_of(**trained, dataset="scenes", network="scenes_net") == made_here
    alexnet = features_stage.project.config.networks["alexnet"].weights
    assert input_of(**of, dataset="flickr8k", network="alexnet") == f"resources/alexnet/{alexnet.file}"
    converted = "resources/rcnn_ilsvrc13/converted.safetensors"
    assert input_of(**of, dataset="flickr8k", network="rcnn_ilsvrc13") == converted
    caffe = features_stage.project.config.networks["rcnn_ilsvrc13"].weights
    published = input_of("convert_caffe", "caffemodel", features_stage.published_weights, network="rcnn_ilsvrc13")
    assert published == f"resources/rcnn_ilsvrc13/{caffe.file}"


def test_a_precision_that_the_configuration_names_needs_no_choice():
    features_stage = Stage(changed(networks={"vgg19": {"precision": "fp32"}}), features)
    of = {"rule": "extract_features", "name": "precision", "decide": features_stage.precision, "dataset": "flickr8k"}
    assert input_of(**of, network="vgg19") == []
    assert input_of(**of, network="alexnet") == "results/flickr8k/features/alexnet/precision.parquet"


def test_what_decides_features_leaves_out_where_the_weights_are_and_other_views(whole):
    settings = Stage(whole, features).image_job("flickr8k", "vgg19", "whole").settings["network"]
    assert set(settings) >= {"architecture", "size", "mean", "std", "layers"}
    assert set(settings["layers"]) == {"whole"}
    assert not {"weights", "local", "regions"} & set(settings)


def test_a_source_is_the_user_s_file_or_the_one_below_resources():
    datasets_stage = Stage(changed(datasets={"flickr8k": {"local": {"text": "/data/text.zip"}}}), datasets)
    files = {"images": "resources/flickr8k/Flickr8k_Dataset.zip", "text": "/data/text.zip"}
    assert datasets_stage.sources_by_name("flickr8k") == files
    assert datasets_stage.project.source_names("flickr8k") == list(files)
    assert input_of("read_dataset", "sources", datasets_stage.sources, dataset="flickr8k") == list(files.values())


def test_karpathy_s_file_is_fetched_only_where_the_options_name_it():
    assert "karpathy" in changed().source_names("coco")
    own = {"karpathy": None, "splits": {"train": 10, "val": 2, "test": 2}}
    assert "karpathy" not in changed(datasets={"coco": {"options": own}}).source_names("coco")


def test_what_has_an_address_is_downloaded_and_the_rest_is_asked_for(whole):
    downloads_stage = Stage(whole, downloads)
    obtained = {rule: constraint_of(rule, "resource", whole) for rule in ("download", "obtain_by_hand")}
    assert "flickr8k/Flickr8k_Dataset" in obtained["download"].replace("\\", "")
    assert "flickr30k/flickr30k-images" in obtained["obtain_by_hand"].replace("\\", "")
    source = downloads_stage.source("flickr8k/Flickr8k_Dataset.zip")
    assert "md5" in source
    assert not {"licence", "note"} & set(source), "a corrected note downloads nothing again"


def test_another_mirror_downloads_nothing_again():
    def mirrored(*urls):
        changed = {"url": list(urls) if len(urls) > 1 else urls[0]}
        return Stage(Project(ROOT, {"datasets": {"flickr8k": {"sources": {"text": changed}}}}), downloads)

    file, first, mirror = "flickr8k/Flickr8k_text.zip", "https://a.org/text.zip", "https://b.org/text.zip"
    assert mirrored(first, mirror).source(file) == mirrored(first).source(file)
    assert mirrored(first, mirror).mirrors(file) == [mirror]
    assert mirrored(first).mirrors(file) == []
    params = rules()["download"].arguments("params")
    assert {name: ast.unparse(value) for name, value in params.items()} == {
        "source": "from_wildcards(downloads.source)",
        "mirrors": "uncompared_param(downloads.mirrors)",
    }
    assert Rule._is_deriving_function(uncompared_param(mirrored(first).mirrors)), "Snakemake would compare it"


def test_a_file_of_the_hub_is_asked_for_by_its_path_in_the_repository():
    of = {"hub": "datasets/some/wds", "revision": "0" * 40, "sha256": "0" * 64, "licence": "none", "file": "test-0.tar"}
    shards = {name: {**of, **path} for name, path in (("shards", {"path": "test/0.tar"}), ("more", {"file": "1.tar"}))}
    entry = {"title": "Tars", "reader": "webdataset", "sources": shards, "options": {"files": {"test": "*"}}}
    stage = Stage(
        changed(datasets={"tars": {**entry, "networks": {"whole": "vgg19"}, "word_vectors": None}}), downloads
    )
    asked = {key: of[key] for key in ("hub", "revision", "file", "sha256")} | {"size": None}
    assert stage.source("tars/test-0.tar") == {**asked, "path": "test/0.tar"}
    assert stage.source("tars/1.tar") == {**asked, "file": "1.tar"}


def test_an_edit_of_the_code_downloads_nothing_again(whole):
    params = Calls(whole.code).calling_once("densevse.datasets.download:download")
    assert all(map(Rule._is_deriving_function, params.values())), "Snakemake would compare them"
    for name in ("download", "download_from_hub", "unpack", "choose_precision"):
        assert "**calling_once(" in rules()[name].sections["params"]
    with pytest.raises(ValueError, match=r"densevse\.datasets\.download:fetch: no such function"):
        Calls(whole.code).calling_once("densevse.datasets.download:fetch")


def test_corenlp_is_obtained_unless_the_environment_names_one(whole, monkeypatch):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    assert paths_of("parse", "home", whole) == "resources/corenlp"
    monkeypatch.setenv("CORENLP_HOME", "/opt//corenlp/")
    assert paths_of("parse", "home", whole) == "/opt/corenlp"
    monkeypatch.setenv("CORENLP_HOME", "file:///opt/corenlp")
    with pytest.raises(InputError, match=r"CORENLP_HOME: 'file:///opt/corenlp' is an address; .*: /opt/corenlp"):
        paths_of("parse", "home", whole)


def test_the_memory_of_a_parser_decides_no_parse(whole):
    assert "memory_mb" not in inputs.parsing_job(whole, "corenlp_pcfg").settings["options"]
    growing = rules()["parse"].arguments("resources")["mem_mb"]
    assert isinstance(growing, ast.Call)
    assert evaluated(growing.args[0], "parse", whole)("corenlp_pcfg") > 0


def test_vectors_are_read_where_a_data_set_has_some():
    words = Stage(changed(datasets={"flickr8k": {"word_vectors": None}}), inputs)
    of = {"rule": "count_relations", "name": "vectors", "decide": words.picked_vectors}
    assert input_of(**of, dataset="flickr8k") == []
    assert input_of(**of, dataset="flickr30k") == "results/flickr30k/vocabulary/vectors-word2vec.parquet"


def test_contours_are_found_by_hed_or_by_the_user_s_model_unless_they_are_given():
    options = {"mcg": {"structured_edges": "model.yml.gz"}, "scg": {"maps": "maps"}}
    given = Stage(changed(proposers={name: {"options": chosen} for name, chosen in options.items()}), proposals)
    usual = Stage(changed(), proposals)
    model = input_of("find_contours", "model", usual.contour_model, proposer="mcg")
    assert model == "resources/hed/hed.safetensors"
    assert usual.contours_job("flickr8k", "mcg").settings["options"]["detector"] == "hed"
    assert input_of("find_contours", "model", given.contour_model, proposer="mcg") == "model.yml.gz"
    assert given.contours_job("flickr8k", "mcg").settings["options"]["detector"] == "structured_edges"
    assert paths_of("read_own_contours", "maps", given.project, proposer="scg") == "maps"
    assert constraint_of("find_contours", "proposer", given.project) == "mcg"
    assert constraint_of("read_own_contours", "proposer", given.project) == "scg"
    with pytest.raises(InputError, match="remove the other"):
        changed(proposers={"mcg": {"options": {"maps": "maps", "structured_edges": "model.yml.gz"}}})


def test_jobs_are_given_the_named_fields_in_a_fixed_order():
    options = Flickr(captions="a.txt", splits={"val": "v", "train": "t", "test": "e"})
    assert dump_fields(options, ["splits", "captions", "none"]) == {
        "captions": "a.txt",
        "splits": {"test": "e", "train": "t", "val": "v"},
    }
    for given in (dump_fields(options, ["splits"]), whole_entry(options)):
        assert list(given["splits"]) == ["test", "train", "val"]


def test_the_order_of_splits_in_a_file_draws_no_other_images():
    def given(*splits):
        options = {"splits": dict.fromkeys(splits, 10)}
        job = Stage(changed(datasets={"pascal1k": {"options": options}}), datasets).reading_job("pascal1k")
        return list(job.settings["reading"]["options"]["splits"])

    assert given("train", "val", "test") == given("val", "test", "train") == ["test", "train", "val"]


@pytest.mark.parametrize(
    ("folders", "key"),
    [
        ({"results": "resources"}, "results"),
        ({"results": "out/", "resources": "./out"}, "results"),
        ({"results": "."}, "results"),
        ({"results": str(ROOT)}, "results"),
        ({"results": str(ROOT / "config")}, "results"),
        ({"resources": str(ROOT / "docs/downloads")}, "resources"),
    ],
)
def test_results_and_downloads_have_folders_of_their_own(folders, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=rf"^{key}: .*; name "):
        Project(ROOT, folders)


def test_any_of_nothing_matches_nothing():
    assert name_pattern([]) == "(?!)"
    assert name_pattern(["a.b", "c"]) == r"a\.b|c"
