from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.training.concepts import ConceptFiles, PixelConceptJob, train_all

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train_all(
            {
                "images": snakemake.input.image_table,
                "concepts": snakemake.input.concepts,
                "image_concepts": snakemake.input.image_concepts,
            },
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.input.start,
            validate(PixelConceptJob, {**snakemake.params.training, "code": snakemake.params.code}, "concept_networks"),
            ConceptFiles(**snakemake.output),
        )
