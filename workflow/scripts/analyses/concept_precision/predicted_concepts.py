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
            {name: snakemake.input[name] for name in snakemake.params.sources},
            snakemake.params.title,
            snakemake.output[0],
        )
