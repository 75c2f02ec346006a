from densevse.analyses.attention.figures import saliency_maps
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        saliency_maps(
            dict(zip(snakemake.params.titles, snakemake.input.saliency, strict=True)),
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
