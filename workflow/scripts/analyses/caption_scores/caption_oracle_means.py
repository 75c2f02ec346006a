from densevse.analyses.caption_scores.oracle_means import make_oracle_means
from densevse.analyses.caption_scores.plan import CaptionOracleMeansPlan
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_oracle_means(
            list(snakemake.input.scores),
            validate(CaptionOracleMeansPlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
