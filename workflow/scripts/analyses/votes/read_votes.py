from densevse.analyses.votes.reader import write_votes
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        of = Identity.of(snakemake.wildcards)
        write_votes(snakemake.input.text, snakemake.input.ballot, snakemake.output[0], of)
