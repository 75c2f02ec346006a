from densevse.analyses.concept_precision.figure import predicted_concepts
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        predicted_concepts(
            list(snakemake.input.scores),
            {
                "images": snakemake.input.image_table,
                "concepts": snakemake.input.concepts,
                "image_concepts": snakemake.input.image_concepts,
            },
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.params.title,
            snakemake.output[0],
        )
