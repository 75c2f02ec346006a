from densevse.analyses.votes.ballot import write_ballot
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_ballot(
            snakemake.input.correspondences,
            list(snakemake.input.parses),
            snakemake.params.drawn["pairs"],
            snakemake.params.drawn["seed"],
            snakemake.output[0],
            Identity.of(snakemake.wildcards),
        )
