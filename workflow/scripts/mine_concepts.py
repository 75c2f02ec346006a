from densevse.language.concepts import write_concepts
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_concepts(
            snakemake.input.images,
            list(snakemake.input.parses),
            snakemake.params.most,
            snakemake.output.concepts,
            snakemake.output.image_concepts,
        )
