from densevse.analyses.votes.table import make_vote_table
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_vote_table(
            list(zip(snakemake.input.ballots, snakemake.input.votes, strict=True)),
            snakemake.input.image_table,
            next(iter(snakemake.input.boxes), None),
            snakemake.input.published,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
