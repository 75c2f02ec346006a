from densevse.analyses.examples.examples import example_retrievals
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example_retrievals(
            snakemake.input.retrieval,
            snakemake.input.image_table,
            snakemake.input.caption_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
