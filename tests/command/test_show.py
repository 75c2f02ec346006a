"""`densevse show` prints settings with their origins."""

import pytest
import yaml

from densevse.command.main import main
from densevse.command.shared import ROOT, configuration, overrides
from densevse.config.resolved import DEFAULT, resolve_settings
from densevse.methods.parameters.scan import Parameters


@pytest.fixture(scope="module")
def config():
    return configuration(overrides([]))


def shown(config, name, dataset=None, over=None):
    rows = resolve_settings(name, dataset, config, overrides([]) if over is None else over, ROOT)
    return {row.path: row for row in rows}


def test_a_value_has_the_origin_of_its_own_comment_or_of_one_above(config):
    found = shown(config, "vsepp", "flickr8k")
    origins = {path: row.origin for path, row in found.items()}
    assert origins["parameters.margin"] == "public code, for flickr8k"
    assert origins["parameters.dimension"] == "chosen on val, for flickr8k"
    assert origins["parameters.negatives"] == "paper of VSE++"
    assert origins["parameters.encoder"] == "public code"
    assert origins["training.grad_clip"] == "public code"
    assert origins["training.momentum"] == DEFAULT
    assert origins["views"] == "the method"
    assert origins["title"] == "the variant"
    assert origins["networks.whole"] == "the data set"
    assert found["networks.whole"].value == "vgg19"


def test_a_part_of_a_comment_speaks_of_one_key(config):
    found = shown(config, "devise")
    assert found["phases.main.epochs"].origin == "paper, 3.4"
    assert found["phases.main.learning_rate"].origin == "chosen"


def test_a_variant_that_is_merged_from_another_has_its_comments(config):
    assert shown(config, "vsepp_res", "scenes")["phases.warm_up.learning_rate"].origin == "chosen on val, for scenes"
    assert shown(config, "vsepp_res")["networks.whole"].origin == "paper of SCO, Table 4"


def test_the_place_is_the_line_of_the_value(config):
    file, _, line = shown(config, "vse", "scenes")["parameters.dimension"].place.partition(":")
    with open(file, encoding="utf-8") as lines:
        assert "dimension: 128" in lines.readlines()[int(line) - 1]


def test_what_differs_from_the_authors_code_is_printed_below_the_settings_and_stands_in_the_documentation(densevse):
    answer = densevse("show", "scan_i2t_lse")
    assert "Otherwise than in the authors' code (docs/methods.md):" in answer.lines
    assert any(line.startswith("- sentences have no <start> and <end>") for line in answer.lines)
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8").partition("## SCAN and its authors' code")[2]
    assert page.partition("\n## ")[0].count("\n| ") - 1 == len(Parameters.DIFFERS)  # without the head
    assert "Otherwise" not in densevse("show", "vse").output


def test_what_is_printed_is_what_is_resolved(config):
    from densevse.config.load import variant

    entry = variant(config, "scenes", "hm_lstm")
    found = shown(config, "hm_lstm", "scenes")
    assert {path.split(".")[1]: row.value for path, row in found.items() if path.startswith("parameters.")} == (
        entry.parameters.model_dump()
    )
    assert {path.split(".")[1] for path in found if path.startswith("phases.")} == {"sentences", "phrases"}


def test_what_a_file_of_yours_says_is_yours(config, tmp_path):
    file = tmp_path / "mine.yaml"
    values = {"methods": {"vse": {"datasets": {"scenes": {"parameters": {"margin": 0.3}}}}}}
    values["datasets"] = {"scenes": {"networks": {"whole": "mobilenet_v2"}}}
    file.write_text(yaml.safe_dump(values))
    over = overrides([str(file)])
    found = shown(configuration(over), "vse", "scenes", over)
    assert found["parameters.margin"][1:] == (0.3, "yours", str(file))
    assert found["networks.whole"][1:] == ("mobilenet_v2", "the data set", str(file))
    assert found["parameters.dimension"].origin == "chosen on val, for scenes"


def test_settings_stand_in_columns(densevse):
    answer = densevse("show", "vse", "--on", "scenes")
    assert answer.status == 0
    row = next(line for line in answer.lines if line.startswith("phases.main.learning_rate"))
    assert row.split() == [
        *("phases.main.learning_rate", "0.004", "chosen", "on", "val,", "for", "scenes"),
        *row.split()[-1:],
    ]
    assert len({line.find("densevse/config/training.py") for line in answer.lines} - {-1}) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "vsep"), "no variant 'vsep'"),
        (("show", "hm_lsmt"), "is 'hm_lstm' meant?"),
        (("show", "vse", "--on", "scene"), "is 'scenes' meant?"),
        (("show", "sm_lstm_ensemble"), "sm_lstm_mean"),
    ],
)
def test_a_name_that_there_is_none_of_is_refused(arguments, said, densevse):
    answer = densevse(*arguments)
    assert answer.status == 1
    assert said in answer.errors


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("vgg19", "vgg19: size 224, resize 256, mean (0.485, 0.456, 0.406), std (0.229, 0.224, 0.225)"),
        ("clip_vit_b_32", "open_clip:ViT-B-32: size 224, mode RGB, mean (0.48145466, "),
        ("deit_small", "interpolation bicubic, mean (0.485, 0.456, 0.406), std (0.229, 0.224, 0.225), crop_pct 0.9"),
    ],
)
def test_the_preprocessing_of_a_network_is_shown(network, said, capsys):
    assert main(["show", network]) == 0
    assert said in capsys.readouterr().out
