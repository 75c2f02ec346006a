from densevse.analyses.human_judgements.pair_scores import write_pair_scores
from densevse.artifacts.identity import Identity
from densevse.data.files import Files
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_pair_scores(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.input.judgements,
            snakemake.params.threads,
            snakemake.output[0],
            Identity.of(snakemake.wildcards, split="test"),
        )
