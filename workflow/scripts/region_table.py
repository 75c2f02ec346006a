from densevse.evaluation.region_table import make_region_table
from densevse.evaluation.tables import Outputs
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_region_table(
            list(snakemake.input.rankings),
            snakemake.input.published,
            snakemake.input.papers,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
