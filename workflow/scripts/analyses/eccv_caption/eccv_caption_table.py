from densevse.analyses.eccv_caption.plan import ExtendedTruthPlan
from densevse.analyses.eccv_caption.table import ExtendedTruthInputs, make_extended_truth_table
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_extended_truth_table(
            ExtendedTruthInputs(**dict(snakemake.input.items())),
            validate(ExtendedTruthPlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
