from densevse.runtime.logs import job
from densevse.tables.results import Outputs
from densevse.tables.rounds import make_rounds

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_rounds(
            [snakemake.input.images, snakemake.input.captions],
            list(snakemake.input.retrievals),
            list(snakemake.input.accuracies),
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
