"""`make full-size`: what the size of Flickr30k and the sentences of MS-COCO take.

Every stage from the official files to the table of all five papers runs on made-up data of Flickr30k's size, except
the networks' arithmetic, the proposals and the parser. MS-COCO's part has as many images and sentences, as long ones,
and small vectors and models: every structure of sentences is trained on, and all that counts words. The memory of each
stage is printed and held to a limit. An interrupted run goes on.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from densevse.report.costs import costs, table
from tests.projects import Project, copy_code
from tests.system.full_size import made_up
from tests.system.full_size.killing import killed_in_each_stage


@dataclass(frozen=True)
class Part:
    """A data set that is made up, what of it is made, and the most memory that a stage may take."""

    size: made_up.Size
    measure: list[str]
    methods: Mapping[str, Any]
    limit: int  # MB
    minutes: int  # of two cores, about
    local: Mapping[str, str]  # the data set's sources -> files of `made_up.write_sources`
    generators: Mapping[str, Any] = field(default_factory=dict)
    further: tuple[str, ...] = ()  # targets beside the table

    @property
    def disk(self) -> int:
        """Bytes: features, and everything else: models, checkpoints, parses, retrievals."""
        return self.size.feature_bytes + 2_000_000_000


def once(*phases: str, **parameters: Any) -> dict[str, Any]:
    """One epoch in each phase, of a small model where `parameters` are given."""
    small = {"parameters": parameters, "training": {"batch_size": 512}} if parameters else {}
    return {"phases": {name: {"epochs": 1} for name in phases}} | small


PHRASES = {"rounds": [["sentences"], ["phrases"]]}
GLANCES = {
    "hidden": 32,
    "word_hidden": 32,
    "word_dimension": 32,
    "context_dimension": 64,
    "context_word_dimension": 64,
    "attention_units": 8,
    "similarity": 32,
    "score_units": 32,
    "steps": 2,
    "mismatched": 20,
    "pairs_at_once": 8192,
}
PARTS = {
    "flickr30k": Part(
        made_up.Size(
            {"train": 29_000, "val": 1_014, "test": 1_000},
            shards=16,
            views={"whole": (4096,), "ten_crop": (4096,), "grid": (196, 512), "regions": (4096,)},
            shortest=9,
        ),
        ["vse", "hm_lstm", "sm_lstm", "defrag", "sco"],
        {
            "vse": once("main") | {"rounds": [["main"]]},
            "hm_lstm": once("sentences", "phrases") | PHRASES,
            "sm_lstm": once("main", **GLANCES) | {"rounds": [["main"]], "starts_from": None},
            "defrag": once("dense") | {"rounds": [["dense"]]},
            "sco": once("main", dimension=256, word_dimension=100) | {"rounds": [["main"]]},
        },
        limit=8_000,
        minutes=75,
        local={"images": "images.zip", "karpathy": "karpathy.zip"},
    ),
    "coco": Part(
        made_up.Size(
            {"train": 113_287, "val": 5_000, "test": 5_000},
            shards=32,
            views={"whole": (64,), "regions": (64,)},
            shortest=9,
        ),
        ["vse", "defrag", "sdt_rnn", "hm_lstm"],
        {
            "vse": once("main", dimension=64) | {"rounds": [["main"]]},
            "defrag": once("dense", dimension=64) | {"rounds": [["dense"]]},
            "sdt_rnn": once("main", dimension=64) | {"rounds": [["main"]]},
            "hm_lstm": once("sentences", "phrases", dimension=64, hidden=64) | PHRASES,
        },
        limit=16_000,
        minutes=60,
        local={"train2014": "images.zip", "karpathy": "karpathy.zip"}
        | dict.fromkeys(["val2014", "annotations"], "empty.zip"),
        generators={"sc_nlm": once("main", "settle", dimension=32, factors=32, attribute_dimension=32)},
        further=("generators/sc_nlm/seed0/model.safetensors", "vocabulary/concepts.parquet"),
    ),
}


def settings(dataset: str, part: Part, sources: Path) -> dict[str, Any]:
    """A data set as in config/, from made-up files."""
    networks = dict.fromkeys(["whole", "ten_crop", "grid", "regions"], made_up.NETWORK)
    return {
        "datasets": {
            dataset: {
                "local": {source: str(sources / file) for source, file in part.local.items()},
                "networks": networks | {"concepts": "multi_label_head"},
                "proposer": made_up.PROPOSER,
                "parser": made_up.PARSER,
                "word_vectors": "glove",
                "shards": part.size.shards,
            }
        },
        "tables": {dataset: {"sections": [{"dataset": dataset}], "measure": part.measure}},
        "networks": {made_up.NETWORK: {"local": str(sources / "no_weights.pth"), "precision": "fp32"}},
        "concept_networks": {"multi_label_head": {"proposer": made_up.PROPOSER, **once("main", "settle")}},
        "proposers": {made_up.PROPOSER: {"kind": "file", "options": {"path": str(sources / "boxes.parquet")}}},
        "word_vectors": {"glove": {"local": str(sources / "vectors.txt")}},
        "methods": part.methods,
        "generators": part.generators,
    }


def prepare(project: Project, dataset: str, part: Part) -> None:
    """Make the data up, and the artifacts of the stages that are left out; what is there already stays."""
    sources = project.folder / f"sources_{dataset}"
    project.configure(settings(dataset, part, sources))
    if not (sources / "vectors.txt").exists():
        made_up.write_sources(sources, dataset, part.size)
    with made_up.standing_in(project.folder):
        project.run(*(f"results/{dataset}/{file}" for file in part.size.shard_files))
    for call in made_up.STAND_INS:  # what these took says nothing of the stages that they stand for
        shutil.rmtree(project.folder / "results/logs" / call.partition(":")[2], ignore_errors=True)


def run(folder: Path, dataset: str, part: Part) -> bool:
    """Run one part below `folder`, print what it took, and say whether each stage kept to the limit."""
    free = shutil.disk_usage(folder.parent).free
    print(
        f"{dataset}: needs {part.disk / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free, and about "
        f"{part.minutes} minutes of two cores at full size",
        flush=True,
    )
    if free < part.disk and not folder.exists():
        return False
    project = Project(folder if folder.exists() else copy_code(folder))
    prepare(project, dataset, part)
    project.run(f"results/tables/{dataset}.md", *(f"results/{dataset}/{target}" for target in part.further))
    rows = costs(folder / "results")
    rows = rows[rows["dataset"] == dataset]
    print(table(rows))
    taken = sum(file.stat().st_size for file in (folder / "results").rglob("*") if file.is_file())
    print(f"results/ takes {taken / 1e9:.1f} GB; the most memory of a stage is {rows['memory'].max():,.0f} MB")
    return bool(rows["memory"].max() < part.limit)


def main(asked: argparse.Namespace) -> bool:
    """Run what was asked, and say whether all of it held. Both parts are run, whatever the first one takes."""
    folder, held = asked.folder.absolute(), []
    for dataset in [asked.only] if asked.only else PARTS:
        part = PARTS[dataset]
        if asked.images:
            part = replace(part, size=part.size.reduced(asked.images))
        held.append(run(folder, dataset, part))
        if asked.kill is not None:
            held.append(killed_in_each_stage(Project(folder), dataset, asked.kill))
    return all(held)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("full_size"), help="is kept, and gone on with")
    parser.add_argument("--only", choices=PARTS, help="one of the two parts")
    parser.add_argument("--images", type=int, help="of each part, by default all; use a folder for each number")
    parser.add_argument(
        "--kill",
        nargs="*",
        metavar="STAGE",
        help="then kill each stage, or these, once, start it again and compare its bytes with the first ones",
    )
    sys.exit(0 if main(parser.parse_args()) else 1)
