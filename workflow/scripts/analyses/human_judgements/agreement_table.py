from densevse.analyses.human_judgements.plan import AgreementPlan
from densevse.analyses.human_judgements.table import make_agreement_table
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_agreement_table(
            snakemake.input.judgements,
            [*snakemake.input.scores, *snakemake.input.given],
            snakemake.input.published,
            validate(AgreementPlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
