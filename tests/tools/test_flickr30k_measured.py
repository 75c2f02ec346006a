"""Photographs through Flickr30k's stages: their configuration, and each planned job beside its log."""

import pandas as pd
import pytest
import yaml

from densevse.command.shared import ROOT, configured_project
from tools import flickr30k_measured as measured
from tools.flickr30k_costs import CHEAPER


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "write_weights", lambda folder: dict.fromkeys(measured.NETWORKS, "weights"))
    for name, values in zip(("plain", "levers"), measured.settings(tmp_path, "images.zip", "annotations"), strict=True):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(values))
    return [str(tmp_path / "plain.yaml"), str(ROOT / CHEAPER), str(tmp_path / "levers.yaml")]


def test_the_photographs_have_flickr30ks_networks_and_rows_and_the_levers_change_both_alike(files):
    for some in (files[:1], files):
        project = configured_project(some)
        ours, theirs = (project.config.datasets[name] for name in (measured.DATASET, "flickr30k"))
        assert ours.networks == theirs.networks
        of_ours, of_theirs = (project.config.tables[name].measure for name in (measured.DATASET, "flickr30k"))
        assert of_ours == of_theirs
        named = set(ours.networks.values())
        named |= {entry.network for name, entry in project.config.concept_networks.items() if name in named}
        read = named & project.config.networks.keys()
        assert {project.config.networks[name].local for name in read} == {"weights"}


@pytest.mark.parametrize(
    ("stage", "log", "wildcards"),
    [
        ("parse", "mine-corenlp_pcfg-00-of-01", ["mine", "corenlp_pcfg", "00-of-01"]),
        ("train", "mine_vse_alexnet_seed0_round0", ["0", "mine", "vse_alexnet", "0"]),
        ("retrieve", "mine_full_sm_lstm_seed0_round0", ["mine", "full", "sm_lstm", "0", "0"]),
        (
            "extract_regions",
            "mine_vgg19_map_clustered_fast_00-of-01",
            ["mine", "vgg19_map", "clustered_fast", "00-of-01"],
        ),
    ],
)
def test_a_jobs_wildcards_name_its_log(stage, log, wildcards):
    assert measured.job_name(stage, [log]) == measured.job_name(stage, wildcards)
    assert measured.job_name(stage, [log]) != measured.job_name(stage, [*wildcards, "1"])


def test_the_table_has_planned_and_measured_seconds_of_both_sides(monkeypatch):
    jobs = pd.DataFrame({"log": ["r/logs/train/mine_vse_seed0_round0.log"], "processor": [6.0]})
    monkeypatch.setattr(measured, "finished_jobs", lambda results: jobs)
    planned = {measured.job_name("train", ["mine", "vse", "0", "0"]): (("train", "vse"), 4.0)}
    before = measured.stage_seconds(planned, measured.measured_seconds("r"))
    lines = measured.table({**before, ("propose", "boxes"): (3.0, 3.0), ("head", ""): (0.0, 2.0)}, before)
    assert lines.splitlines()[2:] == [
        "| head |  |  | 2.0 |  | | | |  |",
        "| propose | boxes | 3.0 | 3.0 | 1.00 | | | |  |",
        "| train | vse | 4.0 | 6.0 | 1.50 | 4.0 | 6.0 | 1.50 | 1.00 |",
        "| all |  | 7.0 | 11.0 | 1.57 | 4.0 | 6.0 | 1.50 | 0.55 |",
    ]
    with pytest.raises(KeyError, match="train 0 0 mine vse"):
        measured.stage_seconds(planned, {})
