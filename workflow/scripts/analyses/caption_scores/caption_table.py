from densevse.analyses.caption_scores.plan import CaptionTablePlan
from densevse.analyses.caption_scores.table import make_caption_table
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_caption_table(
            list(snakemake.input.scores),
            snakemake.input.published or None,
            validate(CaptionTablePlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
