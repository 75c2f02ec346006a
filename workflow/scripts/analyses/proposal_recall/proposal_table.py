from densevse.analyses.proposal_recall.plan import ProposalTablePlan
from densevse.analyses.proposal_recall.table import make_proposal_table
from densevse.config.validation import validate
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_proposal_table(
            list(snakemake.input.recalls),
            list(snakemake.input.times),
            list(snakemake.input.published),
            validate(ProposalTablePlan, snakemake.params.plan, "the plan of the table"),
            (snakemake.output.markdown, snakemake.output.html, snakemake.output.latex),
        )
