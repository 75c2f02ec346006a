from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.network_files import NetworkFiles
from densevse.vision.true_regions import extract_true_regions

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up(snakemake.params.threads)
        extract_true_regions(
            snakemake.input.image_table,
            snakemake.input.boxes,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            NetworkFiles(
                snakemake.wildcards.network,
                snakemake.params.network,
                snakemake.input.weights,
                snakemake.input.precision or None,
            ),
            "test",
            snakemake.output[0],
        )
