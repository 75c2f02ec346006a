"""`make full-size`: the resources for Flickr30k's size. Every stage from the official files to the table runs on
synthetic data of that size, except the networks' arithmetic and the parser; the memory of each stage is printed and
checked against a limit.
"""

import argparse
import shutil
import sys
from pathlib import Path

from densevse.artifacts.shards import shard_names
from densevse.report.costs import costs, table
from tests.projects import Project, copy_code
from tests.system.full_size import made_up

LIMIT_MB = 8_000
IMAGES = sum(made_up.SPLITS.values())
FEATURES = IMAGES * (1 + made_up.REGIONS) * made_up.VALUES * 2
DISK = FEATURES + 2_000_000_000  # features, and everything else: models, checkpoints, parses, retrievals


def settings(sources: Path) -> dict:
    """Flickr30k as in config/, from synthetic files; one epoch and one round of the full-size models."""
    networks = dict.fromkeys(["whole", "ten_crop", "grid", "regions"], "vgg19")
    return {
        "datasets": {
            "flickr30k": {
                "local": {"images": str(sources / "images.zip"), "karpathy": str(sources / "karpathy.zip")},
                "networks": networks,
                "proposer": "made_up",
                "parser": "grammar",
                "word_vectors": "glove",
                "shards": made_up.SHARDS,
            }
        },
        "tables": {"flickr30k": {"measure": ["vse", "hm_lstm"]}},
        "networks": {"vgg19": {"local": str(sources / "no_weights.pth")}},
        "proposers": {"made_up": {"kind": "file", "options": {"path": str(sources / "no_boxes.parquet")}}},
        "word_vectors": {"glove": {"local": str(sources / "vectors.txt")}},
        "methods": {
            "vse": {"phases": {"main": {"epochs": 1}}, "rounds": [["main"]]},
            "hm_lstm": {
                "phases": {"sentences": {"epochs": 1}, "phrases": {"epochs": 1}},
                "rounds": [["sentences"], ["phrases"]],
            },
        },
    }


def prepare(project: Project) -> None:
    """Makes the data, and the artifacts of the stages that are left out; existing files stay."""
    sources, results = project.folder / "sources", project.folder / "results/flickr30k"
    project.configure(settings(sources))
    if not (sources / "vectors.txt").exists():
        made_up.write_sources(sources)
        (sources / "no_weights.pth").touch()
        (sources / "no_boxes.parquet").touch()
    project.run("results/flickr30k/captions.parquet")
    if not (results / f"parses/grammar/{shard_names(made_up.SHARDS)[-1]}.parquet").exists():
        made_up.write_features(results / "images.parquet", results / "features/vgg19")
        made_up.write_all_parses(results / "images.parquet", results / "captions.parquet", results / "parses/grammar")


def main(folder: Path) -> bool:
    """Runs everything below `folder`, and returns whether each stage kept to the limit."""
    free = shutil.disk_usage(folder.parent).free
    print(f"needs {DISK / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free, and about an hour of two cores")
    if free < DISK and not folder.exists():
        return False
    project = Project(folder if folder.exists() else copy_code(folder))
    prepare(project)
    project.run("results/tables/flickr30k.md")
    rows = costs(folder / "results")
    print(table(rows))
    taken = sum(file.stat().st_size for file in (folder / "results").rglob("*") if file.is_file())
    print(f"results/ takes {taken / 1e9:.1f} GB; the most memory of a stage is {rows['memory'].max():,.0f} MB")
    return bool(rows["memory"].max() < LIMIT_MB)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("full_size"), help="is kept, and gone on with")
    sys.exit(0 if main(parser.parse_args().folder.absolute()) else 1)
