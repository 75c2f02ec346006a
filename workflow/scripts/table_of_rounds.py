from densevse.evaluation.rounds import make_rounds
from densevse.evaluation.tables import Outputs
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_rounds(
            list(snakemake.input.tables),
            list(snakemake.input.retrievals),
            list(snakemake.input.accuracies),
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
