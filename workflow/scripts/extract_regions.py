from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.classes import read_classes
from densevse.vision.extract_regions import extract_regions
from densevse.vision.network_files import NetworkFiles

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up(snakemake.params.threads)
        extract_regions(
            snakemake.input.image_table,
            snakemake.input.proposals or None,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            NetworkFiles(
                snakemake.wildcards.network,
                snakemake.params.network,
                snakemake.input.weights,
                snakemake.input.precision or None,
            ),
            read_classes(snakemake.input.class_names or None),
            snakemake.wildcards.shard,
            snakemake.output[0],
            snakemake.params.all_stay,
        )
