from densevse.analyses.caption_scores.baselines import first_captions
from densevse.artifacts.identity import Identity
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        first_captions(
            snakemake.input.images,
            snakemake.input.captions,
            snakemake.input.tokens,
            Identity.of(snakemake.wildcards, writer="person", seed=0),
            snakemake.output[0],
        )
