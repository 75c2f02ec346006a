from densevse.analyses.phrases_and_regions.embedding import embedding
from densevse.analyses.phrases_and_regions.region_phrases import region_phrases
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        embedding(
            snakemake.input.embeddings,
            f"The common space: {snakemake.params.title}",
            snakemake.output.space,
        )
        region_phrases(
            snakemake.input.embeddings,
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            f"Best detections and their nearest phrases among all test phrases: {snakemake.params.title}",
            snakemake.output.nearest,
        )
