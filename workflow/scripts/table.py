from densevse.evaluation.tables import Inputs, Outputs, make_table
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_table(
            Inputs(*(snakemake.input.get(name, []) for name in Inputs._fields)),
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
