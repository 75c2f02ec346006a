from densevse.analyses.concept_precision.precision import table
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.concepts import AVERAGE_PRECISION, MEAN_AVERAGE_PRECISION
from densevse.artifacts.schemas.vocabulary import CONCEPTS
from densevse.runtime.logs import job


def main(title, concepts, precision, mean, outputs):
    rows = read(concepts, CONCEPTS), read(precision, AVERAGE_PRECISION), read(mean, MEAN_AVERAGE_PRECISION)
    table(title, *rows).write(*outputs)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.params.title,
            snakemake.input.concepts,
            snakemake.input.precision,
            snakemake.input.mean,
            (snakemake.output.markdown, snakemake.output.html, snakemake.output.latex),
        )
