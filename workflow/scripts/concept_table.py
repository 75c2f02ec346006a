from densevse.artifacts.files import write_text
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.concepts import AVERAGE_PRECISION
from densevse.artifacts.schemas.vocabulary import CONCEPTS
from densevse.evaluation.concepts import table
from densevse.logs import job


def main(title, concepts, precision, path):
    write_text(table(title, read(concepts, CONCEPTS), read(precision, AVERAGE_PRECISION)).markdown(), path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.params.title,
            snakemake.input.concepts,
            snakemake.input.precision,
            snakemake.output[0],
        )
