"""Prints the gain of one method over another: the rsum of recalls, with a paired 95% interval over queries and seeds.

    python -m examples.compare results/flickr8k results/flickr8k/retrieval/full/vse/seed*/round0.parquet \
        --on results/flickr8k/plain/mobilenet_v2/sum/seed*.parquet

Each file holds the ranks of the test split's queries by a model of one seed.
"""

import argparse

import pandas as pd

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.command.comparison import find_queries
from densevse.evaluation.bootstrap import retrieval_bootstrap
from densevse.statistics.bootstrap import Interval
from snakeproof import schema

COLUMNS = ["fold", "direction", "query_id", "rank"]


def gain(folder: str, files: list[str], on: list[str]) -> Interval:
    """The gain in rsum of the models of `files` over those of `on`, on the data set in `folder`."""
    tables = schema.read(f"{folder}/images.parquet", IMAGES), schema.read(f"{folder}/captions.parquet", CAPTIONS)
    bootstrap = retrieval_bootstrap(*find_queries(*tables, "full", pd.read_parquet(files[0], columns=COLUMNS)))
    ours, theirs = (bootstrap.replicates([pd.read_parquet(file, columns=COLUMNS) for file in of]) for of in (files, on))
    return bootstrap.difference("rsum", ours, theirs)


def main() -> None:
    """Prints the gain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="a data set's, such as results/flickr8k")
    parser.add_argument("files", nargs="+", help="ranks by the one method, a file for each seed")
    parser.add_argument("--on", nargs="+", required=True, help="ranks by the other method")
    asked = parser.parse_args()
    found = gain(asked.folder, asked.files, asked.on)
    print(f"gains {found.low:+.1f} to {found.high:+.1f} of rsum (95%, paired)")


if __name__ == "__main__":
    main()
