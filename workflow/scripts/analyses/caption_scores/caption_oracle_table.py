from densevse.analyses.caption_scores.oracle_table import make_oracle_table
from densevse.analyses.caption_scores.plan import CaptionOraclePlan
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_oracle_table(
            list(snakemake.input.scores),
            validate(CaptionOraclePlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
