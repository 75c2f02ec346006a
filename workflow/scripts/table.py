from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.plan import TablePlan
from densevse.tables.results import Outputs, TableInputs, make_table

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_table(
            TableInputs(*(snakemake.input.get(name, []) for name in TableInputs._fields)),
            validate(TablePlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
