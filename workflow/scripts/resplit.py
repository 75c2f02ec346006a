from densevse.artifacts.identity import Identity
from densevse.datasets.resplit import write_resplit
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_resplit(
            snakemake.input.images,
            snakemake.input.captions,
            snakemake.params.draw,
            snakemake.output.images,
            snakemake.output.captions,
            Identity.of(snakemake.wildcards),
        )
