from densevse.analyses.votes.plan import VoteTablePlan
from densevse.analyses.votes.table import VoteTableInputs, make_vote_table
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        inputs = snakemake.input
        make_vote_table(
            VoteTableInputs(
                list(inputs.ballots), list(inputs.votes), inputs.image_table, inputs.boxes or None, inputs.published
            ),
            validate(VoteTablePlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
