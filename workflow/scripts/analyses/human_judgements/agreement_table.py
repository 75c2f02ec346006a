from densevse.analyses.human_judgements.table import make_agreement_table
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_agreement_table(
            snakemake.input.judgements,
            list(snakemake.input.scores),
            snakemake.input.published,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
