from densevse.analyses.proposal_recall.times import times_of_search
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.runtime.logs import job


def main(image_table, sources, options, path, of):
    found = times_of_search(read(image_table, IMAGES), sources, options)
    write(found, PROPOSAL_TIMES, path, lineage(options, {"images": image_table}), of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.options,
            snakemake.output[0],
            Identity.of(snakemake.wildcards),
        )
