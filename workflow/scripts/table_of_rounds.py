from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.plan import RoundsPlan
from densevse.tables.results import Outputs
from densevse.tables.rounds import RoundsInputs, make_rounds

if __name__ == "__main__":
    with job(snakemake.log[0]):
        inputs = snakemake.input
        make_rounds(
            RoundsInputs([inputs.images], [inputs.captions], list(inputs.retrievals), list(inputs.accuracies)),
            validate(RoundsPlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
