from densevse.analyses.localisation.figure import localisation_figure
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        localisation_figure(
            snakemake.input.heat_maps,
            snakemake.input.image_table,
            snakemake.input.boxes,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
