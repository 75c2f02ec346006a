"""`make full-size`: what the size of Flickr30k and the sentences of MS-COCO take.

Every stage from the official files to the table runs on made-up data of Flickr30k's size, except the networks'
arithmetic and the parser. MS-COCO's part has as many images and sentences, as long ones, and small vectors and models:
every structure of sentences is trained on, and all that counts words. The memory of each stage is printed and held to a
limit.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from densevse.artifacts.shards import shard_names
from densevse.report.costs import costs, table
from tests.projects import Project, copy_code
from tests.system.full_size import made_up


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
PARTS = {
    "flickr30k": Part(
        made_up.Size({"train": 29_000, "val": 1_000, "test": 1_000}, shards=16, values=4096),
        ["vse", "hm_lstm"],
        {"vse": once("main") | {"rounds": [["main"]]}, "hm_lstm": once("sentences", "phrases") | PHRASES},
        limit=8_000,
        minutes=60,
        local={"images": "images.zip", "karpathy": "karpathy.zip"},
    ),
    "coco": Part(
        made_up.Size({"train": 113_287, "val": 5_000, "test": 5_000}, shards=32, values=64, shortest=9),
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


def settings(dataset: str, sources: Path) -> dict[str, Any]:
    """A data set as in config/, from made-up files."""
    part = PARTS[dataset]
    return {
        "datasets": {
            dataset: {
                "local": {source: str(sources / file) for source, file in part.local.items()},
                "networks": dict.fromkeys(["whole", "ten_crop", "grid", "regions"], "vgg19"),
                "proposer": "made_up",
                "parser": "grammar",
                "word_vectors": "glove",
                "shards": part.size.shards,
            }
        },
        "tables": {dataset: {"sections": [{"dataset": dataset}], "measure": part.measure}},
        "networks": {"vgg19": {"local": str(sources / "no_weights.pth")}},
        "proposers": {"made_up": {"kind": "file", "options": {"path": str(sources / "no_boxes.parquet")}}},
        "word_vectors": {"glove": {"local": str(sources / "vectors.txt")}},
        "methods": part.methods,
        "generators": part.generators,
    }


def prepare(project: Project, dataset: str) -> None:
    """Make the data up, and the artifacts of the stages that are left out; what is there already stays."""
    sources, results = project.folder / f"sources_{dataset}", project.folder / f"results/{dataset}"
    size = PARTS[dataset].size
    project.configure(settings(dataset, sources))
    if not (sources / "vectors.txt").exists():
        made_up.write_sources(sources, dataset, size)
    project.run(f"results/{dataset}/captions.parquet")
    if not (results / f"parses/grammar/{shard_names(size.shards)[-1]}.parquet").exists():
        made_up.write_features(results / "images.parquet", results / "features/vgg19", size)
        tables = results / "images.parquet", results / "captions.parquet"
        made_up.write_all_parses(*tables, results / "parses/grammar", size)


def run(folder: Path, dataset: str) -> bool:
    """Run one part below `folder`, print what it took, and say whether each stage kept to the limit."""
    part, free = PARTS[dataset], shutil.disk_usage(folder.parent).free
    print(
        f"{dataset}: needs {part.disk / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free, and about "
        f"{part.minutes} minutes of two cores",
        flush=True,
    )
    if free < part.disk and not folder.exists():
        return False
    project = Project(folder if folder.exists() else copy_code(folder))
    prepare(project, dataset)
    project.run(f"results/tables/{dataset}.md", *(f"results/{dataset}/{target}" for target in part.further))
    rows = costs(folder / "results")
    rows = rows[rows["dataset"] == dataset]
    print(table(rows))
    taken = sum(file.stat().st_size for file in (folder / "results").rglob("*") if file.is_file())
    print(f"results/ takes {taken / 1e9:.1f} GB; the most memory of a stage is {rows['memory'].max():,.0f} MB")
    return bool(rows["memory"].max() < part.limit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("full_size"), help="is kept, and gone on with")
    parser.add_argument("--only", choices=PARTS, help="one of the two parts")
    asked = parser.parse_args()
    # Both are run, whatever the first one takes.
    kept = [run(asked.folder.absolute(), name) for name in ([asked.only] if asked.only else PARTS)]
    sys.exit(0 if all(kept) else 1)
