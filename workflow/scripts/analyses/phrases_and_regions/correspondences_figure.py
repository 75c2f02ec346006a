from densevse.analyses.phrases_and_regions.correspondences import correspondences
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        correspondences(
            snakemake.input.correspondences,
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
