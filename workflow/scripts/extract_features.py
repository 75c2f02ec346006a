from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.extract import extract
from densevse.vision.network_files import NetworkFiles

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up(snakemake.params.threads)
        extract(
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            NetworkFiles(
                snakemake.wildcards.network,
                snakemake.params.network,
                snakemake.input.weights,
                snakemake.input.precision or None,
            ),
            snakemake.wildcards.view,
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
