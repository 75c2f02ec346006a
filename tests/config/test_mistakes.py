"""Invalid values in the configuration: each is reported by its path when it is read."""

import re
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_config

from densevse.config.load import load
from snakeproof.errors import InputError

CONFIG = Path(__file__).parents[2] / "config"
NAN = float("nan")

# Path of the key, and values that it may not have.
WRONG = {
    "results": [1, "", None],
    "resources": [["a"], ""],
    "gpu": [-1, "one", 0.5, 10**35],
    "threads": [0, -2, "2", True, 10**35],
    "loader_threads": [0, 10**35],
    "jobs_per_gpu": [0, 10**35],
    "thread": [2],
    # data sets
    "datasets.scenes.title": [1, "", "  ", "a\nb", "a\u2028b", "a\x00b", "\ud800"],
    "tables.scenes.title": ["", "a\r\nb"],
    "methods.vse.variants.vsepp.title": ["", "a\x1bb"],
    "methods.vse.datasets.scenes.title": [""],
    "generators.sc_nlm.title": ["a\nb"],
    "claims.vse.title": ["", "a\nb"],
    "datasets.scenes.reader": ["scene", None],
    "datasets.scenes.shards": [0, -1, 1.5],
    "datasets.scenes.threads": [0, "1", 10**35],
    "datasets.scenes.minimum_word_count": [0, -3],
    "datasets.scenes.seeds": [[], [-1], [0, 0], [True], [0.5], 0],
    "datasets.scenes.compare": ["vse"],
    "datasets.scenes.proposer": ["selective_serch", 1],
    "datasets.scenes.parser": ["gramar"],
    "datasets.scenes.word_vectors": ["glov", 300],
    "datasets.scenes.boxes": ["", 1],
    "datasets.scenes.networks.whole": ["alexnett"],
    "datasets.scenes.networks.hole": ["alexnet"],
    "datasets.scenes.networks.grid": ["alexnet"],
    "datasets.scenes.local.imges": ["x.zip"],
    "datasets.scenes.local.scenes": ["", 3],
    "datasets.scenes.known_unreadable": ["a.jpg", [1]],
    "datasets.scenes.options.size": [8, -96, "96"],
    "datasets.scenes.options.seed": [-1, 0.5],
    "datasets.scenes.options.images.train": [0, -1, "many"],
    "datasets.scenes.options.images.trian": [10],
    "datasets.scenes.options.sizes": [96],
    "datasets.flickr8k.options.captionz": ["x"],
    "datasets.flickr8k.options.encoding": ["utf9"],
    "datasets.flickr8k.options.splits": [["a.txt"], {"dev": "a.txt"}],
    "datasets.flickr8k.local.imges": ["x.zip"],
    "datasets.flickr8k.sources.text.md5": ["abc", 5],
    "datasets.flickr8k.sources.text.size": [0, -5],
    "datasets.scenes.sources.scenes.made_by": ["grammar", ""],
    "datasets.flickr8k.sources.text.url": ["ftp//x", 3, [], ["https://a.org/x", "ftp//x"], ["https://a.org/x"] * 2],
    "datasets.pascal1k.options.splits.train": [0, -800],
    "datasets.coco.options.seed": [-1],
    # analyses
    "alignments.scenes.triplets": [[["amod", "red"]], "red"],
    "arithmetic.scenes.queries": [[["scene00001", "red"]], "red"],
    "arithmetic.scenes.exchanged.colour": [["red"], "red"],
    "arithmetic.flickr8k.exchanged": [{"colour": ["red", "blue"]}],
    "boundaries.folder": ["", 1],
    "boundaries.folderr": ["BSDS500"],
    "caption_scores.scenes.metrics": [["blue"], [], "bleu"],
    "human_judgements.scenes.source": ["text", 1],
    "localisation.scenes.sides": [[], [0], [1.5], 0.5],
    "localisation.scenes.stride": [0, 1.01],
    "localisation.scenes.images": [0, "all"],
    "localisation.scenes.cells": [0, 2.5],
    "proposal_recall.scenes.proposers": [["mcgg"]],
    "votes.scenes.ballot.pairs": [0, "all"],
    "votes.scenes.ballot.seed": [-1],
    "votes.scenes.files": ["votes.csv", {"hm_lstmm": "votes.csv"}, {"hm_lstm": ""}],
    "searches.scenes.dataset": ["scene", None],
    "searches.scenes.variant": ["vsep", 1],
    "searches.scenes.sentences": [[], [""], "a dog", [1]],
    "searches.scenes.queries": ["photographs", "images"],
    "searches.scenes.photographs": ["", 1],
    "searches.scenes.split": ["dev"],
    "searches.scenes.top": [0, "5"],
    "searches.scenes.sentence": ["a dog"],
    # tables
    "tables.scenes.sections": [[{"dataset": "scenes", "seeds": [0, 0]}], [{"dataset": "scenes", "seeds": []}]],
    # networks
    "networks.vgg19.architecture": ["vgg20", 19],
    "networks.vgg19.layers.whole": ["fc9", 7],
    "networks.vgg19.layers.hole": ["fc7"],
    "networks.vgg19.size": [0, -224, "224"],
    "networks.vgg19.resize": [-1, 100],
    "networks.vgg19.mean": [[0.5, 0.5], [2, 0, 0], "0.5"],
    "networks.vgg19.std": [[0, 0, 0], [-1, 1, 1], [NAN, 1, 1]],
    "networks.vgg19.precision": ["fp16", 32],
    "networks.vgg19.batch_size": [0, -1, 1.5],
    "networks.scenes_net.trained_on": ["scene"],
    "networks.scenes_net.weights.packaged": ["", 1],
    "networks.scenes_net.weights.sha256": ["abc", 7],
    "networks.vgg19.training": [{"batch_size": 32}],
    "networks.vgg19.phases": [{"main": {"epochs": 1, "learning_rate": 0.1}}],
    "networks.vgg19.seed": [1, -1],
    "networks.scenes_net.training": [None],
    "networks.scenes_net.training.batch_size": [0],
    "networks.scenes_net.phases": [None],
    "networks.scenes_net.phases.rise.epochs": [0, 1.5],
    "networks.scenes_net.phases.rise.epoch": [1],
    "networks.scenes_net.seed": [-1, "0"],
    "networks.vgg19.local": ["", 1],
    "networks.vgg19.regions.scoring": ["crop"],
    "networks.vgg19.regions.detections": [-3, 0, "19"],
    "networks.vgg19.regions.maximum_proposals": [-1, 0],
    "networks.vgg19.regions.nms_threshold": [7, -0.1],
    "networks.vgg19.regions.context": [-16],
    "networks.vgg19.regions.crop_size": [0, -1],
    "networks.vgg19.regions.score": ["softmax"],
    "networks.vgg19.regions.area_exponent": [-1, NAN],
    "networks.vgg19.regions.cells": [0],
    "networks.vgg19.regions.map_size": [0],
    "networks.vgg19.regions.detection": [19],
    "networks.mobilenet_v2.regions.map": ["convv"],
    # proposers, parsers, word vectors
    "proposers.selective_search_fast.kind": ["selective"],
    "proposers.selective_search_fast.options.mode": ["faster"],
    "proposers.selective_search_fast.options.boxes": [-1, 0, "all"],
    "proposers.selective_search_fast.options.height": [-5, 0],
    "proposers.selective_search_fast.options.minimum_side": [-1],
    "proposers.selective_search_fast.options.box": [10],
    "proposers.mcg.options.folder": ["", 1],
    "proposers.boxes_file.options.path": [""],
    "parsers.corenlp_pcfg.kind": ["core"],
    "parsers.corenlp_pcfg.options.longest": [0, -1],
    "parsers.corenlp_pcfg.options.timeout": [0, -120],
    "parsers.corenlp_pcfg.options.memory_mb": [-1, 100],
    "parsers.corenlp_pcfg.options.batch": [0],
    "parsers.corenlp_pcfg.options.modle": ["x"],
    "parsers.grammar.options.longest": [10],
    "word_vectors.glove.format": ["glov"],
    "word_vectors.glove.dimension": [0, -300],
    # methods
    "methods.vse.title": ["", "a\tb"],
    "methods.vse.model": ["vsee", 1],
    "methods.vse.views": [[], ["hole"], "whole"],
    "methods.vse.sentences": [[], ["wordz"]],
    "methods.vse.yields": [["phrasez"]],
    "methods.vse.networks.whole": ["alexnett"],
    "methods.vse.starts_from": ["vsee"],
    "methods.vse.parameters.margin": [-1, NAN, "0.2"],
    "methods.vse.parameters.dimension": [0, -1, 16.5],
    "methods.vse.parameters.encoder": ["lst"],
    "methods.vse.parameters.dropout": [1.5, -0.1],
    "methods.vse.parameters.marginn": [0.2],
    "methods.vse.training.batch_size": [0, 1, -1, "64"],
    "methods.vse.training.grad_clip": [0, -2],
    "methods.vse.training.patience": [-1, 0],
    "methods.vse.training.checkpoint_steps": [0],
    "methods.vse.training.optimizer": ["adm"],
    "methods.vse.training.momentum": [-1, 1],
    "methods.vse.training.weight_decay": [-1],
    "methods.vse.training.learning_rat": [1],
    "methods.vse.phases": [{"main": None}],
    "methods.vse.phases.main.epochs": [0, -1, 1.5],
    "methods.vse.phases.main.learning_rate": [0, -1, NAN, "fast"],
    "methods.vse.phases.main.parameters.negatives": ["hard"],
    "methods.vse.phases.main.parameters.los": ["sum"],
    "methods.vse.phases.settle.parameters.dropout": [0.0],
    "methods.sm_lstm.phases.main.parameters.steps": [1],
    "generators.sc_nlm.phases.main.parameters.dropout": [0.1],
    "methods.vse.rounds": [-1, 2, [], [[]], [["mian"]]],
    "methods.vse.datasets.scenez": [{}],
    "methods.vse.datasets.scenes.parameters.margin": [-1],
    "methods.vse.datasets.scenes.training.patience": [-1],
    "methods.vse.variants.vsepp.rouunds": [[["main"]]],
    "methods.vse.variants.vsepp.parameters.negatives": ["hardes"],
    "methods.vse.variants.vsepp.datasets.scenes.phases.main.epochs": [0],
    "methods.vse.variants.vsepp.datasets.scenez": [{}],
    "methods.hm_lstm.parameters.candidates": ["detection"],
    "methods.sm_lstm.parameters.steps": [0, -1],
    "methods.sm_lstm.parameters.balance": [-1, NAN],
    "methods.sm_lstm.parameters.head": ["cosine"],
    "methods.sm_lstm.variants.sm_lstm_ctx.parameters.contexts_in_score": [True],
    "methods.sm_lstm.parameters.longest": [0],
    "methods.sm_lstm.starts_from": ["vsee"],
    "methods.hm_lstm.round_0_of": ["hm_lstmm"],
    "methods.sco.variants.sco_ctx_sen.generator": ["lstm"],
    "methods.vse.variants.vsepp.starts_from": ["vsee"],
    "methods.vse.variants.vsepp.datasets.scenes.networks.whole": ["alexnett"],
    "generators.sc_nlm.variants.mlbl.joint_embedding": ["vsee"],
    "methods.hm_lstm.rounds": [[["sentences"], ["phrase"]]],
}
CASES = [(path, value) for path, values in WRONG.items() for value in values]


def overriding(path: str, value: object) -> dict:
    """A configuration with only these overrides."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


@pytest.mark.parametrize(("path", "value"), CASES, ids=[f"{path}={value}" for path, value in CASES])
def test_a_wrong_value_is_refused_by_its_path(path, value):
    with pytest.raises(InputError) as found:
        load(CONFIG, overriding(path, value))
    # A key that may not be there, or a list that is too short, is named by the entry that holds it.
    assert path in str(found.value) or path.rpartition(".")[0] + ":" in str(found.value)


PHASE = {"epochs": 3, "learning_rate": 0.1}


@pytest.mark.parametrize(
    "place",
    [
        "methods.vse",
        "methods.hm_lstm",
        "methods.vse.datasets.scenes",
        "methods.vse.variants.order",
        "methods.vse.variants.vsepp",
        "methods.vse.variants.vsepp.datasets.scenes",
        "generators.sc_nlm",
        "generators.sc_nlm.datasets.scenes",
        "networks.scenes_net",
        "concept_networks.multi_label_head",
    ],
)
def test_a_misspelt_phase_is_no_new_one(place):
    with pytest.raises(InputError, match=rf"{place}\.phases\.mian: no round names this phase; .*; known: "):
        load(CONFIG, overriding(f"{place}.phases", {"mian": PHASE}))


def test_a_phase_of_a_variant_is_no_phase_of_its_method():
    with pytest.raises(InputError, match=r"methods\.vse\.phases\.warm_up: no round names this phase"):
        load(CONFIG, overriding("methods.vse.phases", {"warm_up": PHASE}))


@pytest.mark.parametrize("place", ["methods.vse", "methods.vse.datasets.scenes", "methods.vse.variants.order"])
def test_a_new_phase_has_rounds_beside_it(place):
    load(CONFIG, overriding(place, {"phases": {"third": PHASE}, "rounds": [["main", "settle", "third"]]}))


def test_rounds_of_a_person_may_leave_out_phases_of_the_project():
    load(CONFIG, overriding("methods.hm_lstm.rounds", [["sentences"], ["phrases"]]))
    load(CONFIG, overriding("methods.vse.variants.vsepp", {"rounds": [[]], "starts_from": "vse"}))


def test_a_variant_may_train_a_phase_that_its_method_does_not():
    variants = {
        "mine": {"title": "Mine", "rounds": [["one", "two"]], "datasets": {"scenes": {"phases": {"two": PHASE}}}}
    }
    method = {"title": "M", "model": "vse", "views": ["whole"], "training": {"batch_size": 9}, "rounds": [["one"]]}
    method |= {"phases": {"one": PHASE, "two": PHASE}, "variants": variants}
    assert load(CONFIG, {"methods": {"m": method}})


def test_rounds_without_phases_need_weights_to_start_from():
    rounds = {"rounds": [[]]}
    assert load(CONFIG, overriding("methods.vse.variants.vsepp", {**rounds, "starts_from": "vse"}))
    with pytest.raises(InputError, match=r"vsepp\.rounds: no round has a phase, so the weights stay random; name"):
        load(CONFIG, overriding("methods.vse.variants.vsepp", rounds))


def test_a_warm_up_without_end_is_refused():
    """Its results would be VSE's under the name of VSE++."""
    wrong = overriding("methods.vse.variants.vsepp.rounds", [["warm_up"]])
    with pytest.raises(InputError, match=r"variants\.vsepp\.parameters\.negatives: 'hardest' is used in no phase"):
        load(CONFIG, wrong)


@pytest.mark.parametrize(
    ("overrides", "keys", "circle"),
    [
        ({"methods": {"vse": {"starts_from": "vse"}}}, ["methods.vse.starts_from"], "vse needs vse;"),
        (
            {"methods": {"vse": {"starts_from": "sm_lstm"}}},
            ["methods.sm_lstm.starts_from", "methods.vse.starts_from"],
            "needs vse, which needs sm_lstm",
        ),
        (
            overriding(
                "methods.vse.variants",
                {"vsepp": {"datasets": {"scenes": {"starts_from": "order"}}}, "order": {"starts_from": "vsepp"}},
            ),
            ["methods.vse.variants.vsepp.datasets.scenes.starts_from", "methods.vse.variants.order.starts_from"],
            "on scenes vsepp needs order, which needs vsepp",
        ),
        (
            {"generators": {"lstm_captioner": {"joint_embedding": "sco_ctx_sen", "view": None}}},
            ["methods.sco.variants.sco_ctx_sen.generator", "generators.lstm_captioner.joint_embedding"],
            "needs lstm_captioner, which needs sco_ctx_sen",
        ),
    ],
)
def test_models_that_need_each_other_are_refused_by_their_keys(overrides, keys, circle):
    with pytest.raises(InputError, match=re.escape(circle)) as found:
        load(CONFIG, overrides)
    assert all(key in str(found.value) for key in keys)


def test_a_name_that_stands_for_two_variants_is_refused():
    with pytest.raises(InputError, match="methods: hm_lstm and hm_lstm would share"):
        load(CONFIG, overriding("methods.vse.variants.hm_lstm", {}))


def test_a_network_without_weights_is_refused():
    with pytest.raises(InputError, match=r"networks\.vgg19: one of weights, local"):
        load(CONFIG, {"networks": {"vgg19": {"weights": None, "local": None}}})


def test_numbers_of_a_command_line_are_numbers():
    assert load(CONFIG, parse_config(["threads=4"])).threads == 4


def test_nested_numbers_of_a_command_line_are_refused_with_the_way_out():
    """Snakemake reads all that is nested in `--config` as text."""
    boxes = parse_config(["datasets={flickr8k: {boxes: mine.parquet}}"])
    assert load(CONFIG, boxes).datasets["flickr8k"].boxes == "mine.parquet"
    with pytest.raises(InputError, match=r"datasets\.flickr8k\.shards: .* not '8', which is text; .* in a file"):
        load(CONFIG, parse_config(["datasets={flickr8k: {shards: 8}}"]))


@pytest.mark.parametrize(("written", "instead"), [("1e-4", "0.0001"), ("1e-5", "1.0e-05"), ("2e3", "2000")])
def test_a_number_that_yaml_reads_as_text_is_refused_with_how_to_write_it(written, instead):
    values = yaml.safe_load(f"learning_rate: {written}")
    with pytest.raises(InputError, match=rf"not '{written}', which is text in YAML; write {instead}$"):
        load(CONFIG, overriding("methods.vse.phases.main", values))
    assert type(yaml.safe_load(instead)) in (int, float)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("tables.scenes.mesure", "measure"),
        ("datasets.flickr8k.options.captionz", "captions"),
        ("methods.vse.variants.vsepp.parameters.marginn", "margin"),
        ("methods.vse.phases.main.parameters.negative", "negatives"),
    ],
)
def test_a_key_that_is_like_another_is_asked_about(path, meant):
    with pytest.raises(InputError, match=rf"{path}: there is no such key; is '{meant}' meant\?$"):
        load(CONFIG, overriding(path, 1))


NEW = {
    "title": "Mine",
    "reader": "flickr",
    "networks": {"whole": "vgg19"},
    "local": {"images": "photographs", "text": "texts"},
    "options": {"captions": "tokens.txt", "splits": {"train": "a.txt", "val": "b.txt", "test": "c.txt"}},
}


@pytest.mark.parametrize("name", ["my table", "a/b", "a\n", ""])
@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ("datasets", NEW),
        ("tables", {"title": "Mine", "sections": [{"dataset": "scenes"}]}),
        ("searches", {"dataset": "scenes", "variant": "vse", "sentences": ["A ball."]}),
        ("parsers", {"kind": "grammar"}),
        ("methods.vse.variants", {"title": "Mine"}),
        ("methods.vse.ensembles", {"title": "Mine", "members": ["vse", "vsepp"]}),
        ("generators.sc_nlm.variants", {"title": "Mine"}),
    ],
)
def test_a_name_that_no_file_can_have_is_refused(kind, entry, name):
    load(CONFIG, overriding(kind, {"my-name_2": entry}))
    with pytest.raises(InputError, match=re.escape(f"{kind}.{name}: {name!r} is also a file name")):
        load(CONFIG, overriding(kind, {name: entry}))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("methods.vsee.title", "is 'vse' meant?"),
        (
            "datasets.flikr8k.shards",
            "no 'flikr8k' in config/datasets, and a new one needs the keys reader, title, networks, or "
            "title, resplit; known: coco, ",
        ),
        ("networks.mine.size", "needs the keys architecture, layers;"),
        ("networks.mine.layer", "; it lacks architecture, layers (is it 'layer'?)"),
        ("tables.mine", "needs the keys title, sections;"),
    ],
)
def test_a_misspelt_name_is_no_new_entry(path, message):
    with pytest.raises(InputError, match=re.escape(message)) as found:
        load(CONFIG, overriding(path, 300))
    assert str(found.value).startswith(".".join(path.split(".")[:2]) + ": ")


@pytest.mark.parametrize(
    ("reader", "options", "needed"),
    [
        ("flickr", NEW["options"], "text"),
        ("flickr", {"captions": "tokens.txt", "karpathy": "dataset.json"}, "karpathy"),
        ("karpathy", {"karpathy": "dataset.json"}, "karpathy"),
        ("coco", {"splits": {"train": 3, "val": 2, "test": 1}}, "annotations"),
        ("pascal", {"splits": {"train": 3, "val": 2, "test": 1}}, "sentences"),
    ],
)
def test_a_data_set_without_its_sentences_is_refused(reader, options, needed):
    mine = {**NEW, "reader": reader, "options": options}
    load(CONFIG, {"datasets": {"mine": {**mine, "local": {"images": "photographs", needed: "texts"}}}})
    with pytest.raises(
        InputError, match=rf"datasets\.mine\.local: the reader {reader} also needs the source '{needed}'"
    ):
        load(CONFIG, {"datasets": {"mine": {**mine, "local": {"images": "photographs"}}}})


@pytest.mark.parametrize("missing", ["train", "val", "test"])
@pytest.mark.parametrize(
    ("reader", "key", "value"), [("flickr", "splits", "a.txt"), ("coco", "splits", 5), ("scenes", "images", 5)]
)
def test_a_data_set_has_every_split(reader, key, value, missing):
    options = {key: {split: value for split in ("train", "val", "test") if split != missing}}
    with pytest.raises(InputError, match=rf"datasets\.mine\.options\.{key}: .* missing: {missing}"):
        load(CONFIG, {"datasets": {"mine": {**NEW, "reader": reader, "options": options}}})


def test_null_unsets_an_option():
    options = {"karpathy": None, "splits": {"train": 10, "val": 5, "test": 5}}
    assert load(CONFIG, {"datasets": {"coco": {"options": options}}}).datasets["coco"].options.karpathy is None


def test_the_word_none_is_answered_with_null():
    with pytest.raises(InputError, match=r"word_vectors: no 'none'; known: glove, word2vec; none is written as null"):
        load(CONFIG, {"datasets": {"scenes": {"word_vectors": "none"}}})


SOURCE_OF = {"pairs": "pairs", "webdataset": "shards", "coco": "karpathy"}
DRAWN = {"train": 3, "val": 2, "test": 1}


@pytest.mark.parametrize(
    ("reader", "options", "key", "value"),
    [
        ("pairs", {"split": "split"}, "seed", 1),
        ("pairs", {"split": "split", "format": "json_lines"}, "delimiter", ";"),
        ("pairs", {"split": "split", "format": "parquet"}, "encoding", "latin-1"),
        ("webdataset", {"files": {"test": "*.tar"}}, "seed", 1),
        ("webdataset", {"splits": DRAWN}, "field", "all"),
        ("coco", {"karpathy": "a.json"}, "seed", 1),
    ],
)
def test_an_option_that_nothing_reads_is_refused(reader, options, key, value):
    mine = {**NEW, "reader": reader, "local": {SOURCE_OF[reader]: "somewhere"}}
    load(CONFIG, {"datasets": {"mine": {**mine, "options": options}}})
    with pytest.raises(InputError, match=rf"datasets\.mine\.options\.{key}: only .* reads it; remove the key"):
        load(CONFIG, {"datasets": {"mine": {**mine, "options": {**options, key: value}}}})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("methods.vse.training.momentum", 0.9, "only optimizer: sgd has it"),
        ("methods.vse.datasets.scenes.training.momentum", 0.9, "only optimizer: sgd has it"),
        ("methods.vse.variants.order.training.momentum", 0.9, "only optimizer: sgd has it"),
        ("generators.sc_nlm.training.momentum", 0.9, "only optimizer: sgd has it"),
        ("networks.vgg19.regions.map_size", 600, "only scoring: roi_align reads it"),
        ("networks.vgg19.regions.cells", 5, "only scoring: roi_align reads it"),
        ("datasets.scenes.sides", [100, 50], "the smallest, 100, is above the largest, 50; swap them"),
    ],
)
def test_a_setting_without_effect_is_refused(path, value, message):
    with pytest.raises(InputError, match=rf"{path}: {message}"):
        load(CONFIG, overriding(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("methods.vse.training", {"optimizer": "sgd", "momentum": 0.9}),
        ("methods.vse.datasets.scenes.training", {"optimizer": "sgd", "momentum": 0.9}),
        ("methods.defrag.training.optimizer", "adam"),
        ("methods.defrag.datasets.flickr8k.training.optimizer", "adam"),
        ("concept_networks.multi_label_cnn.training.optimizer", "adam"),
        ("networks.squeezenet1_0.regions.scoring", "crops"),
        ("networks.vgg19.regions", {"scoring": "roi_align", "map": "conv5_4", "map_size": 600, "cells": 5}),
        ("datasets.scenes.sides", [50, 50]),
    ],
)
def test_a_setting_below_another_one_needs_no_change(path, value):
    load(CONFIG, overriding(path, value))
