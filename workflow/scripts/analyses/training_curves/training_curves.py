from densevse.analyses.training_curves.curves import training_curves
from densevse.analyses.training_curves.plan import CurvesPlan
from densevse.config.validation import validate
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        plan = validate(CurvesPlan, snakemake.params.plan, "the plan of the picture")
        training_curves(list(snakemake.input.histories), plan, snakemake.output[0])
