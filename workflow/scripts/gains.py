from densevse.config.validation import validate
from densevse.report.gains import draw_gains
from densevse.runtime.logs import job
from densevse.tables.plan import GainsPlan

if __name__ == "__main__":
    with job(snakemake.log[0]):
        plan = validate(GainsPlan, snakemake.params.plan, "the plan of the picture")
        draw_gains(snakemake.input[0], plan, snakemake.output[0])
