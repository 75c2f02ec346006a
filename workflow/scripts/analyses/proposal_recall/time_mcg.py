from densevse.analyses.proposal_recall.times import times_of_mcg
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.forest import load


def main(image_table, sources, model, ranker, options, threads, path, of):
    set_up(threads)
    found = times_of_mcg(read(image_table, IMAGES), sources, model, load(ranker), options)
    write(found, PROPOSAL_TIMES, path, lineage(options, {"images": image_table}), of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.input.model,
            snakemake.input.ranker,
            snakemake.params.options,
            snakemake.threads,
            snakemake.output[0],
            Identity.of(snakemake.wildcards),
        )
