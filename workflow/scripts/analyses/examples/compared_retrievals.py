from densevse.analyses.examples.comparison import compared_retrievals
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        compared_retrievals(
            dict(zip(snakemake.params.titles, snakemake.input.retrievals, strict=True)),
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
