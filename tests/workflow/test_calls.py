"""Every rule passes to its function exactly the arguments that the function takes."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from densevse.dag.project import project_code
from tests.projects import ROOT
from tests.rules import rules

PLAN = """
import json, sys
from snakemake import cli
import snakemake.workflow
build = snakemake.workflow.Workflow._build_dag

def listed(self, *arguments, **named):
    build(self, *arguments, **named)
    found = {}
    for job in self.dag.jobs:
        if "call" in job.params.keys():
            names = {part: list(dict(getattr(job, part).items())) for part in ("input", "output", "params")}
            names["input"] = [name for name, files in job.input.items() if files]
            names["given"] = list(job.params.given)
            if names not in found.setdefault(job.rule.name, []):
                found[job.rule.name].append(names)
    with open("found.json", "w") as file:
        json.dump(found, file)

snakemake.workflow.Workflow._build_dag = listed
cli.main(sys.argv[1:])
"""
NUMBERS = [[700], [4000], [6000], [3000]]
SCAN = {"regions": {"format": "scan"}, "whole_by": "mean"}
OWN = {"title": "Own", "reader": "scan", "options": {"copies": 1}, "local": {"precomp": "precomp"}}
OWN |= {"features": {"butd": SCAN}, "networks": {"regions": "butd", "whole": "butd"}, "parser": "grammar"}
VALUES = {
    "boundaries": {"folder": "folder"},
    "votes": {"scenes": {"files": {"hm_lstm": "file"}}},
    "cxc": {"coco": {"folder": "cxc", "measure": ["vse"]}},
    "choices": {
        "own": {"dataset": "scenes", "questions": "parquet", "file": "file"},
        "crepe": {"dataset": "flickr8k", "questions": "sugarcrepe", "file": "folder", "pictures": "folder"},
    },
    "human_judgements": {"flickr8k": {"scored": {"clip_s": {"scores": "file"}}}},
    "datasets": {
        "flickr8k": {"networks": {"whole": "mobilenet_v2"}},
        "own": {**OWN, "word_vectors": None},
        "boxed": {**OWN, "title": "Boxed", "boxes": "file"},
    },
    "networks": {
        "mobilenet_v2": {"precision": "auto"},
        "encoder": {"architecture": "sentence_transformers:encoder", "layers": {"whole": "pooled"}},
    },
    "proposers": {
        "by_masks": {"kind": "mcg", "options": {"scales": [1], "candidates": NUMBERS, "masks": {"dataset": "coco"}}},
        "by_maps": {
            "kind": "mcg",
            "local": "file",
            "options": {"scales": [1], "candidates": NUMBERS, "maps": "folder"},
        },
    },
    "methods": {"mine": {"title": "Mine", "given": {"scores": "file"}}},
    "tables": {
        "given": {
            "title": "Given",
            "sections": [{"dataset": "scenes"}],
            "measure": ["vse", "mine"],
            "reference": "vse",
        },
        "own": {"title": "Own", "sections": [{"dataset": "own"}], "measure": ["vse", "hm_lstm"]},
    },
    "searches": {"photographs": {"dataset": "scenes", "variant": "vse", "photographs": "folder"}},
}
TARGETS = [
    "scenes.done",
    "scenes/proposals/selective_search_single_times.parquet",
    "flickr8k.done",
    "pascal1k.done",
    "tables/scenes_claims.md",
    "tables/coco.md",
    "tables/flickr30k.md",
    "tables/flickr30k_clip.md",
    "tables/hm_lstm_4.md",
    "tables/needles_sentence.md",
    "tables/sco_5.md",
    "tables/scenes_regions.md",
    "tables/given.md",
    "tables/own.md",
    "experiments/sco_oracle.md",
    "experiments/defrag_photographs.md",
    "tables/coco_proposals.md",
    "tables/scenes_caption_oracles.md",
    "tables/flickr8k_resplits_caption_oracles.md",
    "tables/flickr8k_human.md",
    "tables/coco_cxc.md",
    "tables/scenes_choices.md",
    "tables/flickr8k_choices.md",
    "tables/own_choices.md",
    "tables/crepe_choices.md",
    "tables/coco_pmrp.md",
    "tables/scenes_cross_fitting.md",
    "tables/scenes_perplexity.md",
    "tables/scenes_votes.md",
    "tables/scenes_effort.md",
    "scenes/ballots/hm_lstm.html",
    "tables/scenes_arithmetic_vse.md",
    "figures/scenes/vse/arithmetic.png",
    "tables/coco_localisation_vse.md",
    "scenes/exported/vse/seed0/round0",
    "coco/segments/mcg/00-of-64.parquet",
    "search/scenes.html",
    "search/photographs.html",
    "coco/original_parses/corenlp_pcfg/00-of-01.parquet",
    "tables/bsds_boundaries_mcg.md",
    "scenes_pretraining/networks/released/scenes_net.safetensors",
    "boxed/boxes.parquet",
    "coco/segment_overlap/by_masks/00-of-64.parquet",
    "flickr8k/proposals/by_maps/00-of-16.parquet",
    "scenes/proposals/clustered_fast/00-of-01.parquet",
    "boundaries/mcg/contours.parquet",
    "scenes/vectors/encoder.safetensors",
    "scenes/features/encoder/whole/00-of-01.parquet",
]
UNPLANNED = {
    "absent, adopt and unknown have no job": {"absent", "adopt", "unknown"},
    "results lie on a disk": {"upload_file", "upload_folder"},
    "no model is imported": {"use_carried_model", "use_carried_vocabulary"},
    "the extra is not installed": {"eccv_caption_table", "export_onnx"},
    "two files of another kind of row": {"score_given_pairs", "search_given", "saliency_of_two", "score_saliency"},
    "its own tests plan it": {"compared_retrievals", "localisation_figure", "one_query", "relation_table"},
}
ASKED = {"code", "contents", "threads", "wildcards", "mem_mb"}
PARAMS = {"call", "given", "code", "contents"}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Rule -> the names of its jobs' inputs, outputs, params and settings, for each set of names that occurs."""
    folder = tmp_path_factory.mktemp("planned")
    for name in ("folder", "precomp", "cxc", "encoder"):
        (folder / name).mkdir()
    for task in ("sts", "sis", "sits"):
        (folder / f"cxc/{task}_test.csv").write_text("")
    (folder / "encoder/model.safetensors").write_text("")
    (folder / "file").write_text("")
    (folder / "test.yaml").write_text(json.dumps(VALUES))
    start = [sys.executable, "-c", PLAN, "--snakefile", ROOT / "Snakefile", "--configfile", "test.yaml", "--cores", "8"]
    targets = [f"results/{target}" for target in TARGETS]
    done = subprocess.run(
        [*start, "--dry-run", "--quiet", "all", "--", *targets], cwd=folder, capture_output=True, text=True
    )
    assert (folder / "found.json").exists(), done.stdout + done.stderr
    return json.loads((folder / "found.json").read_text())


@pytest.mark.slow
def test_every_job_passes_what_its_function_takes(planned):
    code, wrong = project_code(ROOT, ROOT / ".snakemake/densevse-code.json"), []
    for name, jobs in planned.items():
        parameters = code.parameters(rules()[name].call)
        known = {one.rstrip("=") for one in parameters if not one.startswith("**")}
        needed = {one for one in parameters if one[-1] != "=" and not one.startswith("**")} - ASKED
        for job in jobs:
            others = [one for one in job["params"] if one not in PARAMS]
            given = [one for one in job["given"] if one not in {"source_names", "revisions"}]  # the runner's own
            passed = Counter([*job["input"], *(job["output"] or ["output"]), *given, *others])
            unknown = passed.keys() - known if len(known) == len(parameters) else {*given, *others} - known
            twice = {one for one, count in passed.items() if count > 1}
            missing = needed - passed.keys()
            if unknown or twice or missing:
                wrong.append(f"{name}: unknown {unknown}, twice {twice}, missing {missing}")
    assert wrong == []


@pytest.mark.slow
def test_nearly_every_rule_is_planned(planned):
    assert rules().keys() - planned.keys() == set().union(*UNPLANNED.values())
