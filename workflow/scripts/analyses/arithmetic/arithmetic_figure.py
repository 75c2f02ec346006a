from densevse.analyses.arithmetic.figure import arithmetic_figure
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        arithmetic_figure(
            snakemake.input.found,
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
