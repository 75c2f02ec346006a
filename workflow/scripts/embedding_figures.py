from densevse.figures.embedding import embedding
from densevse.figures.region_phrases import region_phrases
from densevse.logs import job
from densevse.training.correspondences import open_model
from densevse.training.data import Files
from densevse.training.embeddings import embed


def main(files, model, threads, sources, title, space, nearest):
    inputs, method = open_model(files, model, threads)
    embedded = embed(method, inputs, "test")
    embedding(embedded.rows, embedded.vectors, f"The common space: {title}", space)
    regions, phrases = embedded.of_kind("region"), embedded.of_kind("phrase")
    region_phrases(
        (regions.rows, regions.vectors),
        (phrases.rows, phrases.vectors),
        files.images,
        sources,
        f"Best detections and their nearest phrases among all test phrases: {title}",
        nearest,
    )


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.params.threads,
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.title,
            snakemake.output.space,
            snakemake.output.nearest,
        )
