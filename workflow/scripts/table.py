from densevse.evaluation.tables import Outputs, make_table
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_table(
            snakemake.input.images,
            snakemake.input.captions,
            list(snakemake.input.retrievals),
            list(snakemake.input.published),
            snakemake.input.papers,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
