from densevse.evaluation.agreement import make_agreement_table
from densevse.evaluation.tables import Outputs
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_agreement_table(
            snakemake.input.judgements,
            list(snakemake.input.scores),
            snakemake.input.published,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
