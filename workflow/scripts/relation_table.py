import pandas as pd

from densevse.artifacts.files import write_text
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.vocabulary import FRAGMENTS
from densevse.evaluation.relation_table import table
from densevse.logs import job


def main(title, dataset, counted, published, path):
    found = {kind: read(file, FRAGMENTS) for kind, file in counted.items()}
    printed = pd.read_csv(published)
    write_text(table(title, found, printed[printed["dataset"] == dataset]).markdown(), path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.params.title,
            snakemake.wildcards.dataset,
            {kind: snakemake.input[kind] for kind in ("enhanced", "basic")},
            snakemake.input.published,
            snakemake.output[0],
        )
