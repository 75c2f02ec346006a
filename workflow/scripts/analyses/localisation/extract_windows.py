from densevse.analyses.localisation.windows import extract_windows
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.network_files import NetworkFiles

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up(snakemake.params.threads)
        extract_windows(
            snakemake.input.image_table,
            snakemake.input.boxes,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            NetworkFiles(
                snakemake.wildcards.network,
                snakemake.params.network,
                snakemake.input.weights,
                snakemake.input.precision or None,
            ),
            snakemake.wildcards.view,
            snakemake.params.chosen,
            snakemake.output[0],
        )
