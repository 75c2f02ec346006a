from densevse.analyses.caption_scores.best import choose_best
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        choose_best(
            snakemake.input.captions,
            snakemake.input.generated,
            Identity.of(snakemake.wildcards),
            snakemake.wildcards.oracle,
            snakemake.output[0],
        )
