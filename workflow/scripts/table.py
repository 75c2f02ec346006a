from densevse.runtime.logs import job
from densevse.tables.results import Outputs, TableInputs, make_table

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_table(
            TableInputs(*(snakemake.input.get(name, []) for name in TableInputs._fields)),
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
